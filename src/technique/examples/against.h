/* against - two programs on the same rows: another program, or what was
 * written down before. */
#ifndef SUNDEW_EXAMPLES_AGAINST_H
#define SUNDEW_EXAMPLES_AGAINST_H
#include "dataflow/generate.h"
#include "session/session.h"

/* Looks for rows on which the two disagree, and makes them few. */
bool against_program(Session *s, const Plan *a, const Plan *b, const Input *samples, Udfs *udfs,
                     Err *err);
/* Runs a test that --tests wrote. */
bool against_expected(Session *s, const Plan *p, Udfs *udfs, const char *dir, Err *err);
#endif
