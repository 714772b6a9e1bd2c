/*
 * Inputs on their way through quick runs: a batch is run, what died is
 * looked at, and what is new is run once more by itself, made shorter, and
 * kept.
 */
#include "engine/explore/explore_int.h"
#include "base/units.h"
#include "runtime/server/batch.h"
#include <assert.h>
#include <string.h>

typedef struct Candidate {
    uint8_t *bytes;
    size_t n;
    bool died, late, sample;           /* sample: not new, but another way */
    int signal;
} Candidate;
typedef Vec(Candidate) Candidates;

enum { SAMPLES = 16 };                 /* of a batch */

static void lock(Explorer *x) { pthread_mutex_lock(&x->lock); }

static void unlock(Explorer *x) { pthread_mutex_unlock(&x->lock); }

/* Under the lock. */
static void count_runs(Job *j)
{
    j->x->executions += j->untold;
    j->untold = 0;
}

bool stage_run(Job *j, bool apart, FrontBatch *out)
{
    assert(j->state == 0);             /* quick runs know the start only */
    *out = (FrontBatch){ 0 };
    if (!j->x->front->run(j->worker, apart, out, &j->err))
        return false;
    assert(!out->n || out->counters);
    explorer_worked(j->x, (double)out->n * 50e-6);
    return true;
}

void stage_tried(Job *j, const FrontBatch *batch)
{
    j->untold += batch->n;
    j->tried += batch->n;
}

static bool add(Job *j, const uint8_t *bytes, size_t n)
{
    return j->x->front->add(j->worker, bytes, n);
}

/* One more input to try; false: the batch is full, or no more may be tried. */
static bool add_try(Job *j, const uint8_t *bytes, size_t n)
{
    if (!job_may_try(j))
        return false;
    if (add(j, bytes, n))
        return true;
    j->granted += j->x->plan->executions != 0; /* for another time */
    return false;
}

/* The counters of one input, by a run of its own. The batch is empty if the
 * exploration was stopped meanwhile. */
static bool run_alone(Job *j, const uint8_t *bytes, size_t n, FrontBatch *out)
{
    return add(j, bytes, n) && stage_run(j, true, out);
}

/* ---- shortening */

/* Adds the input without [at, at + n) to the batch. */
static bool add_without(Job *j, const uint8_t *bytes, size_t len, size_t at, size_t n,
                        uint8_t *room)
{
    memcpy(room, bytes, at);
    memcpy(room + at, bytes + at + n, len - at - n);
    return add(j, room, len - n);
}

/* Is there time for it? A large input has thousands of blocks, and the first batch of a search may
 * bring hundreds of new inputs: shortening runs no more than twice as many as the search itself. */
static bool may_shorten(const Job *j) { return j->shortened < 4000 + 2 * j->tried; }

/* Leaves out blocks while the path stays the same: larger ones first. Works in
 * place, gives the new length. */
static size_t shorten(Job *j, uint8_t *bytes, size_t len, uint64_t path)
{
    uint8_t *room = xmalloc(len + 1);
    size_t least = len / 1024 > 4 ? len / 1024 : 4;
    for (size_t size = len / 8; size >= least && len > size; size /= 2)
        for (size_t at = 0; at + size <= len && len > size;) {
            size_t from = at, tried = 0;
            FrontBatch batch;
            if (job_over(j) || !may_shorten(j))
                goto out;
            while (tried < 16 && at + size <= len && add_without(j, bytes, len, at, size, room)) {
                at += size;
                tried++;
            }
            if (!tried || !stage_run(j, false, &batch) || batch.n < tried)
                goto out;                      /* …or it was stopped */
            j->shortened += tried;
            atomic_fetch_add(&j->x->shortened, tried);
            size_t hit = 0;
            while (hit < tried && batch.runs[hit].path != path)
                hit++;
            if (hit < tried) {                 /* the rest is tried anew */
                size_t gone = from + hit * size;
                memmove(bytes + gone, bytes + gone + size, len - gone - size);
                len -= size;
                at = gone;
            }
        }
out:
    free(room);
    return len;
}

/* ---- keeping */

static bool has_news(Job *j, const FrontBatch *batch)
{
    lock(j->x);
    unsigned news = queue_news(j->x->queue, batch->counters, false);
    unlock(j->x);
    return news != SUNDEW_NEWS_NONE;
}

