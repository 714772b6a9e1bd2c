/*
 * refine - from a sequence that is worth keeping to tests that each say one thing.
 *
 *     RefineGoal goal = { points, npoints, kills, nkills };
 *     if (!refine_test(&plan, test, &goal, &list, err)) …
 *
 * A sequence is kept for points that it covers and faults that it finds. Several of its calls
 * may have a part in that, others none. So
 *
 *     cut         each call is taken with the calls that led to it, and nothing else; as many
 *                 of these are kept as are needed for all goals
 *     look        a call that gives nothing by itself gets one or two looks that come out
 *                 otherwise without it (effect.h)
 *     shorten     calls go that are not needed, objects are passed by, values of the example
 *                 or plain ones take the place of others, as long as goals and effect stay
 *     question    which arguments matter: with other values the call does something else
 *
 * What is left is settled once more. `about` of a test is its call.
 */
#ifndef SUNDEW_SUITE_REFINE_H
#define SUNDEW_SUITE_REFINE_H
#include "engine/suite/effect.h"
#include "engine/suite/suite.h"

typedef struct RefineGoal {
    const uint32_t *points;      /* of coverage */
    size_t npoints;
    const uint32_t *kills;       /* mutants */
    size_t nkills;
} RefineGoal;

typedef struct RefinePlan {
    const Settler *settler;
    Exec *mutants;               /* NULL: there are no kills */
    unsigned fresh;              /* what is in fresh memory when a mutant is switched on */
    const Successes *successes;
    Arena *arena;                /* of the tests that come out */
} RefinePlan;

typedef Vec(SeqTest *) Refined;

/* Adds tests to `out` that together meet what of the goal can be met; at worst the test
 * itself. */
bool refine_test(const RefinePlan *plan, const SeqTest *t, const RefineGoal *goal, Refined *out,
                 Err *err);
/* The effect of the call that a test is about, as the test stands. */
bool refine_effects(const RefinePlan *plan, SeqTest *const *tests, size_t n, Err *err);
/* Sequences one after the other as one test; NULL in `*out` if that is none. */
bool refine_join(const RefinePlan *plan, SeqTest *const *tests, size_t n, SeqTest **out, Err *err);
#endif
