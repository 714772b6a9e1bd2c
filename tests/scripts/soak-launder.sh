# What launder.sh does with a few functions: all ways alone, each in a program of its own, and
# 500 functions that are new each time (SEED=N repeats a run): with mixed ways, with half of them
# hiding nothing, and in libraries whose clients are not captured.
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/launder.bash"
SEED=${SEED:-$(date +%s)}

if [ "$(uname -m)" != x86_64 ]; then
    skip "the programs have assembly of x86-64" "another processor"
else
    fresh ways
    "$TOP/tests/tools/launder" ways 1 1 .
    ok "all ways, each alone: no wrong sound verdict" judged
    fresh mixed
    "$TOP/tests/tools/launder" "$SEED" 125 4 .
    ok "500 functions (SEED=$SEED): no wrong sound verdict" judged
    ok "enforcing builds of 100 of these see no claim violated" all_enforced 25
    fresh doors
    "$TOP/tests/tools/launder" doors 1 1 .
    ok "all doors of libraries, each alone: no wrong sound verdict" judged
    fresh libraries
    "$TOP/tests/tools/launder" library "$SEED" 50 10 .
    ok "500 functions of libraries (SEED=$SEED): no wrong sound verdict" judged
    fresh plain
    "$TOP/tests/tools/launder" plain "$SEED" 50 10 .
    ok "500 functions, half of them plain (SEED=$SEED): no wrong sound verdict" judged
fi
done_testing
