/*
 * suite - judges sequences: which become tests.
 *
 * What brings coverage is settled, at the end of the round, and so are a few that
 * call something in a new way: a test may see a fault without covering anything of
 * its own. What only went well is kept to go on from now and then, so that objects
 * reach states in which nothing new was seen on the way. What dies although it
 * follows the usage is a suspect.
 */
#include "engine/suite/suite.h"
#include "engine/generate/repeat.h"
#include "run/failure.h"
#include <assert.h>
#include <stdlib.h>
#include <errno.h>
#include <string.h>

enum {
    MOST_SUSPECTS = 50,
    MOST_TRIES = 6,              /* to make a test for a point */
    MOST_MORE = 1500,            /* tests without coverage of their own … */
    STRICT_STATUS = 99,          /* a sanitizer complained */
    MORE = 4,
    MORE_WHEN_DRY = 16,    /* … a round */
};

/* A sequence that may become a test, and the coverage that it brought. */
typedef struct Bringer {
    Seq *seq;
    const uint32_t *points;
    size_t n;
} Bringer;

/* The state of the judge. */
typedef struct Judge {
    const SuitePlan *plan;
    const Settler *settler;
    Rng *rng;
    Suite *suite;
    Generator *generator;
    Map shapes;                  /* of calls and results seen */
    Vec(Bringer) bringers;       /* of this round; in the round's memory */
    unsigned more;               /* tests without coverage that this round may have */
    size_t nmore;                /* … that there are */
    size_t covered;              /* when the round began */
    unsigned dry;                /* rounds since one brought coverage */
    uint8_t *tries;              /* by point: tests for it that could not be settled */
    size_t npoints;
} Judge;

static bool is_stopped(void *arg)
{
    const SuitePlan *plan = ((Judge *)arg)->plan;
    return plan->stop && plan->stop(plan->arg);
}

static bool is_interrupted(const Judge *j)
{
    return j->plan->interrupted && j->plan->interrupted(j->plan->arg);
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

bool test_is_sensible(const Settler *s, const SeqTest *t)
{
    for (size_t i = 0; i < t->out.nobs; i++)
        if (t->out.obs[i].place == OBSERVED_ERRNO && t->out.obs[i].integer == ENOMEM)
            return false;
    return seq_is_proper(t->seq, s->ownership) && grow_keeps_order(s->grow, t->seq);
}

void suite_release(Suite *s)
{
    vec_release(&s->tests);
    vec_release(&s->suspects);
    vec_release(&s->losses);
    arena_release(&s->arena);
}

/* ---- novelty */

static void mix_bytes(uint64_t *h, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

/* Is the last call made with such arguments for the first time? What it gave is not
 * asked: that may differ from run to run. */
static bool is_new_call(Judge *j, const Seq *s)
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
    return map_putn(&j->shapes, key, sizeof key, NULL);
}

/* Did the last call end in a way that it has not yet after such calls? */
static bool is_novel(Judge *j, const Seq *s, const Outcome *o)
{
    struct {
        unsigned last, before;
        int kind;
        uint64_t value;
    } shape = { 0 };
    const Observation *b = outcome_at(o, s->n - 1, API_RETURNED);
    shape.last = s->steps[s->n - 1].f->index;
    shape.before = s->n > 1 && s->steps[s->n - 2].f ? s->steps[s->n - 2].f->index + 1 : 0;
    shape.kind = b ? (int)b->kind : -1;
    shape.value = b && b->kind == OBSERVED_INTEGER && b->integer + 8 < 64 ? b->integer + 8 : 0;
    return map_putn(&j->shapes, &shape, sizeof shape, NULL);
}

/* ---- deaths */

static bool same_death(const Suspect *x, const Seq *s, const Outcome *o)
{
    return x->how.signal == o->signal && x->how.state == o->state && x->how.at < x->seq->n &&
           o->at < s->n && x->seq->steps[x->how.at].f == s->steps[o->at].f;
}

/* Has the library died of what the example did, too? */
static bool is_suspect(Judge *j, const Seq *part, const Outcome *o)
{
    const GrowPlan *g = j->settler->grow;
    Arena a = { 0 };
    Seq *known = seq_copy(&a, part);
    outcome_note_nulls(o, known);        /* nobody passes on a NULL that was no NULL before */
    bool ok = grow_follows(g, known) && sequence_repeats(g->usage, known, o);
    arena_release(&a);
    return ok;
}

static void note_death(Judge *j, const Seq *s, const Outcome *o, bool strict)
{
    Seq part = { s->steps, o->at < s->n ? o->at + 1 : s->n };
    if (!is_suspect(j, &part, o)) {
        j->suite->set_aside++;
        return;
    }
    for (size_t i = 0; i < j->suite->suspects.len; i++) {
        Suspect *x = &j->suite->suspects.items[i];
        if (!same_death(x, s, o))
            continue;
        x->count++;
        if (part.n < x->seq->n) {
            x->seq = seq_copy(&j->suite->arena, &part);
            x->how.at = o->at;
            x->strict = strict;
        }
        return;
    }
    if (j->suite->suspects.len >= MOST_SUSPECTS)
        return;
    Suspect x = {
        .seq = seq_copy(&j->suite->arena, &part), .follows = true, .strict = strict, .count = 1
    };
    x.how.state = o->state;
    x.how.signal = o->signal;
    x.how.at = o->at;
    vec_push(&j->suite->suspects, x);
}

/* ---- settling */

/* It became no test: others may try. */
static void give_back(Judge *j, const Bringer *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->points[i] < j->npoints && j->tries[b->points[i]]++ < MOST_TRIES) {
            exec_forget(j->settler->exec, &b->points[i], 1);
            j->suite->covered--;
        }
}