static Entry *keep(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
                   const FrontBatch *batch)
{
    Explorer *x = j->x;
    const FrontRun *r = &batch->runs[batch->n - 1];
    lock(x);
    unsigned news = queue_news(x->queue, batch->counters, true);
    Entry *e = NULL;
    if (news || origin == FROM_SEED) {
        QueueRun run = { .origin = origin,
                         .parent = parent,
                         .path = r->path,
                         .micros = r->micros,
                         .when = explorer_age(x),
                         .new_edge = news == SUNDEW_NEWS_EDGE };
        e = queue_add(x->queue, bytes, n, batch->counters, &run);
        e->judged = atomic_load(&x->strict);
        if (run.new_edge)
            x->last_new = explorer_age(x);
        corpus_save(x, e);
    }
    unlock(x);
    return e;
}

/* It passed in its batch and dies now: the judge finds out how often. */
static bool has_died(Job *j, const uint8_t *bytes, size_t n, uint32_t parent,
                     const FrontBatch *batch)
{
    if (!batch->n || !batch->runs->died)
        return false;
    failures_judge(j, &(Input){ 0, bytes, n, parent }, true, batch->runs->late,
                   batch->runs->signal);
    return true;
}

/* An input that went somewhere new, by its batch's word. */
static bool examine(Job *j, const Candidate *c, Origin origin, uint32_t parent, Entry **entry)
{
    FrontBatch batch;
    if (!run_alone(j, c->bytes, c->n, &batch))
        return false;
    if (!batch.n || has_died(j, c->bytes, c->n, parent, &batch) ||
        (!has_news(j, &batch) && origin != FROM_SEED))
        return true;
    uint8_t *bytes = xmemdup(c->bytes, c->n);
    size_t n = c->n;
    bool ok = true;
    if (origin == FROM_MUTATION && n > 8 && batch.runs->micros < 20000) {
        n = shorten(j, bytes, n, batch.runs->path);
        ok = run_alone(j, bytes, n, &batch);
    }
    bool passed = ok && batch.n && !has_died(j, bytes, n, parent, &batch);
    Entry *e = passed ? keep(j, bytes, n, origin, parent, &batch) : NULL;
    if (e)
        failures_judge(j, &(Input){ 0, bytes, n, parent }, false, false, 0);
    free(bytes);
    if (entry)
        *entry = e;
    return ok;
}

/* ---- batch */

static void take_candidate(const FrontRun *r, bool died, bool sample, Candidates *out)
{
    vec_push(out, ((Candidate){ xmemdup(r->bytes, r->n), r->n, died, r->late, sample, r->signal }));
}

/* Is it to be looked at? One run of each path that died; of those that took too long
 * only a few, because a look takes long too. */
static bool is_new_death(Explorer *x, uint64_t path, bool late)
{
    bool is_new = x->bad_paths.len < 2000 && !map_getn(&x->bad_paths, &path, sizeof path);
    if (is_new && late)
        is_new = (double)x->late_judged++ < (x->never_ends ? 0 : 3) + explorer_age(x) / 60;
    if (is_new)
        map_putn(&x->bad_paths, &path, sizeof path, x);
    return is_new;
}

/* 0, 1, 2–3, 4–7, … */
static unsigned log2_class(size_t n)
{
    unsigned bits = n ? 64 - (unsigned)__builtin_clzll(n) : 0;
    return bits < SHAPES ? bits : SHAPES - 1;
}

/* Is no input before of about this length, with about as many bytes before a zero? Copies into
 * a buffer that is too small take the same way as others. Under the lock. */
static bool is_new_shape(Explorer *x, const FrontRun *r)
{
    const uint8_t *zero = r->n ? memchr(r->bytes, 0, r->n) : NULL;
    size_t text = zero ? (size_t)(zero - r->bytes) : r->n;
    bool *seen = &x->shapes[log2_class(r->n)][log2_class(text)];
    bool is_new = !*seen;
    *seen = true;
    return is_new;
}

static void look_at_batch(Job *j, const FrontBatch *batch, Origin origin, Candidates *out)
{
    Explorer *x = j->x;
    unsigned samples = 0;
    lock(x);
    count_runs(j);
    for (size_t i = 0; i < batch->n; i++) {
        const FrontRun *r = &batch->runs[i];
        bool shape = is_new_shape(x, r);
        bool another = !r->died && (queue_saw_path(x->queue, r->path) == 1 || shape);
        if (r->late || r->died) {
            if (is_new_death(x, r->path, r->late))
                take_candidate(r, true, false, out);
        } else if (r->news || origin == FROM_SEED) {
            take_candidate(r, false, false, out);
        } else if (another && samples < SAMPLES) {
            take_candidate(r, false, true, out);
            samples++;
        }
    }
    unlock(x);
}

