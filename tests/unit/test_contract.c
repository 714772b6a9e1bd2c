/* Contracts from samples made by hand. The published acceptance examples are AT3 to AT8. */
#include "engine/contract/contract.h"
#include "engine/contract/discover.h"
#include "engine/contract/infer.h"
#include "base/file.h"
#include "base/tempdir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- making samples */

static Var integer(const char *name, const char *key, VarRole role)
{
    return (Var){ .name = name,
                  .key = key,
                  .type = "int",
                  .kind = VAR_INT,
                  .role = role,
                  .bits = 32,
                  .param = role == ROLE_PARAM ? 0 : -1,
                  .twin = -1 };
}

static Var pointer(const char *name, const char *key, VarRole role)
{
    Var v = integer(name, key, role);
    v.kind = VAR_POINTER;
    v.bits = 64;
    return v;
}

/* f(int x) returning int: entry {x}, exit {x, return}. */
static FunctionSamples *function(Samples *s, const char *name)
{
    FunctionSamples *f = samples_function(s, name);
    Var x = integer("x", "arg1of1", ROLE_PARAM);
    Var exit[] = { x, integer("return", "return", ROLE_RESULT) };

    f->nparams = 1;
    f->is_public = true;
    point_vars(s, &f->entry, &x, 1);
    point_vars(s, &f->exit, exit, 2);
    return f;
}

static void called(Samples *s, FunctionSamples *f, int64_t x, int64_t result, unsigned times)
{
    uint8_t known[] = { 1, 1 };
    Cell cells[] = { { .i = x }, { .i = result } };

    point_add_times(s, &f->entry, cells, known, times);
    point_add_times(s, &f->exit, cells, known, times);
}

/* A point with one variable, entry or exit. */
static void one_value(Samples *s, Point *p, int64_t x, unsigned times)
{
    uint8_t known = 1;
    Cell c = { .i = x };

    point_add_times(s, p, &c, &known, times);
}

static bool says(const Contracts *c, const char *function, bool post, const char *text)
{
    const FunctionContract *fc = contracts_of(c, samples_find(c->samples, function));
    const Invariants *list = post ? &fc->post : &fc->pre;
    bool found = false;

    for (size_t i = 0; i < list->len; i++) {
        Str s = { 0 };
        inv_print(&list->items[i], post ? &fc->f->exit : &fc->f->entry, c->samples, &s);
        found |= strcmp(str_c(&s), text) == 0;
        str_release(&s);
    }
    return found;
}

static size_t count_of(const Contracts *c, const char *function, bool post)
{
    const FunctionContract *fc = contracts_of(c, samples_find(c->samples, function));
    return post ? fc->post.len : fc->pre.len;
}

static Contracts *steered(const Samples *s, const char *rules, Constraints *k)
{
    Err err = { 0 };
    *k = (Constraints){ 0 };
    assert_true(constraints_parse(rules, "rules", k, &err));
    assert_true(constraints_match(k, s, &err));
    return contracts_infer(s, k, &(ContractPlan){ 0 });
}

/* --- the published examples */

/* AT3: m1 agrees with m2 where both may be called. */
static void concord_copies_the_calls_that_both_take(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *m1 = function(s, "m1"), *m2 = function(s, "m2");
    Constraints k;

    called(s, m1, -3, -1, 4);
    called(s, m1, 0, 0, 4);
    called(s, m1, 3, 1, 4);
    called(s, m1, 6, 2, 4);
    called(s, m2, 0, 0, 6);
    called(s, m2, 1, 0, 4);
    called(s, m2, 2, 0, 2);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "m2", false, "x >= 0"));
    assert_int_equal(count_of(c, "m2", false), 1);
    assert_true(says(c, "m2", true, "return == 0"));
    contracts_free(c);

    c = steered(s, "Concord(m1, m2)\n", &k);
    assert_false(says(c, "m2", true, "return == 0"));
    /* which says more than return >= 0 */
    assert_true(says(c, "m2", true, "return == 0 || return == 1 || return == 2"));
    assert_true(says(c, "m2", true, "return == x / 3"));
    /* Exactly the last three of m1: not the one with -3. */
    Arena a = { 0 };
    Row row;
    Invariant constant = { .kind = INV_ONE_OF, .n = 1, .v = { 1 } };
    assert_int_equal(contract_refuted(c, &k, m2, true, &constant, &row, &a), 0);
    assert_int_equal(row.cells[0].i, 3);
    const FunctionContract *fc = contracts_of(c, m2);
    for (size_t i = 0; i < fc->post.len; i++)
        assert_int_equal(fc->post.items[i].samples, 12 + 3 * 4);
    arena_release(&a);
    contracts_free(c);
    constraints_release(&k);
    samples_free(s);
}

/* AT4: what m starts with, the constructor may have left. */
static void follows_widens_what_a_constructor_leaves(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *ctor = samples_function(s, "ctor"), *m = samples_function(s, "m");
    Var now = integer("o->fld", "(struct o)->fld", ROLE_MEMORY);
    Constraints k;

    point_vars(s, &ctor->exit, &now, 1);
    point_vars(s, &m->entry, &now, 1);
    one_value(s, &ctor->exit, 100, 60);
    for (int i = 1; i <= 60; i++)
        one_value(s, &m->entry, i, 3);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "ctor", true, "o->fld == 100"));
    contracts_free(c);
    c = steered(s, "Follows(ctor, m)\n", &k);
    assert_false(says(c, "ctor", true, "o->fld == 100"));
    assert_true(says(c, "ctor", true, "o->fld > 0"));
    contracts_free(c);
    constraints_release(&k);
    samples_free(s);
}

