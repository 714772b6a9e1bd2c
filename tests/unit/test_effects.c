/* analysis/effects: what functions read and write, and which pairs may disturb each other. */
#include "compile.h"
#include "tree.h"
#include "analysis/effects/effects.h"
#include "analysis/effects/looks.h"

static const char library[] =
    "#include <stdlib.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "struct set { int n, most; };\n"
    "static int made; static void *(*get)(size_t) = malloc;\n"
    "static void set_hook(void *(*f)(size_t)) { get = f; }\n"
    "void hooks(int on, void *(*f)(size_t)) { if (on) set_hook(f); }\n"
    "void each(struct set *s, void (*f)(int)) { f(s->n); }\n"
    "struct set *new_set(void) { made++; return get(sizeof(struct set)); }\n"
    "int count(void) { return made; }\n"
    "void again(void) { made = 0; get = malloc; }\n"
    "void add(struct set *s) { s->n++; }\n"
    "int size(struct set *s) { return s->n; }\n"
    "int most(struct set *s) { return s->most; }\n"
    "static int tables; static void fill(void) { tables++; }\n"
    "static void prepare(void) { fill(); }\n"
    "int zone(void) { fill(); return tables; }\n"
    "void clear(void) { tables = 0; }\n"
    "void far(void) { prepare(); }\n"
    "static void none(void) {}\n"
    "static void (*hook[4])(void) = { fill, none, prepare, clear };\n"
    "void by_pointer(int i) { hook[i](); }\n"
    "static char *path, text[16]; static unsigned seed, table[256];\n"
    "int begin(void) { if (made) return -1; made = 1; return made; }\n"
    "int draw(void) { seed = seed * 5 + 1; return (int)seed; }\n"
    "int keep(const char *p) { path = strdup(p); return path ? 0 : -1; }\n"
    "_Bool kept(const char *p) { path = strdup(p); return path != NULL; }\n"
    "static int number(void) { static int n; return ++n; }\n"
    "int enter(const char *p) { if (keep(p)) return -1; int id = number(); return id; }\n"
    "int width(int n) { snprintf(text, sizeof text, \"%d\", n); return (int)strlen(text); }\n"
    "unsigned sum(const unsigned char *p, size_t n) {\n"
    "    unsigned s = 0; for (size_t i = 0; i < n; i++) s = table[p[i]] ^ s >> 8; return s; }\n"
    "static int half(int n) { return n ? 1 + half(n / 2) : n; }\n"
    "int log_of(int n) { int d = half(n); return d - 1; }\n"
    "int last(int n) { made = n; return made; }\n";

typedef struct Lab {
    Compiled compiled;
    Calls *calls;
    Effects *effects;
} Lab;

static Lab lab_open(void)
{
    Lab l = { .compiled = compiled_begin() };
    char *share = in_tree("share");
    compiled_add(&l.compiled, "set.c", library, NULL);
    compiled_open(&l.compiled);
    l.calls = calls_open(l.compiled.program, &(CallsPlan){ .share = share }, NULL);
    assert_non_null(l.calls);
    l.effects = effects_new(l.compiled.program, l.calls);
    free(share);
    return l;
}

static void lab_close(Lab *l)
{
    effects_free(l->effects);
    calls_close(l->calls);
    compiled_end(&l->compiled);
}

static const EffectSet *set_of(const Lab *l, const char *name)
{
    return effects_of(l->effects, program_function(l->compiled.program, name));
}

static bool meet(const Lab *l, const char *a, const char *b)
{
    return effects_meet(set_of(l, a), set_of(l, b));
}

/* How many variables they meet in, and how near the nearest is. */
static unsigned meet_near(const Lab *l, const char *a, const char *b, double *nearest)
{
    unsigned n = 0;
    double *near = calloc(effects_variables(l->effects) + 1, sizeof *near);
    effects_meet_apart(l->effects, set_of(l, a), set_of(l, b), near);
    *nearest = 0;
    for (size_t v = 0; v < effects_variables(l->effects); v++) {
        n += near[v] > 0;
        *nearest = near[v] > *nearest ? near[v] : *nearest;
    }
    free(near);
    return n;
}

