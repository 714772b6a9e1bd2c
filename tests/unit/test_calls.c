/* The call graph on small subjects. */
#include "tree.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "analysis/pointsto/calls.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

typedef struct Subject {
    const char *dir;
    Program *p;
    Calls *c;
} Subject;

static Subject subject(const char *source)
{
    Subject s = { 0 };
    Err err = { 0 };
    ProcResult r = { 0 };
    s.dir = tempdir_new(NULL, &err);
    assert_non_null(s.dir);
    char *c = path_join(s.dir, "a.c"), *bc = path_join(s.dir, "a.bc");
    char *cc[] = { "clang-19",   "-O0", "-g", "-w", "-Xclang", "-disable-O0-optnone",
                   "-emit-llvm", "-c",  c,    "-o", bc,        NULL };

    assert_true(file_write(c, source, strlen(source), &err));
    assert_true(proc_run(&(Proc){ .argv = cc, .seconds = 60 }, &r, &err));
    assert_int_equal(r.status, 0);
    proc_result_release(&r);
    const char *files[] = { bc };
    s.p = program_open_bitcode(files, 1, &err);
    if (!s.p)
        fail_msg("%s", err.msg);
    char *share = in_tree("share");
    s.c = calls_open(s.p, &(CallsPlan){ .share = share }, &err);
    free(share);
    if (!s.c)
        fail_msg("%s", err.msg);
    free(c);
    free(bc);
    return s;
}

static void done(Subject *s)
{
    calls_close(s->c);
    program_close(s->p);
    tempdir_remove(s->dir);
}

/* The names, in alphabetical order. */
static int by_name(const void *x, const void *y)
{
    return strcmp((*(const Function *const *)x)->name, (*(const Function *const *)y)->name);
}

static void are(const Function *const *fns, size_t n, const char *expected)
{
    Str s = { 0 };
    const Function **sorted = calloc(n + 1, sizeof *sorted);

    memcpy(sorted, fns ? fns : (void *)sorted, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 0; i < n; i++)
        str_addf(&s, "%s%s", i ? " " : "", sorted[i]->name);
    free(sorted);
    assert_string_equal(str_c(&s), expected);
    str_release(&s);
}

static void callees_are(const Subject *s, const char *fn, const char *expected)
{
    size_t n;
    const Function *const *fns = calls_callees(s->c, program_function(s->p, fn), &n);

    are(fns, n, expected);
}

static void callers_are(const Subject *s, const char *fn, const char *expected)
{
    size_t n;
    const Function *const *fns = calls_callers(s->c, program_function(s->p, fn), &n);

    are(fns, n, expected);
}

static void tables_of_functions_are_resolved_by_field(void **state)
{
    (void)state;
    Subject s =
        subject("struct ops { int (*open)(int); int (*shut)(int); };\n"
                "static int open1(int x) { return x; } static int shut1(int x) { return x; }\n"
                "static int open2(int x) { return x; } static int shut2(int x) { return x; }\n"
                "static int lone(int x) { return x; }\n"
                "static const struct ops one = { open1, shut1 }, two = { open2, shut2 };\n"
                "static const struct ops *all[] = { &one, &two };\n"
                "static int run(const struct ops *o) { return o->open(1); }\n"
                "int main(int n, char **v) { return run(all[n]) + one.shut(1) + (lone != 0); }\n");
    callees_are(&s, "run", "open1 open2");
    callees_are(&s, "main", "run shut1");
    callers_are(&s, "lone", "");
    callers_are(&s, "shut2", "");
    size_t n;
    const CallSite *site = calls_sites(s.c, program_function(s.p, "run"), &n);
    assert_int_equal(n, 1);
    assert_true(site[0].indirect);
    assert_int_equal(site[0].line, 7);
    assert_int_equal(site[0].ntargets, 2);
    done(&s);
}

static void types_refine_but_lose_no_real_target(void **state)
{
    (void)state;
    Subject s =
        subject("static void two(void *a, void *b) {} static void one(void *a) {}\n"
                "static void three(void *a, void *b, void *c) {} static void real(double d) {}\n"
                "static void vary(void *a, ...) {} static int old(a) void *a; { return 0; }\n"
                "void *fns[] = { two, one, three, real, vary, old };\n"
                "static void call2(void (*f)(void *, void *)) { f(0, 0); }\n"
                "static void kr(void (*f)()) { f((void *)0); }\n"
                "int main(int n, char **v) { call2(fns[n]); kr(fns[n]); return 0; }\n");
    callees_are(&s, "call2", "old one two vary");
    /* without a prototype there are still the arguments */
    callees_are(&s, "kr", "old one vary");
    done(&s);
}

