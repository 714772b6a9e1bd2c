# The user's tree is byte for byte the same before and after every command, and after kill -9
# at any moment. Outside of the workspace and named outputs nothing is written.
#   SUNDEW_MOMENTS=N   kill each command at N moments; `make soak` has more of them
. "$TOP/tests/scripts/tap.bash"
moments=${SUNDEW_MOMENTS:-2}
out=$work/outputs
mkdir -p "$out"

# Every file with its content, mode, owner and time; the workspace apart.
tree() {
    find . -path ./.sundew -prune -o -printf '%p %M %u %s %T@ %l\n' | sort
    find . -path ./.sundew -prune -o -type f -exec sha256sum {} + | sort
}

fresh project
cat >lib.h <<'END'
struct box;
struct box *box_new(int n);
void box_set(struct box *b, int n);
int box_get(const struct box *b);
void box_free(struct box *b);
END
cat >lib.c <<'END'
#include <stdlib.h>
#include "lib.h"
struct box { int n; };
struct box *box_new(int n)
{
    struct box *b = malloc(sizeof *b);
    if (!b)
        abort();
    b->n = n;
    return b;
}
void box_set(struct box *b, int n) { b->n = n; }
int box_get(const struct box *b) { return b->n; }
void box_free(struct box *b) { free(b); }
END
cat >main.c <<'END'
#include "lib.h"
#include <stdio.h>
int main(void)
{
    struct box *b = box_new(getchar());
    box_set(b, 41);
    int n = box_get(b);
    box_free(b);
    return n != 41;
}
END
cat >shop.pig <<'END'
A = LOAD 'rows.txt' USING PigStorage(',') AS (x:int, y:int);
B = FILTER A BY x > y;
DUMP B;
END
printf '1,2\n3,1\n' >rows.txt
cat >Makefile <<'END'
all: prog
lib.o: lib.c lib.h
	cc -g -fPIC -c lib.c
libbox.a: lib.o
	ar rcs libbox.a lib.o
libbox.so: lib.o
	cc -shared -o libbox.so lib.o
prog: main.c libbox.so libbox.a
	cc -g -o prog main.c -L. -lbox -Wl,-rpath,'$$ORIGIN'
check: prog
	./prog <main.c
	touch passed
END
"$SUNDEW" -q capture -- make -s || { echo "Bail out! no build"; exit 1; }

# unchanged COMMAND…: whatever comes of it, the tree is as before.
unchanged() {
    local before
    before=$(tree)
    "$@"
    diff <(echo "$before") <(tree)
}
killed() {       # killed SECONDS COMMAND…
    local pause=$1 pid
    shift
    "$@" >/dev/null 2>&1 &
    pid=$!
    sleep "$pause"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    sleep 0.2    # what it started dies with it
    return 0
}
n=0
try() {          # try NAME COMMAND…: once to its end, then killed
    local name=$1 i
    shift
    rm -rf "${out:?}"/*
    ok "$name" unchanged "$@"
    for ((i = 0; i < moments; i++)); do
        n=$((n + 1))
        rm -rf "${out:?}"/*
        # moments all over the first seconds, other ones for each command
        ok "$name, killed ($((i + 1)))" unchanged killed "$(awk "BEGIN { print (($n * 37) % 100) * ($i + 1) / 100 / $moments * 2 }")" "$@"
    done
}

S="$SUNDEW -q"
try "show functions" $S show functions prog
try "show calls" $S show calls prog
try arguments $S arguments --html "$out/a.html" --sarif "$out/a.sarif"
try types $S types
try mutability $S mutability prog
try explore $S explore prog -j1 --no-concolic --executions 200 -o "$out/explored"
try monitor $S monitor prog -o "$out/monitored"
try record $S record prog -o "$out/trace"
try regress $S regress libbox.a --headers lib.h --count 30 --mutants 0 -o "$out/tests"
try threads $S threads prog --schedules 3 -o "$out/threads"
try examples $S examples shop.pig
try report $S report --html "$out/r.html" --junit "$out/r.xml"
try doctor $S doctor
if can_mount; then
    try "mutability -- make check" $S mutability prog -- make -s check
    try "invariants -- make check" $S invariants prog -- make -s check
    try "regress -- make check" $S regress libbox.a --headers lib.h --count 20 --mutants 0 -o "$out/tests" -- make -s check
else
    skip "commands that run another one" "nothing can be mounted here"
fi
ok "the build is still the user's" eval 'make -s -q all && ./prog <main.c'
done_testing
