# sundew substitutes PROGRAM: implementations of a table of operations.
. "$TOP/tests/scripts/tap.bash"

# subject NAME FLAGS…: a program of tests/subjects/substitutes/, captured, in a folder of its own.
subject() {
    local name=$1
    shift
    fresh "$name$*"
    cp "$TOP/tests/subjects/substitutes/$name.c" . &&
    "$SUNDEW" capture -q -- gcc -g "$@" "$name.c" -o "$name" -pthread
}
# substitutes NAME OPTIONS…: its JSON in out.json.
substitutes() { "$SUNDEW" substitutes --json --seed 1 --tests 160 "$@" >out.json 2>err.txt; [ $? -le 1 ]; }
# says EXPRESSION: it holds for d, the whole; p, the first pair; all, its differences.
says() {
    python3 -c "
import json
d = json.load(open('out.json'))
p = d['pairs'][0]
all = p['differences']
assert $1, json.dumps(d['pairs'], indent=1)
for x in all:
    assert x['kind'] in ('crash', 'removed', 'output', 'deadlock') and x['test'] and x['mapping'] and x['cause'], x
    assert x['file'].endswith('.c') and x['line'] > 0 and x['function'], x
"
}
silent() { says "d['findings'] == [] and all == [] and p['tests'] > 100 and p['coverage']['pairs_covered'] > 3"; }

# ---- B1: a slot that was not overridden

ok "B1: a program" subject b1
ok "B1: its tables" eval '"$SUNDEW" substitutes ./b1 --tables >out.txt && grep -q "struct map_ops: 2 implementations" out.txt && grep -q "fast_ops: 4 of 4 slots" out.txt'
ok "B1: it runs" substitutes ./b1 --table 'struct map_ops' --reference tree_ops --tests 320
ok "B1: hash overflows the stack, because poll_last differs" says "any(x['kind'] == 'crash' and x['function'] == 'hash' and x['cause'] == 'propagated from another' and x['from'] == 'poll_last' for x in all)"
ok "B1: poll_last gives NULL" says "any(x['kind'] == 'output' and x['function'] == 'poll_last' and x['candidate_did'] == 'returns NULL' for x in all)"
ok "B1: nothing else" says "{x['function'] for x in all} == {'hash', 'poll_last'} and p['reference'] == 'tree_ops' and p['candidate'] == 'fast_ops'"
ok "B1: the mapping is told" says "all[0]['mapping'] == 'fast_new() -> tree_new(): equal parameters'"
ok "B1: only crashes" eval 'substitutes ./b1 --table map_ops --reference tree_ops --crash-only --tests 480 && says "[x[\"function\"] for x in all] == [\"hash\"]"'
crash_test() { d=$(python3 -c "import json; print([x for x in json.load(open('out.json'))['pairs'][0]['differences'] if x['function'] == 'hash'][0]['folder'])"); }
ok "B1: the test is there" crash_test
ok "B1: it fails with the candidate" eval '! make -s -C "$d" check >make.txt 2>&1 && test -x "$d/test_substitute"'
ok "B1: it passes with the reference" eval 'make -s -C "$d" clean check CFLAGS=-DREFERENCE >make.txt 2>&1'
ok "B1 overridden: a program" subject b1 -DFIXED
ok "B1 overridden: it runs" substitutes ./b1 --table 'struct map_ops' --reference tree_ops
ok "B1 overridden: silent" silent

# ---- B3, B4: a result with another meaning; a capability

ok "B3: a program" subject b3
ok "B3: it runs" substitutes ./b3 --reference array_ops
ok "B3: add_all of an empty list" says "[(x['function'], x['kind'], x['cause']) for x in all] == [('add_all', 'output', 'changed meaning')]"
ok "B4: what an implementation can do is set aside" says "{x['function'] for x in p['set_aside']} == {'supports_parent', 'depth'}"
ok "B4: it is no finding" says "len(d['findings']) == 1"
ok "B3: accepted, with a reason" eval 'echo "chapter_ops add_all output true means it worked" >ok.txt && substitutes ./b3 --reference array_ops --accepted ok.txt && says "all == [] and p[\"accepted\"][0][\"accepted\"] == \"true means it worked\" and d[\"findings\"] == []"'
ok "B3: no reason, not accepted" eval 'echo "chapter_ops add_all output" >ok.txt; ! "$SUNDEW" substitutes ./b3 --accepted ok.txt 2>err.txt; grep -q "ok.txt:1: a difference is accepted for a reason" err.txt'
ok "B3 alike: a program" subject b3 -DFIXED
ok "B3 alike: it runs" substitutes ./b3 --reference array_ops
ok "B3 alike: silent" silent

