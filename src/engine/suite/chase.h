/*
 * chase - sequences that may tell a fault which no test tells yet.
 *
 *     Seq *some[64];
 *     size_t n = chase_variants(grow, &a, test, fault, some, 64);
 *
 * They come from a test that reaches the fault, with one thing changed:
 *
 *     numbers    beside the number that the fault's comparison has: 24 gives 23, 24, 25;
 *                0, 1, -1; beside what stands there
 *     texts      with such a character, longer, shorter, empty
 *     rooms      for an answer are filled with a mark, and just fit, or just do not
 *     repeats    a call is made more often: up to a limit that the fault is about
 *     looks      everything that is alive is looked at after a call, and at the end
 *
 * Whether one of them tells the fault is seen when it is executed.
 */
#ifndef SUNDEW_CHASE_H
#define SUNDEW_CHASE_H
#include "engine/suite/settle.h"
#include "weave/weave.h"

/* What is in a room for an answer before it is written. */
enum { CHASE_MARK = '#' };

/* In the arena, closed as the test is; at most so many. */
size_t chase_variants(const GrowPlan *g, Arena *a, const SeqTest *t, const Mutant *fault, Seq **out,
                      size_t most);
#endif
