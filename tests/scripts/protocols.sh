# sundew protocols: calls that break the rules of an API and fail, in recorded runs.
. "$TOP/tests/scripts/tap.bash"
needs_mounts "protocols are learned from a command"

# subject NAME SOURCES… [FLAGS]: a program of tests/subjects/protocols/, captured.
subject() {
    local name=$1
    shift
    cp "$TOP"/tests/subjects/protocols/* . && "$SUNDEW" capture -q -- gcc -g -o "$name" "$@"
}
protocols() { local program=$1; shift; "$SUNDEW" protocols "$program" --count 0 "$@" >out 2>said; }
# found N TEXT…: so many findings, one with each text.
found() {
    local n=$1 text
    shift
    [ "$(grep -c ': protocols: ' out)" = "$n" ] || { cat out said; return 1; }
    for text; do grep -qF -- "$text" out || { cat out said; return 1; }; done
}
silent() { found 0 && grep -q "no findings" out; }

# ---- A6.1 to A6.5 and 8a: stacks, lists, cursors

shelf() { protocols ./shelf --api bag.h -- ./shelf "$@"; }
fresh shelf
ok "a program" subject shelf shelf-main.c shelf.c bag.c
ok "runs that go well" status 0 shelf good
ok "teach, and are silent" silent
ok "A6.1: peek of an empty stack" status 1 shelf report
ok "A6.1: is one violation, at the peek" found 1 "shelf.c:38:12: protocols: stack_peek after stack = stack_new()"
ok "A6.1: the function is the module's" grep -q "in shelf_report" out
ok "A6.2: the current page of an empty list" status 1 shelf current
ok "A6.2: is one violation, at the get" found 1 "list_get after list_size(list) = 0"
ok "A6.3: remove without a fresh next" status 1 shelf flush
ok "A6.3: is one violation, at the remove" found 1 "cursor_remove after cursor_remove(cursor)"
ok "A6.4: a cursor that was made elsewhere" status 0 shelf foreign
ok "A6.4: is set-up: silent" silent
ok "A6.5: the duty is documented" status 0 shelf top
ok "A6.5: silent" silent
ok "what was learned" eval '"$SUNDEW" show protocols shelf >text && grep -q "\[cursor_has_next(cursor) > 0, cursor_next(cursor) > 0\]" text'
ok "as a picture" eval '"$SUNDEW" show protocols --dot >dot && dot -Tsvg dot >svg && grep -q "cursor_next" svg'
ok "as JSON" eval '"$SUNDEW" show protocols --json >json && python3 -c "
import json
p = json.load(open(\"json\"))[\"protocols\"]
one = [x for x in p if x[\"types\"] == [\"stack\"]][0]
assert one[\"runs\"] == 1 and one[\"states\"] and one[\"edges\"], one
assert any(\"list\" in x[\"types\"] and \"cursor\" in x[\"types\"] for x in p)
"'
ok "a violation as JSON" eval '"$SUNDEW" protocols ./shelf --count 0 --api bag.h --json -- ./shelf report >json 2>said; python3 -c "
import json
d = json.load(open(\"json\"))
v, = d[\"violations\"]
assert v[\"function\"] == \"shelf_report\" and v[\"api\"] == \"stack_peek\" and v[\"tier\"] == 1, v
assert v[\"failure\"] == \"SIGABRT\" and v[\"protocol\"] == \"stack\" and v[\"line\"] == 38, v
assert d[\"protocols\"][0][\"states\"]
"'
ok "an edge that a user pins is in order" eval 'echo "pin stack: stack_new -> stack_peek" >sundew.protocols; status 0 shelf report && silent'
ok "A6.5: out of order without a failure" eval 'echo "forbid list: list_add -> list_add" >sundew.protocols; status 0 shelf good && silent'
rm -f sundew.protocols
fresh shelf-fixed
ok "fixed: a program" subject shelf -DFIXED shelf-main.c shelf.c bag.c
for what in good report current flush; do
    ok "fixed: $what" status 0 shelf "$what"
    ok "fixed: $what: silent" silent
done

fresh lamp
ok "a maker that is lent a struct: a program" subject lamp lamp-main.c lamp.c
ok "…begins no life of that struct" status 0 protocols ./lamp --api lamp.h -- ./lamp
ok "…silent" silent

# ---- A6.8: streams, statements, locks

files() { protocols ./files --api stdio,sqlite3.h,pthread -- ./files "$@"; }
texts() { printf 'a\nb\n' >a.txt && printf 'a\n!\n' >b.txt; }
fresh files
ok "A6.8: a program" subject files files.c -lsqlite3 -pthread
ok "A6.8: its files" texts
ok "A6.8: runs that go well" status 0 protocols ./files --api stdio,sqlite3.h,pthread -- sh run-good.sh
ok "A6.8: silent" silent
ok "A6.8b: a step after finalize" status 1 files cleared
ok "A6.8b: is a violation at the step" found 1 "sqlite3_step after sqlite3_finalize(stmt) = 0 breaks the protocol, and fails"
ok "A6.8c: a stream is closed twice" status 1 files log-twice
ok "A6.8c: is a violation at the close" found 1 "fclose after fclose(file) = 0 breaks the protocol, and fails"
ok "A6.8d: a bind before reset" status 1 files put
ok "A6.8d: is misuse that nobody looks at" found 1 "sqlite3_bind_int after sqlite3_column_int(stmt) > 0" "SQLITE_MISUSE"
ok "A6.8d: the caller hears of it" status 0 files try
ok "A6.8d: silent" silent
ok "A6.8f: a file that is not there" status 0 files config nothing
ok "A6.8f: silent" silent
ok "a file that is not there, and nobody asks" status 1 files first nothing
ok "is a violation at the first read" found 1 "fgetc after fopen() = NULL"
ok "a lock that is taken twice" status 1 files locked
ok "is misuse that nobody looks at" found 1 "pthread_mutex_lock after" "EDEADLK"
ok "a path that forgets to close" status 1 files count a.txt b.txt a.txt
ok "is unfinished" found 1 "files.c:71:15: protocols: what fopen gives is not ended by fclose here; 8 others were"
ok "known failures again" eval '"$SUNDEW" protocols ./files --api stdio,sqlite3.h,pthread --replay >out 2>said; grep -q "6 known failures" said'
ok "are all there still" found 5 "sqlite3_step after" "fclose after" "SQLITE_MISUSE" "EDEADLK" "fgetc after"
fresh files-fixed
ok "fixed: a program" subject files -DFIXED files.c -lsqlite3 -pthread
ok "fixed: its files" texts
ok "fixed: runs that go well" status 0 protocols ./files --api stdio,sqlite3.h,pthread -- sh run-good.sh
ok "fixed: runs that would not" status 0 protocols ./files --api stdio,sqlite3.h,pthread -- sh -c '
    for what in cleared log-twice put "first nothing" locked; do ./files $what; done; ./files count a.txt b.txt a.txt'
ok "fixed: silent" silent

# ---- bad input

ok "no API" says "--api says which API" status 2 "$SUNDEW" protocols ./files -- true
ok "no command and no tests" says "a command stands after --" status 2 "$SUNDEW" protocols ./files --api stdio --count 0
ok "an API that is not known" says "neither a header nor a family" status 2 "$SUNDEW" protocols ./files --count 0 --api nothing -- true
ok "a header that is not there" says "nothing.h" status 2 "$SUNDEW" protocols ./files --count 0 --api nothing.h -- true
echo 'int f(struct {;' >broken.h
ok "a header that does not parse" says "calls none of its functions" status 2 "$SUNDEW" protocols ./files --count 0 --api broken.h -- true
printf '#error no\n' >broken.h
ok "a header that can't be read" says "broken.h can't be read" status 2 "$SUNDEW" protocols ./files --count 0 --api broken.h -- true
ok "an API that is never called" says "never calls it" status 2 "$SUNDEW" protocols ./files --count 0 --api dirent -- true
ok "a command that runs nothing of it" says "ran nothing of files" status 2 "$SUNDEW" protocols ./files --count 0 --api stdio -- true
echo 'f 0:' >bad.txt
ok "a table with a mistake" says "bad.txt:1: no place" status 2 "$SUNDEW" protocols ./files --count 0 --api stdio --table bad.txt -- ./files log
echo 'pin' >bad.edges
ok "edges with a mistake" says "bad.edges:1: no edge" status 2 "$SUNDEW" protocols ./files --count 0 --api stdio --edges bad.edges -- ./files log
ok "a process that is killed" says "not learned from" status 0 "$SUNDEW" protocols ./files --count 0 --api stdio -- sh -c './files killed; true'
ok "more calls than are recorded" says "calls were not recorded" "$SUNDEW" protocols ./files --count 0 --api stdio --calls 2 -- ./files count a.txt
ok "protocols that are damaged" eval 'echo "{}" >.sundew/protocols/files.json; says "holds no protocols" status 2 "$SUNDEW" protocols ./files --count 0 --api stdio -- ./files log'
ok "are dropped on demand" status 0 "$SUNDEW" protocols ./files --count 0 --api stdio --forget -- ./files log

# ---- files that fail

paths='for what in "copy a.txt c.txt" "first a.txt" "save d.txt" "count ." "lines a.txt"; do ./paths $what; ./paths $what; done; true'
injected() { protocols ./paths --api stdio,dirent "$@" -- sh -c "$paths"; }
fresh paths
ok "error paths: a program" subject paths paths.c
ok "error paths: its files" texts
ok "error paths: nothing fails" status 0 injected
ok "error paths: silent" silent
ok "error paths: files fail" status 1 injected --inject 40
ok "error paths: are found" found 3 "what fopen gives is not ended by fclose here" "fgetc after fopen() = NULL" "fclose after fclose(file)"
ok "error paths: the failure is told" grep -q "inject: fopen finds no free descriptor" out
ok "error paths: and that of a stream" grep -q "inject: fputs can't read or write its file, from here on" out
ok "error paths: so many calls" grep -q "files were made to fail at [0-9]* calls" said
fresh paths-fixed
ok "fixed error paths: a program" subject paths -DFIXED paths.c
ok "fixed error paths: its files" texts
ok "fixed error paths: files fail" status 0 injected --inject 40
ok "fixed error paths: silent" silent
ok "files of what fail?" says "needs a command" status 2 "$SUNDEW" protocols ./paths --api stdio --inject 3
ok "a number of failures" says "is no number of calls" status 2 "$SUNDEW" protocols ./paths --api stdio --inject x -- true

# ---- the example

fresh larder
ok "larder: captured" eval 'cp -r "$TOP/examples/larder/." . && "$SUNDEW" capture -q -- make -j2'
larder() { protocols build/larder --api larder.h -- "$@"; }
ok "larder: its tests teach" status 0 larder make check
ok "larder: urgent without an item that is low" status 1 larder build/larder data/tiny.ldg urgent
ok "larder: is found" found 1 "tool/commands.c:73:24: protocols: larder_cursor_sku after larder_cursor_next(cursor) = 0"
ok "larder: fixed" eval 'patch -sp1 <defects/fix-protocols.patch && "$SUNDEW" capture -q -- make -j2'
ok "larder: urgent" status 0 larder build/larder data/tiny.ldg urgent
ok "larder: silent with the fix" silent

done_testing
