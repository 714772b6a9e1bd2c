/*
 * rules - do tables keep what their schema promises?
 *
 *     size_t before = rules_broken(plan, inputs);
 *
 * Counts the rows that break NOT NULL, a key, a CHECK, or a foreign key, once
 * for each rule. A plan without rules gives 0 at no cost.
 */
#ifndef SUNDEW_DATAFLOW_RULES_H
#define SUNDEW_DATAFLOW_RULES_H
#include "dataflow/eval.h"

size_t rules_broken(const Plan *p, const Input *inputs);
/* A value as a column can hold it: text cut to its length, numbers rounded. */
Datum rules_fit(const Op *load, size_t column, Datum v, Arena *a);
#endif
