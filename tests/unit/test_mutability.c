/*
 * Mutability on small subjects: the examples of the definition, with what each
 * stage says of them.
 */
#include "tree.h"
#include "compile.h"
#include "base/str.h"
#include "analysis/mutability/mutability_int.h"
#include <string.h>

typedef struct Subject {
    Compiled c;
    Calls *calls;
    Mutability *m;
} Subject;

static Subject subject(const char *source, const char *pipeline)
{
    Subject s = { .c = compiled(source) };
    Err err = { 0 };
    MutabilityPlan plan = { 0 };
    char *share = in_tree("share");

    s.calls = calls_open(s.c.program, &(CallsPlan){ .share = share }, &err);
    free(share);
    if (!s.calls)
        fail_msg("%s", err.msg);
    if (pipeline)
        assert_true(mut_pipeline_read(pipeline, &plan.stages, &err));
    s.m = mutability_new(s.c.program, s.calls, &plan);
    return s;
}

static void done(Subject *s)
{
    mutability_free(s->m);
    calls_close(s->calls);
    compiled_end(&s->c);
}

static const MutParam *param(const Subject *s, const char *fn, const char *name)
{
    const Function *f = program_function(s->c.program, fn);

    if (!f)
        fail_msg("no function %s", fn);
    for (unsigned i = 0; i < f->nparams; i++)
        if (!strcmp(f->params[i].name, name))
            return mutability_param(s->m, f, i);
    fail_msg("%s has no parameter %s", fn, name);
    return NULL;
}

static void add_reasons(const MutParam *p, Str *out)
{
    for (size_t i = 0; i < p->nreasons; i++)
        str_addf(out, " %s", mut_reason_name(p->reasons[i].kind));
}

static const char examples[] =
    "#include <string.h>\n"
    "#include <stddef.h>\n"
    "struct C { struct C *next; int x; };\n"
    "struct C *G;\n"
    "struct E { int f; }; struct D { struct E *e; }; struct CC { int n; struct D *d; };\n"
    "struct A { int f; };\n"
    "struct Client { struct C *data; };\n"
    "struct K { int v; };\n"
    "struct Info { int data[4]; };\n"
    "struct W { struct C *f; };\n"
    "struct Dt { int day; };\n"
    "struct Vec { struct Dt *items[8]; int n; };\n"
    "struct Sc { struct Vec *all; struct Dt *cached; };\n"
    "void m1(struct C *p1, int d) { if (d) p1->next = 0; }\n"
    "void m1i(struct C *p2, int d) { m1(p2, d); }\n"
    "void allW(struct C *p3, struct C *p4, struct C *p5)\n"
    "{ p4->next = p5; struct C *c = p3->next; c->next = 0; }\n"
    "void allR(struct C *p3, struct C *p4, struct C *p5)\n"
    "{ struct C *c = p3->next; p4->next = p5; c->next = 0; }\n"
    "int no1(struct C *p6) { return p6->next == 0; }\n"
    "int no2(struct C *p7) { return no1(p7); }\n"
    "void deep(struct CC *c) { struct D *d = c->d; struct E *e = d->e; e->f = 0; }\n"
    "void idx(struct A *a, struct A *b) { a[b->f].f = 0; }\n"
    "int al(struct C *p1, struct C *p2) { p1->next = 0; return p2->x; }\n"
    "void two(struct C *p3, struct C *p4) { p3->x = 0; p4->x = 0; }\n"
    "int use(struct C *u) { return u->x; }\n"
    "void re(struct C *d) { struct C t = {0}; d = &t; d->x = 12; use(d); }\n"
    "void upd(struct Client *c, struct C *nd) { c->data = nd; }\n"
    "void mut(struct Client *c) { c->data->x = 1; }\n"
    "struct K *head(struct K *t) { return t; }\n"
    "void reset(struct K *r) { r->v = 0; }\n"
    "void rsth(struct K *t) { reset(head(t)); }\n"
    "int first(struct Info *i) { return i->data[0]; }\n"
    "void set(struct Info *i) { i->data[0] = 1; }\n"
    "void cpy(int *d, int *s, size_t n) { memcpy(d, s, n); }\n"
    "int len(struct C *p) { return p ? 1 + len(p->next) : 0; }\n"
    "void ga(struct C *p) { (void)p; G->x = 1; }\n"
    "void gl(struct C *p) { G = p; ga(0); }\n"
    "void wm(struct W *w) { w->f->x = 1; }\n"
    "void wrap(struct C *p) { struct W w = {p}; wm(&w); }\n"
    "struct Dt *scan(struct Sc *s, struct Dt *d) { return s->cached ? s->cached : d; }\n"
    "void push(struct Vec *v, struct Dt *x) { v->items[v->n++] = x; }\n"
    "void add(struct Sc *s, struct Dt *d) { push(s->all, scan(s, d)); }\n"
    "int wrapper(struct C *arg) { return al(arg, arg); }\n"
    "void q(struct C *leaf) { leaf->next = 0; }\n"
    "void m(struct C *p1, struct C *p2, struct C *p3)\n"
    "{ p2->next = p1; struct C *c = p3->next; q(c); }\n"
    "void n(struct C *p1, struct C *p2) { m(p1, p2, p2); }\n";

/*
 * Deep verdict after S, SH, SH-P and all static stages, then own: m mutable,
 * i immutable, ? unknown.
 */
/* clang-format off */
static const struct expected {
    const char *function, *param, *deep;
    char own;
} expected[] = {
    { "m1",    "p1", "mmmm", 'm' },
    { "m1i",   "p2", "\?\?mm", 'm' },
    { "allW",  "p3", "mmmm", 'i' },
    { "allW",  "p4", "mmmm", 'm' },
    { "allW",  "p5", "\?\?\?\?", '?' },      /* mutable on allW(x, x, y) only */
    { "allR",  "p3", "mmmm", 'i' },
    { "allR",  "p4", "mmmm", 'm' },
    { "allR",  "p5", "\?\?\?i", 'i' },
    { "no1",   "p6", "iiii", 'i' },
    { "no2",   "p7", "\?\?ii", 'i' },
    { "deep",  "c",  "mmmm", 'i' },
    { "idx",   "a",  "mmmm", 'm' },
    { "idx",   "b",  "?iii", 'i' },
    { "al",    "p1", "mmmm", 'm' },
    { "al",    "p2", "?iii", 'i' },
    { "two",   "p3", "mmmm", 'm' },
    { "two",   "p4", "mmmm", 'm' },
    { "re",    "d",  "iiii", 'i' },
    { "upd",   "c",  "mmmm", 'm' },
    { "upd",   "nd", "\?\?\?i", 'i' },
    { "mut",   "c",  "mmmm", 'i' },
    { "head",  "t",  "iiii", 'i' },
    { "rsth",  "t",  "\?\?mm", 'm' },
    { "first", "i",  "iiii", 'i' },
    { "cpy",   "d",  "mmmm", 'm' },
    { "cpy",   "s",  "?iii", 'i' },
    { "len",   "p",  "\?\?ii", 'i' },
    { "ga",    "p",  "iiii", 'i' },
    { "gl",    "p",  "\?\?mm", 'm' },
    { "wm",    "w",  "mmmm", 'i' },
    { "wrap",  "p",  "\?\?mm", 'm' },
    { "scan",  "s",  "iiii", 'i' },
    { "scan",  "d",  "iiii", 'i' },
    { "add",   "s",  "\?\?mm", 'i' },
    { "add",   "d",  "\?\?\?i", 'i' },
    { "wrapper", "arg", "\?\?mm", 'm' },   /* the formal traces; tests/subjects/tags runs them */
    { "q",     "leaf", "mmmm", 'm' },
    { "m",     "p1", "\?\?\?\?", '?' },
    { "m",     "p2", "mmmm", 'm' },
    { "m",     "p3", "\?\?mm", 'i' },
    { "n",     "p1", "\?\?mm", 'm' },
    { "n",     "p2", "\?\?mm", 'm' },
};
/* clang-format on */

