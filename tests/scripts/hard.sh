# Programs with hard branches: are they what they say, and does explore solve some; and what
# an input means (runtime/input/input.h).
. "$TOP/tests/scripts/tap.bash"
export SUNDEW_BENCH_DIR=$work/bench
build=$(dirname "$SUNDEW")

ok "programs are what they say" "$TOP/bench/hard" --check
ok "an unknown program is an error" status 2 "$TOP/bench/hard" --check nonsense

# ---- the meaning of an input
fresh input
cp "$TOP/tests/subjects/hard/show.c" show.c
cp "$TOP/tests/subjects/hard/asks.c" asks.c
cp "$TOP/tests/subjects/hard/target.c" target.c
for part in input forkserver; do
    clang-19 -O1 -w -c "$build/runtime/$part.bc" -o $part.o || exit 1
done
for program in show asks target; do
    clang-19 -w -Dmain=sundew_program_main $program.c input.o forkserver.o -o $program || exit 1
done

# gives PLAN BYTES TEXT PROGRAM ARGUMENT…
gives() {
    local plan=$1 bytes=$2 text=$3
    shift 3
    printf "$bytes" >in
    says "$text" env SUNDEW_INPUT="$plan" "$@" <in
}
ok "standard input" gives stdin 'hello' '{none}<5>hello' ./show
ok "no plan is standard input" gives '' 'hello' '{none}<5>hello' ./show
ok "standard input may be a pipe" says '{none}<5>hello' sh -c 'printf hello | SUNDEW_INPUT=stdin ./show'
ok "arguments end with zeros" gives argv:2,stdin 'ab\0c\0rest' '[ab][c]{none}<4>rest' ./show
ok "arguments come behind those given" gives argv:1 'ab' '[x][ab]' ./show x
ok "slots" gives argv:2/4,stdin 'ab\0\0c\0\0\0rest' '[ab][c]{none}<4>rest' ./show
ok "a full slot" gives argv:1/4,stdin 'abcdrest' '[abcd]{none}<4>rest' ./show
ok "missing strings are empty" gives argv:2/4 'ab' '[ab][]{none}<0>' ./show
ok "a variable" gives env:HARD/8,stdin 'value\0\0\0rest' '{value}<4>rest' ./show
ok "a file" gives file=data 'hello' '[f][data]{none}<5>hello' ./show f data
ok "a file that is there" says '[f][data]{none}<5>hello' env SUNDEW_INPUT=in=data ./show f data
ok "a bad plan is an error" status 125 env SUNDEW_INPUT=nonsense ./show
ok "questions" gives call '\1\0\0\0abcz' '1 abc 122' ./asks
ok "behind the end are zeros" gives call '\1' '1  0' ./asks
ok "an assumption that does not hold ends the run" status 0 sh -c 'test -z "$(SUNDEW_INPUT=call ./asks </dev/null)"'
ok "a fuzz target" gives call 'abc' 'started 3 abc' ./target

# ---- explore
cd "$work" || exit 1
ok "explore solves some" "$TOP/bench/hard" --tools sundew --time 60 library-memcmp environment pipe-child library-sprintf entry-klee
ok "and nothing in correct twins" "$TOP/bench/hard" --twins --tools sundew --time 3 library-memcmp pipe-child
done_testing
