/*
 * reduce - what of a suite is worth keeping.
 *
 *     example   what the example itself did stays as it is
 *     cover     from short to long, a test stays if it covers what none before does
 *     shrink    calls that its part of the coverage does not need go
 *     mutants   each that a test reaches is switched on in turn: does the test see
 *               it? One that covers nothing of its own stays if it sees one that
 *               no other does
 *
 * Afterwards suite->tests has the tests to write.
 */
#ifndef SUNDEW_SEQ_REDUCE_H
#define SUNDEW_SEQ_REDUCE_H
#include "engine/suite/suite.h"
#include "weave/weave.h"

typedef struct ReducePlan {
    const Settler *settler;
    Exec *mutants;               /* NULL: without */
    const Mutants *faults;
    const Cover *points;
    double seconds;              /* for shrinking and mutants */
    bool unlimited;              /* … whatever it takes */
} ReducePlan;

typedef struct Reduced {
    size_t lines, all_lines;
    size_t branches, all_branches;       /* ways */
    size_t killed, reached, mutants;
    Vec(const Mutant *) alive;           /* reached, and no test sees them; of the plan */
} Reduced;

/* `out` is released by vec_release(&out->alive). */
bool reduce(const ReducePlan *plan, Suite *suite, Reduced *out, Err *err);
/* Lines and branches among points, a byte each; of the functions whose symbols
 * are in `only` (NULL: all). */
void reduce_count(const Cover *points, const uint8_t *covered, const Map *only, Reduced *out);
#endif
