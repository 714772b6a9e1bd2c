/*
 * minimise - which conditions of a failing path matter?
 *
 * A failure was seen on some paths. What all of them have in common, without
 * what can be left out, says which inputs fail:
 *
 *     path 1:  a == 1  b == 2  c < 5            in common: a == 1, c < 5
 *     path 2:  a == 1  d > 7   c < 5            needed:    c < 5
 *
 * Whether conditions still lead to the failure only the caller knows: it
 * solves them, runs the program and looks. That is `exposes`.
 *
 *     Minimised m = minimise_paths(&arena, p, paths, 2, NULL, exposes, arg);
 *
 * Nothing here depends on how paths came about; ddmin serves other lists too.
 */
#ifndef SUNDEW_SOLVE_MINIMISE_H
#define SUNDEW_SOLVE_MINIMISE_H
#include "base/mem.h"
#include "solve/path.h"

/* Do these items still show it? Attempts count from 0: the second one is made
 * before an item is called necessary, and should use another seed. */
typedef bool MinimiseTest(const size_t *items, size_t n, unsigned attempt, void *arg);

/*
 * Delta debugging: a subset of items[0 .. n) that still passes the test and
 * from which no single item can be left out. The whole must pass; it is not
 * tested again. Works in place, gives the new length. *tests counts down; at 0
 * it stops with what it has, which passes but may not be minimal.
 */
size_t minimise_ddmin(size_t *items, size_t n, MinimiseTest *test, void *arg, size_t *tests);

/* Conjuncts that all paths have (same condition), in the order of the first,
 * each once. Constant ones and those of no expression are left out. */
size_t minimise_intersection(Arena *a, const Exprs *p, const Path *const *paths, size_t npaths,
                             Conjunct **out);

typedef bool MinimiseExposes(const Conjunct *conjuncts, size_t n, unsigned attempt, void *arg);

typedef struct MinimisePlan {
    size_t tests;             /* calls of `exposes` at most; default 400 */
    size_t each;              /* up to so many conjuncts in common, each is
                                 left out by itself; default 24 */
} MinimisePlan;

typedef enum MinimiseHow {
    MINIMISE_EACH,            /* of the common ones, those that each matter */
    MINIMISE_COMMON,          /* ddmin on the common ones */
    MINIMISE_SHORTEST,        /* ddmin on the shortest path */
    MINIMISE_NONE,            /* not even the shortest path exposes it again */
} MinimiseHow;

typedef struct Minimised {
    Conjunct *conjuncts;
    size_t n;
    MinimiseHow how;
    size_t tests;             /* calls of `exposes` made */
    bool complete;            /* not cut short by the limit */
} Minimised;

/*
 * First each common conjunct is left out by itself, and what matters then is
 * tested together (n + 1 tests, failed ones twice). Where conjuncts can be left out one by
 * one but not together, or there are many, ddmin goes over them: first by
 * groups that speak of the same bytes, then one by one. Where what is common
 * does not expose the failure, the same is done with the shortest path.
 * npaths > 0.
 */
Minimised minimise_paths(Arena *a, const Exprs *p, const Path *const *paths, size_t npaths,
                         const MinimisePlan *plan, MinimiseExposes *exposes, void *arg);
#endif
