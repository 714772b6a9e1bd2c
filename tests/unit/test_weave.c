/* weave/: what is kept of each function, and programs made again. */
#include "base/str.h"
#include "runtime/format/tables.h"
#include "tree.h"
#include "build/woven.h"
#include "weave/weave.h"
#include "compile.h"
#include <string.h>

/* The dump of a subject's monitoring; `aliases`: with points-to. */
static char *dumped(Compiled *c, const MonitorPlan *plan, bool aliases)
{
    Err err = { 0 };
    char *share = in_tree("share");
    MonitorPlan full = *plan;
    Calls *calls = aliases ? calls_open(c->program, &(CallsPlan){ .share = share }, &err) : NULL;
    assert_true(calls || !aliases);
    full.calls = calls;
    Woven *w = weave_begin(c->program, &err);
    if (!w || !weave_monitor(w, &full, &err))
        fail_msg("%s", err.msg);
    Str out = { 0 };
    weave_monitor_dump(w, &out);
    weave_end(w);
    calls_close(calls);
    free(share);
    return str_take(&out);
}

/* The lines of one function in a dump, without its name and indents. */
static void expect(const char *dump, const char *function, const char *want)
{
    char *head = xprintf("\n%s: ", function), *all = xprintf("\n%s", dump);
    const char *at = strstr(all, head);
    if (!at)
        fail_msg("%s is not in:\n%s", function, dump);
    at = strchr(at + 1, '\n') + 1;
    Str got = { 0 };
    while (str_starts(at, "  ")) {
        size_t n = strcspn(at, "\n");
        str_addn(&got, at + 2, n - 2 + 1);
        at += n + 1;
    }
    assert_string_equal(str_c(&got), want);
    str_release(&got);
    free(head);
    free(all);
}

static const char lists[] =
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "struct list { int n, cap; int *items; struct list *next; const char *name; };\n"
    "typedef struct { long tag; int *p; } Boxed;\n"
    "struct big { long a[10]; struct list *l; };\n"
    "int total; static int hits[100]; const int limit = 3; int huge[1000];\n"
    "int add(struct list *l, int x) {\n"
    "    l->items[l->n++] = x; total += x; huge[x] = 1; return l->n; }\n"
    "int sum(const struct list *l) { int s = limit;\n"
    "    for (int i = 0; i < l->n; i++) s += l->items[i];\n"
    "    hits[l->n % 100]++; return s; }\n"
    "void fill(char *buf, size_t n) {\n"
    "    for (size_t i = 0; i + 1 < n; i++) buf[i] = 'a'; }\n"
    "int chain(struct list *l) { int n = 0;\n"
    "    while (l) { if (l->next) l->next->cap = 7; n += l->n; l = l->next; }\n"
    "    return n; }\n"
    "void reset(struct list *l) { for (int i = 0; i < 2; i++) l[i].n = 0; }\n"
    "int first(FILE *f) { int c = fgetc(f); return c == EOF ? -1 : c; }\n"
    "long unbox(Boxed b, int k) { if (b.tag > 3) *b.p += k; return b.tag; }\n"
    "long big(struct big b) { b.a[0]++; if (b.l) b.l->cap++; return b.a[9]; }\n"
    "int look(const struct list *l, const char *s) { return l->n > 3 ? s[0] : s[l->n]; }\n"
    "int get(const struct list *l) { return l->n; }\n"
    "int main(int argc, char **argv) {\n"
    "    char buf[100]; struct list l[2] = {{0}}, m = {0}; int v = 5;\n"
    "    l[0].items = malloc(40); m.items = malloc(40); l[0].next = &m;\n"
    "    l[0].name = argv[0]; Boxed b = { argc, &v }; struct big g = {{0}}; g.l = l;\n"
    "    fill(buf, sizeof buf); reset(l); add(l, 3); add(&m, 4);\n"
    "    return chain(l) + sum(l) + first(stdin) + unbox(b, 2) + big(g)\n"
    "        + look(l, buf) + get(l); }\n";

