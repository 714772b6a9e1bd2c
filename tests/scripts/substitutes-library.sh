# sundew substitutes --reference LIBRARY --candidate LIBRARY: two libraries with one header.
. "$TOP/tests/scripts/tap.bash"

fresh box
cp "$TOP/tests/subjects/substitutes/box".[ch] .
# library NAME FLAGS…: captured, as NAME/libbox.so.
library() { local name=$1; shift; mkdir -p "$name" && "$SUNDEW" capture -q -- gcc -g -fPIC -shared "$@" box.c -o "$name/libbox.so"; }
substitutes() { "$SUNDEW" substitutes --json --seed 1 --tests 320 --headers box.h --reference old/libbox.so "$@" >out.json 2>err.txt; local s=$?; [ $s -le 1 ] || grep -q INCOMPLETE err.txt; }
says() {
    python3 -c "
import json
d = json.load(open('out.json'))
p = d['pairs'][0]
all = p['differences']
kinds = {(x['function'], x['kind']) for x in all}
assert $1, json.dumps(d['pairs'], indent=1)
"
}

ok "releases of a library" eval 'library old && library same -DSAME && library new -DNEW && library wide -DWIDE && library less -DLESS'
ok "the same code again" substitutes --candidate same/libbox.so
ok "…is alike" says "all == [] and p['tests'] > 200 and p['inconclusive'] == 0 and d['findings'] == []"
ok "a new release" substitutes --candidate new/libbox.so
ok "…fails where the old one gives an error" says "('box_top', 'crash') in kinds"
ok "…refuses what the old one took" says "('box_put', 'output') in kinds"
ok "…nothing else" says "kinds == {('box_top', 'crash'), ('box_put', 'output')}"
ok "…the functions have the same names" says "all[0]['mapping'] == 'functions of the same name'"
folder() { d=$(python3 -c "import json; print([x for x in json.load(open('out.json'))['pairs'][0]['differences'] if x['function'] == 'box_put'][0]['folder'])"); }
ok "…and a test for each" folder
ok "it fails with the candidate" eval '! make -s -C "$d" check CFLAGS="-I$PWD" >make.txt 2>&1; test -x "$d/test_substitute"'
ok "it passes with the reference" eval 'make -s -C "$d" clean check CFLAGS="-I$PWD" TEST_LIBS="$PWD/old/libbox.so" >make.txt 2>&1'

ok "another layout" substitutes --candidate wide/libbox.so
ok "…is named, the other functions are compared" says "any('box_mark: mark has 4 bytes in one and 8 in the other' in u for u in p['unused']) and p['tests'] > 200 and all == []"
ok "a function less" substitutes --candidate less/libbox.so
ok "…is named" says "'box_count: missing in the candidate' in p['unused'] and all == []"

ok "several candidates, of which one is no library" eval 'echo text >not.so; substitutes --candidate not.so --candidate missing.so --candidate same/libbox.so'
ok "…named, the other goes on" says "'is no shared library' in p['why_not'] and 'no such file' in d['pairs'][1]['why_not'] and d['pairs'][2]['tests'] > 200"

ok "a library that was not captured" eval 'mkdir plain && gcc -g -fPIC -shared -DNEW box.c -o plain/libbox.so && substitutes --candidate plain/libbox.so'
ok "…as its header declares it" says "('box_put', 'output') in kinds and p['tests'] > 200"
ok "no such header" eval '! "$SUNDEW" substitutes --reference old/libbox.so --candidate new/libbox.so --headers nothing.h 2>err.txt; grep -q "headers nothing.h: there is no such file" err.txt'
ok "a list runs nothing" eval '"$SUNDEW" substitutes --list --reference old/libbox.so --candidate wide/libbox.so --headers box.h >out.txt && grep -q "not compared: box_mark" out.txt'

# A struct that the library's own headers have is no business of callers.
fresh hidden
cp "$TOP/tests/subjects/substitutes/hidden"* .
hidden() { mkdir -p "$1" && "$SUNDEW" capture -q -- gcc -g -fPIC -shared ${2-} hidden.c -o "$1/libhidden.so"; }
ok "another layout in a private header" eval 'hidden old && hidden new -DNEW && "$SUNDEW" substitutes --json --seed 1 --tests 100 --headers hidden.h --reference old/libhidden.so --candidate new/libhidden.so >out.json 2>err.txt; says "p[\"unused\"] == [] and kinds == {(\"hidden_get\", \"output\")}"'

