# sundew events on random programs (T-C5), woven and run: each rule, and all combinations by turns,
# must reach the branches that CLASSIC reaches.
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
done_testing
