# Points-to and calls against what programs really do: small subjects and random
# ones are woven (tests/reality/), run, and what they saw is held against the
# static answer. bench/reality does the same with real programs.
. "$TOP/tests/scripts/tap.bash"

LLVM=${LLVM:-/usr/lib/llvm-19}
flags="-O1 -std=gnu17 -D_GNU_SOURCE -I$TOP/src -I$LLVM/include"
case $SUNDEW_BUILD in *asan*) flags="$flags -fsanitize=address,undefined" ;; esac
libs="-L$LLVM/lib -Wl,-rpath,$LLVM/lib -lLLVM-19 -lclang-19 -lz3 -lsqlite3 -lffi -ljansson -lpthread -lm"

tools() {
    gcc -O1 -I"$LLVM/include" -o weave "$TOP/tests/reality/weave.c" -L"$LLVM/lib" -Wl,-rpath,"$LLVM/lib" -lLLVM-19 &&
        gcc $flags -o check "$TOP/tests/reality/check.c" "$SUNDEW_BUILD/libsundew.a" $libs &&
        clang-19 -O2 -c -o runtime.o "$TOP/tests/reality/runtime.c"
}

# woven NAME: NAME.c becomes NAME.bc and the program NAME.woven.
woven() {
    clang-19 -O0 -g -w -Xclang -disable-O0-optnone ${csmith_include:+-I"$csmith_include"} \
        -emit-llvm -c "$1.c" -o "$1.0.bc" &&
        opt-19 -passes='function(sroa,mem2reg)' "$1.0.bc" -o "$1.bc" &&
        ./weave "$1.bc" "$1.w.bc" &&
        clang-19 -O1 -w "$1.w.bc" runtime.o -o "$1.woven" -lm -lpthread
}

# holds NAME ARGS…: no observation of its run is missing from the answer.
holds() {
    local name=$1
    shift
    woven "$name" || return
    SUNDEW_REALITY=$PWD/$name.log timeout 60 "./$name.woven" "$@" >"$name.out" 2>&1
    [ $? -lt 124 ] || return
    ./check "$name.bc" "${2:-$TOP/share/summaries}" "$name".log.*
}

ok "the weave builds" tools
for c in "$TOP"/tests/reality/subjects/*.c; do
    name=$(basename "$c" .c)
    cp "$c" .
    ok "$name" holds "$name"
done

# The check itself must notice: with summaries that say nothing of strchr, what
# it returned is missing.
blind() {
    mkdir -p blind
    for f in "$TOP"/share/summaries/*.txt; do
        sed 's/^strchr .*/strchr s:r c/; s/^qsort .*/qsort base n size cmp/' "$f" > "blind/$(basename "$f")"
    done
    SUNDEW_REALITY=$PWD/blind.log ./library.woven > /dev/null 2>&1
    ./check library.bc blind blind.log.* > blind.out
    [ $? = 1 ] && grep -q '# missing' blind.out
}
ok "a wrong summary is noticed" blind

csmith_include=$(ls -d /usr/include/csmith* 2>/dev/null | head -1)
random() {
    csmith --seed "$1" --no-packed-struct --max-funcs 8 --max-pointer-depth 4 > "r$1.c" && holds "r$1"
}
if command -v csmith > /dev/null && [ -n "$csmith_include" ]; then
    for seed in 1 4 5 7 9 11 18 20; do
        ok "random program $seed" random "$seed"
    done
else
    skip "random programs" "csmith is not installed"
fi
done_testing
