# sundew record, sundew show trace.
. "$TOP/tests/scripts/tap.bash"

fresh project
cp "$TOP/tests/subjects/record/list.c" list.c
ok "capture" "$SUNDEW" capture -- gcc -O2 list.c -o list -lpthread
ok "record" says "12 calls" "$SUNDEW" record ./list -- hello </dev/null
ok "…the program's own output is passed on" says "13" "$SUNDEW" record ./list -- hello </dev/null

shown() { "$SUNDEW" show trace ./list | grep -qF -- "$1" || { "$SUNDEW" show trace ./list; return 1; }; }
ok "strings are copied" shown 'list_new(name = "hello")'
ok "enums have names, doubles their value" shown 'c = GREEN, w = 2.5)'
ok "structs by value" shown 'sum(p = {a = 4, b = 5, c = 6}, by = {len = 4,'
ok "a struct that is returned in memory" shown 'make_pair = {a = 4, b = 5, c = 6}'
ok "a pointer that is returned" shown 'list_new = object'
ok "what longjmp left has no return" eval '! shown "return  leaves"'
ok "…but its caller goes on" shown 'list_free(l = object'
ok "a second thread" shown ' T2 '
ok "a second process" shown 'P2 T1'
ok "nothing was cut short" eval '! "$SUNDEW" record ./list -- hello </dev/null 2>&1 | grep -q "cut short"'
ok "standard output is the program's alone" eval './list hello >plain; "$SUNDEW" record ./list -- hello </dev/null >woven; cmp plain woven'
ok "how it ended" shown 'exit status 2'
ok "only what is asked for" eval '! "$SUNDEW" show trace ./list .sundew/traces/2 sum | grep -q list_add'
ok "nothing is copied by reference" eval '"$SUNDEW" record ./list --copy reference -- hi </dev/null && ! shown "\"hi\""'
ok "deep copies follow pointers" eval '"$SUNDEW" record ./list --copy deep -- deep </dev/null && shown "name = \"deep\", next = NULL"'
ok "a function that is not there" says "no function 'summ'" "$SUNDEW" show trace ./list .sundew/traces/2 summ
ok "one function only" eval '"$SUNDEW" record ./list -f list_add -o one -- x </dev/null && ! "$SUNDEW" show trace ./list one | grep -q list_new'
ok "…in a folder that is not empty is refused" status 2 "$SUNDEW" record ./list -o one -- x </dev/null
ok "JSON" eval '"$SUNDEW" show trace ./list one --json | python3 -c "
import json, sys
all = json.load(sys.stdin)
calls = [e for e in all if e[\"kind\"] == \"call\"]
assert {c[\"function\"] for c in calls} == {\"list_add\"} and len(calls) == 5, calls
assert [a[\"name\"] for a in calls[0][\"arguments\"]] == [\"l\", \"c\", \"w\"], calls[0]
"'
ok "a crash is recorded up to its end" eval '"$SUNDEW" record ./list -- a b </dev/null; shown "list_free(l = object"'
cp "$TOP/tests/subjects/record/inner.c" inner.c
returned() { "$SUNDEW" show trace ./inner | grep -qE -- "$1" || { "$SUNDEW" show trace ./inner; return 1; }; }
ok "functions that are put into each other" eval '"$SUNDEW" capture -- gcc -O2 inner.c -o inner && "$SUNDEW" record ./inner'
ok "…return each, the innermost first" returned '^#5 P1 T1       return  inner = 4  \[call #4\]'
ok "…then those around it" eval "returned 'return  middle = 8  .call #3' && returned 'return  outer = 9  .call #2'"
ok "…and main, as deep as it was called" returned '^#8 P1 T1 return  main = 0'
# A file that a word names is seen wherever it is, also where the sandbox has a folder of its own.
cat >reads.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **v)
{
    FILE *f = n > 1 ? fopen(v[1], "r") : NULL;
    if (f && fgetc(f) == '!')
        abort();
    return f ? 5 : 6;
}
END
far=$(mktemp -d /var/tmp/sundew-test-XXXXXX); printf '?' >"$far/good"; printf '!' >"$far/bad"
ok "a program that reads a file" "$SUNDEW" capture -- gcc -g reads.c -o reads
ok "…below /var/tmp: record" says "ended with status 5" "$SUNDEW" record ./reads -- "$far/good" </dev/null
ok "…threads" says "abort" "$SUNDEW" threads ./reads -- "$far/bad"
ok "…explore" says "abort" "$SUNDEW" explore ./reads --replay -o far.out -i reads.c -- "$far/bad"
ok "…reproduce, with a test that shows it" says "1 of 1 frames reproduce it" "$SUNDEW" reproduce ./reads -- "$far/bad" </dev/null
ok_mounted "…and a word for all of it is told" says "/var/tmp is hidden from the program" "$SUNDEW" record ./reads -- /var/tmp </dev/null
rm -rf "$far"

same() { ./list "$@" >plain 2>&1; a=$?; SUNDEW_TRACE=$1 ./recorded "$@" >woven 2>&1; b=$?; [ $a = $b ] && cmp plain woven; }
ok "a recorded program is kept" "$SUNDEW" record ./list --build recorded
mkdir there
ok "…and does what the plain one does" same there
ok "…and records" says "call" "$SUNDEW" show trace ./list there
ok "…or not, without a folder" eval './list >plain; ./recorded >woven; cmp plain woven'

# ---- programs that a recorder might disturb

cp "$TOP/tests/subjects/record/processes.c" .
ok "another program" "$SUNDEW" capture -- gcc -O1 processes.c -o processes -lpthread
ok "…is kept recorded" "$SUNDEW" record ./processes --build disturbed
# undisturbed HOW…: it does the same, with few descriptors; its trace is `told`.
undisturbed() {
    rm -rf told.d; mkdir told.d
    ./processes "$@" >plain 2>&1; echo "status $?" >>plain
    (ulimit -n 40; SUNDEW_TRACE=told.d ./disturbed "$@" >woven 2>&1; echo "status $?" >>woven) 2>/dev/null
    "$SUNDEW" show trace ./processes told.d >told 2>&1
    diff plain woven
}
ok "its own files are its own" undisturbed closes
ok "…and all is recorded" eval '[ "$(grep -c " call .* work(" told)" = 60001 ]'
ok "threads that end hold nothing" undisturbed threads
ok "…and all are recorded, in little space" eval '[ "$(grep -c " call .* work(" told)" = 100 ] && [ "$(du -sk told.d | cut -f1)" -lt 4096 ]'
ok "a child of vfork() that ends" undisturbed borrows
ok "…is not the end of its parent" eval 'grep -q "call .* after(" told && tail -n 1 told | grep -q "exit status 0"'
ok "a recorded program that is executed" undisturbed executes
ok "…records too" eval 'grep -q "^#.* P1 .*end .*exec" told && grep -q "^#.* P2 .*call .*after(" told'
limited() { (ulimit -f 100; SUNDEW_TRACE=told.d ./disturbed borrows); }
ok "a limit on the size of files does not kill it" says "child 7, then 3" limited
ok "a folder is found again from another one" eval 'mkdir -p else && rm -rf told.d && mkdir told.d &&
    (cd else && SUNDEW_TRACE=../told.d ../disturbed borrows) && ls told.d/*.stream'

cp "$TOP/tests/subjects/record/rest.c" rest.c
"$SUNDEW" capture -- gcc -g rest.c -o rest >/dev/null 2>&1
"$SUNDEW" record -q ./rest -- last </dev/null
"$SUNDEW" show trace ./rest >shown
ok "what is passed for ..." eval 'grep -E "take\(n = 1, 5, -6000000000, 2.5, \"lit\", \"last\", object [0-9]+, NULL, 120\)" shown || { cat shown; false; }'
ok "…nothing; a struct, or through a pointer: it is not known" eval '"$SUNDEW" show trace ./rest --json | python3 -c "
import json, sys
d = json.load(sys.stdin)
calls = [e for e in (d if isinstance(d, list) else d[\"events\"]) if e[\"kind\"] == \"call\" and e[\"function\"] == \"take\"]
assert [c.get(\"variadic\") for c in calls][1:] == [[], None, None], calls
"'

# A file that is written and read again, and one that is outside of the project.
cat >writes.c <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "out.txt";
    FILE *f = fopen(name, "w");
    if (!f)
        return perror(name), 1;
    fputs("4", f);
    fclose(f);
    f = fopen(name, "r");
    return f && fgetc(f) == '4' ? 4 : 2;
}
END
"$SUNDEW" capture -- gcc -g writes.c -o writes >/dev/null 2>&1
ok_mounted "what it writes in the project is there for it" says "status 4" "$SUNDEW" record ./writes -o w0
ok "…and gone with the run" [ ! -e out.txt ]
ok "kept from writing: how to let it" says "--writable DIR lets it" "$SUNDEW" record ./writes -o w1 -- /etc/sundew-no
ok "…let" eval '"$SUNDEW" record ./writes -o w2 --writable . >said 2>&1; ! grep -q writable said && [ -e out.txt ]'
ok "no trace yet" eval 'mkdir empty && says "holds no trace" "$SUNDEW" show trace ./list empty'
ok "unknown function" says "no function 'nope'" "$SUNDEW" record ./list -f list_add -f nope </dev/null
ok "unknown strategy" says "used-fields or deep" "$SUNDEW" record ./list --copy much </dev/null
done_testing
