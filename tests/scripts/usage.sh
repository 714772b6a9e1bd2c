# sundew show model: how an API was used.
. "$TOP/tests/scripts/tap.bash"

# subject NAME LIBRARY: one of tests/subjects/usage, captured and recorded.
subject() {
    fresh "$1"
    cp "$TOP/tests/subjects/usage/$1/"*.[ch] .
    "$SUNDEW" capture -q -- sh -c "gcc -g -c $2.c && ar rcs lib$2.a $2.o && gcc -g example.c lib$2.a -o example" &&
    "$SUNDEW" record ./example --copy shallow </dev/null >/dev/null 2>&1
}
model() { "$SUNDEW" show model "$@" --example ./example; }
shown() { grep -qF -- "$1" model || { echo "not there: $1"; cat model; return 1; }; }
absent() { ! grep -F -- "$1" model; }

# ---- statement and connection: the published example

ok "statements" subject statement tiny
ok "without mutability" says "every call counts as a change" model libtiny.a --headers tiny.h
model libtiny.a --headers tiny.h >model 2>/dev/null
ok "…observers are edges too" shown "3 -> 4  conn_tables(SELF) gives 0"
"$SUNDEW" mutability libtiny.a >/dev/null 2>&1
model libtiny.a --headers tiny.h >model
ok "with it they are set aside" shown "observes  conn_tables(SELF)"
cat >wanted <<'W'
struct stmt: 2 objects, 8 nodes, 8 edges
    0 -> 1  SELF = stmt_new(c)  [2, creates, by the library]
    0 -> 1  SELF = conn_statement(c)  [2, creates]
    1 -> 2  tiny_parse(SELF, sql = "create table test (name char(25), id int)" | "drop table test")  [2, by the library]
    1 -> 3  stmt_execute(SELF, sql = "create table test (name char(25), id int)" | "drop table test") gives 0  [2]
    3 -> 4  tiny_parse(SELF, sql = "insert into test (name, id) values (\'Bob\', 1)")  [1, by the library]
    3 -> 5  stmt_update(SELF, sql = "insert into test (name, id) values (\'Bob\', 1)") gives 1  [1]
    3 -> 6  stmt_close(SELF)  [1, ends]
    5 -> 7  stmt_close(SELF)  [1, ends]
W
stmt_graph() { sed -n '/^struct stmt/,/^struct command/p' model | grep -v '^struct command' | diff wanted -; }
ok "two ways to make one; values united; what is not public leaves a dangling edge" stmt_graph
ok "calls of the library alone are none of the example's" absent "drop_table("
ok "a statement is closed before its connection" shown "conn_statement: the result is made from c; it is closed first"
ok "a connection is closed before its driver" shown "driver_connect: the result is made from d; it is closed first"
ok "two traces are one model" eval '"$SUNDEW" record ./example --copy shallow </dev/null >/dev/null 2>&1 &&
    model libtiny.a --headers tiny.h | grep -qF "struct stmt: 4 objects, 8 nodes, 8 edges"'