static void the_type_of_the_call_is_preferred(void **state)
{
    (void)state;
    Subject s =
        subject("static void one(void *a) {} static void two(void *a, void *b) {}\n"
                "static int result(void *a) { return 0; } static void cast(void *a, long b) {}\n"
                "void *fns[] = { one, two, result, cast };\n"
                "static void call1(void (*f)(void *)) { f(0); }\n"
                "static int call1r(int (*f)(void *)) { return f(0); }\n"
                "static void call2(void (*f)(void *, void *)) { f(0, 0); }\n"
                "static void call3(void (*f)(void *, void *, void *)) { f(0, 0, 0); }\n"
                "int main(int n, char **v) { call1(fns[n]); call1r(fns[n]); call2(fns[n]);\n"
                "  call3(fns[n]); return 0; }\n");
    callees_are(&s, "call1", "one");
    callees_are(&s, "call1r", "result");
    /* no call has its type, so it was cast */
    callees_are(&s, "call2", "cast two");
    /* no function has its type; the others are called as what they are elsewhere */
    callees_are(&s, "call3", "cast");
    done(&s);
}

static void a_cast_function_is_called_by_both_types(void **state)
{
    (void)state;
    Subject s = subject(
        "typedef void (*Two)(void *, void *);\n"
        "static void one(void *a) {} static void two(void *a, void *b) {}\n"
        "static void other(void *a, void *b) {} void *unused = other;\n"
        "static void call1(void (*f)(void *)) { f(0); } static void call2(Two f) { f(0, 0); }\n"
        "int main(void) { call1(one); call2(two); call2((Two)one); return 0; }\n");
    callees_are(&s, "call1", "one");
    callees_are(&s, "call2", "one two");
    done(&s);
}

static void a_cast_function_is_found_among_many(void **state)
{
    (void)state;
    Str src = { 0 };
    Str all = { 0 };

    str_add(&src, "struct op { int (*f)(void *, int); };\nstatic int odd(void *a) { return 1; }\n");
    for (int i = 10; i < 60; i++)
        str_addf(&src, "static int f%d(void *a, int b) { return %d; }\n", i, i);
    str_add(&src, "static struct op ops[] = { { (int (*)(void *, int))odd }");
    for (int i = 10; i < 60; i++) {
        str_addf(&src, ", { f%d }", i);
        str_addf(&all, "f%d ", i);
    }
    str_add(&src, " };\nint main(int n, char **v) { return odd(v) + ops[n].f(v, n); }\n");
    str_add(&all, "odd");
    Subject s = subject(str_c(&src));
    callees_are(&s, "main", str_c(&all));
    done(&s);
    str_release(&src);
    str_release(&all);
}

/* Everything is mixed in one union; the fields that hold functions stay apart. */
static void fields_keep_functions_apart(void **state)
{
    (void)state;
    Subject s = subject(
        "#include <stdlib.h>\n"
        "struct a { long n; void (*run)(void *); }; struct b { long n; void (*stop)(void *); };\n"
        "union any { struct a *a; struct b *b; void *p; } pool[100];\n"
        "static void r1(void *p) {} static void r2(void *p) {} static void r3(void *p) {}\n"
        "static void s1(void *p) {} static void s2(void *p) {} static void s3(void *p) {}\n"
        "static void add_a(int i, void (*f)(void *))\n"
        "{ struct a *a = malloc(sizeof *a); a->run = f; pool[i].a = a; }\n"
        "static void add_b(int i, void (*f)(void *))\n"
        "{ struct b *b = malloc(sizeof *b); b->stop = f; pool[i].b = b; }\n"
        "static void run(int i) { pool[i].a->run(0); }\n"
        "static void stop(int i) { pool[i].b->stop(0); }\n"
        "static void (*table[2])(void *) = { r1, s1 };\n"
        "static void any(int i) { table[i](0); }\n"
        "int main(int n, char **v) { add_a(1, r1); add_a(2, r2); add_a(3, r3); add_b(4, s1);\n"
        "  add_b(5, s2); add_b(6, s3); run(n); stop(n); any(n); return 0; }\n");
    callees_are(&s, "run", "r1 r2 r3");
    callees_are(&s, "stop", "s1 s2 s3");
    callees_are(&s, "any", "r1 s1");
    done(&s);
}

