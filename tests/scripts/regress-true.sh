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
printf 'one\ntwo\nthree\n' >data/my-rows.txt
ok "a library that borrows and takes memory" "$SUNDEW" capture -q -- sh -c \
    "gcc -g -Wall -c lend.c && ar rcs liblend.a lend.o && gcc -g -Wall example.c liblend.a -o example"
ok "no death of such calls is a finding" eval 'status 0 regress liblend.a --headers lend.h --count 1500 --seed 1 --mutants 60 --json -- ./example >out.json &&
    python3 -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"findings\"] == [] and d[\"outcomes\"][\"set_aside\"] > 0, d
r = d[\"replays\"]
assert r[\"tests\"] == r[\"total\"] == 9, r
assert {x[\"function\"] for x in r[\"lost\"]} == {\"ring_sum\"}, r
"'
ok "memory that the library frees is from malloc" in_tests 'memcpy\(label[0-9_]*, "apples", 7\);'
ok "a struct is made anew, with its text" eval 'in_tests "list[0-9_]*\.name = \"two\";" && in_tests "CHECK_UINT\(list_length\(&list[0-9_]*\), 5\)"'
ok "…with a list that it leads to" in_tests 'CHECK_UINT\(list_length\(&list[0-9_]*\), 9\)'
ok "what lay in a struct before it was written is of no interest" in_tests 'CHECK_INT\(span_words\(&span[0-9]*\), 3\)'
ok "a table of texts is made anew" in_tests 'CHECK_UINT\(words_length\(words[0-9_]*, 2\), 9\)'
ok "calls go through a table of functions" eval 'in_tests "fine_scale.open\(&scale[0-9_]*, 20\)" && in_tests "fine_scale.weigh\(scale[0-9_]*, 2\), 100"'
ok "an end lies in its text" eval 'in_tests "first = \"a1b22c333\"" && in_tests "CHECK_INT\(count_digits\(first, first \+ 9\), 6\)" &&
    ! grep -E "count_digits\(\"|count_digits\([^,]*, \"" tests/*.c'
ok "a file is where the library finds it, without its folder" eval 'in_tests "GIVE_FILE\(\"my-rows.txt\", my_rows_txt, sizeof my_rows_txt - 1\)" &&
    in_tests "CHECK_INT\(doc_lines\(doc[0-9]*\), 3\)"'
ok "what is not repeated is told with its reason" says "ring_sum (1): the recording does not show what one of its pointers leads to" \
    regress liblend.a --headers lend.h -o t --count 50 --mutants 0 -- ./example
ok "…and what is" says "repeats the example: 9 of 9 groups of its calls are tests" \
    regress liblend.a --headers lend.h -o t --count 50 --mutants 0 -- ./example
ok "they compile without warnings and pass, as they were delivered" make -s -C tests check CC=gcc CFLAGS="-Wall -Wextra -Werror"
ok "…with clang and sanitizers, and leak nothing" strict lend.c

# ---- tests that move

ok "no path of this machine is in them" eval '! grep -rIF "$PWD" tests'
mkdir sub && mv tests kept && mkdir sub/lend && cp -r kept sub/lend/tests && cp -r ./*.[cha] sub/lend
ok "they go with the project" eval 'make -s -B -C sub/lend/tests check CC=gcc && mv kept tests'
ok "gcov sees what they reach" eval 'gcc -g --coverage -c lend.c -o covered.o &&
    make -s -B -C tests check CC=gcc TEST_LIBS="$PWD/covered.o --coverage" >/dev/null && gcov -n covered.gcda >said && grep -qE "executed:([5-9][0-9]|100)" said'
if command -v cmake >/dev/null; then
    ok "CMake builds them, too" eval 'cmake -S sub/lend/tests -B sub/lend/build >/dev/null && cmake --build sub/lend/build >/dev/null && (cd sub/lend/build && ctest >/dev/null)'
fi

# ---- another version

# version SED HEADER-SED: the library and its header after two changes, in new/.
version() {
    rm -rf new && mkdir new && sed "$1" lend.c >new/lend.c && sed "$2" lend.h >new/lend.h &&
        gcc -g -c new/lend.c -o new/lend.o && ar rcs new/liblend.a new/lend.o
}
diff_new() { "$SUNDEW" regress --diff tests "$@" new/liblend.a; }
ok "a version without a function" version '/^int count_digits/,/^}/d' ''
ok "…is told, and all other tests run" eval 'status 1 diff_new >said && grep -q "count_digits: is not there any more" said && ! grep -q "does not compile" said &&
    [ "$(grep -c "regress/changed" said)" = 1 ] && grep -qE "^([6-9]|[1-9][0-9]) tests, [1-9] of them" said'
ok "a version with another declaration" version 's/^int doc_lines(const struct doc \*d)/int doc_lines(const struct doc *d, int from)/; s/return d->lines;/return d->lines - from;/' \
    's/^int doc_lines(const struct doc \*d)/int doc_lines(const struct doc *d, int from)/'
ok "…is told with its header" eval 'status 1 diff_new --headers new/lend.h >said && grep -q "doc_lines: is declared otherwise now" said && [ "$(grep -c "regress/changed" said)" = 1 ]'
ok "a flag for it is used" eval 'version "" "s/^int doc_lines.*/#ifdef LINES\nint doc_lines(const struct doc *d);\n#endif/" &&
    status 0 diff_new --headers new/lend.h --cflags -DLINES'
ok "…also behind a table" eval 'version "s/pieces \* s->grams/pieces \* s->grams + 1/" "" && status 1 diff_new >said && grep -q "fine_scale.weigh gives something else" said'
ok "what the example prints otherwise is seen" eval 'version "s/n += .first >= .0./n += *first >= (char)49/; s/strlen(list->name)/strlen(list->name) + 1/" "" && status 1 diff_new >said &&
    grep -q "list_length gives something else" said'

# ---- examples that are suites

fresh many
cp "$TOP"/tests/subjects/usage/many/*.[ch] .
"$SUNDEW" capture -q -- sh -c "gcc -g -c pool.c && ar rcs libpool.a pool.o && gcc -g example.c libpool.a -o example"
ok "of thousands of objects that are used alike a few are repeated" eval 'regress libpool.a --headers pool.h --count 1 --mutants 0 --json -- ./example 3000 >out.json && python3 -c "
import json
r = json.load(open(\"out.json\"))[\"replays\"]
assert 2 <= r[\"total\"] <= 8 and r[\"tests\"] == r[\"total\"], r
"'

# ---- headers that need what the build knows

fresh include
mkdir inc
echo 'typedef int number;' >inc/part.h
printf '#include <part.h>\nnumber twice(number n);\n' >whole.h
printf '#include "whole.h"\nnumber twice(number n) { return 2 * n; }\n' >whole.c
printf '#include "whole.h"\nint main(void) { return twice(3) != 6; }\n' >example.c
"$SUNDEW" capture -q -- sh -c "gcc -g -Iinc -c whole.c && ar rcs libwhole.a whole.o && gcc -g -Iinc example.c libwhole.a -o example"
ok "folders of headers are the build's" eval 'regress libwhole.a --headers whole.h --count 50 --mutants 0 -- ./example && in_tests "CHECK_INT\(twice\(3\), 6\)" && make -s -C tests check'

# ---- a pointer behind what belongs to it

fresh counted
cp "$TOP"/tests/subjects/usage/counted/*.[ch] .
ok "a library with lengths before its texts" "$SUNDEW" capture -q -- sh -c \
    "gcc -g -Wall -c counted.c && ar rcs libcounted.a counted.o && gcc -g -Wall example.c libcounted.a -o example"
ok "a text without its length is no use of it" eval 'status 0 regress libcounted.a --headers counted.h --count 300 --seed 1 --mutants 0 --json -- ./example >out.json &&
    python3 -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"findings\"] == [] and d[\"outcomes\"][\"set_aside\"] > 0, d
"'
ok "…and other texts are tested" in_tests 'CHECK_INT\(text_words\("a b c"\), 3\)'

# ---- texts that are cut where they stand, results in the caller's memory

fresh pieces
cp "$TOP"/tests/subjects/usage/pieces/*.[ch] .
ok "a library that writes into what it is given" "$SUNDEW" capture -q -- sh -c \
    "gcc -g -Wall -c pieces.c && ar rcs libpieces.a pieces.o && gcc -g -Wall example.c libpieces.a -o example"
ok "what the example did is repeated, and nothing crashes" eval 'status 0 regress libpieces.a --headers pieces.h --count 300 --seed 1 --mutants 60 --json -- ./example >out.json &&
    python3 -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"findings\"] == [], d
r = d[\"replays\"]
assert r[\"total\"] == 12 and r[\"tests\"] == 10 and r[\"shortened\"] == 0, r
why = {x[\"function\"]: x[\"why\"] for x in r[\"lost\"]}
assert set(why) == {\"sum_of_four\", \"bell_ring\"}, r
assert why[\"bell_ring\"] == \"it gives something else than in the example\", r
assert \"heap-buffer-overflow\" in why[\"sum_of_four\"] and \"in sum_of_four at\" in why[\"sum_of_four\"], r
"'
ok "a text that is cut in place is there, and what its pieces are" eval 'in_tests "char line[0-9]*\[64\] = \"docs/2024/report\";" &&
    in_tests "CHECK_INT\(pieces_split\(line[0-9]*, parts[0-9]*, 4\), 3\)" && in_tests "CHECK_STR\(parts[0-9]*\[2\], \"report\"\);"'
ok "…also in several structs" eval 'in_tests "struct pair pairs[0-9]*\[5\] = " && in_tests "CHECK_STR\(pairs[0-9]*\[1\].value, \"2\"\);" &&
    in_tests "pieces_pairs\(text[0-9]*, .&., pairs[0-9]*, 5\)"'
ok "a struct for results is empty before, and its texts are checked after" eval '! grep -E "place[0-9]*\.(host|path|query) = " tests/*.c &&
    in_tests "CHECK_STR\(place[0-9]*.query, \"x=1\"\);" && in_tests "test_place_parse_for_localhost_gives_0"'
ok "a least length belongs to no text" in_tests 'coder_new\("some pepper", 8\)'
ok "…and a count to the numbers of its name" eval 'in_tests "int numbers[0-9]*\[3\] = \{ 4, 44, 444 \};" && in_tests "CHECK_INT\(numbers[0-9]*\[2\], 444\);"'
ok "texts up to a NULL are given as they were" eval 'in_tests "aliases\[1\] = \"long\";" && in_tests "CHECK_STR\(coder_alias\(coder, 1\), \"long\"\);" &&
    ! grep "CHECK_STR(aliases" tests/*.c'
ok "…or as many as a number says, and what became of them is checked" in_tests 'CHECK_STR\(argv[0-9]*\[0\], "two"\)'
ok "room of which nobody says how long it is suffices" in_tests 'CHECK_STR\(into, "<a text of more than'
ok "what comes out otherwise than in the example is not said to be as in it" eval '! grep -B4 bell_ring tests/*.c | grep "As in the example"'
ok "bytes with a NUL behind them have one" in_tests 'CHECK_INT\(key_ends\("key", 3\), 103\)'
ok "structs up to an empty one are given as they were, by their members" eval 'in_tests "rates[0-9_]*\[1\].percent = 19;" &&
    in_tests "rates[0-9_]*\[1\].name = \"other\";" && in_tests "CHECK_INT\(rate_of\(\"other\", rates[0-9_]*\), 19\)"'
ok "they pass as they were delivered" make -s -C tests check CC=gcc CFLAGS="-Wall -Wextra -Werror"
ok "…with clang and sanitizers" strict pieces.c

done_testing