static char letter(const MutAnswer *a)
{
    return a->verdict == MUT_MUTABLE ? 'm' : a->verdict == MUT_IMMUTABLE ? 'i' : '?';
}

static void each_stage_says_what_it_can(void **state)
{
    static const char *const pipelines[] = { "S", "SH", "SH-P", NULL };
    Str wrong = { 0 };

    (void)state;
    for (int k = 0; k < 4; k++) {
        Subject s = subject(examples, pipelines[k]);
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            const struct expected *x = &expected[i];
            const MutParam *p = param(&s, x->function, x->param);
            if (letter(&p->deep) != x->deep[k]) {
                str_addf(&wrong, "\n%s:%s after %s: %c, not %c", x->function, x->param,
                         pipelines[k] ? pipelines[k] : "all", letter(&p->deep), x->deep[k]);
                add_reasons(p, &wrong);
            }
            if (k == 3 && letter(&p->own) != x->own)
                str_addf(&wrong, "\n%s:%s own: %c, not %c", x->function, x->param, letter(&p->own),
                         x->own);
        }
        done(&s);
    }
    if (wrong.len)
        fail_msg("%s", str_c(&wrong));
    str_release(&wrong);
}

static void a_mutation_has_a_witness(void **state)
{
    (void)state;
    Subject s = subject(examples, NULL);
    const MutParam *p = param(&s, "rsth", "t");
    assert_int_equal(p->nwitness, 2);
    assert_string_equal(p->witness[0].callee, "reset");
    assert_string_equal(p->witness[1].function->name, "reset");
    assert_string_equal(p->witness[1].path, "r->v");
    p = param(&s, "wrap", "p");
    assert_string_equal(p->witness[0].path, "p->x");
    assert_string_equal(p->witness[1].path, "w->f->x");
    p = param(&s, "deep", "c");
    assert_string_equal(p->witness[0].path, "c->d->e->f");
    assert_int_equal(p->level[0], MUT_IMMUTABLE);
    assert_int_equal(p->level[1], MUT_IMMUTABLE);
    assert_int_equal(p->level[2], MUT_MUTABLE);
    done(&s);
}

static void unknown_has_its_reasons(void **state)
{
    (void)state;
    Str text = { 0 };
    Subject s = subject(examples, NULL);
    add_reasons(param(&s, "allW", "p5"), &text);
    assert_string_equal(str_c(&text), " HEAP_STORE ALIAS_BLOCK");
    done(&s);
    s = subject(examples, "S-SH");
    str_reset(&text);
    add_reasons(param(&s, "no2", "p7"), &text);
    assert_string_equal(str_c(&text), " CALL");
    assert_string_equal(param(&s, "no2", "p7")->reasons[0].callee, "no1");
    str_reset(&text);
    add_reasons(param(&s, "gl", "p"), &text);
    assert_string_equal(str_c(&text), " GLOBAL_STORE");
    done(&s);
    str_release(&text);
}

static void what_else_is_known_of_a_parameter(void **state)
{
    (void)state;
    Subject s = subject(examples, NULL);
    assert_true(param(&s, "head", "t")->returned);
    assert_false(param(&s, "first", "i")->returned);
    assert_true(param(&s, "upd", "nd")->stored);
    assert_int_equal(param(&s, "no1", "p6")->direction, MUT_IN);
    assert_int_equal(param(&s, "reset", "r")->direction, MUT_OUT);
    assert_int_equal(param(&s, "push", "v")->direction, MUT_INOUT);
    assert_int_equal(param(&s, "ga", "p")->direction, MUT_UNTOUCHED);
    assert_true(param(&s, "no2", "p7")->const_able);
    assert_false(param(&s, "upd", "nd")->const_able);
    assert_false(param(&s, "head", "t")->const_able);
    assert_int_equal(mutability_purity(s.m, program_function(s.c.program, "len")), MUT_PURE);
    assert_int_equal(mutability_purity(s.m, program_function(s.c.program, "head")), MUT_CONST);
    assert_int_equal(mutability_purity(s.m, program_function(s.c.program, "m1")), MUT_IMPURE);
    done(&s);
}

/* With a main() the callers are known. */
static void unchanged_is_more_than_immutable(void **state)
{
    (void)state;
    Subject s =
        subject("struct C { int x; };\n"
                "int al(struct C *p1, struct C *p2) { p1->x = 0; return p2->x; }\n"
                "int sum(struct C *q1, struct C *q2) { q1->x = 0; return q2->x; }\n"
                "int main(void) { struct C a = {1}, b = {2}; return al(&a, &a) + sum(&a, &b); }\n",
                NULL);
    assert_int_equal(param(&s, "al", "p2")->deep.verdict, MUT_IMMUTABLE);
    assert_false(param(&s, "al", "p2")->unchanged);
    assert_true(param(&s, "sum", "q2")->unchanged);
    assert_true(param(&s, "sum", "q2")->own_unchanged);
    done(&s);
}

/* A table with a reader, and another one whose `get` reorders. */
static void ops_tables_are_kept_apart(void **state)
{
    (void)state;
    Subject s = subject(
        "struct C { struct C *next; int x; };\n"
        "struct ops { int (*get)(struct C *); };\n"
        "static int get(struct C *c) { return c->x; }\n"
        "static int get_lru(struct C *c) { c->next = 0; return c->x; }\n"
        "static struct ops plain = { get }, lru = { get_lru };\n"
        "int read_it(struct C *r) { return plain.get(r); }\n"
        "int move_it(struct C *w) { return lru.get(w); }\n"
        "int any(struct ops *o, struct C *a) { return o->get(a); }\n"
        "int main(int n, char **v)\n"
        "{ struct C c = {0}; return read_it(&c) + move_it(&c) + any(n ? &plain : &lru, &c); }\n",
        NULL);
    assert_int_equal(param(&s, "read_it", "r")->deep.verdict, MUT_IMMUTABLE);
    assert_int_equal(param(&s, "move_it", "w")->deep.verdict, MUT_MUTABLE);
    assert_true(param(&s, "move_it", "w")->deep.sound);
    /* some target writes: mutable, but nobody has shown that it is the one */
    assert_int_equal(param(&s, "any", "a")->deep.verdict, MUT_MUTABLE);
    assert_false(param(&s, "any", "a")->deep.sound);
    done(&s);
}

