# sundew explore: finds inputs by mutation and by solving, and stays silent about
# programs without the bug. Each bug has a correct twin.
. "$TOP/tests/scripts/tap.bash"
fresh project

json() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); sys.exit(not ('"$2"'))' "$1"; }
# explore NAME PROGRAM OPTION…: output in NAME.json, folder NAME.out
explore() {
    local name=$1 program=$2
    shift 2
    rm -rf "$name.out"
    "$SUNDEW" explore "$program" -o "$name.out" -j1 --json "$@" >"$name.json" 2>"$name.err"
    local got=$?
    [ $got -le 1 ] || { cat "$name.err"; return 1; }
    [ -s "$name.json" ]
}

cp "$TOP/tests/subjects/explore/magic.c" magic.c
sed 's/#include <stdio.h>/&\n/; s/return check.*/FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL; return f ? check(b, fread(b, 1, sizeof b, f)) == 7 : 3;/; s/int main(void)/int main(int argc, char **argv)/' \
    magic.c >file.c
cp "$TOP/tests/subjects/explore/letters.c" letters.c
cp "$TOP/tests/subjects/explore/target.c" target.c
cp "$TOP/tests/subjects/explore/klee.c" klee.c
cp "$TOP/tests/subjects/explore/date.c" date.c
cp "$TOP/tests/subjects/explore/wild.c" wild.c
cp "$TOP/tests/subjects/explore/slow.c" slow.c
cp "$TOP/tests/subjects/explore/greet.c" greet.c
cp "$TOP/tests/subjects/explore/ends.c" ends.c
cp "$TOP/tests/subjects/explore/loops.c" loops.c
cp "$TOP/tests/subjects/explore/terminal.c" terminal.c
capture() { "$SUNDEW" capture -- sh -ec "$1"; }
ok "programs are captured" capture 'gcc -g -O2 -o magic magic.c; gcc -g -O2 -DSIZE=256 -o magic-good magic.c
    gcc -g -O2 -o file file.c; gcc -g -DBUG -o letters letters.c; gcc -g -o letters-good letters.c
    gcc -g -o klee klee.c -Wl,--unresolved-symbols=ignore-all; gcc -g -o date date.c; gcc -g -w -o wild wild.c
    gcc -g -o ends ends.c; gcc -g -DSIZE=16 -o greet greet.c; gcc -g -DSIZE=65 -o greet-good greet.c; gcc -g -o loops loops.c
    gcc -g -o slow slow.c; gcc -g -o terminal terminal.c
    gcc -g -DWITH_MAIN -o target target.c
    clang-19 -g -fsanitize=fuzzer -o linked target.c'

ok "solving finds a magic number, a sum and a product" explore magic ./magic --no-mutation --stop-at first-failure --time 900s
ok "… the failure has kind, place, inputs and condition" json magic.json \
    'len(d["failures"]) == 1 and d["failures"][0]["kind"] == "sanitizer" and d["failures"][0]["location"]["function"] == "check" and "ELF" in d["failures"][0]["condition"]'
ok "… the fields that are promised are there" json magic.json \
    'all(k in d for k in ("executions", "paths", "branches", "solver", "divergences", "imprecise", "failures")) and d["branches"]["covered"] <= d["branches"]["reachable"] and d["solver"]["sat"] > 0 and d["divergences"]["diverged_precise"] == 0'
ok "… the minimised input is a file" test -s "$(python3 -c 'import json; print(json.load(open("magic.json"))["failures"][0]["minimised"])')"
ok "the correct twin: no failure, same branches" explore good ./magic-good --no-mutation --stop-at coverage --time 600s
ok "… none" json good.json 'd["failures"] == [] and d["branches"]["covered"] == d["branches"]["reachable"]'
# Without a seed the first input is empty, and the function that sees bytes is not reached by it.
cat >later.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static unsigned word(const unsigned char *b) { return b[0] | b[1] << 8 | b[2] << 16 | (unsigned)b[3] << 24; }
int main(void)
{
    unsigned char b[4];
    if (fread(b, 1, 4, stdin) == 4 && word(b) * 2654435761u == 0x1234567)
        abort();
    return 0;
}
END
ok "a function that only later inputs reach" capture 'gcc -g -o later later.c'
ok "… is followed, too" explore later ./later --stop-at first-failure --no-sanitizers --time 120s
ok "… and the product found" json later.json 'len(d["failures"]) == 1'
ok "a file argument" explore file ./file --no-mutation --stop-at first-failure --time 900s -- @@.bin
ok "… fails too" json file.json 'len(d["failures"]) == 1'

