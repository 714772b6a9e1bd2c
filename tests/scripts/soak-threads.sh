# All programs of tests/subjects/threads/: bugs found, twins silent, 20 replays of each kept schedule, the same
# search again; woven but not scheduled they, and random programs, behave as before. Libraries: seeds, replays, C tests.
# PART: programs, libraries, neutral; without it all three. NAMES: these programs or libraries only; also "variants" and
# "twins" (of libraries that are not searched here).
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/threads.bash"
part() { [ -z "${PART-}" ] || [ "$PART" = "$1" ]; }
asked() { [ -z "${NAMES-}" ] || grep -qw -- "$1" <<<"$NAMES"; }

# names: the programs; what has a header is a library
names() {
    local path name
    for path in "$programs"/*.c; do
        name=$(basename "$path" .c)
        case $name in odd | unscheduled | native | race-* | *-example) continue ;; esac
        [ -e "$programs/$name.h" ] || echo "$name"
    done
}
# twenty FOLDER…: each kept schedule ends in the same way 20 times
twenty() {
    local folder
    for folder; do
        "$SUNDEW" threads --replay "$folder" --times 20 --json ${options-} >twenty.json
        grep -q '"replays": 20' twenty.json && grep -q '"of": 20' twenty.json || { echo "$folder"; grep '"replays"\|"message"' twenty.json; return 1; }
    done
    replayed=$((${replayed-0} + $#))
}
# The same seed gives the same search.
same_again() {
    local without='"when"\|"seconds"\|"command"\|"rerun"\|"test":'
    grep -q '"violations"' "$1.bug.json" || return 1
    mv "$1.bug.json" first.json
    rm -rf "$1.bug.kept"
    search "$1" bug
    diff <(grep -v "$without" first.json) <(grep -v "$without" "$1.bug.json")
}

if part programs; then
    fresh programs
    for name in $(names); do
        asked "$name" || continue
        ok "$name: found" finds "$name"
        ok "$name: the fixed twin is silent" silent "$name"
        ok "$name: the same again" same_again "$name"
        options=$(options "$name" bug)
        ok "$name: 20 replays" twenty "$name.bug.kept"/*
        options=
    done
    echo "# ${replayed-0} schedules of programs replayed"
fi

# ---- libraries: each of 10 seeds finds the defect; each test that was found ends the same way
# 20 times; its C program shows it, and passes with the mended library
shown() {
    python3 -c "
import json
found = [v for v in json.load(open('$1.json'))['violations'] if v['replays'] == v['of']]
print('# $1:', [(v['kind'], v['functions'], v['tests_needed'], round(v['seconds'], 1)) for v in found])
assert found
"
}
# library NAME SEED OPTIONS…: a search goes on until something is found, for 128 tests at most.
library() {
    local name=$1 seed=$2 tests resume=
    shift 2
    [ -e "lib$name.a" ] || { cp "$programs/$name".[ch] . &&
        "$SUNDEW" capture -q -- sh -c "gcc -g ${flags-} -c $name.c && ar rcs lib$name.a $name.o"; } || return 1
    for tests in 8 24 48 96 128; do
        "$SUNDEW" threads "lib$name.a" --headers "$name.h" --type "$name" --tests $tests --seed "$seed" -o "$name.$seed" $resume --json "$@" >"$name.$seed.json"
        shown "$name.$seed" >found && { cat found >&3; return 0; }
        resume=--resume
    done
    return 1
}
ctest() {
    gcc -g -Wall -Wextra -Werror -fsanitize=address -I. "$2" "$1.c" -o broken -pthread &&
    gcc -g -Wall -Wextra -Werror -fsanitize=address -DFIXED -I. "$2" "$1.c" -o mended -pthread || return 1
    timeout 3600 ./broken >shown 2>&1
    [ $? = 1 ] && grep -q "it shows" shown || { cat shown; return 1; }
    timeout 3600 ./mended >shown 2>&1 || { cat shown; return 1; }
}
# twin NAME: the mended library is silent, without a race.
twin() {
    mkdir -p twin && cd twin && cp "$programs/$1".[ch] . &&
    "$SUNDEW" capture -q -- sh -c "gcc -g -DFIXED -c $1.c && ar rcs lib$1.a $1.o" &&
    "$SUNDEW" threads "lib$1.a" --headers "$1.h" --type "${2-$1}" --tests 40 ${contract:+--contract $contract} --json >out.json
    local status=$?
    cd ..
    [ $status = 0 ] && grep -q '"findings": \[\]' twin/out.json || { grep '"message"' twin/out.json; return 1; }
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
if part libraries; then
    for name in sbuf smap source pot ivec door; do
        asked "$name" || continue
        fresh "$name"
        for seed in $(seq 1 "${SEEDS:-10}"); do
            ok "$name, seed $seed" library "$name" "$seed"
        done
        ok "$name: 20 replays of each" twenty "$name".*/[0-9]*
        for test in "$name".*/*/test.c; do
            ok "$test fails on the broken library and passes on the mended one" ctest "$name" "$test"
        done
        ok "$name: the mended library is silent" twin "$name"
        case $name in sbuf | smap | source) ok "$name: 300 runs without a scheduler" uncontrolled "$name" ;; esac
    done
    for name in stile shared bqueue hidden; do
        fresh "$name"
        asked twins && ok "$name: the mended library is silent" twin "$name"
    done
    # Its setters write to the hall that they get: two threads with one hall do race.
    fresh hall
    asked twins && contract=distinct ok "hall: the mended library is silent" twin hall
    fresh scratch
    asked twins && ok "scratch: the mended library is silent" twin scratch "the library"
    # A1 with a check that aborts, A1 with slack, where only results tell, A5 without its counter
    for seed in $(seq 1 "${SEEDS:-10}"); do
        asked variants || break
        fresh variants
        flags=-DVARIANT=1 ok "sbuf that checks, seed $seed" library sbuf "$seed"
        fresh variants
        flags=-DVARIANT=3 ok "sbuf with slack, seed $seed" library sbuf "$seed" --outputs
        fresh variants
        flags=-DVARIANT=2 ok "ivec without its counter, seed $seed" library ivec "$seed"
    done
    echo "# ${replayed-0} schedules replayed"
fi

part neutral || { done_testing; exit; }
fresh neutral
for name in $(names); do
    asked "$name" || continue
    ok "$name: made" made "$name" twin
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