static void take_settled(Judge *j, const Settled *x, const Bringer *b)
{
    Suite *u = j->suite;
    const Seq *body = b->seq;
    if (x->kind != SETTLED)
        give_back(j, b);
    switch (x->kind) {
    case SETTLED:
        u->settled++;
        j->nmore += !b->n;
        if (test_is_sensible(j->settler, &x->test))
            vec_push(&u->tests, test_copy(&u->arena, &x->test));
        generate_keep(j->generator, body);
        break;
    case SETTLED_ILLEGAL:
        u->illegal++;
        note_death(j, x->seq, &x->how, true);
        break;
    case SETTLED_OPEN: u->open++; break;
    case SETTLED_NOT_RUN: break;
    case SETTLED_LEAKS:
        u->leaks++;
        generate_keep(j->generator, body);
        break;
    case SETTLED_EMPTY:
        u->empty++;
        generate_keep(j->generator, body);
        break;
    }
}

/* ---- replays */

static void know_all(Judge *j, const Outcome *o)
{
    Exec *e = j->settler->exec;
    for (size_t i = 0; i < o->nfresh; i++)
        if (!exec_knows(e, o->fresh[i])) {
            exec_know(e, &o->fresh[i], 1);
            j->suite->covered++;
        }
}

/* States on the way are good to go on from, too. */
static void add_ways(Judge *j, Arena *a, const Seq *s)
{
    for (unsigned n = 2; n < s->n; n += 1 + s->n / 8)
        if (s->steps[n - 1].f)
            generate_keep(j->generator, seq_prefix(a, s, n));
    if (s->n && s->steps[s->n - 1].f)
        generate_keep(j->generator, s);
}

/* A replay, or what is left of one. */
typedef struct Replay {
    Seq *seq;
    bool whole;                  /* nothing was left out */
    int other;                   /* the call that gave something else than in the example; -1 */
    Seq *plain;                  /* the same without more room for results; NULL: it has none */
} Replay;

typedef Vec(Replay) Replays;

static void lose(Suite *u, const ApiFunction *f, const char *why)
{
    for (size_t i = 0; i < u->losses.len; i++)
        if (u->losses.items[i].function == f && strcmp(u->losses.items[i].why, why) == 0) {
            u->losses.items[i].calls++;
            return;
        }
    vec_push(&u->losses, ((UsageLoss){ f, why, 1 }));
}

/* The first call that gave something else than in the example; -1: none. `handles`: only one
 * whose object is not there now. */
static int first_other(const Seq *s, const Outcome *o, bool handles)
{
    for (unsigned i = 0; i < s->n; i++) {
        const Observation *b = s->steps[i].f ? sequence_differs(s, i, o) : NULL;
        if (b && (b->kind == OBSERVED_NULL || !handles))
            return (int)i;
    }
    return -1;
}

/* How a replay that died did it, in words. */
static const char *death(Judge *j, const Settled *x)
{
    const char *plain = "it crashes, or a sanitizer complains, when it is repeated";
    Failure f = { 0 };
    Str said = { 0 };
    Err ignored = { 0 };
    ExecJob job = { .seq = x->seq };
    Exec *e = j->settler->strict ? j->settler->strict : j->settler->exec;
    if (x->seq && exec_failure(e, &job, &f, &ignored) && failure_is(&f)) {
        str_add(&said, "it crashes when it is repeated: ");
        failure_describe(&f, &said);
        plain = arena_strdup(&j->suite->arena, str_c(&said));
    }
    str_release(&said);
    failure_release(&f);
    return plain;
}

