/*
 * Tests are grown on the candidate (engine/generate/). After each round all of them run on
 * the reference, too. A test on which both agree is grown further; one that differs is
 * not, because the calls after it would differ for the same reason.
 */
#include "technique/substitutes/substitutes_int.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_TESTS = 1000, MOST_STEPS = 16, CALLS = 6, MOST_AGREED = 80, MOST_PREFIX = 6 };

/* A test of the round that is running. */
typedef struct Ran {
    const Seq *seq;
    const Outcome *out;
    bool fresh;
} Ran;

typedef struct Search {
    Pair *p;
    Vec(Ran) round;
    size_t kept;
    double begun;
} Search;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool pair_calls(const Pair *p, const ApiFunction *f)
{
    return p->calls[f->index].to && !f->not_callable && !f->variadic;
}

/* ---- open */

/* An object that is gone on one side is gone: whatever any implementation ends with a
 * call ends with it. */
void pair_learn_ends(Pair *p)
{
    const Api *cand = p->side[SIDE_CANDIDATE].api;
    for (size_t i = 0; i < cand->nfunctions; i++) {
        const CallMap *c = &p->calls[i];
        for (unsigned k = 0; c->to && k < c->to->nparams; k++) {
            ApiUse use = c->to->params[k].use;
            int place = c->args[k].place;
            if ((use == USE_CONSUMES || use == USE_FINISHES) && place >= 0)
                ownership_learn(p->ownership, &cand->functions[i], place, USE_CONSUMES);
        }
    }
}

/* Results that name the implementation, or an address. */
static bool says_nothing(const char *name)
{
    static const char *const words[] = { "hash", "version", "dump", "address", "serial", NULL };
    for (const char *const *w = words; *w; w++) {
        const char *at = strcasestr(name, *w);
        if (at && (at == name || !islower((unsigned char)at[-1])) &&
            !islower((unsigned char)at[strlen(*w)]))
            return true;
    }
    return false;
}

bool pair_open(Pair *p, Err *err)
{
    Substitutes *x = p->all;
    const Api *cand = p->side[SIDE_CANDIDATE].api;
    size_t nfiles = 0;
    const SeqFile *files = p->usage ? usage_files(p->usage, &nfiles) : NULL;
    for (int i = 0; i < NSIDES; i++) {
        ExecPlan plan = { .api = p->side[i].api,
                          .library = p->side[i].library,
                          .libexec = session_libexec(x->s),
                          .preload = p->side[i].preload,
                          .files = files,
                          .nfiles = nfiles,
                          .writes = !x->crash_only,
                          .cpu_ms = 2000,
                          .wall_ms = 4000 };
        p->side[i].exec = exec_open(&plan, err);
        if (!p->side[i].exec)
            return err_ctx(err, "%s", p->side[i].name);
    }
    p->pool = pool_new(cand, err);
    if (!p->pool)
        return false;
    p->ownership = ownership_new(cand);
    pair_learn_ends(p);
    p->habits = arena_array(&p->arena, Habit, cand->nfunctions + 1);
    p->after = arena_array(&p->arena, size_t, cand->nfunctions * cand->nfunctions + 1);
    for (size_t i = 0; i < cand->nfunctions; i++)
        p->calls[i].ignored = p->calls[i].common && says_nothing(p->calls[i].name);
    p->grow = (GrowPlan){ .api = cand,
                          .pool = p->pool,
                          .ownership = p->ownership,
                          .rng = &p->rng,
                          .reuse = 0.5,
                          .simple = 0.5 };
    pair_use_example(p);
    return pair_prefer(p, err);
}

void pair_free(Pair *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->found.len; i++)
        failure_release(&p->found.items[i].failure);
    usage_free(p->usage);        /* the APIs outlive it */
    usage_free(p->client);
    for (int i = 0; i < NSIDES; i++) {
        exec_close(p->side[i].exec);
        api_close(p->side[i].api);
        cover_free(p->side[i].points);
        program_close(p->side[i].own);
        free(p->side[i].library);
        free(p->side[i].preload);
    }
    ownership_free(p->ownership);
    pool_free(p->pool);
    vec_release(&p->found);
    vec_release(&p->tolerant);
    vec_release(&p->agreed);
    strings_release(&p->unused);
    strings_release(&p->notes);
    arena_release(&p->arena);
    free(p);
}

/* ---- differences */

const char *pair_mapping(const Pair *p, const Seq *s)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->steps[i].f && p->calls[s->steps[i].f->index].mapping)
            return p->calls[s->steps[i].f->index].mapping;
    return p->side[0].impl ? "slots of the same name" : "functions of the same name";
}

