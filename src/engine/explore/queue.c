/* The queue: see queue.h. */
#include "engine/explore/queue.h"
#include "base/map.h"
#include "runtime/server/batch.h"
#include <assert.h>
#include <math.h>

struct Queue {
    Vec(Entry *) all;
    size_t edges, covered;     /* counters; of the program's branches, those taken */
    size_t of_program;
    uint8_t *seen;
    uint32_t *best;            /* for each edge: id + 1 of the cheapest entry */
    double *weights;           /* running sums, one an entry */
    size_t nweights;
    bool stale;                /* weights and favours are to be made anew */
    unsigned choices;
    double micros, sum_edges;  /* sums over all entries */
    /* paths: an open table of hashes and how often they came */
    uint64_t *hash;
    uint32_t *times;
    size_t room, paths;
};

enum { PATHS = 1 << 16 };

Queue *queue_new(size_t counters, size_t edges)
{
    Queue *q = xcalloc(1, sizeof *q);
    q->edges = counters;
    q->of_program = edges;
    q->seen = xcalloc(counters + 1, 1);
    q->best = xcalloc(counters + 1, sizeof *q->best);
    q->room = PATHS;
    q->hash = xcalloc(q->room, sizeof *q->hash);
    q->times = xcalloc(q->room, sizeof *q->times);
    return q;
}

void queue_free(Queue *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->all.len; i++) {
        free(q->all.items[i]->bytes);
        free(q->all.items[i]->edges);
        free(q->all.items[i]);
    }
    vec_release(&q->all);
    free(q->seen);
    free(q->best);
    free(q->weights);
    free(q->hash);
    free(q->times);
    free(q);
}

/* ---- paths */

static size_t place(const Queue *q, uint64_t path)
{
    size_t i = (size_t)(path * 0x9e3779b97f4a7c15ull >> 20) & (q->room - 1);
    while (q->hash[i] && q->hash[i] != path)
        i = (i + 1) & (q->room - 1);
    return i;
}

static void grow_paths(Queue *q)
{
    uint64_t *hash = q->hash;
    uint32_t *times = q->times;
    size_t room = q->room;
    q->room *= 2;
    q->hash = xcalloc(q->room, sizeof *q->hash);
    q->times = xcalloc(q->room, sizeof *q->times);
    for (size_t i = 0; i < room; i++)
        if (hash[i]) {
            size_t k = place(q, hash[i]);
            q->hash[k] = hash[i];
            q->times[k] = times[i];
        }
    free(hash);
    free(times);
}

uint64_t queue_saw_path(Queue *q, uint64_t path)
{
    path = path ? path : 1;
    if (q->paths * 2 > q->room && q->room < 1u << 24)
        grow_paths(q);
    size_t i = place(q, path);
    if (!q->hash[i]) {
        if (q->paths * 2 > q->room)
            return 1;                  /* full: it stays uncounted */
        q->hash[i] = path;
        q->paths++;
    }
    if (q->times[i] < UINT32_MAX)
        q->times[i]++;
    return q->times[i];
}

uint64_t queue_paths(const Queue *q) { return q->paths; }

static uint32_t times_of(const Queue *q, uint64_t path)
{
    return q->times[place(q, path ? path : 1)];
}

/* ---- coverage */

unsigned queue_news(Queue *q, const uint8_t *counters, bool take)
{
    unsigned news = SUNDEW_NEWS_NONE;
    for (size_t i = 0; i < q->edges; i++) {
        if (!(counters[i] & ~q->seen[i]))
            continue;
        unsigned this = q->seen[i] || i >= q->of_program ? SUNDEW_NEWS_COUNT : SUNDEW_NEWS_EDGE;
        news = this > news ? this : news;
        if (take) {
            q->covered += q->seen[i] == 0 && i < q->of_program;
            q->seen[i] |= counters[i];
        }
    }
    return news;
}

bool queue_covers(const Queue *q, uint32_t edge) { return edge < q->edges && q->seen[edge]; }

size_t queue_branches(const Queue *q) { return q->of_program; }

size_t queue_covered(const Queue *q) { return q->covered; }

/* ---- entries */

static double cost(const Entry *e) { return (e->micros + 1) * (double)(e->n + 1); }

static void note_best(Queue *q, Entry *e)
{
    for (size_t i = 0; i < e->nedges; i++) {
        uint32_t edge = e->edges[i], now = q->best[edge];
        if (!now || cost(e) < cost(q->all.items[now - 1]))
            q->best[edge] = e->id + 1;
    }
}

