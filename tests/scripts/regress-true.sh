# sundew regress: what the example shows of shared memory, files and texts; findings that are true.
. "$TOP/tests/scripts/tap.bash"

regress() { "$SUNDEW" regress "$@" </dev/null; }
in_tests() { grep -qE -- "$1" tests/*.c || { echo "not there: $1"; cat tests/*.c; return 1; }; }
strict() {
    local flags="-g -I$PWD -fsanitize=address,undefined"
    # shellcheck disable=SC2086
    clang-19 $flags -c "$1" -o strict.o &&
        make -s -B -C tests check CC=clang-19 TEST_LIBS="$PWD/strict.o" \
            CFLAGS="$flags -Wall -Wextra -Werror -fno-sanitize-recover=undefined -DSUNDEW_TEST_LEAKS"
}

# ---- memory that the caller and the library share

fresh lend
cp "$TOP"/tests/subjects/usage/lend/*.[ch] .
mkdir data
printf 'one\ntwo\nthree\n' >data/lines.txt
ok "a library that borrows and takes memory" "$SUNDEW" capture -q -- sh -c \
    "gcc -g -Wall -c lend.c && ar rcs liblend.a lend.o && gcc -g -Wall example.c liblend.a -o example"
ok "no death of such calls is a finding" eval 'status 0 regress liblend.a --headers lend.h --count 1500 --seed 1 --mutants 60 --json -- ./example >out.json &&
    python3 -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"findings\"] == [] and d[\"outcomes\"][\"set_aside\"] > 0, d
r = d[\"replays\"]
assert r[\"tests\"] == r[\"total\"] == 5, r
assert {x[\"function\"] for x in r[\"lost\"]} == {\"list_length\", \"words_length\"}, r
"'
ok "memory that the library frees is from malloc" in_tests 'memcpy\(label[0-9_]+, "apples", 7\);'
ok "a struct is made anew, with its text" eval 'in_tests "list[0-9_]+\.name = \"two\";" && in_tests "CHECK_UINT\(list_length\(&list[0-9_]+\), 5\)"'
ok "an end lies in its text" eval 'in_tests "first0_0 = \"a1b22c333\"" && in_tests "CHECK_INT\(count_digits\(first0_0, first0_0 \+ 9\), 6\)" &&
    ! grep -E "count_digits\(\"|count_digits\([^,]*, \"" tests/*.c'
ok "a file is where the library finds it, without its folder" eval 'in_tests "GIVE_FILE\(\"lines.txt\", \"one.ntwo.nthree.n\", 14\)" &&
    in_tests "CHECK_INT\(doc_lines\(doc[0-9]+\), 3\)"'
ok "what is not repeated is told with its reason" says "words_length (1): the recording does not show what one of its pointers leads to" \
    regress liblend.a --headers lend.h -o t --count 50 --mutants 0 -- ./example
ok "…and what is" says "repeats the example: 5 of 5 groups of its calls are tests" \
    regress liblend.a --headers lend.h -o t --count 50 --mutants 0 -- ./example
ok "they compile without warnings and pass, as they were delivered" make -s -C tests check CC=gcc CFLAGS="-Wall -Wextra -Werror"
ok "…with clang and sanitizers, and leak nothing" strict lend.c
done_testing
