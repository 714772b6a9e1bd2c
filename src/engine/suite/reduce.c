#include "engine/suite/reduce.h"
#include "engine/suite/chase.h"
#include "engine/suite/plain.h"
#include "engine/suite/refine.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 24, MOST_PLAIN = 24, LONG = 12 };

typedef struct Reducer {
    const ReducePlan *plan;
    Suite *suite;
    size_t npoints;
    uint8_t *covered;            /* by tests that are kept */
    uint8_t *killed;             /* by mutant */
    double end;
    bool *keep;                  /* by test */
    bool *covers;                /* by test: something of its own */
    bool *leaks;                 /* by test: it sees a mutant that leaves memory behind */
    Vec(uint32_t) * kills;       /* by test: mutants that it is kept for */
} Reducer;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_time(const Reducer *r) { return r->plan->unlimited || now() < r->end; }

static const Usage *usage_of(const Reducer *r) { return r->plan->settler->grow->usage; }

static unsigned cost_of(const Reducer *r, const Seq *s) { return plain_cost(usage_of(r), s); }

/* ---- cover */

/* What the example did is kept anyway, so it comes first. Then tests that check what their
 * call does. */
static int by_worth(const void *a, const void *b)
{
    const SeqTest *x = *(SeqTest *const *)a, *y = *(SeqTest *const *)b;
    if (x->example != y->example)
        return y->example - x->example;
    if ((x->effect == EFFECT_NONE) != (y->effect == EFFECT_NONE))
        return x->effect == EFFECT_NONE ? 1 : -1;
    return (x->seq->n > y->seq->n) - (x->seq->n < y->seq->n);
}

/* What the test covers and no kept one does; in `own`. */
static size_t own_points(const Reducer *r, const Outcome *o, uint32_t *own)
{
    size_t n = 0;
    for (size_t i = 0; i < o->nfresh; i++)
        if (o->fresh[i] < r->npoints && !r->covered[o->fresh[i]])
            own[n++] = o->fresh[i];
    return n;
}

static void cover(Reducer *r, const Outcome *o)
{
    for (size_t i = 0; i < o->nfresh; i++)
        if (o->fresh[i] < r->npoints)
            r->covered[o->fresh[i]] = 1;
}

/* ---- shrink */

/* A test with what it covers and no test before it does. */
typedef struct Shrinking {
    size_t test;
    uint32_t *own;
    size_t nown;
    Seq *now;                    /* as short as it has got */
    bool settled;                /* no shorter one was found */
    size_t first, n;             /* its jobs in this round */
} Shrinking;

static bool has_all(const Reducer *r, const Outcome *o, const Shrinking *s, uint8_t *scratch)
{
    bool all = o->state == OUTCOME_DONE;
    for (size_t i = 0; i < o->nfresh; i++)
        if (o->fresh[i] < r->npoints)
            scratch[o->fresh[i]] = 1;
    for (size_t i = 0; i < s->nown && all; i++)
        all = scratch[s->own[i]];
    for (size_t i = 0; i < o->nfresh; i++)
        if (o->fresh[i] < r->npoints)
            scratch[o->fresh[i]] = 0;
    return all;
}

static void take_shortest(const Reducer *r, Shrinking *s, const ExecJob *jobs, const Outcome *out,
                          uint8_t *scratch)
{
    const Seq *best = NULL;
    unsigned least = cost_of(r, s->now);
    for (size_t i = s->first; i < s->first + s->n; i++)
        if (cost_of(r, jobs[i].seq) < least && has_all(r, &out[i], s, scratch)) {
            best = jobs[i].seq;
            least = cost_of(r, best);
        }
    s->settled = !best;
    if (best)
        s->now = (Seq *)best;
}

/* Without the calls of a stretch, those that need them included; NULL: nothing is left, or
 * nothing went. */
static Seq *without_stretch(Arena *a, const Seq *s, unsigned from, unsigned n)
{
    const Seq *now = s;
    for (unsigned k = from + n < s->n ? from + n : s->n; k-- > from && now;)
        if (k < now->n && !now->steps[k].closing && !now->steps[k].looking)
            now = seq_without(a, now, k);
    return now == s ? NULL : (Seq *)now;
}

