# Damaged workspaces, hostile names, files that subjects leave, machines that refuse.
. "$TOP/tests/scripts/tap.bash"

two_files() {
    printf 'int twice(int a) { return 2 * a; }\n' >twice.c &&
    printf 'int twice(int);\nint main(int c, char **v) { (void)v; return twice(c); }\n' >main.c &&
    "$SUNDEW" capture -q -- gcc -g -o prog main.c twice.c
}
# damaged HOW: a command says so and is not complete; doctor tells.
damaged() {
    rm -rf .sundew/linked
    "$SUNDEW" show functions prog >out.txt 2>&1
    local got=$?
    cat out.txt
    { [ $got = 2 ] || grep -q "INCOMPLETE\|damaged" out.txt; } || { echo "status $got, and nothing said"; return 1; }
    grep -q "damaged\|gone\|empty" out.txt || { echo "not said"; return 1; }
    status 2 "$SUNDEW" doctor && return 0
}
unit() { ls .sundew/units/*.$1 | head -n 1; }
# mounted WHERE COMMAND…: with an empty file system of 1 MiB there.
mounted() {
    local way=-m
    unshare -m true 2>/dev/null || way=-Urm
    unshare $way bash -c 'mount -t tmpfs -o size=1m none "$0" && exec "$@"' "$@"
}

fresh damage
ok "a program" two_files
ok "a whole workspace is called whole" eval '"$SUNDEW" doctor | grep -q "^ok .*workspace"'
for how in ': >"$f"' 'truncate -s 40 "$f"' 'rm "$f"' 'sed -i s/twice/thrice/g "$f"; sed -i s/main/niam/g "$f"'; do
    for ext in json bc; do
        cp -r .sundew kept
        f=$(unit $ext)
        eval "$how"
        ok "a unit's $ext: $how" damaged
        rm -rf .sundew && mv kept .sundew
    done
done
ok "…and whole again" status 0 "$SUNDEW" show functions prog
# A command that can do without the units goes on, and says that it is not complete.
all_empty() {
    printf 'int twice(int);\n' >twice.h
    "$SUNDEW" capture -q -- sh -ec 'for d in old new; do mkdir $d; gcc -g -fPIC -shared -o $d/libtwice.so twice.c; done' &&
    for f in .sundew/units/*.bc; do : >"$f"; done && rm -rf .sundew/linked &&
    says "INCOMPLETE (1 unit of libtwice.so is damaged" "$SUNDEW" substitutes --tests 5 --headers twice.h --reference old/libtwice.so --candidate new/libtwice.so &&
    says "twice.c: its bitcode in the workspace is empty" status 2 "$SUNDEW" check --no-build --no-tests --only types &&
    says "its bitcode in the workspace is empty" status 2 "$SUNDEW" mutability prog
}
ok "no unit of a program is whole" all_empty
# cut_off CHANGE TEXT: two libraries whose units are not what was captured are no libraries of others.
cut_off() {
    rm -rf .sundew old new
    "$SUNDEW" capture -q -- sh -ec 'for d in old new; do mkdir $d; gcc -g -fPIC -shared -o $d/libtwice.so twice.c; done' &&
    eval "$1" && says "INCOMPLETE ($2" "$SUNDEW" substitutes --tests 5 --headers twice.h --reference old/libtwice.so --candidate new/libtwice.so
}
ok "bitcode that is cut short" cut_off 'truncate -s 40 .sundew/units/*.bc' "libtwice.so can't be opened: program libtwice.so: "
ok "units that are gone" cut_off 'rm .sundew/units/*.json' "1 unit of libtwice.so is damaged"
rm -rf .sundew
ok "a program again" two_files
ok "check without a build has a place for its logs" status 0 "$SUNDEW" check --no-build --no-tests --only types

# ---- a store whose version is no version

negative() {
    "$SUNDEW" types prog >/dev/null 2>&1
    python3 - <<'P'
import sqlite3
db = sqlite3.connect(".sundew/findings.db")
db.execute("PRAGMA user_version = -3")
db.commit()
P
    "$SUNDEW" report >out.txt 2>&1
    local got=$?
    cat out.txt
    [ $got = 2 ] && grep -q "not a store of Sundew" out.txt
}
ok "a negative version of a store is refused" negative
rm -f .sundew/findings.db*

# ---- endless and odd files

ok "--config /dev/full ends" says "larger than" timeout 60 "$SUNDEW" --config /dev/full show functions prog
ok "--config of a pipe ends" eval 'mkfifo pipe; says "a pipe" timeout 60 "$SUNDEW" --config pipe show functions prog'
ok "a crash file that is a pipe" eval 'mkfifo x.crash; says "not a regular file" timeout 60 "$SUNDEW" reproduce x.crash'
ok "a crash file that is endless" eval 'ln -s /dev/zero y.crash; says "not a regular file" timeout 60 "$SUNDEW" reproduce y.crash'
ok "a crash file that leads to a secret" eval 'echo topsecret >secret; ln -s secret s.crash; says "not a crash file" "$SUNDEW" reproduce s.crash && ! "$SUNDEW" reproduce s.crash 2>&1 | grep -q topsecret'
ok "a crash file of holes" eval 'truncate -s 2T z.crash && says "larger than" timeout 60 "$SUNDEW" reproduce z.crash; rm -f z.crash'
ok "an input that is a pipe" says "a pipe can't be given" timeout 60 "$SUNDEW" threads ./prog --schedules 2 -o out.threads --stdin pipe
ok "a header that is a pipe" says "a pipe, not a header" timeout 60 "$SUNDEW" substitutes --tests 2 --headers pipe --reference old/libtwice.so --candidate new/libtwice.so
# Samples of the tables of a dataflow program.
data() {
    printf "a = LOAD 'x' AS (s:int);\nb = FILTER a BY s > 3;\nSTORE b INTO 'o';\n" >x.pig
    rm -rf data && mkdir data && eval "$1" && says "$2" timeout 60 "$SUNDEW" examples x.pig --data data
}
ok "samples that are a pipe" data "mkfifo data/x" "not a regular file"
ok "samples that are endless" data "ln -s /dev/zero data/x" "not a regular file"
ok "samples of holes" data "truncate -s 2T data/x" "a line is longer than 16 MiB"
# each_a_pipe: a pipe in the place of each file of a workspace, which is read or made anew.
each_a_pipe() {
    "$SUNDEW" show functions prog >/dev/null && cp -r .sundew whole
    local f got
    for f in $(cd whole && find . -type f); do
        rm -rf .sundew && cp -r whole .sundew && rm ".sundew/$f" && mkfifo ".sundew/$f"
        timeout 60 "$SUNDEW" show functions prog >/dev/null 2>&1
        got=$?
        [ $got = 0 ] || [ $got = 2 ] || { echo "$f: $got"; return 1; }
        timeout 60 "$SUNDEW" doctor >/dev/null 2>&1
        [ $? != 124 ] || { echo "$f: doctor"; return 1; }
    done
    rm -rf .sundew && mv whole .sundew
}
ok "each file of a workspace is a pipe" each_a_pipe
ok "a report into a pipe that nobody reads" says "a pipe that nobody reads" timeout 60 "$SUNDEW" show commands -o pipe
ok "a unit that is a pipe" eval 'cp -r .sundew kept; f=$(unit json); rm "$f"; mkfifo "$f"; timeout 60 bash -c "exec \"\$SUNDEW\" show functions prog" >/dev/null 2>&1; got=$?; rm -rf .sundew; mv kept .sundew; [ $got = 0 ] || [ $got = 2 ]'

# ---- names that make, shells, compilers and CMake would execute or misread

# names FOLDER: what regress, substitutes and reproduce generate is built and run there.
names() {
    local bad=$1
    mkdir -p "$bad" && cd "$bad" && cp "$TOP"/tests/attack/target.h . &&
    printf '#include "target.h"\nint target_add(int a, int b) { return a + b; }\nint target_flag(int a) { return a > 10; }\n' >target.c &&
    sed 's/a > 10/a > 11/' target.c >other.c &&
    printf 'int fall(int *p) { return *p; }\nint main(int c, char **v) { (void)v; return fall(c > 9 ? &c : 0); }\n' >fall.c &&
    "$SUNDEW" capture -q -- sh -ec 'gcc -g -c target.c; ar rcs libtarget.a target.o; gcc -g -c other.c; ar rcs libother.a other.o; gcc -g -o fall fall.c
        mkdir old new; gcc -g -fPIC -shared -o old/libtarget.so target.c; gcc -g -fPIC -shared -o new/libtarget.so other.c' &&
    "$SUNDEW" regress libtarget.a --headers target.h -o tests --count 100 --mutants 5 >/dev/null &&
    ls tests/test_*.c >/dev/null && make -s -C tests check &&
    (cd tests && meson setup m >/dev/null && ninja -C m test >/dev/null) &&
    status 1 "$SUNDEW" regress --diff tests libother.a >/dev/null &&
    status 1 "$SUNDEW" substitutes --seed 1 --tests 60 --headers target.h --reference old/libtarget.so --candidate new/libtarget.so -o pair &&
    says "not ok 1" make -s -C pair/1 check &&
    "$SUNDEW" monitor ./fall -o monitored >/dev/null && { ./monitored; status 1 "$SUNDEW" reproduce -o crash ./*.crash; } &&
    says "FAIL test_" make -s -C crash check &&
    [ -z "$(find "$work" -name pwned)" ]
}
i=0
for bad in 'a $(touch pwned)`touch pwned`;touch pwned #it'\''s "b" $x' '#hash'; do
    i=$((i + 1))
    fresh "names$i"
    ok "a folder called $bad" names "$bad"
done

# ---- explorations

fresh crashes
printf 'int main(void) { return *(volatile int *)0; }\n' >crash.c
ok "a program that always crashes" "$SUNDEW" capture -q -- gcc -g -w -o crash crash.c
ok "--executions ends it" status 1 timeout 120 "$SUNDEW" explore ./crash --executions 50 --no-concolic -j1 -o out --time 100s
same_folder() {
    "$SUNDEW" explore ./crash --no-concolic -j1 -o both --time 6s >one.txt 2>&1 &
    local first=$!
    for i in $(seq 100); do [ -e both ] && break; sleep 0.1; done
    "$SUNDEW" explore ./crash --no-concolic -j1 -o both --time 2s >two.txt 2>&1
    local got=$?
    wait $first
    cat two.txt
    [ $got = 2 ]
}
ok "a second exploration into the same folder is refused" same_folder

# --resume moves and removes files of its folders, and reads them.
strangers_folder() {
    mkdir precious && echo mine >precious/file && mv out/queue kept && ln -s "$PWD/precious" out/queue &&
    says "a link, not a folder" "$SUNDEW" explore ./crash --resume --executions 5 --no-concolic -j1 -o out &&
    rm out/queue && mv kept out/queue && ln -s "$PWD/precious" out/queue.old &&
    says "a link, not a folder" "$SUNDEW" explore ./crash --resume --executions 5 --no-concolic -j1 -o out &&
    rm out/queue.old && mkdir -p out/queue && ln -s "$PWD/precious/file" out/queue/id:000900 &&
    ln -s /dev/zero out/failures/id:000901 && mkfifo out/queue/id:000902 &&
    status 1 timeout 120 "$SUNDEW" explore ./crash --resume --executions 50 --no-concolic -j1 -o out &&
    [ "$(cat precious/*)" = mine ] && ! grep -rqs mine out/queue
}
ok "--resume with a stranger's links" strangers_folder
full_disk() {
    mkdir full && mounted full bash -c '
        mkdir full/.sundew && cp .sundew/version .sundew/findings.db* full/.sundew && cd full || exit
        dd if=/dev/zero of=fill bs=1k 2>/dev/null
        "$SUNDEW" report; echo "status $?"; "$SUNDEW" report --html page.html; echo "status $?"' >out.txt 2>&1
    cat out.txt
    grep -q "explore/failure" out.txt && grep -q "status 1" out.txt &&
    grep -q "page.html: No space left on device" out.txt && grep -q "status 2" out.txt
}
ok_mounted "a full disk: report reads, and tells what it can't write" full_disk
# Two commands that write to the same folder would mix their tests.
same_tests() {
    cp "$TOP/tests/attack/target.h" . && printf '#include "target.h"\nint target_add(int a, int b) { return a + b; }\nint target_flag(int a) { return a > 10; }\n' >target.c &&
    "$SUNDEW" capture -q -- sh -ec 'gcc -g -c target.c; ar rcs libtarget.a target.o' && mkdir tests &&
    { flock -n 9 && says "another command is at work there" "$SUNDEW" regress libtarget.a --headers target.h -o tests --count 5 --mutants 0; } 9<tests &&
    { flock -n 9 && says "another command is at work there" "$SUNDEW" threads ./crash --schedules 2 -o tests; } 9<tests &&
    { flock -n 9 && says "another command is at work there" "$SUNDEW" record ./crash -o tests; } 9<tests &&
    rmdir tests && status 0 "$SUNDEW" regress libtarget.a --headers target.h -o tests --count 20 --mutants 0
}
ok "a second command into the same folder is refused" same_tests

# ---- a machine that refuses

fresh refuses
ok "a program again" two_files
few() { says "$1" bash -c 'ulimit -n "$0"; exec "$@"' "${@:2}"; }
ok "few descriptors: the reason is named" few "Too many open files" 4 "$SUNDEW" show functions prog
ok "…and 32 do where nothing runs" few "int twice(int a)" 32 "$SUNDEW" show functions prog
ok "…and runs say how many they need" few "the limit on open files is too low" 32 "$SUNDEW" explore ./prog -o few --no-concolic -j1 --executions 5
no_growth() { (ulimit -f 0; exec "$SUNDEW" show commands -o grown.json) 2>&1 | cat; [ "${PIPESTATUS[0]}" = 2 ]; }
ok "a limit on files: an error, no signal" eval 'no_growth >out.txt && grep -q "File too large" out.txt'
ok_mounted "no /proc: that is said" says "/proc is not mounted" mounted /proc "$SUNDEW" show functions prog
done_testing
