# sundew mutability: forms of output, options, what it leaves for others.
. "$TOP/tests/scripts/tap.bash"

cp "$TOP/tests/subjects/mutability/list.c" list.c
cp "$TOP/tests/subjects/mutability/main.c" main.c
"$SUNDEW" capture -q -- sh -c 'cc -g -c list.c && ar rc liblist.a list.o' > capture.log 2>&1 || cat capture.log >&2

json() { "$SUNDEW" mutability liblist.a --json "$@" > out.json 2> err.txt; }
field() { # FUNCTION PARAMETER FIELD
    python3 - "$@" <<'END'
import json, sys
for p in json.load(open("out.json"))["parameters"]:
    if (p["function"], p["parameter"]) == (sys.argv[1], sys.argv[2]):
        print(json.dumps(p.get(sys.argv[3])))
END
}
is() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }

json
ok "a reader is immutable, by P, proven" is "$(field len l verdict)$(field len l stage)$(field len l sound)" '"immutable""P"true'
ok "a writer is mutable, by S" is "$(field clear l verdict)$(field clear l stage)" '"mutable""S"'
ok "deep and own differ" is "$(field twice m verdict)$(field twice m own)" '"mutable""immutable"'
ok "the witness ends at the store" eval 'field twice m witness | grep -q "\"function\": \"clear\", .*\"path\": \"l->v\""'
ok "unknown has reasons" eval 'field alias c reasons | grep -q ALIAS_BLOCK'
ok "a function without body is a reason" eval 'field away o reasons | grep -q "NO_BODY.*unknown"'
ok "file, line and index are there" is "$(field alias c index) $(field alias c line)" "2 8"

json --pipeline S
ok "S alone leaves calls unknown" is "$(field len l verdict)$(field twice m verdict)" '"unknown""unknown"'
json --pipeline S-P
ok "S-P settles them" is "$(field len l verdict)$(field twice m verdict)" '"immutable""mutable"'
json --best-effort
ok "best effort is marked" is "$(field alias c verdict)$(field alias c sound)$(field alias c stage)" '"immutable"false"L"'
json --best-effort --sound
ok "--sound takes it back" is "$(field alias c verdict)" '"unknown"'

printf 'alias 2 0 9 %s/list.c\n' "$PWD" > seen.txt
json --observed seen.txt
ok "an observation settles an unknown" is "$(field alias c verdict)$(field alias c stage)" '"mutable""D"'
echo nonsense > seen.txt
json --observed seen.txt
ok "a bad observation is an error" eval '[ $? = 2 ] || grep -q "seen.txt:1" err.txt'

ok "--why tells the way to the store" eval '"$SUNDEW" mutability liblist.a --why twice:m | grep -q "twice passes it to clear"'
ok "--why tells what is in the way" eval '"$SUNDEW" mutability liblist.a --why away:o | grep -q "NO_BODY"'
ok "--why by number" eval '"$SUNDEW" mutability liblist.a --why alias:3 | grep -q "alias(c)"'
why_nobody() { "$SUNDEW" mutability liblist.a --why nobody:x 2> err.txt; [ $? = 2 ] && grep -q nobody err.txt; }
ok "--why of nobody is an error" why_nobody
bad_pipeline() { "$SUNDEW" mutability liblist.a --pipeline Q 2> err.txt; [ $? = 2 ] && grep -q "not a pipeline" err.txt; }
ok "a bad pipeline is an error" bad_pipeline
no_program() { "$SUNDEW" mutability 2> err.txt; [ $? = 2 ] && grep -q "which program" err.txt; }
ok "no program is an error" no_program
ok "--verdicts lists all" eval '[ "$("$SUNDEW" mutability liblist.a --verdicts -q | wc -l)" = 7 ]'
ok "the facts are kept in the workspace" eval 'grep -q "^len 0 i!P i!P iiii" .sundew/linked/*.mutability'
ok "and written where asked" eval '"$SUNDEW" mutability liblist.a --facts f.txt -q > /dev/null; head -1 f.txt | grep -qx "sundew-mutability 1"'
ok "SARIF has the rule" eval '"$SUNDEW" mutability liblist.a --sarif s.sarif -q > /dev/null; grep -q mutability/const-able s.sarif'

