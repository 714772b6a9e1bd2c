# sundew check: recognised builds, observed tests, the plan, what feeds what, a second check, kills,
# Ctrl-C, bad input, changes, outputs, scripts for CI. No step here is bounded by time: only
# techniques that end by themselves run.
. "$TOP/tests/scripts/tap.bash"
unset SUNDEW_SINCE SUNDEW_OUT SUNDEW_TIME GITHUB_ACTIONS GITHUB_STEP_SUMMARY
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t GIT_CONFIG_GLOBAL=/dev/null
quick="--only arguments,mutability,monitor --time 20m"

# json FILE EXPRESSION: python's, over the document d.
json() { python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), [d.get(k) for k in ("troubles", "ran", "skipped")]' "$1" "$2"; }
project() { fresh "$1" && cp "$TOP"/tests/subjects/check/* .; }
# explored FILE: a search of prog that has read FILE as its one seed, as a step of an earlier check leaves it.
explored() {
    "$SUNDEW" -q explore ./prog --executions 20 -j1 -i "$1" --label 'explore prog (@@)' -o .sundew/check/out/e -- @@ >/dev/null 2>&1
    python3 - "$PWD" <<'END'
import json, sys
s = json.load(open(".sundew/check/state.json"))
for kind, folder, file in ("failures", "failures", "@@.txt"), ("corpus", "queue", "@@"):
    s["products"].append({"kind": kind, "program": sys.argv[1] + "/prog", "path": sys.argv[1] + "/.sundew/check/out/e/" + folder,
                          "by": "explore prog (@@)", "key": "", "args": [file]})
json.dump(s, open(".sundew/check/state.json", "w"))
END
}
swap() { sed -i 's/buf_set(b, start, length);/buf_set(b, length, start);/' buf.c; }
unswap() { sed -i 's/buf_set(b, length, start);/buf_set(b, start, length);/' buf.c; }

project plain
"$SUNDEW" check --plan >out
ok "--plan names the build" grep -qx 'build  make -j[0-9]*' out
ok "…says that nothing is captured" grep -q "Nothing is captured yet" out
ok "…and builds nothing" test ! -e prog
ok "--plan tells why a technique does not fit" grep -q "^not .*monitor: .*for the field" out

swap
"$SUNDEW" check $quick --json >one.json 2>err; status=$?
ok "a defect: exit status 1" test $status = 1
ok "the build is said before it runs" grep -q "build (make): make -j" err
ok "tests that were guessed are said so" grep -q "tests (guessed.*): make check" err
ok "findings have their technique and evidence" json one.json \
    'any(f["technique"] == "arguments" and f["evidence"] == "statistical" and f["line"] == 11 for f in d["findings"])'
ok "a suggestion is style" json one.json \
    'any(f["rule"] == "mutability/const-able" and f["evidence"] == "style" for f in d["findings"])'
ok "plan, ran and skipped" json one.json \
    'len(d["plan"]) == 2 and len(d["ran"]) == 2 and all(r["now"] and r["status"] == "done" for r in d["ran"]) and d["skipped"][0]["technique"] == "monitor"'
ok "all findings of a first check are new" json one.json 'len(d["new"]) >= 2'

"$SUNDEW" check $quick --json >two.json 2>err
ok "a second check does nothing again" json two.json 'len(d["ran"]) == 2 and not any(r["now"] for r in d["ran"])'
ok "…not even the tests" sh -c '! grep -q "tests" err'
ok "…has the same findings" sh -c 'for f in one two; do python3 -c "import json; print(sorted(f[\"fingerprint\"] for f in json.load(open(\"$f.json\"))[\"findings\"]))" >$f.prints; done; cmp one.prints two.prints'
ok "…none of them new" json two.json 'd["new"] == []'
"$SUNDEW" check $quick >out 2>/dev/null
ok "the answer fits on a screen" sh -c '[ $(wc -l <out) -le 24 ] && grep -q "buf.c:11: buf_set: arguments 2 and 3 look swapped.*\[arguments\] statistical" out'
"$SUNDEW" check $quick >/dev/null 2>err
ok "…and ends with a last word" sh -c 'tail -1 err | grep -qx "sundew: complete"'
"$SUNDEW" report >/dev/null 2>err
ok "…and names each step once" sh -c '"$SUNDEW" report 2>/dev/null | grep -q "^arguments the source: examined"'
ok "sundew report has a last word too" sh -c 'tail -1 err | grep -qx "sundew: complete"'
python3 - <<'END'
import json
s = json.load(open(".sundew/check/state.json"))
s["steps"][0]["incomplete"] = "gcc had no time for 1 unit"
json.dump(s, open(".sundew/check/state.json", "w"))
END
"$SUNDEW" check --plan $quick >out2
ok "--plan does not call a step done that is incomplete" grep -q "^partly .*; incomplete: gcc had no time for 1 unit" out2
"$SUNDEW" check $quick >/dev/null 2>err
ok "…nor does the last word" sh -c 'tail -1 err | grep -q "INCOMPLETE (.*gcc had no time for 1 unit"'
sed -i 's/gcc had no time for 1 unit//' .sundew/check/state.json
long=$(printf 'p%.0s' $(seq 140)).html
"$SUNDEW" check $quick --html $long >long.out 2>/dev/null
ok "…lines of a file are not cut" grep -q "$long (or sundew report)" long.out
ok "…and names the page" sh -c 'page=$(sed -n "s/.*time line: \(.*report.html\).*/\1/p" out) && grep -q "<svg class=\"timeline\"\|What ran" "$page"'

unswap
"$SUNDEW" check $quick --json >three.json 2>/dev/null; status=$?
ok "after a fix: exit status 0" test $status = 0
ok "…what changed was done again" json three.json 'all(r["now"] for r in d["ran"]) and not any(f["technique"] == "arguments" for f in d["findings"])'

"$SUNDEW" check --plan --json >plan.json
ok "the tests have shown how the program is started" json plan.json \
    'any(s["technique"] == "explore" and s["variant"] == "@@" and s["command"][-2:] == ["--", "@@.txt"] and "2 times, with 2 files" in s["reason"] for s in d["plan"])'
ok "each technique has a plan or a reason" json plan.json \
    'len({s["technique"] for s in d["plan"]} | {s["technique"] for s in d["skipped"]}) == '"$(ls -d "$TOP"/src/technique/*/ | wc -l)"

# ---- results of one technique feed another, through the workspace
mkdir -p .sundew/check/out
printf '!x\n' >seed
explored seed
"$SUNDEW" check --only reproduce --time 20m --json >fed.json 2>err
ok "an input that fails goes on to reproduce" json fed.json \
    '[(r["technique"], r["fed_by"], r["status"]) for r in d["ran"]] == [("reproduce", "explore prog (@@)", "done")]'
ok "…in a file with the ending that the tests' files have" sh -c 'ls .sundew/check/out/reproduce-prog-*-files/input.txt'
ok "…which makes a C test" sh -c 'ls .sundew/check/out/reproduce-prog-*/test_main.c'
ok "both tell of one trouble" json fed.json \
    'len({f["line"] for f in d["findings"] if f["technique"] in ("explore", "reproduce")}) == 1 and sum("same_as" in f for f in d["findings"]) == 1'
ok "the page shows the chain" grep -q "fed by explore prog (@@)" .sundew/check/report.html

"$SUNDEW" check --plan --json >plan.json
ok "inputs that were found go on to confirm and protocols" json plan.json \
    '{s["technique"] for s in d["plan"] if s["fed_by"] == "explore prog (@@)" and s["command"][-2] == "sh"} == {"confirm", "protocols"}'

ok "… in files with the ending that the tests' files have" sh -c 'sh -x .sundew/check/run-*.sh 2>&1 | grep "+ .*/prog /.*/input.txt"'

# A shift of undefined value is a failure for the sanitizer only: there is no crash to reproduce.
project shifts
sed -i "s/int \*p = .*/int *p = \&b.start; length <<= start == '!' ? 40 : 0;/" main.c
printf '!x\n' >seed
"$SUNDEW" check --only arguments --time 20m >/dev/null 2>&1
mkdir -p .sundew/check/out
explored seed
"$SUNDEW" check --plan >plan.out 2>&1
ok "what crashes nothing is not reproduced" grep -q "^not .*reproduce: after the failures that are known a program goes on" plan.out

# Tests that pass long lists of words, alike for their first hundred characters.
project long-words
words=$(printf 'w%.0s' $(seq 120))
sed -i "s|^\t./prog a.txt.*|\t./prog a.txt $words-one >/dev/null; ./prog a.txt $words-two >/dev/null|" Makefile
"$SUNDEW" check --only arguments --time 20m >/dev/null 2>&1
"$SUNDEW" check --plan --json >plan.json 2>/dev/null
ok "ways of starting a program have short names, each its own" json plan.json \
    'len({s["variant"] for s in d["plan"] if s["technique"] == "explore"}) == 3 and all(len(s["variant"]) < 70 for s in d["plan"])'

# ---- a library that is in no program but its tests'
fresh only-tests
cp "$TOP"/tests/subjects/check/buf.[ch] .
cp "$TOP"/tests/subjects/check/main.c buf_test.c
printf 'test: buf.c buf_test.c\n\t$(CC) -g -o $@ $^\n\techo ab >a.txt\n\t./$@ a.txt\n.PHONY: test\n' >Makefile
"$SUNDEW" check --only arguments --time 20m >out 2>&1
"$SUNDEW" check --plan --json >plan.json 2>&1
ok "a library that only its tests have is looked at there" json plan.json \
    '{s["technique"] for s in d["plan"] if s["subject"] == "test"} >= {"confirm", "mutability", "invariants"}'
ok "…and the tests' compilers are no programs of the project" sh -c '! grep -q clang .sundew/check/runs.json && grep -q "only-tests/test" .sundew/check/runs.json'
printf 'all: prog test\nprog: buf.c main.c\n\t$(CC) -g -o $@ $^\ntest: buf.c buf_test.c\n\t$(CC) -g -o $@ $^\n\t./$@ a.txt\n.PHONY: test\n' >Makefile
cp "$TOP"/tests/subjects/check/main.c .
"$SUNDEW" check --only arguments --time 20m >out 2>&1
"$SUNDEW" check --plan --json >plan.json 2>&1
ok "…but not if a program has the same source" json plan.json \
    '{s["subject"] for s in d["plan"] if s["technique"] == "mutability"} == {"prog"}'

# A library that nothing uses.
fresh unused
cp "$TOP"/tests/subjects/check/buf.[ch] .
printf 'libbuf.so: buf.c\n\t$(CC) -g -fPIC -shared -o $@ $^\n' >Makefile
"$SUNDEW" check --only regress --time 20m >out 2>&1
ok "a technique none of whose subjects fits is named" grep -q "^do not fit: regress (" out

# Tests that compile the library's sources into themselves, built outside of the project's folder.
fresh own-sources
cp "$TOP"/tests/subjects/check/buf.[ch] .
cp "$TOP"/tests/subjects/check/main.c buf_test.c
cat >Makefile <<END
B = $PWD-built
all: \$(B)/libstore.so \$(B)/buf_test
\$(B)/libstore.so: buf.c
	mkdir -p \$(B) && \$(CC) -g -fPIC -shared -o \$@ buf.c
\$(B)/buf_test: buf.c buf_test.c
	\$(CC) -g -o \$@ buf.c buf_test.c
check: all
	echo ab >a.txt && \$(B)/buf_test a.txt
clean:
	rm -rf \$(B)
END
printf '#include <map>\nclass Buf {\n    void set(Buffer *b) { buf_set(b, 0, 0); buf_end(b); }\n};\n' >wrap.h
"$SUNDEW" check --only arguments --time 20m >out 2>&1
"$SUNDEW" check --plan --json >plan.json 2>&1
ok "tests are run as what they are made of, also outside of the folder" json plan.json \
    '{s["subject"].split("/")[-1] for s in d["plan"] if s["technique"] in ("confirm", "invariants")} == {"buf_test"}'
ok "…and the library is read as a library" json plan.json \
    '{s["subject"].split("/")[-1] for s in d["plan"] if s["technique"] == "mutability"} == {"libstore.so"}'
ok "…and a header for C++ is none of its headers" json plan.json \
    '[[w.split("/")[-1] for w in s["command"] if w.endswith(".h")] for s in d["plan"] if s["technique"] == "regress"] == [["buf.h"]]'

# ---- tests that remove the folder they ran in
project removed
sed -i 's|^\t./prog \([ab]\).txt|\tmkdir -p scratch \&\& cd scratch \&\& ../prog ../\1.txt|; s|^clean:|\trm -rf scratch\n&|' Makefile
"$SUNDEW" check --only arguments --time 20m >/dev/null 2>&1
mkdir -p .sundew/check/out
explored a.txt
"$SUNDEW" check --plan >/dev/null 2>&1
ok "a script that runs inputs begins in a folder that is there" sh -c 'test ! -e scratch && sh "$(ls .sundew/check/run-*.sh | head -1)"'

# A program that has an agent: it listens in one way of starting it only.
fresh agent
cat >keep.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <signal.h>
#include <sys/un.h>
#include <unistd.h>
static void end(int sig) { _exit(sig == 0); }
int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "agent") == 0) {
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        signal(SIGTERM, end);
        strncpy(at.sun_path, argv[2], sizeof at.sun_path - 1);
        bind(fd, (void *)&at, sizeof at);
        listen(fd, 1);
        return accept(fd, NULL, NULL) < 0;
    }
    FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
    return !in || fgetc(in) != 'k';
}
END
printf 'all: keep\nkeep: keep.c\n\tcc -g -o $@ keep.c\n' >Makefile
echo key >a.key
printf './keep a.key\n' >ends.sh
printf 'timeout 1 ./keep agent s.sock <a.key\nls | timeout -s HUP 1 ./keep agent t.sock\nexit 0\n' >waits.sh
"$SUNDEW" check --time 20m --only arguments -- sh ends.sh >out 2>err
"$SUNDEW" check --time 20m --only explore --plan --json -- sh ends.sh >plan.json
ok "a program that can listen is explored where it does not" json plan.json \
    '[s["variant"] for s in d["plan"]] == ["@@"]'
