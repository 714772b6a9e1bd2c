/* engine/suite/refine.h: tests that each say one thing, and check what their call did. */
#define LAB_MORE                                                                                   \
    "void bag_put(struct bag *b, int v) { b->sum += v; }\n"                                        \
    "int bag_cmp(const struct bag *a, const struct bag *b) { return a->sum - b->sum; }\n"
#include "sequence_lab.h"
#include "engine/suite/describe.h"
#include "engine/suite/refine.h"
#include <string.h>

typedef struct Bench {
    Lab lab;
    Pool *pool;
    Ownership *ownership;
    Rng rng;
    GrowPlan grow;
    Settler settler;
    RefinePlan plan;
    Arena arena;
} Bench;

/* In place: the plans point into it. */
static void bench_open(Bench *b)
{
    Err err = { 0 };
    *b = (Bench){ .lab = lab_open(), .rng = rng_seeded(7) };
    lab_start(&b->lab, false);
    b->pool = pool_new(b->lab.api, &err);
    assert_non_null(b->pool);
    b->ownership = ownership_new(b->lab.api);
    b->grow =
        (GrowPlan){ .api = b->lab.api, .pool = b->pool, .ownership = b->ownership, .rng = &b->rng };
    b->settler = (Settler){
        .grow = &b->grow, .ownership = b->ownership, .exec = b->lab.exec, .again = b->lab.exec
    };
    b->plan = (RefinePlan){ .settler = &b->settler,
                            .successes = successes_new(NULL),
                            .arena = &b->arena };
}

static void bench_close(Bench *b)
{
    successes_free((Successes *)b->plan.successes);
    arena_release(&b->arena);
    ownership_free(b->ownership);
    pool_free(b->pool);
    lab_close(&b->lab);
}

static const ApiFunction *function(const Bench *b, const char *name)
{
    const ApiFunction *f = api_function(b->lab.api, name);
    assert_non_null(f);
    return f;
}

static void add(Bench *b, Seq *s, const char *name, unsigned object, int number)
{
    SeqStep *st = seq_call(&b->arena, s, function(b, name));
    st->args[0] = value_result(object);
    if (st->nargs > 1)
        st->args[1] = value_integer((uint64_t)(int64_t)number);
}

static SeqTest *settled(Bench *b, Seq *body)
{
    Err err = { 0 };
    Settled out;
    if (!settle_bare(&b->settler, &b->arena, &body, 1, &out, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(out.kind, SETTLED);
    return test_copy(&b->arena, &out.test);
}

/* All that a sequence covers is the goal. */
static void refine(Bench *b, Seq *body, Refined *out)
{
    Err err = { 0 };
    SeqTest *t = settled(b, body);
    RefineGoal goal = { .points = t->out.fresh, .npoints = t->out.nfresh };
    if (!refine_test(&b->plan, t, &goal, out, &err))
        fail_msg("%s", err.msg);
}

/* The test about a function; NULL: there is none. */
static const SeqTest *about(const Refined *all, const char *name)
{
    for (size_t i = 0; i < all->len; i++)
        if (strcmp(all->items[i]->seq->steps[all->items[i]->about].f->name, name) == 0)
            return all->items[i];
    return NULL;
}

static bool has_call(const SeqTest *t, const char *name)
{
    for (unsigned i = 0; i < t->seq->n; i++)
        if (t->seq->steps[i].f && strcmp(t->seq->steps[i].f->name, name) == 0)
            return true;
    return false;
}

static void a_call_that_gives_nothing_gets_a_look_that_shows_it(void **state)
{
    (void)state;
    Bench b;
    Refined all = { 0 };
    bench_open(&b);
    Seq *s = seq_new(&b.arena);
    seq_call(&b.arena, s, function(&b, "bag_new"));
    add(&b, s, "bag_put", 0, 5);
    refine(&b, s, &all);
    const SeqTest *t = about(&all, "bag_put");
    assert_non_null(t);
    assert_int_equal(t->effect, EFFECT_SEEN);
    assert_true(has_call(t, "bag_sum"));
    assert_false(has_call(t, "bag_unused"));     /* says the same without the call */
    Str name = { 0 }, sentence = { 0 };
    describe_test(t, NULL, false, &name, &sentence);
    assert_non_null(strstr(str_c(&name), "test_bag_put"));
    assert_non_null(strstr(str_c(&name), "_seen_by_bag_sum"));
    assert_non_null(strstr(str_c(&sentence), "(without the call it returns 0)"));
    str_release(&name);
    str_release(&sentence);
    vec_release(&all);
    bench_close(&b);
}

static void calls_that_have_nothing_to_do_with_each_other_are_tests_of_their_own(void **state)
{
    (void)state;
    Bench b;
    Refined all = { 0 };
    bench_open(&b);
    Seq *s = seq_new(&b.arena);
    seq_call(&b.arena, s, function(&b, "bag_new"));
    SeqStep *st = seq_call(&b.arena, s, function(&b, "paint"));
    st->args[0] = value_integer(5);
    st->args[1] = value_integer(3);
    add(&b, s, "bag_add", 0, 4);
    refine(&b, s, &all);
    const SeqTest *paint = about(&all, "paint"), *put = about(&all, "bag_add");
    assert_non_null(paint);
    assert_non_null(put);
    assert_int_equal(paint->seq->n, 1);
    assert_false(has_call(put, "paint"));
    vec_release(&all);
    bench_close(&b);
}

static void a_call_without_effect_says_so(void **state)
{
    (void)state;
    Bench b;
    Refined all = { 0 };
    bench_open(&b);
    Seq *s = seq_new(&b.arena);
    seq_call(&b.arena, s, function(&b, "bag_new"));
    add(&b, s, "bag_put", 0, 0);                 /* nothing is added */
    Err err = { 0 };
    SeqTest *t = settled(&b, s);
    if (!refine_effects(&b.plan, &t, 1, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(t->effect, EFFECT_NONE);
    vec_release(&all);
    bench_close(&b);
}

static void of_a_comparison_the_sign_is_checked(void **state)
{
    (void)state;
    Bench b;
    bench_open(&b);
    Seq *s = seq_new(&b.arena);
    seq_call(&b.arena, s, function(&b, "bag_new"));
    seq_call(&b.arena, s, function(&b, "bag_new"));
    add(&b, s, "bag_put", 0, 50);
    SeqStep *st = seq_call(&b.arena, s, function(&b, "bag_cmp"));
    st->args[0] = value_result(0);
    st->args[1] = value_result(1);
    assert_true(st->f->compares);
    assert_false(function(&b, "bag_add")->compares);
    SeqTest *t = settled(&b, s);
    assert_int_equal(outcome_at(&t->out, 3, API_RETURNED)->integer, 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_gives_nothing_gets_a_look_that_shows_it),
        cmocka_unit_test(calls_that_have_nothing_to_do_with_each_other_are_tests_of_their_own),
        cmocka_unit_test(a_call_without_effect_says_so),
        cmocka_unit_test(of_a_comparison_the_sign_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