mkdir patch && cd patch || exit 1
cp "$TOP/tests/subjects/mutability/set.h" set.h
cp "$TOP/tests/subjects/mutability/set.c" set.c
"$SUNDEW" capture -q -w .sundew -- cc -g set.c -o prog > capture.log 2>&1
"$SUNDEW" mutability prog -w .sundew --patch -q > const.patch
ok "the patch applies" eval 'mkdir new && cp set.c set.h new && patch -s -d new -p1 < const.patch'
ok "and compiles without a warning" eval 'cc -Wall -Werror -Werror=discarded-qualifiers -c new/set.c -o /dev/null && clang-19 -Werror -c new/set.c -o /dev/null'
ok "readers got const" eval 'grep -q "int len(const struct set \*l) { const struct set \*at = l" new/set.c'
ok "the header too" eval 'grep -q "int sum(const struct set \*l, const int \*bias);" new/set.h'
ok "declarators together" eval 'grep -q "const int \*p = bias, \*q = p;" new/set.c'
ok "through a caller" eval 'grep -q "int outer(const int \*a, const char \*n)" new/set.c'
ok "writers, keepers and typedefs did not" eval '! grep -E "put|same|keep|hidden|of_macro" const.patch | grep "^+"'
ok "an argument of a macro" eval 'grep -qF "by_macro(DECLARE(const int))" new/set.c'
ok "a callback, with its pointer" eval 'grep -qF "int (*by_pointer)(const char *) = cb" new/set.c'
ok "--patch --json has the patch and its parameters" eval '"$SUNDEW" mutability prog -w .sundew --patch --json -q | python3 -c "import json, sys; j = json.load(sys.stdin); assert j[\"patch\"] == open(\"const.patch\").read() and any(p[\"function\"] == \"len\" for p in j[\"parameters\"])"'
"$SUNDEW" mutability prog -w .sundew --patch --abi-stable -q > stable.patch
ok "--abi-stable leaves headers alone" eval '! grep -q set.h stable.patch && grep -q "inner(const int" stable.patch'
ok "what is written deeper needs --shallow" eval '! grep -q "deep(const" const.patch && "$SUNDEW" mutability prog -w .sundew --patch --shallow -q | grep -q "deep(const"'
alone() { "$SUNDEW" mutability prog -w .sundew --abi-stable 2> err.txt; [ $? = 2 ] && grep -q -- "--patch" err.txt; }
ok "--abi-stable without --patch is an error" alone
no_run() { "$SUNDEW" mutability prog -w .sundew --absence 2> err.txt; [ $? = 2 ] && grep -q "after --" err.txt; }
ok "--absence without a run is an error" no_run
suggestions() { "$SUNDEW" mutability prog -w .sundew -q > out.txt && grep -q "could point to const" out.txt; }
ok "suggestions alone leave the status 0" suggestions
cd ..

# ---- pointers to pointers, functions in tables and behind typedefs, files that are included
mkdir slots && cd slots || exit 1
cp "$TOP/tests/subjects/mutability/ops.h" ops.h
cp "$TOP/tests/subjects/mutability/part.inc" part.inc
cp "$TOP/tests/subjects/mutability/ops.c" ops.c
"$SUNDEW" capture -q -w .sundew -- cc -g ops.c -o prog > capture.log 2>&1
"$SUNDEW" mutability prog -w .sundew --patch -q > const.patch
ok "slots: the patch applies" eval 'mkdir new && cp ops.c ops.h part.inc new && patch -s -d new -p1 < const.patch'
ok "…compiles with both compilers" eval 'cc -Wall -Werror -Wno-cast-function-type -c new/ops.c -o /dev/null && clang-19 -Wall -Werror -c new/ops.c -o /dev/null'
ok "…const behind the inner star" eval 'grep -q "int total(char \*const \*list, int n) { int t = 0; char \*const \*at = list" new/ops.c && grep -q "fill(char \*\*list)" new/ops.c'
ok "…a table of operations, where all that stand there only read" eval 'grep -qF "int (*get)(const struct S *s); int (*take)(struct S *s);" new/ops.h && grep -q "get_w(const struct S" new/ops.c && grep -q "take_v(struct S" new/ops.c'
ok "…a typedef and an array of functions" eval 'grep -qF "(*reader)(const struct S *s, const void *arg)" new/ops.h && grep -qF "(*table[])(const struct S *)" new/ops.c'
ok "…not main, not what is cast" eval 'grep -qF "main(int argc, char **argv)" new/ops.c && grep -q "by_cast(struct S" new/ops.c'
"$SUNDEW" mutability prog -w .sundew --patch --abi-stable -q > stable.patch
ok "…--abi-stable leaves all included files alone" eval 'grep -q "in_part(const" const.patch && ! grep -q "ops\.h\|part\.inc" stable.patch'
cd ..

# One parameter that can't be const takes nothing else out of the patch.
mkdir beside && cd beside || exit 1
cat >a.c <<'END'
typedef struct { int n; } A;
typedef union { void *p; long l; } W;
int a_sum(A *a);
int a_sum(A *a) { return a->n + 1; }
W a_ptr(void *p);
W a_ptr(void *p)
{
    return (W){
        .p = p,
    };
}
int main(void)
{
    A a = { 1 };
    return a_sum(&a) + (int)a_ptr(&a).l;
}
END
"$SUNDEW" capture -q -w .sundew -- cc -g a.c -o prog > capture.log 2>&1
"$SUNDEW" mutability prog -w .sundew --patch -q > const.patch
ok "beside one that can't be const another is" eval 'grep -q "^+int a_sum(const A \*a) {" const.patch && ! grep -q "^+.*a_ptr" const.patch'
cd ..