/* All sequences without one of their steps, in one go; long ones also without stretches. */
static bool shrink_round(Reducer *r, Arena *a, Shrinking *all, size_t n, uint8_t *scratch,
                         bool *changed, Err *err)
{
    Vec(ExecJob) jobs = { 0 };
    for (size_t i = 0; i < n; i++) {
        Shrinking *s = &all[i];
        s->first = jobs.len;
        for (unsigned k = 0; k < s->now->n && !s->settled; k++) {
            const SeqStep *st = &s->now->steps[k];
            Seq *c = st->closing || st->looking ? NULL : seq_without(a, s->now, k);
            if (c)
                vec_push(&jobs, ((ExecJob){ .seq = c, .all = true }));
        }
        for (unsigned size = s->now->n / 2; s->now->n > LONG && !s->settled && size > 2; size /= 2)
            for (unsigned k = 0; k < s->now->n; k += size) {
                Seq *c = without_stretch(a, s->now, k, size);
                if (c)
                    vec_push(&jobs, ((ExecJob){ .seq = c, .all = true }));
            }
        Seq *plain[MOST_PLAIN];
        size_t nplain = s->settled ? 0 : plain_variants(usage_of(r), a, s->now, plain, MOST_PLAIN);
        for (size_t k = 0; k < nplain; k++)
            vec_push(&jobs, ((ExecJob){ .seq = plain[k], .all = true }));
        s->n = jobs.len - s->first;
    }
    Outcome *out = arena_array(a, Outcome, jobs.len + 1);
    bool ok = exec_run(r->plan->settler->exec, a, jobs.items, jobs.len, out, err);
    *changed = false;
    for (size_t i = 0; ok && i < n; i++)
        if (!all[i].settled) {
            take_shortest(r, &all[i], jobs.items, out, scratch);
            *changed |= !all[i].settled;
        }
    vec_release(&jobs);
    return ok;
}

static bool take_shrunk(Reducer *r, Arena *a, Shrinking *all, size_t n, uint8_t *scratch, Err *err)
{
    Seq **closed = arena_array(a, Seq *, n + 1);
    Shrinking **of = arena_array(a, Shrinking *, n + 1);
    Settled *out = arena_array(a, Settled, n + 1);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (all[i].now != r->suite->tests.items[all[i].test]->seq) {
            of[m] = &all[i];
            closed[m++] = all[i].now;
        }
    if (!settle_closed(r->plan->settler, a, closed, m, out, err))
        return false;
    for (size_t i = 0; i < m; i++)
        if (out[i].kind == SETTLED && has_all(r, &out[i].test.out, of[i], scratch))
            r->suite->tests.items[of[i]->test] = test_copy(&r->suite->arena, &out[i].test);
    return true;
}

static bool shrink(Reducer *r, Arena *a, Shrinking *all, size_t n, Err *err)
{
    uint8_t *scratch = xcalloc(r->npoints + 1, 1);
    bool ok = true, changed = n > 0;
    for (int i = 0; ok && changed && i < ROUNDS && has_time(r); i++)
        ok = shrink_round(r, a, all, n, scratch, &changed, err);
    ok = ok && take_shrunk(r, a, all, n, scratch, err);
    free(scratch);
    return ok;
}

static bool keep_covering(Reducer *r, Err *err)
{
    Arena a = { 0 };
    size_t n = 0, ntests = r->suite->tests.len;
    Shrinking *all = arena_array(&a, Shrinking, ntests + 1);
    uint32_t *own = xcalloc(r->npoints + 1, sizeof *own);
    for (size_t i = 0; i < ntests; i++) {
        const SeqTest *t = r->suite->tests.items[i];
        size_t m = own_points(r, &t->out, own);
        if (!m && !t->example)
            continue;
        r->keep[i] = r->covers[i] = true;
        cover(r, &t->out);
        if (t->example)
            continue;
        all[n] =
            (Shrinking){ .test = i, .own = arena_array(&a, uint32_t, m), .nown = m, .now = t->seq };
        memcpy(all[n++].own, own, m * sizeof *own);
    }
    bool ok = shrink(r, &a, all, n, err);
    free(own);
    arena_release(&a);
    return ok;
}

/* ---- mutants */

/*
 * For each mutant the tests that reach it: those that are kept anyway, then the
 * others, from the longest on, which look at most. In each round every mutant
 * that lives meets its next test.
 */
typedef struct Hunt {
    Vec(uint32_t) * tests;        /* by mutant */
    uint32_t *next;
    size_t n;
} Hunt;

/* Fresh memory has this in it when a mutant is switched on, so that one which reads what
 * nobody has written shows; the tests do the same (sundew_test.h). */
enum { FRESH = 0x5a };

/* How many tests a mutant meets before it is taken for one that can't be seen. */
enum { MOST_MEETINGS = 100 };

static void note_reached(const Reducer *r, Hunt *h, const Outcome *o, size_t test, uint8_t *blocks)
{
    size_t n, nblocks = exec_nreached(r->plan->mutants);
    const Mutant *all = mutants_all(r->plan->faults, &n);
    memset(blocks, 0, nblocks);
    for (size_t i = 0; i < o->nfresh; i++)
        if (o->fresh[i] < nblocks)
            blocks[o->fresh[i]] = 1;
    for (size_t i = 0; i < n; i++)
        if (blocks[all[i].block] && h->tests[i].len < MOST_MEETINGS)
            vec_push(&h->tests[i], (uint32_t)test);
}