/* AT4, the same shape: head one of {0, 1, 2} becomes head >= 0. */
static void follows_widens_a_set_to_a_bound(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *add = samples_function(s, "add"), *del = samples_function(s, "del");
    Var now = integer("b->head", "(struct b)->head", ROLE_MEMORY);
    Constraints k;

    point_vars(s, &add->exit, &now, 1);
    point_vars(s, &del->entry, &now, 1);
    for (int i = 0; i < 3; i++)
        one_value(s, &add->exit, i, 10);
    for (int i = 0; i < 40; i++)
        one_value(s, &del->entry, i, 5);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "add", true, "b->head == 0 || b->head == 1 || b->head == 2"));
    contracts_free(c);
    c = steered(s, "Follows(add, del)\n", &k);
    assert_true(says(c, "add", true, "b->head >= 0"));
    assert_int_equal(count_of(c, "add", true), 1);
    contracts_free(c);
    constraints_release(&k);
    samples_free(s);
}

/* AT5: a function that never ran takes nothing away. */
static void an_unexecuted_source_changes_nothing(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *m2;
    Constraints k;

    function(s, "m1");
    m2 = function(s, "m2");
    for (int i = 0; i < 30; i++)
        called(s, m2, i, i, 5);
    Contracts *before = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    Contracts *after = steered(s, "Subdomain(m1, m2)\n", &k);
    assert_int_equal(count_of(before, "m2", false), count_of(after, "m2", false));
    assert_true(says(after, "m2", false, "x >= 0"));
    contracts_free(before);
    contracts_free(after);
    constraints_release(&k);
    samples_free(s);
}

/* AT6: the destination need not ever have run. */
static void an_empty_target_gets_what_the_source_shows(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f"), *g = samples_function(s, "g");
    Var result = pointer("return", "return", ROLE_RESULT);
    Constraints k;

    point_vars(s, &f->exit, &result, 1);
    point_vars(s, &g->exit, &result, 1);
    for (int i = 1; i <= 20; i++)
        one_value(s, &f->exit, i, 1);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_int_equal(count_of(c, "g", true), 0);
    contracts_free(c);
    c = steered(s, "Subrange(f, g)\n", &k);
    assert_true(says(c, "g", true, "return != NULL"));
    const FunctionContract *fc = contracts_of(c, g);
    assert_false(contract_is_own(fc, &fc->post.items[0], true));
    contracts_free(c);
    constraints_release(&k);
    samples_free(s);
}

/* AT7: rate and confidence. */
static void rate_and_confidence_are_the_published_ones(void **state)
{
    (void)state;
    double p[] = { 0.99, 1 }, q[] = { 1, 0.99, 1 };

    assert_true(fabs(discover_rate(3, 4) - 0.75) < 1e-9);
    assert_true(fabs(discover_confidence(p, 2, q, 3) - 0.9867) < 5e-5);
    assert_int_equal(discover_candidates(54), 2862);
}

/* AT8: 11 samples are silent, 12 speak. */
static void a_pointer_must_be_seen_twelve_times(void **state)
{
    (void)state;
    for (int n = 11; n <= 12; n++) {
        Samples *s = samples_new(1);
        FunctionSamples *f = samples_function(s, "f");
        Var p = pointer("p", "arg1of1", ROLE_PARAM);
        point_vars(s, &f->entry, &p, 1);
        for (int i = 1; i <= n; i++)
            one_value(s, &f->entry, i, 1);
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        assert_int_equal(says(c, "f", false, "p != NULL"), n == 12);
        contracts_free(c);
        samples_free(s);
    }
    assert_true(confidence_nonzero(11, 3) < 0.99);
    assert_true(confidence_nonzero(12, 3) >= 0.99);
}

static void confidence_grows_on_a_line(void **state)
{
    (void)state;
    assert_true(confidence_is_ge(5, 5) == 1);
    assert_true(confidence_is_ge(1, 5) == 0);
    assert_true(confidence_is_ge(3, 5) == 0.5);
}

/* --- propagation */

/* Three ways of saying that three functions want the same. */
static void equality_is_the_same_however_it_is_said(void **state)
{
    (void)state;
    static const char *const said[] = {
        "Subdomain(a, b)\nSubdomain(b, c)\nSubdomain(c, a)\n",
        "Subdomain(b, a)\nSubdomain(c, b)\nSubdomain(a, c)\n",
        ("Subdomain(a, b)\nSubdomain(b, a)\nSubdomain(a, c)\nSubdomain(c, a)\n"
         "Subdomain(b, c)\nSubdomain(c, b)\n"),
    };
    for (int way = 0; way < 3; way++) {
        Samples *s = samples_new(1);
        FunctionSamples *a = function(s, "a"), *b = function(s, "b"), *c = function(s, "c");
        Constraints k;
        called(s, a, 7, 0, 9);
        for (int i = 0; i < 12; i++) {
            called(s, b, i, 0, 3);
            called(s, c, i, 0, 3);
        }
        Contracts *found = steered(s, said[way], &k);
        const char *names[] = { "a", "b", "c" };
        for (int i = 0; i < 3; i++) {
            const FunctionContract *fc = contracts_of(found, samples_find(s, names[i]));
            assert_true(says(found, names[i], false, "x >= 0"));
            assert_int_equal(fc->pre.len, 1);
            /* each sample once, whatever the ways */
            assert_int_equal(fc->pre.items[0].samples, 9 + 36 + 36);
        }
        contracts_free(found);
        constraints_release(&k);
        samples_free(s);
    }
}

static void can_follow_passes_state_and_no_parameters(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *push = samples_function(s, "push"), *pop = samples_function(s, "pop");
    Var vars[] = { pointer("s", "(struct s)", ROLE_PARAM),
                   integer("s->top", "(struct s)->top", ROLE_MEMORY) };
    uint8_t known[] = { 1, 1 };
    Constraints k;

    point_vars(s, &push->exit, vars, 2);
    point_vars(s, &pop->entry, vars, 2);
    for (int i = 0; i < 40; i++) {
        Cell out[] = { { .i = 100 + i }, { .i = i } }, in[] = { { .i = 5 }, { .i = 3 } };
        point_add_times(s, &push->exit, out, known, 4);
        point_add_times(s, &pop->entry, in, known, 2);
    }
    Contracts *c = steered(s, "CanFollow(push, pop)\n", &k);
    assert_true(says(c, "pop", false, "s has only one value"));
    assert_false(says(c, "pop", false, "s->top == 3"));
    assert_true(says(c, "pop", false, "s->top >= 0"));
    contracts_free(c);
    constraints_release(&k);
    samples_free(s);
}

