/*
 * generate - the loop.
 *
 * The components are the sequences that were kept. A round takes some of them,
 * grows each in several ways, and executes all that in one go; the steps that
 * the ways share are executed once (exec.h).
 *
 * How many calls of the second phase depart from the usage follows from success:
 * of guided and divergent ways, that which brought more coverage a job lately is
 * taken more often, within limits.
 */
#include "engine/generate/generate.h"
#include <assert.h>
#include <limits.h>
#include <string.h>
#include <time.h>

enum {
    BASES = 10,
    WAYS = 16,       /* of a round */
    FAITHFUL = 2,                /* bases that are followed as the example has it */
    MOST_COMPONENTS = 3000,
    MARGIN = 16,                 /* steps that a base leaves free */
};

/* Faithful: every call from the first on is as the usage has it, with values of the
 * example, because only what dies of that is a finding. */
typedef enum { WAY_GUIDED, WAY_DIVERGENT, WAY_FAITHFUL, NWAYS } Way;

typedef struct Component {
    Seq *seq;
    unsigned uses;
    bool follows;                /* no call departs from the usage */
} Component;

struct Generator {
    const SequencePlan *plan;
    SequenceJudge *judge;
    void *arg;
    Generated *out;
    Arena arena;                 /* of the components */
    GrowPlan grow;               /* the plan's, with weights and wishes */
    GrowPlan universal;          /* the same without the usage */
    GrowPlan faithful;           /* … with the values of the example only */
    Rng *rng;
    Vec(Component) components;
    double begun;
    bool guided;                 /* second phase */
    bool stopped;                /* by the judge */
    unsigned *called;            /* by function: how often with success */
    double *weights;             /* by function: 0 to 1; NULL: all alike */
    double jobs[NWAYS], gains[NWAYS];    /* lately */
};

/* What one round holds. */
typedef struct Round {
    Arena arena;
    ExecJob jobs[BASES * WAYS];
    Way ways[BASES * WAYS];
    Outcome out[BASES * WAYS];
    size_t n;
} Round;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How much of the budget is spent, from 0 to 1. */
static double spent(const Generator *g)
{
    const SequencePlan *p = g->plan;
    double by_time = p->seconds ? (now() - g->begun) / p->seconds : 0;
    double by_count = p->count ? (double)g->out->sequences / (double)p->count : 0;
    return by_time > by_count ? by_time : by_count;
}

/* Without a limit of the plan's, grow.h says when a sequence is full. */
static unsigned most_steps(const Generator *g)
{
    return g->plan->most_steps ? g->plan->most_steps : UINT_MAX;
}

/* ---- which calls */

static bool is_used(const Generator *g, const ApiFunction *f)
{
    const ApiType *t = g->plan->uses;
    for (unsigned i = 0; t && i < f->nparams; i++)
        if (f->params[i].handle == t && f->params[i].role == ROLE_HANDLE)
            return true;
    return !t;
}

/* Of a few, the one that was called least. */
static const ApiFunction *rare_function(Generator *g)
{
    const Api *api = g->grow.api;
    const ApiFunction *best = NULL;
    int tries = g->plan->uses || g->weights ? 400 : 40;
    for (int i = 0; i < tries && !(best && i >= tries * 3 / 40); i++) {
        const ApiFunction *f = &api->functions[rng_below(g->rng, api->nfunctions)];
        if (f->not_callable || f->variadic || !is_used(g, f) || !grow_accepts(&g->grow, f))
            continue;
        if (!best || g->called[f->index] < g->called[best->index])
            best = f;
        if (g->plan->uniform)
            return best;
    }
    return best;
}

/* Is a handle of a type alive at the end? */
static bool has_live(const Generator *g, const Seq *s, const ApiType *t)
{
    SeqHandles all = { 0 };
    bool found = false;
    seq_handles(s, g->grow.ownership, &all);
    for (size_t i = 0; i < all.len && !found; i++)
        found = all.items[i].type == t;
    vec_release(&all);
    return found;
}

