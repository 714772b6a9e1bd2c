#include "solve/minimise.h"
#include "base/map.h"
#include <assert.h>

/* ---- ddmin */

typedef struct Dd {
    MinimiseTest *test;
    void *arg;
    size_t *left;
} Dd;

/* Twice at most: a solver's bad luck must not make an item necessary. */
static bool passes(Dd *d, const size_t *items, size_t n)
{
    for (unsigned attempt = 0; attempt < 2 && *d->left; attempt++) {
        --*d->left;
        if (d->test(items, n, attempt, d->arg))
            return true;
    }
    return false;
}

/* Without the block [from, to): true, and items shrinks, if that passes. */
static bool drop_block(Dd *d, size_t *items, size_t *n, size_t from, size_t to)
{
    assert(from < to && to <= *n);
    size_t rest = *n - (to - from);
    size_t *less = xmalloc(rest * sizeof *less);
    memcpy(less, items, from * sizeof *less);
    memcpy(less + from, items + to, (*n - to) * sizeof *less);
    bool ok = passes(d, less, rest);
    if (ok) {
        memcpy(items, less, rest * sizeof *less);
        *n = rest;
    }
    free(less);
    return ok;
}

size_t minimise_ddmin(size_t *items, size_t n, MinimiseTest *test, void *arg, size_t *tests)
{
    Dd d = { test, arg, tests };
    size_t blocks = n < 2 ? n : 2;
    while (n && *tests) {
        size_t size = (n + blocks - 1) / blocks;
        bool dropped = false;
        for (size_t from = 0; from < n && *tests;) {
            size_t to = from + size < n ? from + size : n;
            if (drop_block(&d, items, &n, from, to))
                dropped = true;             /* the next block moved here */
            else
                from = to;
        }
        if (size <= 1 && !dropped)
            break;
        if (!dropped)
            blocks = blocks * 2 < n ? blocks * 2 : n;
        else if (blocks > n)
            blocks = n;
    }
    return n;
}

/* ---- what paths have in common */

static bool counts(const Exprs *p, Expr cond) { return cond && !expr_is_const(p, cond, NULL); }

size_t minimise_intersection(Arena *a, const Exprs *p, const Path *const *paths, size_t npaths,
                             Conjunct **out)
{
    Map seen = { 0 };         /* condition -> on how many paths so far */
    for (size_t i = 0; i < npaths; i++)
        for (size_t k = 0; k < path_length(paths[i]); k++) {
            Expr cond = path_at(paths[i], k).cond;
            void **slot = map_slotn(&seen, &cond, sizeof cond);
            if ((size_t)*slot == i)
                *slot = (void *)(i + 1);
        }
    size_t n = 0;
    assert(npaths);
    *out = arena_array(a, Conjunct, path_length(paths[0]));
    for (size_t k = 0; k < path_length(paths[0]); k++) {
        Conjunct c = path_at(paths[0], k);
        void **slot = map_slotn(&seen, &c.cond, sizeof c.cond);
        if ((size_t)*slot != npaths || !counts(p, c.cond))
            continue;
        (*out)[n++] = c;
        *slot = NULL;                       /* once is enough */
    }
    map_release(&seen);
    return n;
}

/* ---- leaving out */

typedef struct Job {
    const Exprs *p;
    MinimiseExposes *exposes;
    void *arg;
    size_t left;              /* tests */
    const Conjunct *all;      /* of which subsets are tried */
    size_t n;
    const size_t *group;      /* of each conjunct; NULL: each is its own */
    Conjunct *scratch;
} Job;

/* The conjuncts of these groups (or these conjuncts), in order. */
static size_t gather(const Job *j, const size_t *items, size_t n, Conjunct *out)
{
    size_t count = 0, k = 0;
    if (!j->group) {
        for (size_t i = 0; i < n; i++) {
            assert(items[i] < j->n && (!i || items[i - 1] < items[i]));
            out[count++] = j->all[items[i]];
        }
        return count;
    }
    bool *in = xcalloc(j->n, sizeof *in);
    for (k = 0; k < n; k++)
        in[items[k]] = true;
    for (size_t i = 0; i < j->n; i++)
        if (in[j->group[i]])
            out[count++] = j->all[i];
    free(in);
    return count;
}

static bool test_items(const size_t *items, size_t n, unsigned attempt, void *arg)
{
    Job *j = arg;
    size_t count = gather(j, items, n, j->scratch);
    return j->exposes(j->scratch, count, attempt, j->arg);
}

