# sundew events on random programs (T-C5), woven and run: each rule, and all combinations by turns,
# must reach the branches that CLASSIC reaches. Then seeded bugs.
. "$TOP/tests/scripts/tap.bash"
fresh project
count=0
programs=${SUNDEW_SOAK_PROGRAMS:-400}
python3 "$TOP/tests/tools/random-loops.py" "$programs" 20 >loops.c
ok "the programs are captured" "$SUNDEW" capture -- gcc -g -w -o loops loops.c

compare() {
    python3 - "$programs" <<'PY'
import itertools, json, os, subprocess, sys
rules = ["read-only", "silent", "never-read", "dead", "state-hash", "independent"]
sets = [c for n in range(7) for c in itertools.combinations(rules, n)][:-1]
def edges(i, words):
    p = subprocess.run([os.environ["SUNDEW"], "events", "./loops", "--loop", "step", "-k3", "-j1", "--seed", "1", "--json",
                        *words, "--", str(i)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.returncode == 0, (i, words, p.stderr)
    d = json.loads(p.stdout)
    return d["branches"]["edges"], d["search"]["executions"]
fewer = 0
for i in range(int(sys.argv[1])):
    want, most = edges(i, ["--classic"])
    for off in ((), sets[i % len(sets)]):
        got, n = edges(i, [w for r in off for w in ("--without", r)])
        assert got == want, (i, "without", off, sorted(set(want) ^ set(got)))
        assert n <= most
        fewer += n < most
assert fewer, "nothing was pruned"
PY
}
ok "the same branches with and without pruning" compare

# Ten seeded bugs: the shortest sequence, and silence with the fix.
cp "$TOP/tests/subjects/events/seeded.c" .
seeded() {
    gcc -g -DBUG="$1" -o bug seeded.c && gcc -g -DBUG="$1" -DFIXED -o fixed seeded.c
}
export -f seeded
found() {
    "$SUNDEW" capture -q -- bash -c "seeded $1" &&
        { "$SUNDEW" events ./bug --loop step -k6 -j1 --seed 1 --json >bug.json; [ $? = 1 ]; } &&
        "$SUNDEW" events ./fixed --loop step -k6 -j1 --seed 1 --json >fixed.json && python3 - "$2" <<'PY'
import json, sys
d, f = json.load(open("bug.json")), json.load(open("fixed.json"))
assert min(len(x["events"]) for x in d["failures"]) == int(sys.argv[1]), d["failures"]
assert all(x["again"] for x in d["failures"]) and not f["failures"]
PY
}
number=0
for events in 3 3 5 5 4 5 5 5 6 5; do
    number=$((number + 1))
    ok "seeded bug $number needs $events events" found $number $events
done
done_testing
