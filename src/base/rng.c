/* xoshiro256** (Blackman and Vigna), its state filled by splitmix64. */
#include "base/rng.h"
#include <assert.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t rotl(uint64_t x, int k) { return x << k | x >> (64 - k); }

Rng rng_seeded(uint64_t seed)
{
    Rng r;
    for (int i = 0; i < 4; i++)
        r.s[i] = splitmix(&seed);
    return r;
}

uint64_t rng_next(Rng *r)
{
    uint64_t result = rotl(r->s[1] * 5, 7) * 9;
    uint64_t t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rotl(r->s[3], 45);
    return result;
}

uint64_t rng_below(Rng *r, uint64_t n)
{
    assert(n > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t x;
    do
        x = rng_next(r);
    while (x >= limit);
    return x % n;
}

double rng_unit(Rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }

Rng rng_fork(Rng *r) { return rng_seeded(rng_next(r)); }