static void a_condition_lets_only_such_results_pass(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *has = samples_function(s, "has"), *next = samples_function(s, "next");
    Var vars[] = { integer("i->left", "(struct i)->left", ROLE_MEMORY),
                   integer("return", "return", ROLE_RESULT) };
    uint8_t known[] = { 1, 1 };
    Constraints k;

    point_vars(s, &has->exit, vars, 2);
    point_vars(s, &next->entry, vars, 1);
    for (int i = 0; i < 40; i++) {
        Cell out[] = { { .i = i % 8 }, { .i = i % 8 != 0 } };
        point_add(s, &has->exit, out, known);
        one_value(s, &next->entry, 1 + i % 7, 4);
    }
    Contracts *c = steered(s, "CanFollow(has: return != 0, next)\n", &k);
    assert_true(says(c, "next", false, "i->left > 0"));
    contracts_free(c);
    constraints_release(&k);
    c = steered(s, "CanFollow(has, next)\n", &k);
    assert_false(says(c, "next", false, "i->left > 0"));
    contracts_free(c);
    constraints_release(&k);
    samples_free(s);
}

static void only_the_listed_variables_are_spoken_of(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f");
    Var vars[] = { integer("x", "arg1of2", ROLE_PARAM), integer("y", "arg2of2", ROLE_PARAM) };
    uint8_t known[] = { 1, 1 };
    Constraints k;

    point_vars(s, &f->entry, vars, 2);
    for (int i = 0; i < 60; i++)
        point_add(s, &f->entry, (Cell[]){ { .i = 7 }, { .i = 9 } }, known);
    Contracts *c = steered(s, "OnlyCareAboutVariable(f: y)\n", &k);
    assert_false(says(c, "f", false, "x == 7"));
    assert_true(says(c, "f", false, "y == 9"));
    contracts_free(c);
    constraints_release(&k);
    samples_free(s);
}

/* --- kinds of invariants */

static void rows_of_three(Samples *s, Point *p, int n, void (*fill)(int i, Cell *c))
{
    uint8_t known[] = { 1, 1, 1 };

    for (int i = 0; i < n; i++) {
        Cell c[3] = { { 0 } };
        fill(i, c);
        point_add(s, p, c, known);
    }
}

static void fill_sum(int i, Cell *c)
{
    c[0].i = i % 7;
    c[1].i = (i * 5) % 11;
    c[2].i = c[0].i + c[1].i;
}

static void fill_product(int i, Cell *c)
{
    c[0].i = 2 + i % 7;
    c[1].i = 3 + (i * 5) % 11;
    c[2].i = c[0].i * c[1].i;
}

static void fill_maximum(int i, Cell *c)
{
    c[0].i = i % 7;
    c[1].i = (i * 5) % 11;
    c[2].i = c[0].i > c[1].i ? c[0].i : c[1].i;
}

static void fill_double(int i, Cell *c)
{
    c[0].i = i;
    c[1].i = i * 37 % 101;
    c[2].i = 2 * i + 3;
}

static void equations_of_three_are_found(void **state)
{
    (void)state;
    static const struct {
        void (*fill)(int i, Cell *c);
        const char *text;
    } rows[] = {
        { fill_sum, "return == a + b" },
        { fill_product, "return == a * b" },
        { fill_maximum, "return == max(a, b)" },
        { fill_double, "return == 2 * a + 3" },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        Samples *s = samples_new(1);
        FunctionSamples *f = samples_function(s, "f");
        Var vars[] = { integer("a", "arg1of2", ROLE_PARAM), integer("b", "arg2of2", ROLE_PARAM),
                       integer("return", "return", ROLE_RESULT) };
        point_vars(s, &f->exit, vars, 3);
        rows_of_three(s, &f->exit, 60, rows[i].fill);
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        if (!says(c, "f", true, rows[i].text))
            fail_msg("not found: %s", rows[i].text);
        contracts_free(c);
        samples_free(s);
    }
}

static void fill_guarded(int i, Cell *c)
{
    c[0].i = i % 19;
    c[2].i = c[0].i > 5 ? 0 : -1;
    c[1].i = c[2].i == 0 ? c[0].i : c[0].i * 31 % 17;
}

static void a_failing_result_splits_the_calls(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f");
    Var vars[] = { integer("n", "arg1of1", ROLE_PARAM), integer("*out", "*arg1of1", ROLE_MEMORY),
                   integer("return", "return", ROLE_RESULT) };

    point_vars(s, &f->exit, vars, 3);
    rows_of_three(s, &f->exit, 60, fill_guarded);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "f", true, "return >= 0 ==> *out == n"));
    assert_false(says(c, "f", true, "*out == n"));
    contracts_free(c);
    samples_free(s);
}

static void what_is_not_known_refutes_nothing(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f");
    Var x = integer("p->n", "(struct p)->n", ROLE_MEMORY);
    uint8_t unknown = 0;
    Cell garbage = { .i = 0xa5a5 };

    point_vars(s, &f->entry, &x, 1);
    one_value(s, &f->entry, 4, 50);
    point_add(s, &f->entry, &garbage, &unknown);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "f", false, "p->n == 4"));
    assert_int_equal(contracts_of(c, f)->pre.items[0].samples, 50);
    contracts_free(c);
    samples_free(s);
}