/* What each test reaches; one that does something else here than it did is left
 * out. */
static bool find_reached(const Reducer *r, Hunt *h, Err *err)
{
    Arena a = { 0 };
    size_t n = r->suite->tests.len;
    ExecJob *jobs = arena_array(&a, ExecJob, n + 1);
    Outcome *out = arena_array(&a, Outcome, n + 1);
    uint8_t *blocks = xcalloc(exec_nreached(r->plan->mutants) + 1, 1);
    for (size_t i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = r->suite->tests.items[i]->seq, .fill = FRESH, .reached = true };
    bool ok = exec_run(r->plan->mutants, &a, jobs, n, out, err);
    for (size_t i = 0; ok && i < n; i++)
        if (r->keep[i] && !settle_sees(r->suite->tests.items[i], &out[i]))
            note_reached(r, h, &out[i], i, blocks);
    for (size_t i = n; ok && i-- > 0;)
        if (!r->keep[i] && !settle_sees(r->suite->tests.items[i], &out[i]))
            note_reached(r, h, &out[i], i, blocks);
    free(blocks);
    arena_release(&a);
    return ok;
}

static bool hunt_some(Reducer *r, Hunt *h, const uint32_t *which, size_t n, Err *err)
{
    Arena a = { 0 };
    ExecJob *jobs = arena_array(&a, ExecJob, n + 1);
    Outcome *out = arena_array(&a, Outcome, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t test = h->tests[which[i]].items[h->next[which[i]]];
        jobs[i] = (ExecJob){ .seq = r->suite->tests.items[test]->seq,
                             .mutant = which[i] + 1,
                             .fill = FRESH };
    }
    bool ok = exec_run(r->plan->mutants, &a, jobs, n, out, err);
    for (size_t i = 0; ok && i < n; i++) {
        uint32_t test = h->tests[which[i]].items[h->next[which[i]]++];
        SeqTest *t = r->suite->tests.items[test];
        if (!settle_sees(t, &out[i]))
            continue;
        r->killed[which[i]] = 1;
        r->keep[test] = true;
        vec_push(&r->kills[test], which[i]);
        t->nkilled++;
    }
    arena_release(&a);
    return ok;
}

static bool hunt(Reducer *r, Hunt *h, Err *err)
{
    enum { SOME = 192 };
    uint32_t which[SOME];
    bool ok = true, any = true;
    while (ok && any && has_time(r)) {
        size_t n = 0;
        any = false;
        for (size_t i = 0; ok && i < h->n && has_time(r); i++) {
            if (r->killed[i] || h->next[i] >= h->tests[i].len)
                continue;
            which[n++] = (uint32_t)i;
            any = true;
            if (n == SOME) {
                ok = hunt_some(r, h, which, n, err);
                n = 0;
            }
        }
        ok = ok && (!n || hunt_some(r, h, which, n, err));
    }
    return ok;
}

/* ---- leaks
 *
 * A mutant that leaves memory behind gives what the library gives. Tests are run for this, too
 * (-DSUNDEW_TEST_LEAKS, `--diff`).
 */

enum { LEAK_MEETINGS = 4 };

/* Runs a test twice, once with the library as it is, once with a mutant. */
static void add_leak_jobs(const Reducer *r, const Hunt *h, size_t mutant, ExecJob *jobs, size_t *n)
{
    for (size_t k = 0; k < LEAK_MEETINGS && k < h->tests[mutant].len; k++) {
        const Seq *s = r->suite->tests.items[h->tests[mutant].items[k]]->seq;
        jobs[(*n)++] = (ExecJob){ .seq = s, .twice = true };
        jobs[(*n)++] = (ExecJob){ .seq = s, .twice = true, .mutant = (unsigned)mutant + 1 };
    }
}

static void take_leak(Reducer *r, const Hunt *h, size_t mutant, const Outcome *out)
{
    for (size_t k = 0; k < LEAK_MEETINGS && k < h->tests[mutant].len && !r->killed[mutant]; k++) {
        const Outcome *plain = &out[2 * k], *changed = plain + 1;
        uint32_t test = h->tests[mutant].items[k];
        if (plain->state != OUTCOME_DONE || changed->state != OUTCOME_DONE ||
            changed->leaked <= 0 || changed->leaked <= plain->leaked)
            continue;
        r->killed[mutant] = 1;
        r->keep[test] = true;
        r->leaks[test] = true;
        r->suite->tests.items[test]->nkilled++;
    }
}

