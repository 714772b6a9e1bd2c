/*
 * condition - which conditions on an input make it fail, readable.
 *
 *     ConditionPlan plan = { .pool = p, .in = in, .solver = s, .fails = fails, .arg = x };
 *     char *text = condition_find(&plan, &trail, bytes, n);
 *     input[0..3] == "%PDF" and input[7] > 3
 *     free(text);
 *
 * `trail` is what a trace of the failing input said (log.h). Of the conditions that the
 * input passed, and of what it did wrong on its way, those are kept without which
 * other inputs no longer fail alike (solve/minimise.h). These inputs are solved for the
 * rest, some of them against what was left out, and are random otherwise. Whether an
 * input fails alike only the caller knows.
 */
#ifndef SUNDEW_CONDITION_H
#define SUNDEW_CONDITION_H
#include "engine/concolic/log.h"
#include "solve/solve.h"

enum { CONDITION_LONGEST = 4096 };     /* of inputs that are worth the time */

typedef struct ConditionPlan {
    Exprs *pool;                       /* of the trail */
    uint32_t in;                       /* the pool's number of the input's first byte */
    Solver *solver;
    uint64_t seed;
    double seconds;
    bool (*fails)(const uint8_t *bytes, size_t n, void *arg);
    bool (*over)(void *arg);           /* there is no more time; may be NULL */
    void *arg;
} ConditionPlan;

/* The caller frees it; NULL: not known. Conditions may be added to the trail's path. */
char *condition_find(const ConditionPlan *plan, Trail *trail, const uint8_t *bytes, size_t n);

/* These conjuncts as text: equal bytes together, what is too long named by its bytes. */
char *condition_describe(Exprs *pool, uint32_t in, const Conjunct *conjuncts, size_t n);
#endif