static const char hazards[] =
    "#include <stdarg.h>\n"
    "#include <stdint.h>\n"
    "#include <stdlib.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "struct C { struct C *next; int x; };\n"
    "struct H { struct C *c; long n; };\n"
    "struct B { struct C *c; long n[6]; };\n"
    "union U { struct C *p; uintptr_t u; };\n"
    "struct list { struct list *next; int v; };\n"
    "struct item { int k; struct list link; };\n"
    "void unknown(void *);\n"
    "void by_reg(struct H h) { h.c->x = 1; }\n"
    "int by_reg_ok(struct H h) { h.n = 2; return h.c->x; }\n"
    "void by_copy(struct B b) { b.c->x = 1; }\n"
    "int by_copy_ok(struct B b) { b.n[1] = 2; return b.c->x; }\n"
    "void calls_copy(struct C *p) { struct B b = { p }; by_copy(b); }\n"
    "int calls_copy_ok(struct C *p) { struct B b = { p }; return by_copy_ok(b); }\n"
    "void through_union(struct C *p) { union U u; u.p = p; union U v; v.u = u.u | 0; v.p->x = 1; }\n"
    "void through_int(struct C *p) { uintptr_t u = (uintptr_t)p; u += 8; *(int *)u = 1; }\n"
    "int hash_only(struct C *p) { uintptr_t u = (uintptr_t)p; return (int)(u >> 4) % 17; }\n"
    "static void take(uintptr_t u) { *(int *)u = 1; }\n"
    "void gives_int(struct C *p) { take((uintptr_t)p); }\n"
    "static void va(int n, ...) { va_list a; va_start(a, n); struct C *c = va_arg(a, struct C *);\n"
    "  c->x = n; va_end(a); }\n"
    "static int vr(int n, ...) { va_list a; va_start(a, n); struct C *c = va_arg(a, struct C *);\n"
    "  int x = c->x; va_end(a); return x; }\n"
    "void gives_va(struct C *p) { va(1, p); }\n"
    "int gives_vr(struct C *p) { return vr(1, p); }\n"
    "void clobber(int *p) { __asm__ volatile(\"\" : : \"r\"(p) : \"memory\"); }\n"
    "void asm_out(int *p) { __asm__(\"movl $1, %0\" : \"=m\"(*p)); }\n"
    "int asm_in(int *p) { int r; __asm__(\"movl %1, %0\" : \"=r\"(r) : \"m\"(*p)); return r; }\n"
    "void frees(struct C *p) { free(p); }\n"
    "void cast_away(const struct C *p) { ((struct C *)p)->x = 1; }\n"
    "void to_unknown(struct C *p) { unknown(p); }\n"
    "void in_local(struct C *p) { struct H h = { p, 1 }; unknown(&h); }\n"
    "int prints(char *s, int n) { return printf(\"%s %d\", s, n); }\n"
    "void counts(int *n) { printf(\"a%n\", n); }\n"
    "void fills(char *s, int n) { snprintf(s, 10, \"%d\", n); }\n"
    "int walks(char *s) { char *end; return (int)strtol(s, &end, 10) + *end; }\n"
    "void ends(char *s) { char *end; strtol(s, &end, 10); *end = 0; }\n"
    "static int less(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n"
    "static int weird(const void *a, const void *b) { *(int *)a = 0; return 0; }\n"
    "int *finds(int *k, int *base) { return bsearch(k, base, 4, 4, less); }\n"
    "int *spoils(int *k, int *base) { return bsearch(k, base, 4, 4, weird); }\n"
    "struct item *owner(struct list *l) { return (struct item *)((char *)l - 8); }\n"
    "void by_owner(struct list *l) { owner(l)->k = 3; }\n"
    "struct H *boxed(struct C *p) { struct H *h = malloc(sizeof *h); h->c = p; h->n = 0; return h; }\n"
    "void unboxes(struct C *p) { struct H *h = boxed(p); h->c->x = 1; free(h); }\n"
    "int looks(struct C *p) { struct H *h = boxed(p); int x = h->c->x; free(h); return x; }\n"
    "static int odd(struct C *p); static int even(struct C *p) { return p ? odd(p->next) : 1; }\n"
    "static int odd(struct C *p) { return p ? even(p->next) : 0; }\n"
    "int parity(struct C *p) { return even(p); }\n"
    "static int oddw(struct C *p); static int evenw(struct C *p) { return p ? oddw(p->next) : 1; }\n"
    "static int oddw(struct C *p) { p->x = 0; return evenw(p->next); }\n"
    "int parityw(struct C *p) { return evenw(p); }\n"
    "static void bytes(char *d, char *s, int n) { for (int i = 0; i < n; i++) d[i] = s[i]; }\n"
    "void by_bytes(struct H *h) { struct H c; bytes((char *)&c, (char *)h, sizeof c); c.c->x = 1; }\n"
    "int by_bytes_ok(struct H *h) { struct H c; bytes((char *)&c, (char *)h, sizeof c); return c.c->x; }\n"
    "void own_copy(struct H *h) { struct H c = *h; c.c->x = 1; }\n"
    "int own_copy_ok(struct H *h) { struct H c = *h; c.n = 3; return c.c->x; }\n"
    "struct C *seen; static struct C *hidden, *inner; static void touch(void) { inner->x = 1; }\n"
    "void kept_twice(struct C *p) { seen = p; inner = p->next; touch(); unknown(0); }\n"
    "void kept_twice_ok(struct C *p) { hidden = p; inner = p->next; touch(); unknown(0); }\n"
    "int peeks(void) { return hidden->x; }\n";

static const struct hazard {
    const char *function, *param;
    char deep, own;
    const char *reason;
} hazard[] = {
    { "by_reg", "h", 'm', 'i', NULL },
    { "by_reg_ok", "h", 'i', 'i', NULL },
    { "by_copy", "b", 'm', 'i', NULL },
    { "by_copy_ok", "b", 'i', 'i', NULL },
    { "calls_copy", "p", 'm', 'm', NULL },
    { "calls_copy_ok", "p", 'i', 'i', NULL },
    { "through_union", "p", 'm', 'm', NULL },
    { "through_int", "p", 'm', 'm', NULL },
    { "hash_only", "p", '?', '?', " COMPARED" },
    { "gives_int", "p", 'm', 'm', NULL },
    { "gives_va", "p", 'm', 'm', NULL },
    { "gives_vr", "p", 'i', 'i', NULL },
    { "clobber", "p", '?', '?', " ASM" },
    { "asm_out", "p", 'm', 'm', NULL },
    { "asm_in", "p", 'i', 'i', NULL },
    { "frees", "p", 'm', 'm', NULL },
    { "cast_away", "p", 'm', 'm', NULL },
    { "to_unknown", "p", '?', '?', " NO_BODY" },
    { "in_local", "p", '?', '?', NULL },
    { "prints", "s", 'i', 'i', NULL },
    { "counts", "n", 'm', 'm', NULL },
    { "fills", "s", 'm', 'm', NULL },
    { "walks", "s", 'i', 'i', NULL },
    { "ends", "s", 'm', 'm', NULL },
    { "finds", "base", 'i', 'i', NULL },
    { "finds", "k", 'i', 'i', NULL },
    { "spoils", "k", 'm', 'm', NULL },
    { "by_owner", "l", 'm', 'm', NULL },
    { "boxed", "p", 'i', 'i', NULL },
    { "unboxes", "p", 'm', 'm', NULL },
    { "looks", "p", 'i', 'i', NULL },
    { "parity", "p", 'i', 'i', NULL },
    { "parityw", "p", 'm', 'i', NULL },
    { "by_bytes", "h", 'm', 'i', NULL },
    { "by_bytes_ok", "h", 'i', 'i', NULL },
    { "own_copy", "h", 'm', 'i', NULL },
    { "own_copy_ok", "h", 'i', 'i', NULL },
    /* that what lies deeper is written does not settle what unknown() may write */
    { "kept_twice", "p", 'm', '?', NULL },
    { "kept_twice_ok", "p", 'm', 'i', NULL },
};