# ---- B5: a removed operation

ok "B5: a program" subject b5
ok "B5: it runs, by the name in the table" substitutes ./b5 --table rect_ops --reference plain
ok "B5: one aborts" says "[(x['function'], x['kind'], x['cause']) for x in all] == [('set_width', 'crash', 'removed operation')]"
ok "B5: one is not supported" eval 'says "[(x[\"function\"], x[\"kind\"]) for x in d[\"pairs\"][1][\"differences\"]] == [(\"set_width\", \"removed\")]"'
ok "B5: without a reference the majority is right" eval 'substitutes ./b5 --table rect_ops --tests 160 && says "len(d[\"pairs\"]) == 6 and not [f for f in d[\"findings\"] if \"set_width\" not in f[\"message\"]] and d[\"findings\"] and \"kinds[0]\" in d[\"matrix\"]"'
ok "B5 that sets: a program" subject b5 -DFIXED
ok "B5 that sets: it runs" substitutes ./b5 --table rect_ops --reference plain
ok "B5 that sets: silent" silent

# ---- B6, B8: a stronger rule, inherited; a failure that both have

ok "B6: a program" subject b6
ok "B6: tables that are filled at run time" eval '"$SUNDEW" substitutes ./b6 --tables >out.txt && grep -c "filled at run time" out.txt | grep -qx 3'
ok "B6: it runs" substitutes ./b6 --reference hash_new
ok "B6: names() reads a payload that is no text" says "[(x['function'], x['kind']) for x in all] == [('names', 'crash')]"
ok "B6: a third inherits it" says "[(x['function'], x['cause'], x['from']) for x in d['pairs'][1]['differences']] == [('names', 'propagated from another', 'props_new')]"
ok "B8: first() fails in all of them: silent" says "p['reference_fails'] > 0"
ok "B6 that asks: a program" subject b6 -DFIXED
ok "B6 that asks: it runs" substitutes ./b6 --reference hash_new
ok "B6 that asks: silent" silent

# ---- B7: a mapping

ok "B7: a program" subject b7
ok "B7: no creators are alike" eval 'substitutes ./b7 --reference super_ops && says "\"no function creates\" in p[\"why_not\"] and p[\"tests\"] == 0"'
ok "B7: the list says so too" eval '"$SUNDEW" substitutes ./b7 --list >out.txt && grep -q "sub_ops for super_ops: can.t be compared" out.txt'
ok "B7: with a mapping it is silent" eval 'echo "sub_new(int, bool) -> super_new(2)" >map.txt && substitutes ./b7 --reference super_ops --mapping map.txt && silent'
ok "B7: with a wrong one the difference names it" eval 'echo "sub_new(int, bool) -> super_new(1)" >map.txt && substitutes ./b7 --reference super_ops --mapping map.txt && says "all[0][\"function\"] == \"is_on\" and all[0][\"mapping\"] == \"sub_new(int, bool) -> super_new(1)\""'
ok "B7: a constant" eval 'echo "sub_new(int, bool) -> super_new(=1)" >map.txt && substitutes ./b7 --reference super_ops --mapping map.txt && says "all[0][\"mapping\"].endswith(\"(=1)\")"'

# ---- bad input