/* A call that makes the handle which has to be there. */
static bool grow_maker(Generator *g, Arena *a, Seq *s)
{
    const ApiType *t = g->plan->makes;
    if (!t->ncreators)
        return false;
    const ApiFunction *f = t->creators[rng_below(g->rng, t->ncreators)].function;
    return grow_universal(&g->grow, a, s, f);
}

/* The share of divergent calls. */
static double divergence(const Generator *g)
{
    double least = g->plan->divergent_share, most = 0.6 > least ? 0.6 : least;
    double x = (g->gains[WAY_GUIDED] + 1) / (g->jobs[WAY_GUIDED] + 50);
    double y = (g->gains[WAY_DIVERGENT] + 1) / (g->jobs[WAY_DIVERGENT] + 50);
    double share = y / (x + y);
    return !least ? 0 : share < least ? least : share > most ? most : share;
}

static bool grow_once(Generator *g, Arena *a, Seq *s, Way way)
{
    if (way == WAY_FAITHFUL)
        return grow_guided(&g->faithful, a, s);
    if (g->plan->makes && !has_live(g, s, g->plan->makes))
        return grow_maker(g, a, s);
    if (rng_below(g->rng, 8) == 0 && s->n && !g->plan->uses && grow_observer(&g->grow, a, s))
        return true;
    if (g->guided && way == WAY_GUIDED)
        return grow_guided(&g->grow, a, s);
    return grow_universal(g->guided ? &g->grow : &g->universal, a, s, rare_function(g));
}

/* ---- sequences */

/* Objects of another sequence come in: those of both may stand in one call. */
static void mix_in(Generator *g, Arena *a, Seq *s)
{
    const Seq *other = g->components.items[rng_below(g->rng, g->components.len)].seq;
    if (s->n + other->n < SEQ_MOST_STEPS - MARGIN)
        seq_append(a, s, other);
}

/* Does the last call have a handle of the type that it has to use? */
static bool uses_wanted(const Generator *g, const Seq *s)
{
    Seq before = { s->steps, s->n - 1 };
    const SeqStep *last = &s->steps[s->n - 1];
    SeqHandles all = { 0 };
    bool found = false;
    seq_handles(&before, g->grow.ownership, &all);
    for (size_t i = 0; i < all.len && !found; i++)
        for (unsigned k = 0; k < last->nargs && !found; k++)
            found = grow_is_given(&g->grow, &all.items[i]) &&
                    value_equal(&all.items[i].value, &last->args[k]);
    vec_release(&all);
    return found;
}

static bool is_wanted(const Generator *g, const Seq *s)
{
    return s->n <= most_steps(g) && (!g->plan->makes || has_live(g, s, g->plan->makes)) &&
           (!g->plan->uses || uses_wanted(g, s));
}

static Seq *grow(Generator *g, Arena *a, const Seq *base, Way way)
{
    Seq *s = seq_copy(a, base);
    bool mixes = g->components.len && way != WAY_FAITHFUL && !g->plan->prefix;
    if (mixes && rng_below(g->rng, 6) == 0)
        mix_in(g, a, s);
    unsigned calls = g->plan->calls ? 1 + (unsigned)rng_below(g->rng, g->plan->calls)
                                    : 1 + (unsigned)(rng_below(g->rng, 3) == 0) +
                                          (unsigned)(rng_below(g->rng, 6) == 0) * 3;
    for (unsigned i = 0; i < calls && s->n < most_steps(g); i++)
        if (!grow_once(g, a, s, way))
            break;
    return s->n > base->n && is_wanted(g, s) ? s : NULL;
}

static const Seq *fresh_base(const Generator *g, Arena *a)
{
    return g->plan->prefix ? g->plan->prefix : seq_new(a);
}