/* A field that is written in ways that don't name it. */
static void stray_stores_are_not_lost(void **state)
{
    (void)state;
    Subject s =
        subject("#include <stdarg.h>\n#include <string.h>\n"
                "struct ops { long n; void (*f)(void *); };\n"
                "static void f1(void *p) {} static void f2(void *p) {} static void f3(void *p) {}\n"
                "static void f4(void *p) {} static void f5(void *p) {} static void f6(void *p) {}\n"
                "static void f7(void *p) {}\n"
                "static struct ops o1, o2, o3, o4, o5, o6;\n"
                "union pun { struct ops ops; void *words[2]; } u;\n"
                "static void set(void (**to)(void *), void (*f)(void *)) { *to = f; }\n"
                "static void vary(struct ops *o, ...) { va_list a; va_start(a, o);\n"
                "  o->f = va_arg(a, void (*)(void *)); va_end(a); }\n"
                "static void call(struct ops *o) { o->f(0); }\n"
                "int main(int n, char **v) { void *w[2] = { 0, f4 };\n"
                "  set(&o1.f, f1); call(&o1); ((void **)&o2)[1] = f2; call(&o2);\n"
                "  vary(&o3, f3); call(&o3); memcpy(&o4, w, sizeof o4); call(&o4);\n"
                "  u.words[1] = f5; call(&u.ops); ((void **)&o6)[n] = f6; call(&o6);\n"
                "  o5.f = f7; call(&o5); return 0; }\n");
    callees_are(&s, "call", "f1 f2 f3 f4 f5 f6 f7");
    done(&s);
}

/* Tables that are only constants don't get what is stored somewhere; a struct that is
 * copied in pieces does. */
static void constant_tables_hold_what_they_say(void **state)
{
    (void)state;
    Subject s = subject(
        "struct ops { long n; void (*f)(void *); }; struct cfg { int k; long n; void (*f)(void *); };\n"
        "static void f1(void *p) {} static void f2(void *p) {} static void g1(void *p) {}\n"
        "static void s1(void *p) {} static void s2(void *p) {} static void s3(void *p) {}\n"
        "static void s4(void *p) {} static void s5(void *p) {}\n"
        "static const struct ops ops[2] = { { 1, f1 }, { 2, f2 } }; static struct cfg c;\n"
        "union mix { const struct ops *o; void **w; struct cfg *c; } mix[9];\n"
        "static void stray(void **to, int n)\n"
        "{ to[0] = s1; to[n] = s2; to[n + 1] = s3; to[n + 2] = s4; to[n + 3] = s5; }\n"
        "static void copy(struct cfg *to, int n) { struct cfg x = { n, n, g1 }; *to = x; }\n"
        "static void call_o(int n) { struct ops x = *mix[n].o; x.f(0); }\n"
        "static void call(int n) { mix[n].o->f(0); } static void call_c(int n) { mix[n].c->f(0); }\n"
        "int main(int n, char **v) { static void *words[9]; mix[1].w = words; mix[2].o = ops;\n"
        "  mix[3].c = &c; stray(mix[n].w, n); copy(mix[n].c, n); call(n); call_c(n); call_o(n);\n"
        "  return 0; }\n");
    callees_are(&s, "call", "f1 f2 g1");
    /* a part of a struct may be any field */
    callees_are(&s, "call_o", "f1 f2 g1 s1 s2 s3 s4 s5");
    callees_are(&s, "call_c", "g1");
    done(&s);
}

static void another_name_for_the_same_memory(void **state)
{
    (void)state;
    Subject s = subject(
        "struct ops { long n; void (*f)(void *); }; struct twin { long n; void (*f)(void *); };\n"
        "static void f1(void *p) {} static void f2(void *p) {} static struct ops o;\n"
        "static struct twin t; static void call(struct ops *o) { o->f(0); }\n"
        "int main(void) { o.f = f1; t.f = f2; call(&o); call((struct ops *)&t); return 0; }\n");
    callees_are(&s, "call", "f1 f2");
    done(&s);
}

