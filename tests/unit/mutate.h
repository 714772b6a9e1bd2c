/*
 * Damaged input, for tests of readers: bytes of a right one are changed, cut, doubled.
 *
 *     for (unsigned i = 0; i < mutations(10000); i++) {
 *         size_t n = mutate_bytes(&rng, bad, good, size);
 *         … read bad[0..n) …
 *
 * SUNDEW_MUTATIONS sets the number; make soak asks for 100000.
 */
#ifndef SUNDEW_TEST_MUTATE_H
#define SUNDEW_TEST_MUTATE_H
#include "base/rng.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned mutations(unsigned usual)
{
    const char *asked = getenv("SUNDEW_MUTATIONS");
    return asked && atoi(asked) > 0 ? (unsigned)atoi(asked) : usual;
}

/* Room for `n` bytes in `to`; gives how many there are now. */
static inline size_t mutate_bytes(Rng *rng, uint8_t *to, const uint8_t *from, size_t n)
{
    static const uint8_t nasty[] = { 0, 1, 0x7f, 0x80, 0xff, '"', '\\', '{', '\n', '-' };
    memcpy(to, from, n);
    for (unsigned k = 1 + (unsigned)rng_below(rng, 8); n && k > 0; k--) {
        size_t at = rng_below(rng, n);
        switch (rng_below(rng, 5)) {
        case 0: to[at] ^= (uint8_t)(1u << rng_below(rng, 8)); break;
        case 1: to[at] = nasty[rng_below(rng, sizeof nasty)]; break;
        case 2: memset(to + at, nasty[rng_below(rng, 5)], n - at < 4 ? n - at : 4); break;
        case 3: memmove(to + at, to + rng_below(rng, at + 1), n - at); break;
        default: to[at] = (uint8_t)rng_next(rng); break;
        }
    }
    return rng_below(rng, 8) ? n : rng_below(rng, n + 1);
}
#endif
