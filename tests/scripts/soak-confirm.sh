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

# Inputs that confirm what one run of the example leaves open.
fresh larder
cp -r "$TOP"/examples/larder/. .
rm -rf build .sundew
ok "the example is captured" "$SUNDEW" -q capture -- make
explores() {
    "$SUNDEW" confirm build/larder --own --explore 20000 --seed 1 --json -- build/larder data/market.ldg stock \
        >out.json 2>out.err
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:manifest unchecked-null larder_set_price &&
        python3 - <<'END'
import json
d = json.load(open("out.json"))
assert d["verdicts"]["confirmed"] == 1, d["verdicts"]
assert d["findings"][0]["attachments"][0]["kind"] == "input", d["findings"]
END
}
ok "exploration finds an input for the planted defect" explores
done_testing
