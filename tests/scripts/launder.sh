# Sound verdicts of mutability about functions that hide where a pointer goes.
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/launder.bash"

if [ "$(uname -m)" != x86_64 ]; then
    skip "the programs have assembly of x86-64" "another processor"
else
    fresh ways
    "$TOP/tests/tools/launder" ways 8 10 .
    ok "an eighth of the ways, each alone: no wrong sound verdict" judged
    fresh mixed
    "$TOP/tests/tools/launder" 1 8 8 .
    ok "ways that follow one another: no wrong sound verdict" judged
    fresh doors
    "$TOP/tests/tools/launder" doors 8 4 .
    ok "an eighth of the doors of libraries, with clients: no wrong sound verdict" judged
fi
done_testing
