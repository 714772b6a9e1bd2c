#include "base/rng.h"
#include "solve/minimise.h"
#include "solve/solve.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- ddmin */

typedef struct Needs {
    size_t items[8];
    size_t n;
    unsigned flaky;           /* the first attempt fails now and then */
    unsigned calls;
} Needs;

static bool has_all(const size_t *items, size_t n, unsigned attempt, void *arg)
{
    Needs *want = arg;
    size_t found = 0;
    want->calls++;
    if (want->flaky && !attempt && want->calls % want->flaky == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < want->n; k++)
            found += items[i] == want->items[k];
    return found == want->n;
}

static void ddmin_finds_what_is_needed(void **state)
{
    (void)state;
    Rng rng = rng_seeded(3);
    for (unsigned round = 0; round < 200; round++) {
        size_t n = 1 + rng_below(&rng, 300), items[300], tests = 100000;
        Needs want = { .n = 0, .flaky = round % 3 ? 0 : 5 };
        for (size_t i = 0; i < n; i++)
            items[i] = i;
        for (size_t k = rng_below(&rng, 6); k-- > 0;) {
            size_t x = rng_below(&rng, n);
            bool twice = false;
            for (size_t i = 0; i < want.n; i++)
                twice |= want.items[i] == x;
            if (!twice)
                want.items[want.n++] = x;
        }
        n = minimise_ddmin(items, n, has_all, &want, &tests);
        assert_int_equal(n, want.n);
        for (size_t i = 1; i < n; i++)
            assert_true(items[i - 1] < items[i]);
    }
}

static void ddmin_stops_at_its_limit(void **state)
{
    (void)state;
    size_t items[100], tests = 5;
    Needs want = { .items = { 3, 50, 97 }, .n = 3 };
    for (size_t i = 0; i < 100; i++)
        items[i] = i;
    size_t n = minimise_ddmin(items, 100, has_all, &want, &tests);
    assert_int_equal(tests, 0);
    assert_true(n >= 3 && want.calls == 5);
    assert_true(has_all(items, n, 1, &want));
}

/* ---- paths */

typedef struct Fails {
    Exprs *p;
    Expr need[4];             /* the failure shows if all of these are there */
    size_t n;
    bool either;              /* or if any of them is */
} Fails;

static bool exposes(const Conjunct *c, size_t n, unsigned attempt, void *arg)
{
    Fails *f = arg;
    size_t found = 0;
    (void)attempt;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f->n; k++)
            found += c[i].cond == f->need[k];
    return f->either ? found > 0 : found == f->n;
}

static Expr is(Exprs *p, uint32_t byte, uint8_t v)
{
    return expr_binary(p, EXPR_EQ, expr_byte(p, byte), expr_const(p, 8, v));
}

static Path *path_of(Exprs *p, const Expr *conds, size_t n)
{
    Path *path = path_new(p);
    for (size_t i = 0; i < n; i++)
        path_add(path, conds[i], (uint32_t)i, true);
    return path;
}

static void what_is_in_common_and_matters_is_kept(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    Arena a = { 0 };
    Expr a1 = is(p, 0, 1), b2 = is(p, 1, 2), c5 = is(p, 2, 5), d7 = is(p, 3, 7);
    Path *paths[] = { path_of(p, (Expr[]){ a1, b2, c5, a1 }, 4),
                      path_of(p, (Expr[]){ a1, d7, c5 }, 3) };
    const Path *const *both = (const Path *const *)paths;
    Conjunct *common;
    assert_int_equal(minimise_intersection(&a, p, both, 2, &common), 2);
    assert_int_equal(common[0].cond, a1);
    assert_int_equal(common[1].cond, c5);
    Fails f = { .p = p, .need = { c5 }, .n = 1 };
    Minimised m = minimise_paths(&a, p, both, 2, NULL, exposes, &f);
    assert_int_equal(m.how, MINIMISE_EACH);
    assert_int_equal(m.n, 1);
    assert_int_equal(m.conjuncts[0].cond, c5);
    assert_true(m.complete && m.tests <= 2 * 3);
    /* Either of two is enough: no single one is necessary, but not none. */
    f = (Fails){ .p = p, .need = { a1, c5 }, .n = 2, .either = true };
    m = minimise_paths(&a, p, both, 2, NULL, exposes, &f);
    assert_int_equal(m.how, MINIMISE_COMMON);
    assert_int_equal(m.n, 1);
    /* It takes what only one path has: that path, minimised. */
    f = (Fails){ .p = p, .need = { d7 }, .n = 1 };
    m = minimise_paths(&a, p, both, 2, NULL, exposes, &f);
    assert_int_equal(m.how, MINIMISE_SHORTEST);
    assert_int_equal(m.n, 1);
    assert_int_equal(m.conjuncts[0].cond, d7);
    /* Nothing shows it again. */
    f = (Fails){ .p = p, .need = { is(p, 9, 9) }, .n = 1 };
    m = minimise_paths(&a, p, both, 2, NULL, exposes, &f);
    assert_int_equal(m.how, MINIMISE_NONE);
    assert_int_equal(m.n, 3);
    path_free(paths[0]);
    path_free(paths[1]);
    arena_release(&a);
    exprs_free(p);
}