static const Seq *pick_base(Generator *g, Arena *a, bool faithful)
{
    size_t n = g->components.len;
    unsigned most = SEQ_MOST_STEPS - MARGIN;
    if (!n || rng_below(g->rng, 5) == 0)
        return fresh_base(g, a);
    /* of three the least used: new ones come up soon */
    Component *best = NULL;
    for (int i = 0; i < (faithful ? 30 : 3); i++) {
        size_t at = rng_below(g->rng, 2) ? rng_below(g->rng, n)
                                         : n - 1 - rng_below(g->rng, n < 50 ? n : 50);
        Component *c = &g->components.items[at];
        if ((!best || c->uses < best->uses) && (!faithful || c->follows))
            best = c;
    }
    if (!best)
        return fresh_base(g, a);
    best->uses++;
    return best->seq->n < most && best->seq->n < most_steps(g) ? best->seq : fresh_base(g, a);
}

void generate_keep(Generator *g, const Seq *s)
{
    assert(!g->plan->prefix || s->n >= g->plan->prefix->n);
    Component c = { seq_copy(&g->arena, s), 0, true };
    for (unsigned i = 0; i < s->n && c.follows; i++)
        c.follows = !s->steps[i].divergent;
    if (g->components.len < MOST_COMPONENTS)
        vec_push(&g->components, c);
    else
        g->components.items[rng_below(g->rng, MOST_COMPONENTS)] = c;
}

/* ---- rounds */

/* Steps before the value that is another are not shared: others of the round differ elsewhere. */
static void vary(Generator *g, Round *r, const Seq *base)
{
    unsigned at, first = g->plan->prefix ? g->plan->prefix->n : 0;
    Seq *s = grow_varied(&g->grow, &r->arena, base, &at);
    if (!s || at < first || !is_wanted(g, s))
        return;
    r->ways[r->n] = WAY_DIVERGENT;
    r->jobs[r->n++] = (ExecJob){ .seq = s };
}

static void make_jobs(Generator *g, Round *r)
{
    double share = divergence(g);
    for (unsigned b = 0; b < BASES; b++) {
        bool faithful = g->guided && b < FAITHFUL;
        const Seq *base = pick_base(g, &r->arena, faithful);
        bool varied = !faithful && g->plan->varied_share > 0 && base->n &&
                      rng_unit(g->rng) < g->plan->varied_share;
        for (unsigned w = 0; varied && w < WAYS; w++)
            vary(g, r, base);
        for (unsigned w = 0; !varied && w < WAYS; w++) {
            Way way = faithful                   ? WAY_FAITHFUL
                      : rng_unit(g->rng) < share ? WAY_DIVERGENT
                                                 : WAY_GUIDED;
            Seq *s = grow(g, &r->arena, base, way);
            if (!s)
                continue;
            r->ways[r->n] = way;
            r->jobs[r->n++] =
                (ExecJob){ .seq = s, .prefix = base->n, .group = base->n ? b + 1 : 0 };
        }
    }
}

static void count(Generator *g, const Seq *s, const Outcome *o)
{
    g->out->sequences++;
    g->out->done += o->state == OUTCOME_DONE;
    g->out->died += o->state == OUTCOME_DIED;
    g->out->timeouts += o->state == OUTCOME_TIMEOUT;
    g->out->exited += o->state == OUTCOME_EXITED;
    for (unsigned i = 0; o->state == OUTCOME_DONE && i < s->n; i++)
        if (s->steps[i].f)
            g->called[s->steps[i].f->index]++;
}

/* Of the points that it reached only those stay that nobody had before; they are
 * known now. */
static void sift_coverage(Generator *g, Arena *a, Outcome *o)
{
    uint32_t *points = arena_array(a, uint32_t, o->nfresh + 1);
    size_t n = 0;
    for (size_t i = 0; i < o->nfresh; i++)
        if (!exec_knows(g->plan->exec, o->fresh[i])) {
            points[n++] = o->fresh[i];
            exec_know(g->plan->exec, &o->fresh[i], 1);
        }
    o->fresh = points;
    o->nfresh = n;
}