static bool flush(Job *j, Origin origin, uint32_t parent, Entry **entry)
{
    Candidates found = { 0 };
    FrontBatch batch;
    bool ok = stage_run(j, false, &batch);
    stage_tried(j, &batch);
    if (ok)
        look_at_batch(j, &batch, origin, &found);
    for (size_t i = 0; i < found.len; i++) {
        Candidate *c = &found.items[i];
        Input in = { 0, c->bytes, c->n, parent };
        bool failed = ok && c->died && failures_judge(j, &in, true, c->late, c->signal);
        if (ok && c->sample)
            failures_sample(j, &in);
        else if (ok && !failed && (!job_over(j) || origin == FROM_SEED))
            ok = examine(j, c, origin, parent, entry);
        free(c->bytes);
    }
    if (ok)
        failures_samples(j);
    vec_release(&found);
    return ok;
}

/* Seeds always run, but they count. */
static void count_seed(Job *j)
{
    lock(j->x);
    j->x->granted += j->x->granted < j->x->plan->executions;
    unlock(j->x);
}

bool stage_try(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
               Entry **entry)
{
    if (entry)
        *entry = NULL;
    count_seed(j);
    return !add(j, bytes, n) || flush(j, origin, parent, entry);
}

bool stage_keep(Job *j, const FrontRun *run, Origin origin, uint32_t parent, Entry **entry)
{
    Candidate c = { xmemdup(run->bytes, run->n), run->n, run->died, run->late, false, run->signal };
    uint64_t path = run->path;
    bool ok = true;
    lock(j->x);
    count_runs(j);
    bool look = !c.died || is_new_death(j->x, path, c.late);
    unlock(j->x);
    *entry = NULL;
    Input in = { 0, c.bytes, c.n, parent };
    bool failed = c.died && (!look || failures_judge(j, &in, true, c.late, c.signal));
    if (!failed)
        ok = examine(j, &c, origin, parent, entry);
    free(c.bytes);
    return ok;
}

/* ---- mutation */

/* Words that were found since the last time. */
static void take_words(Job *j)
{
    for (; j->nwords < j->x->words.len; j->nwords++) {
        const Keyword *w = &j->x->words.items[j->nwords];
        mutator_word(j->mutator, w->bytes, w->n);
    }
}

/* No input gets through, so there is none to begin with: chance makes some. */
static bool mutate_nothing(Job *j)
{
    unsigned some = j->x->never_ends ? 8 : 64;
    for (unsigned i = 0; i < some && !job_done(j); i++) {
        uint8_t seed[8];
        const uint8_t *bytes;
        uint64_t chance = rng_next(&j->rng);
        memcpy(seed, &chance, sizeof seed);
        size_t n = mutate(j->mutator, seed, sizeof seed, seed, 0, &bytes);
        if (!add_try(j, bytes, n) && !flush(j, FROM_MUTATION, 0, NULL))
            return false;
    }
    return flush(j, FROM_MUTATION, 0, NULL);
}

bool stage_mutate(Job *j)
{
    Explorer *x = j->x;
    lock(x);
    take_words(j);
    Entry *e = queue_choose(x->queue, &j->rng);
    unsigned energy = e ? queue_energy(x->queue, e) : 0;
    size_t length = queue_length(x->queue);
    Entry *others[16];
    for (size_t i = 0; e && i < 16; i++)
        others[i] = queue_at(x->queue, rng_below(&j->rng, length));
    if (e)
        e->done = true;
    unlock(x);
    if (!e)
        return mutate_nothing(j);
    for (unsigned i = 0; i < energy && !job_done(j);) {
        const Entry *other = others[rng_below(&j->rng, 16)];
        const uint8_t *bytes;
        size_t n =
            mutate(j->mutator, e->bytes, e->n, other->bytes, other == e ? 0 : other->n, &bytes);
        if (add_try(j, bytes, n))
            i++;
        else if (!flush(j, FROM_MUTATION, e->id, NULL))
            return false;
    }
    return flush(j, FROM_MUTATION, e->id, NULL);
}
