# reproduce: a crash becomes tests. The acceptance examples of the technique,
# each with its correct twin (DEFECT 0): nothing crashes, and the informative tests
# that were kept pass.
. "$TOP/tests/scripts/tap.bash"

# subject NAME: its source here, captured as ./NAME.
subject() {
    fresh "$1"
    cp "$TOP/tests/subjects/reproduce/$1.c" .
    "$SUNDEW" capture -- gcc -g -O1 -I"$TOP/share/include" -o "$1" "$1.c" >/dev/null 2>&1
}
# crash NAME STRATEGY [OPTION…]: monitored with that strategy, run; leaves STRATEGY.crash.
crash() {
    local name=$1 strategy=$2
    shift 2
    "$SUNDEW" monitor "./$name" -o "$strategy.monitored" --copy "$strategy" "$@" >/dev/null 2>&1 || return
    rm -f ./*.crash.new
    { "./$strategy.monitored" a >/dev/null 2>&1; } 2>/dev/null
    mv -f "$name".[0-9]*.crash "$strategy.crash"
}
# kept STRATEGY: the functions whose tests reproduce it, the best first.
kept() {
    "$SUNDEW" reproduce --json -o "$1.tests" "$1.crash" >"$1.json" 2>"$1.err"
    python3 - "$1.json" 2>&1 <<'P' | tail -n 1
import json, sys
d = json.load(open(sys.argv[1]))
print(" ".join(t["function"] for t in d["tests"] if t["reproduces"]))
P
}
# keeps STRATEGY WORD…: exactly these.
keeps() {
    local strategy=$1 got
    shift
    got=$(kept "$strategy")
    [ "$got" = "$*" ] || { echo "kept: $got"; cat "$strategy.err"; grep remark "$strategy.json"; return 1; }
}
# json STRATEGY CONDITION: a Python expression on `d` and on `t`, the tests by function.
json() {
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); t={x["function"]: x for x in d["tests"]}
sys.exit(not ('"$2"'))' "$1.json" 2>&1 | tail -n 1; return "${PIPESTATUS[0]}"
}
fails() { ! make -s -C "$1.tests" check >make.out 2>&1 && grep -q '^FAIL' make.out; }
# The twin: the defect is gone from the source.
mend() { sed -i 's/^#define DEFECT 1/#define DEFECT 0/' "$1.c"; }
passes() { make -s -C "$1.tests" check >make.out 2>&1 && grep -q '^ok' make.out; }
# twin NAME: the mended program neither crashes nor gives tests.
twin() {
    "$SUNDEW" capture -- gcc -g -O1 -I"$TOP/share/include" -o "$1" "$1.c" >/dev/null 2>&1 &&
        says "nothing crashed" "$SUNDEW" reproduce "./$1" -- a
}

subject random
export NUMBER=0
ok "random: a crash file is left" crash random used-fields
unset NUMBER
ok "random: two tests, the informative one first" keeps used-fields hex_abs to_upper
ok "random: the failure as data" json used-fields 'd["failure"]["kind"] == "SIGSEGV" and
    d["failure"]["function"] == "to_upper" and d["failure"]["file"].endswith("random.c") and d["failure"]["line"] == 13'
ok "random: informative or not, distances" json used-fields 't["hex_abs"]["informative"] and
    not t["to_upper"]["informative"] and t["to_upper"]["distance"] == 0 and t["hex_abs"]["distance"] == 1'
ok "random: literals in the tests" sh -c 'grep -q "^    hex_abs(0);" used-fields.tests/test_hex_abs.c &&
    grep -q "^    to_upper(NULL);" used-fields.tests/test_to_upper.c'
ok "random: they fail" fails used-fields
ok "random: the terminal says where to begin" says "begin with hex_abs(0)" "$SUNDEW" reproduce used-fields.crash
ok "random: a finding, status 1" status 1 "$SUNDEW" reproduce -o again used-fields.crash
ok "random: SARIF" sh -c '"$SUNDEW" reproduce -o again --sarif out.sarif used-fields.crash >/dev/null 2>&1
    grep -q reproduce/crash out.sarif'
ok "random: without a compiler no folder is left" sh -c '! PATH=/nowhere "$SUNDEW" reproduce -o none used-fields.crash 2>/dev/null &&
    [ ! -e none ]'
ok "random: every level of sameness" sh -c 'for l in kind site stack; do "$SUNDEW" reproduce -o again --same $l \
    used-fields.crash | grep -q "2 of 3 frames reproduce" || exit 1; done'
mend random
ok "random: mended, the informative test passes" passes used-fields
ok "random: …and the twin does not crash" twin random

subject resolve
export KINDS=annnnn
for s in reference shallow used-fields deep; do crash resolve $s; done
unset KINDS
ok "resolve: references do not do" keeps reference
ok "resolve: a shallow copy does for two" keeps shallow resolve_type check
ok "resolve: so do used fields" keeps used-fields resolve_type check
ok "resolve: deep copies for one more" keeps deep compile resolve_type check
ok "resolve: a field that changed is shown" grep -q 'resolved: 0 at the entry, 1 at the crash' used-fields.tests/README.md
mend resolve
ok "resolve: mended, the tests pass" passes deep
ok "resolve: …and the twin does not crash" twin resolve

subject arguments
ok "arguments: a crash file" crash arguments used-fields
ok "arguments: the loop's function reproduces it" sh -c '"$SUNDEW" reproduce --json -o used-fields.tests used-fields.crash \
    >used-fields.json 2>/dev/null; true'
ok "arguments: …" json used-fields 't["check_arguments"]["reproduces"] and t["check_arguments"]["informative"]'
ok "arguments: what was passed is shown" sh -c 'for w in foo bar baz; do
    grep -q "\"$w\"" used-fields.tests/test_check_arguments.c || exit 1; done'
ok "arguments: all in one, at the desk" says "check_arguments" "$SUNDEW" reproduce ./arguments -- x
ok "…to be run again so" says "rerun: sundew reproduce ./arguments -- x" "$SUNDEW" reproduce ./arguments -- x
mend arguments
ok "arguments: mended, the tests pass" passes used-fields
ok "arguments: …and the twin does not crash" twin arguments

subject urls
ok "urls: a crash file" crash urls used-fields
ok "urls: the reader and the frame that runs init() again" keeps used-fields run main get_url
mend urls
ok "urls: mended, run() passes" sh -c 'make -s -C used-fields.tests test_run >/dev/null 2>&1 && used-fields.tests/test_run'
ok "urls: …and the twin does not crash" twin urls

subject minimize
ok "minimize: a dump without a crash" crash minimize used-fields
ok "minimize: the tests come to the same point" keeps used-fields process_list main
ok "minimize: it is called a dump" json used-fields 'd["failure"]["kind"] == "dump"'
mend minimize
ok "minimize: mended, they pass it by" passes used-fields

subject rethrow
ok "rethrow: a crash file" crash rethrow deep
ok "rethrow: the catcher reproduces it" sh -c '"$SUNDEW" reproduce --json -o deep.tests deep.crash >deep.json 2>/dev/null; true'
ok "rethrow: …and frames from before the catch are there" json deep 't["process"]["reproduces"] and t["parse"]["stale"]'
mend rethrow
ok "rethrow: mended, the tests pass" passes deep
ok "rethrow: …and the twin does not crash" twin rethrow

subject random
"$SUNDEW" monitor ./random -o chance --second-chance >/dev/null 2>&1
{ NUMBER=0 ./chance >/dev/null 2>&1; } 2>/dev/null
mv random.[0-9]*.crash first.crash
ok "second chance: the first crash has no frames" says "no frames" "$SUNDEW" reproduce first.crash
{ NUMBER=0 ./chance >/dev/null 2>&1; } 2>/dev/null
mv random.[0-9]*.crash used-fields.crash
ok "second chance: the second has" keeps used-fields hex_abs to_upper

# Several executables of one program: a crash file belongs to the one that wrote it.
"$SUNDEW" monitor ./random -o full.monitored >/dev/null 2>&1
{ NUMBER=0 ./full.monitored >/dev/null 2>&1; } 2>/dev/null
mv random.[0-9]*.crash full.crash
"$SUNDEW" monitor ./random -o chance --second-chance >/dev/null 2>&1
ok "a crash file is read with the executable that wrote it" keeps full hex_abs to_upper
echo edited >>full.tests/test_hex_abs.c
ok "…once more" keeps full hex_abs to_upper
ok "…and tests of an earlier time are kept" grep -q edited full.tests.old1/test_hex_abs.c
export NUMBER=0
ok "at the desk" eval '"$SUNDEW" reproduce ./random -- a | grep -q "hex_abs"'
ok "…once more, not over the first file" eval '"$SUNDEW" reproduce ./random -- a >/dev/null; [ -f random.crash ] && [ -f random.2.crash ]'
ok "…or beside the folder of -o" eval 'mkdir desk; "$SUNDEW" reproduce ./random -o desk/tests -- a >/dev/null; [ -f desk/tests.crash ] && [ ! -e random.3.crash ]'
ok "…its file can be given to reproduce" eval '"$SUNDEW" reproduce random.crash | grep -q "hex_abs"'
unset NUMBER

subject loop
ok "loop: a crash file" crash loop used-fields
small() { [ "$(stat -c %s used-fields.crash)" -lt 200000 ]; }
ok "loop: it is small" small
ok "loop: finish() reproduces it" sh -c '"$SUNDEW" reproduce --json -o used-fields.tests used-fields.crash >used-fields.json 2>/dev/null
    true'
ok "loop: …" json used-fields 't["finish"]["reproduces"] and len(d["tests"]) < 600'

# What only the address sanitizer sees.
subject overflow
ok "overflow: nothing notices" says "6" ./overflow
"$SUNDEW" monitor ./overflow -o plain.monitored >/dev/null 2>&1
ok "overflow: …monitored neither" sh -c './plain.monitored | grep -q 6 && ! ls ./*.crash'
ok "overflow: with the address sanitizer a crash file is left" crash overflow used-fields --asan
ok "overflow: three tests" keeps used-fields add join main
ok "overflow: the report as data" json used-fields 'd["failure"]["kind"] == "sanitizer" and
    d["failure"]["function"] == "add" and d["failure"]["line"] == 16'
ok "overflow: they fail" fails used-fields
ok "overflow: at the desk" says "crashes with the address sanitizer only" "$SUNDEW" reproduce ./overflow -- a
ok "overflow: …on request" says "3 of 3 frames reproduce it" "$SUNDEW" reproduce --asan ./overflow -- a
mend overflow
ok "overflow: mended, join() passes" sh -c 'make -s -C used-fields.tests test_join >/dev/null 2>&1 && used-fields.tests/test_join'
ok "overflow: …and the twin does not crash" twin overflow
sed -i 's/free(t.bytes);/for (int i = 0; i < 9; i++) *(void *volatile *)\&t.bytes = malloc(50);/' overflow.c
"$SUNDEW" capture -- gcc -g -O1 -o overflow overflow.c >/dev/null 2>&1
"$SUNDEW" monitor ./overflow -o asan.monitored --asan >/dev/null 2>&1
rm -f ./*.crash
ok "overflow: a leak is no crash" sh -c 'ASAN_OPTIONS=detect_leaks=1 ./asan.monitored >out 2>&1; grep -q LeakSanitizer out && ! ls ./*.crash'

fresh "it's odd"
printf '#include <stdlib.h>\nint main(int argc, char **argv) { if (argc > 1) abort(); return !argv; }\n' >'a b.c'
ok "names with blanks and quotes" "$SUNDEW" capture -- gcc -g -O1 -I"$TOP/share/include" -o "an [odd]'s" 'a b.c'
ok "…are monitored" "$SUNDEW" monitor "./an [odd]'s" -o odd.monitored
(./odd.monitored a >/dev/null 2>&1)
ok "…and reproduced" says "begin with" "$SUNDEW" reproduce -o odd.tests ./*.crash
ok "…by tests that make builds" says "FAIL test_" make -C odd.tests check

fresh wrong
ok "a program that is not captured" says "no program 'prog'" "$SUNDEW" reproduce prog -- x
echo 'no crash' >a.crash
ok "a file that is none" says "not a crash file" "$SUNDEW" reproduce a.crash
ok "…status 2" status 2 "$SUNDEW" reproduce a.crash
cp ../random/used-fields.crash .
ok "a crash of a program that is not here" says "no program is captured here" "$SUNDEW" reproduce used-fields.crash
ok "…can be reviewed all the same" says "bytes are shown without types" "$SUNDEW" reproduce --review used-fields.crash
ok "…which leaves no workspace" test ! -e .sundew
cd ../random || exit 1
head -c 300 used-fields.crash >cut.crash
ok "a file that is cut short" says "cut short" "$SUNDEW" reproduce cut.crash
ok "a review by type and field" says "frame 0, to_upper: argument words 0x0" "$SUNDEW" reproduce --review used-fields.crash
mkdir mine; touch mine/x
ok "a folder that is not ours" says "was not made by sundew" "$SUNDEW" reproduce -o mine used-fields.crash
mend random
"$SUNDEW" capture -- gcc -g -O1 -o random random.c >/dev/null 2>&1
ok "a program without --" says "its arguments follow after --" "$SUNDEW" reproduce random
ok "a crash of another build" says "another build of 'random'" "$SUNDEW" reproduce used-fields.crash
# Programs with several names do by theirs what they do.
fresh names
cp "$TOP/tests/subjects/reproduce/fails.c" fails.c
ok "names: captured" "$SUNDEW" -q capture -- gcc -g fails.c -o fails
ok "names: at the desk the program has its own" says "frames reproduce it" "$SUNDEW" reproduce ./fails -- a

# main() runs the program again, and needs what it had.
had() { mkdir -p had && echo 3 >had/a && echo 3 >input; }
crash_with_files() {
    had
    "$SUNDEW" monitor ./files -o had.monitored >/dev/null 2>&1 || return
    { (cd had && SUNDEW_CRASH_DIR=.. ../had.monitored a <../input >/dev/null 2>&1); } 2>/dev/null
    mv -f files.[0-9]*.crash used-fields.crash
}
# frames WORDS OPTION…: which frames reproduce it.
frames() {
    local words=$1
    shift
    "$SUNDEW" reproduce --no-shrink --json -o used-fields.tests "$@" used-fields.crash >used-fields.json 2>used-fields.err
    json used-fields "sorted(f for f in t if t[f]['reproduces']) == '$words'.split()" || { cat used-fields.err; return 1; }
}
subject files
ok "files: a crash file is left" crash_with_files
ok "files: without them main() does not fail" frames cell
ok "files: …and says why" json used-fields '"it had no files" in t["main"]["remark"]'
ok "files: with the folder alone neither" frames cell --files had
ok "files: with its folder and input it does" frames "cell main" --files had --stdin input
ok "files: the finding names them" sh -c 'grep -q -e "--files had --stdin input" used-fields.json'
ok "files: the head of main() shows its input" grep -q '^ \*   stdin begins with "' used-fields.tests/test_main.c
ok "files: …that of a function the file that it is told of" grep -q '^ \*   files/a begins with "3' used-fields.tests/test_cell.c
ok "files: make check has them too" fails used-fields
ok "files: …in main()" grep -q "^FAIL test_main" make.out
ok "files: the debugger's line too" grep -q "cp -R files run && cd run && gdb .*program_main.*<../stdin" used-fields.tests/README.md
ok "files: at the desk" says "2 of 2 frames" "$SUNDEW" reproduce --no-shrink -o desk.tests --files had --stdin input ./files -- a
ok "files: no such folder" says "--files nowhere: no such folder" "$SUNDEW" reproduce --files nowhere used-fields.crash
ok "files: no such input" says "--stdin nowhere: no such file" "$SUNDEW" reproduce --stdin nowhere used-fields.crash
for i in $(seq 1001); do : >"had/$i"; done
ok "files: too many" says "more than 16 MiB or 1000 files" "$SUNDEW" reproduce --files had used-fields.crash
rm -rf had; had
mend files
ok "files: mended, main() passes" passes used-fields
ok "files: …and the twin does not crash" says "nothing crashed" sh -c \
    '"$SUNDEW" capture -- gcc -g -O1 -o files files.c >/dev/null 2>&1; "$SUNDEW" reproduce --files had --stdin input ./files -- a'
done_testing