static void hazards_of_c(void **state)
{
    (void)state;
    Str wrong = { 0 };
    Subject s = subject(hazards, NULL);
    for (size_t i = 0; i < sizeof hazard / sizeof *hazard; i++) {
        const struct hazard *x = &hazard[i];
        const MutParam *p = param(&s, x->function, x->param);
        Str reasons = { 0 };
        add_reasons(p, &reasons);
        if (letter(&p->deep) != x->deep || letter(&p->own) != x->own ||
            (x->reason && strcmp(x->reason, str_c(&reasons))))
            str_addf(&wrong, "\n%s:%s: %c %c, not %c %c%s", x->function, x->param, letter(&p->deep),
                     letter(&p->own), x->deep, x->own, str_c(&reasons));
        str_release(&reasons);
    }
    assert_int_equal(param(&s, "frees", "p")->direction, MUT_CONSUMED);
    assert_true(param(&s, "cast_away", "p")->declared_const);
    done(&s);
    if (wrong.len)
        fail_msg("%s", str_c(&wrong));
    str_release(&wrong);
}

/* Best effort believes the const-ness of what is only perhaps written: an array of
 * pointers on the heap, of which a callback gets another element. */
static void a_guess_by_memory_stays_a_guess_through_pointers(void **state)
{
    (void)state;
    Subject s = subject("#include <stdlib.h>\n"
                        "static int one(char **to) { **to = 1; return 1; }\n"
                        "static int two(char **to) { **to = 2; return 2; }\n"
                        "int (*fn)(char **to);\n"
                        "void choose(int i) { fn = i ? one : two; }\n"
                        "void other(char *p, int i) { char **a = malloc(80); a[i] = p;\n"
                        "  a[i + 1] = malloc(1); char *t = a[i + 1]; fn(&t); }\n"
                        "void same(char *p) { char *t = p; fn(&t); }\n",
                        "S-SH-P-M-L");
    const MutParam *other = param(&s, "other", "p"), *same = param(&s, "same", "p");
    assert_int_equal(other->own.verdict, MUT_IMMUTABLE);
    assert_int_equal(other->own.stage, MUT_BY_L);
    assert_false(other->own.sound);
    assert_int_equal(same->own.verdict, MUT_MUTABLE);
    done(&s);
}

static void observations_refine_unknowns_only(void **state)
{
    (void)state;
    Subject s = subject(examples, NULL);
    const Function *fn = program_function(s.c.program, "allW");
    MutWrite w = { .file = "a.c", .line = 17 };
    vec_push(&w.stack, fn);
    vec_push(&w.stack, program_function(s.c.program, "q"));
    mutability_observe(s.m, fn, 2, &w);
    const MutParam *p = param(&s, "allW", "p5");
    assert_int_equal(p->deep.verdict, MUT_MUTABLE);
    assert_int_equal(p->deep.stage, MUT_BY_D);
    assert_int_equal(p->own.verdict, MUT_MUTABLE);
    assert_int_equal(p->nwitness, 2);
    assert_string_equal(p->witness[0].callee, "q");
    assert_int_equal(p->witness[1].line, 17);
    assert_string_equal(p->witness[1].function->name, "q");
    mutability_observe(s.m, program_function(s.c.program, "allR"), 2, &w);
    vec_release(&w.stack);
    assert_int_equal(param(&s, "allR", "p5")->deep.stage, MUT_BY_M);
    done(&s);
}

/* What stage L takes for a write that is meant for another; and a twin of each that
 * is meant. */
static const char meant[] =
    "#include <stdarg.h>\n"
    "#include <stdlib.h>\n"
    "static int sum;\n"
    "static void elsewhere(const char *s) { sum += *s; }\n"
    "char *unknown(char *);\n"
    "char *(*from_outside)();\n"
    "static void say(const char *f, ...)\n"
    "{ va_list a; va_start(a, f);\n"
    "  for (; *f; f++) {\n"
    "    if (*f == 'd') (void)va_arg(a, int);\n"
    "    else if (*f == 'n') *va_arg(a, int *) = 1;\n"
    "    else if (*f == 'z') free(va_arg(a, char *));\n"
    "    else if (*f == 's' || *f == 'q') elsewhere(va_arg(a, char *)); }\n"
    "  va_end(a); }\n"
    "void says(char *s) { say(\"%d %s\", 1, s); }\n"
    "void quotes(char *s) { say(\"%q\", \"abc\"); say(\"<%5.3q>\", s); }\n"
    "void ends(char *s) { say(\"%z\", s); }\n"
    "void counts(int *n) { say(\"%d %n\", 1, n); }\n"
    "void by_variable(char *f, char *s) { say(f, s); }\n"
    "static void scan(const char *f, ...)\n"
    "{ va_list a; va_start(a, f); *va_arg(a, char *) = *f; va_end(a); }\n"
    "void scans(char *s) { int n; scan(\"%d\", &n); scan(\"%s\", s); }\n"
    "struct entry { const char *name; int (*now)(char *); };\n"
    "static int reads(char *p) { return *p; }\n"
    "static int writes(char *p) { return *p = 1; }\n"
    "static struct entry table[] = { { \"r\", reads }, { \"w\", writes } };\n"
    "void move(int i, int k) { table[i].now = table[k].now; }\n"
    "int first(char *p) { return table[0].now(p); }\n"
    "int second(char *p) { return table[1].now(p); }\n"
    "int any(int i, char *p) { return table[i].now(p); }\n"
    "struct node { int n; };\n"
    "union minor { char *text; struct node *node; };\n"
    "union one { char *text; long n; };\n"
    "static void drop(int k, union minor *m) { if (k) m->node->n = 0; }\n"
    "static void blank(int k, union one *m) { if (k) *m->text = 0; }\n"
    "void as_union(int k, char *p) { union minor m; m.text = p; drop(k, &m); }\n"
    "void as_one(int k, char *p) { union one m; m.text = p; blank(k, &m); }\n"
    "struct buffer { char *text, *own; };\n"
    "static void fill(struct buffer *b) { b->text = b->own; b->text[0] = 1; }\n"
    "static void step(struct buffer *b) { b->text = b->text + 1; b->text[0] = 1; }\n"
    "void replaced(char *p) { struct buffer b = { p, malloc(4) }; fill(&b); }\n"
    "void moved(char *p) { struct buffer b = { p, malloc(4) }; step(&b); }\n"
    "void put(struct buffer *b, char *p) { b->text = p; b->text[0] = 1; }\n"
    "void returned(char *p) { char *q = from_outside(p); *q = 0; }\n"
    "void no_body(char *p) { char *q = unknown(p); *q = 0; }\n";