ok "mutation finds three letters" explore letters ./letters --no-concolic --no-sanitizers --stop-at first-failure --time 900s
ok "… as a signal" json letters.json 'd["failures"][0]["kind"] == "signal"'
ok "the correct twin stays silent" explore lgood ./letters-good --no-concolic --executions 20000 --time 60s
ok "… none" json lgood.json 'd["failures"] == [] and d["executions"] >= 1'
queue_is_fine() { ls lgood.out/queue | grep -q '^id:000000'; }
ok "the queue has AFL++'s names" queue_is_fine
ok "a folder with an earlier exploration is refused" says "--resume" "$SUNDEW" explore ./letters-good --time 1s -o lgood.out
resumes() {
    "$SUNDEW" explore ./letters-good --resume --no-concolic --executions 1 --time 60s -j1 -o lgood.out --json >resumed.json &&
        json resumed.json 'd["branches"]["covered"] == d["branches"]["reachable"]'
}
ok "--resume goes on with it" resumes
syncs() {
    mkdir -p others/queue && printf bug >others/queue/x &&
        explore synced ./letters-good --no-mutation --no-concolic --sync others --time 25s &&
        ls synced.out/queue | grep -q op:sync
}
ok "--sync takes what others put down" syncs
repeats() {
    local i
    for i in one two; do
        explore $i "$@" --seed 7 --executions 3000 || return 1
        json $i.json 'd["executions"] == 3000 and d["ended"] == "executions"' || return 1
    done
    diff -r one.out two.out
}
ok "the same seed makes the same inputs, by mutation" repeats ./letters-good --no-concolic --no-sanitizers
ok "… and with traces and the judge" repeats ./letters
ok "… where all fail but some" repeats ./magic

printf a >aborts && printf r >raises
ok "a program that aborts and raises, without sanitizers" explore ends ./ends --no-sanitizers --no-concolic --executions 20 -i aborts -i raises
ok "… fails in its own code" json ends.json 'sorted((f["location"]["line"], f["location"]["function"]) for f in d["failures"]) == [(8, "die"), (10, "die")]'
ok "… with a title that names nothing of ours" json ends.json 'sorted(f["message"] for f in d["findings"]) == ["SIGFPE, in die", "abort, in die"]'

ok "without a way to make inputs it ends" explore nothing ./greet-good --no-mutation --no-concolic --executions 30
ok "… and says why" json nothing.json 'd["ended"] == "nothing is left" and d["executions"] == 6'

ok "a copy of too many bytes" explore greet ./greet --executions 2000
ok "… is found" json greet.json 'any("stack-buffer-overflow" in f["what"] for f in d["failures"])'
ok "… what matters is told in few words" json greet.json 'any(f["condition"] == "each of input[0..15] != 0" for f in d["failures"])'
ok "… and a title has no condition" json greet.json 'not any("input[" in f["message"] for f in d["findings"])'
ok "… with short seeds too" explore greet2 ./greet --no-concolic --executions 20000 -i others/queue
ok "… they do" json greet2.json 'any("stack-buffer-overflow" in f["what"] for f in d["failures"])'
ok "a copy that fits" explore greet-good ./greet-good --executions 2000
ok "… is none" json greet-good.json 'd["failures"] == []'
ok "a program that never ends" explore loops ./loops --executions 12 --timeout 200ms
ok "… is a hang" json loops.json '[f["kind"] in ("timeout", "cpu-limit") for f in d["failures"]] == [True]'
"$SUNDEW" explore ./loops -o loops.limits -j1 --time 6s --no-concolic --json >limits.json 2>/dev/null
ok "… the command that shows it again has the limit" grep -q -- '--timeout [0-9]*ms' limits.json
ok "… as long as no input ends the program, it is a note, with a question" json limits.json '{f["level"] for f in d["findings"]} == {"note"} and d["complaint"] == "no run ended by itself"'
ok "… and another input is solved for" json loops.json 'd["solved_new"] == 1 and d["queue"] == 1'