"$SUNDEW" check --time 20m --only arguments -- sh waits.sh >out 2>err
"$SUNDEW" check --time 20m --only explore --plan --json -- sh waits.sh >plan.json
ok "…and not where it waits" json plan.json \
    'not d["plan"] and any("waits for connections" in s["why"] for s in d["skipped"])'

# ---- killed at any moment
project killed
swap
for delay in 0.05 0.3 0.6 1 1.5 2.5; do
    (timeout -s KILL $delay "$SUNDEW" check $quick >/dev/null 2>&1) 2>/dev/null
    cp .sundew/check/state.json before.json 2>/dev/null || echo '{"steps": []}' >before.json
done
"$SUNDEW" check $quick --json >last.json 2>err; status=$?
ok "killed six times: the next check ends well" test $status = 1
ok "…with all findings" json last.json 'any(f["technique"] == "arguments" for f in d["findings"]) and len(d["ran"]) == 2'
ok "…and what was done is not done again" python3 -c '
import json
done = {s["name"] for s in json.load(open("before.json"))["steps"] if s["status"] == "done"}
assert not done & {r["step"] for r in json.load(open("last.json"))["ran"] if r["now"]}'
ok "Ctrl-C: the answer so far, exit status 130" sh -c '
    "$SUNDEW" check --only arguments --time 20m -- sleep 1000 >out 2>err & pid=$!
    while ! grep -q "tests: sleep" err; do sleep 0.1; done
    kill -INT $pid; wait $pid; [ $? = 130 ] && grep -q "^killed: " out && grep -q "INCOMPLETE.*interrupted" err'