static bool hunt_leaks(Reducer *r, const Hunt *h, Err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < h->n && has_time(r); i++) {
        Arena a = { 0 };
        ExecJob jobs[2 * LEAK_MEETINGS];
        Outcome *out = arena_array(&a, Outcome, 2 * LEAK_MEETINGS);
        size_t n = 0;
        if (!r->killed[i])
            add_leak_jobs(r, h, i, jobs, &n);
        ok = exec_run(r->plan->mutants, &a, jobs, n, out, err);
        if (ok && n)
            take_leak(r, h, i, out);
        arena_release(&a);
    }
    return ok;
}

/* ---- mutants that no test sees
 *
 * Variants of a test that reaches one (chase.h) run with and without it. The plainest that
 * tells the difference becomes a test, if it can be settled.
 */

enum { CHASED_VARIANTS = 80, CHASED_TESTS = 4, CHASED_TRIES = 4, MOST_CHASED = 400 };

typedef struct Chased {
    Seq *seqs[CHASED_VARIANTS * CHASED_TESTS];
    size_t n;
} Chased;

/* The step at which a run with the mutant differs from two without; -1: none. What differs in
 * these two says nothing. A call is better than a look. */
static int telling_step(const Seq *s, const Outcome *plain, const Outcome *changed)
{
    bool *same = xcalloc(plain->nobs + 1, 1), *stable = xcalloc(plain->nobs + 1, 1);
    int at = changed->state != OUTCOME_DONE ? (int)changed->at : -1;
    memset(same, 1, plain->nobs);
    memset(stable, 1, plain->nobs);
    settle_compare(&plain[0], &plain[1], stable);
    settle_compare(&plain[0], changed, same);
    for (size_t i = 0; i < plain->nobs && changed->state == OUTCOME_DONE; i++)
        if (stable[i] && !same[i] && (at < 0 || s->steps[at].looking))
            at = (int)plain->obs[i].step;
    free(same);
    free(stable);
    bool known = plain[0].state == OUTCOME_DONE && plain[1].state == OUTCOME_DONE &&
                 changed->state != OUTCOME_NOT_RUN;
    return known ? at : -1;
}

/* The sequence without looks, but for one. */
static Seq *with_look(Arena *a, const Seq *s, unsigned kept)
{
    const Seq *now = s;
    for (unsigned i = s->n; i-- > 0;) {
        const Seq *less = s->steps[i].looking && i != kept ? seq_without(a, now, i) : now;
        now = less ? less : now;
    }
    return (Seq *)now;
}

/* The variants that run otherwise with the mutant, at the front; how many. */
static bool find_differing(const Reducer *r, Arena *a, Chased *c, uint32_t mutant, size_t *n,
                           Err *err)
{
    ExecJob *jobs = arena_array(a, ExecJob, 2 * c->n + 1);
    Outcome *out = arena_array(a, Outcome, 2 * c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        jobs[2 * i] = (ExecJob){ .seq = c->seqs[i], .fill = FRESH };
        jobs[2 * i + 1] = (ExecJob){ .seq = c->seqs[i], .fill = FRESH, .mutant = mutant + 1 };
    }
    *n = 0;
    if (!exec_run(r->plan->mutants, a, jobs, 2 * c->n, out, err))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        Outcome plain[2] = { out[2 * i], out[2 * i] };
        if (telling_step(jobs[2 * i].seq, plain, &out[2 * i + 1]) >= 0)
            c->seqs[(*n)++] = (Seq *)jobs[2 * i].seq;
    }
    return true;
}

/* Variants that tell the mutant, the plainest first; how many. */
static bool find_telling(const Reducer *r, Arena *a, Chased *c, uint32_t mutant, size_t *n,
                         Err *err)
{
    size_t m = 0;
    *n = 0;
    if (!find_differing(r, a, c, mutant, &m, err))
        return false;
    ExecJob *jobs = arena_array(a, ExecJob, 3 * m + 1);
    Outcome *out = arena_array(a, Outcome, 3 * m + 1);
    for (size_t i = 0; i < m; i++) {
        jobs[3 * i] = (ExecJob){ .seq = c->seqs[i] };
        jobs[3 * i + 1] = (ExecJob){ .seq = c->seqs[i], .fill = FRESH };
        jobs[3 * i + 2] = (ExecJob){ .seq = c->seqs[i], .fill = FRESH, .mutant = mutant + 1 };
    }
    if (!exec_run(r->plan->mutants, a, jobs, 3 * m, out, err))
        return false;
    for (size_t i = 0; i < m; i++) {
        int at = telling_step(jobs[3 * i].seq, &out[3 * i], &out[3 * i + 2]);
        if (at < 0)
            continue;
        Seq *s = with_look(a, jobs[3 * i].seq, (unsigned)at);
        size_t k = (*n)++;
        for (; k && cost_of(r, s) < cost_of(r, c->seqs[k - 1]); k--)
            c->seqs[k] = c->seqs[k - 1];
        c->seqs[k] = s;
    }
    return true;
}