static void what_is_meant_for_another_is_likely_no_write(void **state)
{
    static const struct {
        const char *function, *param;
        char own;
        const char *reason;
    } cases[] = {
        { "says", "s", 'i', "PRINTED" },
        { "quotes", "s", 'i', "PRINTED" },       /* a literal was printed so, too */
        { "ends", "s", 'm', NULL },
        { "counts", "n", 'm', NULL },
        { "by_variable", "s", 'm', NULL },
        { "scans", "s", 'm', NULL },
        { "first", "p", 'i', "TABLE" },
        { "second", "p", 'm', NULL },
        { "any", "p", 'm', NULL },
        { "as_union", "p", 'i', "MEMBER" },
        { "as_one", "p", 'm', NULL },
        { "replaced", "p", 'i', "REPLACED" },
        { "moved", "p", 'm', NULL },
        { "put", "p", 'm', NULL },
        { "returned", "p", 'i', "RETURNED" },
        { "no_body", "p", 'm', NULL },
    };
    Str wrong = { 0 };

    (void)state;
    Subject s = subject(meant, "S-SH-P-M-L"), sound = subject(meant, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MutParam *p = param(&s, cases[i].function, cases[i].param);
        Str why = { 0 };
        add_reasons(p, &why);
        if (letter(&p->own) != cases[i].own ||
            (cases[i].reason && !strstr(str_c(&why), cases[i].reason)))
            str_addf(&wrong, "\n%s: %c, not %c;%s", cases[i].function, letter(&p->own),
                     cases[i].own, str_c(&why));
        /* never an answer of the sound stages */
        p = param(&sound, cases[i].function, cases[i].param);
        if (p->own.verdict == MUT_IMMUTABLE ||
            (cases[i].own == 'i' && p->own.sound && p->own.verdict == MUT_MUTABLE))
            str_addf(&wrong, "\n%s, sound: %c", cases[i].function, letter(&p->own));
        str_release(&why);
    }
    done(&s);
    done(&sound);
    if (wrong.len)
        fail_msg("%s", str_c(&wrong));
    str_release(&wrong);
}

/* Calls of code that nobody sees, through pointers whose types have const or not. `ops` has a
 * shape of its own, `twin_a` and `twin_b` have one shape and disagree. */
static const char outside[] =
    "struct pair { char *a, *b; };\n"
    "struct ops { long n; int (*look)(const char *); int (*touch)(char *); \n"
    "  void (*see)(const struct pair *); void (*go)(void); const char *(*find)(const char *); };\n"
    "struct twin_a { short n; int (*f)(const char *); };\n"
    "struct twin_b { short n; int (*f)(char *); };\n"
    "int looks(struct ops *o, char *s) { return o->look(s); }\n"
    "int touches(struct ops *o, char *s) { return o->touch(s); }\n"
    "int called(int (*f)(const char *), char *s) { return f(s); }\n"
    "int same_shape(struct twin_a *o, char *s) { return o->f(s); }\n"
    "void unused(struct twin_b *o, char *s) { o->f(s); }\n"
    "void shows(struct ops *o, struct pair *p) { o->see(p); }\n"
    "void later(struct ops *o, char *y, char *z)\n"
    "{ struct pair p = { y, 0 }; o->see(&p); p.b = z; o->go(); }\n"
    "static void show(struct ops *o, struct pair *p) { o->see(p); }\n"
    "void far_later(struct ops *o, char *y, char *z)\n"
    "{ struct pair p = { y, 0 }; show(o, &p); p.b = z; o->go(); }\n"
    "void finds(struct ops *o, char *s) { char *q = (char *)o->find(s); *q = 0; }\n"
    "int (*handler)(const char *), (*taker)(char *), (*table[4])(const char *);\n"
    "int handled(char *s) { return handler(s); }\n"
    "int taken(char *s) { return taker(s); }\n"
    "int by_table(char *s, int n) { return table[n & 3](s); }\n";
static const char exported[] =
    "struct ops { long n; int (*look)(const char *, long); };\n"
    "int writes(char *s, long n) { return s[n] = 1; }\n"
    "int looks(struct ops *o, char *s) { return o->look(s, o->n); }\n"
    "struct ops *given(struct ops *o) { o->look = (int (*)(const char *, long))writes; return o; }\n";
/* All that is called is known, or comes from outside as the functions here do. */
static const char only_callbacks[] =
    "struct ops { int (*f)(char *), (*g)(const char *); }; int (*taker)(char *), (*viewer)(const char *);\n"
    "int by_variable(char *s) { return taker(s); }\n"
    "int by_member(struct ops *o, char *s) { return o->f(s); }\n"
    "int by_parameter(int (*f)(char *), char *s) { return f(s); }\n"
    "int shown_by_variable(char *s) { return viewer(s); }\n"
    "int shown_by_member(struct ops *o, char *s) { return o->g(s); }\n";
static const char broken[] = "struct ops { long n; int (*look)(const char *, long); };\n"
                             "int breaks(const char *s, long n) { return ((char *)s)[n] = 1; }\n"
                             "int looks(struct ops *o, char *s) { return o->look(s, o->n); }\n";

static void code_outside_keeps_its_const(void **state)
{
    static const struct {
        const char *function, *param;
        bool own;                                /* proven */
    } cases[] = {
        { "looks", "s", true },       { "touches", "s", false }, { "called", "s", true },
        { "same_shape", "s", false }, { "unused", "s", false },  { "shows", "p", true },
        { "later", "y", false },      { "later", "z", false },   { "far_later", "y", false },
        { "far_later", "z", false },  { "finds", "s", false },   { "handled", "s", true },
        { "taken", "s", false },      { "by_table", "s", true },
    };

    (void)state;
    Subject s = subject(outside, NULL), t = subject(exported, NULL), u = subject(broken, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MutParam *p = param(&s, cases[i].function, cases[i].param);
        if ((p->own.verdict == MUT_IMMUTABLE && p->own.sound) != cases[i].own)
            fail_msg("%s(%s): %c", cases[i].function, cases[i].param, letter(&p->own));
        assert_int_not_equal(p->deep.verdict, MUT_IMMUTABLE);
    }
    /* the function that is called may be this one */
    assert_int_not_equal(param(&t, "looks", "s")->own.verdict, MUT_IMMUTABLE);
    assert_int_not_equal(param(&u, "looks", "s")->own.verdict, MUT_IMMUTABLE);
    done(&s);
    done(&t);
    done(&u);
    s = subject(only_callbacks, NULL);
    assert_int_equal(param(&s, "by_variable", "s")->own.verdict, MUT_UNKNOWN);
    assert_int_equal(param(&s, "by_member", "s")->own.verdict, MUT_UNKNOWN);
    assert_int_equal(param(&s, "by_parameter", "s")->own.verdict, MUT_UNKNOWN);
    assert_int_equal(param(&s, "shown_by_variable", "s")->own.verdict, MUT_IMMUTABLE);
    assert_int_equal(param(&s, "shown_by_member", "s")->own.verdict, MUT_IMMUTABLE);
    done(&s);
}