static void judge_one(Generator *g, Round *r, size_t i)
{
    Seq *s = (Seq *)r->jobs[i].seq;
    Outcome *o = &r->out[i];
    count(g, s, o);
    g->jobs[r->ways[i]] += g->guided;
    if (o->state == OUTCOME_DONE) {
        outcome_note_nulls(o, s);
        sift_coverage(g, &r->arena, o);
        g->gains[r->ways[i]] += g->guided && o->nfresh;
    }
    SequenceVerdict v = g->judge(g, s, o, g->arg);
    g->stopped = v == SEQUENCE_STOP;
    if (v == SEQUENCE_KEEP)
        generate_keep(g, s);
}

static bool one_round(Generator *g, Err *err)
{
    Round *r = xcalloc(1, sizeof *r);
    make_jobs(g, r);
    bool ok = !r->n || exec_run(g->plan->exec, &r->arena, r->jobs, r->n, r->out, err);
    for (size_t i = 0; ok && i < r->n && !g->stopped; i++)
        judge_one(g, r, i);
    ok = ok && (!g->plan->round_ends || g->plan->round_ends(g, g->arg, err));
    for (int w = 0; w < NWAYS; w++) {
        g->jobs[w] *= 0.95;
        g->gains[w] *= 0.95;
    }
    g->out->sequences += r->n == 0;      /* a round without jobs counts, too */
    arena_release(&r->arena);
    free(r);
    return ok;
}

/* ---- the loop */

/* The judge's weights, the greatest as 1. */
static void ask_weights(Generator *g)
{
    const Api *api = g->grow.api;
    double most = 0;
    if (!g->plan->weight)
        return;
    g->weights = xcalloc(api->nfunctions + 1, sizeof *g->weights);
    for (size_t i = 0; i < api->nfunctions; i++) {
        double w = g->plan->weight(&api->functions[i], g->arg);
        g->weights[i] = w > 0 ? w : 0;
        most = w > most ? w : most;
    }
    for (size_t i = 0; most > 0 && i < api->nfunctions; i++)
        g->weights[i] /= most;
}

static void prepare(Generator *g)
{
    const SequencePlan *p = g->plan;
    ask_weights(g);
    g->grow.weights = g->weights;
    g->grow.uses = p->uses;
    g->grow.given = p->uses && p->prefix ? p->prefix->n : 0;
    g->universal = g->faithful = g->grow;
    g->universal.usage = NULL;
    g->faithful.near = 0;
    g->called = xcalloc(g->grow.api->nfunctions + 1, sizeof *g->called);
}

static void release(Generator *g)
{
    vec_release(&g->components);
    arena_release(&g->arena);
    free(g->weights);
    free(g->called);
}

bool generate_sequences(const SequencePlan *plan, SequenceJudge *judge, void *arg, Generated *out,
                        Err *err)
{
    Generated unasked;
    assert(plan->grow && plan->exec && plan->grow->rng);
    assert(plan->seconds || plan->count || plan->stop);
    Generator g = { .plan = plan,
                    .judge = judge,
                    .arg = arg,
                    .out = out ? out : &unasked,
                    .grow = *plan->grow,
                    .rng = plan->grow->rng,
                    .begun = now() };
    double first = g.grow.usage ? plan->universal_share : 1;
    *g.out = (Generated){ 0 };
    prepare(&g);
    bool ok = !plan->begins || plan->begins(&g, arg, err);
    for (double s = 0; ok && s < 1 && !g.stopped && !(plan->stop && plan->stop(arg));
         s = spent(&g)) {
        g.guided = g.grow.usage && s >= first;
        ok = one_round(&g, err);
    }
    g.out->seconds = now() - g.begun;
    release(&g);
    return ok;
}
