/*
 * generate - the loop.
 *
 * The components are the sequences that went well. A round takes some of them,
 * grows each in several ways, and executes all that in one go; the steps that
 * the ways share are executed once (exec.h). What brings coverage is settled, and
 * so are a few that call something in a new way: a test may see a fault without
 * covering anything of its own. What only went well becomes a component now and then, so
 * that objects reach states in which nothing new was seen on the way.
 *
 * How many calls of the second phase depart from the usage follows from success:
 * of guided and divergent ways, that which brought more coverage a job lately is
 * taken more often, within limits.
 */
#include "engine/suite/generate.h"
#include <assert.h>
#include <string.h>
#include <time.h>

enum {
    BASES = 10, WAYS = 16,       /* of a round */
    FAITHFUL = 2,                /* bases that are followed as the example has it */
    MOST_COMPONENTS = 3000,
    MOST_SUSPECTS = 50,
    MOST_TRIES = 6,              /* to make a test for a point */
    MOST_MORE = 1500,            /* tests without coverage of their own … */
    MORE = 4, MORE_WHEN_DRY = 16,    /* … a round */
};

/* Faithful: every call from the first on is as the usage has it, with values of the
 * example, because only what dies of that is a finding. */
typedef enum { WAY_GUIDED, WAY_DIVERGENT, WAY_FAITHFUL, NWAYS } Way;

typedef struct Component {
    Seq *seq;
    unsigned uses;
    bool follows;                /* no call departs from the usage */
} Component;

typedef struct Run {
    const GeneratePlan *plan;
    const Settler *settler;
    const GrowPlan *grow;
    GrowPlan universal;          /* the same without the usage */
    GrowPlan faithful;           /* … with the values of the example only */
    Rng *rng;
    Suite *suite;
    Vec(Component) components;
    double begun;
    bool guided;                 /* second phase */
    unsigned *called;            /* by function: how often with success */
    Map shapes;                  /* of results seen */
    unsigned dry;                /* rounds since one brought coverage */
    size_t nmore;                /* tests without coverage of their own */
    double jobs[NWAYS], gains[NWAYS];    /* lately */
    uint8_t *tries;              /* by point: tests for it that could not be settled */
    size_t npoints;
} Run;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How much of the budget is spent, from 0 to 1. */
static double spent(const Run *r)
{
    double by_time = r->plan->seconds ? (now() - r->begun) / r->plan->seconds : 0;
    double by_count = r->plan->count ? (double)r->suite->sequences / (double)r->plan->count : 0;
    return by_time > by_count ? by_time : by_count;
}

SeqTest *test_copy(Arena *a, const SeqTest *t)
{
    SeqTest *c = arena_new(a, SeqTest);
    *c = *t;
    c->seq = seq_copy(a, t->seq);
    Observation *obs = arena_array(a, Observation, t->out.nobs + 1);
    for (size_t i = 0; i < t->out.nobs; i++) {
        obs[i] = t->out.obs[i];
        uint8_t *bytes = arena_array(a, uint8_t, obs[i].n + 1);
        if (obs[i].n)
            memcpy(bytes, t->out.obs[i].bytes, obs[i].n);
        obs[i].bytes = bytes;
    }
    c->out.obs = obs;
    uint32_t *fresh = arena_array(a, uint32_t, t->out.nfresh + 1);
    if (t->out.nfresh)
        memcpy(fresh, t->out.fresh, t->out.nfresh * sizeof *fresh);
    c->out.fresh = fresh;
    c->stable = arena_array(a, bool, t->out.nobs + 1);
    if (t->out.nobs)
        memcpy(c->stable, t->stable, t->out.nobs * sizeof *c->stable);
    return c;
}

void suite_release(Suite *s)
{
    vec_release(&s->tests);
    vec_release(&s->suspects);
    arena_release(&s->arena);
}

/* --------------------------------------------------------------- growing */