static bool is_like(const Difference *d, unsigned function, const Divergence *how)
{
    return d->function == function && oracle_same(&d->how, how) &&
           (how->kind != DIFFERENCE_CRASH || (d->how.first < 0) == (how->first < 0));
}

/* One that differs in the same way and for the same reason; NULL: it is a new one. Of one
 * function there are at most so many. */
static bool find_like(Pair *p, const Seq *s, const Divergence *how, Difference **out,
                      uint64_t *where, Err *err)
{
    enum { MOST = 6 };
    unsigned function = s->steps[how->step].f->index, n = 0;
    Difference *any = NULL;
    *out = NULL;
    *where = 0;
    for (size_t i = 0; i < p->found.len; i++)
        if (is_like(&p->found.items[i], function, how)) {
            any = &p->found.items[i];
            n++;
        }
    if (n < MOST && !pair_where(p, s, where, err))
        return false;
    for (size_t i = 0; n && i < p->found.len; i++)
        if (is_like(&p->found.items[i], function, how) &&
            (n >= MOST || p->found.items[i].where == *where))
            *out = n >= MOST ? any : &p->found.items[i];
    return true;
}

bool pair_note(Pair *p, const Seq *s, const Divergence *how, const Outcome *reference,
               const Outcome *candidate, Err *err)
{
    unsigned under = how->kind != DIFFERENCE_OUTPUT
                         ? 0
                         : normalisers(oracle_at(p, s, reference, SIDE_REFERENCE, how),
                                       oracle_at(p, s, candidate, SIDE_CANDIDATE, how));
    const Seq *cut = seq_copy(&p->arena, seq_prefix(&p->arena, s, how->step + 1));
    Difference *d;
    uint64_t where;
    if (!find_like(p, cut, how, &d, &where, err))
        return false;
    if (!d) {
        d = vec_grow(&p->found);
        *d = (Difference){ .function = s->steps[how->step].f->index,
                           .how = *how,
                           .seq = cut,
                           .where = where,
                           .under = under };
    } else if (cut->n < d->seq->n || d->nspare < 3) {
        bool shorter = cut->n < d->seq->n;
        if (d->nspare < 3)
            d->spare[d->nspare++] = shorter ? d->seq : cut;
        if (shorter) {
            d->how = *how;
            d->seq = cut;
        }
    }
    d->seen++;
    d->under &= under;
    return true;
}

/* ---- figures */

static void see_result(Habit *h, SideOf side, const Outcome *o, unsigned step)
{
    const Observation *r = outcome_at(o, step, API_RETURNED);
    if (!r)
        return;
    h->calls[side]++;
    Observation plain = *r;
    plain.step = 0;
    if (plain.kind == OBSERVED_SAME)
        plain.kind = OBSERVED_HANDLE;
    if (plain.kind == OBSERVED_STRING || plain.kind == OBSERVED_LONG ||
        plain.kind == OBSERVED_BYTES) {       /* the arena is of the round */
        plain.kind = OBSERVED_INTEGER;
        plain.integer = hash_bytes(r->bytes, r->n);
    }
    if (!h->has[side])
        h->first[side] = plain;
    else if (!observation_equal(&h->first[side], &plain))
        h->varies[side] = true;
    h->has[side] = true;
}

static void see_habits(Pair *p, const Seq *s, const Outcome *ref, const Outcome *cand)
{
    size_t n = p->side[SIDE_CANDIDATE].api->nfunctions;
    for (unsigned i = 0; i < s->n && i <= cand->at; i++) {
        const ApiFunction *f = s->steps[i].f;
        if (!f || !p->calls[f->index].common)
            continue;
        see_result(&p->habits[f->index], SIDE_REFERENCE, ref, i);
        see_result(&p->habits[f->index], SIDE_CANDIDATE, cand, i);
        p->habits[f->index].died += outcome_failed(cand) && i == cand->at;
        for (unsigned k = 0; k < i; k++)
            if (s->steps[k].f)
                p->after[s->steps[k].f->index * n + f->index]++;
    }
}

/* ---- the loop */

/* Objects are made when a call needs one, and ended now and then. */
static double weight(const ApiFunction *f, void *arg)
{
    const Pair *p = ((Search *)arg)->p;
    bool changes_few = f->result.use == USE_CREATES;
    for (unsigned i = 0; i < f->nparams; i++) {
        ApiUse use = ownership_use(p->ownership, f, (int)i);
        changes_few |= use == USE_CREATES || use == USE_CONSUMES || use == USE_FINISHES;
    }
    double worth = p->worth ? p->worth[f->index] : 1;
    return !pair_calls(p, f) ? 0 : changes_few ? 0.2 : worth;
}