# ---- what others can load: summaries; attributes
mkdir -p summaries/use && cd summaries || exit 1
cp "$TOP/tests/subjects/mutability/l.c" l.c
cp "$TOP/tests/subjects/mutability/u.c" use/u.c
"$SUNDEW" capture -q -w .sundew -- sh -c 'cc -g -c l.c && ar rc libl.a l.o' > capture.log 2>&1
"$SUNDEW" mutability libl.a -w .sundew --write-summaries l.txt --attributes -q > found.txt
line() { grep -qx -- "$1" l.txt || { cat l.txt; return 1; }; }
ok "a summary of a reader" line "len l:r"
ok "…a writer, a keeper, one that returns its argument" eval 'line "clear l:rw" && line "keep l:rk" && line "same l -> l"'
ok "…one that links, one that frees" eval 'line "put l:rw n:rk ; \*l+?=unknown \*l+?=n" && line "drop l:rf"'
ok "…none of what calls back, with the reason" line "# each: calls a function by a pointer"
(cd use && "$SUNDEW" capture -q -w .sundew --min-share 0 -- sh -c 'cc -g -c u.c && cc u.o ../libl.a -o u' > capture.log 2>&1
 "$SUNDEW" mutability u -w .sundew --verdicts -q > without.txt; "$SUNDEW" mutability u -w .sundew --verdicts -q --summaries ../l.txt > with.txt)
ok "others don't know without it" eval '[ "$(grep -c "unknown.*NO_BODY" use/without.txt)" = 5 ]'
ok "…and know with it" eval 'grep -q "a(x): immutable (P)" use/with.txt && grep -q "b(y): mutable (P)" use/with.txt && grep -q "c(p): mutable" use/with.txt'
ok "…but not what it doesn't say" eval 'grep -q "d(z): unknown.*NO_BODY" use/with.txt && ! grep -q "c(q): immutable" use/with.txt'
attribute() { grep -qF "$1: could be __attribute__(($2))" found.txt || { cat found.txt; return 1; }; }
ok "access with its length: a loop, a library call, a callee" eval 'attribute sum "access(read_only, 1, 2)" && attribute fill "access(write_only, 1, 2)" && attribute both "access(write_only, 1, 2)"'
ok "…not with two lengths, not with bytes for elements" eval '! grep -q "halves.*access(.*, 1, " found.txt && ! grep -q "copy.*read_only" found.txt && attribute copy "access(write_only, 1)"'
cp "$TOP/tests/subjects/mutability/attributed.c" attributed.c
ok "…which the compiler takes" eval 'cat attributed.c l.c > all.c && gcc -Wall -Werror -c all.c -o /dev/null'
cd ..

# The linker puts one function for another.
mkdir wrap && cd wrap || exit 1
cp "$TOP/tests/subjects/mutability/wrapped.c" "$TOP/tests/subjects/mutability/wrapping.c" .
"$SUNDEW" capture -q -w .sundew -- sh -c 'cc -g wrapped.c wrapping.c -o plain && cc -g wrapped.c wrapping.c -o prog -Wl,--wrap=look,--wrap -Wl,peek' > capture.log 2>&1
"$SUNDEW" mutability prog -w .sundew --verdicts -q > wrapped.txt
"$SUNDEW" mutability plain -w .sundew --verdicts -q > plain.txt
has() { grep -qF -- "$2" "$1" || { cat "$1"; return 1; }; }
ok "wrapped functions are the wrappers" eval 'has wrapped.txt "by_look(p): mutable" && has wrapped.txt "by_peek(p): mutable"'
ok "…the real one is reached by its other name" has wrapped.txt "by_real(p): immutable"
ok "…without the option each is itself" eval 'grep -q "by_look(p): .*own immutable" plain.txt && grep -q "by_peek(p): .*own immutable" plain.txt'
cd ..

# A stored reference is found by a name that points-to does not see.
mkdir names && cd names || exit 1
cp "$TOP/tests/subjects/mutability/names.c" "$TOP/tests/subjects/mutability/walked.c" .
"$SUNDEW" capture -q -w .sundew -- sh -c 'cc -g names.c -o names -Wl,--defsym=other=kept,-fini -Wl,at_end && cc -g -no-pie walked.c -o walked' > capture.log 2>&1
"$SUNDEW" mutability names -w .sundew --verdicts -q > names.txt
"$SUNDEW" mutability walked -w .sundew --verdicts -q > walked.txt
ok "the run writes by each of them" eval './walked && ./names'
claims() { grep -q "$2(p): .*immutable" "$1"; }
for f in by_defsym by_end by_callback by_guess; do
    ok "$f: not called immutable" eval "has names.txt '$f(p):' && ! claims names.txt $f"
done
ok "…what is only stored is" claims names.txt by_callback_not
ok "symbols of the linker lead to every variable" eval 'has walked.txt "by_walk(p):" && ! claims walked.txt by_walk'
cd ..
done_testing
