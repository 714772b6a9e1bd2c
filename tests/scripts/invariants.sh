# Contracts: options, outputs, bad input. What is inferred is in tests/cases/invariants.
. "$TOP/tests/scripts/tap.bash"
cases=$TOP/tests/cases/invariants

fresh stack
cp "$cases"/stack.h "$cases"/stack.inc .
cp stack.inc stack.c
ok "the stack is captured" "$SUNDEW" -q capture -- cc -g stack.c -o prog
no_recording() { ! "$SUNDEW" -q invariants prog >out 2>&1 && grep -q 'give a command after --' out; }
ok "without a recording the error says what to do" no_recording
json() {
    "$SUNDEW" -q invariants prog --json -- ./prog >out.json && python3 - <<'X'
import json
d = json.load(open("out.json"))
assert d["constraints"] == [] and d["broken"] == []
f = {f["name"]: f for f in d["functions"]}
pre = {i["text"]: i for i in f["stack_pop"]["pre"]}
assert pre["s->cap == 100"]["evidence"] == "own"
assert pre["s->cap == 100"]["samples"] == 40 and pre["s->cap == 100"]["confidence"] >= 0.99
post = {i["text"] for i in f["stack_pop"]["post"]}
assert "s->top == orig(s->top) - 1" in post, post
# the state of the handle stands in each function
for name in ("stack_push", "stack_top", "stack_is_full", "stack_clear"):
    assert "s->top < s->cap" in {i["text"] for i in f[name]["pre"]}, name
assert any(i["evidence"] == "borrowed" for i in f["stack_clear"]["pre"])
for g in f.values():
    for i in g["pre"] + g["post"]:
        assert "arg" not in i["text"] and set(i) >= {"text", "confidence", "samples", "evidence"}
X
}
ok "--json has functions with pre and post over the source's names" json
again() {
    "$SUNDEW" -q invariants prog --json >again.json && python3 -c '
import json
assert json.load(open("out.json"))["functions"] == json.load(open("again.json"))["functions"]'
}
ok "the kept recording says the same as the run" again
infer() {
    "$SUNDEW" -q invariants prog --infer >rules.txt && "$SUNDEW" -q invariants prog --infer --json >infer.json &&
    grep -q '^CanFollow(stack_push, stack_top)' rules.txt && python3 - <<'X'
import json
c = json.load(open("infer.json"))["constraints"]
assert c and all({"kind", "from", "to", "rate", "confidence"} <= set(x) for x in c)
assert all(x["rate"] >= 0.75 and x["proved"] > 0 for x in c)
X
}
ok "--infer ranks constraints that hold" infer
vetted() { "$SUNDEW" -q invariants prog --constraints rules.txt >out; }
ok "its output is a file of constraints" vetted
stricter() {
    "$SUNDEW" -q invariants prog --infer --rate 1 >all.txt
    [ "$(grep -c '^[A-Z]' all.txt)" -le "$(grep -c '^[A-Z]' rules.txt)" ]
}
ok "--rate 1 finds no more" stricter

against() {
    "$SUNDEW" -q invariants prog --against out.json >same.txt && grep -q 'no findings' same.txt || return 1
    sed 's/s->top == orig(s->top) - 1/s->top == orig(s->top) - 2/' out.json >old.json
    "$SUNDEW" -q invariants prog --against old.json >changed.txt; [ $? = 1 ] &&
        grep -q 'contract of stack_pop changed: - ensures s->top == orig(s->top) - 2' changed.txt
}
ok "--against tells a changed contract, and no other" against
asserts() {
    "$SUNDEW" -q invariants prog --asserts >a.patch && grep -q '^+    assert(s != NULL);' a.patch &&
    mkdir patched && cp stack.c stack.h patched && (cd patched && patch -s -p1 <../a.patch &&
        cc -Wall -Werror -o prog stack.c && ./prog)
}
ok "--asserts is a patch that applies, compiles and holds" asserts
header() {
    "$SUNDEW" -q invariants prog --header >c.h && printf '#include "stack.h"\n#include "c.h"\n' >h.c &&
        cc -fsyntax-only h.c && grep -q 'ensures  s->top == orig(s->top) - 1' c.h
}
ok "--header compiles behind the header with the types" header
acsl() {
    "$SUNDEW" -q invariants prog --acsl >c.acsl &&
        grep -qF 'ensures s->top == \old(s->top) - 1;' c.acsl && grep -qF 'requires s != \null;' c.acsl
}
ok "--acsl uses its words" acsl
daikon() {
    "$SUNDEW" -q invariants prog --daikon d.dtrace && python3 - <<'X'
# every sample has the declared variables, in order
ppts, samples, cur = {}, 0, None
lines = open("d.dtrace").read().split("\n")
assert lines[0] == "decl-version 2.0"
i = 0
while i < len(lines):
    l = lines[i]
    if l.startswith("ppt "):
        cur = ppts.setdefault(l[4:], [])
    elif l.startswith("variable "):
        cur.append(l[9:])
    elif l in ppts:
        samples += 1
        assert lines[i + 1] == "this_invocation_nonce"
        i += 3
        for v in ppts[l]:
            assert lines[i] == v and lines[i + 2] in "12", (l, v, lines[i:i + 3])
            i += 3
        continue
    i += 1
assert len(ppts) > 10 and samples > 500, (len(ppts), samples)
X
}
ok "--daikon is a trace with declared variables" daikon
page() {
    "$SUNDEW" -q invariants prog --html page.html >out && grep -q 'stack_pop' page.html &&
        grep -q 'CanFollow\|constraints hold' page.html
}
ok "the page has contracts and the graph of constraints" page