static void thousands_of_conjuncts_go_by_groups(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    Arena a = { 0 };
    Path *path = path_new(p);
    for (uint32_t i = 0; i < 4000; i++)
        path_add(path, is(p, i / 40, (uint8_t)(i % 40)), i, false);
    Expr x = path_at(path, 777).cond, y = path_at(path, 3210).cond;
    Fails f = { .p = p, .need = { x, y }, .n = 2 };
    const Path *one = path;
    Minimised m = minimise_paths(&a, p, &one, 1, NULL, exposes, &f);
    assert_int_equal(m.how, MINIMISE_COMMON);
    assert_int_equal(m.n, 2);
    assert_int_equal(m.conjuncts[0].cond, x);
    assert_int_equal(m.conjuncts[1].cond, y);
    assert_true(m.tests < 200);
    /* Within few tests it is at least not wrong. */
    m = minimise_paths(&a, p, &one, 1, &(MinimisePlan){ .tests = 6 }, exposes, &f);
    assert_false(m.complete);
    assert_true(exposes(m.conjuncts, m.n, 0, &f));
    path_free(path);
    arena_release(&a);
    exprs_free(p);
}

/* With the solver in between: the failure is x > 200 at the end of a path
 * that also asked other things. */
typedef struct Program {
    Exprs *p;
    Solver *s;
} Program;

static bool crashes(const Conjunct *c, size_t n, unsigned attempt, void *arg)
{
    Program *prog = arg;
    uint8_t in[8] = { 0 };
    Path *path = path_new(prog->p);
    Answer ans;
    Expr all = expr_bool(prog->p, true);
    (void)attempt;
    for (size_t i = 0; i < n; i++)
        all = expr_binary(prog->p, EXPR_AND, all, c[i].cond);
    bool ok = solver_query_extra(prog->s, path, 0, all, in, 8, &ans) == SOLVE_SAT;
    for (size_t i = 0; i < ans.nchanges; i++)
        in[ans.changes[i].byte] = ans.changes[i].value;
    path_free(path);
    return ok && in[0] == 'G' && in[2] > 200;
}

static void solved_conditions_are_minimised(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    Arena a = { 0 };
    Program prog = { p, solver_new(p, NULL) };
    Expr g = is(p, 0, 'G'), i = is(p, 1, 'I');
    Expr big = expr_binary(p, EXPR_UGT, expr_byte(p, 2), expr_const(p, 8, 200));
    Expr more = expr_binary(p, EXPR_ULT, expr_byte(p, 3), expr_byte(p, 4));
    Path *path = path_of(p, (Expr[]){ g, i, more, big }, 4);
    const Path *one = path;
    Minimised m = minimise_paths(&a, p, &one, 1, NULL, crashes, &prog);
    assert_int_equal(m.how, MINIMISE_EACH);
    assert_int_equal(m.n, 2);
    assert_int_equal(m.conjuncts[0].cond, g);
    assert_int_equal(m.conjuncts[1].cond, big);
    solver_free(prog.s);
    path_free(path);
    arena_release(&a);
    exprs_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ddmin_finds_what_is_needed),
        cmocka_unit_test(ddmin_stops_at_its_limit),
        cmocka_unit_test(what_is_in_common_and_matters_is_kept),
        cmocka_unit_test(thousands_of_conjuncts_go_by_groups),
        cmocka_unit_test(solved_conditions_are_minimised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
