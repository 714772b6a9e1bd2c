#include "engine/sequence/reduce.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5 };

typedef struct Reducer {
    const ReducePlan *plan;
    Suite *suite;
    size_t npoints;
    uint8_t *covered;            /* by tests that are kept */
    uint8_t *killed, *reached;   /* by mutant */
    double end;
    bool *keep;                  /* by test */
} Reducer;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_time(const Reducer *r)
{
    return r->plan->unlimited || now() < r->end;
}

/* ------------------------------------------------------------------- cover */

static int by_length(const void *a, const void *b)
{
    const SeqTest *x = *(SeqTest *const *)a, *y = *(SeqTest *const *)b;
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

/* ------------------------------------------------------------------ shrink */

static bool has_all(const Reducer *r, const Outcome *o, const uint32_t *own, size_t n)
{
    uint8_t *have = xcalloc(r->npoints + 1, 1);
    bool all = o->state == OUTCOME_DONE;
    for (size_t i = 0; i < o->nfresh; i++)
        if (o->fresh[i] < r->npoints)
            have[o->fresh[i]] = 1;
    for (size_t i = 0; i < n && all; i++)
        all = have[own[i]];
    free(have);
    return all;
}

/* The shortest of the sequences without one step that still covers its own. */
static Seq *shorter(const Reducer *r, Arena *a, const Seq *s, const uint32_t *own, size_t nown,
                    Err *err)
{
    ExecJob *jobs = arena_array(a, ExecJob, s->n + 1);
    Outcome *out = arena_array(a, Outcome, s->n + 1);
    Seq *best = NULL;
    size_t n = 0;
    for (unsigned i = 0; i < s->n; i++) {
        Seq *c = s->steps[i].closing ? NULL : seq_without(a, s, i);
        if (c)
            jobs[n++] = (ExecJob){ .seq = c, .all = true };
    }
    if (!n || !exec_run(r->plan->settler->exec, a, jobs, n, out, err))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if ((!best || jobs[i].seq->n < best->n) && has_all(r, &out[i], own, nown))
            best = (Seq *)jobs[i].seq;
    return best;
}

static bool shrink(const Reducer *r, SeqTest **test, const uint32_t *own, size_t nown, Err *err)
{
    Arena a = {0};
    Seq *s = (*test)->seq, *best = NULL;
    for (int i = 0; i < ROUNDS && has_time(r); i++) {
        Seq *c = shorter(r, &a, s, own, nown, err);
        if (!c)
            break;
        s = best = c;
    }
    Settled settled = {0};
    bool ok = true;
    if (best) {
        ok = settle_closed(r->plan->settler, &a, &best, 1, &settled, err);
        if (ok && settled.kind == SETTLED && has_all(r, &settled.test.out, own, nown))
            *test = test_copy(&r->suite->arena, &settled.test);
    }
    arena_release(&a);
    return ok;
}

static bool keep_covering(Reducer *r, Err *err)
{
    uint32_t *own = xcalloc(r->npoints + 1, sizeof *own);
    bool ok = true;
    for (size_t i = 0; ok && i < r->suite->tests.len; i++) {
        SeqTest **t = &r->suite->tests.items[i];
        size_t n = own_points(r, &(*t)->out, own);
        if (!n)
            continue;
        r->keep[i] = true;
        ok = !has_time(r) || shrink(r, t, own, n, err);
        cover(r, &(*t)->out);
    }
    free(own);
    return ok;
}

/* ----------------------------------------------------------------- mutants */

static bool sees(const SeqTest *t, const Outcome *o)
{
    bool *same = xcalloc(t->out.nobs + 1, sizeof *same);
    bool seen = o->state != OUTCOME_DONE;
    memset(same, 1, t->out.nobs);
    settle_compare(&t->out, o, same);
    for (size_t i = 0; i < t->out.nobs && !seen; i++)
        seen = t->stable[i] && !same[i];
    free(same);
    return seen;
}

/* The mutants that a run reached and nobody has killed. */
static size_t list_reached(Reducer *r, const Outcome *o, unsigned *out)
{
    size_t n, m = 0;
    const Mutant *all = mutants_all(r->plan->faults, &n);
    uint8_t *blocks = xcalloc(exec_nreached(r->plan->mutants) + 1, 1);
    for (size_t i = 0; i < o->nfresh; i++)
        if (o->fresh[i] < exec_nreached(r->plan->mutants))
            blocks[o->fresh[i]] = 1;
    for (size_t i = 0; i < n; i++)
        if (blocks[all[i].block]) {
            r->reached[i] = 1;
            if (!r->killed[i])
                out[m++] = (unsigned)(i + 1);
        }
    free(blocks);
    return m;
}

static bool try_mutants(Reducer *r, size_t number, Err *err)
{
    SeqTest *t = r->suite->tests.items[number];
    Arena a = {0};
    size_t n;
    mutants_all(r->plan->faults, &n);
    unsigned *which = arena_array(&a, unsigned, n + 1);
    ExecJob base = { .seq = t->seq, .reached = true };
    Outcome first = {0};
    bool ok = exec_run(r->plan->mutants, &a, &base, 1, &first, err);
    size_t m = ok && !sees(t, &first) ? list_reached(r, &first, which) : 0, killed = 0;
    ExecJob *jobs = arena_array(&a, ExecJob, m + 1);
    Outcome *out = arena_array(&a, Outcome, m + 1);
    for (size_t i = 0; i < m; i++)
        jobs[i] = (ExecJob){ .seq = t->seq, .mutant = which[i] };
    for (size_t i = 0; ok && i < m && has_time(r); i += 128) {
        size_t some = m - i < 128 ? m - i : 128;
        ok = exec_run(r->plan->mutants, &a, jobs + i, some, out + i, err);
        for (size_t k = i; ok && k < i + some; k++)
            if (sees(t, &out[k])) {
                r->killed[which[k] - 1] = 1;
                killed++;
            }
    }
    t->nkilled = killed;
    if (killed)
        r->keep[number] = true;
    arena_release(&a);
    return ok;
}

static bool keep_killing(Reducer *r, Reduced *out, Err *err)
{
    bool ok = true;
    mutants_all(r->plan->faults, &out->mutants);
    r->killed = xcalloc(out->mutants + 1, 1);
    r->reached = xcalloc(out->mutants + 1, 1);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; ok && i < r->suite->tests.len && has_time(r); i++)
            if (r->keep[i] == (pass == 0) && !(pass == 1 && r->suite->tests.items[i]->nkilled))
                ok = try_mutants(r, i, err);
    for (size_t i = 0; i < out->mutants; i++) {
        out->killed += r->killed[i];
        out->reached += r->reached[i];
    }
    free(r->killed);
    free(r->reached);
    return ok;
}

