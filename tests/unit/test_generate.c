/* engine/generate/: the loop, with judges that are no regression suite. */
#include "sequence_lab.h"
#include "engine/generate/generate.h"
#include <string.h>

typedef struct Bench {
    Lab lab;
    Pool *pool;
    Ownership *ownership;
    Rng rng;
    GrowPlan grow;
    SequencePlan plan;
} Bench;

/* In place: the plan points into it. */
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
    b->plan = (SequencePlan){ .grow = &b->grow, .exec = b->lab.exec, .count = 600 };
}

static void bench_close(Bench *b)
{
    ownership_free(b->ownership);
    pool_free(b->pool);
    lab_close(&b->lab);
}

static void run(Bench *b, SequenceJudge *judge, void *arg, Generated *out)
{
    Err err = { 0 };
    if (!generate_sequences(&b->plan, judge, arg, out, &err))
        fail_msg("%s", err.msg);
}

static bool calls(const Seq *s, const char *name)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->steps[i].f && strcmp(s->steps[i].f->fn->name, name) == 0)
            return true;
    return false;
}

/* What the judges below note. */
typedef struct Notes {
    const Bench *bench;
    Arena arena;
    unsigned judged, kept, wrong, rounds, twins;
    size_t points;
    const Seq *last;
    Exec *other;
} Notes;

/* ---- a judge: the first sequence that crashes */

static SequenceVerdict until_it_dies(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    Notes *n = arg;
    (void)g;
    n->judged++;
    seq_check(s);
    if (o->state != OUTCOME_DIED)
        return o->state == OUTCOME_DONE ? SEQUENCE_KEEP : SEQUENCE_DROP;
    n->last = seq_copy(&n->arena, s);
    return SEQUENCE_STOP;
}

static void a_judge_stops_at_the_first_crash(void **state)
{
    (void)state;
    Bench b;
    Notes n = { 0 };
    Generated ran;
    bench_open(&b);
    b.plan.count = 100000;
    run(&b, until_it_dies, &n, &ran);
    assert_non_null(n.last);
    assert_int_equal(ran.died, 1);
    assert_int_equal(ran.sequences, n.judged);       /* no one after it is judged */
    Outcome again;
    Err err = { 0 };
    ExecJob job = { .seq = n.last };
    assert_true(exec_run(b.lab.exec, &n.arena, &job, 1, &again, &err));
    assert_int_equal(again.state, OUTCOME_DIED);
    arena_release(&n.arena);
    bench_close(&b);
}

/* ---- a judge: calls of one function, found by weight */

static double only_bags(const ApiFunction *f, void *arg)
{
    (void)arg;
    const char *name = f->fn->name;
    return strcmp(name, "bag_sum") == 0 ? 5 : strcmp(name, "bag_new") == 0 ? 1 : 0;
}

static SequenceVerdict keep_callers(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    Notes *n = arg;
    (void)g;
    n->judged++;
    n->points += o->nfresh;
    n->wrong += calls(s, "bag_add") || calls(s, "die") || calls(s, "total");
    n->kept += calls(s, "bag_sum");
    return calls(s, "bag_sum") ? SEQUENCE_KEEP : SEQUENCE_DROP;
}

static void functions_are_called_by_weight(void **state)
{
    (void)state;
    Bench b;
    Notes n = { 0 };
    bench_open(&b);
    b.plan.weight = only_bags;
    run(&b, keep_callers, &n, NULL);
    assert_int_equal(n.wrong, 0);
    assert_true(n.kept * 2 > n.judged);
    assert_true(n.points > 0);
    bench_close(&b);
}

/* ---- a prefix that leaves a handle alive, and suffixes on it */

static SequenceVerdict want_a_bag(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    Notes *n = arg;
    SeqHandles all = { 0 };
    bool found = false;
    (void)g;
    n->judged++;
    seq_handles(s, NULL, &all);
    for (size_t i = 0; i < all.len; i++)
        found |= strcmp(all.items[i].type->name, "struct bag") == 0;
    vec_release(&all);
    n->wrong += !found || s->n > 6;
    if (o->state == OUTCOME_DONE && !n->last)
        n->last = seq_copy(&n->arena, s);
    return SEQUENCE_KEEP;
}

