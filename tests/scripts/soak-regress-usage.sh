# The acceptance of learned usage, with real budgets: the puzzle in ten seconds and in ten minutes, and the polynomials.
. "$TOP/tests/scripts/tap.bash"

fresh puzzle
cp "$TOP/tests/subjects/usage/puzzle/"*.[ch] .
ok "puzzle" "$SUNDEW" capture -q -- sh -c "gcc -g -c puzzle.c && ar rcs libpuzzle.a puzzle.o && gcc -g example.c libpuzzle.a -o example"
solved() { cat "$1"/*.c | python3 -c '
import re, sys
sys.exit(not re.search(r"(core\d*) = core_new\([^)]*\);\s*CHECK_NOT_NULL\(\1\)", sys.stdin.read()))'; }
ok "guided, ten seconds" "$SUNDEW" regress libpuzzle.a --headers puzzle.h -o guided --time 10s -- ./example
ok "…makes a core" solved guided
ok "universal, ten minutes" "$SUNDEW" regress libpuzzle.a --headers puzzle.h -o universal --time 600s --universal
ok "…does not" eval '! solved universal'

cd "$work" || exit 1
# By the number of sequences, not by time: a busy machine must not decide who finds more.
figures() { tail -1 "study$seed" | python3 -c "
import json, sys
r = json.loads(sys.stdin.read())
u, g, e = r['universal'], r['guided'], r['example']
sys.exit(not ($1))" || { tail -40 "study$seed"; return 1; }; }
for seed in 1 2 3; do
    "$TOP/tests/subjects/usage/polynomial/study" "$SUNDEW" polynomial --variants 120 --count 20000 --seed $seed --again >study$seed 2>&1
    tail -1 study$seed | sed 's/^/# /'
    ok "seed $seed: a hundred faulty variants" figures "r['faulty'] >= 100 and r['equivalent'] >= 10"
    ok "…guided finds more than universal" figures "g['killed'] > u['killed']"
    ok "…universal finds more than the example" figures "u['killed'] > e['killed']"
    ok "…at most one false alarm" figures "g['false_alarms'] <= 1 and u['false_alarms'] <= 1"
done

done_testing
