/*
 * guide - which functions bring a test near an API.
 *
 *     under test       functions that call the API, directly or through at most two others:
 *                      relevance of the API function / distance; an API function with few
 *                      direct callers is more relevant
 *     providers        functions that give what those need, and what the givers need
 *     state changers   functions on the same handles as those
 *
 * The three are made to sum up to one each and weighted 0.4, 0.4, 0.2. A function
 * with 0 is never called.
 */
#ifndef SUNDEW_GUIDE_H
#define SUNDEW_GUIDE_H
#include <stdbool.h>
#include <stddef.h>

typedef struct GuideFunction {
    const unsigned *calls;       /* functions, by their index */
    size_t ncalls;
    bool api;                    /* of the API */
    bool callable;               /* a test may call it */
    const unsigned *needs;       /* handle types that go in, the receiver's too */
    size_t nneeds;
    const unsigned *gives;       /* handle types that come out */
    size_t ngives;
} GuideFunction;

enum { GUIDE_DISTANCE = 3 };

/* `out` has n numbers. All are 0 if nothing leads to the API. */
void guide_priorities(const GuideFunction *f, size_t n, size_t ntypes, double *out);
#endif
