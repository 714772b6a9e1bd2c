# All programs of tests/subjects/threads/: bugs found, twins silent, 20 replays of
# each kept schedule; woven but not scheduled they, and random programs, behave as before.
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/threads.bash"

fresh programs
for path in "$programs"/*.c; do
    name=$(basename "$path" .c)
    case $name in odd | unscheduled | native | *-example) continue ;; esac
    [ -e "$programs/$name.h" ] && continue                               # a library
    ok "$name: found" finds "$name"
    ok "$name: the fixed twin is silent" silent "$name"
    ok "$name: 20 replays" again "$name" 20
    ok "$name: woven, not scheduled, it does the same" unscheduled "$name.twin"
done

# ---- libraries: each of 20 seeds finds the defect, and each test that was found ends the
# same way 20 times
library() {
    local name=$1 seed=$2
    [ -e "lib$name.a" ] || { cp "$programs/$name".[ch] . &&
        "$SUNDEW" capture -q -- sh -c "gcc -g -c $name.c && ar rcs lib$name.a $name.o"; } || return 1
    "$SUNDEW" threads "lib$name.a" --headers "$name.h" --type "$name" --tests 150 --seed "$seed" -o "$name.$seed" --json >"$name.$seed.json"
    python3 -c "
import json
d = json.load(open('$name.$seed.json'))
found = [v for v in d['violations'] if v['replays'] == v['of']]
print('$name seed $seed:', [(v['kind'], v['functions'], v['tests_needed'], round(v['seconds'], 1)) for v in found])
assert found
"
}
replays() {
    local i want got
    for i in $(seq 20); do
        got=$("$SUNDEW" threads --replay "$1" --json | grep -v '"when"')
        [ "$i" = 1 ] && want=$got
        [ "$got" = "$want" ] || { diff <(echo "$want") <(echo "$got"); return 1; }
    done
    grep -q '"rule": "threads/' <<<"$want"
}
# The same calls without a scheduler: a start barrier, the address sanitizer, 300 runs.
uncontrolled() {
    local i failed=0
    gcc -g -w -fsanitize=address -I"$programs" "$programs/native.c" -DTEST_"$1" "$programs/$1.c" -o "native-$1" -pthread || return 1
    for i in $(seq 300); do
        timeout 10 "./native-$1" >/dev/null 2>&1 || failed=$((failed + 1))
    done
    echo "# $1: $failed of 300 uncontrolled runs fail" >&3
}
exec 3>&1
for name in sbuf smap source pot ivec; do
    fresh "$name"
    for seed in $(seq 1 20); do
        ok "$name, seed $seed" library "$name" "$seed"
    done
    for kept in "$name".*/1; do
        ok "$kept: 20 replays" replays "$kept"
    done
done
for name in sbuf smap source; do
    ok "$name: 300 runs without a scheduler" uncontrolled "$name"
done

fresh random
include=$(ls -d /usr/include/csmith* 2>/dev/null | head -1)
counted=0
random() {
    csmith --seed "$1" --max-funcs 6 >"s$1.c" || return 1
    "$SUNDEW" -q capture -- gcc -w -g -I"$include" "s$1.c" -o "s$1" || return 1
    (ulimit -t 5; "./s$1" >/dev/null 2>&1) || return 0                   # does not end: says nothing
    counted=$((counted + 1))
    unscheduled "s$1"
}
if [ -n "$include" ]; then
    for seed in $(seq 1 "${SEEDS:-40}"); do
        ok "seed $seed" random "$seed"
    done
    ok "most of them count ($counted)" test "$counted" -ge $((${SEEDS:-40} / 2))
else
    skip "random programs" "csmith is not installed"
fi
done_testing
