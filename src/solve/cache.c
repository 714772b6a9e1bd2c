#include "solve/cache.h"
#include "base/map.h"
#include "base/mem.h"

/* Longer queries are rarely asked again, and are costly to keep. */
enum { LONGEST_QUERY = 512, LONGEST_MODEL = 4096, MODELS = 256 };

typedef struct Entry {
    uint64_t hash;
    Expr *conds;              /* NULL: free */
    size_t n;
    SolveStatus status;
    Model model;
} Entry;

struct Cache {
    size_t entries;           /* a power of two */
    Entry *queries;           /* by hash */
    Entry *cores;             /* by their greatest condition */
    Model models[MODELS];     /* a ring */
    size_t nmodels;           /* ever added */
};

static void release_model(Model *m)
{
    free(m->bytes);
    free(m->values);
    *m = (Model){ 0 };
}

static void release_entry(Entry *e)
{
    free(e->conds);
    release_model(&e->model);
    *e = (Entry){ 0 };
}

Cache *cache_new(size_t entries)
{
    Cache *c = xcalloc(1, sizeof *c);
    c->entries = 64;
    while (c->entries < entries)
        c->entries *= 2;
    c->queries = xcalloc(c->entries, sizeof *c->queries);
    c->cores = xcalloc(c->entries, sizeof *c->cores);
    return c;
}

void cache_reset(Cache *c)
{
    for (size_t i = 0; i < c->entries; i++) {
        release_entry(&c->queries[i]);
        release_entry(&c->cores[i]);
    }
    for (size_t i = 0; i < MODELS; i++)
        release_model(&c->models[i]);
    c->nmodels = 0;
}

void cache_free(Cache *c)
{
    if (!c)
        return;
    cache_reset(c);
    free(c->queries);
    free(c->cores);
    free(c);
}

static void *copy_of(const void *data, size_t n)
{
    return n ? memcpy(xmalloc(n), data, n) : NULL;
}

static Model copy_model(const Model *m)
{
    return (Model){ copy_of(m->bytes, m->n * sizeof *m->bytes),
                    copy_of(m->values, m->n), m->n };
}

/* ---- queries */

SolveStatus cache_find(const Cache *c, const Expr *conds, size_t n,
                       const Model **model)
{
    uint64_t hash = hash_bytes(conds, n * sizeof *conds);
    const Entry *e = &c->queries[hash & (c->entries - 1)];
    if (!e->conds || e->hash != hash || e->n != n ||
        memcmp(e->conds, conds, n * sizeof *conds))
        return SOLVE_UNKNOWN;
    *model = &e->model;
    return e->status;
}

void cache_add(Cache *c, const Expr *conds, size_t n, SolveStatus status,
               const Model *model)
{
    if (model && model->n <= LONGEST_MODEL) {
        Model *m = &c->models[c->nmodels++ % MODELS];
        release_model(m);
        *m = copy_model(model);
    }
    if (!n || n > LONGEST_QUERY || (model && model->n > LONGEST_MODEL))
        return;
    uint64_t hash = hash_bytes(conds, n * sizeof *conds);
    Entry *e = &c->queries[hash & (c->entries - 1)];
    release_entry(e);
    *e = (Entry){ .hash = hash, .n = n, .status = status };
    e->conds = copy_of(conds, n * sizeof *conds);
    if (model)
        e->model = copy_model(model);
}

/* ---- cores */

static bool contains(const Expr *big, size_t nbig, const Expr *small,
                     size_t nsmall)
{
    size_t i = 0;
    for (size_t k = 0; k < nsmall; k++) {
        while (i < nbig && big[i] < small[k])
            i++;
        if (i == nbig || big[i] != small[k])
            return false;
    }
    return true;
}

static size_t core_place(const Cache *c, Expr greatest)
{
    return (greatest * 0x9e3779b1u >> 7) & (c->entries - 1);
}

bool cache_has_core(const Cache *c, const Expr *conds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Entry *e = &c->cores[core_place(c, conds[i])];
        if (e->conds && e->conds[e->n - 1] == conds[i] &&
            contains(conds, n, e->conds, e->n))
            return true;
    }
    return false;
}

void cache_add_core(Cache *c, const Expr *core, size_t n)
{
    if (!n || n > LONGEST_QUERY)
        return;
    Entry *e = &c->cores[core_place(c, core[n - 1])];
    release_entry(e);
    *e = (Entry){ .n = n, .status = SOLVE_UNSAT };
    e->conds = copy_of(core, n * sizeof *core);
}

/* ---- models */

static bool names_byte(const Model *m, uint32_t byte)
{
    size_t from = 0, to = m->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (m->bytes[middle] < byte)
            from = middle + 1;
        else
            to = middle;
    }
    return from < m->n && m->bytes[from] == byte;
}

const Model *cache_model(const Cache *c, uint32_t byte, size_t i)
{
    size_t kept = c->nmodels < MODELS ? c->nmodels : MODELS;
    for (size_t k = 1; k <= kept; k++) {
        const Model *m = &c->models[(c->nmodels - k) % MODELS];
        if (names_byte(m, byte) && i-- == 0)
            return m;
    }
    return NULL;
}
