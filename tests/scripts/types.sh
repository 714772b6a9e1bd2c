# types: what it learns and writes, its self-test, and sources that are
# broken, huge, generated or not text.
. "$TOP/tests/scripts/tap.bash"

# Thirty callers that pass enum color; then what is given.
painted() {
    echo 'enum color { RED, GREEN, BLUE }; enum shape { ROUND, SQUARE };'
    echo 'void paint(int color);'
    echo 'void paint_all(enum color c) {'
    for i in $(seq 30); do echo '    paint(RED); paint(c);'; done
    printf '    %s\n}\n' "$*"
}
# The JSON output of sundew types, through a Python expression on `d`.
json() {
    local want=$1
    shift
    "$SUNDEW" types --own-only --json "$@" >out.json 2>err
    python3 -c 'import json,sys; d=json.load(open("out.json")); sys.exit(not ('"$want"'))'
}

fresh data
painted 'paint(ROUND);' >a.c
ok "findings as data" json 'len(d["findings"]) == 1 and (lambda f: f["rule"] == "types/kind" and f["line"] == 34
    and f["column"] == 11 and f["callee"] == "paint" and f["positions"] == [1] and 0.9 < f["confidence"] < 1
    and f["passes"] == "enum shape" and f["histogram"][0] == {"kind": "enum color", "here": 60.0, "elsewhere": 0.0, "programs": 0}
    )(d["findings"][0])' a.c
ok "…and none for the correct twin" sh -c "sed 's/paint(ROUND)/paint(BLUE)/' a.c >b.c; exec \"\$SUNDEW\" types --own-only b.c"
ok "a higher threshold silences it" status 0 "$SUNDEW" types --own-only --threshold 0.99 a.c
ok "more callers wanted: silent" status 0 "$SUNDEW" types --own-only --calls 100 a.c
ok "a number that is none" says "--threshold: not a number from 0 to 1: x" "$SUNDEW" types --threshold x a.c
ok "…or too large" status 2 "$SUNDEW" types --share 1.5 a.c
ok "a source that is not there" status 2 "$SUNDEW" types nowhere.c

fresh selftest
painted >a.c
{ echo '#include <string.h>'; echo 'enum shape { ROUND, SQUARE }; void form(int s); int f(char *a, char *b, int n, _Bool k) {'
  for i in $(seq 30); do echo "form(ROUND); form(k); form(n == $i);"; done; echo 'return 0; }'; } >b.c
self() { "$SUNDEW" types --own-only --self-test --seeds 50 --seed "$1" a.c b.c; }
ok "the self-test finds what it seeds" sh -c "\"\$SUNDEW\" types --own-only --self-test --seeds 50 --seed 3 a.c b.c >out; grep -q '^50 wrong types seeded one at a time, 50 found; 0 findings' out && grep -q 'recall 1.00, precision at least 1.00' out"
same() { self 5 >one && self 5 >two && cmp one two; }
ok "the same seed, the same result" same
ok "…as data" sh -c '"$SUNDEW" types --own-only --self-test --json a.c b.c | grep -q "\"recall\": 1.0"'
unchanged() { cksum a.c b.c >before; self 7 >/dev/null; cksum a.c b.c | cmp - before; }
ok "no file is changed" unchanged

fresh learn
{ echo '#include <unistd.h>'; echo '#include <fcntl.h>'; echo 'void f(int d) {'
  for i in $(seq 40); do echo '    lseek(d, 0, SEEK_SET); lseek(d, 0, SEEK_END);'; done; echo '}'; } >many.c
printf '#include <unistd.h>\n#include <fcntl.h>\nlong g(int d) { return lseek(d, 0, O_RDWR); }\n' >one.c
ok "what is learned is written" status 0 "$SUNDEW" types --own-only --learn h.txt many.c
ok "…sorted, one row for each kind" sh -ec 'printf "lseek\t3\tkind\t-\tconst SEEK_END\t40\t1\nlseek\t3\tkind\t-\tconst SEEK_SET\t40\t1\n" >want; grep "^lseek" h.txt | cmp - want; LC_ALL=C sort -c h.txt'
ok "alone the one call shows nothing" status 0 "$SUNDEW" types --own-only one.c
ok "…with the file it does" says "80 of 81 callers pass SEEK_*" "$SUNDEW" types --own-only --histograms h.txt one.c
mkdir corpus && mv many.c corpus
printf '[{"directory": "%s/corpus", "file": "many.c", "arguments": ["cc", "-c", "many.c"]}]\n' "$PWD" >corpus/compile_commands.json
ok "…with a corpus too" says "80 of 81 callers pass SEEK_*" "$SUNDEW" types --own-only --corpus corpus one.c
ok "a corpus that is none" says "--corpus nowhere" "$SUNDEW" types --own-only --corpus nowhere one.c
printf 'lseek\t3\tkind\n' >bad.txt
ok "a broken file of histograms" says "bad.txt:1: not a row of a histogram" "$SUNDEW" types --histograms bad.txt one.c
python3 -c 'import random; open("noise.txt", "wb").write(b"x" + random.Random(1).randbytes(3000))'
ok "…and noise" status 2 "$SUNDEW" types --histograms noise.txt one.c
printf '# a comment\n\0lseek\n' >zero.txt
ok "…and what is no text" says "zero.txt: no text" status 2 "$SUNDEW" types --histograms zero.txt one.c

fresh robust
painted 'paint(ROUND);' >good.c
printf 'void f( { int x = ;\n' >broken.c
printf '#include "no-such-header.h"\nvoid g(void) { }\n' >missing.c
ok "a file that does not parse is named" says "broken.c" "$SUNDEW" types --own-only broken.c good.c
ok "…and the others are looked at" says "good.c:34:11: types: paint" "$SUNDEW" types --own-only broken.c good.c
ok "…and the run says that it is not complete" says "1 of 2 units were not analysed" "$SUNDEW" types --own-only broken.c good.c
ok "a missing header is named" says "no-such-header.h" "$SUNDEW" types --own-only missing.c good.c
{ painted; echo 'void many(enum color c) {'; for i in $(seq 5000); do echo 'paint(c); paint(GREEN);'; done; echo 'paint(SQUARE); }'; } >huge.c
ok "ten thousand calls in a unit" says "10060 of 10061 callers pass enum color" "$SUNDEW" types --own-only huge.c
{ echo '/* Generated by a program, DO NOT EDIT */'; painted 'paint(ROUND);'; } >made.c
ok "generated code counts but is not reported" status 0 "$SUNDEW" types --own-only made.c
{ painted 'paint(ROUND);'; printf '/* \xe4\xf6\xfc\xff\xfe */ const char *s = "\x80\xff";\n'; } >latin.c
ok "bytes that are no UTF-8" says "latin.c:34:11: types: paint" "$SUNDEW" types --own-only latin.c
ok "…as JSON" json 'len(d["findings"]) == 1' latin.c
: >empty.c
ok "an empty file" status 0 "$SUNDEW" types --own-only empty.c
{ echo 'void f(); int k(a, b) int a; char *b; { f(1, 2); f("x"); f(); return k(1); }'; } >old.c
ok "functions without a prototype" status 0 "$SUNDEW" types --own-only old.c
done_testing
