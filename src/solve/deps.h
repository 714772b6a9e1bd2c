/*
 * deps - sets of input bytes, each kept once and named by a number.
 *
 * A set is a sorted list of ranges. A checksum over a file depends on {0..k}
 * after its k-th step, so ranges keep what would be quadratic linear. Number 0
 * is the empty set.
 */
#ifndef SUNDEW_SOLVE_DEPS_H
#define SUNDEW_SOLVE_DEPS_H
#include "base/vec.h"
#include "solve/expr.h"

enum { DEPS_MAX_RANGES = 32, DEPS_MEMO = 1 << 14 };

typedef struct DepSet {
    uint32_t first, n;        /* ranges[first .. first + n) */
    uint32_t bytes;           /* how many bytes in all */
} DepSet;

typedef struct Deps {
    Vec(ByteRange) ranges;
    Vec(DepSet) sets;
    uint32_t *slots;
    size_t nslots;
    struct {
        uint32_t a, b, result;
    } *memo;                  /* unions made lately, by a hash of a and b */
    size_t limit;             /* bytes; beyond, sets become one range each */
} Deps;

void deps_init(Deps *d, size_t limit);
void deps_release(Deps *d);
uint32_t deps_one(Deps *d, uint32_t byte);
uint32_t deps_union(Deps *d, uint32_t a, uint32_t b);
size_t deps_memory(const Deps *d);
static inline const ByteRange *deps_ranges(const Deps *d, uint32_t set, size_t *n)
{
    *n = d->sets.items[set].n;
    return d->ranges.items + d->sets.items[set].first;
}
#endif
