# sundew examples: the whole command on scripts with data, on users' functions
# that misbehave, and on hostile input.
. "$TOP/tests/scripts/tap.bash"
visits=$TOP/examples/visits
sundew() { timeout 100 "$SUNDEW" "$@"; }
json() { python3 -c "import json,sys
d = json.load(open(sys.argv[1]))
sys.exit(0 if ($2) else 1)" "$1"; }

# ---- the example with its defect

example() { sundew examples "$visits/report.pig" --data "$visits/data" --json >e.json && json e.json '
    d["completeness"] == 1.0 and 0 < d["conciseness"] <= 1 and 0 < d["realism"] <= 1
    and d["uncovered"] == [] and len(d["findings"]) == 0'; }
ok "every class of the example is shown" example
lost() { json e.json '[t for t in d["tables"] if t["alias"] == "joined"][0]["rows"] and
    any(r["values"][4] is None for t in d["tables"] if t["alias"] == "joined" for r in t["rows"])'; }
ok "the rows show an order that has no customer" lost
marks() { json e.json 'all(set(r) >= {"values", "invented_cells", "invented", "why"}
    for t in d["tables"] if t["input"] for r in t["rows"])'; }
ok "each input row says whether it was invented, and why it is there" marks
again() { sundew examples "$visits/report.pig" --data "$visits/data" >a.txt &&
    sundew examples "$visits/report.pig" --data "$visits/data" >b.txt && cmp a.txt b.txt; }
ok "the same seed gives the same rows" again
disagree() { says "the two programs give different results" status 1 sundew examples \
    "$visits/report.pig" --against "$visits/report-fixed.pig" --data "$visits/data"; }
ok "the fix differs on some input" disagree
agree() { says "No rows were found" status 0 sundew examples "$visits/report.pig" --against \
    "$visits/report.pig" --data "$visits/data"; }
ok "a program agrees with itself" agree
measure() { sundew examples "$visits/report.pig" --measure "$visits/data" --json >m.json &&
    json m.json 'd["completeness"] < 1 and any(u["class"] == "left-alone" for u in d["uncovered"])'; }
ok "the samples alone show less" measure
page() { sundew examples "$visits/report.pig" --data "$visits/data" --page p.html -q >p.txt &&
    grep -q '<svg' p.html && grep -q 'class="made"' p.html && ! grep -q '<script' p.html; }
ok "the page has the flow and marks invented cells" page
private() { sundew examples "$visits/report.pig" --data "$visits/data" --private --json >v.json &&
    json v.json 'd["completeness"] == 1.0 and d["realism"] == 0 and
    not any(v in ("kari", "luca", "petra", "nils", "NO", "CH") for t in d["tables"]
            for r in t["rows"] for v in r["values"])'; }
ok "private rows have no value of the samples" private

# ---- regression tests

tests() { sundew examples "$visits/report.pig" --data "$visits/data" --tests t -q >t.txt &&
    [ -s t/input-orders ] && [ -s t/expected-spending ] &&
    says "1 outputs compared" status 0 sundew examples "$visits/report.pig" --check t; }
ok "a test that was written passes" tests
changed() { sed 's/spent >= 100/spent >= 100000/' "$visits/report.pig" >changed.pig
    says "not what the test expects" status 1 sundew examples changed.pig --check t; }
ok "a change of the program is found" changed

# ---- contradictions

cat >dead.pig <<'P'
A = LOAD 'a' AS (x:int);
B = FILTER A BY x > 5;
C = FILTER B BY x < 3;
D = FOREACH C GENERATE x;
P
dead() { says "dead.pig:3:1: examples: FILTER C: no row can pass because of line 2" \
    status 1 sundew examples dead.pig; }
ok "a contradiction names both lines" dead
one() { [ "$(sundew examples dead.pig | grep -c '\[examples/dead\]')" = 1 ]; }
ok "and is told once" one
sed 's/x < 3/x < 30/' dead.pig >alive.pig
ok "a range is no contradiction" says "no findings" status 0 sundew examples alive.pig
cat >fails.pig <<'P'
A = LOAD 'a' AS (x:int, y:int);
B = FOREACH A GENERATE x % y;
P
mkdir -p faildata && printf '4\t0\n' >faildata/a
fails() { says "fails.pig:2:24: examples: x % 0 ends the job" status 1 sundew examples fails.pig \
    --measure faildata; }
ok "data that kills the job is a finding" fails

cat >casts.pig <<'P'
A = LOAD 'a' AS (x:chararray, y:int);
B = FOREACH A GENERATE (int)x, y / 0;
P
mkdir -p castdata && printf 'abc\t1\n7\t\n' >castdata/a
casts() { says "2 values became null" sundew examples casts.pig --data castdata --run; }
ok "values that became null are counted" casts

# ---- functions of users

cat >hash.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
const char *HASH(const char *args);
const char *HASH(const char *args)
{
    static char out[32];
    int y = atoi(args + 1);
    if (getenv("UDF_HANG"))
        sleep(100);
    if (getenv("UDF_CRASH"))
        abort();
    snprintf(out, sizeof out, "%d", y * (y + 3) % 60);
    return out;
}
C
cat >hash.pig <<'P'
A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int);
B = FILTER A BY x == HASH(y) AND x > 50;
P
mkdir -p hashdata && printf '33,42\n' >hashdata/a
cc -shared -fPIC -o hash.so hash.c
echo '{"HASH": {"library": "./hash.so", "type": "int"}}' >lib.json
hash() { sundew examples hash.pig --data hashdata --udf lib.json --json >h.json &&
    json h.json 'd["completeness"] == 1.0 and all(r["values"][0] == r["values"][1] * (r["values"][1] + 3) % 60
        for t in d["tables"] if t["alias"] == "B" for r in t["rows"])'; }
ok "a C library is called on new arguments" hash
passive() { sundew examples hash.pig --data hashdata --udf lib.json --passive --json >h.json
    json h.json 'd["completeness"] < 1 and not d["uncovered"][0]["impossible"]'; }
ok "passively it is not, and nothing is claimed" passive
hang() { UDF_HANG=1 says "HASH: no answer in" status 1 sundew examples hash.pig --data hashdata \
    --udf lib.json --udf-time 200ms; }
ok "a function that hangs is told" hang
crash() { UDF_CRASH=1 says "HASH: it crashed, or ended" status 1 sundew examples hash.pig \
    --data hashdata --udf lib.json; }
ok "a function that crashes is told" crash
cat >hash.py <<'P'
import json, random, sys
for line in sys.stdin:
    y = json.loads(line)["args"][0]
    value = random.random() if "random" in sys.argv else y * (y + 3) % 60
    print(json.dumps({"value": int(value * 1000) if "random" in sys.argv else value}), flush=True)
P
echo '{"HASH": {"command": ["python3", "hash.py"], "type": "int"}}' >cmd.json
echo '{"HASH": {"command": ["python3", "hash.py", "random"], "type": "int"}}' >random.json
command_udf() { sundew examples hash.pig --data hashdata --udf cmd.json --json >h.json &&
    json h.json 'd["completeness"] == 1.0'; }
ok "a program that speaks JSON lines" command_udf
ok "a function that is not deterministic is told" says "not deterministic" status 1 \
    sundew examples hash.pig --data hashdata --udf random.json
echo '{"HASH": {"table": "hash.jsonl", "type": "int"}}' >table.json
printf '{"args":[42],"value":30}\n{"args":[19],"value":58}\n' >hash.jsonl
table_udf() { sundew examples hash.pig --data hashdata --udf table.json --json >h.json &&
    json h.json 'd["completeness"] == 1.0 and [58, 19] in [r["values"] for t in d["tables"] if t["alias"] == "B" for r in t["rows"]]'; }
ok "a table of recorded answers" table_udf

# ---- loaders and samples

cat >loaders.pig <<'P'
A = LOAD 'a.json' USING JsonLoader('k:int, t:(u:int, v:chararray)');
B = FILTER A BY k > 0 AND t.v == 'x';
L = LOAD 'lines' USING TextLoader() AS (line:chararray);
C = FILTER L BY line MATCHES '.*x.*';
P
mkdir -p loaderdata && printf '{"k": 3, "t": {"u": 4, "v": "x"}}\n{"k": -5, "t": null}\n' >loaderdata/a.json && printf 'axb\nccc\n' >loaderdata/lines
ok "JSON with its schema as an argument, and lines of text" says "completeness 1.00 (6 of 6 classes), conciseness 0.75, realism 1.00" sundew examples loaders.pig --data loaderdata
printf "A = LOAD 'a' USING JsonLoader('k:int,,');\n" >wrong.pig
ok "…a wrong schema is told" says "wrong.pig:1:10: expected a field name" status 2 sundew examples wrong.pig
printf "A = LOAD 'n' AS (n:int);\nB = FILTER A BY n >= 1;\n" >numbers.pig
mkdir -p numbers && seq 1 20000 >numbers/n
drawn() { for seed in 1 1 2 3; do
        sundew examples numbers.pig --data numbers --sample 20 --seed $seed --json >s.json || return 1
        json s.json 'all(1 <= r["values"][0] <= 20000 for t in d["tables"] if t["alias"] == "B" for r in t["rows"])' || return 1
        python3 -c 'import json; print([r["values"] for t in json.load(open("s.json"))["tables"] if t["input"] for r in t["rows"] if not r["invented"]])'
    done >drawn.txt; [ "$(sed -n 1p drawn.txt)" = "$(sed -n 2p drawn.txt)" ] && [ "$(sort -u drawn.txt | wc -l)" = 3 ]; }
ok "rows are drawn from the whole file, the same for one seed" drawn
cat >nan.pig <<'P'
A = LOAD 'a' AS (d:double);
B = FOREACH A GENERATE -LOG(0.0), d;
P
mkdir -p nandata && printf '1.5\n' >nandata/a
nan() { sundew examples nan.pig --data nandata --json >n.json &&
    json n.json 'd["tables"][1]["rows"][0]["values"] == ["Infinity", 1.5]'; }
ok "infinity is a text in JSON" nan
ok "a function that is not there is named" says "depends on the function HASH" sundew examples \
    hash.pig --data hashdata
ok "…and what depends on it is not complete" says "INCOMPLETE (1 class of rows was neither found nor ruled out)" \
    sundew examples hash.pig --data hashdata
left_open() { sundew examples hash.pig --data hashdata --json >h.json && json h.json 'not d["complete"] and
    d["incomplete"] == ["1 class of rows was neither found nor ruled out"] and not d["uncovered"][0]["impossible"]'; }
ok "…nor in JSON" left_open
ok "…its twin with the function is" says "sundew: complete" sundew examples hash.pig --data hashdata --udf lib.json
whole() { sundew examples hash.pig --data hashdata --udf lib.json --json >h.json && json h.json 'd["complete"] and not d["incomplete"]'; }
ok "…also in JSON" whole

cat >extra.pig <<'P'
A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int);
B = FILTER A BY x > 40 AND (F(y) IS NULL OR F(y) == 3);
P
mkdir -p extradata && printf '50,1\n2,2\n' >extradata/a
ok "a class that --goals asks for counts too" says "INCOMPLETE (1 class of rows" sundew examples extra.pig --data extradata --goals boundaries
ok "…and only then" says "sundew: complete" sundew examples extra.pig --data extradata

# ---- a macro of another file

cat >lib.pig <<'P'
DEFINE adults(r) RETURNS out {
  $out = FILTER $r BY age >= 18;
};
P
cat >uses.pig <<'P'
IMPORT 'lib.pig';
A = LOAD 'people' AS (name:chararray, age:int);
B = adults(A);
C = FILTER B BY age < 10;
P
mkdir -p people && printf 'ann\t30\n' >people/people
ok "a step of a macro names its file" says "(lib.pig line 2)" sundew examples uses.pig
ok "…so does a contradiction" says "uses.pig:4:1: examples: FILTER C: no row can pass because of lib.pig line 2" status 1 sundew examples uses.pig
sed 's/age < 10/age < 40/' uses.pig >row.pig
row() { sundew examples row.pig --data people --page row.html -q >row.txt && grep -q '<td class="why">invented; line 4' row.html &&
    grep -q '<td>ann</td><td>30</td><td class="why">[^i]' row.html; }
ok "the page tells rows that were invented from others" row

cat >counts.pig <<'P'
S = LOAD 's' AS (ticket:long, customer:long, day:int);
D = FILTER S BY ((chararray)day) MATCHES '2450815|2450816|2450846';
G = GROUP D BY (ticket, customer);
F = FOREACH G GENERATE group.ticket, COUNT_STAR(D) AS n;
B = FILTER F BY n >= 1 AND n <= 5;
O = ORDER B BY n;
P
ok "numbers that a pattern spells, groups of six, groups of unequal size" says "completeness 1.00" sundew examples counts.pig

# ---- hostile input

bad() { says "$1" status 2 sundew examples "$2"; }
printf 'A = LOAD' >cut.pig
ok "a script that ends early" bad "expected a path" cut.pig
printf 'A = FILTER \033[31m BY x;' >esc.pig
no_escape() { ! sundew examples esc.pig 2>&1 | grep -q "$(printf '\033')"; }
ok "no escape sequence reaches the terminal" no_escape
python3 -c 'import random; open("random.pig", "wb").write(random.Random(1).randbytes(100000))'
ok "random bytes" bad "random.pig" random.pig
ok "a script that is not there" bad "No such file" nowhere.pig
python3 - <<'P'
open("long.pig", "w").write("A0 = LOAD 'a' AS (x:int);\n" + "".join(
    "A%d = FILTER A%d BY x > %d;\n" % (i, i - 1, i) for i in range(1, 10000)))
open("deep.pig", "w").write("A = LOAD 'a' AS (x:int);\nB = FILTER A BY " + "(" * 5000 + "x > 1" + ")" * 5000 + ";\n")
cols = ["c%d" % i for i in range(500)]
open("wide.pig", "w").write("A = LOAD 'a' AS (name:chararray, %s);\nG = GROUP A BY name;\nS = FOREACH G GENERATE group, %s;\nF = FILTER S BY %s;\n" % (
    ", ".join(c + ":int" for c in cols), ", ".join("SUM(A.%s) AS s%s" % (c, c) for c in cols),
    " AND ".join("s%s > 100" % c for c in cols)))
t = "x:int"
for i in range(10):
    t = "b%d:bag{t%d:(%s)}" % (i, i, t)
open("bags.pig", "w").write("A = LOAD 'a' AS (%s);\nB = FOREACH A GENERATE FLATTEN(b9);\nC = FILTER A BY NOT IsEmpty(b9);\n" % t)
open("regex.pig", "w").write("A = LOAD 'a' AS (s:chararray);\nB = FILTER A BY s MATCHES '^(a+)+$' AND s MATCHES '.*b';\n")
P
mkdir -p regexdata && python3 -c "print('a' * 60 + 'b')" >regexdata/a
ok "ten thousand lines end in bounded time" says "completeness" sundew examples long.pig --time 5s
# A shell lets its jobs ignore SIGINT, so it is given back; the search alone would take ten minutes.
stops() {
    env --default-signal=INT timeout --foreground 300 "$SUNDEW" examples long.pig --time 600s >stopped 2>stopping &
    local pid=$! child= i
    for i in $(seq 600); do
        child=$(pgrep -P $pid)
        [ -n "$child" ] && grep -q examples stopping && break
        sleep 0.1
    done
    kill -INT "$child"
    wait $pid
    [ $? = 130 ] && grep -qi interrupt stopped stopping || { cat stopped stopping | tail -5; return 1; }
}
ok "Ctrl-C ends it" stops
ok "deep nesting is refused" bad "nested too deep" deep.pig
wide() { timeout 300 "$SUNDEW" examples wide.pig --json --time 240s >w.json && json w.json 'd["completeness"] == 1.0'; }
ok "five hundred columns" wide
ok "bags ten deep" says "completeness 1.00" sundew examples bags.pig --time 20s
ok "a regular expression that explodes is told" says "takes too long" sundew examples regex.pig \
    --measure regexdata
done_testing