static void only_what_may_be_written_is_copied(void **state)
{
    (void)state;
    Compiled c = compiled(lists);
    MonitorPlan plan = { .strategy = COPY_USED_FIELDS };
    char *d = dumped(&c, &plan, true);
    expect(d, "add",
           "l: slot 0, struct list *\nx: slot 1, int\n"
           "step 0: slot 0: 32 bytes from 0 of struct list\n"
           "step 1: at 8 of step 0: all of int\n"
           "step 2: total: 4 bytes from 0 of int\nuses total huge\n");
    expect(d, "sum",
           "l: slot 0, const struct list *\n"
           "step 0: hits: 400 bytes from 0 of int [100]\nuses hits\n");
    expect(d, "look", "l: slot 0, const struct list *\ns: slot 1, const char *\n");
    expect(d, "fill",
           "buf: slot 0, char *\nn: slot 1, size_t\n"
           "step 0: slot 0: all of char\n");
    free(d);
    compiled_end(&c);
}

static void pointers_are_followed_to_what_is_written(void **state)
{
    (void)state;
    Compiled c = compiled(lists);
    MonitorPlan plan = { .strategy = COPY_USED_FIELDS };
    char *d = dumped(&c, &plan, true);
    expect(d, "chain",
           "l: slot 0, struct list *\n"
           "step 0: slot 0: 8 bytes from 16 of struct list\n"
           "step 1: at 16 of step 0: 32 bytes from 0 of struct list\n");
    /* an array of structs is copied as far as it is known */
    expect(d, "reset", "l: slot 0, struct list *\nstep 0: slot 0: all of struct list\n");
    /* a FILE as bytes, which are not followed */
    expect(d, "first",
           "f: slot 0, FILE *\n"
           "step 0: slot 0: 216 bytes from 0 of struct _IO_FILE\n");
    free(d);
    compiled_end(&c);
}

static void structs_by_value_have_their_slots(void **state)
{
    (void)state;
    Compiled c = compiled(lists);
    MonitorPlan plan = { .strategy = COPY_USED_FIELDS };
    char *d = dumped(&c, &plan, true);
    expect(d, "unbox", "b: slots 0-1, Boxed\nk: slot 2, int\nstep 0: slot 1: all of int\n");
    expect(d, "big",
           "b: slot 0, struct big, by copy\n"
           "step 0: slot 0: 88 bytes from 0 of struct big\n"
           "step 1: at 80 of step 0: 32 bytes from 0 of struct list\n");
    free(d);
    compiled_end(&c);
}

static void strategies_differ_in_depth(void **state)
{
    (void)state;
    Compiled c = compiled(lists);
    MonitorPlan plan = { .strategy = COPY_SHALLOW };
    char *d = dumped(&c, &plan, true);
    expect(d, "add",
           "l: slot 0, struct list *\nx: slot 1, int\n"
           "step 0: slot 0: 32 bytes from 0 of struct list\nuses total huge\n");
    free(d);
    plan.strategy = COPY_REFERENCE;
    d = dumped(&c, &plan, true);
    assert_null(strstr(d, "step"));
    free(d);
    plan.strategy = COPY_USED_FIELDS;       /* not knowing who writes what */
    d = dumped(&c, &plan, false);
    expect(d, "look",
           "l: slot 0, const struct list *\ns: slot 1, const char *\n"
           "step 0: slot 0: 32 bytes from 0 of struct list\n"
           "step 1: slot 1: all of char\n");
    free(d);
    compiled_end(&c);
}

static void trivial_functions_are_left_out(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled(lists);
    char *only[] = { "add", "sum", NULL };
    MonitorPlan plan = { .strategy = COPY_USED_FIELDS };
    char *d = dumped(&c, &plan, false);
    assert_null(strstr(d, "get: "));
    free(d);
    plan.only = only;
    d = dumped(&c, &plan, false);
    assert_non_null(strstr(d, "add: "));
    assert_null(strstr(d, "fill: "));
    free(d);
    Woven *w = weave_begin(c.program, &err);
    assert_true(weave_monitor(w, &plan, &err));
    size_t monitored, trivial;
    weave_monitor_figures(w, &monitored, &trivial);
    assert_int_equal(monitored, 2);
    assert_false(weave_monitor(w, &plan, &err));
    assert_non_null(strstr(err.msg, "already"));
    weave_end(w);
    compiled_end(&c);
}

static void a_missing_runtime_is_an_error(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled("int main(void) { return 0; }\n");
    Woven *w = weave_begin(c.program, &err);
    assert_false(weave_runtime(w, "/nonexistent", "monitor", &err));
    assert_non_null(strstr(err.msg, "/nonexistent/runtime/monitor.bc"));
    weave_end(w);
    compiled_end(&c);
}