static bool test_all(Job *j, const Conjunct *c, size_t n)
{
    for (unsigned attempt = 0; attempt < 2 && j->left; attempt++) {
        j->left--;
        if (j->exposes(c, n, attempt, j->arg))
            return true;
    }
    return false;
}

/* Group numbers of conjuncts by the bytes they depend on; gives how many. */
static size_t group_by_bytes(const Job *j, size_t *group)
{
    Map seen = { 0 };
    size_t groups = 0;
    for (size_t i = 0; i < j->n; i++) {
        uint32_t set = expr_bytes_id(j->p, j->all[i].cond);
        void **slot = map_slotn(&seen, &set, sizeof set);
        if (!*slot)
            *slot = (void *)++groups;
        group[i] = (size_t)*slot - 1;
    }
    map_release(&seen);
    return groups;
}

static size_t *numbers(size_t n)
{
    size_t *items = xmalloc(n * sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = i;
    return items;
}

/* ddmin by groups, then one by one. The result replaces `c`. */
static size_t drop_blocks(Job *j, Conjunct *c, size_t n)
{
    j->all = c;
    j->n = n;
    j->scratch = xcalloc(n, sizeof *j->scratch);
    size_t *group = xmalloc(n * sizeof *group);
    size_t groups = group_by_bytes(j, group);
    size_t *items = numbers(n);
    Conjunct *kept = xcalloc(n, sizeof *kept);
    if (groups < n) {
        j->group = group;
        size_t left = minimise_ddmin(items, groups, test_items, j, &j->left);
        n = gather(j, items, left, kept);
        memcpy(c, kept, n * sizeof *c);
        j->n = n;
        j->group = NULL;
        free(items);
        items = numbers(n);
    }
    size_t left = minimise_ddmin(items, n, test_items, j, &j->left);
    n = gather(j, items, left, kept);
    memcpy(c, kept, n * sizeof *c);
    free(kept);
    free(items);
    free(group);
    free(j->scratch);
    return n;
}

/* The published way: those without which, alone, it is not exposed. */
static size_t drop_each(Job *j, const Conjunct *c, size_t n, Conjunct *out)
{
    size_t kept = 0;
    Conjunct *less = xcalloc(n, sizeof *less);
    for (size_t i = 0; i < n; i++) {
        memcpy(less, c, i * sizeof *c);
        memcpy(less + i, c + i + 1, (n - i - 1) * sizeof *c);
        if (!test_all(j, less, n - 1))
            out[kept++] = c[i];
    }
    free(less);
    return kept;
}

static const Path *shortest(const Path *const *paths, size_t n)
{
    const Path *best = paths[0];
    for (size_t i = 1; i < n; i++)
        if (path_length(paths[i]) < path_length(best))
            best = paths[i];
    return best;
}

Minimised minimise_paths(Arena *a, const Exprs *p, const Path *const *paths, size_t npaths,
                         const MinimisePlan *plan, MinimiseExposes *exposes, void *arg)
{
    MinimisePlan knobs = plan ? *plan : (MinimisePlan){ 0 };
    if (!knobs.tests)
        knobs.tests = 400;
    if (!knobs.each)
        knobs.each = 24;
    Job j = { .p = p, .exposes = exposes, .arg = arg, .left = knobs.tests };
    Minimised m = { .how = MINIMISE_EACH };
    Conjunct *common;
    size_t n = minimise_intersection(a, p, paths, npaths, &common);

    m.conjuncts = arena_array(a, Conjunct, n);
    bool done = false;
    if (n <= knobs.each) {
        m.n = drop_each(&j, common, n, m.conjuncts);
        done = test_all(&j, m.conjuncts, m.n);
    }
    if (!done && test_all(&j, common, n)) {
        m.how = MINIMISE_COMMON;
        m.n = drop_blocks(&j, common, n);
        m.conjuncts = common;
        done = true;
    }
    if (!done) {
        const Path *path = shortest(paths, npaths);
        m.n = minimise_intersection(a, p, &path, 1, &m.conjuncts);
        m.how = test_all(&j, m.conjuncts, m.n) ? MINIMISE_SHORTEST : MINIMISE_NONE;
        if (m.how == MINIMISE_SHORTEST)
            m.n = drop_blocks(&j, m.conjuncts, m.n);
    }
    m.tests = knobs.tests - j.left;
    m.complete = j.left > 0;
    return m;
}