refuses() { local want=$1; shift; ! "$SUNDEW" substitutes "$@" >out.txt 2>err.txt && grep -q "$want" err.txt; }
ok "a mapping that is none" eval 'echo "sub_new super_new" >bad.txt; refuses "bad.txt:1: expected" ./b7 --mapping bad.txt'
ok "too few arguments: named, and not compared" eval 'echo "sub_new(int, bool) -> super_new()" >bad.txt; substitutes ./b7 --reference super_ops --mapping bad.txt && says "any(\"the mapping gives 0 arguments\" in u for u in p[\"unused\"])"'
ok "no such table" refuses "fills no such struct" ./b7 --table nothing
ok "no such implementation" refuses "has no implementation of this name" ./b7 --reference nobody
ok "no program and no libraries" refuses "a PROGRAM with tables, or" --reference x
ok "a count that is none" refuses "a number from 1" ./b7 --tests none
ok "a slot of another type: a program" subject wrong
ok "a slot of another type is named, the others go on" eval 'substitutes ./wrong --reference good_ops && says "any(q[\"candidate\"] == \"bad_ops\" and \"slot put has the type\" in q[\"why_not\"] for q in d[\"pairs\"]) and any(q[\"candidate\"] == \"other_ops\" and q[\"tests\"] > 100 for q in d[\"pairs\"])"'
ok "…as a reference it is refused" refuses "bad_ops can't be compared: slot put" ./wrong --reference bad_ops
# ---- what is written

ok "writes: a program" subject writes
ok "writes: it runs" substitutes ./writes --reference plain
ok "writes: standard output and the file" says "{(x['function'], x['candidate_did'].split()[0]) for x in all} == {('say', 'writes'), ('close', 'leaves')}"
ok "writes alike: a program" subject writes -DFIXED
ok "writes alike: silent" eval 'substitutes ./writes --reference plain && says "all == [] and p[\"tests\"] > 100"'

# ---- back ends that an argument chooses; what explains a difference

backend() { fresh "backend$*" && cp "$TOP/tests/subjects/substitutes/backend".[ch] . && "$SUNDEW" capture -q -- gcc -g "$@" backend.c -o backend; }
choose() { substitutes ./backend --backend 'tally_open(1)' --reference wide --headers backend.h "$@"; }
ok "back ends: a program" backend
ok "back ends: a total that does not fit" eval 'choose --candidate short && says "{x[\"function\"] for x in all} == {\"tally_total\"} and \"chosen by --backend\" in all[0][\"mapping\"]"'
ok "back ends: its test fails with one" eval '! make -s -C backend.substitutes/1 check >make.txt 2>&1 && test -x backend.substitutes/1/test_substitute'
ok "back ends: and passes with the other" eval 'make -s -C backend.substitutes/1 clean check CFLAGS=-DREFERENCE >make.txt 2>&1'
ok "back ends: one that is none can't be created" eval 'choose --candidate nothing && says "all == []"'
ok "back ends: no such argument" refuses "no such function with so many parameters" ./backend --backend 'tally_open(7)' --reference wide --candidate short --headers backend.h
ok "back ends: no place" refuses "expected FUNCTION(N)" ./backend --backend tally_open --reference wide --candidate short --headers backend.h
ok "back ends alike: silent" eval 'backend -DFIXED && choose --candidate short && says "all == [] and p[\"tests\"] > 100"'

ok "normalisers: a program" subject normal
ok "normalisers: each is proposed" eval 'substitutes ./normal --reference plain && says "{x[\"function\"]: x.get(\"normaliser\") for x in all} == {\"name\": \"case\", \"order\": \"sign\", \"count\": None}"'
ok "normalisers: none is used unless it is written down" says "len(d['findings']) == 4"
ok "normalisers: one that is accepted" eval 'printf "loud name case shouting is its purpose\n* order sign only the sign counts\n* count case no\n" >ok.txt; substitutes ./normal --reference plain --accepted ok.txt && says "[x[\"function\"] for x in all] == [\"count\"] and len(p[\"accepted\"]) == 3"'

# ---- the example project

fresh larder
cp -r "$TOP/examples/larder/." . && rm -rf build .sundew
ok "larder: it is captured" "$SUNDEW" capture -q -- make -s
ok "larder: it runs" substitutes build/larder --table 'struct store_ops' --reference store_list --tests 480
ok "larder: get and remove of a key with an empty text" says "{(x['function'], x['kind']) for x in all} == {('get', 'output'), ('remove', 'output')} and p['candidate'] == 'store_packed'"
ok "larder: repaired" eval 'patch -s -p1 <defects/fix-substitutes.patch && "$SUNDEW" capture -q -- make -s'
ok "larder: it runs again" substitutes build/larder --table 'struct store_ops' --reference store_list --tests 480
ok "larder: silent" silent
done_testing