static void different_units_are_not_compared(void **state)
{
    (void)state;
    for (unsigned unit = 1; unit <= 2; unit++) {
        Samples *s = samples_new(1);
        FunctionSamples *f = samples_function(s, "f");
        Var vars[] = { integer("len", "arg1of2", ROLE_PARAM),
                       integer("colour", "arg2of2", ROLE_PARAM) };
        uint8_t known[] = { 1, 1 };
        vars[0].unit = 1;
        vars[1].unit = unit;
        point_vars(s, &f->entry, vars, 2);
        for (int i = 0; i < 40; i++)
            point_add(s, &f->entry, (Cell[]){ { .i = i }, { .i = i + i % 5 } }, known);
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        assert_int_equal(says(c, "f", false, "len <= colour"), unit == 1);
        contracts_free(c);
        samples_free(s);
    }
}

/* --- what the source itself says */

/* A function whose one variable at entry was x all the time. */
static bool says_of(Var v, int64_t x, unsigned times, const char *text)
{
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f");

    point_vars(s, &f->entry, &v, 1);
    one_value(s, &f->entry, x, times);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    bool said = says(c, "f", false, text);
    contracts_free(c);
    samples_free(s);
    return said;
}

static void a_constant_that_the_source_contradicts_is_an_accident(void **state)
{
    Var v = integer("t->order", "(struct t)->order", ROLE_MEMORY);
    (void)state;

    v.depth = v.parent = 1;
    assert_true(says_of(v, 3, 200, "t->order == 3"));          /* the source was not looked at */
    v.is_looked_up = v.is_put = true;
    v.nputs = 1;
    v.puts[0] = 3;
    assert_true(says_of(v, 3, 200, "t->order == 3"));
    v.is_put_other = true;                     /* computed somewhere */
    assert_false(says_of(v, 3, 200, "t->order == 3"));
    v.is_put_other = false;
    v.nputs = 2;
    v.puts[1] = 5;                             /* another constant somewhere */
    assert_false(says_of(v, 3, 200, "t->order == 3"));
}

static void a_result_that_the_source_returns_refutes(void **state)
{
    Var v = pointer("return", "return", ROLE_RESULT);
    (void)state;

    v.is_looked_up = v.is_put = v.is_put_other = true;
    assert_true(says_of(v, 8, 40, "return != NULL"));
    v.nputs = 1;                               /* return NULL; */
    assert_false(says_of(v, 8, 40, "return != NULL"));
}

static void a_computed_number_has_no_small_bound(void **state)
{
    Samples *s = samples_new(1);
    (void)state;

    for (int computed = 0; computed < 2; computed++) {
        FunctionSamples *f = samples_function(s, computed ? "g" : "f");
        Var v = integer("t->depth", "(struct t)->depth", ROLE_MEMORY);
        v.depth = v.parent = 1;
        v.is_looked_up = v.is_put = true;
        v.is_put_other = computed;
        point_vars(s, &f->entry, &v, 1);
        for (int i = 0; i < 300; i++)
            one_value(s, &f->entry, -(i % 9), 1);
    }
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "f", false, "t->depth <= 0"));
    assert_false(says(c, "g", false, "t->depth <= 0"));
    contracts_free(c);
    samples_free(s);
}

static void who_looks_for_null_does_not_require_anything(void **state)
{
    Var v = pointer("p", "arg1of1", ROLE_PARAM);
    (void)state;

    assert_true(says_of(v, 8, 40, "p != NULL"));
    v.takes_null = true;
    assert_false(says_of(v, 8, 40, "p != NULL"));
    v.takes_null = false;
    v.is_looked_up = v.is_put = v.is_put_other = true;
    assert_true(says_of(v, 8, 40, "p != NULL"));
    v.type = "void *";                         /* a user's own data */
    assert_false(says_of(v, 8, 40, "p != NULL"));
}

/* f saw one object 40 times; g others, perhaps. */
static void one_object_is_told_if_there_were_others(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        Samples *s = samples_new(1);
        Var v = pointer("p", "arg1of1", ROLE_PARAM);
        v.type = "struct t *";
        for (int i = 0; i < 2; i++) {
            FunctionSamples *f = samples_function(s, i ? "g" : "f");
            point_vars(s, &f->entry, &v, 1);
            for (int k = 0; k < 40; k++)
                one_value(s, &f->entry, i && others ? 9 + k % 3 : 8, 1);
        }
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        assert_int_equal(says(c, "f", false, "p has only one value"), others);
        contracts_free(c);
        samples_free(s);
    }
}

static void fields_that_are_stored_apart_are_equal_by_chance(void **state)
{
    (void)state;
    for (int apart = 0; apart <= APART; apart += APART) {
        Samples *s = samples_new(1);
        FunctionSamples *f = samples_function(s, "f");
        Var vars[] = { integer("t->level", "(struct t)->level", ROLE_MEMORY),
                       integer("t->text", "(struct t)->text", ROLE_MEMORY) };
        vars[0].parent = vars[1].parent = 1;
        point_vars(s, &f->entry, vars, 2);
        point_relate(s, &f->entry, 0, 1, (Relation)(RELATED | apart));
        for (int i = 0; i < 40; i++)
            point_add(s, &f->entry, (Cell[]){ { .i = i }, { .i = i } }, (uint8_t[]){ 1, 1 });
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        assert_int_equal(says(c, "f", false, "t->text == t->level"), !apart);
        contracts_free(c);
        samples_free(s);
    }
}

static void what_the_program_tests_may_be_null(void **state)
{
    Var v = pointer("t->next", "(struct t)->next", ROLE_MEMORY);
    (void)state;

    v.depth = v.parent = 1;
    assert_true(says_of(v, 8, 100, "t->next != NULL"));
    v.is_tested = true;
    assert_false(says_of(v, 8, 100, "t->next != NULL"));
    assert_true(says_of(v, 8, 2000, "t->next != NULL"));
}

/* A field at the exit that was `before` in 300 calls; then once more, when it may not
 * have been there yet. */
