#!/bin/bash
# What a command's row says it needs is opened by the session, with the same
# errors for every command: no workspace, no program named, an unknown one, an
# ambiguous name, one argument too many, damaged tables, bitcode that is gone.
. "$TOP/tests/scripts/tap.bash"

# One command for each kind of evidence and of opening it.
program=("show functions" "show types" "show handles" "show externals" "show trace"
         monitor record "explore --plan")
calls=("show calls" "show points-to" mutability "show functions --json")
api=("show api" "show model" "regress --headers lib.h")
ast=(arguments types)

refuses() { says "$1" status 2 "$SUNDEW" "${@:2}"; }
each() {    # each WHAT TEXT [ARG…]: every command that needs a program says TEXT
    local what=$1 text=$2 c
    shift 2
    for c in "${program[@]}" "${calls[@]}" "${api[@]}"; do
        ok "$what: $c" refuses "$text" $c "$@"
    done
}

fresh nothing
for c in "show functions" "show calls" "show api" monitor record; do
    ok "no workspace: $c" refuses "sundew capture" $c prog
done
leaves_none() { status 2 "$SUNDEW" "$@" && [ ! -e .sundew ]; }
for c in mutability "explore --plan" "regress --headers lib.h" arguments types; do
    ok "no workspace: $c ends with 2 and leaves none" leaves_none $c prog
done

fresh project
mkdir one two
cat > lib.h <<'END'
struct box;
struct box *box_new(int n);
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
    if (b)
        b->n = n;
    return b;
}
int box_get(const struct box *b) { return b->n; }
void box_free(struct box *b) { free(b); }
END
cat > main.c <<'END'
#include "lib.h"
int main(void)
{
    struct box *b = box_new(3);
    int n = b ? box_get(b) : 3;
    box_free(b);
    return n != 3;
}
END
cat > build.sh <<'END'
set -e
cc -g -c lib.c main.c
ar rcs lib.a lib.o
cc -o prog main.o lib.a
cc -g -DSECOND -o one/same main.c lib.c
cc -g -o two/same main.c lib.c
END
ok "capture" "$SUNDEW" capture -- sh build.sh

each "no program named" "which program? Usage: sundew"
each "an unknown program" "no program 'nobody'" nobody
each "an ambiguous name" "names 2 programs" same
for c in monitor record mutability "explore --plan" "show api" "show model" \
         "regress --headers lib.h"; do
    ok "one argument too many: $c" refuses "'more' is one argument too many" $c prog more
done

ok "a path among those of one name" "$SUNDEW" show functions one/same
for c in "show functions" "show types" "show handles" "show calls" "show points-to"; do
    ok "it is there: $c" status 0 "$SUNDEW" $c prog
done
ok "record" "$SUNDEW" record prog
ok "show trace" says "box_get" "$SUNDEW" show trace prog
ok "show api" says "box_new" "$SUNDEW" show api lib.a --headers lib.h
ok "show model, of an example" says "box_new" "$SUNDEW" show model lib.a --headers lib.h \
    --example prog
ok "mutability" "$SUNDEW" mutability prog
ok "explore --plan" "$SUNDEW" explore prog --plan
for c in "${ast[@]}"; do
    ok "the source: $c" says complete "$SUNDEW" $c
    ok "one file: $c" says complete "$SUNDEW" $c lib.c
    ok "no such source: $c" status 2 "$SUNDEW" $c nowhere.c
done

# Wrong options are said before anything is opened: the program does not exist.
ok "options come first: monitor" refuses "--overhead" monitor nobody --overhead much
ok "options come first: mutability" refuses "pipeline" mutability nobody --pipeline no-such

# Tables of a damaged workspace are made again.
for f in .sundew/{models,linked}/*; do
    [ -f "$f" ] && head -c 100 "$f" > cut && cat cut > "$f"
done
ok "cut tables are made again" says "box_get" "$SUNDEW" show functions prog
ok "…and calls" says "box_get" "$SUNDEW" show calls prog
for f in .sundew/{models,linked}/*; do
    [ -f "$f" ] && head -c 2000 /dev/urandom > "$f"
done
ok "random tables are made again" says "box_get" "$SUNDEW" show functions prog

# Units that are missing: every command says so, in the same words.
rm -rf .sundew/models .sundew/linked
"$SUNDEW" show units prog --json > units.json
python3 - <<'END'
import json, os
for u in json.load(open("units.json")):
    if u["source"].endswith("lib.c"):
        os.remove(u["bitcode"])
END
for c in "show functions" "show types" "show calls" mutability record monitor \
         "explore --plan"; do
    ok "a missing unit is said: $c" says "prog: 1 of 2 units is missing" "$SUNDEW" $c prog
done
quiet() { [ -z "$("$SUNDEW" show functions prog -q 2>&1 >/dev/null)" ]; }
ok "…not with -q" quiet
done_testing