/* Of a few, the one that was called least. */
static const ApiFunction *rare_function(Run *r)
{
    const Api *api = r->grow->api;
    const ApiFunction *best = NULL;
    for (int i = 0; i < 40 && !(best && i >= 3); i++) {
        const ApiFunction *f = &api->functions[rng_below(r->rng, api->nfunctions)];
        if (f->not_callable || f->variadic)
            continue;
        if (!best || r->called[f->index] < r->called[best->index])
            best = f;
    }
    return best;
}

/* The share of divergent calls. */
static double divergence(const Run *r)
{
    double least = r->plan->divergent_share, most = 0.6 > least ? 0.6 : least;
    double g = (r->gains[WAY_GUIDED] + 1) / (r->jobs[WAY_GUIDED] + 50);
    double d = (r->gains[WAY_DIVERGENT] + 1) / (r->jobs[WAY_DIVERGENT] + 50);
    double share = d / (g + d);
    return !least ? 0 : share < least ? least : share > most ? most : share;
}

static bool grow_once(Run *r, Arena *a, Seq *s, Way way)
{
    if (way == WAY_FAITHFUL)
        return grow_guided(&r->faithful, a, s);
    if (rng_below(r->rng, 8) == 0 && s->n && grow_observer(r->grow, a, s))
        return true;
    if (r->guided && way == WAY_GUIDED)
        return grow_guided(r->grow, a, s);
    return grow_universal(r->guided ? r->grow : &r->universal, a, s, rare_function(r));
}

/* Objects of another sequence come in: those of both may stand in one call. */
static void mix_in(Run *r, Arena *a, Seq *s)
{
    const Seq *other = r->components.items[rng_below(r->rng, r->components.len)].seq;
    if (s->n + other->n < SEQ_MOST_STEPS - 16)
        seq_append(a, s, other);
}

static Seq *grow(Run *r, Arena *a, const Seq *base, Way way)
{
    Seq *s = seq_copy(a, base);
    if (r->components.len && way != WAY_FAITHFUL && rng_below(r->rng, 6) == 0)
        mix_in(r, a, s);
    unsigned calls = 1 + (unsigned)(rng_below(r->rng, 3) == 0) +
                     (unsigned)(rng_below(r->rng, 6) == 0) * 3;
    for (unsigned i = 0; i < calls; i++)
        if (!grow_once(r, a, s, way))
            break;
    return s->n > base->n ? s : NULL;
}

static const Seq *pick_base(Run *r, Arena *a, bool faithful)
{
    size_t n = r->components.len;
    if (!n || rng_below(r->rng, 5) == 0)
        return seq_new(a);
    /* of three the least used: new ones come up soon */
    Component *best = NULL;
    for (int i = 0; i < (faithful ? 30 : 3); i++) {
        size_t at = rng_below(r->rng, 2) ? rng_below(r->rng, n)
                                         : n - 1 - rng_below(r->rng, n < 50 ? n : 50);
        Component *c = &r->components.items[at];
        if ((!best || c->uses < best->uses) && (!faithful || c->follows))
            best = c;
    }
    if (!best)
        return seq_new(a);
    best->uses++;
    if (best->seq->n >= SEQ_MOST_STEPS - 16)
        return seq_new(a);
    return best->seq;
}

/* -------------------------------------------------------------- judging */

static void add_component(Run *r, const Seq *s)
{
    Component c = { seq_copy(&r->suite->arena, s), 0, true };
    for (unsigned i = 0; i < s->n && c.follows; i++)
        c.follows = !s->steps[i].divergent;
    if (r->components.len < MOST_COMPONENTS)
        vec_push(&r->components, c);
    else
        r->components.items[rng_below(r->rng, MOST_COMPONENTS)] = c;
}