ok "a fuzz target is used as it is" explore target ./target --stop-at first-failure --time 900s
ok "… one that is linked with libFuzzer too" explore linked ./linked --no-mutation --stop-at first-failure --time 900s
ok "… and fails alike" json linked.json 'd["failures"][0]["what"].find("heap-buffer-overflow") >= 0'
ok "… and fails" json target.json 'd["failures"][0]["what"].find("heap-buffer-overflow") >= 0'
ok "klee_make_symbolic is understood" explore klee ./klee --no-mutation --stop-at first-failure --time 900s
ok "… and solved" json klee.json 'd["failures"][0]["location"]["line"] == 9'
ok "one function, with arguments of their types" explore fn ./date --function parse_date --stop-at first-failure --time 900s
ok "… fails in it" json fn.json 'd["failures"][0]["location"]["function"] == "parse_date"'
ok "… nothing is said of the text that calls it" json fn.json '"driver.c" not in str(d["findings"])'
ok "… and it can be run again from anywhere" json fn.json '"sundew -w /" in str(d["findings"])'
test_compiles() { gcc -w -c -o t.o "$(ls fn.out/failures/*test.c)"; }
ok "… with a test in C" test_compiles
ok "a function that is not there" says "there is none" "$SUNDEW" explore ./date --function nothing

oracle_objects() {
    printf '#!/bin/sh\n! grep -q u "$1"\n' >judge && chmod +x judge
    explore oracle ./letters-good --no-concolic --no-sanitizers --oracle ./judge --stop-at first-failure --time 900s &&
        json oracle.json 'd["failures"][0]["kind"] == "oracle"'
}
ok "--oracle judges" oracle_objects
ok "a subject that forks, daemonises, ignores SIGTERM and prints without end" \
    explore wild ./wild --no-concolic --no-sanitizers --timeout 300ms --time 20s
ok "… that it leaves processes is said" grep -q "left processes" wild.err
ok "a subject that is slow to start" explore slow ./slow --no-concolic --time 15s
ok "… that is said" grep -q "a run takes 3 s" slow.err
ok "… and it is no failure" json slow.json 'd["failures"] == [] and d["executions"] >= 1'
ok "a subject that wants a terminal" explore terminal ./terminal --no-mutation --time 10s
ok "… is asked about" grep -q "is a terminal wanted" terminal.err

ok "--plan says what may be symbolic" says "may see input" "$SUNDEW" explore ./magic --plan
ok "--plan as JSON" says '"sites"' "$SUNDEW" explore ./magic --plan --json
ok "an option that makes no sense" says "first-failure or coverage" "$SUNDEW" explore ./magic --stop-at never
ok "an exit status that there is not" says "0 to 255" "$SUNDEW" explore ./magic --bad-status 3,300
ok "… or that is none" says "0 to 255" "$SUNDEW" explore ./magic --bad-status 5-x
mkdir -p none
empty_folder() {
    explore none ./letters-good -i none --no-concolic --no-sanitizers --executions 10 --time 60s && grep -q "no seeds" none.err
}
ok "a folder without seeds" empty_folder

# Beyond its object if both loops run long: no branch tells, only the way through both.
cp "$TOP/tests/subjects/explore/pair.c" pair.c
ok "captured" "$SUNDEW" -q capture -- sh -c 'cc -g -O1 -o pair pair.c && cc -g -O1 -DSIZE=8 -o pair-good pair.c'
ok "another way through known places reaches the judge" explore pair ./pair --no-concolic --stop-at first-failure --time 900s
ok "… and fails there" json pair.json 'len(d["failures"]) == 1'
ok "… its twin" explore pair-good ./pair-good --no-concolic --executions 20000 --time 60s
ok "… does not" json pair-good.json 'd["failures"] == []'
ok "a build that is not ready in time" explore late ./pair-good --time 1s
ok "… is said to be missing" json late.json 'd["traces"] > 0 or "not ready" in str(d["incomplete"])'

# A prediction that fails has its cause.
cp "$TOP/tests/subjects/explore/astray.c" astray.c
ok "captured" "$SUNDEW" -q capture -- gcc -g -O1 -o astray astray.c
printf a >a
ok "an input that goes astray" explore astray ./astray -i a --no-mutation --no-sanitizers --executions 20
ok "… is blamed on the function that nobody follows" json astray.json \
    'd["divergences"]["diverged"] > 0 and d["divergences"]["diverged_precise"] == 0 and sum(m["diverged"] for m in d["imprecise"] if m["name"] == "a64l") == d["divergences"]["diverged"]'

