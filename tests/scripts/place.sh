#!/bin/bash
# A woven program stands in the place of the user's while a command runs. The
# user's files stay as they are, byte for byte and with their times: while the
# command runs, after it, and after kill -9 at any moment. As root and as an
# ordinary user.
. "$TOP/tests/scripts/tap.bash"
export work

needs_mounts "a program in the place of another"

# Every file with its content, mode, owner and time; the workspace apart.
tree() {
    find . -path ./.sundew -prune -o -printf '%p %M %u %s %T@ %l\n' | sort
    find . -path ./.sundew -prune -o -type f -exec sha256sum {} + | sort
}

subject() {
    cat > lib.h <<'END'
struct box;
struct box *box_new(int n);
void box_set(struct box *b, int n);
int box_get(const struct box *b);
void box_free(struct box *b);
END
    cat > lib.c <<'END'
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
    cat > main.c <<'END'
#include "lib.h"
int main(void)
{
    struct box *b = box_new(3);
    box_set(b, 41);
    int n = box_get(b);
    box_free(b);
    return n != 41;
}
END
    # The pause leaves time for a kill; `touch` writes into the project.
    cat > Makefile <<'END'
all: prog loads t
lib.o: lib.c lib.h
	cc -g -fPIC -c lib.c
libbox.a: lib.o
	ar rcs libbox.a lib.o
libbox.so: lib.o
	cc -shared -o libbox.so lib.o
prog: main.c lib.o
	cc -g -o prog main.c lib.o
loads: main.c libbox.so
	cc -g -o loads main.c -L. -lbox -Wl,-rpath,'$$ORIGIN'
t: main.c libbox.a
	cc -g -o t main.c libbox.a
check: prog loads t
	./prog && ./loads && ./t
	touch passed
slow:
	sleep 5
END
    "$SUNDEW" -q capture -- make -s all
}

# unchanged COMMAND…: it succeeds (1: findings), and the tree is as before.
unchanged() {
    local before got
    before=$(tree)
    "$@"
    got=$?
    [ $got -le 1 ] || { echo "exit status $got: $*"; return 1; }
    diff <(echo "$before") <(tree)
}

settles() {    # settles PROGRAM TARGET…: the run shows what is written through b
    "$SUNDEW" -q mutability "$1" --pipeline D --json -- make -s "${@:2}" > "$work/out.json" || [ $? = 1 ] || return 1
    python3 -c '
import json, sys
p = {(x["function"], x["parameter"]): x["verdict"] for x in json.load(open(sys.argv[1]))["parameters"]}
assert p["box_set", "b"] == "mutable", p' "$work/out.json"
}

all_of_it() {    # all_of_it WHO: as the user that runs this
    local what
    ok "$1: a build" subject
    for what in prog libbox.so libbox.a; do
        ok "$1: $what is watched, the tree stays" unchanged settles $what check
    done
    ok "$1: regress by make check, the tree stays" unchanged regress libbox.a
    ok "$1: …by a program that loads the library" unchanged regress libbox.so
    ok "$1: the command sees the woven program" unchanged sees
    ok "$1: what the command builds is private" unchanged relinks
    ok "$1: a program that the command links anew stays woven" unchanged keeps
    ok "$1: a command that fails" unchanged says "ended with status 3" "$SUNDEW" mutability prog -- sh -c 'exit 3'
    ok "$1: a command that does not exist" says "cannot start no-such" "$SUNDEW" mutability prog -- no-such
    for what in 0.02 0.1 0.3 0.6 1; do
        ok "$1: kill -9 after $what s of the command" unchanged killed $what
    done
    ok "$1: …and once more without" unchanged settles prog check
    ok "$1: --time ends it" unchanged says "the time was over" "$SUNDEW" mutability prog --time 1s -- make -s slow
    ok "$1: …and that of a command whose time is a budget" unchanged budget_ends
    touch -d '+1 hour' main.c
    ok "$1: with a newer source the command runs what it builds" unchanged builds_new
}
# Without an end by --time the guard ends it, with status 124.
budget_ends() { says "the time was over while the example ran" timeout 120 "$SUNDEW" -q regress libbox.a --headers lib.h --time 1s -o "$work/never" -- sleep 1000; }
regress() { "$SUNDEW" -q regress "$1" --headers lib.h --count 50 --mutants 0 -o "$work/out$$" -- make -s check; local got=$?; rm -rf "$work/out$$"; return $got; }
# The command's status is said; it is 0 here.
passes() {
    "$SUNDEW" mutability prog -- sh -c "$1" > "$work/passed" 2>&1
    [ $? -le 1 ] && grep -q complete "$work/passed" && ! grep "ended with status" "$work/passed"
}
sees() {
    cp -p prog "$work/original"
    passes 'nm prog | grep -q sundew && ! cmp -s prog "$work/original" &&
            ! [ prog -nt "$work/original" ] && ! [ prog -ot "$work/original" ]'
}
relinks() { passes 'rm prog lib.o && make -s prog && ./prog && mkdir new && mv main.c new/ && ls -R'; }
keeps() { passes 'cc -g -o prog main.c lib.o && nm prog | grep -q sundew && ./prog && cc -o other main.c lib.o && ! nm other | grep -q sundew'; }
builds_new() { passes 'cc -g -o prog main.c lib.o && ! nm prog | grep -q sundew && ./prog'; }
killed() {
    "$SUNDEW" -q mutability prog -- sh -c "touch started && mv main.c moved.c && echo $$ > '$work/begun'; sleep 5" &
    local pid=$!
    rm -f "$work/begun"
    for _ in $(seq 300); do [ -e "$work/begun" ] && break; sleep 0.02; done
    sleep "$1"
    kill -9 $pid
    wait $pid 2>/dev/null
    [ -e "$work/begun" ]
}

fresh project
all_of_it "$(id -un)"
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Um true 2>/dev/null; then
    # An ordinary user needs a folder of his own.
    own=$(mktemp -d /tmp/sundew-place.XXXXXX)
    chown 65534:65534 "$own"
    export -f subject tree unchanged settles all_of_it regress budget_ends passes sees relinks keeps builds_new killed ok says status
    setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$own" TMPDIR="$own" work="$own" count=$count \
        bash -c 'mkdir "$work/p" && cd "$work/p" && all_of_it nobody; echo $count > "$work/count"'
    count=$(cat "$own/count")
    rm -rf "$own"
elif [ "$(id -u)" = 0 ]; then
    skip "as an ordinary user" "user namespaces are not allowed"
fi
done_testing
