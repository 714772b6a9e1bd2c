/* The front end (engine/explore/front.h): an input is one event, a state is a trace. */
#include "engine/events/events_int.h"
#include "weave/weave.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Worker {
    Events *e;
    Runs *runs;
    uint32_t node;                   /* that was restored */
    Str sequence;                    /* its events, and the last one */
    bool shared;                     /* runs may begin behind them */
    uint8_t *counters;
    /* of the last trace */
    Watched watched;
    Places symbolic;
    bool sure;
    uint64_t way;
    Vec(uint32_t) fresh;             /* edges that it covered first */
} Worker;

static void lock(Events *e) { pthread_mutex_lock(&e->lock); }

static void unlock(Events *e) { pthread_mutex_unlock(&e->lock); }

static bool begin(void *subject, const FrontHost *host, FrontFacts *out, Err *err)
{
    Events *e = subject;
    (void)err;
    e->host = host;
    *out = (FrontFacts){
        .counters = e->counters, .branches = e->branches, .fixed = e->layout->size, .by_state = true
    };
    return true;
}

static void *open_worker(void *subject, unsigned job, const FrontLimits *limits, Err *err)
{
    Worker *w = xcalloc(1, sizeof *w);
    (void)job, (void)limits;
    w->e = subject;
    w->counters = xcalloc(w->e->counters + 1, 1);
    w->runs = runs_new(w->e, true, err);
    if (w->runs) {
        runs_trust(w->runs);
        return w;
    }
    free(w->counters);
    free(w);
    return NULL;
}

static void close_worker(void *worker)
{
    Worker *w = worker;
    if (!w)
        return;
    runs_free(w->runs);
    watched_release(&w->watched);
    vec_release(&w->symbolic);
    vec_release(&w->fresh);
    str_release(&w->sequence);
    free(w->counters);
    free(w);
}

/* ---- states */

static bool restore(void *worker, uint32_t state, Err *err)
{
    Worker *w = worker;
    (void)err;
    lock(w->e);
    assert(state < w->e->states.len);
    w->node = w->e->states.items[state];
    const Node *n = &w->e->nodes.items[w->node];
    str_reset(&w->sequence);
    if (n->depth)
        str_addn(&w->sequence, (const char *)n->bytes, n->depth * w->e->layout->size);
    w->shared = !n->apart && !w->e->plan->cross && !w->e->plan->no_sanitizers;
    unlock(w->e);
    return true;
}

/* ---- one event */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0xff51afd7ed558ccdull;
    return h ^ h >> 32;
}

/* Edges that the event took; those that nobody took before are news. Under the lock. */
static void count(Worker *w, const Exprs *pool, const Trail *trail)
{
    Events *e = w->e;
    uint64_t way = 0x776179;
    w->fresh.len = 0;
    for (size_t i = 0; i < e->counters; i++) {
        w->counters[i] = w->watched.counters[i] != 0;
        if (!w->counters[i] || i >= e->branches)
            continue;
        way = mix(way, i);
        if (!e->covered[i])
            vec_push(&w->fresh, (uint32_t)i);
        e->covered[i] = 1;
    }
    for (size_t i = 0; i < trail->steps.len; i++) {
        const Step *s = &trail->steps.items[i];
        ExprValue v = 0;                   /* of an address: each is a way of its own */
        if (s->kind == SUNDEW_REC_PIN)
            expr_is_const(pool, s->value, &v);
        way = mix(mix(way, s->at), (uint64_t)v);
    }
    w->way = way;
}

static bool is_late(const Failure *f)
{
    return f->kind == FAILURE_CPU_LIMIT || f->kind == FAILURE_HANG || f->kind == FAILURE_TIMEOUT;
}

static EventsFailure *known_failure(Events *e, const Failure *f)
{
    for (size_t i = 0; i < e->failures.len; i++)
        if (failure_same(&e->failures.items[i].failure, f, FAILURE_SAME_SITE))
            return &e->failures.items[i];
    return NULL;
}

/* The program's own frames end where it was called by us. */
static void cut_frames(Failure *f)
{
    for (size_t i = 0; i < f->nframes; i++)
        if (f->frames[i].function && str_starts(f->frames[i].function, "sundew_")) {
            f->nframes = i;
            f->site = f->site < i ? f->site : i;
        }
}

void failures_add(Events *e, const Failure *f, const uint8_t *bytes, size_t n, bool again)
{
    EventsFailure new = { .bytes = xmemdup(bytes, n),
                          .nevents = (unsigned)(n / e->layout->size),
                          .seen = 1,
                          .again = again };
    failure_copy(&new.failure, f);
    cut_frames(&new.failure);
    vec_push(&e->failures, new);
}

/* With several jobs a longer sequence may come first. Under the lock. */
static void see_again(const Events *e, EventsFailure *known, const uint8_t *bytes, size_t n)
{
    unsigned nevents = (unsigned)(n / e->layout->size);
    known->seen++;
    if (nevents >= known->nevents)
        return;
    free(known->bytes);
    known->bytes = xmemdup(bytes, n);
    known->nevents = nevents;
}