# Time is virtual: a program that sleeps for an hour runs at full speed.
cp "$TOP/tests/subjects/explore/sleepy.c" sleepy.c
ok "captured" "$SUNDEW" -q capture -- gcc -g -O1 -o sleepy sleepy.c
printf z >z
ok "a program that sleeps" explore sleepy ./sleepy -i z --no-mutation --executions 20 --bad-status 9
ok "… does not wait, and all builds agree on the time" json sleepy.json \
    '[f["kind"] for f in d["failures"]] == ["sanitizer"] and d["traces"] > 0 and d["divergences"]["diverged"] == 0'

# Large inputs, each of them new: making them shorter does not take the time of the search. (Before, that
# took 2,000 runs for each.)
cat >large.c <<'END'
#include <stdio.h>
static unsigned char b[16384];
#define ONE(n) case n: x += n; break;
#define ALL TEN(0) TEN(10) TEN(20) TEN(30) TEN(40) TEN(50) TEN(60) TEN(70) TEN(80) TEN(90) TEN(100) TEN(110) TEN(120) \
    TEN(130) TEN(140) TEN(150) TEN(160) TEN(170) TEN(180) TEN(190) TEN(200) TEN(210) TEN(220) TEN(230) TEN(240)
#define TEN(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3) ONE(n + 4) ONE(n + 5) ONE(n + 6) ONE(n + 7) ONE(n + 8) ONE(n + 9)
int main(void)
{
    unsigned x = 0;
    size_t n = fread(b, 1, sizeof b, stdin);
    for (size_t i = 0; i < n; i++)
        switch (b[i]) { ALL }
    return (int)(x & 1);
}
END
large() {
    capture 'gcc -g -O1 -o large large.c' && python3 -c 'open("large.seed", "wb").write(b"a" * 15000)' &&
        explore large ./large -i large.seed --no-concolic --no-sanitizers --executions 300 --seed 1
}
ok "large inputs that are all new" large
ok "…are not all made shorter" json large.json '0 < d["shortening"] < 4000 + 3 * d["executions"]'

# A compiler that never ends: the search goes on without its build, and its time holds.
mkdir -p slow-bin
printf '#!/bin/sh\ncase "$*" in *-fsanitize*) exec sleep 1000%s;; esac\nexec /usr/bin/gcc "$@"\n' $$ >slow-bin/gcc
chmod +x slow-bin/gcc
ok "captured" env PATH="$PWD/slow-bin:$PATH" "$SUNDEW" -q capture -- gcc -g -O1 -o unbuilt letters.c
without_waiting() {
    rm -rf unbuilt.out
    PATH="$PWD/slow-bin:$PATH" timeout 800 "$SUNDEW" explore ./unbuilt -o unbuilt.out -j1 --json --no-concolic --stop-at coverage --time 600s >unbuilt.json
    [ $? = 0 ]
}
ok "a build that never ends holds nobody up" without_waiting
ok "… inputs were run, and what is missing is said" json unbuilt.json \
    'd["executions"] > 0 and "sanitizers was not ready" in str(d["incomplete"])'
gone() { ! pgrep -f "sleep 1000$$" >/dev/null; }
ok "… nothing of it is left" gone

# ---- failures that come and go, and failures of one compiler only
cp "$TOP"/tests/subjects/explore/{flaky,compiler,first,slower}.c .
ok "captured" "$SUNDEW" -q capture -- sh -c 'gcc -g -O1 -o flaky flaky.c && gcc -g -O1 -DALWAYS -o always flaky.c && gcc -g -O1 -DKILLED -o killed flaky.c && gcc -g -O1 -DKILLED -DALWAYS -o kills flaky.c && gcc -g -O1 -o compiler compiler.c && gcc -g -O1 -o first first.c && gcc -g -O1 -o slower slower.c && gcc -g -O1 -DENDLESS -o endless slower.c'
printf F >F
ok "a failure that does not always repeat" explore flaky ./flaky -i F --no-concolic --executions 300
ok "… is told with its rate" json flaky.json \
    'len(d["failures"]) == 1 and 0 < d["failures"][0]["failed"] < d["failures"][0]["runs"] and "flaky: it failed in" in d["findings"][0]["steps"][0]["text"]'