static bool has_argument(const SeqStep *st, const SeqValue *v)
{
    for (unsigned k = 0; k < st->nargs; k++)
        if (value_equal(&st->args[k], v))
            return true;
    return false;
}

static SequenceVerdict want_the_bag(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    Notes *n = arg;
    SeqHandles given = { 0 };
    bool found = false;
    (void)g;
    (void)o;
    n->judged++;
    Seq begin = { s->steps, n->last->n };
    n->wrong += s->n <= n->last->n || !seq_equal(&begin, n->last);
    seq_handles(n->last, NULL, &given);
    for (size_t i = 0; i < given.len; i++)
        found |= has_argument(&s->steps[s->n - 1], &given.items[i].value);
    vec_release(&given);
    n->wrong += !found;
    return SEQUENCE_KEEP;
}

static void suffixes_use_the_handle_of_a_prefix(void **state)
{
    (void)state;
    Bench b;
    Notes n = { 0 };
    bench_open(&b);
    const ApiType *bag = fn(&b.lab, "bag_sum")->params[0].handle;
    b.plan.makes = bag;
    b.plan.most_steps = 6;
    run(&b, want_a_bag, &n, NULL);
    assert_true(n.judged > 100);
    assert_int_equal(n.wrong, 0);
    b.plan = (SequencePlan){
        .grow = &b.grow, .exec = b.lab.exec, .count = 600, .prefix = n.last, .uses = bag
    };
    n.judged = 0;
    run(&b, want_the_bag, &n, NULL);
    assert_true(n.judged > 100);
    assert_int_equal(n.wrong, 0);
    arena_release(&n.arena);
    bench_close(&b);
}

/* ---- the same sequences in another process */

static SequenceVerdict collect(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    Notes *n = arg;
    (void)g;
    n->judged++;
    if (o->state == OUTCOME_DONE)
        n->last = seq_copy(&n->arena, s);
    return SEQUENCE_KEEP;
}

/* Does the library do the same in both? */
static bool is_alike(const Outcome *x, const Outcome *y)
{
    bool same = x->state == y->state && x->nobs == y->nobs;
    for (size_t i = 0; same && i < x->nobs; i++)
        if (!observation_equal(&x->obs[i], &y->obs[i])) {
            Str text = { 0 };
            observation_print(&x->obs[i], &text);
            str_add(&text, " or ");
            observation_print(&y->obs[i], &text);
            print_message("%s\n", str_c(&text));
            str_release(&text);
            same = false;
        }
    return same;
}

/* The last of the round, in both. */
static bool compare(Generator *g, void *arg, Err *err)
{
    Notes *n = arg;
    Outcome x, y;
    (void)g;
    n->rounds++;
    if (!n->last)
        return true;
    ExecJob job = { .seq = n->last };
    if (!exec_run(n->bench->lab.exec, &n->arena, &job, 1, &x, err) ||
        !exec_run(n->other, &n->arena, &job, 1, &y, err))
        return false;
    n->twins += is_alike(&x, &y);
    return true;
}

/* What malloc() and free() leave in memory is another in each process. */
static double not_garbage(const ApiFunction *f, void *arg)
{
    (void)arg;
    static const char *const names[] = { "bag_unused", "bag_eat", "move" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(f->fn->name, names[i]) == 0)
            return 0;
    return 1;
}

static bool after_three_rounds(void *arg) { return ((Notes *)arg)->rounds >= 3; }

static void a_round_is_compared_with_another_process(void **state)
{
    (void)state;
    Bench b;
    Err err = { 0 };
    bench_open(&b);
    char *libexec = libexec_folder();
    ExecPlan plan = { .api = b.lab.api, .library = b.lab.library, .libexec = libexec };
    Notes n = { .bench = &b, .other = exec_open(&plan, &err) };
    assert_non_null(n.other);
    b.plan.count = 0;
    b.plan.weight = not_garbage;
    b.plan.round_ends = compare;
    b.plan.stop = after_three_rounds;
    run(&b, collect, &n, NULL);
    assert_int_equal(n.rounds, 3);
    assert_int_equal(n.twins, 3);
    exec_close(n.other);
    free(libexec);
    arena_release(&n.arena);
    bench_close(&b);
}

static SequenceVerdict remember(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    (void)g;
    (void)o;
    seq_dump(s, arg);
    return SEQUENCE_KEEP;
}