/* A new test at the end. */
static void add_chased(Reducer *r, const SeqTest *settled, uint32_t mutant)
{
    Suite *u = r->suite;
    SeqTest *t = test_copy(&u->arena, settled);
    vec_push(&u->tests, t);
    r->keep[u->tests.len - 1] = true;
    r->killed[mutant] = 1;
    vec_push(&r->kills[u->tests.len - 1], mutant);
    t->nkilled = 1;
}

/* The first of some variants that is a test, and sees the mutant. */
static bool settle_telling(Reducer *r, Arena *a, Chased *c, size_t n, uint32_t mutant, Err *err)
{
    Settled settled[CHASED_TRIES];
    ExecJob jobs[CHASED_TRIES];
    Outcome *out = arena_array(a, Outcome, CHASED_TRIES);
    n = n < CHASED_TRIES ? n : CHASED_TRIES;
    if (!settle_closed(r->plan->settler, a, c->seqs, n, settled, err))
        return false;
    for (size_t i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = settled[i].seq, .fill = FRESH, .mutant = mutant + 1 };
    if (!exec_run(r->plan->mutants, a, jobs, n, out, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (settled[i].kind == SETTLED && test_is_sensible(r->plan->settler, &settled[i].test) &&
            settle_sees(&settled[i].test, &out[i])) {
            add_chased(r, &settled[i].test, mutant);
            break;
        }
    return true;
}

static bool calls(const SeqTest *t, const char *function)
{
    for (unsigned i = 0; i < t->seq->n; i++)
        if (t->seq->steps[i].f && !t->seq->steps[i].closing &&
            strcmp(t->seq->steps[i].f->name, function) == 0)
            return true;
    return false;
}

/* The first test that reaches a mutant, rather one that calls its function itself. */
static size_t first_caller(const Reducer *r, const Hunt *h, uint32_t mutant, const char *function)
{
    for (size_t i = 0; i < h->tests[mutant].len; i++)
        if (calls(r->suite->tests.items[h->tests[mutant].items[i]], function))
            return i;
    return 0;
}

/* Tests to begin with: the first and the last of those that reach it, and some between. */
static void collect_variants(const Reducer *r, Arena *a, const Hunt *h, uint32_t mutant, Chased *c)
{
    size_t nall, n = h->tests[mutant].len;
    const Mutant *all = mutants_all(r->plan->faults, &nall);
    assert(n && mutant < nall);
    size_t at[CHASED_TESTS] = { first_caller(r, h, mutant, all[mutant].function), n - 1, n / 3,
                                2 * n / 3 };
    c->n = 0;
    for (size_t k = 0; k < CHASED_TESTS; k++) {
        bool known = false;
        for (size_t i = 0; i < k; i++)
            known |= at[i] == at[k];
        if (known)
            continue;
        const SeqTest *t = r->suite->tests.items[h->tests[mutant].items[at[k]]];
        c->n += chase_variants(r->plan->settler->grow, a, t, &all[mutant], c->seqs + c->n,
                               CHASED_VARIANTS);
    }
}

/* What a new test finds besides. */
static bool meet_others(Reducer *r, Hunt *h, Err *err)
{
    Arena a = { 0 };
    size_t test = r->suite->tests.len - 1;
    uint8_t *blocks = xcalloc(exec_nreached(r->plan->mutants) + 1, 1);
    ExecJob job = { .seq = r->suite->tests.items[test]->seq, .fill = FRESH, .reached = true };
    Outcome out = { 0 };
    bool ok = exec_run(r->plan->mutants, &a, &job, 1, &out, err);
    for (size_t i = 0; ok && i < h->n; i++)
        h->next[i] = (uint32_t)h->tests[i].len;
    if (ok && !settle_sees(r->suite->tests.items[test], &out))
        note_reached(r, h, &out, test, blocks);
    free(blocks);
    arena_release(&a);
    return ok && hunt(r, h, err);
}

static bool chase(Reducer *r, Hunt *h, Err *err)
{
    bool ok = true;
    size_t nchased = 0;
    Chased *c = xcalloc(1, sizeof *c);
    for (uint32_t i = 0; ok && i < h->n && nchased < MOST_CHASED && has_time(r); i++) {
        Arena a = { 0 };
        size_t n = 0, before = r->suite->tests.len;
        if (r->killed[i] || !h->tests[i].len)
            continue;
        nchased++;
        collect_variants(r, &a, h, i, c);
        ok = find_telling(r, &a, c, i, &n, err) && settle_telling(r, &a, c, n, i, err);
        arena_release(&a);
        if (ok && r->suite->tests.len > before)
            ok = meet_others(r, h, err);
    }
    free(c);
    return ok;
}

/* ---- tests that others make superfluous
 *
 * Tests were kept one after the other. What the first ones are kept for, later ones may do as
 * well, often the same calls with other numbers.
 */

enum { MOST_OTHERS = 24 };

/* How many of the kept tests cover each point. */
static uint32_t *count_points(const Reducer *r)
{
    uint32_t *n = xcalloc(r->npoints + 1, sizeof *n);
    for (size_t i = 0; i < r->suite->tests.len; i++) {
        const Outcome *o = &r->suite->tests.items[i]->out;
        for (size_t k = 0; r->keep[i] && k < o->nfresh; k++)
            if (o->fresh[k] < r->npoints)
                n[o->fresh[k]]++;
    }
    return n;
}

static bool covers_alone(const Reducer *r, const Outcome *o, const uint32_t *n)
{
    for (size_t k = 0; k < o->nfresh; k++)
        if (o->fresh[k] < r->npoints && n[o->fresh[k]] < 2)
            return true;
    return false;
}

/* The shortest other test that sees the mutant; the test itself if there is none. */
static bool find_other(const Reducer *r, const Hunt *h, size_t test, uint32_t mutant, size_t *other,
                       Arena *a, Err *err)
{
    ExecJob jobs[MOST_OTHERS];
    size_t of[MOST_OTHERS], n = 0;
    for (size_t i = h->tests[mutant].len; i-- > 0 && n < MOST_OTHERS;) {
        uint32_t k = h->tests[mutant].items[i];
        if (k == test || !r->keep[k])
            continue;
        of[n] = k;
        jobs[n++] =
            (ExecJob){ .seq = r->suite->tests.items[k]->seq, .mutant = mutant + 1, .fill = FRESH };
    }
    Outcome *out = arena_array(a, Outcome, n + 1);
    *other = test;
    if (!exec_run(r->plan->mutants, a, jobs, n, out, err))
        return false;
    SeqTest *const *all = r->suite->tests.items;
    for (size_t i = 0; i < n; i++)
        if (settle_sees(all[of[i]], &out[i]) &&
            (*other == test || all[of[i]]->seq->n < all[*other]->seq->n))
            *other = of[i];
    return true;
}

/* Others see all that a test is kept for: they are kept for it from now on. */
static bool hand_over(Reducer *r, const Hunt *h, size_t test, bool *done, Err *err)
{
    Arena a = { 0 };
    size_t n = r->kills[test].len;
    size_t *other = arena_array(&a, size_t, n + 1);
    bool ok = true;
    *done = true;
    for (size_t i = 0; ok && *done && i < n; i++) {
        ok = find_other(r, h, test, r->kills[test].items[i], &other[i], &a, err);
        *done = ok && other[i] != test;
    }
    for (size_t i = 0; *done && i < n; i++) {
        vec_push(&r->kills[other[i]], r->kills[test].items[i]);
        r->suite->tests.items[other[i]]->nkilled++;
    }
    arena_release(&a);
    return ok;
}

/* Numbers of tests, the longest first: short ones say better what they are about. */
static size_t *from_long_to_short(const Suite *u)
{
    size_t *order = xcalloc(u->tests.len + 1, sizeof *order), n = 0;
    for (unsigned length = SEQ_LIMIT + 1; length-- > 0;)
        for (size_t i = 0; i < u->tests.len; i++)
            if (u->tests.items[i]->seq->n == length)
                order[n++] = i;
    assert(n == u->tests.len);
    return order;
}

static bool drop_superfluous(Reducer *r, const Hunt *h, Err *err)
{
    uint32_t *points = count_points(r);
    size_t *order = from_long_to_short(r->suite);
    bool ok = true, done = false;
    for (size_t at = 0; ok && at < r->suite->tests.len && has_time(r); at++) {
        size_t i = order[at];
        const SeqTest *t = r->suite->tests.items[i];
        if (!r->keep[i] || t->example || r->leaks[i] || covers_alone(r, &t->out, points))
            continue;
        ok = hand_over(r, h, i, &done, err);
        if (!ok || !done)
            continue;
        r->keep[i] = false;
        for (size_t k = 0; k < t->out.nfresh; k++)
            if (t->out.fresh[k] < r->npoints)
                points[t->out.fresh[k]]--;
    }
    free(points);
    free(order);
    return ok;
}

static bool keep_killing(Reducer *r, Reduced *out, Err *err)
{
    Hunt h = { 0 };
    const Mutant *all = mutants_all(r->plan->faults, &out->mutants);
    h.n = out->mutants;
    h.tests = xcalloc(h.n + 1, sizeof *h.tests);
    h.next = xcalloc(h.n + 1, sizeof *h.next);
    r->killed = xcalloc(h.n + 1, 1);
    bool ok = find_reached(r, &h, err) && hunt(r, &h, err) && hunt_leaks(r, &h, err) &&
              chase(r, &h, err) && drop_superfluous(r, &h, err);
    for (size_t i = 0; i < h.n; i++) {
        out->killed += r->killed[i];
        out->reached += h.tests[i].len > 0;
        if (h.tests[i].len && !r->killed[i])
            vec_push(&out->alive, &all[i]);
        vec_release(&h.tests[i]);
    }
    free(h.tests);
    free(h.next);
    free(r->killed);
    return ok;
}

/* ---- whole */

static bool counts(const Cover *points, size_t block, const Map *only)
{
    return !only || map_has(only, cover_function(points, block));
}

void reduce_count(const Cover *points, const uint8_t *covered, const Map *only, Reduced *out)
{
    size_t n, nblocks = cover_nblocks(points);
    const CoverLine *lines = cover_lines(points, &n);
    Map all = { 0 };
    for (size_t i = 0; i < n; i++) {
        char text[512];
        if (!counts(points, lines[i].block, only))
            continue;
        snprintf(text, sizeof text, "%u %s", lines[i].line, lines[i].file);
        void **slot = map_slot(&all, text);
        if (covered[lines[i].block])
            *slot = (void *)1;
    }
    out->all_lines = all.len;
    for (size_t i = 0; i < all.len; i++)
        out->lines += all.entries[i].value != NULL;
    map_release(&all);
    for (size_t i = 0; i < cover_nbranches(points); i++) {
        bool counted = counts(points, cover_block_of(points, i), only);
        out->all_branches += counted;
        out->branches += counted && covered[nblocks + i];
    }
}

/* ---- one thing a test
 *
 * What a test is kept for becomes the goal of tests that each say one thing (refine.h).
 */

typedef struct Refinery {
    Reducer *r;
    RefinePlan plan;
    uint8_t *done;               /* by point: a test that is ready covers it */
    Refined ready, idle;         /* idle: no effect of the call is checked */
} Refinery;

static bool is_there(const Refined *all, const SeqTest *t)
{
    for (size_t i = 0; i < all->len; i++)
        if (seq_equal(all->items[i]->seq, t->seq))
            return true;
    return false;
}

static void make_ready(Refinery *f, SeqTest *t)
{
    Refined *to = t->example || t->effect != EFFECT_NONE ? &f->ready : &f->idle;
    if (is_there(to, t))
        return;
    vec_push(to, t);
    for (size_t i = 0; i < t->out.nfresh; i++)
        if (t->out.fresh[i] < f->r->npoints)
            f->done[t->out.fresh[i]] = 1;
}

/* The faults that a test does not find. */
static bool keep_unseen(Refinery *f, Arena *a, const SeqTest *t, size_t test, Err *err)
{
    size_t n = f->r->kills[test].len, left = 0;
    ExecJob *jobs = arena_array(a, ExecJob, n + 1);
    Outcome *out = arena_array(a, Outcome, n + 1);
    uint32_t *kills = f->r->kills[test].items;
    for (size_t i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = t->seq, .fill = FRESH, .mutant = kills[i] + 1 };
    if (n && !exec_run(f->plan.mutants, a, jobs, n, out, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!settle_sees(t, &out[i]))
            kills[left++] = kills[i];
    f->r->kills[test].len = left;
    return true;
}

/* What the example did needs no looks; what only these find or cover is for tests of their
 * own. */
static bool strip_example(Refinery *f, size_t test, Err *err)
{
    Arena a = { 0 };
    SeqTest *t = f->r->suite->tests.items[test], *ready = t;
    Seq *bare = t->seq;
    Settled settled = { 0 };
    for (unsigned i = t->seq->n; i-- > 0 && bare;)
        if (t->seq->steps[i].looking)
            bare = seq_without(&a, bare, i);
    bool ok = true;
    if (bare && bare != t->seq)
        ok = settle_closed(f->plan.settler, &a, &bare, 1, &settled, err);
    if (ok && settled.seq && settled.kind == SETTLED) {
        settled.test.follows = t->follows;
        settled.test.example = true;
        ready = test_copy(f->plan.arena, &settled.test);
    }
    if (ok)
        make_ready(f, ready);
    ok = ok && keep_unseen(f, &a, ready, test, err);
    arena_release(&a);
    return ok;
}

/* What a test covers and none that is ready does. */
static uint32_t *goal_points(const Refinery *f, const SeqTest *t, size_t *n)
{
    uint32_t *points = xcalloc(t->out.nfresh + 1, sizeof *points);
    *n = 0;
    for (size_t i = 0; i < t->out.nfresh; i++)
        if (t->out.fresh[i] < f->r->npoints && !f->done[t->out.fresh[i]])
            points[(*n)++] = t->out.fresh[i];
    return points;
}

static bool refine_one(Refinery *f, size_t test, Err *err)
{
    SeqTest *t = f->r->suite->tests.items[test];
    Refined made = { 0 };
    size_t n = 0;
    uint32_t *points = goal_points(f, t, &n);
    RefineGoal goal = { points, n, f->r->kills[test].items, f->r->kills[test].len };
    bool ok = true;
    if (!t->example && (f->r->leaks[test] || !has_time(f->r)))
        make_ready(f, t);
    else if (goal.npoints || goal.nkills)
        ok = refine_test(&f->plan, t, &goal, &made, err);
    for (size_t i = 0; ok && i < made.len; i++)
        make_ready(f, made.items[i]);
    vec_release(&made);
    free(points);
    return ok;
}

/* Calls that show nothing may still crash: a few of them are one test, if there is anything in
 * it to check. */
static bool join_idle(Refinery *f, Err *err)
{
    enum { TOGETHER = 6 };
    bool ok = true;
    for (size_t i = 0; ok && i < f->idle.len && has_time(f->r); i += TOGETHER) {
        size_t n = f->idle.len - i < TOGETHER ? f->idle.len - i : TOGETHER;
        SeqTest *joined = NULL;
        ok = refine_join(&f->plan, f->idle.items + i, n, &joined, err);
        if (joined)
            vec_push(&f->ready, joined);
    }
    return ok;
}

/* What all of them cover. */
static void cover_anew(Reducer *r)
{
    memset(r->covered, 0, r->npoints);
    for (size_t i = 0; i < r->suite->tests.len; i++)
        cover(r, &r->suite->tests.items[i]->out);
}

/* What a struct holds when it was given back is of no interest. */
static void drop_last_fields(SeqTest *t)
{
    for (size_t i = 0; i < t->out.nobs; i++)
        if (t->seq->steps[t->out.obs[i].step].closing && t->out.obs[i].place >= OBSERVED_FIELD)
            t->stable[i] = false;
}

static bool refine_all(Reducer *r, const Successes *successes, Err *err)
{
    Refinery f = { .r = r,
                   .plan = { .settler = r->plan->settler,
                             .mutants = r->plan->mutants,
                             .fresh = FRESH,
                             .successes = successes,
                             .arena = &r->suite->arena },
                   .done = xcalloc(r->npoints + 1, 1) };
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; ok && i < r->suite->tests.len; i++)
            if (r->keep[i] && (pass || r->suite->tests.items[i]->example))
                ok = pass ? refine_one(&f, i, err) : strip_example(&f, i, err);
    ok = ok && join_idle(&f, err);
    r->suite->tests.len = 0;
    for (size_t i = 0; i < f.ready.len; i++) {
        drop_last_fields(f.ready.items[i]);
        vec_push(&r->suite->tests, f.ready.items[i]);
    }
    cover_anew(r);
    vec_release(&f.ready);
    vec_release(&f.idle);
    free(f.done);
    return ok;
}

/* ---- the main line */

bool reduce(const ReducePlan *plan, Suite *suite, Reduced *out, Err *err)
{
    Reducer r = { .plan = plan,
                  .suite = suite,
                  .npoints = exec_npoints(plan->settler->exec),
                  .end = now() + plan->seconds / 4 };
    assert(plan->settler && (!plan->mutants || plan->faults));
    *out = (Reduced){ 0 };
    r.covered = xcalloc(r.npoints + 1, 1);
    size_t ntests = suite->tests.len + MOST_CHASED;
    r.keep = xcalloc(ntests + 1, sizeof *r.keep);
    r.covers = xcalloc(ntests + 1, sizeof *r.covers);
    r.leaks = xcalloc(ntests + 1, sizeof *r.leaks);
    r.kills = xcalloc(ntests + 1, sizeof *r.kills);
    Successes *successes = successes_new(plan->settler->grow->usage);
    RefinePlan look = { .settler = plan->settler, .successes = successes };
    bool ok = refine_effects(&look, suite->tests.items, suite->tests.len, err);
    if (suite->tests.len)
        qsort(suite->tests.items, suite->tests.len, sizeof *suite->tests.items, by_worth);
    ok = ok && keep_covering(&r, err);
    r.end += plan->seconds * 0.4;
    ok = ok && (!plan->mutants || keep_killing(&r, out, err));
    r.end += plan->seconds * 0.35;
    ok = ok && refine_all(&r, successes, err);
    reduce_count(plan->points, r.covered, NULL, out);
    successes_free(successes);
    free(r.covered);
    free(r.keep);
    free(r.covers);
    free(r.leaks);
    for (size_t i = 0; i < ntests; i++)
        vec_release(&r.kills[i]);
    free(r.kills);
    return ok;
}