static void mix_bytes(uint64_t *h, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

/* Is the last call made with such arguments for the first time? What it gave is not
 * asked: that may differ from run to run. */
static bool is_new_call(Run *r, const Seq *s)
{
    const SeqStep *st = &s->steps[s->n - 1];
    uint64_t key[2] = { st->f->index, 0xcbf29ce484222325u };
    for (unsigned i = 0; i < st->nargs; i++) {
        const SeqValue *v = &st->args[i];
        const ApiFunction *maker = value_is_made(v) ? s->steps[v->step].f : NULL;
        uint64_t words[3] = { v->kind, maker ? maker->index : v->integer, 0 };
        memcpy(&words[2], &v->real, sizeof words[2]);
        mix_bytes(&key[1], words, sizeof words);
        if (v->kind == VALUE_STRING || v->kind == VALUE_BYTES)
            mix_bytes(&key[1], v->bytes, v->n);
    }
    return map_putn(&r->shapes, key, sizeof key, NULL);
}

/* Did the last call end in a way that it has not yet after such calls? */
static bool is_novel(Run *r, const Seq *s, const Outcome *o)
{
    struct { unsigned last, before; int kind; uint64_t value; } shape = { 0 };
    const Observation *b = outcome_at(o, s->n - 1, API_RETURNED);
    shape.last = s->steps[s->n - 1].f->index;
    shape.before = s->n > 1 && s->steps[s->n - 2].f ? s->steps[s->n - 2].f->index + 1 : 0;
    shape.kind = b ? (int)b->kind : -1;
    shape.value = b && b->kind == OBSERVED_INTEGER && b->integer + 8 < 64 ? b->integer + 8 : 0;
    return map_putn(&r->shapes, &shape, sizeof shape, NULL);
}

static bool same_death(const Suspect *x, const Seq *s, const Outcome *o)
{
    return x->how.signal == o->signal && x->how.state == o->state &&
           x->how.at < x->seq->n && o->at < s->n &&
           x->seq->steps[x->how.at].f == s->steps[o->at].f;
}

static void note_death(Run *r, const Seq *s, const Outcome *o, bool strict)
{
    Seq part = { s->steps, o->at < s->n ? o->at + 1 : s->n };
    if (!grow_follows(r->grow, &part)) {
        r->suite->set_aside++;
        return;
    }
    for (size_t i = 0; i < r->suite->suspects.len; i++) {
        Suspect *x = &r->suite->suspects.items[i];
        if (!same_death(x, s, o))
            continue;
        x->count++;
        if (part.n < x->seq->n) {
            x->seq = seq_copy(&r->suite->arena, &part);
            x->how.at = o->at;
            x->strict = strict;
        }
        return;
    }
    if (r->suite->suspects.len >= MOST_SUSPECTS)
        return;
    Suspect x = { .seq = seq_copy(&r->suite->arena, &part), .follows = true, .strict = strict,
                  .count = 1 };
    x.how.state = o->state;
    x.how.signal = o->signal;
    x.how.at = o->at;
    vec_push(&r->suite->suspects, x);
}

static void count(Run *r, const Seq *s, const Outcome *o)
{
    Suite *u = r->suite;
    u->sequences++;
    u->done += o->state == OUTCOME_DONE;
    u->died += o->state == OUTCOME_DIED;
    u->timeouts += o->state == OUTCOME_TIMEOUT;
    u->exited += o->state == OUTCOME_EXITED;
    if (o->state == OUTCOME_DIED)
        note_death(r, s, o, false);
    if (o->state == OUTCOME_DONE)
        for (unsigned i = 0; i < s->n; i++)
            if (s->steps[i].f)
                r->called[s->steps[i].f->index]++;
}

/* A sequence that brought coverage, and which. */
typedef struct Bringer {
    Seq *seq;
    uint32_t *points;
    size_t n;
} Bringer;

/* Points that nobody had before, now known. */
static bool brings_coverage(Run *r, Arena *a, Seq *s, const Outcome *o, Bringer *out)
{
    Exec *e = r->settler->exec;
    *out = (Bringer){ s, arena_array(a, uint32_t, o->nfresh + 1), 0 };
    for (size_t i = 0; i < o->nfresh; i++)
        if (!exec_knows(e, o->fresh[i])) {
            out->points[out->n++] = o->fresh[i];
            exec_know(e, &o->fresh[i], 1);
        }
    r->suite->covered += out->n;
    return out->n > 0;
}

/* It became no test: others may try. */
static void give_back(Run *r, const Bringer *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->points[i] < r->npoints && r->tries[b->points[i]]++ < MOST_TRIES) {
            exec_forget(r->settler->exec, &b->points[i], 1);
            r->suite->covered--;
        }
}