static bool says_unchanged(bool known_before, const char *text)
{
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f");
    Var vars[] = { integer("orig(t->n)", "orig((struct t)->n)", ROLE_MEMORY),
                   integer("t->n", "(struct t)->n", ROLE_MEMORY) };

    vars[0].orig = true;
    vars[0].twin = 1;
    vars[1].twin = 0;
    vars[0].depth = vars[1].depth = 1;
    f->exit.is_exit = true;
    point_vars(s, &f->exit, vars, 2);
    for (int i = 0; i < 300; i++)
        point_add(s, &f->exit, (Cell[]){ { .i = i }, { .i = i } }, (uint8_t[]){ 1, 1 });
    point_add(s, &f->exit, (Cell[]){ { .i = 4 }, { .i = 4 } }, (uint8_t[]){ known_before, 1 });
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    bool said = says(c, "f", true, text);
    contracts_free(c);
    samples_free(s);
    return said;
}

static void what_was_not_there_before_has_changed(void **state)
{
    (void)state;
    assert_true(says_unchanged(true, "t->n == orig(t->n)"));
    assert_false(says_unchanged(false, "t->n == orig(t->n)"));
}

/* Two fields stay as they were; an element, which is worked out of several, is seldom known and
 * changes: it is no field. */
static void an_element_that_changes_is_no_field(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f");
    Var vars[7] = { pointer("t", "arg1of1", ROLE_PARAM) };
    static const char *const names[] = { "t->n", "t->m", "t->a[t->n]" };
    vars[0].type = "struct t *";
    vars[0].param = 0;
    for (int i = 0; i < 3; i++) {
        char *before = xprintf("orig(%s)", names[i]);
        vars[1 + 2 * i] = integer(before, before, ROLE_MEMORY);
        vars[2 + 2 * i] = integer(names[i], names[i], ROLE_MEMORY);
        vars[1 + 2 * i].orig = true;
        vars[1 + 2 * i].twin = 2 + 2 * i;
        vars[2 + 2 * i].twin = 1 + 2 * i;
        vars[1 + 2 * i].depth = vars[2 + 2 * i].depth = 1;
        vars[1 + 2 * i].param = vars[2 + 2 * i].param = 0;
    }
    f->exit.is_exit = true;
    point_vars(s, &f->exit, vars, 7);
    for (int i = 0; i < 40; i++) {
        uint8_t some = i % 5 == 0;
        point_add(s, &f->exit,
                  (Cell[]){ { .i = 64 },
                            { .i = i },
                            { .i = i },
                            { .i = i * i },
                            { .i = i * i },
                            { .i = 1 },
                            { .i = 2 } },
                  (uint8_t[]){ 1, 1, 1, 1, 1, some, some });
    }
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "f", true, "*t == orig(*t)"));
    contracts_free(c);
    samples_free(s);
    free((char *)vars[1].name);
    free((char *)vars[3].name);
    free((char *)vars[5].name);
}

/* The exit's field is 7 after 50 calls, before it was this or that. */
static void a_constant_that_one_way_stores_is_an_accident(void **state)
{
    (void)state;
    for (int always = 0; always < 2; always++) {
        Samples *s = samples_new(1);
        FunctionSamples *f = samples_function(s, "f");
        Var vars[] = { integer("orig(t->n)", "orig((struct t)->n)", ROLE_MEMORY),
                       integer("t->n", "(struct t)->n", ROLE_MEMORY) };

        vars[0].orig = true;
        vars[0].twin = 1;
        vars[1].twin = 0;
        vars[1].is_looked_up = vars[1].is_put = vars[1].is_stored = true;
        vars[1].is_always_stored = always;
        vars[1].nputs = 1;
        vars[1].puts[0] = 7;
        f->exit.is_exit = true;
        point_vars(s, &f->exit, vars, 2);
        for (int i = 0; i < 50; i++)
            point_add(s, &f->exit, (Cell[]){ { .i = i }, { .i = 7 } }, (uint8_t[]){ 1, 1 });
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        assert_int_equal(says(c, "f", true, "t->n == 7"), always);
        contracts_free(c);
        samples_free(s);
    }
}

static void fields_are_ordered_if_the_program_compares_them(void **state)
{
    (void)state;
    for (int r = RELATED; r <= COMPARED; r++) {
        Samples *s = samples_new(1);
        FunctionSamples *f = samples_function(s, "f");
        Var vars[] = { integer("t->level", "(struct t)->level", ROLE_MEMORY),
                       integer("t->room", "(struct t)->room", ROLE_MEMORY) };
        vars[0].parent = vars[1].parent = 1;
        point_vars(s, &f->entry, vars, 2);
        point_relate(s, &f->entry, 0, 1, (Relation)r);
        for (int i = 0; i < 40; i++)
            point_add(s, &f->entry, (Cell[]){ { .i = i }, { .i = i + i % 5 } },
                      (uint8_t[]){ 1, 1 });
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        assert_int_equal(says(c, "f", false, "t->level <= t->room"), r == COMPARED);
        contracts_free(c);
        samples_free(s);
    }
}

/* --- memory */

static void a_million_samples_keep_a_few_rows_and_the_extremes(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = samples_function(s, "f");
    Var x = integer("x", "arg1of1", ROLE_PARAM);

    point_vars(s, &f->entry, &x, 1);
    for (int i = 0; i < 1000000; i++)
        one_value(s, &f->entry, (int64_t)i * 7919 % 1000003, 1);
    one_value(s, &f->entry, -5, 1);
    assert_int_equal(f->entry.total, 1000001);
    assert_true(f->entry.rows.len < 6000);
    assert_int_equal(f->entry.least[0], -5);
    bool there = false;
    for (size_t i = 0; i < f->entry.rows.len; i++)
        there |= f->entry.rows.items[i].cells[0].i == -5;
    assert_true(there);
    samples_check(s);
    samples_free(s);
}

