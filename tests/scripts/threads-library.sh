# sundew threads LIBRARY --headers: tests from two threads that no serial order explains.
# All searches are bounded by numbers of tests; soak-threads.sh tries 10 seeds of each, and
# the mended twins that are not here.
. "$TOP/tests/scripts/tap.bash"

# subject NAME FLAGS…: a library of tests/subjects/threads/, captured, in a folder of its own.
subject() {
    local name=$1
    shift
    cp "$TOP/tests/subjects/threads/$name".[ch] . &&
    "$SUNDEW" capture -q -- sh -c "gcc -g $* -c $name.c && ar rcs lib$name.a $name.o"
}
# threads NAME OPTIONS…: the JSON of a search in out.json.
threads() { local name=$1; shift; "$SUNDEW" threads "lib$name.a" --headers "$name.h" --type "$name" --json "$@" >out.json; [ $? -le 1 ]; }
# found EXPRESSION: one of the violations is so; all have what they should have.
found() {
    python3 -c "
import json, os
d = json.load(open('out.json'))
rows = d['violations']
assert any($1 for v in rows), [(v['kind'], v['functions']) for v in rows]
for v in rows:
    assert v['tier'] in (1, 2, 3) and v['serial_orders'] and v['replays'] == v['of'] and v['file'] and v['line'], v
    assert os.path.exists(v['test'] + '/test.json') and isinstance(v['schedule'], list), v
    if v['preemptions'] and v['kind'] != 'deadlock':
        assert all(isinstance(v['switch'][side]['held'], list) and v['switch'][side]['line'] for side in ('stopped', 'ran')), v
assert d['types'][0]['pairs'] >= d['types'][0]['pairs_covered'] and 'inconclusive' in d['types'][0]
assert all(sum(t['tests_of_contract'].values()) == t['tests'] for t in d['types']), d['types']
assert isinstance(d['races'], list) and isinstance(d['dropped'], list)
calls = {frozenset(r[side]['stack'][-1]['function'] for side in ('first', 'second')) for r in d['races']}
assert sum(f['rule'] == 'threads/race' for f in d['findings']) <= len(calls), calls
"
}
# with_c: the violation has a C program.
with_c="os.path.exists(v['test'] + '/test.c')"
c_test() { ls "lib$1.a.threads"/*/test.c | head -1; }
# seeks NAME EXPRESSION OPTIONS…: one of thirty seeds finds it; which one may change with the
# generator, so no test depends on it. tests: of one search. first: the seed that finds it soonest today.
seeks() {
    local name=$1 what=$2 seed i
    shift 2
    for i in $(seq 0 29); do
        seed=$((${first:-1} + i))
        rm -rf "lib$name.a.threads"
        threads "$name" --tests "${tests:-10}" --seed "$seed" "$@" || return 1
        found "$what" && return 0
    done
    return 1
}
silent() {
    python3 -c "
import json
d = json.load(open('out.json'))
assert not d['findings'], [f['message'] for f in d['findings']]      # not even a race
assert d['types'][0]['tests'] > 3 and d['types'][0]['pairs_covered'] > 1, d['types']
assert d['types'][0]['access_pairs'] >= d['types'][0]['access_pairs_both'] > 0, d['types']
"
}
# shows NAME TEST FLAGS…: the C program of a violation says so, compiled with the library;
# passes: it does not. tries: so many instructions.
compiled() { gcc -g -Wall -Wextra -Werror -fsanitize=address "${@:3}" -I. "$2" "$1.c" -o program -pthread; }
shows() {
    compiled "$@" || return 1
    status 1 timeout 600 ./program >shown 2>&1 && grep -q "it shows" shown || { cat shown; return 1; }
}
passes() { compiled "$@" && timeout 600 ./program ${tries-} && ! grep -q "it shows" "$work/.said"; }

# ok_traced NAME COMMAND…: as ok, where a process may trace another one: the leak sanitizer does.
ok_traced() {
    if can_trace; then ok "$@"; else skip "$1" "the leak sanitizer does not work here"; fi
}
can_trace() {
    echo 'int main(void) { return 0; }' >traced.c && gcc -fsanitize=address traced.c -o traced &&
    ASAN_OPTIONS=detect_leaks=1 timeout 60 ./traced 2>/dev/null
}

# ---- A1: a length that is read too early

fresh sbuf
ok "A1: a library" subject sbuf
first=1 tests=2 ok "A1: memory is read that is not there any more" seeks sbuf "v['kind'] == 'sanitizer' and v['tier'] == 1 and 'sbuf_insert' in v['functions'] and $with_c" --contract shared
ok "A1: the C program shows it" shows sbuf "$(c_test sbuf)"
replayed() {
    "$SUNDEW" threads --replay libsbuf.a.threads/1 >replayed; [ $? = 1 ] || return 1
    grep -q 'AddressSanitizer' replayed && grep -q 'T[12] is stopped before' replayed
}
ok "A1: a replay shows it and draws it" replayed
# Another Sundew, with the same points: its executable has no build id.
rebuilt() {
    mkdir -p other/bin other/lib/sundew && ln -s "$SUNDEW_BUILD"/* "$TOP/share" other/lib/sundew/ &&
    objcopy --remove-section .note.gnu.build-id "$SUNDEW" other/bin/sundew &&
    status 1 other/bin/sundew threads --replay libsbuf.a.threads/1
}
ok "A1: …also in a Sundew that was built again" rebuilt
kept() { threads sbuf --tests 1 --seed 4 && python3 -c "
import json
d = json.load(open('out.json'))
assert d['kept_tests'] and d['kept_tests'] == d['kept_tests_shown'], d
"; }
ok "A1: the next search begins with the kept tests" kept
ok "A1: another version" subject sbuf -DFIXED
mended() { threads sbuf --tests 1 --seed 4 && python3 -c "
import json
d = json.load(open('out.json'))
assert d['kept_tests'] and not d['kept_tests_shown'] and not d['violations'], d
"; }
ok "A1: …in which they show nothing" mended
ok "A1: its schedule is that of another build" says "another build" status 2 "$SUNDEW" threads --replay libsbuf.a.threads/1
ok "A1: a damaged test is left out" eval 'sed -i "s/sbuf_cut\|sbuf_insert/sbuf_gone/" libsbuf.a.threads/*/test.json
    says "no function sbuf_gone" threads sbuf --tests 1'
ok "A1: …and not replayed" says "sbuf_gone" status 2 "$SUNDEW" threads --replay libsbuf.a.threads/1
# ---- A2: a clear that is lost

fresh smap
ok "A2: a library" subject smap
first=26 tests=1 ok "A2: a stack overflow" seeks smap "v['kind'] == 'stack-overflow' and 'smap_put_all' in v['functions']" --contract shared

# ---- A3: a list that is half locked

fresh source
ok "A3: a library" subject source
first=12 tests=1 ok "A3: a use of freed memory that no serial order shows" seeks source "v['kind'] == 'sanitizer' and v['tier'] == 1 and 'source_close' in v['functions'] and $with_c" --contract shared
ok "A3: the serial orders are kept, with who calls what" grep -q "^T2 [a-z_]*, T1 .* (own threads): ends well" libsource.a.threads/1/serial.txt
ok "A3: the C program shows it" shows source "$(c_test source)"
ok "A3: …and passes with the lock" passes source "$(c_test source)" -DFIXED

# ---- A4: two locks in two orders

fresh pot
ok "A4: a library" subject pot
tests=3 ok "A4: a deadlock" seeks pot "v['kind'] == 'deadlock' and v['functions'] == ['pot_copy'] and $with_c" --contract shared
ok "A4: the C program shows it" shows pot "$(c_test pot)"

# ---- two preemptions, each in a call

fresh door
ok "a door: a library" subject door
tests=2 ok "…it fails with two preemptions" seeks door "v['kind'] == 'abort' and v['preemptions'] == 2 and $with_c" --contract shared
ok "…the C program shows it" shows door "$(c_test door)"
fresh door-fixed
ok "…as one step: a library" subject door -DFIXED
ok "…as one step: it runs" threads door --tests 5 --seed 1
ok "…as one step: silent" silent
ok "…two of its three pairs may conflict" grep -q '"pairs_may_conflict": 2' out.json

# ---- A5: a vector without a lock

fresh ivec
ok "A5: a library" subject ivec
tests=1 ok "A5: it fails" seeks ivec "v['tier'] == 1 and 'ivec_add' in v['functions']" --contract shared
ok "A5: nothing is promised: notes only" eval 'python3 -c "
import json
d = json.load(open(\"out.json\"))
assert not d[\"promised\"] and all(f[\"level\"] == \"note\" for f in d[\"findings\"])
"'
promised() {
    rm -rf libivec.a.threads
    echo "# A vector is thread-safe." >sundew.handles
    threads ivec --tests 1 --seed 1 && grep -q '"promised": true' out.json
}
ok "A5: …unless sundew.handles promises it" promised
one_each() {
    echo "# Vectors are thread-safe if each is used by a single thread at once." >sundew.handles
    threads ivec --tests 1 --seed 1 && grep -q '"promised": false' out.json
}
ok "A5: …but for one thread at a time" one_each

# ---- tier 2: an error that no serial order gives

fresh stile
ok "an error: a library" subject stile
tests=5 ok "…that no serial order gives" seeks stile "v['kind'] == 'error' and v['tier'] == 2 and v['functions'] == ['stile_pass']" --contract shared
ok "…is a warning" eval 'grep -q "\"rule\": \"threads/error\"" out.json && ! grep -q "\"level\": \"error\"" out.json'

fresh desk
ok "errors of who gives up: a library" subject desk
errors() {
    rm -rf libdesk.a.threads
    threads desk --tests 6 --seed 1 && python3 -c "
import json
rows = json.load(open('out.json'))['violations']
assert {f for v in rows for f in v['functions']} == set(\"$1\".split()), rows
"
}
ok "…a lock that is taken and a desk that is busy are none, what no comment explains is" errors desk_turn
ok "…with the lock: another library" subject desk -DFIXED
ok "…with the lock: silent" errors ""

# ---- lost memory: what nothing leads to any more, not what is kept for later calls

fresh form
ok "a pool of buffers: a library" subject form
tests=1 ok "…one is lost" seeks form "v['kind'] == 'leak' and v['tier'] == 1 and v['functions'] == ['form_length'] and $with_c" --contract distinct
ok_traced "…the C program shows it" shows form "$(c_test form)"
fresh form-fixed
ok "…with the lock: a library" subject form -DFIXED
ok "…with the lock: it runs" threads form --contract distinct --tests 4 --seed 1
ok "…with the lock: silent, though more buffers are kept" eval 'grep -q "\"pairs_conflicting\": 1" out.json && grep -q "\"findings\": \[\]" out.json'

fresh slab
ok "a table in mapped memory: a library" subject slab
tests=1 ok "…a slab is lost" seeks slab "v['kind'] == 'leak' and v['functions'] == ['slab_use'] and $with_c" --type "the library"
ok_traced "…the C program shows it" shows slab "$(c_test slab)"
ok_traced "…and passes with the lock" passes slab "$(c_test slab)" -DFIXED
lost_anyway() {
    local test=$1
    sed -i 's/ table\[at\] = p;/ (void)p;/' slab.c && compiled slab "$test" &&
    says "one after the other, too" status 2 ./program
}
ok_traced "…and says so if each call loses one" lost_anyway "$(c_test slab)"
fresh slab-fixed
ok "…with the lock: a library" subject slab -DFIXED
ok "…with the lock: it runs" threads slab --type "the library" --tests 6
ok "…with the lock: silent" grep -q '"findings": \[\]' out.json

# ---- an allocator that is const changes all the same: two threads may not share it

fresh purse
ok "a struct with functions that is const: a library" subject purse
ok "…of which each thread has its own: it runs" threads purse --type coin --tests 8 --seed 2
ok "…of which each thread has its own: silent" grep -q '"findings": \[\]' out.json

# ---- functions without a handle: the library itself

# Who sets the library up shares it, which nothing promises; who hands in a text does not.
fresh guide
ok "a library that is set up: a library" subject guide
# both_found: a violation of functions that set up, and one of the other; their folders are known then.
both_found() {
    local seed
    for seed in 2 $(seq 3 30); do
        rm -rf libguide.a.threads
        threads guide --type "the library" --tests 7 --seed $seed && python3 -c "
import json
rows = [v for v in json.load(open('out.json'))['violations'] if v['tier'] == 1]
contracts = {(v['functions'] == ['guide_sum'], v['contract']) for v in rows}
assert contracts == {(False, 'shared'), (True, 'distinct')}, contracts
last = {v['functions'] == ['guide_sum']: v['test'] for v in rows}
print(last[False], last[True])
" >both && return 0
    done
    return 1
}
# levels WORDS: of the two, when they are run again.
levels() {
    local test got=
    for test in $(cat both); do
        got="$got $("$SUNDEW" threads --replay $test --json | python3 -c "
import json, sys
print(*{f['level'] for f in json.load(sys.stdin)['findings'] if f['rule'] == 'threads/violation'})")"
    done
    [ "$got" = " $1" ] || { echo "levels:$got"; return 1; }
}
ok "…two threads that set it up share it, hidden state of another function is no business of theirs" both_found
ok "…nothing promises the one: a note; everybody expects the other: an error" levels "note error"
promise_it() { echo "# The library is thread-safe; an object may not be shared." >sundew.handles && levels "error error"; }
ok "…both are errors if threads are promised to be safe" promise_it
deny_it() { rm sundew.handles && sed -i 's/of its small/not thread-safe: of its small/' guide.h && levels "note note"; }
ok "…and both are notes if the header says that they are not" deny_it
ok "…mended: another library" subject guide -DFIXED
guide_mended() {
    grep -v "guide_[abe]" guide.h >sum.h && "$SUNDEW" threads libguide.a --headers sum.h --tests 2 --json -o mended >out.json &&
    grep -q '"findings": \[\]' out.json && grep -q '"tests": 2' out.json
}
ok "…mended: the other function shows nothing" guide_mended

fresh label
ok "an array that only snprintf() and atoi() use: a library" subject label
tests=2 ok "…it fails" seeks label "v['kind'] == 'abort' and v['functions'] == ['label_number'] and $with_c" --type "the library"
ok "…the C program shows it" shows label "$(c_test label)"
# Who waits for a lock in a loop, while the other is stopped with it, is no endless loop.
spins() {
    sed 's/EXPECTED = EXPECT_[A-Z]*/EXPECTED = EXPECT_STUCK/' "$1" >stuck.c &&
    sed 's/^ *static$//; s/^int label/static volatile char lock;\nint label/
        s/^    snprintf/    while (__atomic_test_and_set(\&lock, __ATOMIC_SEQ_CST))\n        ;\n&/
        s/^    return n/    __atomic_clear(\&lock, __ATOMIC_SEQ_CST);\n&/' label.c >spin.c &&
    gcc -g -Wall -Wextra -Werror -fsanitize=address -I. stuck.c spin.c -o spin -pthread && timeout 600 ./spin 26
}
ok "…a lock that is waited for in a loop is no endless loop in it" spins "$(c_test label)"
fresh label-fixed
ok "…an array of each call: a library" subject label -DFIXED
ok "…an array of each call: it runs" threads label --type "the library" --tests 3
ok "…an array of each call: silent, with a stream" grep -q '"findings": \[\]' out.json

fresh digits
ok "a text that is written byte by byte: a library" subject digits
tests=1 ok "…its writes meet" seeks digits "v['kind'] == 'output' and v['tier'] == 3 and not v['native']" --type "the library" --outputs
ok "…but has no handle to share" says "only the contract distinct" status 2 "$SUNDEW" threads libdigits.a --headers digits.h --contract shared
fresh digits-fixed
ok "…one for each thread: a library" subject digits -DFIXED
ok "…one for each thread: it runs" threads digits --type "the library" --tests 3 --outputs
ok "…one for each thread: silent" grep -q '"findings": \[\]' out.json

# ---- what the weave can't see: threads that begin together, without a scheduler

fresh hidden
ok "a count in assembly: a library" subject hidden
native() {
    for seed in $(seq 10); do
        threads hidden --tests 2 --seed $seed && python3 -c "
import json
assert any(v['native'] and v['kind'] == 'abort' and v['replays'] and not v['schedule']
           for v in json.load(open('out.json'))['violations'])
" && return 0
    done
    return 1
}
ok "…an addition is lost in runs without a scheduler" native
ok "…of which few show it: another library" subject hidden -DRARE
ok "…a replay goes on until one does" says "abort" status 1 "$SUNDEW" threads --replay libhidden.a.threads/1
ok "…as one step: another library" subject hidden -DFIXED
ok "…as one step: a replay says how often nothing showed" says "nothing showed in 30 runs" "$SUNDEW" threads --replay libhidden.a.threads/1
ok "…the first library again" subject hidden
ok "…and in a replay" eval '"$SUNDEW" threads --replay libhidden.a.threads/1 --times 20 --json | grep -q "\"native\": true"'

# ---- a large API: few functions have hidden state, and most creators make nothing

fresh hall
ok "a large API: a library" subject hall
tests=2 ok "…a function with hidden state is soon tested against itself" seeks hall "v['tier'] == 1 and v['functions'] == ['hall_spell'] and $with_c" --contract distinct
ok "…which is an error, though nothing is promised" eval 'grep -q "\"promised\": false" out.json && grep -q "\"level\": \"error\"" out.json'
ok "…the C program shows it, across setjmp()" shows hall "$(c_test hall)"
tries=60 ok "…and passes where each thread has its own" passes hall "$(c_test hall)" -DFIXED
# In some orders hall_ask() waits for the system: such a test is soon over.
few_wait() {
    echo "struct hall; struct hall *hall_new(int seats); void hall_free(struct hall *h); int hall_ask(struct hall *h);" >ask.h
    "$SUNDEW" threads libhall.a --headers ask.h --type hall --contract distinct --tests 3 --json -o waits >out.json
    python3 -c "
import json
t = json.load(open('out.json'))['types'][0]
assert t['tests'] and t['inconclusive'] and t['inconclusive'] <= 5 * t['tests'], t
"
}
ok "…tests that wait for the system are given up" few_wait
fresh hall-fixed
ok "…mended: a library" subject hall -DFIXED
ok "…mended: it runs" threads hall --contract distinct --tests 8 --seed 1
ok "…mended: silent" eval 'grep -q "\"findings\": \[\]" out.json'

# ---- A6, A7: correct

fresh cow
ok "A6: a library" subject cow
ok "A6: it runs" threads cow --tests 8 --outputs
ok "A6: silent, with outputs, too" silent
ok "A6: it runs without the sanitizer" threads cow --tests 8 --outputs --no-sanitizers -o plain
ok "A6: silent: the heap's own book-keeping is no lost memory" silent
fresh stack
ok "A7: a library" subject stack
# ---- all cores, and again later

# news FOLDER: what a search found out, without times
news() { sed 's/"seconds":[0-9.e+-]*//g' "$1/search.json"; }
ok "one core" threads stack --tests 8 -j1 -o one
ok "two cores" threads stack --tests 8 -j2 -o two
ok "A7: silent" silent
ok "…give the same search" eval 'cmp <(news one) <(news two)'
ok "a search goes on" threads stack --tests 12 --resume -o one
ok "…where it was" eval 'cmp <(news two) <(news one | head -$(news two | wc -l)) && [ $(news one | wc -l) -gt $(news two | wc -l) ] &&
    grep -q "\"tests\": 12" out.json'
ok "…but not with another seed" says "of another build, seed" status 2 "$SUNDEW" threads libstack.a --headers stack.h --type stack --resume --seed 77 -o one
ok "…nor where there is none" says "No such file" status 2 "$SUNDEW" threads libstack.a --headers stack.h --resume -o nowhere
cut_short() { head -c -20 two/search.json >cut && cp cut two/search.json && threads stack --tests 8 --resume -o two; }
ok "a line that was cut off is run again" cut_short

# ---- bad input

ok "a type that is not there" says "the header has no such type" status 2 "$SUNDEW" threads libstack.a --headers stack.h --type heap
ok "a contract that is none" says "shared, distinct or const" status 2 "$SUNDEW" threads libstack.a --headers stack.h --contract all
ok "a number that is none" says "no number above 0" status 2 "$SUNDEW" threads libstack.a --headers stack.h --tests many
ok "no header" says "say which headers" status 2 "$SUNDEW" threads libstack.a
ok "a header that is not there" status 2 "$SUNDEW" threads libstack.a --headers nothing.h
ok "a header that does not parse" eval '{ cat stack.h; echo "int stack_more(void;"; } >half.h
    says "functions that it names are tested all the same" "$SUNDEW" threads libstack.a --headers half.h --type stack --tests 1'
missing_include() {
    { echo '#include "nowhere.h"'; cat stack.h; } >more.h
    status 2 "$SUNDEW" threads libstack.a --headers more.h >told 2>&1 && [ "$(grep -c nowhere.h told)" = 1 ] || { cat told; return 1; }
}
ok "a header that includes one that is not there" missing_include
ok "a library that needs another one" eval 'echo "int nowhere(void); int lone(int n) { return nowhere() + n; }" >lone.c && echo "int lone(int n);" >lone.h &&
    "$SUNDEW" capture -q -- sh -c "gcc -g -c lone.c && ar rcs liblone.a lone.o" &&
    says "adds a library that it needs" status 2 "$SUNDEW" threads liblone.a --headers lone.h'
ok "a header without its functions" eval 'echo "int other(void);" >other.h
    says "declared in the headers" status 2 "$SUNDEW" threads libstack.a --headers other.h'
ok "a library that was not captured" eval 'gcc -c stack.c -o plain.o && ar rcs libplain.a plain.o
    says "was not built under capture" status 2 "$SUNDEW" threads libplain.a --headers stack.h'
fresh awkward
ok "functions that exit, block, make threads: a library" subject awkward
ok "…it runs, and is complete, as all its tests were made" says "sundew: complete" threads awkward --tests 4 --seed 1
ok "…with a type that has no turn" eval '"$SUNDEW" threads libawkward.a --headers awkward.h --tests 8 --seed 1 --json -o both >both.json 2>both.err; [ $? -le 1 ]'
ok "…what can't be tested is said, the rest goes on" eval 'python3 -c "
import json
d = json.load(open(\"out.json\"))
why = { x[\"function\"]: x[\"why\"] for x in d[\"dropped\"] }
assert \"waits\" in why[\"awkward_read\"] and \"takes too long\" in why[\"awkward_long\"] and \"ends the process\" in why[\"awkward_exit\"] and not d[\"violations\"] and d[\"tests\"] >= 4, d
"'
ok "…and a type that had no turn" eval 'python3 -c "
import json
t, = [t for t in json.load(open(\"both.json\"))[\"types\"] if \"moody\" in t[\"type\"]]
assert t[\"functions\"] and not t[\"tests\"] and \"before its turn\" in t[\"not_tested\"], t
"'
ok "…so the search is not complete" grep -q "INCOMPLETE (1 type was not tested" both.err
no_more() {
    "$SUNDEW" threads libawkward.a --headers awkward.h --type moody --tests 8 -o moody >told 2>&1
    grep -q "after 0 tests no other could be made" told && grep -q "moody: not tested, no calls were found" told || { cat told; return 1; }
}
ok "…nor is one that ends before its tests are made, as no calls go well" no_more
ok "a type that nobody makes" says "no function makes one" status 2 "$SUNDEW" threads libawkward.a --headers awkward.h --type nobody

# ---- begin with what an example does

fresh vault
example() {
    cp "$TOP/tests/subjects/threads/vault"* . && mkdir -p keys && printf xyzzy-1976-plugh >keys/secret.txt &&
    "$SUNDEW" capture -q -- sh -c "gcc -g $* -c vault.c && ar rcs libvault.a vault.o && gcc -g vault-example.c libvault.a -o example -pthread"
}
ok "a vault with a secret: a library and an example" example
ok "…without the example" threads vault --tests 8 --seed 1 -o without
ok "…nothing is found" silent
first=5 tests=1 ok "…the list is broken" seeks vault "v['kind'] == 'sanitizer' and 'vault_put' in v['functions']" --contract shared -- ./example
ok "…the test has the file with its secret" grep -q "secret.txt" libvault.a.threads/1/test.txt
ok "…also when it is run again" status 1 "$SUNDEW" threads --replay libvault.a.threads/1
ok "an example that does not use the library" status 2 "$SUNDEW" threads libvault.a --headers vault.h -- true
ok "no example after --" says "which example" status 2 "$SUNDEW" threads libvault.a --headers vault.h --

# ---- the planted defect of larder

fresh larder
larder() { "$SUNDEW" capture -q -- sh -c "gcc -g -I. -c tally.c && ar rcs libtally.a tally.o"; }
cp "$TOP"/examples/larder/src/tally.c "$TOP"/examples/larder/include/*.h .
ok "larder: a library" larder
tests=4 ok "larder: a clear without the lock" seeks tally "v['kind'] == 'sanitizer' and 'tally_clear' in v['functions']" --contract shared
sed -i '/^void tally_clear/,/^}/{s/^{/{\n    pthread_mutex_lock(\&t->lock);/;s/^}/    pthread_mutex_unlock(\&t->lock);\n}/}' tally.c
ok "larder with the lock: a library" larder
ok "larder with the lock: it runs" threads tally --tests 5 -o mended
ok "larder with the lock: silent" silent

# ---- a queue that waits; a count of owners

fresh bqueue
ok "a queue that waits: a library" subject bqueue
tests=5 ok "…a lost wake-up, and no take from an empty queue" seeks bqueue "v['kind'] == 'deadlock' and sorted(v['functions']) == ['bqueue_put', 'bqueue_take']" --contract shared
fresh bqueue-fixed
ok "…mended: a library" subject bqueue -DFIXED
ok "…mended: it runs" threads bqueue --tests 5 --seed 1
ok "…mended: silent" silent
fresh shared
ok "a count of owners: a library" subject shared
first=2 tests=1 ok "…an owner is lost, and the text is used after it is gone" seeks shared "v['kind'] == 'sanitizer' and v['functions'] == ['shared_get', 'shared_put'] and $with_c" --contract shared
ok "…the C program shows it" shows shared "$(ls libshared.a.threads/*/test.c | head -1)"
done_testing