static void the_library_calls_back(void **state)
{
    (void)state;
    Subject s =
        subject("#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n"
                "static int cmp(const void *a, const void *b) { return 0; }\n"
                "static void *work(void *p) { return p; } static void bye(void) {}\n"
                "static void on(int n) {} static void act(int n) {} static void never(int n) {}\n"
                "int main(void) { int a[3]; pthread_t t; struct sigaction sa = { 0 };\n"
                "  qsort(a, 3, 4, cmp); pthread_create(&t, 0, work, a); atexit(bye);\n"
                "  signal(1, on); sa.sa_handler = act; sigaction(2, &sa, 0);\n"
                "  return never == 0; }\n");
    callees_are(&s, "main", "act atexit bye cmp on pthread_create qsort sigaction signal work");
    callers_are(&s, "never", "");
    size_t n;
    const CallSite *sites = calls_sites(s.c, program_function(s.p, "main"), &n);
    are(sites[0].targets, sites[0].ntargets, "qsort");
    are(sites[0].callbacks, sites[0].ncallbacks, "cmp");
    done(&s);
}

static void components_are_found(void **state)
{
    (void)state;
    Subject s =
        subject("static int odd(int n); static int even(int n) { return n ? odd(n - 1) : 1; }\n"
                "static int odd(int n) { return n ? even(n - 1) : 0; }\n"
                "static int self(int n) { return n ? self(n - 1) : 0; }\n"
                "static int leaf(void) { return 1; }\n"
                "int main(void) { return even(3) + self(2) + leaf(); }\n");
    const Function *even = program_function(s.p, "even"), *odd = program_function(s.p, "odd");
    const Function *self = program_function(s.p, "self"), *leaf = program_function(s.p, "leaf");
    const Function *top = program_function(s.p, "main");
    assert_int_equal(calls_component(s.c, even), calls_component(s.c, odd));
    assert_true(calls_component(s.c, even) != calls_component(s.c, self));
    assert_true(calls_component(s.c, top) > calls_component(s.c, even));
    assert_true(calls_is_recursive(s.c, even) && calls_is_recursive(s.c, odd));
    assert_true(calls_is_recursive(s.c, self));
    assert_false(calls_is_recursive(s.c, leaf) || calls_is_recursive(s.c, top));
    done(&s);
}

static void functions_of_a_library_are_called_from_outside(void **state)
{
    (void)state;
    Subject s = subject(
        "static int in(void) { return 1; } int out(int (*f)(void)) { return f() + in(); }\n");
    assert_true(calls_from_outside(s.c, program_function(s.p, "out")));
    assert_false(calls_from_outside(s.c, program_function(s.p, "in")));
    done(&s);
}

static void a_program_brings_its_own_summaries(void **state)
{
    (void)state;
    Subject s = subject("extern void each(void (*f)(void *), void *); static void f(void *p) {}\n"
                        "int main(void) { each(f, 0); return 0; }\n");
    Err err = { 0 };
    callees_are(&s, "main", "each");
    assert_true(calls_from_outside(s.c, program_function(s.p, "f")));
    calls_close(s.c);
    char *own = path_join(s.dir, "sundew.summaries");
    const char *text = "each fn:c arg ; call fn(arg)\n";
    assert_true(file_write(own, text, strlen(text), &err));
    char *share = in_tree("share");
    s.c = calls_open(s.p, &(CallsPlan){ .share = share, .root = s.dir }, &err);
    free(share);
    assert_non_null(s.c);
    callees_are(&s, "main", "each f");
    assert_false(calls_from_outside(s.c, program_function(s.p, "f")));
    free(own);
    done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_functions_are_resolved_by_field),
        cmocka_unit_test(types_refine_but_lose_no_real_target),
        cmocka_unit_test(the_type_of_the_call_is_preferred),
        cmocka_unit_test(a_cast_function_is_called_by_both_types),
        cmocka_unit_test(a_cast_function_is_found_among_many),
        cmocka_unit_test(fields_keep_functions_apart),
        cmocka_unit_test(stray_stores_are_not_lost),
        cmocka_unit_test(constant_tables_hold_what_they_say),
        cmocka_unit_test(another_name_for_the_same_memory),
        cmocka_unit_test(the_library_calls_back),
        cmocka_unit_test(components_are_found),
        cmocka_unit_test(functions_of_a_library_are_called_from_outside),
        cmocka_unit_test(a_program_brings_its_own_summaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