/* Runs `argv`, gives its exit status; `out` gets what it prints. */
static int run(char *const *argv, Str *out)
{
    Err err = { 0 };
    ProcResult r = { 0 };
    Proc p = { .argv = argv, .capture = true, .seconds = 60 };
    if (!proc_run(&p, &r, &err))
        fail_msg("%s", err.msg);
    str_addn(out, str_c(&r.out), r.out.len);
    str_addn(out, str_c(&r.err), r.err.len);
    int status = r.status;
    proc_result_release(&r);
    return status;
}

/* A runtime that prints the tables when the program starts. */
static const char printer[] =
    "#include \"runtime/format/tables.h\"\n"
    "#include <stdio.h>\n"
    "static const char *name(unsigned long a) {\n"
    "    for (unsigned i = 0; i < sundew_tables.nfunctions; i++)\n"
    "        if (sundew_tables.functions[i].address == a) return sundew_tables.functions[i].symbol;\n"
    "    return \"?\"; }\n"
    "#include \"runtime/monitor/monitor.h\"\n"
    "uint64_t *sundew_enter(uint32_t row, void *sp) { return 0; }\n"
    "void sundew_entered(uint32_t row, uint64_t *slots) {}\n"
    "void sundew_leave(uint32_t row, void *sp) {}\n"
    "void sundew_monitor_start(void) {\n"
    "    const SundewTables *t = &sundew_tables;\n"
    "    printf(\"%u %u %s %s %d\\n\", t->version, t->strategy, t->name, t->build, t->modes[0]);\n"
    "    for (unsigned i = 0; i < t->nfunctions; i++) {\n"
    "        const SundewFunction *f = &t->functions[i];\n"
    "        printf(\"%s %s slots %d params %d\\n\", f->symbol, name(f->address), f->nslots, f->nparams); }\n"
    "    for (unsigned i = 0; i < t->nglobals; i++) {\n"
    "        const SundewGlobal *g = &t->globals[i];\n"
    "        const SundewType *y = &t->types[g->type];\n"
    "        printf(\"%s %lu kind %d tail %d hidden %u:\", g->symbol, (unsigned long)g->size, y->kind, y->tail, y->nhidden);\n"
    "        for (unsigned k = 0; k < y->npointers; k++) {\n"
    "            const SundewPointer *p = &t->pointers[y->first + k];\n"
    "            printf(\" %u*%u/%u->%d%s\", p->offset, p->count, p->stride, t->types[p->type].kind, p->unsure ? \"?\" : \"\"); }\n"
    "        for (unsigned k = 0; k < y->nhidden; k++)\n"
    "            printf(\" -%u+%u\", t->hidden[y->first_hidden + k].offset, t->hidden[y->first_hidden + k].size);\n"
    "        printf(\"\\n\"); }\n"
    "    for (unsigned i = 0; i < t->nexternals; i++)\n"
    "        printf(\"external %s\\n\", t->externals[i].symbol);\n"
    "}\n";

static const char typed[] =
    "#include <pthread.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "struct node { struct node *next; char *name; int id; };\n"
    "union u { long number; char *text; void *any; };\n"
    "struct mixed { int tag; union u u; struct node *table[5]; FILE *out; int (*call)(int);\n"
    "               struct node in[3]; char secret[8]; struct hidden_away *h; };\n"
    "struct tail { int n; char *last[]; };\n"
    "struct mixed mixed; pthread_mutex_t lock; char text[9]; struct tail *tails;\n"
    "_Thread_local int mine; struct tail tail;\n"
    "int main(int argc, char **argv) { mine = argc; (void)argv;\n"
    "    for (int i = 0; i < argc; i++) mixed.tag += text[i] + (lock.__data.__lock);\n"
    "    mixed.call = abs; tails = &tail; return mixed.tag + puts(\"done\") * 0; }\n";

