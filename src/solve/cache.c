#include "solve/cache.h"
#include "base/map.h"
#include "base/mem.h"
#include <assert.h>

/* Longer queries are rarely asked again, and are costly to keep. */
enum { LONGEST_QUERY = 512, LONGEST_ASSIGNMENT = 4096, ASSIGNMENTS = 256 };

typedef struct Entry {
    uint64_t hash;
    Expr *conds;              /* NULL: free */
    size_t n;
    SolveStatus status;
    Assignment assignment;
} Entry;

struct Cache {
    size_t entries;           /* a power of two */
    Entry *queries;           /* by hash */
    Entry *cores;             /* by their greatest condition */
    Assignment assignments[ASSIGNMENTS];     /* a ring */
    size_t nassignments;           /* ever added */
};

static void release_assignment(Assignment *m)
{
    free(m->bytes);
    free(m->values);
    *m = (Assignment){ 0 };
}

static void release_entry(Entry *e)
{
    free(e->conds);
    release_assignment(&e->assignment);
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
    for (size_t i = 0; i < ASSIGNMENTS; i++)
        release_assignment(&c->assignments[i]);
    c->nassignments = 0;
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

static void *copy_of(const void *data, size_t n) { return n ? memcpy(xmalloc(n), data, n) : NULL; }

static Assignment copy_assignment(const Assignment *m)
{
    return (Assignment){ copy_of(m->bytes, m->n * sizeof *m->bytes), copy_of(m->values, m->n),
                         m->n };
}

/* ---- queries */

SolveStatus cache_find(const Cache *c, const Expr *conds, size_t n, const Assignment **assignment)
{
    uint64_t hash = hash_bytes(conds, n * sizeof *conds);
    const Entry *e = &c->queries[hash & (c->entries - 1)];
    if (!e->conds || e->hash != hash || e->n != n || memcmp(e->conds, conds, n * sizeof *conds))
        return SOLVE_UNKNOWN;
    *assignment = &e->assignment;
    return e->status;
}

void cache_add(Cache *c, const Expr *conds, size_t n, SolveStatus status,
               const Assignment *assignment)
{
    assert((status == SOLVE_SAT) == (assignment != NULL));
    if (assignment && assignment->n <= LONGEST_ASSIGNMENT) {
        Assignment *m = &c->assignments[c->nassignments++ % ASSIGNMENTS];
        release_assignment(m);
        *m = copy_assignment(assignment);
    }
    if (!n || n > LONGEST_QUERY || (assignment && assignment->n > LONGEST_ASSIGNMENT))
        return;
    uint64_t hash = hash_bytes(conds, n * sizeof *conds);
    Entry *e = &c->queries[hash & (c->entries - 1)];
    release_entry(e);
    *e = (Entry){ .hash = hash, .n = n, .status = status };
    e->conds = copy_of(conds, n * sizeof *conds);
    if (assignment)
        e->assignment = copy_assignment(assignment);
}

/* ---- cores */

static bool contains(const Expr *big, size_t nbig, const Expr *small, size_t nsmall)
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
        if (e->conds && e->conds[e->n - 1] == conds[i] && contains(conds, n, e->conds, e->n))
            return true;
    }
    return false;
}

void cache_add_core(Cache *c, const Expr *core, size_t n)
{
    if (!n || n > LONGEST_QUERY)
        return;
    for (size_t i = 1; i < n; i++)
        assert(core[i - 1] < core[i]);     /* contains() walks both in order */
    Entry *e = &c->cores[core_place(c, core[n - 1])];
    release_entry(e);
    *e = (Entry){ .n = n, .status = SOLVE_UNSAT };
    e->conds = copy_of(core, n * sizeof *core);
}

/* ---- assignments */

static bool names_byte(const Assignment *m, uint32_t byte)
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

const Assignment *cache_assignment(const Cache *c, uint32_t byte, size_t i)
{
    size_t kept = c->nassignments < ASSIGNMENTS ? c->nassignments : ASSIGNMENTS;
    for (size_t k = 1; k <= kept; k++) {
        const Assignment *m = &c->assignments[(c->nassignments - k) % ASSIGNMENTS];
        if (names_byte(m, byte) && i-- == 0)
            return m;
    }
    return NULL;
}