static void take_settled(Run *r, const Settled *x, const Bringer *b)
{
    Suite *u = r->suite;
    const Seq *body = b->seq;
    if (x->kind != SETTLED)
        give_back(r, b);
    switch (x->kind) {
    case SETTLED:
        u->settled++;
        r->nmore += !b->n;
        vec_push(&u->tests, test_copy(&u->arena, &x->test));
        add_component(r, body);
        break;
    case SETTLED_ILLEGAL:
        u->illegal++;
        note_death(r, x->seq, &x->how, true);
        break;
    case SETTLED_OPEN:
        u->open++;
        break;
    case SETTLED_LEAKS:
        u->leaks++;
        add_component(r, body);
        break;
    case SETTLED_EMPTY:
        u->empty++;
        add_component(r, body);
        break;
    }
}

/* ---------------------------------------------------------------- rounds */

static size_t make_jobs(Run *r, Arena *a, ExecJob *jobs, Way *ways)
{
    size_t n = 0;
    double share = divergence(r);
    for (unsigned b = 0; b < BASES; b++) {
        bool faithful = r->guided && b < FAITHFUL;
        const Seq *base = pick_base(r, a, faithful);
        for (unsigned w = 0; w < WAYS; w++) {
            Way way = faithful ? WAY_FAITHFUL
                : rng_unit(r->rng) < share ? WAY_DIVERGENT : WAY_GUIDED;
            Seq *s = grow(r, a, base, way);
            ways[n] = way;
            if (s)
                jobs[n++] = (ExecJob){ .seq = s, .prefix = base->n, .group = base->n ? b + 1 : 0 };
        }
    }
    return n;
}

static bool one_round(Run *r, Err *err)
{
    Arena a = {0};
    ExecJob *jobs = arena_array(&a, ExecJob, BASES * WAYS);
    Outcome *out = arena_array(&a, Outcome, BASES * WAYS);
    Seq **bodies = arena_array(&a, Seq *, BASES * WAYS);
    Bringer *bringers = arena_array(&a, Bringer, BASES * WAYS);
    Way *ways = arena_array(&a, Way, BASES * WAYS + 1);
    size_t n = make_jobs(r, &a, jobs, ways), m = 0, covered = r->suite->covered;
    unsigned more = !r->plan->more || r->nmore >= MOST_MORE ? 0 : r->dry > 3 ? MORE_WHEN_DRY : MORE;
    bool ok = n == 0 || exec_run(r->settler->exec, &a, jobs, n, out, err);
    for (size_t i = 0; ok && i < n; i++) {
        Seq *s = (Seq *)jobs[i].seq;
        count(r, s, &out[i]);
        r->jobs[ways[i]] += r->guided;
        if (out[i].state != OUTCOME_DONE)
            continue;
        outcome_note_nulls(&out[i], s);
        if (brings_coverage(r, &a, s, &out[i], &bringers[m])) {
            bodies[m++] = s;
            r->gains[ways[i]] += r->guided;
        }
        else {
            bool call = is_new_call(r, s);
            if (is_novel(r, s, &out[i]) || rng_below(r->rng, 50) == 0)
                add_component(r, s);
            if (more && (call || rng_below(r->rng, 20) == 0)) {
                bringers[m] = (Bringer){ .seq = s };
                bodies[m++] = s;
                more--;
            }
        }
    }
    Settled *settled = arena_array(&a, Settled, m + 1);
    ok = ok && (!m || settle(r->settler, &a, bodies, m, settled, err));
    for (size_t i = 0; ok && i < m; i++)
        take_settled(r, &settled[i], &bringers[i]);
    r->dry = r->suite->covered > covered ? 0 : r->dry + 1;
    for (int w = 0; w < NWAYS; w++) {
        r->jobs[w] *= 0.95;
        r->gains[w] *= 0.95;
    }
    arena_release(&a);
    r->suite->sequences += n == 0;       /* a round without jobs counts, too */
    return ok;
}

/* --------------------------------------------------------------- replays */