/* A static library with hidden symbols: others link with it all the same. */
static const char hidden[] = "#pragma GCC visibility push(hidden)\n"
                             "struct job { void (*done)(char *); };\n"
                             "static int sum;\n"
                             "static void reads(char *s) { sum += *s; }\n"
                             "void set(struct job *j, void (*done)(char *)) { j->done = done; }\n"
                             "void plain(struct job *j) { set(j, reads); }\n"
                             "void ends(struct job *j, char *s) { j->done(s); }\n";

static void hidden_functions_of_an_archive_are_called(void **state)
{
    (void)state;
    Subject s = subject(hidden, NULL);
    assert_int_not_equal(param(&s, "ends", "s")->own.verdict, MUT_IMMUTABLE);
    done(&s);
}

/* The address of a box, or the pointer itself, goes on as a number. */
static const char numbers[] =
    "struct box { long n; int *p; }; static struct box *boxes;\n"
    "void *malloc(unsigned long); void *dlsym(void *, const char *); int main(void);\n"
    "long double ldexpl(long double, int); long write(int, const void *, unsigned long);\n"
    "long read(int, void *, unsigned long); int *kept;\n"
    "void start(void) { boxes = malloc(sizeof *boxes); }\n"
    "void negated(int *p) { unsigned long x = -(unsigned long)p; *(int *)-x = 1; }\n"
    "void index_of_null(int *p) { char *z = 0; *(int *)(z + (unsigned long)p) = 1; }\n"
    "int *again(void) { return *(int **)dlsym(0, \"kept\"); }\n"
    "void scaled(int *p) { kept = p; union { int *p; long double d; } u = { again() };\n"
    "    u.d = ldexpl(u.d, 0); *u.p = 1; }\n"
    "void boxed(int *p) { struct box *b; boxes->p = p; write(3, &boxes, 8); read(4, &b, 8); *b->p = 1; }\n"
    "static struct box *other; void start2(void) { other = malloc(sizeof *other); }\n"
    "int boxed_ok(int *p) { other->p = p; return *other->p; }\n"
    "long length(char *s, char *e) { return e - s; }\n"
    "int main(void) { int i, n[9]; char t[9]; start(); start2(); negated(&i); index_of_null(n);\n"
    "    scaled(n + 1); boxed(n + 2); boxed_ok(n + 3); return length(t, t + 8); }\n";

static void pointers_that_are_numbers_are_followed_or_not_judged(void **state)
{
    (void)state;
    Subject s = subject(numbers, NULL);
    assert_int_equal(param(&s, "negated", "p")->own.verdict, MUT_MUTABLE);
    assert_int_equal(param(&s, "index_of_null", "p")->own.verdict, MUT_MUTABLE);
    assert_int_not_equal(param(&s, "scaled", "p")->own.verdict, MUT_IMMUTABLE);
    assert_int_not_equal(param(&s, "boxed", "p")->own.verdict, MUT_IMMUTABLE);
    assert_int_equal(param(&s, "boxed_ok", "p")->own.verdict, MUT_IMMUTABLE);
    assert_true(param(&s, "boxed_ok", "p")->own.sound);
    assert_int_equal(param(&s, "length", "s")->own.verdict, MUT_IMMUTABLE);
    assert_int_equal(param(&s, "length", "e")->own.verdict, MUT_IMMUTABLE);
    done(&s);
}

static const char scanned[] =
    "int sscanf(const char *, const char *, ...); int vprintf(const char *, __builtin_va_list);\n"
    "int printf(const char *, ...); int parse(const char *t) { int n; return sscanf(t, \"%d%n\", &n, &n); }\n"
    "void say(const char *f, ...) { __builtin_va_list a; __builtin_va_start(a, f); vprintf(f, a);\n"
    "    __builtin_va_end(a); }\n"
    "void tells(char *s) { say(\"%s\", s); }\n"
    "#ifdef PRINTED\nint counts(int *n) { return printf(\"x%n\", n); }\n#endif\n";

/* %n writes for scanf() too, but a text that only scanf() gets is no format of printf(). */
static void formats_of_scanf_are_not_printed(void **state)
{
    (void)state;
    Subject s = subject(scanned, NULL);
    assert_int_not_equal(param(&s, "tells", "s")->own.verdict, MUT_MUTABLE);
    done(&s);
    char *more = xprintf("#define PRINTED\n%s", scanned);
    s = subject(more, NULL);
    assert_int_equal(param(&s, "tells", "s")->own.verdict, MUT_MUTABLE);
    assert_false(param(&s, "tells", "s")->own.sound);
    done(&s);
    free(more);
}

static const char made[] =
    "int snprintf(char *, unsigned long, const char *, ...); long read(int, void *, unsigned long);\n"
    "void *from_nowhere(void) { unsigned long n; read(0, &n, 8); return (void *)n; }\n"
    "int text(char *s, char *t) { return snprintf(t, 9, \"%s\", s); }\n"
    "int number(char *s, char *t) { return snprintf(t, 9, \"%ld\", (long)s); }\n"
    "int hashed(char *s) { return (unsigned long)s % 17 == 0; }\n";

static void a_program_that_makes_pointers_of_numbers(void **state)
{
    (void)state;
    Subject s = subject(made, "S-SH-P-M");
    assert_true(param(&s, "text", "s")->own.verdict == MUT_IMMUTABLE &&
                param(&s, "text", "s")->own.sound);
    assert_int_equal(param(&s, "number", "s")->own.verdict, MUT_UNKNOWN);
    assert_int_equal(param(&s, "hashed", "s")->own.verdict, MUT_UNKNOWN);
    done(&s);
    s = subject(made, "S-SH-P-M-L");
    assert_int_equal(param(&s, "number", "s")->own.verdict, MUT_UNKNOWN);
    assert_int_equal(param(&s, "hashed", "s")->own.verdict, MUT_IMMUTABLE);
    assert_false(param(&s, "hashed", "s")->own.sound);
    done(&s);
}