/* A new failure is run once more. One that does not show again is no finding. */
static bool note_failure(Worker *w, const uint8_t *bytes, size_t n, Err *err)
{
    Events *e = w->e;
    const Failure *f = &w->watched.failure;
    if (!failure_is(f) || w->watched.lost)
        return true;
    lock(e);
    EventsFailure *known = known_failure(e, f);
    if (known)
        see_again(e, known, bytes, n);
    bool blocked = f->kind == FAILURE_TIMEOUT || f->kind == FAILURE_HANG;
    e->late += is_late(f);
    e->blocked += blocked;
    unlock(e);
    if (known || blocked)
        return true;
    Watched again = { 0 };
    if (!runs_watch(w->runs, bytes, n, false, &again, err))
        return false;
    bool shows = failure_same(f, &again.failure, FAILURE_SAME_SITE);
    watched_release(&again);
    lock(e);
    known = known_failure(e, f);           /* another worker may have been quicker */
    if (known)
        see_again(e, known, bytes, n);
    else
        failures_add(e, f, bytes, n, shows);
    unlock(e);
    return true;
}

/* Under the lock. */
static void note_run(Worker *w)
{
    Events *e = w->e;
    const Watched *r = &w->watched;
    e->executions++;
    e->handled += r->handled;
    e->hidden |= r->hidden;
    if (*r->file)
        memcpy(e->hidden_file, r->file, sizeof e->hidden_file);
    if (r->lost || (!e->plan->cross && r->before != e->nodes.items[w->node].hash))
        e->lost++;
}

/* All events of a run: an input is the last one, or with `cross` all of them. */
static void add_sequence(const Worker *w, const uint8_t *bytes, size_t n, Str *out)
{
    size_t size = w->e->layout->size, have = w->sequence.len + size;
    if (!w->e->plan->cross)
        str_addn(out, str_c(&w->sequence), w->sequence.len);
    str_addn(out, (const char *)bytes, n);
    while (out->len < have)
        str_addc(out, 0);
}

static bool trace(void *worker, Exprs *pool, uint32_t in, const uint8_t *bytes, size_t n,
                  FrontTrace *out, Err *err)
{
    Worker *w = worker;
    Events *e = w->e;
    Str all = { 0 };
    add_sequence(w, bytes, n, &all);
    const uint8_t *sequence = (const uint8_t *)str_c(&all);
    watched_release(&w->watched);
    w->symbolic.len = 0;
    bool ok = runs_follow(w->runs, sequence, all.len, w->shared, pool, in, &out->trail,
                          &w->symbolic, &w->sure, err) &&
              runs_watch(w->runs, sequence, all.len, w->shared, &w->watched, err);
    if (ok) {
        lock(e);
        count(w, pool, &out->trail);
        note_run(w);
        unlock(e);
        out->counters = w->counters;
        out->died = failure_is(&w->watched.failure);
        ok = note_failure(w, sequence, all.len, err);
    }
    str_release(&all);
    return ok;
}

static void judge(void *worker, FrontJudge by, const uint8_t *bytes, size_t n, FrontFailures *out)
{
    (void)worker, (void)by, (void)bytes, (void)n, (void)out;   /* trace() has done it */
}

/* ---- what follows */

/* The state behind the last trace, if it is to be extended. Under the lock. */
static bool add_trace(Worker *w, const uint8_t *bytes, size_t n, uint32_t *state)
{
    Events *e = w->e;
    Str all = { 0 };
    add_sequence(w, bytes, n, &all);
    places_note(e, &w->watched.places);
    places_note(e, &w->symbolic);
    uint32_t node = prune_add(e, w->node, &w->watched, &w->symbolic, w->sure, w->way,
                              (const uint8_t *)str_c(&all), w->fresh.len);
    for (size_t i = 0; i < w->fresh.len; i++)
        vec_push(&e->nodes.items[node].fresh, w->fresh.items[i]);
    str_release(&all);
    *state = (uint32_t)e->states.len;
    if (e->nodes.items[node].end != END_EXTENDED)
        return false;
    vec_push(&e->states, node);
    return true;
}

/* The first event that is tried in a state. Under the lock. */
static void add_first(const Events *e, uint32_t state, FrontInputs *out)
{
    const Node *node = &e->nodes.items[e->states.items[state]];
    size_t size = e->layout->size, before = e->plan->cross ? node->depth * size : 0;
    uint8_t *next = xcalloc(before + size, 1);
    if (before)
        memcpy(next, node->bytes, before);
    vec_push(out, ((FrontInput){ state, next, before + size, node->depth }));
}

/* At the beginning: all states that were not searched to their end. */
static bool follow(void *worker, const uint8_t *bytes, size_t n, FrontInputs *out, Err *err)
{
    Worker *w = worker;
    Events *e = w->e;
    uint32_t state = 0;
    (void)err;
    assert(!bytes || n % e->layout->size == 0);
    lock(e);
    for (uint32_t i = 0; !bytes && i < e->states.len; i++) {
        const Node *node = &e->nodes.items[e->states.items[i]];
        if (!node->done && node->depth < e->depth)
            add_first(e, i, out);
    }
    if (bytes && add_trace(w, bytes, n, &state))
        add_first(e, state, out);
    unlock(e);
    return true;
}

static void done(void *worker, uint32_t state)
{
    Events *e = ((Worker *)worker)->e;
    lock(e);
    e->nodes.items[e->states.items[state]].done = true;
    unlock(e);
}

static void place(void *subject, uint32_t at, const char **file, unsigned *line)
{
    const Events *e = subject;
    const EdgeInfo *i = edges_at(e->edges, at);
    *file = i ? i->file : "";
    *line = i ? i->line : 0;
}

const ExploreFront events_front = {
    .begin = begin,
    .open = open_worker,
    .close = close_worker,
    .restore = restore,
    .trace = trace,
    .judge = judge,
    .follow = follow,
    .done = done,
    .place = place,
};
