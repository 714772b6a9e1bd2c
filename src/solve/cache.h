/*
 * cache - what earlier queries tell about this one.
 *
 * Conditions are hash-consed, so a query is a sorted list of numbers, and:
 *
 *   the same list            has the same answer,
 *   a list that contains an unsatisfiable one (a core)  is unsatisfiable,
 *   a assignment of an earlier query  may satisfy it: try it.
 *
 * Each has a fixed number of places; newer entries push out older ones.
 */
#ifndef SUNDEW_SOLVE_CACHE_H
#define SUNDEW_SOLVE_CACHE_H
#include "solve/solve.h"

typedef struct Cache Cache;

/* Values for some bytes, which ascend. */
typedef struct Assignment {
    uint32_t *bytes;
    uint8_t *values;
    size_t n;
} Assignment;

Cache *cache_new(size_t entries);
void cache_free(Cache *c);
void cache_reset(Cache *c);

/* `conds` ascend. SOLVE_UNKNOWN if there is no such query; *assignment stays the
 * cache's, until the next change. */
SolveStatus cache_find(const Cache *c, const Expr *conds, size_t n, const Assignment **assignment);
void cache_add(Cache *c, const Expr *conds, size_t n, SolveStatus status,
               const Assignment *assignment);

bool cache_has_core(const Cache *c, const Expr *conds, size_t n);
void cache_add_core(Cache *c, const Expr *core, size_t n);

/* The i-th newest assignment that names this byte; NULL when there is no more. */
const Assignment *cache_assignment(const Cache *c, uint32_t byte, size_t i);
#endif