# ---- bad input
fails() { ! "$SUNDEW" -q invariants "$@" >out 2>&1; }
unknown() { echo 'CanFollow(stack_pusch, stack_pop)' >r; fails prog --constraints r && grep -q 'did you mean stack_push' out; }
ok "a constraint that names no function is told, with the nearest" unknown
unmatched() { echo 'Subdomain(stack_new, stack_clear)' >r; fails prog --constraints r && grep -q 'no variable in common' out; }
ok "two functions that do not match are told" unmatched
nonsense() { printf '# ok\nCanFollow stack_push\n' >r; fails prog --constraints r && grep -q 'r:2: no constraint' out; }
ok "a line that is no constraint is told, with its number" nonsense
binary() { head -c 100 /dev/zero >r; fails prog --constraints r && grep -q 'not a text file' out; }
ok "a file that is no text is told" binary
contradiction() {
    echo 'CanFollow(stack_clear, stack_pop)' >r
    "$SUNDEW" -q invariants prog --constraints r | grep -q 'refuted by CanFollow(stack_clear, stack_pop): s->cap = 1'
}
ok "what a constraint refutes is told with the sample" contradiction
options() {
    fails prog --rate 7 && fails prog --confidence x && fails prog --calls 0 -- ./prog && fails prog --check &&
        fails prog --acsl --header && fails prog --against stack.c && fails prog -- && fails && fails nosuch
}
ok "wrong options are errors" options
damaged() {
    s=$(echo .sundew/contracts/*.samples); cp "$s" keep
    for n in 20 500 5000; do head -c $n keep >"$s"; fails prog && grep -q 'record again' out || return 1; done
    cp keep "$s"
}
ok "a damaged recording is an error that says so" damaged

# ---- hard subjects
fresh hard
cat >hard.c <<'X'
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf back;
static volatile int sum;
__attribute__((noinline)) int often(int x) { return x + 1; }
__attribute__((noinline)) void leave(int n) { if (n >= 0) longjmp(back, 1); }
__attribute__((noinline)) int worker_step(int i) { return i * 2; }
static void *worker(void *arg)
{
    for (int i = 0; i < 5000; i++)
        sum += worker_step(i);
    return arg;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 30; i++)
        if (!setjmp(back))
            leave(i);
    for (int i = 0; i < 20000000; i++)
        sum = often(i);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
X
ok "threads, longjmp and a function that is called 20 million times are captured" \
    "$SUNDEW" -q capture -- cc -g -O1 hard.c -o prog -lpthread
hard() {
    "$SUNDEW" -q invariants prog -- ./prog >out 2>err || { cat err; return 1; }
    grep -q 'return == x + 1' out && grep -q 'did not return: leave 30' out && grep -q 'return == 2 \* i' out ||
        { cat out; return 1; }
}
ok "…and have contracts" hard
wide() {
    python3 - >wide.c <<'X'
print("struct w {")
for i in range(5000):
    print("    int f%d;" % i)
print("};\n__attribute__((noinline)) int first(struct w *w) { return ++w->f0; }")
print("static struct w one;\nint main(void) { for (int i = 0; i < 50; i++) first(&one); return 0; }")
X
    "$SUNDEW" -q capture -- cc -g wide.c -o wide && "$SUNDEW" invariants wide -- ./wide >out 2>err &&
        grep -q 'w->f0 == orig(w->f0) + 1' out && grep -q 'fields are left out' err
}
ok "a struct of 5,000 fields is cut, which is told" wide
crash() {
    cat >die.c <<'X'
#include <stdlib.h>
__attribute__((noinline)) int step(int *p) { return *p; }
int main(void) { int x = 3; for (int i = 0; i < 20; i++) step(&x); abort(); }
X
    "$SUNDEW" -q capture -- cc -g die.c -o die && "$SUNDEW" invariants die -- ./die >out 2>err
    grep -q 'p != NULL' out && grep -q 'signal 6' err || { cat out err; return 1; }
}
ok "a run that dies is used up to there" crash
nothing() {
    ! "$SUNDEW" -q invariants die -- true >out 2>&1 && grep -q 'ran nothing of die' out
}
ok_mounted "a command that does not run the program is told" nothing
hostile() {
    printf 'struct s { int n; };\nint f(struct s *s, const char *name) { return s->n + name[0]; }\nint main(void) { struct s s = { 1 }; for (int i = 0; i < 50; i++) f(&s, "\\033[31m</script>\\n"); return 0; }\n' >e.c
    "$SUNDEW" -q capture -- cc -g e.c -o e && "$SUNDEW" -q invariants e --html e.html -- ./e >out &&
        "$SUNDEW" -q invariants e >out && ! grep -q "$(printf '\033')" out && ! grep -q '</script>\\n' e.html
}
ok "hostile texts are escaped" hostile
done_testing
