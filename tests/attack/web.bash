# An application in PHP that attacks, functions of dataflow programs that do, and reports of checkers.
# . tests/attack/web.bash, from attack.sh

attack_php() {
    fresh php
    rm -rf /var/tmp/sundew-attack
    mkdir -p /var/tmp/sundew-attack
    timeout -k 5 "$LIMIT" "$SUNDEW" -w ws web "$TOP/tests/attack/php" --requests 40 --time 40s --timeout 1s >out.txt 2>&1
    local got=$? left
    left=$(ls -A /var/tmp/sundew-attack)
    rm -rf /var/tmp/sundew-attack
    cat out.txt
    [ -z "$left" ] || { echo "it wrote outside: $left"; return 1; }
    ! grep -q "ERROR: AddressSanitizer" out.txt || return 1
    [ $got -le 2 ]
}

# By way of its database. For make soak: a server takes seconds to start.
attack_database() {
    fresh database
    rm -rf /var/tmp/sundew-attack
    mkdir -p /var/tmp/sundew-attack app
    chmod 777 /var/tmp/sundew-attack
    cp "$TOP/tests/attack/php-db/index.php" app
    gcc -shared -fPIC -o app/plugin.so "$TOP/tests/attack/php-db/plugin.c" || return 1
    timeout -k 5 "$LIMIT" "$SUNDEW" -w ws web app --db "mysql:$TOP/tests/attack/php-db/tables.sql" \
        --requests 6 --time 90s >out.txt 2>&1
    local got=$? left
    left=$(ls -A /var/tmp/sundew-attack)
    rm -rf /var/tmp/sundew-attack
    cat out.txt
    [ -z "$left" ] || { echo "it wrote outside: $left"; return 1; }
    ! grep -q "reached:" out.txt || { echo "it got through"; return 1; }
    [ $got -le 1 ]
}

# Functions that don't answer, answer without end, die, or leave children.
attack_functions() {
    fresh functions
    printf 'a = LOAD "x" AS (s:chararray);\nb = FOREACH a GENERATE F(s), G(s), H(s), I(s);\nSTORE b INTO "o";\n' | tr '"' "'" >x.pig
    cat >udfs.json <<'J'
{ "F": { "command": ["sh", "-c", "exec cat /dev/zero"], "type": "chararray" },
  "G": { "command": ["sh", "-c", "sleep 1000 & sleep 1000"], "type": "chararray" },
  "H": { "command": ["sh", "-c", "kill -STOP $$"], "type": "chararray" },
  "I": { "command": ["sh", "-c", "while read l; do echo '{\"value\":[[[[[[[[1]]]]]]]], \"error\": \"\\u001b[31m\"}'; done"], "type": "int" } }
J
    timeout -k 5 "$LIMIT" "$SUNDEW" examples x.pig --udf udfs.json --udf-time 1s --time 30s >out.txt 2>&1
    local got=$?
    cat -v out.txt
    ! grep -q $'\033\[31m' out.txt || { echo "it colours the terminal"; return 1; }
    [ $got -le 2 ]
}

# Programs that are deep, long, or grow without end.
attack_scripts() {
    fresh scripts
    python3 - <<'P'
def script(name, text): open(name, "w").write(text)
def pig(name, type, body): script(name, "a = LOAD 'x' AS (s:%s);\n%sSTORE b INTO 'o';\n" % (type, body))
def chain(op): return "b = FOREACH a GENERATE %s;\n" % op + ("b = FOREACH b GENERATE %s;\n" % op) * 40
pig("sum.pig", "int", "b = FOREACH a GENERATE s" + "+s" * 100000 + ";\n")
pig("type.pig", "bag{t:(" * 30000 + "x:int" + ")}" * 30000, "b = a;\n")
pig("cross.pig", "int", "b = CROSS a, a;\n" + "b = CROSS b, b;\n" * 40)
pig("tuple.pig", "int", chain("TOTUPLE($0, $0)"))
pig("star.pig", "int", chain("*, *"))
pig("text.pig", "chararray", "b = FOREACH a GENERATE SPRINTF('%2000000000d', 1);\n")
script("sum.sql", "CREATE TABLE t(a int);\nSELECT a" + "+a" * 100000 + " FROM t;\n")
P
    local f
    for f in *.pig *.sql; do
        timeout -k 5 "$LIMIT" "$SUNDEW" -w "ws-$f" examples "$f" --time 20s >out.txt 2>&1
        [ $? -le 2 ] || { echo "$f"; cat out.txt; return 1; }
    done
}

# Reports of checkers: names that terminals, pages and shells obey; places of files that have no end, or
# that take long to look at.
attack_imports() {
    fresh imports
    printf 'int main(void) { return 0; }\n' >main.c
    "$SUNDEW" capture -q -- gcc -g -o prog main.c || return 1
    python3 - <<'P'
import json, os
bad = "<script>alert(1)</script>\x1b[31m\"'`$(touch pwned)`\n::error::x"
def at(uri, line): return {"ruleId": bad, "message": {"text": bad}, "locations": [{"physicalLocation": {
    "artifactLocation": {"uri": uri}, "region": {"startLine": line}}}]}
places = [at(u, 1) for u in (bad, "/dev/zero", "../../../etc/shadow", "pipe", "%00")] + [at("main.c", n) for n in (-1, 1, 2**62)]
json.dump({"runs": [{"tool": {"driver": {"name": bad}}, "results": places}]}, open("names.sarif", "w"))
os.mkfifo("pipe")
open("large.c", "w").write("x\n" * (20 << 20))
one = "  - DiagnosticName: x\n    DiagnosticMessage:\n      Message: m\n      FilePath: '%s'\n      FileOffset: %d\n"
open("tidy.yaml", "w").write("---\nDiagnostics:\n" + "".join(one % ("large.c", (40 << 20) - i) for i in range(20000)) +
                             "".join(one % (f, 5) for f in ("pipe", "/dev/zero", "/proc/self/mem")))
P
    local f
    for f in names.sarif tidy.yaml; do
        timeout -k 5 "$LIMIT" "$SUNDEW" confirm ./prog --warnings "$f" --html page.html -- ./prog >out.txt 2>&1
        [ $? -le 1 ] || { echo "$f"; cat -v out.txt; return 1; }
        ! grep -q $'\033\[31m\|^::error' out.txt || { cat -v out.txt; return 1; }
        ! grep -q '<script>alert' page.html && [ ! -e pwned ] || { echo "$f: obeyed"; return 1; }
    done
}
