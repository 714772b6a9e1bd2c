/*
 * plain - values that a person would write.
 *
 * A test that does the same with "a" as with nine times "w" reads better with "a", and best
 * with what the example has in the same place.
 */
#ifndef SUNDEW_SUITE_PLAIN_H
#define SUNDEW_SUITE_PLAIN_H
#include "engine/sequence/sequence.h"
#include "engine/usage/usage.h"

/* Shorter is better; of equal ones the one with plainer values. `usage` may be NULL. */
unsigned plain_cost(const Usage *usage, const Seq *s);
/* The sequence with a plainer value in one place; at most so many. */
size_t plain_variants(const Usage *usage, Arena *a, const Seq *s, Seq **out, size_t most);
/* Values that may stand in a place of a call instead: the example's, then plain ones. They
 * differ from what stands there. A buffer's length is set with it. At most so many. */
size_t plain_others(const Usage *usage, Arena *a, const Seq *s, unsigned step, unsigned arg,
                    Seq **out, size_t most);
#endif