static void know_all(Run *r, const Outcome *o)
{
    Exec *e = r->settler->exec;
    for (size_t i = 0; i < o->nfresh; i++)
        if (!exec_knows(e, o->fresh[i])) {
            exec_know(e, &o->fresh[i], 1);
            r->suite->covered++;
        }
}

/* States on the way are good to go on from, too. */
static void add_ways(Run *r, Arena *a, const Seq *s)
{
    for (unsigned n = 2; n < s->n; n += 1 + s->n / 8)
        if (s->steps[n - 1].f)
            add_component(r, seq_prefix(a, s, n));
    if (s->n && s->steps[s->n - 1].f)
        add_component(r, s);
}

/* Tests of some of them; where one did not get through, `shorter` gets what is
 * before that. */
static bool replay_some(Run *r, Seq *const *some, size_t n, Arena *a, Seq **shorter,
                        size_t *nshorter, Err *err)
{
    Suite *u = r->suite;
    Settled *settled = arena_array(a, Settled, n + 1);
    ExecJob *jobs = arena_array(a, ExecJob, n + 1);
    Outcome *out = arena_array(a, Outcome, n + 1);
    for (size_t i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = some[i] };
    if (!exec_run(r->settler->exec, a, jobs, n, out, err))
        return false;
    for (size_t i = 0; i < n; i++)
        outcome_note_nulls(&out[i], some[i]);
    if (!settle(r->settler, a, some, n, settled, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        const Settled *x = &settled[i];
        bool died = x->kind == SETTLED_ILLEGAL;
        if (died && x->how.at > 0 && x->how.at <= some[i]->n)
            shorter[(*nshorter)++] = seq_prefix(a, some[i], x->how.at);
        if (!died)
            add_ways(r, a, some[i]);
        if (x->kind != SETTLED)
            continue;
        SeqTest *t = test_copy(&u->arena, &x->test);
        t->example = true;
        vec_push(&u->tests, t);
        u->replayed++;
        know_all(r, &t->out);
    }
    return true;
}

/* What the example did. Of a sequence that can't be done again in isolation its
 * beginning is tried. */
static bool play_example(Run *r, Err *err)
{
    enum { SOME = 4, TIMES = 3 };
    Arena a = {0};
    size_t n = 0;
    Seq *const *all = r->grow->usage ? usage_replays(r->grow->usage, &n) : NULL;
    bool ok = true;
    r->suite->replays = n;
    for (int k = 0; ok && k < TIMES && n; k++) {
        Seq **shorter = arena_array(&a, Seq *, n + 1);
        size_t nshorter = 0;
        for (size_t i = 0; ok && i < n; i += SOME)
            ok = replay_some(r, all + i, n - i < SOME ? n - i : SOME, &a, shorter, &nshorter,
                             err);
        all = shorter;
        n = nshorter;
    }
    arena_release(&a);
    return ok;
}

bool generate(const GeneratePlan *plan, Suite *out, Err *err)
{
    Run r = { .plan = plan, .settler = plan->settler, .grow = plan->settler->grow,
              .rng = plan->settler->grow->rng, .suite = out, .begun = now() };
    double first = r.grow->usage ? plan->universal_share : 1;
    r.universal = *r.grow;
    r.universal.usage = NULL;
    r.faithful = *r.grow;
    r.faithful.near = 0;
    r.called = xcalloc(r.grow->api->nfunctions + 1, sizeof *r.called);
    r.npoints = exec_npoints(r.settler->exec);
    r.tries = xcalloc(r.npoints + 1, 1);
    assert(plan->seconds || plan->count);
    bool ok = play_example(&r, err);
    for (double s = 0; ok && s < 1 && !(plan->stop && plan->stop(plan->arg)); s = spent(&r)) {
        r.guided = s >= first;
        ok = one_round(&r, err);
        if (plan->progress)
            plan->progress(s, out->tests.len, plan->arg);
    }
    out->seconds = now() - r.begun;
    vec_release(&r.components);
    map_release(&r.shapes);
    free(r.called);
    free(r.tries);
    return ok;
}