/* Why a replay became no test as it is. `*at` is the step to blame; -1: none is. */
static const char *reason(Judge *j, const Seq *s, const Settled *x, int *at)
{
    *at = x->how.at < s->n && s->steps[x->how.at].f ? (int)x->how.at : -1;
    if (x->kind == SETTLED_ILLEGAL && *at >= 0 && x->how.state == OUTCOME_TIMEOUT)
        return "it does not come to an end when it is repeated";
    if (x->kind == SETTLED_ILLEGAL && *at >= 0 && x->how.state == OUTCOME_EXITED &&
        x->how.status != STRICT_STATUS)
        return "it ends the process when it is repeated";
    if (x->kind == SETTLED_ILLEGAL)
        return death(j, x);
    *at = -1;
    return x->kind == SETTLED_NOT_RUN ? "the time was over"
           : x->kind == SETTLED_OPEN  ? "what it made can't be given back without a crash"
           : x->kind == SETTLED_LEAKS ? "it leaves memory behind"
                                      : "nothing that it gives is the same each time";
}

/* The last call before objects are given back. */
static const ApiFunction *last_call(const Seq *s)
{
    for (unsigned i = s->n; i-- > 0;)
        if (s->steps[i].f && !s->steps[i].closing)
            return s->steps[i].f;
    return NULL;
}

/* One that is no test as it is goes on without the step to blame. */
static void try_less(Judge *j, Arena *a, const Replay *r, const Settled *x, Replays *less)
{
    int at;
    bool died = x->kind == SETTLED_ILLEGAL;
    Seq *roomy = died && !r->plain && r->whole ? seq_with_room(a, r->seq, true) : NULL;
    if (roomy) {
        vec_push(less, ((Replay){ .seq = roomy, .whole = r->whole, .other = -1, .plain = r->seq }));
        return;
    }
    const char *why = reason(j, r->seq, x, &at);
    j->suite->late += x->kind == SETTLED_NOT_RUN;
    const ApiFunction *f = at >= 0 ? r->seq->steps[at].f : last_call(r->seq);
    if (f)
        lose(j->suite, f, why);
    const Seq *all = r->plain ? r->plain : r->seq;
    Seq *rest = at >= 0 ? seq_without(a, all, (unsigned)at) : NULL;
    if (rest && last_call(rest))
        vec_push(less, ((Replay){ .seq = rest, .other = -1 }));
}

/* The steps up to a handle that is not there; the rest would be something else. */
static void cut_at_missing(Judge *j, Arena *a, Replay *r, const Outcome *o)
{
    int at = first_other(r->seq, o, true);
    r->other = at < 0 ? first_other(r->seq, o, false) : -1;
    if (at < 0)
        return;
    lose(j->suite, r->seq->steps[at].f, "it gives NULL here, and did not in the example");
    Seq *rest = seq_without(a, r->seq, (unsigned)at);
    r->seq = rest ? rest : seq_prefix(a, r->seq, (unsigned)at + 1);
    r->whole = false;
}

static void take_replay(Judge *j, Arena *a, const Replay *r, const Settled *x)
{
    Suite *u = j->suite;
    add_ways(j, a, r->seq);
    if (x->kind == SETTLED && r->other >= 0)
        lose(u, r->seq->steps[r->other].f, "it gives something else than in the example");
    if (x->kind != SETTLED || (r->plain && r->other >= 0))
        return;
    SeqTest *t = test_copy(&u->arena, &x->test);
    t->example = r->other < 0;
    vec_push(&u->tests, t);
    if (t->example)
        *(r->whole ? &u->replayed : &u->shortened) += 1;
    know_all(j, &t->out);
}

