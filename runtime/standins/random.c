/*
 * srand, rand and random: the additive generator of degree 31 that glibc has by
 * default, so that a seed from the input can be found. It is in use once a seed had
 * a label; before, the real one is.
 *
 *     r[0] = seed; r[i] = 16807 r[i - 1] mod (2^31 - 1)      for i < 31
 *     r[i] = r[i - 31]                                       for i < 34
 *     r[i] = r[i - 31] + r[i - 3] mod 2^32                   then
 *
 * and the k-th number is r[k + 344] / 2.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <stdlib.h>

enum { DEGREE = 31, APART = 3, SKIPPED = 310 };

static uint32_t state[DEGREE];         /* the last 31, the oldest at `next` */
static unsigned next;
static int ours;

static uint32_t step(void)
{
    uint32_t v = state[next] + state[(next + DEGREE - APART) % DEGREE];
    state[next] = v;
    next = (next + 1) % DEGREE;
    return v >> 1;
}

/* factor v mod (2^31 - 1), as a signed word has it. */
static int32_t times(int64_t factor, int32_t v)
{
    int64_t r = factor * v % 2147483647;
    return (int32_t)(r < 0 ? r + 2147483647 : r);
}

void sundew_standin_srand(unsigned seed)
{
    srand(seed);
    ours = sundew_alive && SYMBOLIC(seed);
    if (!ours)
        return;
    int32_t v = (int32_t)(seed ? seed : 1), factor = 1;
    state[0] = (uint32_t)v;
    for (unsigned i = 1; i < DEGREE; i++) {
        factor = times(16807, factor);          /* one remainder each, not a chain of them */
        state[i] = (uint32_t)times(factor, v);
    }
    next = APART;                      /* r[31] to r[33] are r[0] to r[2] */
    for (unsigned i = 0; i < SKIPPED; i++)
        step();
}

int sundew_standin_rand(void)
{
    int real = rand();
    return ours ? (int)step() : real;
}

void sundew_standin_srandom(unsigned seed) { sundew_standin_srand(seed); }

long sundew_standin_random(void) { return sundew_standin_rand(); }

/* POSIX's example with three steps of a linear generator. */
int sundew_standin_rand_r(unsigned *seed)
{
    unsigned v = *seed, r;
    v = v * 1103515245 + 12345;
    r = v / 65536 % 2048;
    v = v * 1103515245 + 12345;
    r = r << 10 ^ v / 65536 % 1024;
    v = v * 1103515245 + 12345;
    r = r << 10 ^ v / 65536 % 1024;
    *seed = v;
    return (int)r;
}
