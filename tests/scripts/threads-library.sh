# sundew threads LIBRARY --headers: tests from two threads that no serial order explains.
. "$TOP/tests/scripts/tap.bash"

# subject NAME FLAGS…: a library of tests/subjects/threads/, captured, in a folder of its own.
subject() {
    local name=$1
    shift
    cp "$TOP/tests/subjects/threads/$name".[ch] . &&
    "$SUNDEW" capture -q -- sh -c "gcc -g $* -c $name.c && ar rcs lib$name.a $name.o"
}
# threads NAME OPTIONS…: the machine may be busy, so the time is long; what is found ends
# nothing, so it is as short as can be.
threads() { local name=$1; shift; "$SUNDEW" threads "lib$name.a" --headers "$name.h" --type "$name" --json "$@" >out.json; [ $? -le 1 ]; }
# found EXPRESSION: one of the violations is so.
found() {
    python3 -c "
import json, sys
d = json.load(open('out.json'))
all = [f for f in d['findings'] if f['rule'] != 'threads/race']
assert any($1 for v in all), [(v['kind'], v['functions']) for v in all]
for v in all:
    assert v['tier'] in (1, 2, 3) and v['serial_orders'] and v['test'] and v['replays'] == v['of'], v
"
}
silent() {
    python3 -c "
import json
d = json.load(open('out.json'))
assert not [f for f in d['findings'] if f['rule'] != 'threads/race'], [f['message'] for f in d['findings']]
assert d['types'][0]['tests'] > 3 and d['types'][0]['pairs_covered'] > 1, d['types']
"
}

# ---- A3: a list that is half locked

fresh source
ok "A3: a library" subject source
ok "A3: it runs" threads source --tests 30 --time 5m
ok "A3: a use of freed memory that no serial order shows" found "v['kind'] == 'sanitizer' and v['tier'] == 1 and 'source_close' in v['functions']"
ok "A3: the test is kept" test -s libsource.a.threads/1/test.txt
ok "A3: …and the serial orders" grep -q "ends well" libsource.a.threads/1/serial.txt
fresh source-fixed
ok "A3 with the lock: a library" subject source -DFIXED
ok "A3 with the lock: it runs" threads source --tests 10 --time 5m
ok "A3 with the lock: silent" silent

# ---- A5: a vector without a lock

fresh ivec
ok "A5: a library" subject ivec
ok "A5: it runs" threads ivec --tests 30 --time 5m
ok "A5: it fails" found "v['tier'] == 1 and 'ivec_add' in v['functions']"
ok "A5: nothing is promised: notes only" eval 'python3 -c "
import json
d = json.load(open(\"out.json\"))
assert not d[\"promised\"] and all(f[\"level\"] == \"note\" for f in d[\"findings\"])
"'
fresh ivec-fixed
ok "A5 with a lock: a library" subject ivec -DFIXED
ok "A5 with a lock: it runs" threads ivec --tests 10 --time 5m
ok "A5 with a lock: silent" silent

# ---- A6, A7: correct

fresh cow
ok "A6: a library" subject cow
ok "A6: it runs" threads cow --tests 10 --time 5m --outputs
ok "A6: silent, with outputs, too" silent
fresh stack
ok "A7: a library" subject stack
ok "A7: it runs" threads stack --tests 10 --time 5m
ok "A7: silent" silent

# ---- bad input

ok "a type that is not there" says "the header has no such type" status 2 "$SUNDEW" threads libstack.a --headers stack.h --type heap
ok "a contract that is none" says "shared, distinct or const" status 2 "$SUNDEW" threads libstack.a --headers stack.h --contract all
ok "a header that is not there" status 2 "$SUNDEW" threads libstack.a --headers nothing.h

done_testing