static SequenceVerdict judge(Generator *g, Seq *seq, const Outcome *out, void *arg)
{
    Search *x = arg;
    (void)g;
    vec_push(&x->round, ((Ran){ seq, out, out->nfresh > 0 }));
    return SEQUENCE_DROP;            /* round_ends() keeps what both agree on */
}

/* A function that blocks or never ends is not called any more after a few times. */
static void see_block(Pair *p, const Seq *s, const Outcome *o, SideOf side)
{
    enum { MOST = 3 };
    ApiFunction *f = o->at < s->n ? (ApiFunction *)s->steps[o->at].f : NULL;
    if (o->state != OUTCOME_TIMEOUT || !f || f->not_callable ||
        ++p->habits[f->index].blocked < MOST)
        return;
    f->not_callable = "it does not return";
    strings_addf(&p->unused, "%s: does not return in time on the %s", p->calls[f->index].name,
                 side == SIDE_CANDIDATE ? "candidate" : "reference");
}

/* The shortest test for each function. */
static void note_tolerance(Pair *p, const Seq *s, const Outcome *ref)
{
    unsigned at = ref->at < s->n ? ref->at : s->n - 1;
    const ApiFunction *f = s->steps[at].f;
    Tolerance *t = NULL;
    if (!f || !p->calls[f->index].common)
        return;
    for (size_t i = 0; i < p->tolerant.len; i++)
        if (p->tolerant.items[i].function == f->index)
            t = &p->tolerant.items[i];
    if (!t) {
        t = vec_grow(&p->tolerant);
        t->function = f->index;
    }
    t->seen++;
    if (!t->seq || at + 1 < t->seq->n)
        t->seq = seq_copy(&p->arena, seq_prefix(&p->arena, s, at + 1));
}

/* Did the reference go where it had never been? The candidate need not have such a place. */
static bool sees_fresh(Pair *p, const Outcome *ref)
{
    Exec *e = p->side[SIDE_REFERENCE].exec;
    bool fresh = false;
    for (size_t i = 0; i < ref->nfresh; i++)
        fresh |= !exec_knows(e, ref->fresh[i]);
    exec_know(e, ref->fresh, ref->nfresh);
    return fresh;
}

/* Of a sweep some calls stay; each stands for itself. */
static void keep_calls(Pair *p, Generator *g, const Seq *s, bool fresh)
{
    for (int i = 0; i < (fresh ? 3 : 1); i++) {
        Arena a = { 0 };
        Seq *one = seq_new(&a);
        const SeqStep *st = &s->steps[rng_below(&p->rng, s->n)];
        SeqStep *copy = seq_call(&a, one, st->f);
        memcpy(copy->args, st->args, st->nargs * sizeof *st->args);
        copy->divergent = true;
        generate_keep(g, one);
        arena_release(&a);
    }
}

static bool judge_both(Search *x, Generator *g, const Ran *r, const Outcome *ref, Err *err)
{
    Pair *p = x->p;
    Divergence how;
    bool clear = ref->state == OUTCOME_DONE || outcome_failed(ref);
    clear = clear && (r->out->state == OUTCOME_DONE || outcome_failed(r->out));
    p->tests++;
    p->inconclusive += !clear || r->out->cut || ref->cut;
    if (!clear) {
        see_block(p, r->seq, r->out, SIDE_CANDIDATE);
        see_block(p, r->seq, ref, SIDE_REFERENCE);
        return true;
    }
    p->reference_fails += outcome_failed(ref);
    if (oracle_compare(p, r->seq, ref, r->out, &how)) {
        if (!p->found.len)
            p->first = now() - x->begun;
        see_habits(p, r->seq, ref, r->out);
        return pair_note(p, r->seq, &how, ref, r->out, err);
    }
    if (outcome_failed(ref) && !outcome_failed(r->out))
        note_tolerance(p, r->seq, ref);
    if (outcome_failed(ref) || outcome_failed(r->out))
        return true;
    see_habits(p, r->seq, ref, r->out);
    if (p->agreed.len < MOST_AGREED && r->seq->n <= MOST_PREFIX)
        vec_push(&p->agreed, seq_copy(&p->arena, r->seq));
    bool fresh = sees_fresh(p, ref) || r->fresh;
    if (r->seq->n > MOST_STEPS)
        keep_calls(p, g, r->seq, fresh);
    else if (fresh || rng_below(&p->rng, 3) == 0)
        generate_keep(g, r->seq);
    return true;
}