ok "one that does" explore always ./always -i F --no-concolic --executions 300
ok "… is not called flaky" json always.json \
    'len(d["failures"]) == 1 and d["failures"][0]["failed"] == d["failures"][0]["runs"] > 1 and "flaky:" not in str(d["findings"])'
ok "a SIGKILL that does not come each time" explore killed ./killed -i F --no-concolic --executions 300
ok "… is no failure of the program" json killed.json 'd["failures"] == []'
ok "one that does" explore kills ./kills -i F --no-concolic --executions 100
ok "… is" json kills.json 'len(d["failures"]) == 1'
ok "a seed whose first run is killed" explore first ./first -i F --no-concolic --executions 30
ok "… is kept, and the program has no failure" eval 'grep -qx F first.out/queue/*0000* && json first.json "d[\"failures\"] == []"'
printf E >E
ok "a run that is late in the build with sanitizers only" explore slower ./slower -i E --no-mutation --no-concolic --executions 2
ok "… is no hang" json slower.json 'd["failures"] == []'
ok "one that is late in the program, too" explore endless ./endless -i E --no-mutation --no-concolic --executions 2
ok "… is" json endless.json 'len(d["failures"]) == 1 and d["failures"][0]["kind"] in ("cpu-limit", "timeout")'
printf B >B
"$SUNDEW" explore ./kills --replay -o kills.again -i B >again.out 2>&1
"$SUNDEW" report --json >kept.json 2>/dev/null
ok "a replay of another input" grep -q "^no failure" again.out
ok "… leaves what the search has found" json kept.json 'any("SIGKILL" in f["message"] for f in d["findings"])'
printf C >C
ok "a failure of Sundew's own build" explore compiler ./compiler -i B -i C --no-concolic --executions 50
ok "… is told as such, and no other" json compiler.json \
    'sorted(f["ours_only"] for f in d["failures"]) == [False, True] and str(d["findings"]).count("only Sundew") == 1'

# ---- failures: what they say, and what becomes of them
cp "$TOP/tests/subjects/explore/bugs.c" bugs.c
cp "$TOP/tests/subjects/explore/blocks.c" blocks.c
ok "captured" "$SUNDEW" -q capture -- sh -c 'cc -g -O1 -o bugs bugs.c && cc -g -O1 -o blocks blocks.c'
mkdir -p bad && printf Q900 >bad/q && printf DIVI00 >bad/d && printf NULL >bad/n
ok "seeds that fail" explore bugs ./bugs --no-mutation --executions 100 --time 300s -i bad
ok "… are told as three failures" json bugs.json 'len([f for f in d["failures"] if f["location"]]) >= 3'
conditions='{f["location"]["line"]: f["condition"] for f in d["failures"] if f["location"]}'
ok "… where the trace ends before the failure, by the bytes that matter" json bugs.json \
    "($conditions)[6] == 'input[0..3] == \"DIVI\" and input[5] == \'0\''"
ok "… without what comes after it" json bugs.json "($conditions)[16].startswith(\"input[0] == 'Q' and\") and 'DIVI' not in ($conditions)[16]"
cp "$TOP/tests/subjects/explore/hidden.c" hidden.c
ok "captured" "$SUNDEW" -q capture -- cc -g -O1 -o hidden hidden.c
mkdir -p worse && printf 'S00000\3770' >worse/s && printf 'T00k0000' >worse/t
ok "seeds that fail by what no branch says" explore hidden ./hidden --no-mutation --executions 100 --time 300s -i worse
ok "… all inputs that fulfil a condition fail" json hidden.json \
    'sorted(f["condition"] for f in d["failures"]) == ["input[0] == '"'S'"' and input[6] > 127", "input[0] == '"'T'"' and input[3] == '"'k'"'"]'
replays() {
    sh -c "$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(next(f["rerun"] for f in d["findings"] if f["rerun"]))' "$1" |
        sed "s|^sundew |$SUNDEW --json |")" >again.json 2>again.err
    json again.json "$2"
}
ok "… and are shown again by their command, one run each" replays bugs.json 'len(d["failures"]) == 1 and d["executions"] <= 3'
ok "… the oracle's too" replays oracle.json 'd["failures"][0]["kind"] == "oracle"'
ok "nothing to replay" says "which inputs" "$SUNDEW" explore ./bugs --replay
ok "an oracle that is not there" says "no such command" "$SUNDEW" explore ./bugs --oracle /no/such --time 5s -o never.out
ok "no length" says "above 0" "$SUNDEW" explore ./bugs --max-length 0 --time 5s -o never.out