static void samples_come_back_from_their_file(void **state)
{
    (void)state;
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *path = path_join(dir, "x.samples");
    Samples *s = samples_new(1);
    FunctionSamples *f = function(s, "f g\n\"h");
    VarValue values[] = { { 0, "RED" }, { 1, "BLUE" } };
    Var colour = integer("c", "arg1of1", ROLE_PARAM);

    colour.values = values;
    colour.nvalues = 2;
    FunctionSamples *g = samples_function(s, "g");
    point_vars(s, &g->entry, &colour, 1);
    one_value(s, &g->entry, 1, 50);
    called(s, f, 3, -1, 7);
    assert_int_equal(samples_text_number(s, "a \\ \n text"), 1);
    assert_true(samples_write(s, path, &err));
    Samples *t = samples_read(path, 1, &err);
    assert_non_null(t);
    samples_check(t);
    const FunctionSamples *h = samples_find(t, "f g\n\"h");
    assert_non_null(h);
    assert_int_equal(h->exit.rows.len, 1);
    assert_int_equal(h->exit.rows.items[0].cells[1].i, -1);
    assert_int_equal(h->exit.rows.items[0].count, 7);
    assert_string_equal(samples_text(t, 1), "a \\ \n text");
    Contracts *c = contracts_infer(t, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "g", false, "c == BLUE"));
    contracts_free(c);
    samples_free(t);

    /* Cut short anywhere it is refused or read, never worse. */
    Str text = { 0 };
    assert_true(file_read(path, &text, &err));
    for (size_t n = 0; n < text.len; n++) {
        Err e = { 0 };
        assert_true(file_write(path, text.data, n, &err));
        Samples *cut = samples_read(path, 1, &e);
        assert_true(cut || *e.msg);
        samples_free(cut);
    }
    str_release(&text);
    samples_free(s);
    tempdir_remove(dir);
    free(path);
}

/* --- bad input */

static void a_constraint_that_is_none_is_told_with_its_line(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "# fine\nCanFolow(a, b)\n",
        "CanFollow(a)\n",
        "CanFollow(a, b, c)\n",
        "CanFollow\n",
        "CanFollow(a, b\n",
        "OnlyCareAboutField(f)\n",
        "Follows(a: return > 7, b)\n",
        "Subdomain(a: return == 0, b)\n",
        "CanFollow(, b)\n",
        "CanFollow(a, b) c\n",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        Constraints k = { 0 };
        Err err = { 0 };
        assert_false(constraints_parse(bad[i], "r", &k, &err));
        assert_true(strncmp(err.msg, "r:", 2) == 0);
        constraints_release(&k);
    }
}

static void functions_that_are_not_there_or_do_not_match_are_told(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = function(s, "push"), *g = samples_function(s, "colour");
    Var p = pointer("p", "arg1of3", ROLE_PARAM);
    Constraints k = { 0 };
    Err err = { 0 };

    called(s, f, 1, 1, 1);
    point_vars(s, &g->entry, &p, 1);
    assert_true(constraints_parse("Subdomain(push, pusch)\n", "r", &k, &err));
    assert_false(constraints_match(&k, s, &err));
    assert_non_null(strstr(err.msg, "did you mean push?"));
    constraints_release(&k);
    k = (Constraints){ 0 };
    assert_true(constraints_parse("Subdomain(push, colour)\n", "r", &k, &err));
    assert_false(constraints_match(&k, s, &err));
    assert_non_null(strstr(err.msg, "no variable in common"));
    constraints_release(&k);
    samples_free(s);
}

static void constraints_print_as_they_are_read(void **state)
{
    (void)state;
    static const char text[] = "CanFollow(has: return != 0, next)\n"
                               "OnlyCareAboutField(get: len, room)\nConcord(a, b)\n";
    Constraints k = { 0 };
    Str out = { 0 };
    Err err = { 0 };

    assert_true(constraints_parse(text, "r", &k, &err));
    for (size_t i = 0; i < k.items.len; i++) {
        constraint_print(&k.items.items[i], &out);
        str_addc(&out, '\n');
    }
    assert_string_equal(str_c(&out), text);
    str_release(&out);
    constraints_release(&k);
}

/* --- implication and discovery */

