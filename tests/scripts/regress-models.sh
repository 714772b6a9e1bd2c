# What models are good for: subjects whose API is demanding.
. "$TOP/tests/scripts/tap.bash"

# subject NAME LIBRARY: one of tests/models, captured.
subject() {
    fresh "$1"
    cp "$TOP/tests/models/$1/"*.[ch] .
    "$SUNDEW" capture -q -- sh -c "gcc -g -c $2.c && ar rcs lib$2.a $2.o && gcc -g example.c lib$2.a -o example"
}
regress() { "$SUNDEW" regress "$@" </dev/null; }
in_tests() { grep -qE -- "$1" tests/*.c || { echo "not there: $1"; cat tests/*.c; return 1; }; }

# ---- statement and connection: similar to the example, but different

ok "statements" subject statement tiny
ok "tests" regress libtiny.a --headers tiny.h --count 1000 --seed 1 -- ./example
ok "the magic word came from the example" in_tests 'driver_connect\(driver[0-9]+, "mem:tiny", NULL\)'
ok "a table is created and the statement closed" in_tests 'CHECK_INT\(stmt_execute\(stmt[0-9]+, "create table test .*\), 0\)'
ok "what fails in a new state is a test that expects so" in_tests \
    'CHECK_INT\(stmt_(execute\(stmt[0-9]+, "drop table|update\(stmt[0-9]+, "insert into).*\), -1\)'
ok "they pass" make -s -C tests check LIBRARY="$PWD/libtiny.a" CFLAGS="-g -I$PWD"
ok "the same seed gives the same tests" eval 'mv tests first &&
    regress libtiny.a --headers tiny.h --count 1000 --seed 1 -- ./example && for f in tests/*.[ch]; do cmp "$f" "first/${f#tests/}" || exit 1; done'
ok "a rule is kept" eval 'echo "forbid stmt_new" >rules && echo "forbid tiny_parse" >>rules && rm -rf tests &&
    regress libtiny.a --headers tiny.h --count 500 --divergent 0 --rules rules -- ./example'
ok "…no such call" eval '! grep -E "stmt_new\(|tiny_parse\(" tests/*.c'

# ---- the puzzle: six handle types, found with a model only

solved() { cat tests/*.c | python3 -c '
import re, sys
sys.exit(not re.search(r"(core\d+) = core_new\([^)]*\);\s*CHECK_NOT_NULL\(\1\)", sys.stdin.read()))'; }
ok "puzzle" subject puzzle puzzle
ok "guided" regress libpuzzle.a --headers puzzle.h --count 2000 --mutants 0 --seed 1 -- ./example
ok "…makes a core" solved
rm -rf tests
ok "universal" regress libpuzzle.a --headers puzzle.h --count 2000 --mutants 0 --seed 1 --universal
ok "…does not" eval '! solved'

done_testing
