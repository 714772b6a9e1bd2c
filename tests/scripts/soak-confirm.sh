# The watching weave changes no random program, and a large report of another tool is read.
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/confirm.bash"
if [ -z "$csmith" ]; then
    skip "random programs" "csmith is not installed"
else
    fresh random
    for seed in $(seq "${SEED_FIRST:-1}" "${SEED_LAST:-100}"); do
        ok "seed $seed" random "$seed"
    done
    ok "most of them count ($counted)" test "$counted" -ge $(((${SEED_LAST:-100} - ${SEED_FIRST:-1}) / 2))
fi

fresh large
cp "$TOP/tests/subjects/confirm/twins.c" .
ok "a program is captured" "$SUNDEW" capture -- gcc -g -O1 -pthread -o twins twins.c
python3 "$TOP/tests/scripts/confirm-reports.py" twins.c 600000
ok "the report has 100 MB" test "$(stat -c %s reports/many.sarif)" -ge 100000000
large() {
    "$SUNDEW" confirm ./twins --warnings reports/many.sarif --json -- ./twins c7 >out.json 2>out.err
    [ $? -le 1 ] || { tail -3 out.err; return 1; }
    python3 -c 'import json; d = json.load(open("out.json")); assert d["verdicts"]["rejected"] == 0'
}
ok "… and is judged" large
done_testing
