#!/bin/sh
# usage: defects/verify.sh   (in the folder of the project)
#
# Shows that every defect of DEFECTS.md can be triggered as it says, and is
# gone once the fix-*.patch files are applied. Prints TAP. Nothing outside a
# temporary folder is written.

CC=${CC:-gcc}
PROJECT=$(pwd)
[ -f "$PROJECT/defects/verify.sh" ] || { echo "run it in the project"; exit 2; }
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
ASAN="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"
TSAN="-O1 -g -fsanitize=thread"
number=0 failed=0

# result NAME WANTED GOT
result() {
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        echo "# wanted: $2" | sed '2,$s/^/#         /'
        echo "# got:    $3" | sed '2,$s/^/#         /'
        failed=1
    fi
}

# build VERSION - plain and with sanitizers, the triggers included
build() {
    cd "$WORK/$1" || exit 2
    make -s CC="$CC" CFLAGS="-O0 -g" BUILD=plain all || exit 2
    make -s CC="$CC" CFLAGS="$ASAN" BUILD=asan all || exit 2
    make -s CC="$CC" CFLAGS="$TSAN" BUILD=tsan tsan/liblarder.a || exit 2
    for t in mutability substitutes invariants regress; do
        [ $1-$t = fixed-mutability ] && continue
        $CC -g -Iinclude -o plain/$t "$PROJECT/defects/$t.c" \
            plain/liblarder.a -pthread || exit 2
    done
    $CC $TSAN -Iinclude -o tsan/threads "$PROJECT/defects/threads.c" \
        tsan/liblarder.a -pthread || exit 2
    $CC $ASAN -Iinclude -o asan/threads "$PROJECT/defects/threads.c" \
        asan/liblarder.a -pthread || exit 2
}

# how COMMAND... - how a program ended, in a word or two
how() {
    "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    ended=$?
    if [ $ended -gt 128 ]; then
        echo "signal $((ended - 128))"
    elif grep -q 'ThreadSanitizer: data race' "$WORK/err"; then
        echo "data race"
    elif grep -q 'AddressSanitizer: ' "$WORK/err"; then
        echo "memory error"
    elif grep -q 'runtime error: member access within null' "$WORK/err"; then
        echo "null pointer"
    else
        echo "exit $ended"
    fi
} 2>/dev/null

# often TIMES COMMAND... - the first of several runs that did not exit with 0
often() {
    times=$1
    shift
    while ended=$(how "$@") && [ "$ended" = "exit 0" ] && [ "$times" -gt 1 ]; do
        times=$((times - 1))
    done
    echo "$ended"
}

# keys KEYS TOOL LEDGER - how browsing ended
keys() {
    printf '%s' "$1" | { "$2" "$3" browse; echo "exit $?"; } 2>/dev/null |
        tail -n 1
}

for version in broken fixed changed; do
    mkdir "$WORK/$version"
    cp -r Makefile include src tool tests data "$WORK/$version"
done
for p in "$PROJECT"/defects/fix-*.patch; do
    (cd "$WORK/fixed" && patch -s -p1 <"$p") || exit 2
done
(cd "$WORK/changed" && patch -s -p1 <"$PROJECT/defects/change-regress.patch") \
    || exit 2
for version in broken fixed changed; do
    (build $version) || exit 2
    cd "$WORK/$version" || exit 2
    make -s CC="$CC" CFLAGS="-O0 -g" BUILD=plain check >/dev/null 2>&1
    result "own tests pass: $version" 0 $?
done

cd "$WORK/broken" || exit 2
d=data
result "explore" "signal 11" "$(how plain/larder $d/dozens.ldg stock)"
result "explore, sanitizer" "null pointer" "$(how asan/larder $d/dozens.ldg stock)"
result "reproduce" "signal 11" "$(how plain/larder $d/baskets.ldg kit FETE)"
result "reproduce, twin" "exit 0" "$(how plain/larder $d/baskets.ldg kit LUNCH)"
result "mutability" "signal 11" "$(how plain/mutability)"
result "arguments" "MILK: 4 used, 0 before" \
    "$(plain/larder $d/market.ldg usage MILK 4 5)"
result "types" "6 of SAMPLER, 300 cents each" \
    "$(plain/larder $d/sampler.ldg kit SAMPLER 2>&1)"
result "threads, tsan, one of 20 runs" "data race" "$(often 20 tsan/threads)"
result "threads, one of 50 runs" "memory error" "$(often 50 asan/threads)"
result "substitutes" "found, 0
found, 0
found, 0
NULL, -3" "$(plain/substitutes)"
result "protocols" "signal 6" "$(how plain/larder $d/tiny.ldg urgent)"
result "invariants" "bin: 15 used, room for -5" \
    "$(plain/invariants $d/returns.ldg bin)"
result "confirm" "signal 11" "$(how plain/larder $d/prices.ldg stock)"
result "events, n t" "exit 139" "$(keys nt plain/larder $d/tiny.ldg)"
result "events, f t" "exit 139" "$(keys ft plain/larder $d/tiny.ldg)"
result "events, t alone" "exit 0" "$(keys t plain/larder $d/tiny.ldg)"
result "events, n s" "exit 0" "$(keys ns plain/larder $d/tiny.ldg)"
result "regress, before" "exit 0" "$(how plain/regress)"

cd "$WORK/changed" || exit 2
result "regress, after" "signal 6" "$(how plain/regress)"

cd "$WORK/fixed" || exit 2
result "fixed: explore" "exit 0" "$(how asan/larder $d/dozens.ldg stock)"
result "fixed: reproduce" "exit 0" "$(how asan/larder $d/baskets.ldg kit FETE)"
result "fixed: mutability, refused by the compiler" "exit 1" \
    "$(how $CC -Werror -Iinclude -c -o plain/x.o "$PROJECT/defects/mutability.c")"
result "fixed: arguments" "MILK: 4 used, 11 before" \
    "$(asan/larder $d/market.ldg usage MILK 4 5)"
result "fixed: types" "exit 1" "$(how asan/larder $d/sampler.ldg kit SAMPLER)"
result "fixed: threads, tsan" "exit 0" "$(how tsan/threads)"
result "fixed: threads, each of 5 runs" "exit 0" "$(often 5 asan/threads)"
result "fixed: substitutes" "found, 0
found, 0
found, 0
found, 0" "$(plain/substitutes)"
result "fixed: protocols" "exit 0" "$(how asan/larder $d/tiny.ldg urgent)"
result "fixed: invariants" "bin: 10 used, room for 0" \
    "$(plain/invariants $d/returns.ldg bin)"
result "fixed: confirm" "exit 1" "$(how asan/larder $d/prices.ldg stock)"
result "fixed: events, n t" "exit 0" "$(keys nt asan/larder $d/tiny.ldg)"
result "fixed: events, f t" "exit 0" "$(keys ft asan/larder $d/tiny.ldg)"

echo "1..$number"
exit $failed