/* Tests of some of them; `less` gets what is to be tried instead of the others. */
static bool replay_some(Judge *j, Replay *some, size_t n, Arena *a, Replays *less, Err *err)
{
    Settled *settled = arena_array(a, Settled, n + 1);
    ExecJob *jobs = arena_array(a, ExecJob, n + 1);
    Outcome *out = arena_array(a, Outcome, n + 1);
    Seq **bodies = arena_array(a, Seq *, n + 1);
    for (size_t i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = some[i].seq };
    if (!exec_run(j->settler->exec, a, jobs, n, out, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        cut_at_missing(j, a, &some[i], &out[i]);
        bodies[i] = some[i].seq;
        if (bodies[i] == jobs[i].seq)
            outcome_note_nulls(&out[i], bodies[i]);
    }
    if (!settle(j->settler, a, bodies, n, settled, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (settled[i].kind == SETTLED_ILLEGAL)
            note_death(j, settled[i].seq, &settled[i].how, true);
        else
            take_replay(j, a, &some[i], &settled[i]);
        if (settled[i].kind != SETTLED)
            try_less(j, a, &some[i], &settled[i], less);
    }
    return true;
}

/* What the example did. Of a sequence that can't be done again as it is the rest is
 * tried, without the call that is to blame. */
static bool play_example(Judge *j, Err *err)
{
    enum { SOME = 4, TIMES = 6 };
    Arena a = { 0 };
    Replays all = { 0 };
    size_t n = 0;
    Seq *const *seqs = j->settler->grow->usage ? usage_replays(j->settler->grow->usage, &n) : NULL;
    bool ok = true;
    j->suite->replays = n;
    for (size_t i = 0; i < n; i++)
        vec_push(&all, ((Replay){ .seq = seqs[i], .whole = true, .other = -1 }));
    for (int k = 0; ok && k < TIMES && all.len; k++) {
        Replays less = { 0 };
        for (size_t i = 0; ok && i < all.len; i += SOME)
            ok = is_interrupted(j) ||
                 replay_some(j, all.items + i, all.len - i < SOME ? all.len - i : SOME, &a, &less,
                             err);
        vec_release(&all);
        all = less;
    }
    vec_release(&all);
    arena_release(&a);
    return ok;
}

static bool settle_round(Judge *j, Err *err)
{
    Arena a = { 0 };
    size_t n = j->bringers.len;
    Seq **bodies = arena_array(&a, Seq *, n + 1);
    Settled *settled = arena_array(&a, Settled, n + 1);
    for (size_t i = 0; i < n; i++)
        bodies[i] = j->bringers.items[i].seq;
    bool ok = !n || settle(j->settler, &a, bodies, n, settled, err);
    for (size_t i = 0; ok && i < n; i++)
        take_settled(j, &settled[i], &j->bringers.items[i]);
    arena_release(&a);
    return ok;
}

/* ---- constants
 *
 * A library compares what it gets with numbers and words of its own: cases of a switch, names of
 * options. Each of them is tried once in each place that takes such a value, in a call as the
 * example makes it; chance alone finds few of them.
 */

enum { MOST_CONSTANTS = 150, MOST_SWEPT = 6000, SWEPT_AT_ONCE = 200 };

typedef struct Sweep {
    Judge *judge;
    Arena arena;
    Map done;                    /* functions */
    Vec(ExecJob) jobs;
    size_t n;                    /* all that were made */
} Sweep;

/* Executes what was made; what brings coverage may become a test. */
static bool run_swept(Sweep *w, Err *err)
{
    Judge *j = w->judge;
    Exec *e = j->settler->exec;
    Outcome *out = arena_array(&w->arena, Outcome, w->jobs.len + 1);
    bool ok = exec_run(e, &w->arena, w->jobs.items, w->jobs.len, out, err);
    for (size_t i = 0; ok && i < w->jobs.len; i++) {
        uint32_t *points = arena_array(&w->arena, uint32_t, out[i].nfresh + 1);
        size_t n = 0;
        for (size_t k = 0; k < out[i].nfresh && out[i].state == OUTCOME_DONE; k++)
            if (!exec_knows(e, out[i].fresh[k])) {
                exec_know(e, &out[i].fresh[k], 1);
                points[n++] = out[i].fresh[k];
            }
        j->suite->covered += n;
        Seq *s = (Seq *)w->jobs.items[i].seq;
        if (n) {
            outcome_note_nulls(&out[i], s);
            vec_push(&j->bringers, ((Bringer){ s, points, n }));
        }
    }
    w->jobs.len = 0;
    ok = ok && settle_round(j, err);
    j->bringers.len = 0;
    return ok;
}

/* All constants in all places of the last call of a sequence. */
static bool sweep_call(Sweep *w, const Seq *s, Err *err)
{
    const SeqStep *st = &s->steps[s->n - 1];
    for (unsigned i = 0; i < st->nargs; i++) {
        const ApiPlace *p = &st->f->params[i];
        SeqValue v;
        bool alone = p->partner == API_NONE && p->within == API_NONE && !st->f->pinned &&
                     !st->args[i].nlinks && !st->args[i].given;
        for (size_t k = 0;
             alone && k < MOST_CONSTANTS && w->n < MOST_SWEPT &&
             pool_constant(w->judge->settler->grow->pool, p, &st->args[i], k, &w->arena, &v);
             k++) {
            Seq *c = seq_copy(&w->arena, s);
            c->steps[s->n - 1].args[i] = v;
            c->steps[s->n - 1].divergent = true;
            vec_push(&w->jobs, ((ExecJob){ .seq = c }));
            w->n++;
            if (w->jobs.len == SWEPT_AT_ONCE && !run_swept(w, err))
                return false;
        }
    }
    return true;
}

static bool sweep_constants(Judge *j, Err *err)
{
    enum { FAR = 12 };           /* calls that lead to it, at most */
    const GrowPlan *g = j->settler->grow;
    Sweep w = { .judge = j };
    size_t n = 0;
    Seq *const *all = g->usage ? usage_replays(g->usage, &n) : NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        for (unsigned k = 0; ok && k < all[i]->n && k < FAR && !is_stopped(j); k++)
            if (all[i]->steps[k].f && map_put(&w.done, all[i]->steps[k].f->name, NULL))
                ok = sweep_call(&w, seq_prefix(&w.arena, all[i], k + 1), err);
    ok = ok && (!w.jobs.len || run_swept(&w, err));
    vec_release(&w.jobs);
    map_release(&w.done);
    arena_release(&w.arena);
    return ok;
}

/* ---- judging */

static unsigned more_allowed(const Judge *j)
{
    return !j->plan->more || j->nmore >= MOST_MORE ? 0 : j->dry > 3 ? MORE_WHEN_DRY : MORE;
}

static bool begins(Generator *g, void *arg, Err *err)
{
    Judge *j = arg;
    j->generator = g;
    bool ok = play_example(j, err) && sweep_constants(j, err);
    j->covered = j->suite->covered;
    j->more = more_allowed(j);
    return ok;
}

static SequenceVerdict judge(Generator *g, Seq *s, const Outcome *o, void *arg)
{
    Judge *j = arg;
    assert(g == j->generator);
    if (o->state == OUTCOME_DIED)
        note_death(j, s, o, false);
    if (o->state != OUTCOME_DONE)
        return SEQUENCE_DROP;
    if (o->nfresh) {
        j->suite->covered += o->nfresh;
        vec_push(&j->bringers, ((Bringer){ s, o->fresh, o->nfresh }));
        return SEQUENCE_DROP;    /* it is kept if it can be settled */
    }
    bool call = is_new_call(j, s);
    bool keep = is_novel(j, s, o) || rng_below(j->rng, 50) == 0;
    if (j->more && (call || rng_below(j->rng, 20) == 0)) {
        vec_push(&j->bringers, ((Bringer){ .seq = s }));
        j->more--;
    }
    return keep ? SEQUENCE_KEEP : SEQUENCE_DROP;
}

static bool round_ends(Generator *g, void *arg, Err *err)
{
    Judge *j = arg;
    assert(g == j->generator);
    bool ok = settle_round(j, err);
    j->bringers.len = 0;
    j->dry = j->suite->covered > j->covered ? 0 : j->dry + 1;
    j->covered = j->suite->covered;
    j->more = more_allowed(j);
    return ok;
}

bool suite_make(const SuitePlan *plan, Suite *out, Err *err)
{
    const Settler *settler = plan->settler;
    size_t npoints = exec_npoints(settler->exec);
    Judge j = { .plan = plan,
                .settler = settler,
                .rng = settler->grow->rng,
                .suite = out,
                .npoints = npoints,
                .tries = xcalloc(npoints + 1, 1) };
    SequencePlan how = { .grow = settler->grow,
                         .exec = settler->exec,
                         .seconds = plan->seconds,
                         .count = plan->count,
                         .universal_share = plan->universal_share,
                         .divergent_share = plan->divergent_share,
                         .stop = is_stopped,
                         .begins = begins,
                         .round_ends = round_ends };
    assert(plan->seconds || plan->count);
    bool ok = generate_sequences(&how, judge, &j, &out->ran, err);
    vec_release(&j.bringers);
    map_release(&j.shapes);
    free(j.tries);
    return ok;
}
