# All programs of tests/subjects/threads/: bugs found, twins silent, 20 replays of
# each kept schedule; woven but not scheduled they, and random programs, behave as before.
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/threads.bash"

fresh programs
for path in "$programs"/*.c; do
    name=$(basename "$path" .c)
    case $name in odd | unscheduled) continue ;; esac
    ok "$name: found" finds "$name"
    ok "$name: the fixed twin is silent" silent "$name"
    ok "$name: 20 replays" again "$name" 20
    ok "$name: woven, not scheduled, it does the same" unscheduled "$name.twin"
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