static void the_same_seed_gives_the_same_sequences(void **state)
{
    (void)state;
    Str texts[2] = { { 0 }, { 0 } };
    for (int i = 0; i < 2; i++) {
        Bench b;
        bench_open(&b);
        run(&b, remember, &texts[i], NULL);
        bench_close(&b);
    }
    assert_true(texts[0].len > 1000);
    assert_string_equal(str_c(&texts[0]), str_c(&texts[1]));
    str_release(&texts[0]);
    str_release(&texts[1]);
}

/* ---- values that were used before */

/* How often a number stands in a call that stood in an earlier call of the same test. */
static SequenceVerdict count_reused(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    Notes *n = arg;
    (void)g;
    (void)o;
    for (unsigned i = 1; i < s->n; i++)
        for (unsigned k = 0; s->steps[i].f && k < s->steps[i].nargs; k++)
            for (unsigned e = 0; s->steps[i].args[k].kind == VALUE_INTEGER && e < i; e++)
                for (unsigned m = 0; s->steps[e].f && m < s->steps[e].nargs; m++)
                    n->twins += value_equal(&s->steps[e].args[m], &s->steps[i].args[k]);
    n->judged += s->n;
    return SEQUENCE_DROP;
}

static void values_are_used_again(void **state)
{
    (void)state;
    double share[2];
    for (int i = 0; i < 2; i++) {
        Bench b;
        Notes n = { 0 };
        bench_open(&b);
        b.plan.calls = 6;
        b.plan.uniform = true;
        b.grow.reuse = i ? 0.9 : 0;
        run(&b, count_reused, &n, NULL);
        share[i] = (double)n.twins / n.judged;
        assert_true(n.judged > 600);                /* several calls at a time */
        bench_close(&b);
    }
    assert_true(share[1] > 1.5 * share[0]);
}

static const ApiFunction *named(const Bench *b, const char *name)
{
    const ApiFunction *f = api_function(b->lab.api, name);
    assert_non_null(f);
    return f;
}

static void numbers_are_swept(void **state)
{
    (void)state;
    Bench b;
    Arena a = { 0 };
    bench_open(&b);
    Seq *s = seq_new(&a);
    assert_false(grow_sweep(&b.grow, &a, s, named(&b, "bag_add"), 8));       /* it needs a bag */
    assert_true(grow_sweep(&b.grow, &a, s, named(&b, "name"), 8));
    assert_int_equal(s->n, 8);
    uint64_t stride = s->steps[1].args[0].integer - s->steps[0].args[0].integer;
    for (unsigned i = 1; i < s->n; i++)
        assert_int_equal(s->steps[i].args[0].integer - s->steps[i - 1].args[0].integer, stride);
    arena_release(&a);
    bench_close(&b);
}

static void a_variation_has_one_other_value(void **state)
{
    (void)state;
    Bench b;
    Arena a = { 0 };
    unsigned at, changed = 0;
    bench_open(&b);
    Seq *s = seq_new(&a);
    seq_call(&a, s, named(&b, "bag_new"));
    assert_null(grow_varied(&b.grow, &a, s, &at));                           /* it has no value */
    SeqStep *st = seq_call(&a, s, named(&b, "bag_add"));
    st->args[0] = value_result(0);
    st->args[1] = value_integer(5);
    for (int i = 0; i < 20; i++) {
        Seq *other = grow_varied(&b.grow, &a, s, &at);
        assert_non_null(other);
        assert_int_equal(at, 1);
        assert_true(value_equal(&other->steps[1].args[0], &s->steps[1].args[0]));
        changed += !value_equal(&other->steps[1].args[1], &s->steps[1].args[1]);
    }
    assert_true(changed > 10);
    arena_release(&a);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_judge_stops_at_the_first_crash),
        cmocka_unit_test(functions_are_called_by_weight),
        cmocka_unit_test(suffixes_use_the_handle_of_a_prefix),
        cmocka_unit_test(a_round_is_compared_with_another_process),
        cmocka_unit_test(the_same_seed_gives_the_same_sequences),
        cmocka_unit_test(values_are_used_again),
        cmocka_unit_test(numbers_are_swept),
        cmocka_unit_test(a_variation_has_one_other_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
