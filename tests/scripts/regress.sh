# sundew regress: tests from an example run.
. "$TOP/tests/scripts/tap.bash"

# library FLAGS…: tests/subjects/regress/stack.c and its example, captured.
library() {
    cp "$TOP"/tests/subjects/regress/*.[ch] . &&
    "$SUNDEW" capture -q -- sh -c "gcc -g $* -c stack.c && ar rcs libstack.a stack.o && gcc -g example.c libstack.a -o example"
}
regress() { "$SUNDEW" regress libstack.a --headers stack.h --mutants 150 "$@"; }
in_tests() { grep -hqE -- "$1" tests/test_*.c || { echo "not in the tests: $1"; cat tests/test_*.c | head -150; return 1; }; }
not_in_tests() { ! grep -hE -- "$1" tests/test_*.c; }

# ---- the tests

fresh right
ok "a library" library
ok "its tests" eval 'status 0 regress -o tests --count 2500 --json -- ./example >out.json'
ok "JSON: what was made" eval 'python3 -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"tests\"] > 5 and d[\"assertions\"] > 20 and d[\"sequences\"] >= 2500, d
assert 0 < d[\"coverage\"][\"lines\"] <= d[\"coverage\"][\"all_lines\"]
assert d[\"coverage\"][\"lines\"] * 10 > d[\"coverage\"][\"all_lines\"] * 8, d[\"coverage\"]
assert 0 < d[\"coverage\"][\"branches\"] <= d[\"coverage\"][\"all_branches\"]
assert 0 < d[\"mutants\"][\"killed\"] <= d[\"mutants\"][\"reached\"] <= d[\"mutants\"][\"total\"] <= 150
assert d[\"findings\"] == []
"'
ok "…which faults are not found, and where" eval 'python3 -c "
import json
m = json.load(open(\"out.json\"))[\"mutants\"]
assert len(m[\"alive\"]) == m[\"reached\"] - m[\"killed\"], m
assert all(a[\"file\"].endswith(\"stack.c\") and a[\"line\"] > 0 and \" is \" in a[\"change\"] for a in m[\"alive\"]), m
# what is left: more memory than needed, sizes that are not used, the clock (12 of 66)
assert m[\"killed\"] * 100 >= 75 * m[\"reached\"], m
"'
ok "…sizes at the edge are tried, in marked memory" in_tests "memset\\(out[0-9]*, '#', sizeof out[0-9]*\\)"
ok "they compile without warnings and pass" make -s -C tests check CC=gcc CFLAGS="-Wall -Wextra -Werror -std=c11 -D_GNU_SOURCE"
ok "…with clang" make -s -B -C tests check CC=clang-19 CFLAGS="-Wall -Wextra -Werror"
ok "…with sanitizers, and leak nothing" eval 'clang-19 -g -fsanitize=address,undefined -c stack.c -o strict.o &&
    make -s -B -C tests check CC=clang-19 TEST_LIBS="$PWD/strict.o" \
        CFLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSUNDEW_TEST_LEAKS"'
ok "…20 times in a row" eval 'make -s -B -C tests all CFLAGS=-O2 && for i in $(seq 20); do make -s -C tests check || exit 1; done'
ok "results are checked" in_tests 'CHECK_INT\(stack_push\(stack[0-9]*, '
ok "…enumerators by name" in_tests 'stack_new\(STACK_(PLAIN|UNIQUE)\)'
ok "…strings" in_tests 'CHECK_STR\(stack_name\(stack[0-9]*\), "(plain|unique)"\)'
ok "…numbers that were written" in_tests 'CHECK_INT\(out[0-9_]*, -?[0-9]+\)'
ok "…texts in a buffer" in_tests 'CHECK_STR\(out[0-9_]*, "'
ok "…how often a callback was called" in_tests 'CHECK_INT\(stub_calls, [1-9]'
ok "handles are given back" in_tests '    stack_free\(stack[0-9]*\);'
ok "the clock is not asserted" not_in_tests 'CHECK.*stack_stamp'
ok "where standard error stands is not asserted" not_in_tests 'CHECK.*stack_where'
ok "what malloc left is not asserted" not_in_tests 'CHECK.*stack_garbage'
ok "what leaks is no test" not_in_tests 'stack_lose\('
ok "a text that is the caller's is freed" in_tests '^    free\(result[0-9]*\);'
ok "…and no other" eval 'cat tests/test_*.c | python3 -c "
import re, sys
for body in sys.stdin.read().split(\"TEST(\"):
    made = set(re.findall(r\"(result[0-9]*) = stack_copy_name\", body))
    assert set(re.findall(r\"free\((result[0-9]*)\)\", body)) <= made, body
"'
ok "what was made is looked at" in_tests 'CHECK_INT\(stack_size\(stack[0-9]*\), [0-9]+\);'
ok "no Sundew is needed" eval '! grep -rl "libsundew" tests'
ok "the same seed, the same tests" eval 'regress -o again --count 2500 -- ./example >/dev/null &&
    for f in tests/test_*.c; do cmp "$f" "again/${f#tests/}" || exit 1; done'
ok "what the example covers by itself" says "the example alone covers" regress -o t --count 300 --example-coverage -- ./example
ok "without an example: universal" eval 'regress -o universal --count 500 >/dev/null && make -s -C universal check'
mkdir slow; printf '#!/bin/sh\nsleep 60\nexec %s "$@"\n' "$(command -v make)" >slow/make; chmod +x slow/make
in_time() {     # a compiler that takes long does not hold the command
    local begun=$SECONDS
    PATH=$PWD/slow:$PATH regress -o late --count 200 --time 15s >said 2>&1
    cat said
    [ $((SECONDS - begun)) -lt 45 ] && grep -q "INCOMPLETE (.*tests were left out: there was no time" said
}
ok "--time holds while tests are tried, and what was not tried is left out" in_time
ok "…none of it is in the folder" eval '! grep -q "^TEST" late/*.c'
ok "show api" says "stack_pop(s: handle struct stack changes, out: out) -> integer" "$SUNDEW" show api libstack.a --headers stack.h
ok "…pairs" says "out: buffer out of 3, size: length of 2" "$SUNDEW" show api libstack.a --headers stack.h
ok "…as JSON" eval '"$SUNDEW" show api libstack.a --headers stack.h --json | python3 -c "
import json, sys
f = {x[\"function\"]: x for x in json.load(sys.stdin)}
assert f[\"stack_free\"][\"parameters\"][0][\"use\"] == \"consumes\"
assert f[\"stack_new\"][\"result\"][\"use\"] == \"creates\"
"'

# ---- what changed

changed() { gcc -g -c "$1" -o new.o && rm -f libnew.a && ar rcs libnew.a new.o; }
ok "the same library: nothing changed" status 0 "$SUNDEW" regress --diff tests libstack.a
sed 's/"plain"/"simple"/; s/"unique"/"single"/' stack.c >new.c
ok "another text" eval 'changed new.c && status 1 "$SUNDEW" regress --diff tests libnew.a >said'
ok "…is told, by function" eval 'grep -qF "stack_name gives something else" said && grep -qE "is \"simple\", was \"plain\"|is \"single\", was \"unique\"" said'
ok "…and nothing else" eval '! grep -E "stack_(push|pop|size|print|mean)[ :].*(gives|died)" said'
ok "accepted" eval 'cp -r tests accepted && says "checks changed" "$SUNDEW" regress --diff accepted --accept libnew.a &&
    status 0 "$SUNDEW" regress --diff accepted libnew.a'
ok "…the tests of before are as they were" status 0 "$SUNDEW" regress --diff tests libstack.a
sed "s/^ *free(s->items);/        (void)s;/" stack.c >new.c
ok "memory that is left behind" eval 'changed new.c && status 1 "$SUNDEW" regress --diff tests libnew.a >said && grep -qF "stack_free: leaves memory behind" said && [ "$(grep -c "regress/changed" said)" = 1 ]'
ok "…and nothing else" eval '! grep -E "gives something else|died" said'
sed 's/return s->n; }/return s->n + 1; }/; s/return -1;/return -2;/' stack.c >new.c
ok "two functions" eval 'changed new.c && status 1 "$SUNDEW" regress --diff tests libnew.a >said
    grep -qF "stack_p" said && [ "$(grep -c "gives something else" said)" -ge 2 ]'
ok "…accepted too" eval '"$SUNDEW" regress --diff tests --accept libnew.a >/dev/null && status 0 "$SUNDEW" regress --diff tests libnew.a'
sed '/^double stack_mean/,/^}/d' stack.c >new.c
ok "a function that is gone" eval 'changed new.c && says "stack_mean: is not there any more" "$SUNDEW" regress --diff tests libnew.a'
ok "a folder without tests" status 2 "$SUNDEW" regress --diff /usr/include libnew.a
ok "a library that is not there" status 2 "$SUNDEW" regress --diff tests nowhere.a

written() {
    "$SUNDEW" -q mutability libstack.a --pipeline D --verdicts -- make -s -B -C tests check >verdicts.txt
    grep -q 'stack_push(s): mutable (D)' verdicts.txt && grep -q 'stack_size(s): unknown' verdicts.txt || { cat verdicts.txt; return 1; }
}
ok_mounted "random sequences show mutability what is written" written

# ---- crashes

fresh wrong
ok "a library that wants its callers to know" library -DDEMANDING
ok "it dies of what the example never does: no finding" eval 'status 0 regress -o tests --count 2000 -- ./example >said && grep -q "set aside: [1-9]" said'
fresh faulty
ok "a library with a fault" library -DFAULTY
ok "it dies of what the example does" eval 'status 1 regress -o tests --count 300 -- ./example >said && grep -qF "regress/crash" said && grep -qF "stack_new" said'
ok "…the rest has tests" make -s -C tests check
ok "no library" status 2 "$SUNDEW" regress nowhere.a
ok "no header: nothing could be compiled" status 2 "$SUNDEW" regress libstack.a -o none -- ./example
ok "--accept alone is refused, and touches nothing" eval 'cp -r tests kept && status 2 regress --accept && diff -r tests kept'
ok "a share is not more than 1" status 2 regress --divergent 7 -- ./example
ok "no such example" status 2 regress -- ./nowhere
ok "no such header" status 2 "$SUNDEW" regress libstack.a --headers nowhere.h
ok "a header of another library" says "none of the program's functions" "$SUNDEW" regress libstack.a --headers /usr/include/zlib.h

# ---- what the library is linked with

fresh linked
cp "$TOP"/tests/subjects/regress/linked/*.[ch] .
gcc -shared -fPIC helper.c -o libhelper.so
"$SUNDEW" capture -q -- sh -c 'gcc -g -c twice.c && ar rcs libtwice.a twice.o'
linked() { "$SUNDEW" regress libtwice.a --headers twice.h --mutants 20 --count 200 -o tests "$@"; }
ok "a library that needs another can't be loaded alone" says "undefined symbol: helper" linked
ok "…with --link it is built anew, and has tests" eval 'linked --link "-L$PWD" --link -lhelper --link "-Wl,-rpath,$PWD" >/dev/null && in_tests "twice\("'
ok "…without it again it can't" status 2 linked

# ---- the puzzle: what the model is good for

fresh puzzle
cp "$TOP"/tests/subjects/usage/puzzle/*.[ch] .
"$SUNDEW" capture -q -- sh -c 'gcc -g -c puzzle.c && ar rcs libpuzzle.a puzzle.o && gcc -g example.c libpuzzle.a -o example'
solve() { "$SUNDEW" regress libpuzzle.a --headers puzzle.h --mutants 0 -o "$1" --count 10000 ${2:+$2} -- ./example >/dev/null; }
solved() { grep -hqE "core_weight\(core[0-9]*\), [1-9]" "$1"/test_*.c; }
ok "guided: a core is made" eval 'solve guided && solved guided'
ok "universal: none" eval 'solve universal --universal && ! solved universal'
done_testing