static unsigned meet_apart(const Lab *l, const char *a, const char *b)
{
    double nearest;
    return meet_near(l, a, b, &nearest);
}

static double near(const Lab *l, const char *a, const char *b)
{
    double nearest;
    meet_near(l, a, b, &nearest);
    return nearest;
}

static void functions_meet_where_one_writes(void **state)
{
    (void)state;
    Lab l = lab_open();
    assert_true(meet(&l, "add", "size") && meet(&l, "add", "add"));
    assert_false(meet(&l, "add", "most") || meet(&l, "size", "size"));
    /* with an object for each, only variables are left */
    assert_false(meet_apart(&l, "add", "size") || meet_apart(&l, "add", "add"));
    assert_true(meet_apart(&l, "new_set", "count") && meet_apart(&l, "new_set", "new_set"));
    assert_false(meet_apart(&l, "count", "count"));
    assert_int_equal(meet_apart(&l, "new_set", "new_set"), 1);
    assert_int_equal(meet_apart(&l, "again", "new_set"), 2);
    lab_close(&l);
}

static void calls_on_the_way_make_a_variable_far(void **state)
{
    (void)state;
    Lab l = lab_open();
    assert_true(near(&l, "clear", "clear") == 1 && near(&l, "zone", "zone") == 1);
    assert_true(near(&l, "far", "far") == 0.25);
    assert_true(near(&l, "far", "zone") == 0.5);
    /* one of four functions is called */
    assert_true(near(&l, "by_pointer", "zone") == 0.25);
    assert_true(near(&l, "by_pointer", "most") == 0);
    lab_close(&l);
}

static void who_installs_a_function_is_known(void **state)
{
    (void)state;
    Lab l = lab_open();
    static const char *const others[] = { "each", "new_set", "add", "count" };
    assert_true(effects_installs(l.effects, program_function(l.compiled.program, "hooks")));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(effects_installs(l.effects, program_function(l.compiled.program, others[i])));
    lab_close(&l);
}

static void who_only_looks_is_known(void **state)
{
    (void)state;
    static const char text[] =
        "#include <stdlib.h>\n"
        "#include <string.h>\n"
        "struct type { int code, used; char name[8]; };\n"
        "static int code_of(const struct type *t) { return t->code + (int)strlen(t->name); }\n"
        "static int use(struct type *t) { return ++t->used; }\n"
        "int looks(struct type *t)\n"
        "{\n"
        "    if (code_of(t) > 3)\n"
        "        abort();\n" /* line 9 */
        "    return use(t);\n"
        "}\n"
        "int changes(struct type *t)\n"
        "{\n"
        "    if (use(t) > 3)\n"
        "        abort();\n" /* line 15 */
        "    return 0;\n"
        "}\n"
        "void in_a_loop(struct type *t)\n"
        "{\n"
        "    for (int i = 0; i < 3; i++) {\n"
        "        if (t->code == i)\n"
        "            abort();\n" /* line 22 */
        "        use(t);\n"
        "    }\n"
        "}\n";
    Compiled c = compiled_begin();
    compiled_add(&c, "looks.c", text, NULL);
    compiled_open(&c);
    assert_true(looks_until(c.program, program_function(c.program, "looks"), 9));
    assert_false(looks_until(c.program, program_function(c.program, "looks"), 10));
    assert_false(looks_until(c.program, program_function(c.program, "changes"), 15));
    assert_false(looks_until(c.program, program_function(c.program, "in_a_loop"), 22));
    compiled_end(&c);
}

static void a_word_on_how_it_went_is_no_answer(void **state)
{
    (void)state;
    Lab l = lab_open();
    static const char *const words[] = { "begin", "draw", "keep", "kept", "enter", "clear" };
    static const char *const all[] = { "width", "sum", "log_of", "last", "size" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_false(effects_answers(l.effects, program_function(l.compiled.program, words[i])));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_true(effects_answers(l.effects, program_function(l.compiled.program, all[i])));
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_meet_where_one_writes),
        cmocka_unit_test(calls_on_the_way_make_a_variable_far),
        cmocka_unit_test(who_installs_a_function_is_known),
        cmocka_unit_test(who_only_looks_is_known),
        cmocka_unit_test(a_word_on_how_it_went_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
