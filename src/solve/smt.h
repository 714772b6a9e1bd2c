/*
 * smt - the one door to Z3: are all roots of a tape true for some bytes?
 *
 * Every check has a Z3 context of its own. That costs about half a
 * millisecond, and buys three things: all of Z3's memory comes back after each
 * query, an answer does not depend on what was asked before, and threads with
 * a solver each don't meet.
 *
 * The resource limit counts Z3's steps, so that it ends at the same place on
 * every machine; the wall clock is a second line of defence.
 */
#ifndef SUNDEW_SOLVE_SMT_H
#define SUNDEW_SOLVE_SMT_H
#include "solve/solve.h"
#include "solve/tape.h"
#include <stdatomic.h>

typedef struct SmtPlan {
    uint32_t rlimit;
    double seconds;
    uint32_t memory_mb;
    uint32_t seed;
    size_t max_nodes, max_float_nodes;
    const atomic_bool *stop;  /* becomes true: give up soon */
} SmtPlan;

/*
 * `values` has one entry for each byte of the tape. It comes with the values
 * to keep where the assignment says nothing, and goes with the assignment if the status
 * is SAT. With `core` not NULL and UNSAT, core[i] says whether root i belongs
 * to an unsatisfiable subset.
 */
SolveStatus smt_check(const Exprs *p, const Tape *t, size_t nroots, const SmtPlan *plan,
                      uint8_t *values, bool *core, SolveReason *reason);

/* For tests: what Z3 thinks the root's value is under these bytes. False if
 * it does not come to a number. */
bool smt_evaluate(const Exprs *p, const Tape *t, const uint8_t *values, ExprValue *v);
#endif