/* ------------------------------------------------------------------- whole */

void reduce_count(const Cover *points, const uint8_t *covered, Reduced *out)
{
    size_t n, nblocks = cover_nblocks(points);
    const CoverLine *lines = cover_lines(points, &n);
    Map all = {0};
    for (size_t i = 0; i < n; i++) {
        char text[512];
        snprintf(text, sizeof text, "%u %s", lines[i].line, lines[i].file);
        void **slot = map_slot(&all, text);
        if (covered[lines[i].block])
            *slot = (void *)1;
    }
    out->all_lines = all.len;
    for (size_t i = 0; i < all.len; i++)
        out->lines += all.entries[i].value != NULL;
    map_release(&all);
    out->all_branches = cover_nbranches(points);
    for (size_t i = 0; i < out->all_branches; i++)
        out->branches += covered[nblocks + i];
}

bool reduce(const ReducePlan *plan, Suite *suite, Reduced *out, Err *err)
{
    Reducer r = { .plan = plan, .suite = suite, .npoints = exec_npoints(plan->settler->exec),
                  .end = now() + plan->seconds };
    *out = (Reduced){0};
    r.covered = xcalloc(r.npoints + 1, 1);
    r.keep = xcalloc(suite->tests.len + 1, sizeof *r.keep);
    if (suite->tests.len)
        qsort(suite->tests.items, suite->tests.len, sizeof *suite->tests.items, by_length);
    bool ok = keep_covering(&r, err) && (!plan->mutants || keep_killing(&r, out, err));
    size_t n = 0;
    for (size_t i = 0; i < suite->tests.len; i++)
        if (r.keep[i])
            suite->tests.items[n++] = suite->tests.items[i];
    suite->tests.len = n;
    reduce_count(plan->points, r.covered, out);
    free(r.covered);
    free(r.keep);
    return ok;
}