# Changes that few inputs show: constants that differ come first, numbers are swept.
fresh rare
cp "$TOP/tests/subjects/substitutes/rare".[ch] .
rare() { mkdir -p "$1" && "$SUNDEW" capture -q -- gcc -g -fPIC -shared ${2-} rare.c -o "$1/librare.so"; }
rares() { "$SUNDEW" substitutes --json --seed 1 --tests 160 --headers rare.h --reference old/librare.so "$@" >out.json 2>err.txt; [ $? -le 1 ]; }
ok "two releases with small changes" eval 'rare old && rare new -DNEW && rare same'
ok "each is found" eval 'rares --candidate new/librare.so && says "kinds == {(\"rare_width\", \"output\"), (\"rare_level\", \"output\"), (\"rare_name\", \"output\")}"'
ok "…and the same code is alike" eval 'rares --candidate same/librare.so && says "all == [] and p[\"tests\"] > 100"'

# What only an example knows.
fresh latch
cp "$TOP/tests/subjects/substitutes/latch"* .
latch() { local name=$1; shift; mkdir -p "$name" && "$SUNDEW" capture -q -- gcc -g -fPIC -shared "$@" latch.c -o "$name/liblatch.so"; }
latches() { "$SUNDEW" substitutes --json --seed 1 --tests 120 --headers latch.h --reference old/liblatch.so "$@" >out.json 2>err.txt; [ $? -le 1 ]; }
ok "two releases and a client" eval 'latch old && latch same -DSAME && latch new -DNEW && "$SUNDEW" capture -q -- gcc -g latch-client.c -Lnew -llatch -Wl,-rpath,"$PWD/new" -o client'
ok "without the example nobody opens the latch" eval 'latches --candidate new/liblatch.so && says "all == []"'
ok "with it the tests do" eval 'latches --candidate new/liblatch.so -- ./client && says "kinds == {(\"latch_inside\", \"output\")}"'
ok "…and the same code is alike" eval 'latches --candidate same/liblatch.so -- ./client && says "all == []"'
ok "inputs of explore: each is run in the place of @@" eval 'mkdir inputs && printf "slow\\n1\\n" >inputs/1 && printf "quick brown fox\\n482913\\n" >inputs/2 && latches --candidate new/liblatch.so --corpus inputs -- ./client @@ && says "kinds == {(\"latch_inside\", \"output\")}"'
ok "…those that do not open it show nothing" eval 'rm inputs/2 && latches --candidate new/liblatch.so --corpus inputs -- ./client @@ && says "all == []"'
ok "…no such folder" eval '! "$SUNDEW" substitutes --headers latch.h --reference old/liblatch.so --candidate new/liblatch.so --corpus nothing >out.txt 2>err.txt && grep -q nothing err.txt'
table() { "$SUNDEW" substitutes ./$1 --table "struct latch_ops" --reference plain --json --seed 1 --tests 120 -- ./$1 ${2-} >out.json 2>err.txt; [ $? -le 1 ]; }
ok "a table and its fix" eval '"$SUNDEW" capture -q -- gcc -g latch-table.c -o table && "$SUNDEW" capture -q -- gcc -g -DFIXED latch-table.c -o fixed'
ok "a run with the candidate" eval 'table table f && says "(\"inside\", \"output\") in kinds"'
ok "a run with the reference gives its values" eval 'table table && says "(\"inside\", \"output\") in kinds"'
ok "…and the fixed one is alike" eval 'table fixed f && says "all == []"'
ok_mounted "an example that calls nothing of it is told" eval '"$SUNDEW" substitutes --json --tests 20 --headers latch.h --reference old/liblatch.so --candidate new/liblatch.so -- true >out.json 2>err.txt; [ $? = 2 ] && grep -q "ran nothing that is linked with" err.txt'
done_testing
