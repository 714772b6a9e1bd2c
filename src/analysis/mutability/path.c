/* Access paths, and sets of them that stay small: a set with many members
 * forgets offsets, never how deep a path is. */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>

enum {
    MOST_OFFSETS = 4,            /* of one place, until only "somewhere" is kept */
    MOST_EXACT = 12,             /* members, until offsets are forgotten */
    FAR = 1 << 20,               /* an offset beyond is "somewhere" */
};

bool root_is_local(uint32_t root) { return root < ROOT_GLOBAL && (root & ROOT_LOCAL); }

bool root_is_global(uint32_t root) { return root >= ROOT_GLOBAL && root < ROOT_RESULT; }

bool root_is_argument(uint32_t root) { return root < ROOT_LOCAL; }

Path path_root(uint32_t root) { return (Path){ .root = root }; }

Path path_plus(Path p, int64_t off)
{
    if (p.root == ROOT_UNKNOWN)
        return p;
    int64_t sum = p.off == ANYWHERE || off == ANYWHERE ? ANYWHERE : p.off + off;
    p.off = sum > FAR || sum < -FAR ? ANYWHERE : (int32_t)sum;
    return p;
}

/* Globals are followed for one load only: they serve to find mutations, and a
 * longer path seldom helps. */
Path path_loaded(Path p)
{
    if (p.root == ROOT_UNKNOWN || (root_is_global(p.root) && p.depth))
        return path_root(ROOT_UNKNOWN);
    assert(p.depth <= MUT_DEREFS);
    if (p.depth < MUT_DEREFS)
        p.at[p.depth++] = p.off;
    else
        p.deeper = 1;
    p.off = 0;
    return p;
}

static bool same_offset(int32_t a, int32_t b) { return a == b || a == ANYWHERE || b == ANYWHERE; }

bool path_same_place(const Path *a, const Path *b)
{
    if (a->root != b->root || a->depth != b->depth || a->deeper != b->deeper ||
        !same_offset(a->off, b->off))
        return false;
    for (unsigned i = 0; i < a->depth; i++)
        if (!same_offset(a->at[i], b->at[i]))
            return false;
    return true;
}

bool path_is_exact(const Path *p)
{
    for (unsigned i = 0; i < p->depth; i++)
        if (p->at[i] == ANYWHERE)
            return false;
    return p->off != ANYWHERE && !p->deeper;
}

Path path_flat(Path p)
{
    if (p.root == ROOT_UNKNOWN)
        return p;
    if (root_is_global(p.root))
        return path_root(ROOT_UNKNOWN);
    for (unsigned i = 0; i < p.depth; i++)
        p.at[i] = ANYWHERE;
    p.off = ANYWHERE;
    return p;
}

_Static_assert(sizeof(Path) == 3 * sizeof(uint64_t), "no padding");

/* Any order will do, as long as it is one. */
static int compare(const Path *a, const Path *b)
{
    uint64_t x[3], y[3];

    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static uint32_t find(const PathSet *s, const Path *p, bool *there)
{
    uint32_t low = 0, high = s->len;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int c = compare(&s->items[mid], p);
        if (!c) {
            *there = true;
            return mid;
        }
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *there = false;
    return low;
}

/* How many offsets of the same place are there? */
static unsigned offsets(const PathSet *s, const Path *p)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < s->len; i++) {
        Path x = s->items[i];
        x.off = p->off;
        n += !compare(&x, p);
    }
    return n;
}

bool pathset_add(PathSet *s, Path p)
{
    bool there;
    uint32_t at = find(s, &p, &there);

    if (there)
        return false;
    if (p.off != ANYWHERE && p.off && s->len >= MOST_OFFSETS && offsets(s, &p) >= MOST_OFFSETS)
        return pathset_add(s, path_plus(p, ANYWHERE));
    if (s->len >= MOST_EXACT) {
        Path flat = path_flat(p);
        if (compare(&flat, &p))
            return pathset_add(s, flat);
    }
    if (s->len == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 2;
        s->items = xrealloc(s->items, s->cap * sizeof *s->items);
    }
    memmove(&s->items[at + 1], &s->items[at], (s->len - at) * sizeof *s->items);
    s->items[at] = p;
    s->len++;
    assert((!at || compare(&s->items[at - 1], &p) < 0) &&
           (at + 1 == s->len || compare(&p, &s->items[at + 1]) < 0));
    return true;
}

bool pathset_union(PathSet *s, const PathSet *from)
{
    bool grown = false;

    assert(s != from);
    for (uint32_t i = 0; i < from->len; i++)
        grown |= pathset_add(s, from->items[i]);
    return grown;
}

void pathset_release(PathSet *s)
{
    free(s->items);
    *s = (PathSet){ 0 };
}