/* Numbers come back in memory: nothing makes a pointer of one by a cast. */
static const char in_memory[] =
    "int snprintf(char *, unsigned long, const char *, ...); int sscanf(const char *, const char *, ...);\n"
    "unsigned long strtoul(const char *, char **, int); void *memcpy(void *, const void *, unsigned long);\n"
    "struct S { long a; struct S *next; };\n"
    "int number(struct S *p, char *t) { return snprintf(t, 9, \"%lx\", (long)p); }\n"
    "#if WAY == 1\nstatic union { unsigned long n; struct S *p; } u;\n"
    "void back(const char *t) { u.n = strtoul(t, 0, 16); u.p->a = 1; }\n"
    "#elif WAY == 2\nstatic unsigned long n;\n"
    "void back(const char *t) { struct S *p; sscanf(t, \"%lx\", &n); memcpy(&p, &n, 8); p->a = 1; }\n"
    "#elif WAY == 3\nstatic struct S *p;\n"
    "void back(const char *t) { unsigned long n = strtoul(t, 0, 16);\n"
    "  for (int i = 0; i < 8; i++) ((char *)&p)[i] = n >> 8 * i;\n  p->a = 1; }\n"
    "#elif WAY == 4\nstatic unsigned long n[2]; static struct { long a; struct S *p; } to;\n"
    "void back(const char *t) { n[1] = strtoul(t, 0, 16); memcpy(&to, n, 16); to.p->a = 1; }\n"
    "#elif WAY == 5\nvoid back(const char *t) { unsigned long n; sscanf(t, \"%lx\", &n); ((struct S *)n)->a = 1; }\n"
    "#else\nstatic struct { unsigned long n; struct S *p; } u; static struct S other;\n"
    "void back(const char *t) { u.n = strtoul(t, 0, 16); u.p = &other; u.p->a = u.n; }\n#endif\n"
    "#ifndef LIBRARY\nint main(void) { struct S s; char t[9]; number(&s, t); back(t); return 0; }\n#endif\n";

/* In a library the client may do it. */
static void numbers_come_back_in_memory(void **state)
{
    (void)state;
    for (int way = 1; way <= 7; way++) {
        char *source =
            xprintf("#define WAY %d\n%s%s", way, way == 7 ? "#define LIBRARY\n" : "", in_memory);
        Subject s = subject(source, "S-SH-P-M");
        bool immutable = param(&s, "number", "p")->own.verdict == MUT_IMMUTABLE;
        if (immutable != (way == 6))
            fail_msg("way %d", way);
        done(&s);
        free(source);
    }
}

/* A buffer that is lent to the library is read and written by other names. */
static const char lent[] =
    "typedef struct F F; int setvbuf(F *, char *, int, unsigned long); F *tmpfile(void);\n"
    "F *fmemopen(void *, unsigned long, const char *); int fflush(F *);\n"
    "struct S { long a; }; static struct S *box, *mine; static F *f;\n"
    "#ifdef LENT\nvoid open(void) { f = fmemopen(&box, 8, \"r\"); }\n#endif\n"
    "void put(struct S *p) { box = p; fflush(f); }\n"
    "void keep(struct S *p) { mine = p; fflush(f); }\n";

static void buffers_of_streams_have_other_names(void **state)
{
    (void)state;
    char *source = xprintf("#define LENT\n%s", lent);
    Subject s = subject(source, "S-SH-P-M"), t = subject(lent, "S-SH-P-M");
    assert_int_equal(param(&s, "put", "p")->own.verdict, MUT_UNKNOWN);
    assert_int_equal(param(&s, "keep", "p")->own.verdict, MUT_IMMUTABLE);
    assert_int_equal(param(&t, "put", "p")->own.verdict, MUT_IMMUTABLE);
    done(&s);
    done(&t);
    free(source);
}

/* A stored reference is loaded again, and goes through a function with variadic arguments. */
static const char listed[] =
    "struct S { long a; }; static _Thread_local struct S *kept;\n"
    "static struct S *hop(struct S *p) { kept = p; return kept; }\n"
    "static struct S *first(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n);\n"
    "  struct S *p = *(struct S **)((char *)a->reg_save_area + 8); __builtin_va_end(a); return p; }\n"
    "static int count(int n, ...) { return n; }\n"
    "void writes(struct S *p) { first(1, hop(p))->a = 1; }\n"
    "int counts(struct S *p) { return count(1, hop(p)); }\n";

static void variadic_arguments_are_returned(void **state)
{
    (void)state;
    Subject s = subject(listed, "S-SH-P-M");
    assert_int_not_equal(param(&s, "writes", "p")->own.verdict, MUT_IMMUTABLE);
    assert_int_equal(param(&s, "counts", "p")->own.verdict, MUT_IMMUTABLE);
    done(&s);
}

static const char decided[] =
    "#include <stdint.h>\n"
    "struct S { long a; struct S *next; }; static char table[256]; static struct S *kept;\n"
    "extern int more(void), sizes(char *);\n"
    "int loop(struct S *p) { unsigned n = (uintptr_t)p >> 8 & 255, k = 0; while (k < n) k++; return k; }\n"
    "long size(struct S *p) { char t[(uintptr_t)p >> 8]; return sizes(t); }\n"
    "int index(struct S *p) { return table[(uintptr_t)p >> 12 & 255]; }\n"
    "long place(struct S *p) { char *q = &table[(uintptr_t)p & 255]; return q - table; }\n"
    "int branch(struct S *p) { return (uintptr_t)p >> 13 & 1 ? 1 : 0; }\n"
    "int less(struct S *p) { uintptr_t y = 0; for (uintptr_t b = 1ul << 62; b; b >>= 1) if ((uintptr_t)p >= y + b) y += b;\n"
    "  return y > 77; }\n"
    "int guessed(struct S *p) { for (uintptr_t y = 4096;; y += 8) if ((struct S *)y == p) return y > 5555; }\n"
    "int known(struct S *p) { return p == (struct S *)0x5d4c3b2a1000; }\n"
    "int stored(struct S *p) { kept = p; unsigned n = (uintptr_t)kept >> 8 & 255, k = 0; while (k < n) k++; return k; }\n"
    "static union { uintptr_t n; struct S *p; } u; extern uintptr_t tried(void);\n"
    "int counted(struct S *p) { u.p = kept; do u.n = tried(); while (u.p != p); return u.n > 5555; }\n"
    "void jump(struct S *p) { ((void (*)(void))((uintptr_t)more + ((uintptr_t)p >> 4 & 240)))(); }\n"
    "int same(struct S *p, struct S *q) { return p == q; }\n";

static const char whole[] =
    "#include <stdint.h>\n"
    "struct S { int a; struct S *next; }; static struct S *kept;\n"
    "void keep(struct S *p) { kept = p; }\n"
    "int ranged(struct S *p, struct S *end) { int n = 0; while (p && p < end && p != (struct S *)-1) n += p++->a; return n; }\n"
    "int aligned(struct S *p) { return (uintptr_t)p % 8 == 0 && !((uintptr_t)p & 15) ? p->a : 0; }\n"
    "int chained(struct S *p) { int n = 0; for (; p != kept; p = p->next) n += p->a; return n; }\n";

/* What bits of a pointer decide may tell them: where a loop ends, how large an array is. That
 * it is one of several pointers, or its alignment, does not, if nobody makes up pointers. */
static void bits_that_decide_are_no_sound_answer(void **state)
{
    static const char *const told[] = {
        "loop",    "size",  "index",  "place", "branch", "less",
        "guessed", "known", "stored", "jump",  "same",   "counted"
    };
    static const char *const sound[] = { "ranged", "aligned", "chained" };

    (void)state;
    Subject s = subject(decided, "S-SH-P-M");
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (param(&s, told[i], "p")->own.verdict != MUT_UNKNOWN)
            fail_msg("%s", told[i]);
    done(&s);
    s = subject(whole, "S-SH-P-M");
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        if (param(&s, sound[i], "p")->deep.verdict != MUT_IMMUTABLE ||
            !param(&s, sound[i], "p")->deep.sound)
            fail_msg("%s", sound[i]);
    done(&s);
}

