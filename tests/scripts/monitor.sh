# Monitored programs fail as the plain ones do, and leave the best file that
# could be had.
. "$TOP/tests/scripts/tap.bash"

crash() { python3 "$TOP/tests/subjects/monitor/crash.py" "$1"; }

# alike HOW…: both programs end alike: status, standard output and error.
alike() {
    rm -f ./*.crash ./*.part
    (./failures "$@" > plain.out 2> plain.err; echo "status $?" >> plain.out) 2> /dev/null
    if ls ./*.crash 2> /dev/null; then echo "the plain program left a file"; return 1; fi
    (./failures.monitored "$@" > monitored.out 2> monitored.err; echo "status $?" >> monitored.out) 2> /dev/null
    sed -i 's/^failures.monitored: /failures: /' monitored.err
    diff plain.out monitored.out && diff plain.err monitored.err
}
files() { local n; n=$(ls ./*.crash 2> /dev/null | wc -l); [ "$n" = "$1" ] || { echo "$n files, expected $1"; ls; return 1; }; }
# tells TEXT…: the file is whole and has a line with each of these.
tells() {
    local text
    crash ./failures.*.crash > told || return
    grep -q '^end' told || { echo "no end"; cat told; return 1; }
    for text; do grep -q -e "$text" told || { echo "no '$text' in:"; cut -c1-150 told; return 1; }; done
}
# fails HOW KIND TEXT…: alike, one file of this kind of failure, with these lines.
fails() {
    local how=$1 kind=$2
    shift 2
    alike "$how" && files 1 && tells "^failure $kind" "$@"
}

fresh monitor
cp "$TOP"/tests/subjects/monitor/*.c "$TOP/share/include/sundew.h" .
ok "a program is built" status 0 "$SUNDEW" capture -- \
    sh -ec 'gcc -g -O1 -c failures.c; gcc -g -O1 -c fail.c; gcc failures.o fail.o -o failures -lpthread'
ok "…and monitored" says "functions monitored" "$SUNDEW" monitor failures -o failures.monitored
ok "…by its default name too" says "failures.monitored:" "$SUNDEW" monitor failures
ok "a copy with symbols is kept" sh -c 'nm .sundew/monitored/*/failures.used-fields.* | grep -q " run"'
ok "it needs nothing of Sundew" sh -c '! ldd failures.monitored | grep -v "libc.so\|vdso\|ld-linux\|libpthread"'

ok "no failure, no file" alike fine
ok "…none at all" files 0
ok "a null pointer" fails null "signal 11 access 2" "^frame 0 fail" "^frame 1 run" "^frame 2 main"
ok "…what was there at the entry is kept" sh -c 'grep -q "^copy 0 .* 03000000" told && grep -q "^memory heap .* 63000000" told'
ok "abort" fails abort "abort 6" "^frame 0 fail"
ok "an assertion, with its text" fails assert "assert 6 .*Assertion .n > 100"
ok "a division by zero" fails divide "signal 8"
ok "an illegal instruction" fails trap "signal 4"
ok "a stack overflow" fails overflow "overflow 11" "^frame .* main"
ok "a corrupted stack" fails smash "" "^frame .* run"
ok "a call of no function" fails call "signal 11" "^frame 0 fail"
ok "a signal that was sent" fails raise "signal 11"
ok "a bad pointer in the C library" fails libc "signal 11" "^frame 0 run"
ok "memory that was freed" fails freed "signal 11" "^memory freed"
ok "a second thread" fails thread "signal 11" "^frame 0 fail" "^frame 1 in_thread" "^missing"
ok "a child" fails fork "signal 11" "^frame 0 fail"
ok "a coroutine" fails coroutine "signal 11" "^frame 0 fail" "^frame 1 coroutine" "^frame .* main"
ok "a handler of its own" fails handler "signal 11" "^frame 0 fail"
ok "…that dies of the signal itself" fails again "signal 11" "^frame 0 fail"
ok "…that aborts" fails otherwise "signal 11" "^frame 0 fail"
ok "…that gives up" fails returns "signal 11" "^frame 0 fail"
ok "…of System V" fails sysv "signal 11" "^frame 0 fail"
ok "…that asks for information" fails siginfo "signal 11"
ok "…on its own stack" fails onstack "signal 11"
ok "…that recovers" alike recover
ok "…leaves one file" files 1
ok "a signal that it ignores" fails ignore "signal 11"
ok "a signal that it blocks" fails block "signal 11"
ok "a failure that was caught before" alike rethrow
ok "…is in the last file" sh -c 'for f in failures.*.crash; do python3 "$TOP/tests/subjects/monitor/crash.py" $f; done > told &&
    grep -q "^failure abort" told && grep -q "^frame . fail flags [135]" told'
rm -f ./*.crash
ok "a dump on request goes on" says "went on" ./failures.monitored dump
ok "…with its reason" tells "^failure dump 0 .*nothing left" "^frame 0 run"
rm -f ./*.crash

# ---- files that can't be written

ok "in the folder that was asked for" sh -c 'mkdir -p there; SUNDEW_CRASH_DIR=there ./failures.monitored null; ls there/*.crash'
rm -rf there
ok "a folder that is not there: another one" sh -c 'SUNDEW_CRASH_DIR=/nowhere ./failures.monitored null; ls ./*.crash'
rm -f ./*.crash
limited() { bash -c "ulimit $1; exec ./failures.monitored null" > out 2> err; [ $? = 139 ] && [ ! -s err ]; }
ok "a limit on the size of files" limited '-f 1'
ok "…leaves what fits" sh -c 'python3 "$TOP/tests/subjects/monitor/crash.py" ./*.crash | grep -q "^failure signal 11"'
rm -f ./*.crash
ok "little memory" limited '-v 40000'
rm -f ./*.crash /tmp/failures.*.crash
ok "switched off" sh -c 'SUNDEW_MONITOR=off ./failures.monitored null; [ $? = 139 ] && ! ls ./*.crash'

# ---- strategies, second chance, redaction

for s in reference shallow deep; do
    ok "strategy $s" says "$s" "$SUNDEW" monitor failures -o failures.monitored --copy $s
    ok "…fails alike" fails null "signal 11" "^frame 0 fail"
done
"$SUNDEW" monitor failures -o failures.monitored --copy reference > /dev/null
rm -f ./*.crash
only_arguments() {
    ./failures.monitored null
    python3 "$TOP/tests/subjects/monitor/crash.py" ./*.crash > told
    sed -n 's/^memory argument \(0x[0-9a-f]*\) .*/\1/p' told | sort > arguments
    sed -n 's/^copy [0-9]* \(0x[0-9a-f]*\) .*/\1/p' told | sort > copies
    comm -13 arguments copies > array
    [ -s arguments ] && [ "$(wc -l < array)" = 1 ] && grep -q "^memory guessed $(cat array) " told
}
ok "reference copies nothing but main()'s arguments" only_arguments
ok "second chance" says "second chance" "$SUNDEW" monitor failures -o failures.monitored --second-chance --build-id-text 'v 2'
rm -f ./*.crash ./*.chance
ok "…the first time, the stack" sh -c './failures.monitored null; python3 "$TOP/tests/subjects/monitor/crash.py" ./*.crash > told
    grep -q "^stack" told && ! grep "^frame" told && grep -q "^build .* v 2" told && grep -q " fail$" failures.chance'
rm -f ./*.crash
ok "…the second time, the frames" sh -c './failures.monitored null; python3 "$TOP/tests/subjects/monitor/crash.py" ./*.crash | grep "^frame 0 fail"'
rm -f ./*.crash ./*.chance
head -c 1024 /dev/zero | tr '\0' '\n' > failures.chance
ok "…a list that is as long as files may be" limited '-f 1'
rm -f ./*.crash ./*.chance
mkfifo failures.chance
ok "…a pipe where the list should be" sh -c 'timeout -s KILL 20 ./failures.monitored null; [ $? = 139 ]'
rm -f ./*.crash ./*.chance /tmp/failures.*.crash
ok "secrets are in the file" sh -c "'$SUNDEW' monitor failures -o failures.monitored && ./failures.monitored null; grep -q hunter2 ./*.crash"
rm -f ./*.crash
ok "…unless they are redacted" sh -c "'$SUNDEW' monitor failures -o failures.monitored --redact item.secret &&
    ./failures.monitored null; ls ./*.crash && ! grep -q hunter2 ./*.crash"
rm -f ./*.crash
cp "$TOP/tests/subjects/monitor/redact.c" .
ok "secrets that are reached in other ways" status 0 "$SUNDEW" capture -- gcc -g redact.c -o redact
for s in shallow used-fields deep; do
    for how in field value inside; do
        rm -f ./*.crash
        ok "…by $how, $s" sh -c "'$SUNDEW' monitor redact -o redact.monitored --copy $s && ./redact.monitored $how; grep -q hunter2 ./*.crash"
        rm -f ./*.crash
        ok "…are redacted" sh -c "'$SUNDEW' monitor redact -o redact.monitored --copy $s --redact user.password --redact token.secret &&
            ./redact.monitored $how; ls ./*.crash && ! grep hunter2 ./*.crash"
    done
done
rm -f ./*.crash
ok "only some functions" sh -c "'$SUNDEW' monitor failures -o failures.monitored --only fail --json | grep -q '\"monitored\": 1,' &&
    ./failures.monitored null; python3 $TOP/tests/subjects/monitor/crash.py ./*.crash | grep -c '^frame' | grep -x 1"
rm -f ./*.crash

# ---- how much is kept

cp "$TOP/tests/subjects/monitor/large.c" large.c
"$SUNDEW" capture -- gcc -g -O1 large.c -o large >/dev/null 2>&1
"$SUNDEW" monitor large -o large.monitored >/dev/null 2>&1
large() { rm -f ./*.crash; { "$@" ./large.monitored; } 2>/dev/null; size=$(stat -c %s ./*.crash); echo "$size bytes"; }
ok "of a large object, a part" eval 'large env && [ "$size" -lt 100000 ]'
ok "…all of it on request" eval 'large env SUNDEW_CRASH_SIZE=4 && [ "$size" -gt 200000 ]'
ok "…nonsense is the default" eval 'large env SUNDEW_CRASH_SIZE=-7x && [ "$size" -lt 100000 ]'
rm -f ./*.crash

# ---- errors

ok "no such function" says "no function 'nix'" status 2 "$SUNDEW" monitor failures --only nix
ok "no such field" says "no field 'nix'" status 2 "$SUNDEW" monitor failures --redact item.nix
ok "not TYPE.FIELD" says "is not TYPE.FIELD" status 2 "$SUNDEW" monitor failures --redact item
ok "no such strategy" says "no strategy 'x'" status 2 "$SUNDEW" monitor failures --copy x
ok "no number" says "not a number" status 2 "$SUNDEW" monitor failures --overhead much
ok "no program" says "which program" status 2 "$SUNDEW" monitor
ok "a folder that can't be written" status 2 "$SUNDEW" monitor failures -o /nowhere/x
cp failures before
ok "the program itself is not written over" says "the program itself" status 2 "$SUNDEW" monitor failures -o ./failures
ok "…and stays" cmp failures before
ok "libraries are built" status 0 "$SUNDEW" capture -- sh -ec '
    gcc -g -fPIC -shared fail.c -o libfail.so; gcc -g -c fail.c -o f.o; ar rcs libfail.a f.o'
ok "a shared library is not monitored" says "only an executable" status 2 "$SUNDEW" monitor libfail.so
ok "nor is an archive" says "only an executable" status 2 "$SUNDEW" monitor libfail.a
done_testing
