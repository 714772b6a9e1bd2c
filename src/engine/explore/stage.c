/*
 * Inputs on their way through the counting build: a batch is run, what died is
 * looked at, and what is new is run once more by itself, made shorter, and
 * kept.
 */
#include "engine/explore/explore_int.h"
#include "base/units.h"
#include "runtime/server/batch.h"
#include <string.h>
#include <sys/wait.h>

typedef struct Candidate {
    uint8_t *bytes;
    size_t n;
    uint32_t parent;
    bool died, late, sample;           /* sample: not new, but another way */
} Candidate;
typedef Vec(Candidate) Candidates;

enum { SAMPLES = 16 };                 /* of a batch */

static void lock(Explorer *x)
{
    pthread_mutex_lock(&x->lock);
}

static void unlock(Explorer *x)
{
    pthread_mutex_unlock(&x->lock);
}

static void count_runs(Job *j)
{
    uint64_t runs = fast_runs(j->fast);
    j->x->executions += runs - j->told;
    j->told = runs;
}

/* The counters of one input, by a run of its own; the batch is empty afterwards. */
static const FastResult *run_alone(Job *j, const uint8_t *bytes, size_t n)
{
    fast_reset(j->fast);
    if (!fast_add(j->fast, bytes, n) || !fast_run_apart(j->fast, &j->err))
        return NULL;
    return fast_result(j->fast, 0);
}

static bool is_alive(const FastResult *r)
{
    return WIFEXITED(r->status);
}

/* ------------------------------------------------------------- shortening */

/* Adds the input without [at, at + n) to the batch. */
static bool add_without(Job *j, const uint8_t *bytes, size_t len, size_t at, size_t n,
                        uint8_t *room)
{
    memcpy(room, bytes, at);
    memcpy(room + at, bytes + at + n, len - at - n);
    return fast_add(j->fast, room, len - n);
}

/* Leaves out blocks while the path stays the same: larger ones first. Works in
 * place, gives the new length. */