# ---- bad input
fresh nothing
"$SUNDEW" check --json >out.json 2>err; status=$?
ok "nothing to build: said, exit status 2" sh -c "[ $status = 2 ] && grep -q 'no build was recognised' err"
ok "…in JSON too" json out.json '"no build was recognised" in d["troubles"][0]["why"] and not d["complete"]'

project broken
swap
printf 'all: buf.o\n\tfalse\n' >GNUmakefile
"$SUNDEW" check --only arguments --time 20m --json >out.json 2>err; status=$?
ok "a build that fails: said, and its units are looked at" json out.json \
    '"failed with status" in d["troubles"][0]["why"] and d["ran"][0]["status"] == "done" and d["ran"][0]["examined"]'
ok "…with the build's last words" grep -q '  | make: .*Error 1' err

project failing
cat >broken.pig <<'END'
a = LOAD 'x' AS (n:int;
END
"$SUNDEW" check --only arguments,examples --time 20m --json >out.json 2>/dev/null
ok "a step that fails is told, the others run" json out.json \
    'sorted((r["technique"], r["status"]) for r in d["ran"]) == [("arguments", "done"), ("examples", "failed")] and "1 step failed" in d["incomplete"][0]'
ok "…and the plan says so" sh -c '"$SUNDEW" check --only arguments,examples --time 20m >/dev/null 2>&1
    "$SUNDEW" check --only arguments,examples --plan | grep -q "^failed examples .*it failed: "'
"$SUNDEW" check --only arguments --time 41s --json -- sleep 1000 >out.json 2>/dev/null
ok "tests that hang are ended and said" json out.json 'any(t["what"] == "the tests" and "had not ended" in t["why"] for t in d["troubles"]) and d["ran"][0]["technique"] == "arguments"'
"$SUNDEW" check --only arguments --time 20m --json -- true >out.json 2>/dev/null
ok "tests that start nothing are said" json out.json 'any("started none of the captured programs" in t["why"] for t in d["troubles"]) and not d["complete"]'
"$SUNDEW" check --only arguments --time 20m --json -- ./prog a.txt >out.json 2>/dev/null
ok "… those that do are not" json out.json 'not d["troubles"] and d["complete"]'
sed -i 's/^check:/check:\n\techo none\ntest:/' Makefile
"$SUNDEW" check --only arguments --time 20m --json >out.json 2>err
ok "where make check starts nothing, make test is tried" json out.json 'not d["troubles"] and d["complete"]'
"$SUNDEW" check --only arguments --time 20m --json >out.json 2>err
ok "… once" eval '! grep -q "tests" err && json out.json "not d[\"troubles\"] and d[\"complete\"]"'
sed -i '/^test:/,$d' Makefile
"$SUNDEW" check --only arguments --time 20m --json >out.json 2>/dev/null
ok "if none starts anything, that is said" json out.json 'any("make check started none" in t["why"] for t in d["troubles"])'
sed -i '/^check:/,$d' Makefile
"$SUNDEW" check --only arguments --time 20m --json >out.json 2>err
ok "a project without tests is looked at completely" json out.json 'not d["troubles"] and d["complete"]'
ok "… and that is said" grep -q "no tests were recognised" err
"$SUNDEW" check --only arguments --time 20m --json -- false >out.json 2>/dev/null
ok "tests that fail are said" json out.json 'any("failed with status 1" in t["why"] for t in d["troubles"])'
ok "an argument that says nothing: exit status 2" says "'nonsense' is one argument too many" status 2 "$SUNDEW" check nonsense
ok "a technique that is none: exit status 2" status 2 "$SUNDEW" check --only nonsense
ok "--build names another build" says "build (--build): cc -g -o prog main.c buf.c" "$SUNDEW" check --only arguments --time 20m --no-tests --build 'cc -g -o prog main.c buf.c'

mkdir deeper
ok "… said where, if it is not here" eval '(cd deeper && "$SUNDEW" check --only arguments --time 20m --no-tests --build "cc -g -o prog main.c buf.c" 2>&1) | grep -q "build (--build, in $PWD): cc"'

# ---- build systems
system() {     # NAME FILE: the project with another build, in which the defect is found
    rm -f Makefile
    swap
    "$SUNDEW" check --only arguments --time 20m --json >out.json 2>err
    json out.json "d['builds'][0]['system'] == '$1' and d['builds'][0]['used'] and any(f['technique'] == 'arguments' for f in d['findings'])"
}
project cmake
printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nenable_testing()\nadd_executable(prog main.c buf.c)\nadd_test(NAME t COMMAND prog ${CMAKE_SOURCE_DIR}/a.txt)\n' >CMakeLists.txt
ok "CMake" system CMake
ok "…and ctest" grep -q "tests (guessed.*): ctest" err
rm -rf .sundew
cmake -S . -B own >/dev/null && "$SUNDEW" -q capture -- cmake --build own >/dev/null
"$SUNDEW" check --only arguments --time 20m --json >out.json 2>err
ok "…in a tree that was captured before: built there, and only there" json out.json \
    'd["builds"][0]["command"].startswith("cmake --build") and "/own " in d["builds"][0]["command"] and not __import__("glob").glob(".sundew/check/build-*")'
ok "…with its tests" grep -q "tests (guessed.*): ctest .*own" err
project meson
printf "project('p', 'c')\ne = executable('prog', 'main.c', 'buf.c')\ntest('t', e, args: files('a.txt'))\n" >meson.build
ok "Meson" system Meson
ok "…and meson test" grep -q "tests (guessed.*): meson test" err
# A program that no test starts, with a header that CMake makes, in a tree that check has built.
fresh guess
cat >main.c <<'END'
#include "made.h"
#include <stdio.h>
static int sum(int *v, int n) { int s = 0; while (n--) s += v[n]; return s; }
int main(int argc, char **argv)
{
    int v[2] = { FIRST, 2 };
    FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
    return f ? sum(v, fgetc(f) & 1) & 1 : 2;
}
END
printf '#define FIRST @FIRST@\n' >made.h.in
printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nset(FIRST 1)\nconfigure_file(made.h.in made.h)\nadd_executable(prog main.c)\ntarget_include_directories(prog PRIVATE ${CMAKE_BINARY_DIR})\n' >CMakeLists.txt
"$SUNDEW" check --only arguments --time 20m >/dev/null 2>&1
"$SUNDEW" check --plan --json >plan.json
ok "a file or the standard input: both are planned for" json plan.json \
    'sorted(s["variant"] for s in d["plan"] if s["technique"] == "explore") == ["<", "@@"]'
"$SUNDEW" mutability prog --patch -q >const.patch 2>err
ok "--patch compiles what check has built" grep -q '^+static int sum(const int \*v, int n)' const.patch
project endings
cp b.txt b.dat && sed -i 's/b\.txt/b.dat/' Makefile
"$SUNDEW" check --only arguments --time 20m >/dev/null 2>&1
"$SUNDEW" check --plan --json >plan.json
ok "files of several endings: the search has none" json plan.json \
    'any(s["technique"] == "explore" and s["command"][-2:] == ["--", "@@"] and "2 times, with 2 files" in s["reason"] for s in d["plan"])'
project configure
printf '#!/bin/sh\nprintf "prog: main.c buf.c\\n\\tcc -g -o prog main.c buf.c\\n" >Makefile\n' >configure
ok "configure" system configure
project script
printf 'cc -g -o prog main.c buf.c\n' >build.sh
ok "a script" system script
project built
make -s
ok "a project that is built already is built again" sh -c '"$SUNDEW" check --only arguments --time 20m --json >out.json 2>err; grep -q "built already: { make clean || make -B" err && grep -q "3 calls in 2 units\|calls in 2 units" out.json'
fresh below && mkdir part && cp "$TOP"/tests/subjects/check/* part/
ok "a build in a folder of the project" says "(in part)" "$SUNDEW" check --only arguments --time 20m

# ---- a change
project since
printf '.sundew/\n*.o\nprog\n*.json\nerr\nresults/\n' >.gitignore
git init -q . && git add -A && git commit -qm one
sed -i 's/return b->start + b->length;/return b->length + b->start;/' buf.c
git commit -qam two
swap
git commit -qam three
"$SUNDEW" check --only arguments --time 20m --since HEAD~1 --json >out.json 2>err; status=$?
ok "--since: the change brings a finding" sh -c "[ $status = 1 ]"
ok "…which is in its function" json out.json '[f["line"] for f in d["findings"]] == [11]'
git checkout -q HEAD~1 2>/dev/null; swap; git commit -qam 'older'; sed -i 's/b->length + b->start/b->start + b->length/' buf.c; git commit -qam newer
ok "--since: a finding elsewhere does not count" status 0 "$SUNDEW" -q check --only arguments --time 20m --since HEAD~1
# What a change may bring to hide itself: lines like those of a diff, an attribute, a name.
hidden() {
    "$@" && git add -A && git commit -qm hidden &&
        status 1 "$SUNDEW" -q check --only arguments --time 20m --since HEAD~1
    local got=$?
    git reset -q --hard HEAD~1
    return $got
}
with_lines() { swap && sed -i '1i #if 0\n++ b/other.c\n#endif' buf.c; }
with_attribute() { swap && echo '*.c -diff' >.gitattributes; }
with_name() { sed -i 's/buf_set(b, start, length);/buf_set(b, length, start);/' 'b f.c'; }
git checkout -q HEAD~2
ok "--since: lines that look like a diff's hide nothing" hidden with_lines
ok "--since: an attribute hides nothing" hidden with_attribute
git mv buf.c 'b f.c' && echo '#include "b f.c"' >buf.c && git add -A && git commit -qm name
ok "--since: a name with a blank hides nothing" hidden with_name
git checkout -q HEAD~1 2>/dev/null; swap; git commit -qam older; git commit -q --allow-empty -m newer
ok "--since: no such revision" says "--since nonsense: git:" "$SUNDEW" check --since nonsense
ok "--since: exit status 2 then" status 2 "$SUNDEW" check --since nonsense

# A folder that is built in has no file of git's.
project outside
mkdir build && printf 'prog: ../main.c ../buf.c\n\tcc -g -o $@ ../main.c ../buf.c\n' >build/Makefile
printf 'build/\n' >.gitignore
git init -q . && git add -A && git commit -qm one
swap
outside() { cd build && status 1 "$SUNDEW" check --only arguments,mutability --time 20m --since HEAD --no-tests; }
ok "--since: a change above the folder that is built in" eval '(outside >out) && grep -q "^../buf.c:11\|/buf.c:11" out && grep -q "ran: .*mutability" out'
prints() { (cd "$1/build" && "$SUNDEW" -q capture -- make -s >/dev/null; "$SUNDEW" arguments --json 2>/dev/null) | python3 -c 'import json, sys
print([(f["rule"], f["line"], f["fingerprint"]) for f in json.load(sys.stdin)["findings"]])'; }
cp -r ../outside ../elsewhere && rm -rf ../elsewhere/build/.sundew ../elsewhere/build/prog build/prog
ok "its findings are the same ones where the tree is moved" eval '[ "$(prints .)" = "$(prints ../elsewhere)" ] && prints . | grep -q arguments/swapped'
cd "$work/since"

# ---- for CI
SUNDEW_OUT=results SUNDEW_SINCE=HEAD~2 SUNDEW_TIME=20m sh "$TOP/share/ci/sundew-ci" --only arguments >out 2>err; status=$?
ok "sundew-ci: exit status 1, and all results" sh -c "[ $status = 1 ] && cd results && ls findings.sarif junit.xml codequality.json report.html summary.md"
ok "GitLab's report" python3 -c '
import json
d = json.load(open("results/codequality.json"))
assert d[0]["location"] == {"path": "buf.c", "lines": {"begin": 11}} and d[0]["severity"] == "minor" and d[0]["fingerprint"] and d[0]["check_name"] == "arguments/swapped"'
ok "the summary for a job" sh -c 'grep -q "| arguments the source |" results/summary.md && grep -q "buf.c:11" results/summary.md'
ok "sundew-ci without the revision checks all" sh -c 'SUNDEW_SINCE=0123456789 SUNDEW_OUT=results SUNDEW_TIME=20m sh "$TOP/share/ci/sundew-ci" --only arguments 2>&1 >/dev/null | grep -q "everything is checked"'
ok "sundew-ci on GitHub writes annotations" sh -c 'GITHUB_ACTIONS=true SUNDEW_OUT=results SUNDEW_TIME=20m sh "$TOP/share/ci/sundew-ci" --only arguments 2>/dev/null | grep -q "^::warning file=buf.c,line=11"'
cp "$TOP/share/ci/pre-commit/pre-commit" .git/hooks/
printf '[check]\nonly = arguments\n' >sundew.ini
PATH=$(dirname "$SUNDEW"):$PATH SUNDEW_TIME=20m; export PATH SUNDEW_TIME
unswap; git add -A
ok "the hook lets a good commit pass" git commit -qm good
swap; git add -A
ok "…and stops a bad one" sh -c '! git commit -qm bad'
ok "the hook leaves other commits alone" sh -c 'git checkout -q -- . 2>/dev/null; git reset -q --hard; echo x >notes; git add notes; git commit -qm notes'
ok "the scripts are for sh" sh -c 'for f in "$TOP"/share/ci/sundew-ci "$TOP"/share/ci/install-sundew "$TOP"/share/ci/pre-commit/pre-commit; do sh -n "$f" || exit 1; done'
ok "the Action and the template are YAML that call them" python3 -c '
import os, re
top = os.environ["TOP"] + "/share/ci/"
for f in "github/action.yml", "gitlab/sundew.yml":
    t = open(top + f).read()
    assert "sundew-ci" in t and "install-sundew" in t and "\t" not in t, f
try:
    import yaml
    a = yaml.safe_load(open(top + "github/action.yml")); g = yaml.safe_load(open(top + "gitlab/sundew.yml"))
    assert a["runs"]["using"] == "composite" and g["sundew"]["artifacts"]["reports"]["codequality"]
except ImportError:
    pass'
done_testing
