/*
 * rng - the one source of randomness: seeded, the same everywhere.
 *
 *     Rng r = rng_seeded(42);
 *     if (rng_below(&r, 6) == 0) …
 *
 * rng_fork() gives an independent stream for a part of the work, so that
 * drawing more numbers in one part does not change another.
 */
#ifndef SUNDEW_RNG_H
#define SUNDEW_RNG_H
#include <stdint.h>

typedef struct Rng {
    uint64_t s[4];
} Rng;

Rng rng_seeded(uint64_t seed);
uint64_t rng_next(Rng *r);
uint64_t rng_below(Rng *r, uint64_t n);   /* 0 … n-1, unbiased; n > 0 */
double rng_unit(Rng *r);                  /* [0, 1) */
Rng rng_fork(Rng *r);
#endif
