/* byteset - which of the 256 values a byte may have. */
#ifndef SUNDEW_SOLVE_BYTESET_H
#define SUNDEW_SOLVE_BYTESET_H
#include <stdbool.h>
#include <stdint.h>

typedef struct ByteSet {
    uint64_t w[4];
} ByteSet;

static inline ByteSet byteset_all(void)
{
    return (ByteSet){ { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX } };
}

static inline void byteset_add(ByteSet *s, uint8_t v) { s->w[v / 64] |= (uint64_t)1 << v % 64; }

static inline bool byteset_has(const ByteSet *s, uint8_t v) { return s->w[v / 64] >> v % 64 & 1; }

static inline void byteset_keep(ByteSet *s, const ByteSet *other)
{
    for (int i = 0; i < 4; i++)
        s->w[i] &= other->w[i];
}

static inline unsigned byteset_count(const ByteSet *s)
{
    unsigned n = 0;
    for (int i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(s->w[i]);
    return n;
}

/* The n-th member, counted from 0; there must be that many. */
static inline uint8_t byteset_at(const ByteSet *s, unsigned n)
{
    unsigned v = 0;
    for (;; v++)
        if (byteset_has(s, (uint8_t)v) && n-- == 0)
            return (uint8_t)v;
}

/* The member nearest to v, the smaller of two; the set is not empty. */
static inline uint8_t byteset_nearest(const ByteSet *s, uint8_t v)
{
    for (int d = 0;; d++) {
        if (v - d >= 0 && byteset_has(s, (uint8_t)(v - d)))
            return (uint8_t)(v - d);
        if (v + d <= 255 && byteset_has(s, (uint8_t)(v + d)))
            return (uint8_t)(v + d);
    }
}

static inline uint8_t byteset_least(const ByteSet *s) { return byteset_nearest(s, 0); }

static inline uint8_t byteset_most(const ByteSet *s) { return byteset_nearest(s, 255); }
#endif