ok "…or one of them" eval 'model libtiny.a --headers tiny.h --trace .sundew/traces/1 | grep -qF "struct stmt: 2 objects"'
ok "all external functions without a header" says "driver_new" model libtiny.a
ok "the same again" eval 'model libtiny.a --headers tiny.h >a; model libtiny.a --headers tiny.h >b; cmp a b'
ok "JSON" eval 'model libtiny.a --headers tiny.h --json | python3 -c "
import json, sys
m = json.load(sys.stdin)
stmt = [t for t in m[\"types\"] if t[\"type\"] == \"struct stmt\"][0]
execute = [e for e in stmt[\"edges\"] if e[\"function\"] == \"stmt_execute\"][0]
assert execute[\"from\"] == 1 and execute[\"to\"] == 3 and execute[\"places\"] == [\"s\"]
assert {v[\"value\"] for v in execute[\"values\"][\"sql\"]} >= {\"drop table test\"}
assert [b for b in m[\"bonds\"] if b[\"function\"] == \"conn_statement\"][0][\"order\"] == \"child first\"
assert \"conn_error\" in m[\"never_called\"]
make = [e for e in stmt[\"edges\"] if e[\"function\"] == \"conn_statement\"][0]
assert make[\"others\"][0][\"type\"] == \"struct conn\" and make[\"others\"][0][\"nodes\"] == [1, 2]
"'
if command -v dot >/dev/null; then
    ok "Graphviz reads it" eval 'model libtiny.a --headers tiny.h --dot | dot -Tsvg | grep -q stmt_execute'
else
    skip "Graphviz reads it" "dot is not installed"
fi
ok "no trace is an error" eval 'status 2 "$SUNDEW" show model libtiny.a --headers tiny.h 2>said; grep -q "sundew record" said'
ok "…and so is a folder without one" status 2 model libtiny.a --trace /tmp

# ---- the user's rules

rules() { printf '%s\n' "$@" >rules; model libtiny.a --headers tiny.h --rules rules >model 2>said; }
ok "forbid" eval 'rules "# no parser" "forbid tiny_parse" && absent "tiny_parse(SELF" && shown "stmt_execute(SELF"'
ok "weight" eval 'rules "weight stmt_execute 2.5" && shown "weight 2.5"'
ok "forbid after: by the object's past" eval 'rules "forbid stmt_update after stmt_execute" &&
    absent "stmt_update(SELF" && shown "stmt_execute(SELF"'
ok "require before" eval 'rules "require stmt_update before stmt_close" && absent "3 -> 6  stmt_close" &&
    shown "stmt_update(SELF" && shown "stmt_close(SELF)"'
ok "on one type only" eval 'rules "forbid conn_statement on struct stmt" && shown "conn_statement(SELF" && absent "SELF = conn_statement("'
ok "…the tag alone will do" eval 'rules "forbid conn_statement on conn" && absent "conn_statement(SELF" && shown "SELF = conn_statement("'
ok "an empty file changes nothing" eval 'rules "" "  # nothing" && model libtiny.a --headers tiny.h >a && cmp a model'
ok "a rule without effect is told" eval 'rules "weight conn_error 3"; grep -q "rules:1: conn_error" said'
ok "a correct rule is not" eval 'rules "weight stmt_close 3"; [ ! -s said ]'
wrong() { printf '%s\n' "# first" "$1" >rules; status 2 model libtiny.a --headers tiny.h --rules rules 2>said && grep -qF "rules:2: $2" said || { cat said; return 1; }; }
ok "line numbers: an unknown word" wrong "allow stmt_close" "a rule begins with forbid, require or weight, not 'allow'"
ok "…function" wrong "forbid stmt_klose" "the API has no function 'stmt_klose'"
ok "…type" wrong "forbid stmt_close on struct nothing" "the API has no handle type 'struct nothing'"
ok "…weight" wrong "weight stmt_close often" "no weight from 0 to 1000000: 'often'"
ok "…missing weight" wrong "weight stmt_close" "one number must follow 'stmt_close'"
ok "…order" wrong "require stmt_close after stmt_new" "'before FUNCTION' must follow 'stmt_close'"
ok "…words" wrong "forbid stmt_close before stmt_new" "nothing or 'after FUNCTION' must follow 'stmt_close'"
ok "a file that is not there" status 2 model libtiny.a --rules nowhere
ok "a file that is no text" eval 'printf "forbid\0x" >rules; status 2 model libtiny.a --rules rules'

# ---- the ways of C

ok "objects" subject objects things
"$SUNDEW" mutability libthings.a >/dev/null 2>&1
model libthings.a --headers things.h >model
ok "moved and returned: the same object" shown "1 -> 2  SELF = text_append(SELF, s = {68 65 6c 6c 6f}, n = 5)  [1, rebinds]"
ok "…which goes on" shown "3 -> 4  text_free(SELF)  [1, ends]"
ok "a length belongs to its text" shown "text_append: n is the length of the text s"
ok "made by an out-parameter" shown "0 -> 1  list_open(&SELF) gives 0  [1, creates]"
ok "given away" shown "list_push: i is given away"
ok "…to its owner" shown "list_push: i is given to l; it dies with it"
ok "closed by the library is not closed by the caller" shown "1 -> 2  item_free(SELF)  [1, ends]"
ok "an owner's other calls take nothing" absent "list_first: l is"
ok "in the caller's storage" shown "0 -> 1  cursor_init(SELF, l)  [1, creates]"
ok "a loop is a circle" shown "3 -> 3  cursor_next(SELF) gives -1"
ok "the storage is closed before what it refers to" shown "cursor_init: c is made from l; it is closed first"
ok "from a pool: memory that comes again is another object" shown "struct node: 3 objects"
ok "…with a short life" shown "1 -> 3  node_free(SELF)  [1, ends]"
ok "a callback has a name" shown "see = odd"
ok "…and is the example's own code" absent "odd(SELF"

# ---- the puzzle: which objects go together

ok "puzzle" subject puzzle puzzle
"$SUNDEW" mutability libpuzzle.a >/dev/null 2>&1
model libpuzzle.a --headers puzzle.h >model
ok "five words of five makers" eval 'model libpuzzle.a --headers puzzle.h --json | python3 -c "
import json, sys
m = json.load(sys.stdin)
var = [t for t in m[\"types\"] if t[\"type\"] == \"struct var\"][0]
make = [e for e in var[\"edges\"] if e[\"function\"] == \"var_new\"][0]
assert [o[\"nodes\"] for o in make[\"others\"]] == [[1], [2], [3], [4], [5]]
"'
ok "variables of the same point" shown "point_slice: a has met p"
ok "…two of them" shown "point_slice: b is not a"
ok "a variable outlives its words" shown "var_new: the result is made from name; it is closed last"
ok "words have never met" absent "var_new: type has met name"

done_testing
