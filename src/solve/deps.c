#include "solve/deps.h"
#include "base/map.h"
#include <assert.h>

static uint64_t hash_ranges(const ByteRange *r, size_t n) { return hash_bytes(r, n * sizeof *r); }

static void grow_slots(Deps *d)
{
    d->nslots = d->nslots ? d->nslots * 2 : 1024;
    free(d->slots);
    d->slots = xcalloc(d->nslots, sizeof *d->slots);
    for (uint32_t i = 1; i < d->sets.len; i++) {
        DepSet *s = &d->sets.items[i];
        size_t at = hash_ranges(d->ranges.items + s->first, s->n);
        while (d->slots[at &= d->nslots - 1])
            at++;
        d->slots[at] = i;
    }
}

/* The number of the set with these ranges. */
static uint32_t intern(Deps *d, const ByteRange *r, size_t n)
{
    size_t at = hash_ranges(r, n);
    for (;; at++) {
        uint32_t i = d->slots[at &= d->nslots - 1];
        if (!i)
            break;
        DepSet *s = &d->sets.items[i];
        if (s->n == n && !memcmp(d->ranges.items + s->first, r, n * sizeof *r))
            return i;
    }
    assert(n <= DEPS_MAX_RANGES);
    uint32_t id = (uint32_t)d->sets.len, bytes = 0;
    DepSet set = { .first = (uint32_t)d->ranges.len, .n = (uint32_t)n };
    for (size_t i = 0; i < n; i++) {
        assert(r[i].from < r[i].to && (!i || r[i - 1].to < r[i].from));
        bytes += r[i].to - r[i].from;
        vec_push(&d->ranges, r[i]);
    }
    set.bytes = bytes;
    vec_push(&d->sets, set);
    d->slots[at] = id;
    if (d->sets.len * 3 > d->nslots * 2)
        grow_slots(d);
    return id;
}

void deps_init(Deps *d, size_t limit)
{
    *d = (Deps){ .limit = limit };
    d->memo = xcalloc(DEPS_MEMO, sizeof *d->memo);
    vec_push(&d->sets, ((DepSet){ 0 }));
    vec_push(&d->ranges, ((ByteRange){ 0 }));
    grow_slots(d);
}

void deps_release(Deps *d)
{
    vec_release(&d->ranges);
    vec_release(&d->sets);
    free(d->slots);
    free(d->memo);
}

size_t deps_memory(const Deps *d)
{
    return d->ranges.cap * sizeof *d->ranges.items + d->sets.cap * sizeof *d->sets.items +
           d->nslots * sizeof *d->slots + DEPS_MEMO * sizeof *d->memo;
}

uint32_t deps_one(Deps *d, uint32_t byte) { return intern(d, &(ByteRange){ byte, byte + 1 }, 1); }

/* Join neighbours with the smallest gaps until at most `max` are left. */
static size_t squeeze(ByteRange *r, size_t n, size_t max)
{
    while (n > max) {
        size_t best = 1;
        for (size_t i = 2; i < n; i++)
            if (r[i].from - r[i - 1].to < r[best].from - r[best - 1].to)
                best = i;
        r[best - 1].to = r[best].to;
        memmove(r + best, r + best + 1, (n - best - 1) * sizeof *r);
        n--;
    }
    return n;
}

static uint32_t merge(Deps *d, uint32_t a, uint32_t b)
{
    size_t na, nb, n = 0;
    const ByteRange *x = deps_ranges(d, a, &na), *y = deps_ranges(d, b, &nb);
    ByteRange out[2 * DEPS_MAX_RANGES];

    for (size_t i = 0, j = 0; i < na || j < nb;) {
        bool left = j == nb || (i < na && x[i].from <= y[j].from);
        ByteRange r = left ? x[i++] : y[j++];
        if (n && r.from <= out[n - 1].to) {
            if (r.to > out[n - 1].to)
                out[n - 1].to = r.to;
        } else {
            out[n++] = r;
        }
    }
    n = squeeze(out, n, deps_memory(d) > d->limit ? 1 : DEPS_MAX_RANGES);
    return intern(d, out, n);
}

uint32_t deps_union(Deps *d, uint32_t a, uint32_t b)
{
    assert(a < d->sets.len && b < d->sets.len);
    if (a == b || !b)
        return a;
    if (!a)
        return b;
    if (a > b) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    size_t at = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 8 & (DEPS_MEMO - 1);
    if (d->memo[at].a != a || d->memo[at].b != b) {
        uint32_t result = merge(d, a, b);
        d->memo[at].a = a;
        d->memo[at].b = b;
        d->memo[at].result = result;
    }
    return d->memo[at].result;
}