static bool round_ends(Generator *g, void *arg, Err *err)
{
    Search *x = arg;
    Pair *p = x->p;
    Arena a = { 0 };
    size_t n = 0;
    ExecJob *jobs = arena_array(&a, ExecJob, x->round.len + 1);
    Outcome *out = arena_array(&a, Outcome, x->round.len + 1);
    const Ran **of = arena_array(&a, const Ran *, x->round.len + 1);
    for (size_t i = 0; i < x->round.len; i++) {
        const Ran *r = &x->round.items[i];
        const Seq *s = r->seq;
        if (r->out->state == OUTCOME_PREFIX || r->out->state == OUTCOME_NOT_RUN || !s->n)
            continue;
        if (outcome_failed(r->out) && r->out->at < s->n)
            s = seq_prefix(&a, s, r->out->at + 1);
        const Seq *there = translate(p, &a, s);
        if (!there)
            continue;
        of[n] = r;
        jobs[n++] = (ExecJob){ .seq = there };
    }
    bool ok = !n || exec_run(p->side[SIDE_REFERENCE].exec, &a, jobs, n, out, err);
    p->runs[SIDE_CANDIDATE] += x->round.len;
    p->runs[SIDE_REFERENCE] += n;
    for (size_t i = 0; ok && i < n; i++)
        ok = judge_both(x, g, of[i], &out[i], err);
    x->round.len = 0;
    arena_release(&a);
    return ok;
}

/* These tests, on both sides. */
static bool run_round(Search *x, Generator *g, Arena *a, Seq *const *all, size_t n, Err *err)
{
    ExecJob *jobs = arena_array(a, ExecJob, n + 1);
    Outcome *out = arena_array(a, Outcome, n + 1);
    for (size_t i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = all[i] };
    bool ok = !n || exec_run(x->p->side[SIDE_CANDIDATE].exec, a, jobs, n, out, err);
    for (size_t i = 0; ok && i < n; i++)
        vec_push(&x->round, ((Ran){ all[i], &out[i], true }));
    return ok && round_ends(g, x, err);
}

/* Functions that need no object are cheap to call: many times in one process. */
static bool sweep(Search *x, Generator *g, Err *err)
{
    enum { SWEEPS = 24, CALLS_OF_SWEEP = 48 };
    Pair *p = x->p;
    const Api *api = p->side[SIDE_CANDIDATE].api;
    bool ok = true;
    for (size_t i = 0; ok && i < api->nfunctions && !session_interrupted(p->all->s); i++) {
        Arena a = { 0 };
        Seq *all[SWEEPS];
        size_t n = 0;
        const ApiFunction *f = &api->functions[i];
        size_t most = p->worth && p->worth[i] < 1 ? SWEEPS / 4 : SWEEPS;
        while (n < most && pair_calls(p, f) && p->calls[i].common) {
            all[n] = seq_new(&a);
            if (!grow_sweep(&p->grow, &a, all[n], f, CALLS_OF_SWEEP))
                break;
            n++;
        }
        ok = run_round(x, g, &a, all, n, err);
        arena_release(&a);
    }
    return ok;
}

/* The example's own calls come first, on both sides. */
static bool begins(Generator *g, void *arg, Err *err)
{
    Search *x = arg;
    Pair *p = x->p;
    Arena a = { 0 };
    size_t n = 0;
    Seq *const *all = p->grow.usage ? usage_replays(p->grow.usage, &n) : NULL;
    bool ok = run_round(x, g, &a, all, n, err) && sweep(x, g, err);
    arena_release(&a);
    return ok;
}

static bool is_stopped(void *arg) { return session_interrupted(((Search *)arg)->p->all->s); }

bool pair_search(Pair *p, Err *err)
{
    Search x = { .p = p, .begun = now() };
    const char *count = session_option(p->all->s, "tests");
    SequencePlan plan = { .grow = &p->grow,
                          .exec = p->side[SIDE_CANDIDATE].exec,
                          .most_steps = MOST_STEPS,
                          .calls = CALLS,
                          .weight = weight,
                          .uniform = true,
                          .count = count ? strtoull(count, NULL, 10) : DEFAULT_TESTS,
                          .universal_share = p->grow.usage ? 0.5 : 1,
                          .varied_share = 0.4,
                          .stop = is_stopped,
                          .begins = begins,
                          .round_ends = round_ends };
    bool ok = generate_sequences(&plan, judge, &x, NULL, err);
    p->seconds = now() - x.begun;
    vec_release(&x.round);
    return ok;
}