static void implications_are_proved_quickly_or_by_the_solver(void **state)
{
    (void)state;
    Prover *p = prover_new();
    Var vars[] = { integer("x", "x", ROLE_MEMORY), integer("y", "y", ROLE_MEMORY),
                   integer("z", "z", ROLE_MEMORY) };
    Invariant facts[] = {
        { .kind = INV_LESS, .v = { 0, 1 }, .k = { { .i = -1 } } },       /* x < y */
        { .kind = INV_LESS, .v = { 1, 2 }, .k = { { .i = 0 } } },        /* y <= z */
        { .kind = INV_LOWER, .v = { 0 }, .k = { { .i = 1 } } },          /* x >= 1 */
        { .kind = INV_ONE_OF, .n = 2, .v = { 1 }, .k = { { .i = 4 }, { .i = 9 } } },
    };
    Invariant yes[] = {
        { .kind = INV_LESS, .v = { 0, 2 }, .k = { { .i = -1 } } },       /* x < z */
        { .kind = INV_NONZERO, .v = { 0 } },
        { .kind = INV_LOWER, .v = { 2 }, .k = { { .i = 2 } } },          /* z >= 2 */
        { .kind = INV_UPPER, .v = { 1 }, .k = { { .i = 9 } } },
    };
    Invariant no[] = {
        { .kind = INV_LESS, .v = { 2, 0 }, .k = { { .i = 0 } } },
        { .kind = INV_UPPER, .v = { 0 }, .k = { { .i = 5 } } },
        { .kind = INV_EQUAL, .v = { 1, 2 } },
    };
    bool used[4];

    for (unsigned i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(prove(p, vars, 3, facts, 4, &yes[i], used));
    for (unsigned i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(prove(p, vars, 3, facts, 4, &no[i], used));
    assert_true(prover_figures(p).quick >= 2);
    assert_true(prover_figures(p).solver >= 3);
    prover_free(p);
}

static void discovery_finds_what_holds_and_nothing_vacuous(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *push = samples_function(s, "push"), *pop = samples_function(s, "pop");
    FunctionSamples *other = function(s, "other");
    Var top = integer("s->top", "(struct s)->top", ROLE_MEMORY);

    point_vars(s, &push->exit, &top, 1);
    point_vars(s, &pop->entry, &top, 1);
    for (int i = 1; i < 30; i++) {
        one_value(s, &push->exit, i, 9);
        one_value(s, &pop->entry, i, 9);
    }
    called(s, other, 1, 2, 30);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    Discovered d = { 0 };
    discover(c, &(DiscoverPlan){ 0 }, &d);
    bool can_follow = false;
    for (size_t i = 0; i < d.constraints.items.len; i++) {
        const Constraint *k = &d.constraints.items.items[i];
        assert_true(k->of > 0 && k->proved > 0 && k->rate >= 0.75);
        assert_true(strcmp(k->from, "other") != 0 && strcmp(k->to, "other") != 0);
        can_follow |= k->kind == CONSTRAINT_CAN_FOLLOW && strcmp(k->from, "push") == 0 &&
                      strcmp(k->to, "pop") == 0;
    }
    assert_true(can_follow);
    discovered_release(&d);
    contracts_free(c);
    samples_free(s);
}

/* Two functions that see the same variable of the program, of two types or of one. */
static void a_global_does_not_relate_functions_of_two_types(void **state)
{
    (void)state;
    for (int strangers = 0; strangers < 2; strangers++) {
        Samples *s = samples_new(1);
        for (int i = 0; i < 2; i++) {
            FunctionSamples *f = samples_function(s, i ? "read" : "write");
            Var v = integer("limit", "::limit", ROLE_GLOBAL);
            f->nparams = (unsigned)i + 1;
            f->handle = i && strangers ? "struct in" : "struct out";
            point_vars(s, &f->entry, &v, 1);
            for (int k = 1; k < 30; k++)
                one_value(s, &f->entry, k, 9);
        }
        Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
        Discovered d = { 0 };
        discover(c, &(DiscoverPlan){ 0 }, &d);
        assert_int_equal(d.constraints.items.len > 0, !strangers);
        discovered_release(&d);
        contracts_free(c);
        samples_free(s);
    }
}

/* --- a new run */

static void a_new_run_is_held_against_the_contracts(void **state)
{
    (void)state;
    Samples *s = samples_new(1), *t = samples_new(1);
    FunctionSamples *f = function(s, "f"), *g = function(t, "f");
    BrokenList broken = { 0 };
    size_t lost;

    for (int i = 0; i < 40; i++)
        called(s, f, i, i + 1, 5);
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    assert_true(says(c, "f", true, "return == x + 1"));
    json_t *all = json_pack("[o]", contract_to_json(c, &c->functions.items[0]));
    called(t, g, 100, 101, 3);
    contracts_check(all, t, false, &broken, &lost);
    assert_int_equal(broken.len, 0);
    called(t, g, 7, 9, 2);
    contracts_check(all, t, false, &broken, &lost);
    assert_int_equal(broken.len, 1);
    assert_int_equal(lost, 0);
    assert_true(broken.items[0].is_exit);
    assert_int_equal(broken.items[0].times, 2);
    Str values = { 0 };
    inv_print_values(&broken.items[0].inv, &g->exit, t, &broken.items[0].row, &values);
    assert_string_equal(str_c(&values), "return = 9, x = 7");
    str_release(&values);
    json_decref(all);
    vec_release(&broken);
    contracts_free(c);
    samples_free(s);
    samples_free(t);
}

/* Samples of f(x), each x from 0 to `most` a few times. */
static Samples *up_to(int64_t most)
{
    Samples *s = samples_new(1);
    FunctionSamples *f = function(s, "f");

    for (int64_t x = 0; x <= most; x++)
        called(s, f, x, 2 * x, 5);
    return s;
}

static size_t broken_by(const json_t *functions, int64_t most, bool all)
{
    Samples *fresh = up_to(most);
    BrokenList broken = { 0 };
    size_t lost;

    contracts_check(functions, fresh, all, &broken, &lost);
    size_t n = broken.len;
    assert_int_equal(lost, 0);
    vec_release(&broken);
    samples_free(fresh);
    return n;
}

/* Both fields stay in their bounds, but they come apart. */
static void steady_fields_keep_their_distance(void **state)
{
    Samples *s = samples_new(1), *now = samples_new(1);
    (void)state;

    for (int run = 0; run < 2; run++) {
        Samples *to = run ? now : s;
        FunctionSamples *f = samples_function(to, "f");
        Var vars[] = { integer("t->used", "(struct t)->used", ROLE_MEMORY),
                       integer("t->room", "(struct t)->room", ROLE_MEMORY) };
        vars[0].parent = vars[1].parent = vars[0].depth = vars[1].depth = 1;
        f->exit.is_exit = true;
        f->calls = 20;
        point_vars(to, &f->exit, vars, 2);
        for (int i = 0; i < 20; i++)
            point_add(to, &f->exit, (Cell[]){ { .i = i }, { .i = i == 9 && run ? 12 : i } },
                      (uint8_t[]){ 1, 1 });
    }
    Contracts *c =
        contracts_infer(s, NULL, &(ContractPlan){ .infer.loose = true, .no_state = true });
    json_t *functions = json_pack("[o]", contract_to_json(c, &c->functions.items[0]));
    BrokenList same = { 0 }, other = { 0 };
    size_t lost;
    contracts_check(functions, s, true, &same, &lost);
    contracts_check(functions, now, true, &other, &lost);
    assert_int_equal(same.len, 0);
    assert_int_not_equal(other.len, 0);
    vec_release(&same);
    vec_release(&other);
    json_decref(functions);
    contracts_free(c);
    samples_free(s);
    samples_free(now);
}

static void the_same_command_is_held_against_all_that_is_steady(void **state)
{
    Samples *s = up_to(9), *same = up_to(9), *other = up_to(12);
    Contracts *c =
        contracts_infer(s, NULL, &(ContractPlan){ .infer.loose = true, .no_state = true });
    json_t *functions = json_pack("[o]", contract_to_json(c, &c->functions.items[0]));
    (void)state;

    assert_true(says(c, "f", false, "x <= 9"));
    contracts_keep_steady(functions, same);
    assert_int_equal(broken_by(functions, 9, true), 0);
    assert_int_not_equal(broken_by(functions, 12, true), 0);
    assert_int_equal(broken_by(functions, 12, false), 0);      /* another command may do that */
    contracts_keep_steady(functions, other);                   /* it differs from run to run */
    assert_int_equal(broken_by(functions, 12, true), 0);
    json_decref(functions);
    contracts_free(c);
    samples_free(s);
    samples_free(same);
    samples_free(other);
}

static void a_handles_state_stands_in_each_function(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    const char *names[] = { "grow", "shrink", "peek" };
    Var vars[] = { integer("t->level", "(struct t)->level", ROLE_MEMORY),
                   integer("t->room", "(struct t)->room", ROLE_MEMORY) };
    uint8_t known[] = { 1, 1 };

    for (int k = 0; k < 3; k++) {
        FunctionSamples *f = samples_function(s, names[k]);
        f->is_public = true;
        f->handle = "struct t";
        point_vars(s, &f->entry, vars, 2);
        for (int i = 0; i < (k == 2 ? 3 : 40); i++)
            point_add(s, &f->entry, (Cell[]){ { .i = i % 10 }, { .i = i % 10 + i % 3 } }, known);
    }
    Contracts *c = contracts_infer(s, NULL, &(ContractPlan){ 0 });
    for (int k = 0; k < 3; k++)
        assert_true(says(c, names[k], false, "t->level <= t->room"));
    const FunctionContract *peek = contracts_of(c, samples_find(s, "peek"));
    for (size_t i = 0; i < peek->pre.len; i++)
        if (peek->pre.items[i].kind == INV_LESS)
            assert_false(contract_is_own(peek, &peek->pre.items[i], false));
    contracts_free(c);
    samples_free(s);
}

/* The program chooses its numbers: none of them may overflow ours. */
static void the_least_number_has_no_opposite(void **state)
{
    (void)state;
    Samples *s = samples_new(1);
    FunctionSamples *f = function(s, "f");
    called(s, f, INT64_MIN, INT64_MIN, 1);
    called(s, f, -3, 3, 1);
    Invariant inv = { .kind = INV_ABSOLUTE, .v = { 1, 0 } };
    assert_false(inv_holds(&inv, &f->exit, &f->exit.rows.items[0]));
    assert_true(inv_holds(&inv, &f->exit, &f->exit.rows.items[1]));
    samples_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_number_has_no_opposite),
        cmocka_unit_test(concord_copies_the_calls_that_both_take),
        cmocka_unit_test(follows_widens_what_a_constructor_leaves),
        cmocka_unit_test(follows_widens_a_set_to_a_bound),
        cmocka_unit_test(an_unexecuted_source_changes_nothing),
        cmocka_unit_test(an_empty_target_gets_what_the_source_shows),
        cmocka_unit_test(rate_and_confidence_are_the_published_ones),
        cmocka_unit_test(a_pointer_must_be_seen_twelve_times),
        cmocka_unit_test(confidence_grows_on_a_line),
        cmocka_unit_test(equality_is_the_same_however_it_is_said),
        cmocka_unit_test(can_follow_passes_state_and_no_parameters),
        cmocka_unit_test(a_condition_lets_only_such_results_pass),
        cmocka_unit_test(only_the_listed_variables_are_spoken_of),
        cmocka_unit_test(equations_of_three_are_found),
        cmocka_unit_test(a_failing_result_splits_the_calls),
        cmocka_unit_test(what_is_not_known_refutes_nothing),
        cmocka_unit_test(different_units_are_not_compared),
        cmocka_unit_test(a_constant_that_the_source_contradicts_is_an_accident),
        cmocka_unit_test(a_result_that_the_source_returns_refutes),
        cmocka_unit_test(who_looks_for_null_does_not_require_anything),
        cmocka_unit_test(fields_that_are_stored_apart_are_equal_by_chance),
        cmocka_unit_test(one_object_is_told_if_there_were_others),
        cmocka_unit_test(a_computed_number_has_no_small_bound),
        cmocka_unit_test(what_the_program_tests_may_be_null),
        cmocka_unit_test(an_element_that_changes_is_no_field),
        cmocka_unit_test(what_was_not_there_before_has_changed),
        cmocka_unit_test(a_constant_that_one_way_stores_is_an_accident),
        cmocka_unit_test(fields_are_ordered_if_the_program_compares_them),
        cmocka_unit_test(a_million_samples_keep_a_few_rows_and_the_extremes),
        cmocka_unit_test(samples_come_back_from_their_file),
        cmocka_unit_test(a_constraint_that_is_none_is_told_with_its_line),
        cmocka_unit_test(functions_that_are_not_there_or_do_not_match_are_told),
        cmocka_unit_test(constraints_print_as_they_are_read),
        cmocka_unit_test(implications_are_proved_quickly_or_by_the_solver),
        cmocka_unit_test(a_global_does_not_relate_functions_of_two_types),
        cmocka_unit_test(discovery_finds_what_holds_and_nothing_vacuous),
        cmocka_unit_test(a_new_run_is_held_against_the_contracts),
        cmocka_unit_test(steady_fields_keep_their_distance),
        cmocka_unit_test(the_same_command_is_held_against_all_that_is_steady),
        cmocka_unit_test(a_handles_state_stands_in_each_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
