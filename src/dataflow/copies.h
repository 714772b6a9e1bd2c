/*
 * copies - a row once more, under new keys.
 *
 * Some classes take several rows that are much alike: two rows of a group, more
 * rows than a LIMIT lets through. Where one row is there already, it is cheaper
 * to copy the input rows that it came from than to ask the solver. A copy keeps
 * all cells but its keys, which must be new, and its references to other rows
 * that are copied too.
 *
 *     Copier c = { .plan = p, .know = k, .arena = a, .step = copies_step(p, inputs), .round = 1 };
 *     c.copied[orders->id] = true;              arrays of plan->ops.len
 *     const Tuple *t = copies_row(&c, orders, row);
 *
 * A new value depends on the old value and the round alone, so equal keys of
 * different tables stay equal. Whether the copy does what was hoped for is for a
 * run to tell.
 */
#ifndef SUNDEW_DATAFLOW_COPIES_H
#define SUNDEW_DATAFLOW_COPIES_H
#include "dataflow/know.h"

typedef struct Copier {
    const Plan *plan;
    const Know *know;
    Arena *arena;
    bool *copied;              /* by op id: rows of this LOAD are copied */
    bool **varied;             /* by op id, then column: gets a new value too; rows may be NULL */
    bool **held; /* by op id, then column: keys of groups; stay if they can. May be NULL */
    int word; /* varied texts and dates: candidate number `word`; -1: near the old
                                * value */
    bool alike; /* varied columns have the same new value in all rounds, unless a key forbids it */
    int64_t step; /* added to whole numbers, for each round */
    int round; /* from 1 */
    int old; /* rounds that old rows may come from: texts get later numbers */
} Copier;

const Tuple *copies_row(const Copier *c, const Op *load, const Tuple *row);
/* More than any whole number in the tables. */
int64_t copies_step(const Plan *p, const Input *inputs);
/* The columns that keys of GROUP and ORDER, and the columns of DISTINCT, at and above
 * an op look at. */
void copies_keys_above(const Op *op, bool **varied, const Know *k);
/* The columns that a term over rows of `in` looks at. */
void copies_columns_of(Term *t, const Op *in, bool **varied, const Know *k);
#endif