Entry *queue_add(Queue *q, const uint8_t *bytes, size_t n, const uint8_t *counters,
                 const QueueRun *run)
{
    Entry *e = xcalloc(1, sizeof *e);
    Vec(uint32_t) edges = { 0 };
    for (size_t i = 0; i < q->edges; i++)
        if (counters[i])
            vec_push(&edges, (uint32_t)i);
    e->id = (uint32_t)q->all.len;
    e->bytes = xmemdup(bytes, n);
    e->n = n;
    e->origin = run->origin;
    e->state = run->state;
    e->parent = run->parent;
    e->depth = run->parent < q->all.len ? q->all.items[run->parent]->depth + 1 : 0;
    if (run->parent < q->all.len)
        q->all.items[run->parent]->found++;
    e->micros = run->micros;
    e->path = run->path;
    e->edges = edges.items;
    e->nedges = edges.len;
    e->new_edge = run->new_edge;
    e->when = run->when;
    vec_push(&q->all, e);
    q->micros += e->micros;
    q->sum_edges += (double)e->nedges;
    note_best(q, e);
    q->stale = true;
    return e;
}

size_t queue_length(const Queue *q) { return q->all.len; }

Entry *queue_at(const Queue *q, size_t i) { return q->all.items[i]; }

/* ---- choice */

/* A small set of entries that together touch all edges: the cheapest for the
 * first edge that is left over, and so on. */
static void favour(Queue *q)
{
    uint8_t *left = xcalloc(q->edges + 1, 1);
    for (size_t i = 0; i < q->edges; i++)
        left[i] = q->best[i] != 0;
    for (size_t i = 0; i < q->all.len; i++)
        q->all.items[i]->favoured = false;
    for (size_t i = 0; i < q->edges; i++)
        if (left[i]) {
            Entry *e = q->all.items[q->best[i] - 1];
            e->favoured = true;
            for (size_t k = 0; k < e->nedges; k++)
                left[e->edges[k]] = 0;
        }
    free(left);
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double weight(const Queue *q, const Entry *e)
{
    double n = (double)q->all.len, w = 1;
    w *= clamp(q->micros / n / (e->micros + 1), 0.1, 4);
    w *= clamp((double)e->nedges / (q->sum_edges / n + 1), 0.3, 3);
    w *= 1 / (1 + log2(1 + (double)times_of(q, e->path)) / 4);
    w *= e->favoured ? 6 : 1;
    w *= e->done ? 1 : 3;
    w *= e->new_edge ? 1.5 : 1;
    w *= 1 + fmin(e->depth, 20) / 20;
    w /= 1 + log2(1 + (double)e->chosen) / 6;
    return w;
}

static void weigh(Queue *q)
{
    double sum = 0;
    favour(q);
    q->weights = xrealloc(q->weights, (q->all.len + 1) * sizeof *q->weights);
    for (size_t i = 0; i < q->all.len; i++)
        q->weights[i] = sum += weight(q, q->all.items[i]);
    q->nweights = q->all.len;
    q->stale = false;
    q->choices = 0;
}

Entry *queue_choose(Queue *q, Rng *rng)
{
    if (!q->all.len)
        return NULL;
    if ((q->stale && (q->choices > 4 || q->all.len < 64)) || q->choices > 64 || !q->nweights)
        weigh(q);
    q->choices++;
    double x = rng_unit(rng) * q->weights[q->nweights - 1];
    size_t low = 0, high = q->nweights - 1;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (q->weights[mid] > x)
            high = mid;
        else
            low = mid + 1;
    }
    Entry *e = q->all.items[low];
    e->chosen++;
    return e;
}

unsigned queue_energy(const Queue *q, const Entry *e)
{
    double n = (double)q->all.len;
    double energy = 256 * clamp(q->micros / n / (e->micros + 1), 0.25, 4);
    energy *= clamp((double)e->nedges / (q->sum_edges / n + 1), 0.5, 2);
    energy *= e->favoured ? 2 : 1;
    return (unsigned)clamp(energy, 64, 2048);
}

/* ---- check */

static void check_entry(const Queue *q, const Entry *e, size_t i)
{
    assert(e->id == i);
    assert(e->bytes || !e->n);
    assert(e->parent == UINT32_MAX || e->depth <= q->all.len);
    for (size_t k = 0; k < e->nedges; k++) {
        assert(e->edges[k] < q->edges);
        assert(k == 0 || e->edges[k - 1] < e->edges[k]);
        assert(q->best[e->edges[k]]);
    }
}

void queue_check(const Queue *q)
{
    size_t covered = 0;
    assert(q->of_program <= q->edges && q->paths <= q->room);
    for (size_t i = 0; i < q->all.len; i++)
        check_entry(q, q->all.items[i], i);
    for (size_t i = 0; i < q->edges; i++) {
        covered += i < q->of_program && q->seen[i];
        assert(q->best[i] <= q->all.len);
    }
    assert(covered == q->covered);
    for (size_t i = 1; i < q->nweights; i++)
        assert(q->weights[i - 1] <= q->weights[i]);
}