static size_t shorten(Job *j, uint8_t *bytes, size_t len, uint64_t path)
{
    uint8_t *room = xmalloc(len + 1);
    size_t least = len / 1024 > 4 ? len / 1024 : 4;
    for (size_t size = len / 8; size >= least && len > size; size /= 2)
        for (size_t at = 0; at + size <= len && len > size;) {
            size_t from = at, tried = 0;
            fast_reset(j->fast);
            while (tried < 16 && at + size <= len &&
                   add_without(j, bytes, len, at, size, room)) {
                at += size;
                tried++;
            }
            if (!tried || !fast_run(j->fast, &j->err))
                goto out;
            size_t hit = 0;
            while (hit < tried && fast_result(j->fast, (unsigned)hit)->path != path)
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

/* ---------------------------------------------------------------- keeping */

static unsigned news_here(Job *j, bool take)
{
    lock(j->x);
    unsigned news = queue_news(j->x->queue, fast_counters(j->fast), take);
    unlock(j->x);
    return news;
}

static Entry *keep(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
                   const FastResult *r)
{
    Explorer *x = j->x;
    lock(x);
    unsigned news = queue_news(x->queue, fast_counters(j->fast), true);
    Entry *e = NULL;
    if (news || origin == FROM_SEED) {
        QueueRun run = { .origin = origin, .parent = parent, .path = r->path,
                         .micros = r->micros, .when = clock_seconds() - x->begun,
                         .new_edge = news == SUNDEW_NEWS_EDGE };
        e = queue_add(x->queue, bytes, n, fast_counters(j->fast), &run);
        if (run.new_edge)
            x->last_new = clock_seconds();
        corpus_save(x, e);
    }
    unlock(x);
    return e;
}

/* An input that went somewhere new, by its batch's word. */
static bool examine(Job *j, const Candidate *c, Origin origin, Entry **entry)
{
    const FastResult *r = run_alone(j, c->bytes, c->n);
    if (!r || !is_alive(r))
        return r != NULL;
    unsigned news = news_here(j, false);
    if (!news && origin != FROM_SEED)
        return true;
    uint8_t *bytes = xmemdup(c->bytes, c->n);
    size_t n = c->n;
    if (origin == FROM_MUTATION && n > 8 && r->micros < 20000) {
        n = shorten(j, bytes, n, r->path);
        r = run_alone(j, bytes, n);
    }
    Entry *e = r && is_alive(r) ? keep(j, bytes, n, origin, c->parent, r) : NULL;
    bool ok = r && (!e || failures_judge(j, bytes, n, c->parent, false, false));
    free(bytes);
    if (entry)
        *entry = e;
    return ok;
}

/* ------------------------------------------------------------------ batch */

static void take_candidate(Job *j, unsigned i, uint32_t parent, bool died, bool late,
                           Candidates *out)
{
    size_t n;
    const uint8_t *bytes = fast_input(j->fast, i, &n);
    vec_push(out, ((Candidate){ xmemdup(bytes, n), n, parent, died, late, false }));
}

/* Is it to be looked at? One run of each path that died; of those that took too long
 * only a few, because a look takes long too. */
static bool is_new_death(Explorer *x, uint64_t path, bool late)
{
    bool is_new = x->bad_paths.len < 2000 && !map_getn(&x->bad_paths, &path, sizeof path);
    if (is_new && late)
        is_new = (double)x->late_judged++ < 3 + (clock_seconds() - x->begun) / 60;
    if (is_new)
        map_putn(&x->bad_paths, &path, sizeof path, x);
    return is_new;
}

static void look_at_batch(Job *j, Origin origin, uint32_t parent, Candidates *out)
{
    Explorer *x = j->x;
    unsigned samples = 0;
    lock(x);
    count_runs(j);
    for (unsigned i = 0; i < fast_count(j->fast); i++) {
        const FastResult *r = fast_result(j->fast, i);
        bool late = fast_timed_out(j->fast, i);
        bool another = is_alive(r) && queue_saw_path(x->queue, r->path) == 1;
        if (late || !is_alive(r)) {
            if (is_new_death(x, r->path, late))
                take_candidate(j, i, parent, true, late, out);
        } else if (r->news || origin == FROM_SEED) {
            take_candidate(j, i, parent, false, false, out);
        } else if (another && samples < SAMPLES) {
            take_candidate(j, i, parent, false, false, out);
            out->items[out->len - 1].sample = true;
            samples++;
        }
    }
    unlock(x);
}

static bool flush(Job *j, Origin origin, uint32_t parent, Entry **entry)
{
    Candidates found = {0};
    bool ok = !fast_count(j->fast) || fast_run(j->fast, &j->err);
    if (ok)
        look_at_batch(j, origin, parent, &found);
    fast_reset(j->fast);
    for (size_t i = 0; i < found.len; i++) {
        Candidate *c = &found.items[i];
        if (ok && c->died)
            ok = failures_judge(j, c->bytes, c->n, c->parent, true, c->late);
        else if (ok && c->sample)
            failures_sample(j, c->bytes, c->n, c->parent);
        else if (ok)
            ok = examine(j, c, origin, entry);
        free(c->bytes);
    }
    if (ok)
        failures_samples(j);
    fast_reset(j->fast);
    vec_release(&found);
    return ok;
}

bool stage_flush(Job *j, Origin origin, uint32_t parent)
{
    return flush(j, origin, parent, NULL);
}

bool stage_try(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
               Entry **entry)
{
    if (entry)
        *entry = NULL;
    fast_reset(j->fast);
    return !fast_add(j->fast, bytes, n) || flush(j, origin, parent, entry);
}

bool stage_keep(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
                bool died, bool late, Entry **entry)
{
    const FastResult r = *fast_result(j->fast, 0);
    Candidate c = { xmemdup(bytes, n), n, parent, died, late, false };
    bool ok = true;
    lock(j->x);
    count_runs(j);
    bool look = !died || is_new_death(j->x, r.path, late);
    unlock(j->x);
    *entry = NULL;
    if (died && look)
        ok = failures_judge(j, c.bytes, n, parent, true, late);
    else if (!died)
        ok = examine(j, &c, origin, entry);
    free(c.bytes);
    fast_reset(j->fast);
    return ok;
}

/* --------------------------------------------------------------- mutation */

/* Words that were found since the last time. */
static void take_words(Job *j)
{
    for (; j->nwords < j->x->words.len; j->nwords++) {
        const Keyword *w = &j->x->words.items[j->nwords];
        mutator_word(j->mutator, w->bytes, w->n);
    }
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
    for (unsigned i = 0; i < energy && !job_over(j);) {
        const Entry *other = others[rng_below(&j->rng, 16)];
        const uint8_t *bytes;
        size_t n = mutate(j->mutator, e->bytes, e->n, other->bytes,
                          other == e ? 0 : other->n, &bytes);
        if (fast_add(j->fast, bytes, n))
            i++;
        else if (!stage_flush(j, FROM_MUTATION, e->id))
            return false;
    }
    return stage_flush(j, FROM_MUTATION, e ? e->id : 0);
}
