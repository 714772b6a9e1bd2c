# sundew protocols: tests of a program's own functions, grown towards an API.
. "$TOP/tests/scripts/tap.bash"

# subject NAME SOURCES… FLAGS…: a library of tests/subjects/protocols/, captured.
subject() {
    local name=$1
    shift
    cp "$TOP"/tests/subjects/protocols/*.[ch] . &&
    "$SUNDEW" capture -q -- sh -c "rm -f *.o *.a; gcc -g -c $* && ar rcs lib$name.a *.o"
}
protocols() { local program=$1; shift; "$SUNDEW" protocols "$program" --seed 1 --json "$@" >out.json 2>said; [ $? -le 1 ] || { cat said; return 1; }; }
# all EXPRESSION: of d, the answer, and v, its violations by function.
all() {
    python3 -c "
import json
d = json.load(open('out.json'))
v = {x['function']: x for x in d['violations']}
assert $1, (d['violations'], d.get('generation'))
"
}
shelf() { protocols libshelf.a --api bag.h --headers shelf.h "$@"; }

fresh shelf
ok "a library" subject shelf shelf.c bag.c
ok "tests are made" shelf --count 320
ok "A6.1, A6.2, A6.3: three violations" all "set(v) == {'shelf_report', 'shelf_current', 'shelf_flush'}"
ok "A6.1: at the peek" all "v['shelf_report']['api'] == 'stack_peek' and v['shelf_report']['line'] == 38"
ok "A6.2: at the get" all "v['shelf_current']['api'] == 'list_get'"
ok "A6.3: at the remove" all "v['shelf_flush']['api'] == 'cursor_remove'"
ok "A6.8a: an assertion of the API is tier 1" all "all(x['tier'] == 1 and x['failure'] == 'SIGABRT' for x in d['violations'])"
ok "protocols were learned from tests alone" all "any(p['types'] == ['stack'] and p['runs'] > 1 for p in d['protocols'])"
ok "the test is short" all "v['shelf_report']['test'].count('shelf_') == 2"
ok "the test is C, and fails" eval 'python3 -c "
import json
for x in json.load(open(\"out.json\"))[\"violations\"]:
    if x[\"function\"] == \"shelf_flush\":
        open(\"t.c\", \"w\").write(x[\"test\"])
" && gcc -Wall -Werror -I. -o t t.c libshelf.a && status 134 sh -c ./t'
ok "how soon" all "0 < d['generation']['first_call'] <= 320 and 0 < d['generation']['first_violation'] <= 320"
ok "known failures again" shelf --replay
ok "are there" all "set(v) == {'shelf_report', 'shelf_current', 'shelf_flush'}"
ok "fixed: a library" subject shelf -DFIXED shelf.c bag.c
ok "fixed: known failures" shelf --replay
ok "fixed: are gone" all "not v"
ok "fixed: tests are made" shelf --count 320
ok "fixed: silent, also about tests that use what is gone (A6.8e)" all "not v and d['generation']['died'] > 0"
ok "the same seed gives the same" eval 'shelf --count 160 --forget && cp out.json first.json && shelf --count 160 --forget && python3 -c "
import json
a, b = json.load(open(\"first.json\")), json.load(open(\"out.json\"))
assert a[\"protocols\"] == b[\"protocols\"]
"'

fresh table
table() { protocols libtable.a --api sqlite3.h --headers table.h --link -lsqlite3 "$@"; }
ok "A6.8b: a library over SQLite" subject table table.c
ok "A6.8b: tests are made" table --count 160
ok "A6.8b: a step after finalize" all "'table_fetch' in v and v['table_fetch']['api'] == 'sqlite3_step' and v['table_fetch']['tier'] == 1"
ok "A6.8b: fixed: a library" subject table -DFIXED table.c
ok "A6.8b: fixed: tests are made" table --count 160
ok "A6.8b: fixed: silent" all "not v"

needs_mounts "larder: its tests teach"
fresh larder
ok "larder: captured" eval 'cp -r "$TOP/examples/larder/." . && "$SUNDEW" capture -q -- make -j2'
larder() { protocols build/larder --api larder.h "$@"; }
ok "larder: its tests teach" larder --count 0 -- make check
ok "larder: tests are made of its functions" larder --count 160
ok "larder: the planted defect" all "v['cmd_urgent']['api'] == 'larder_cursor_sku'"
ok "larder: no other" all "len(v) == 1"
ok "larder: fixed" eval 'patch -sp1 <defects/fix-protocols.patch && "$SUNDEW" capture -q -- make -j2'
ok "larder: fixed: known failures" larder --replay
ok "larder: fixed: tests are made" larder --count 160
ok "larder: fixed: silent" all "not v"

done_testing
