/* Questions whose answers are values, woven so that these have labels: see ask.c of the
 * runtime, which stands in for them in other builds. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/input/input.h"
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define X(type, name)                                                                              \
    type sundew_standin___VERIFIER_nondet_##name(void)                                             \
    {                                                                                              \
        type v;                                                                                    \
        sundew_ask(&v, sizeof v);                                                                  \
        return v;                                                                                  \
    }
SUNDEW_NONDET(X)
#undef X

void sundew_standin___VERIFIER_assume(int holds)
{
    if (!holds)
        sundew_refuse();
}

void sundew_standin___VERIFIER_assert(int holds)
{
    if (!holds)
        abort();
}

int sundew_standin_klee_int(const char *name)
{
    int v;
    (void)name;
    sundew_ask(&v, sizeof v);
    return v;
}

int sundew_standin_klee_range(int begin, int end, const char *name)
{
    int v = sundew_standin_klee_int(name);
    if (v < begin || v >= end)
        sundew_refuse();
    return v;
}

uintptr_t sundew_standin_klee_choose(uintptr_t n)
{
    uintptr_t v;
    sundew_ask(&v, sizeof v);
    if (v >= n)
        sundew_refuse();
    return v;
}

void sundew_standin_klee_assume(uintptr_t holds)
{
    if (!holds)
        sundew_refuse();
}
