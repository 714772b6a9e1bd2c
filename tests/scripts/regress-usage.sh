# What a learned usage is good for: subjects whose API is demanding.
. "$TOP/tests/scripts/tap.bash"

# subject NAME LIBRARY: one of tests/subjects/usage, captured.
subject() {
    fresh "$1"
    cp "$TOP/tests/subjects/usage/$1/"*.[ch] .
    "$SUNDEW" capture -q -- sh -c "gcc -g -c $2.c && ar rcs lib$2.a $2.o && gcc -g example.c lib$2.a -o example"
}
regress() { "$SUNDEW" regress "$@" </dev/null; }
in_tests() { grep -qE -- "$1" tests/*.c || { echo "not there: $1"; cat tests/*.c; return 1; }; }

# ---- statement and connection: similar to the example, but different

ok "statements" subject statement tiny
ok "tests" regress libtiny.a --headers tiny.h --count 1000 --seed 1 -- ./example
ok "the magic word came from the example" in_tests 'driver_connect\(driver[0-9]*, "mem:tiny", NULL\)'
ok "a table is created and the statement closed" in_tests 'CHECK_INT\(stmt_execute\(stmt[0-9]*, "create table test .*\), 0\)'
ok "what fails in a new state is a test that expects so" in_tests \
    'CHECK_INT\(stmt_(execute|update)\(stmt[0-9]*, "(drop table|insert into).*\), -1\)'
ok "they pass" make -s -C tests check LIBRARY="$PWD/libtiny.a" CFLAGS="-g -I$PWD"
ok "the same seed gives the same tests" eval 'mv tests first &&
    regress libtiny.a --headers tiny.h --count 1000 --seed 1 -- ./example && for f in tests/*.[ch]; do cmp "$f" "first/${f#tests/}" || exit 1; done'
ok "a rule is kept" eval 'echo "forbid stmt_new" >rules && echo "forbid tiny_parse" >>rules && rm -rf tests &&
    regress libtiny.a --headers tiny.h --count 500 --divergent 0 --rules rules -- ./example'
ok "…no such call" eval '! grep -E "stmt_new\(|tiny_parse\(" tests/*.c'

# ---- a stream: what the caller sets in its structs between calls, and what comes back in them

# strict SOURCE: the tests in tests/, with clang and sanitizers, of the library made of SOURCE.
strict() {
    local flags="-g -I$PWD -fsanitize=address,undefined"
    # shellcheck disable=SC2086
    clang-19 $flags -c "$1" -o strict.o &&
        make -s -B -C tests check CC=clang-19 TEST_LIBS="$PWD/strict.o" \
            CFLAGS="$flags -Wall -Wextra -Werror -fno-sanitize-recover=undefined -DSUNDEW_TEST_LEAKS"
}

ok "stream" subject stream stream
ok "tests" eval 'regress libstream.a --headers stream.h --count 1000 --seed 1 --json -- ./example >out.json'
ok "what the example did is a test" eval 'grep -qE "Repeats the example|As in the example" tests/test_stream.c && python3 -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"replays\"][\"tests\"] >= 1 and d[\"coverage\"][\"lines\"] == d[\"coverage\"][\"all_lines\"], d
"'
ok "fields are set before the call" in_tests 'stream[0-9_]*\.next_in = \(const unsigned char \*\)bytes[0-9]+;'
ok "…with their length" in_tests 'stream[0-9_]*\.avail_in = 10;'
ok "…and checked after it" in_tests 'CHECK_INT\(stream[0-9_]*\.avail_out, 30\)'
ok "…as is what came out" in_tests 'CHECK_BYTES\(bytes[0-9]+, "VRPH ZRUGV'
ok "fields that nobody changed are not" eval '! grep -E "CHECK.*stream[0-9_]*\.(state|next_in)" tests/*.c'
ok "they compile without warnings and pass" make -s -C tests check LIBRARY="$PWD/libstream.a" CFLAGS="-g -Wall -Wextra -Werror -I$PWD"
ok "…with clang and sanitizers, and leak nothing" strict stream.c
ok "the model has what was set" eval '"$SUNDEW" record -q ./example >/dev/null 2>&1
    says "after s.next_in = {73 6f 6d 65 20 77 6f 72 64 73}, s.avail_in = 10" "$SUNDEW" show model libstream.a --headers stream.h --example ./example'
ok "…in JSON, too" eval '"$SUNDEW" show model libstream.a --headers stream.h --example ./example --json | grep -q "\"field\": *\"avail_in\""'
rm -rf none
ok "the example's behaviour alone" regress libstream.a --headers stream.h -o none --count 1 --mutants 0 -- ./example
sed 's/% 26/% 25/' stream.c >new.c
ok "a change that it shows is told" eval 'gcc -g -c new.c -o new.o && ar rcs libnew.a new.o &&
    status 1 "$SUNDEW" regress --diff none libnew.a >said && grep -qF stream_run said'
ok "…and nothing where nothing changed" status 0 "$SUNDEW" regress --diff none libstream.a
rm -rf tests
ok "universal: nothing is set" regress libstream.a --headers stream.h --count 1000 --seed 1 --universal
ok "…so less is covered" eval '! grep -q "next_in =" tests/*.c && ! grep -q "VRPH" tests/*.c'

# ---- borrowed handles: not to be counted on when what they belong to has changed

ok "rows of a table" subject borrowed table
ok "a row that may be gone: its use is no finding" eval 'status 0 regress libtable.a --headers table.h --count 2000 --seed 1 --mutants 0 --json -- ./example >out.json &&
    python3 -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"findings\"] == [] and d[\"outcomes\"][\"set_aside\"] > 0 and d[\"tests\"] > 5, d
"'
ok "a row that is there: its death is one" eval '"$SUNDEW" capture -q -- sh -c "gcc -g -DBUG -c table.c && ar rcs libtable.a table.o && gcc -g example.c libtable.a -o example" &&
    rm -rf tests && status 1 regress libtable.a --headers table.h --count 2000 --seed 1 --mutants 0 -- ./example >said &&
    grep -qE "row_(set|number): calls like the example.s crash it" said'

# ---- memory of which nobody says how long it is: the copy may end before the example's did

fresh open-end
cat >join.h <<'END'
#include <stddef.h>
int join_size(int n, const char **words, const size_t *lengths);
END
cat >join.c <<'END'
#include "join.h"
#include <string.h>
int join_size(int n, const char **words, const size_t *lengths)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += (int)(lengths ? lengths[i] : strlen(words[i]));
    return sum;
}
END
cat >example.c <<'END'
#include "join.h"
int main(void)
{
    const char *words[] = { "a", "bc", "def" };
    size_t lengths[] = { 1, 2, 3 };
    return join_size(3, words, lengths) + join_size(3, words, NULL) == 12 ? 0 : 1;
}
END
ok "an array without its length" "$SUNDEW" capture -- sh -c 'gcc -g -c join.c && ar rcs libjoin.a join.o && gcc -g example.c libjoin.a -o example'
ok "…is no overflow, because the copy is short" status 0 regress libjoin.a --headers join.h --count 300 --seed 1 --mutants 0 -- ./example

# ---- variadic functions: in the shapes that the example shows

ok "variadics" subject variadic conf
ok "tests" eval 'regress libconf.a --headers conf.h --count 1000 --seed 1 -- ./example 2>said'
ok "a key goes with what the example passed for it" in_tests 'CHECK_INT\(conf_set\(conf[0-9]*, CONF_NAME, "second"\), 6\)'
ok "…a long, a double, a handle" eval 'in_tests "conf_set\(conf[0-9]*, CONF_ROOM, \(long\)6000000000L\), 2\)" &&
    in_tests "conf_set\(conf[0-9]*, CONF_RATIO, -?[0-9.]+\)" && in_tests "conf_set\(conf[0-9]*, CONF_PARENT, conf[0-9]*\), 0\)"'
ok "…and other numbers" in_tests 'conf_set\(conf[0-9]*, CONF_LIMIT, [0-9-]+\), -1\)'
ok "…a long long by its format" in_tests 'conf_measure\("%\*d%% of %lld, %ld", [0-9-]+, [0-9-]+, \(long long\)-?[0-9]+L?, \(long\)-?[0-9]+L?\)'
ok "no other shape" eval '! grep -E "conf_set\([^,]*, CONF_(LIMIT, [^0-9-]|NAME, [^\"]|PARENT, [^c]|RANGE)|conf_make\(\"(nl\", \"[^,]*, [0-9-]*[^0-9)-]|[^n]|n[^l])" tests/*.c'
ok "what is written through an argument, and what nobody called, is left alone" eval '! grep -E "conf_(read|note)\(" tests/*.c'
ok "…which is said once" eval '[ "$(grep -c "goes with their \"...\": conf_read, conf_note$" said)" = 1 ] && [ "$(grep -c conf_note said)" = 1 ]'
ok "they compile without warnings and pass" make -s -C tests check LIBRARY="$PWD/libconf.a" CFLAGS="-g -Wall -Wextra -Werror -I$PWD"
ok "…with clang and sanitizers, and leak nothing" strict conf.c
sed 's/limit > 100;/limit > 102;/' conf.c >new.c
ok "a change behind the ... is told" eval 'gcc -g -c new.c -o new.o && ar rcs libnew.a new.o &&
    status 1 "$SUNDEW" regress --diff tests libnew.a >said && grep -qF conf_set said'
ok "the model has the shapes" eval '"$SUNDEW" record -q ./example >/dev/null 2>&1
    says "conf_set(SELF, key = 3, 3 = \"root\") gives 4" "$SUNDEW" show model libconf.a --headers conf.h --example ./example'
ok "a rule is about all shapes" eval 'echo "forbid conf_set" >rules && rm -rf tests && regress libconf.a --headers conf.h --count 600 --rules rules -- ./example 2>said &&
    ! grep -E "conf_set\(" tests/*.c && in_tests "conf_make\(" && ! grep "left out" said'
ok "universal: none is called" eval 'rm -rf tests && regress libconf.a --headers conf.h --count 300 --seed 1 --universal && in_tests "conf_new\(" &&
    ! grep -E "conf_(set|make|read|note)\(" tests/*.c'
ok_mounted "an example that is not captured shows none" eval 'printf "check: t\n\t./t\nt: example.c libconf.a\n\tgcc -g example.c libconf.a -o t\n" >Makefile && rm -rf tests &&
    regress libconf.a --headers conf.h --count 300 --seed 1 -- make check 2>said && in_tests "conf_new\(" && ! grep -E "conf_(set|make|read|note)\(" tests/*.c'
ok_mounted "…which is said once, too" eval '[ "$(grep -c "goes with their" said)" = 1 ] && grep "goes with their" said | grep -q "conf_set.*conf_note"'

# ---- any command as the example: what it runs is linked with a library that writes down its calls

ok "statements, by make" eval 'subject statement tiny && printf "check: t\n\t./t\nt: example.c libtiny.a\n\tgcc -g example.c libtiny.a -o t\n" >Makefile && make -s t'
cp libtiny.a before.a
ok_mounted "make check" regress libtiny.a --headers tiny.h --count 500 --seed 1 -- make check
ok_mounted "…the magic word came from it" in_tests 'driver_connect\(driver[0-9]*, "mem:tiny", NULL\)'
ok "…the library is as it was" cmp libtiny.a before.a
ok_mounted "a command that does not use it" says "ran nothing that is linked with" status 2 "$SUNDEW" regress libtiny.a --headers tiny.h --count 5 -- true
ok_mounted "…that a tool makes fail: how to go on" says "ended with status 3, see above (if it runs its programs under Valgrind" status 2 "$SUNDEW" regress libtiny.a --headers tiny.h --count 5 -- sh -c "exit 3"
ok "a program that loads the library" eval '"$SUNDEW" capture -q -- sh -c "gcc -g -fPIC -shared tiny.c -o libtiny.so && gcc -g example.c -L. -ltiny -Wl,-rpath,$PWD -o loads" &&
    rm -rf tests && regress libtiny.so --headers tiny.h --count 500 --seed 1 -- ./loads'
ok "…the magic word came from it, too" in_tests 'driver_connect\(driver[0-9]*, "mem:tiny", NULL\)'

# ---- the puzzle: six handle types, found with a model only

solved() { cat tests/*.c | python3 -c '
import re, sys
sys.exit(not re.search(r"(core\d*) = core_new\([^)]*\);\s*CHECK_NOT_NULL\(\1\)", sys.stdin.read()))'; }
ok "puzzle" subject puzzle puzzle
ok "guided" regress libpuzzle.a --headers puzzle.h --count 2000 --mutants 0 --seed 1 -- ./example
ok "…makes a core" solved
rm -rf tests
ok "universal" regress libpuzzle.a --headers puzzle.h --count 2000 --mutants 0 --seed 1 --universal
ok "…does not" eval '! solved'

done_testing