static const char offers[] =
    "struct ops { long n; int (*look)(const char *); int (*take)(char *, long); };\n"
    "int shown(struct ops *o, char *s) { return o->look(s); }\n"
    "int offered(struct ops *o, char *s) { return o->take(s, 1); }\n"
    "int through(struct ops *o, char *s) { return offered(o, s); }\n"
    "int deeper(struct ops *o, char **s) { return o->take(*s, 2); }\n"
    "struct held { int (*f)(char *); char *s; };\n"
    "static int again(struct held *h) { return h->f(h->s); }\n"
    "int stored(struct held *h, char *s) { h->s = s; return again(h); }\n"
    "int kept(struct held *h, char *s) { h->s = s; return 0; }\n";

/* Who takes a pointer without const is likely to write. */
static void what_is_offered_is_likely_written(void **state)
{
    static const char *const unknown[] = { "offered", "through", "stored" };
    static const char *const likely[] = { "shown", "deeper", "kept" };

    (void)state;
    Subject s = subject(offers, "S-SH-P-M-L");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(param(&s, unknown[i], "s")->own.verdict, MUT_UNKNOWN);
        assert_int_equal(param(&s, unknown[i], "s")->deep.verdict, MUT_UNKNOWN);
        assert_int_equal(param(&s, likely[i], "s")->own.verdict, MUT_IMMUTABLE);
    }
    done(&s);
}

static const char declared[] = "static int reads(char *p) { return *p; }\n"
                               "static int writes(char *p) { return *p = 1; }\n"
                               "static int (*table[])(char *) = { reads, writes };\n"
                               "int any(int i, const char *p) { return table[i]((char *)p); }\n"
                               "int through(int i, char *p) { return any(i, p); }\n"
                               "int some(int i, char *p) { return table[i](p); }\n"
                               "int twin(int i, char *p) { return some(i, p); }\n"
                               "int surely(const char *p) { return *(char *)p = 1; }\n"
                               "int sure(char *p) { return surely(p); }\n";

static void a_const_on_the_way_is_believed(void **state)
{
    Str why = { 0 };

    (void)state;
    Subject s = subject(declared, "S-SH-P-M-L"), sound = subject(declared, NULL);
    const MutParam *p = param(&s, "through", "p");
    add_reasons(p, &why);
    assert_int_equal(p->own.verdict, MUT_IMMUTABLE);
    assert_false(p->own.sound);
    assert_non_null(strstr(str_c(&why), "DECLARED"));
    assert_int_equal(param(&s, "twin", "p")->own.verdict, MUT_MUTABLE);
    assert_int_equal(param(&s, "sure", "p")->own.verdict, MUT_MUTABLE);
    assert_int_not_equal(param(&sound, "through", "p")->own.verdict, MUT_IMMUTABLE);
    str_release(&why);
    done(&s);
    done(&sound);
}

static void pipelines_are_words_of_stages(void **state)
{
    (void)state;
    unsigned stages;
    Err err = { 0 };
    assert_true(mut_pipeline_read("SH-P-M", &stages, &err));
    assert_int_equal(stages, MUT_BY_SH | MUT_BY_P | MUT_BY_M);
    assert_false(mut_pipeline_read("S-Q", &stages, &err));
    assert_non_null(strstr(err.msg, "S-Q"));
    assert_false(mut_pipeline_read("", &stages, &err));
}

/* ---- work: by counting the places that are gone through */

/* `kinds` of objects in one list, of which a function makes copies. */
static size_t work_of_copies(unsigned kinds)
{
    Str source = { 0 };
    str_add(&source, "#include <string.h>\n"
                     "struct head { int kind; }; struct head *list[2];\n"
                     "void copy(struct head *to, struct head *from)\n"
                     "{ memcpy(to + 1, from + 1, from->kind); }\n");
    for (unsigned i = 0; i < kinds; i++)
        str_addf(&source,
                 "struct k%u { struct head h; long a, b; int *p; } x%u, y%u;\n"
                 "void f%u(long n) { x%u.b = n; x%u.p = &x%u.h.kind; list[n] = &x%u.h;\n"
                 "    list[1] = &y%u.h; }\n",
                 i, i, i, i, i, i, i, i, i);
    str_add(&source, "int main(int n, char **v) { copy(list[n], list[1]); return 0; }\n");
    Subject s = subject(str_c(&source), NULL);
    size_t steps = s.m->steps;
    str_release(&source);
    done(&s);
    return steps;
}

/* A library whose functions each call its client, which may call any of them. */
static size_t work_of_clients(unsigned functions)
{
    Str source = { 0 };
    str_add(&source, "void (*client)(void);\n");
    for (unsigned i = 0; i < functions; i++)
        str_addf(&source, "int v%u; int f%u(int *p) { v%u++; client(); return *p; }\n", i, i, i);
    Subject s = subject(str_c(&source), NULL);
    size_t steps = s.m->steps;
    str_release(&source);
    done(&s);
    return steps;
}

static void work_grows_with_what_there_is(void **state)
{
    (void)state;
    size_t a = work_of_copies(10), b = work_of_copies(20), c = work_of_copies(40);
    assert_true(a > 0 && c - b <= 3 * (b - a));        /* linear: 2. Pairs: 4 and more */
    a = work_of_clients(10);
    b = work_of_clients(20);
    c = work_of_clients(40);
    assert_true(a > 0 && c - b <= 5 * (b - a));        /* what each changes: 4 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_says_what_it_can),
        cmocka_unit_test(a_mutation_has_a_witness),
        cmocka_unit_test(unknown_has_its_reasons),
        cmocka_unit_test(what_else_is_known_of_a_parameter),
        cmocka_unit_test(unchanged_is_more_than_immutable),
        cmocka_unit_test(ops_tables_are_kept_apart),
        cmocka_unit_test(hazards_of_c),
        cmocka_unit_test(a_guess_by_memory_stays_a_guess_through_pointers),
        cmocka_unit_test(what_is_meant_for_another_is_likely_no_write),
        cmocka_unit_test(code_outside_keeps_its_const),
        cmocka_unit_test(hidden_functions_of_an_archive_are_called),
        cmocka_unit_test(pointers_that_are_numbers_are_followed_or_not_judged),
        cmocka_unit_test(formats_of_scanf_are_not_printed),
        cmocka_unit_test(a_program_that_makes_pointers_of_numbers),
        cmocka_unit_test(numbers_come_back_in_memory),
        cmocka_unit_test(buffers_of_streams_have_other_names),
        cmocka_unit_test(variadic_arguments_are_returned),
        cmocka_unit_test(bits_that_decide_are_no_sound_answer),
        cmocka_unit_test(what_is_offered_is_likely_written),
        cmocka_unit_test(a_const_on_the_way_is_believed),
        cmocka_unit_test(observations_refine_unknowns_only),
        cmocka_unit_test(work_grows_with_what_there_is),
        cmocka_unit_test(pipelines_are_words_of_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