# A resume that is interrupted, again and again: what was there is there, in the one folder or the other.
failures_there() { ls bugs.out/failures bugs.out/failures.old 2>/dev/null | grep -c '^[^.]*id:[^.]*[rlt]$'; }
loses_nothing() {
    local before
    before=$(failures_there)
    for signal in INT KILL INT KILL KILL; do
        timeout -s $signal 0.7 "$SUNDEW" explore ./bugs --resume -j1 --no-mutation -o bugs.out >/dev/null 2>&1
        [ "$(failures_there)" -ge "$before" ] || { echo "after SIG$signal $(failures_there) of $before"; return 1; }
    done
    "$SUNDEW" explore ./bugs --resume -j1 --no-mutation --executions 200 -o bugs.out --json >resumed.json
    json resumed.json 'len([f for f in d["failures"] if f["location"]]) >= 3 and d["branches"]["covered"] >= json.load(open("bugs.json"))["branches"]["covered"]'
}
ok "an interrupted --resume loses nothing" loses_nothing
in_place() { ! ls bugs.out/*.old && python3 -c 'import json, os; [os.stat(f["minimised"]) for f in json.load(open("resumed.json"))["failures"]]'; }
ok "… and what is told is there" in_place
"$SUNDEW" explore ./bugs --resume --no-mutation --time 10ms -o bugs.out >/dev/null 2>&1
"$SUNDEW" report explore --json >kept.json 2>/dev/null
kept() { python3 -c 'import json, os, shlex
found = [f for f in json.load(open("kept.json"))["findings"] if "bugs.out/failures" in (f["rerun"] or "")]
assert len(found) >= 3 and all(os.path.exists(w) for f in found for w in shlex.split(f["rerun"]) if "/failures/" in w), found'; }
ok "one that has no time for them forgets none, and their commands work" kept
cp "$TOP/tests/subjects/explore/parts.c" parts.c
ok "captured" "$SUNDEW" -q capture -- cc -g -O1 -o parts parts.c
ok "arguments, a variable and standard input" explore parts ./parts --no-mutation --argv 1/16 --env MODE/8 --stop-at first-failure --executions 5000
ok "… are called by their names" json parts.json \
    'all(t in d["failures"][0]["condition"] for t in ("argument 1[0..2] == \"-x", "$MODE[0..4] == \"evil", "stdin[0] == ")) and "input[" not in d["failures"][0]["condition"]'

full_disk() {
    mkdir -p full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null || return 0      # not without root
    dd if=/dev/zero of=full/fill bs=1k count=60 2>/dev/null
    "$SUNDEW" explore ./bugs -j1 --no-concolic --time 5s -i bad -o full/out >full.out 2>&1
    umount full
    grep -q "No space left" full.out && grep -q "could not be written" full.out || { cat full.out; return 1; }
}
ok "a full disk is told" full_disk
ok "mutation sees a function die whose result nobody wants" explore day ./bugs --function is_day --no-concolic --stop-at first-failure --time 900s
ok "… it does" json day.json 'd["failures"][0]["location"]["function"] == "is_day"'
waits() {
    "$SUNDEW" explore ./blocks -j1 --no-concolic --time 2s -o blocks.out >waits.out 2>&1
    grep -q "hang\|no input gets through" waits.out || { cat waits.out; return 1; }
}
ok "a program that waits forever is a hang, or it is said that no input gets through" waits
stops() { timeout -s INT -k 60 3 "$SUNDEW" explore ./blocks -j1 --no-concolic -o blocks2.out >stops.out 2>&1; [ $? = 124 ]; }
ok "… and Ctrl-C ends it" stops

# A compressor removes what it has read, and its next run gets a file all the same.
removes() {
    printf '#include <stdio.h>\nint main(int c, char **v)\n{\n    FILE *f = fopen(v[c - 1], "r");\n    if (!f)\n        return 3;\n    int x = getc(f);\n    remove(v[c - 1]);\n    return x == 97;\n}\n' >removes.c
    "$SUNDEW" -q capture -- gcc -g removes.c -o removes && explore removes ./removes --no-concolic --executions 40 -i letters.in -- @@
}
mkdir letters.in && printf a >letters.in/a && printf b >letters.in/b
ok "a program may remove its input" removes
ok "… each run has one" json removes.json 'd["branches"] == { "covered": 2, "reachable": 3 }'

# An input alone does not make it fail: an order of its two threads must come to it.
cp "$TOP/tests/subjects/explore/take.c" . && printf aaaa >word
ok "captured" "$SUNDEW" -q capture -- sh -c 'cc -g -O1 -pthread take.c -o take && cc -DFIXED -g -O1 -pthread take.c -o taken'
ok "threads run in other orders" explore take ./take -i word --executions 1500
ok "… one makes it fail" json take.json \
    '[(f["rule"], f["line"]) for f in d["findings"]] == [("explore/order", 36)] and d["orders"]["runs"] > 20'
ok "… and is run again" eval 'says "T1 lets go" status 1 sh -c "$(python3 -c "import json; print(json.load(open(\"take.json\"))[\"findings\"][0][\"rerun\"].replace(\"sundew\", \"$SUNDEW\", 1))")"'
ok "none with a lock" explore taken ./taken -i word --executions 1500
ok "… and that is said" json taken.json 'd["findings"] == [] and d["orders"]["runs"] > 20'

# It fails without a file that Sundew does not know of, whatever its input is: no error of the program.
printf '#include <stdio.h>\n#include <assert.h>\nint main(void)\n{\n    assert(fopen("not-there.cue", "r"));\n    return 0;\n}\n' >needs.c
needs() { "$SUNDEW" -q capture -- gcc -g needs.c -o needs && explore needs ./needs --no-concolic --executions 20 "$@"; }
ok "a program that fails on every input of ours" needs
ok "… is a warning, with a question" json needs.json '[f["level"] for f in d["findings"]] == ["warning"] and "every input fails" in json.dumps(d)'
ok "on an input of the user's" needs -i word
ok "… it is an error" json needs.json '[f["level"] for f in d["findings"]] == ["error"] and "every input fails" not in json.dumps(d)'

# Without its file it ends at once, with the same words whatever its input is.
cat >lacks.c <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *f = fopen(argc > 1 ? argv[1] : "not-there.tab", "r");
    if (!f) {
        fprintf(stderr, "%s: cannot load table\n", argv[0]);
        return 3;
    }
    return getchar() == 'x';
}
END
"$SUNDEW" -q capture -- gcc -g lacks.c -o lacks
ok "a program that always ends with a complaint" explore lacks ./lacks --no-concolic --executions 200
ok "… is told, with its words and its own name" json lacks.json 'd["complaint"] == "'"$PWD"'/lacks: cannot load table"'
ok "… with a question" grep -q 'status 3 and ".*/lacks: cannot load table": does the program lack' lacks.err
ok "… and a search that ends before its first build ends well" eval '"$SUNDEW" -q explore ./lacks --time 10ms -o short.out >short.txt 2>&1'
ok "with its file" explore has ./lacks --no-concolic --executions 200 -- "$PWD/lacks.c"
ok "… nothing is told" json has.json '"complaint" not in d'

# The solver is asked nothing where only the length of the input matters.
cat >length.c <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "r");
    int n = 0;
    while (f && argc == 2 + FIXED && fgetc(f) != EOF)
        n++;
    return n > 3;
}
END
"$SUNDEW" -q capture -- gcc -g -DFIXED=0 length.c -o length
"$SUNDEW" -q capture -- gcc -g -DFIXED=1 length.c -o fixed
ok "a branch that depends on the input's length" explore length ./length --no-mutation -- @@
ok "… is one that depends on the input" json length.json 'd["traces"] and "complaint" not in d'
ok "a program that never reads its file" explore fixed ./fixed --no-mutation -- @@
ok "… is told" json fixed.json 'd["traces"] and "no branch depends on the input" in d["complaint"]'
ok "… and a search that can only solve ends" json fixed.json 'd["ended"] == "nothing is left"'

printf 'int twice(int n) { return 2 * n; }\n' >twice.c
ok "a library is not explored" eval 'capture "gcc -g -fPIC -shared -o libtwice.so twice.c" >/dev/null && says "only an executable can be explored" status 2 "$SUNDEW" explore libtwice.so --function twice'
ok "seeds that are not there" says "no such file" "$SUNDEW" explore ./magic -i nowhere --time 5s -o nowhere.out
done_testing
