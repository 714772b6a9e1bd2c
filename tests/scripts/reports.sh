# What a report says: how much was looked at, what is missing, notes that fail nothing,
# paths of the project whatever the workspace is called.
. "$TOP/tests/scripts/tap.bash"
json() { python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
assert $2, json.dumps(d)[:2000]" "$1"; }

fresh calls
mkdir -p proj/src && cd proj
printf 'void set_range(int start, int length);\nvoid f(int start, int length) { set_range(start, length); }\nvoid h(int start, int length) { set_range(start, length); }\n' >src/good.c
printf 'void set_range(int start, int length);\nvoid g(int start, int length) { set_range(length, start); }\n' >src/bad.c
printf 'void set_range(int start, int length) { (void)start, (void)length; }\nint main(void) { return 0; }\n' >src/main.c
build='gcc -c src/good.c src/bad.c src/main.c && gcc good.o bad.o main.o -o prog'

# ---- how much was looked at

"$SUNDEW" -q capture -- sh -c "$build"
ok "calls and units are counted" says "; examined 3 calls in 3 units" "$SUNDEW" arguments
ok "…with nothing found, too" says "no findings; examined 3 calls in 3 units" "$SUNDEW" types
ok "…in a report of several" says "arguments on build: examined 3 calls in 3 units" "$SUNDEW" report
ok "…in JSON" eval '"$SUNDEW" report --json >all.json; json all.json "all(\"3 calls in 3 units\" in r[\"examined\"] for r in d[\"runs\"])"'
ok "…functions of a program" says "examined 5 functions in 3 units" "$SUNDEW" mutability prog

# ---- what is missing

gcc -c src/bad.c -o bad.o
"$SUNDEW" -q capture --min-share 0 -- sh -c 'gcc good.o bad.o main.o -o prog'
ok "a missing unit makes a run incomplete" says "INCOMPLETE (1 of 3 units of prog is missing)" "$SUNDEW" mutability prog
ok "…and is counted" says "examined 4 functions in 2 units; 1 unit missing" "$SUNDEW" mutability prog
ok "…in SARIF" eval '"$SUNDEW" -q mutability prog --sarif m.sarif; grep -q "1 of 3 units of prog is missing" m.sarif'
ok "…in a run over the source" says "INCOMPLETE (1 unit of the captured programs is missing" "$SUNDEW" types
ok "…not for a file that was named" says "sundew: complete" "$SUNDEW" types src/good.c
"$SUNDEW" -q capture -- sh -c "$build"
ok "built again, it is complete" says "sundew: complete" "$SUNDEW" types

# ---- paths, whatever -w is

"$SUNDEW" -q -w ../elsewhere capture -- sh -c "$build"
"$SUNDEW" -q -w ../elsewhere arguments --sarif one.sarif --json >one.json
ok "a workspace elsewhere: paths below the project" json one.json 'd["findings"][0]["file"] == "src/bad.c"'
ok "…in SARIF, too" eval 'grep -q "\"uri\": \"src/bad.c\"" one.sarif && grep -q "$PWD/\"" one.sarif'
(cd src && "$SUNDEW" -q -w ../../elsewhere arguments --json >two.json)
ok "…seen from another folder" json src/two.json 'd["findings"][0]["file"] == "src/bad.c"'
ok "…the fingerprint is the same as in .sundew" eval '"$SUNDEW" -q arguments --json >own.json; python3 -c "
import json
assert json.load(open(\"own.json\"))[\"findings\"][0][\"fingerprint\"] == json.load(open(\"one.json\"))[\"findings\"][0][\"fingerprint\"]"'

# ---- pages of rules

ok "without a public address no help address" eval '! grep -q helpUri one.sarif && ! grep -q "file://$TOP" one.sarif'
ok "…with one it is taken" eval '"$SUNDEW" -q arguments --docs-url https://example.org/rules --sarif three.sarif; grep -q "\"helpUri\": \"https://example.org/rules/arguments-swapped.md\"" three.sarif'

# ---- notes

cat >note.c <<'END'
struct point { int x, y; };
int sum(struct point *p) { return p->x + p->y; }
int main(void) { struct point p = { 1, 2 }; return sum(&p) - 3; }
END
"$SUNDEW" -q -w notes capture -- gcc -g note.c -o note
noted() { "$SUNDEW" -q -w notes mutability note "$@"; }
ok "notes alone: exit status 0" eval 'noted >said; [ $? = 0 ] && grep -q "note" said'
ok "…of report, too" status 0 "$SUNDEW" -w notes report
ok "…JUnit fails nothing" eval 'noted --junit n.xml; grep -q "failures=\"0\"" n.xml && ! grep -q "<failure" n.xml && grep -q "<system-out>note: " n.xml'
ok "…TAP fails nothing" eval 'noted --tap >n.tap; ! grep -q "^not ok" n.tap && grep -q "^ok 1 - note.c" n.tap'

# ---- long work in a pipe

ok_mounted "in a pipe long work says that it goes on" says "sundew: mutability, " "$SUNDEW" mutability prog -- sleep 7
ok_mounted "…not if nobody wants to hear it" eval '[ -z "$("$SUNDEW" -q mutability prog -- sleep 6 2>&1 >/dev/null)" ]'

# ---- settings without a command

printf 'jobs = 3\n[types]\nthreshold = 2\n' >sundew.ini
ok "settings without a command" says "jobs = 3    # sundew.ini:1" "$SUNDEW" --print-config
ok "…of all commands" says "[arguments]" "$SUNDEW" --print-config
printf 'jobs = 3\n[capture]\nmin-share = 50\n' >sundew.ini
ok "…with what the project says" says "min-share = 50    # sundew.ini:3" "$SUNDEW" --print-config
rm sundew.ini

# ---- GitHub

summary() {
    rm -f sum.md
    GITHUB_STEP_SUMMARY=sum.md "$SUNDEW" -q arguments --github >annotations
    grep -q '^### Sundew: 1 finding (1 ' sum.md && grep -q '| src/bad.c:2:' sum.md && grep -q 'examined 3 calls' sum.md &&
        GITHUB_STEP_SUMMARY=sum.md "$SUNDEW" -q types --github >annotations && [ "$(grep -c '^### Sundew' sum.md)" = 2 ]
}
ok "a summary of the step, added to what is there" summary
ok "…that can't be written is told" says "GITHUB_STEP_SUMMARY" env GITHUB_STEP_SUMMARY=/no/such/file "$SUNDEW" arguments --github
done_testing