static void the_tables_say_what_the_types_are(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled(typed);
    char *hidden[] = { "struct mixed.secret", NULL };
    MonitorPlan plan = { .strategy = COPY_USED_FIELDS, .build = "v1", .hidden = hidden };
    char *top = in_tree("."), *include = xprintf("-I%s", top);
    char *dir = xprintf("%s/runtime", c.dir), *out = path_join(c.dir, "woven");
    assert_true(dir_make(dir, &err));
    compiled_file(&c, "runtime/printer.c", printer);
    char *source = path_join(dir, "printer.c"), *bc = path_join(dir, "printer.bc");
    char *clang[] = { "clang-19", "-O2",  "-w", "-fPIC", include, "-emit-llvm",
                      "-c",       source, "-o", bc,      NULL };
    Str said = { 0 };
    if (run(clang, &said) != 0)
        fail_msg("%s", str_c(&said));
    Woven *w = weave_begin(c.program, &err);
    if (!weave_monitor(w, &plan, &err) || !weave_runtime(w, c.dir, "printer", &err) ||
        !woven_build(w, &(WovenBuild){ .out = out }, &err))
        fail_msg("%s", err.msg);
    weave_end(w);
    char *argv[] = { out, NULL };
    assert_int_equal(run(argv, &said), 0);
    /* kinds: 0 unknown, 1 data, 2 character, 3 code, 4 foreign */
    assert_string_equal(str_c(&said),
                        "1 2 program v1 2\n"
                        "main main slots 2 params 2\n"
                        "mine 4 kind 1 tail 0 hidden 0:\n"
                        "text 9 kind 1 tail 0 hidden 0:\n"
                        "lock 40 kind 4 tail 0 hidden 0:\n"
                        "mixed 160 kind 1 tail 0 hidden 1: 8*1/8->0? 8*1/8->2? 16*5/8->1 56*1/8->4 "
                        "64*1/8->3 72*3/24->1 80*3/24->2 152*1/8->0 -144+8\n"
                        "tail 8 kind 1 tail 1 hidden 0: 8*0/8->2\n"
                        "tails 8 kind 1 tail 0 hidden 0: 0*1/8->1\n"
                        ".str 5 kind 1 tail 0 hidden 0:\n"
                        "external abs\n"
                        "done\n");
    str_release(&said);
    free(top);
    free(include);
    free(dir);
    free(source);
    free(bc);
    free(out);
    compiled_end(&c);
}

static void a_plain_rebuild_runs(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled("#include <stdio.h>\nint main(void) { puts(\"hello\"); return 3; }\n");
    char *out = path_join(c.dir, "plain"), *argv[] = { out, NULL };
    for (unsigned level = 0; level < 4; level++) {
        Woven *w = weave_begin(c.program, &err);
        WovenBuild plan = { .out = out, .level = level, .unoptimised = level == 0 };
        if (!w || !woven_build(w, &plan, &err))
            fail_msg("%s", err.msg);
        weave_end(w);
        Str said = { 0 };
        assert_int_equal(run(argv, &said), 3);
        assert_string_equal(str_c(&said), "hello\n");
        str_release(&said);
    }
    free(out);
    compiled_end(&c);
}

static void main_can_have_another_name(void **state)
{
    (void)state;
    Err err = { 0 };
    Compiled c = compiled("int main(void) { return 3; }\n");
    char *object = path_join(c.dir, "a.o"), *test = path_join(c.dir, "t.c");
    char *out = path_join(c.dir, "t");
    compiled_file(&c, "t.c", "int old_main(void); int main(void) { return old_main() + 1; }\n");
    Woven *w = weave_begin(c.program, &err);
    WovenBuild plan = { .out = object, .rename_main = "old_main", .object_only = true };
    assert_true(woven_build(w, &plan, &err));
    weave_end(w);
    Str said = { 0 };
    char *cc[] = { "cc", test, object, "-o", out, NULL }, *argv[] = { out, NULL };
    assert_int_equal(run(cc, &said), 0);
    assert_int_equal(run(argv, &said), 4);
    str_release(&said);
    free(object);
    free(test);
    free(out);
    compiled_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_may_be_written_is_copied),
        cmocka_unit_test(pointers_are_followed_to_what_is_written),
        cmocka_unit_test(structs_by_value_have_their_slots),
        cmocka_unit_test(strategies_differ_in_depth),
        cmocka_unit_test(trivial_functions_are_left_out),
        cmocka_unit_test(a_missing_runtime_is_an_error),
        cmocka_unit_test(the_tables_say_what_the_types_are),
        cmocka_unit_test(a_plain_rebuild_runs),
        cmocka_unit_test(main_can_have_another_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
