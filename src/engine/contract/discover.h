/*
 * discover - constraints between functions that their contracts satisfy.
 *
 * For every ordered pair of points P, Q of functions that have variables in common:
 * of Q's invariants q1 … qM that speak of common variables, N follow from P's.
 * The success rate is N / M; below the threshold (0.75) nothing is reported. The
 * confidence is (product of P's confidences) * (mean of the N); `core` is the
 * same over the facts that were needed alone. M = 0 and N = 0 are vacuous, and so is
 * what relates functions that have neither state nor types in common.
 *
 * CanFollow with a condition on the result is tried where the plain one fails.
 * Concord(m1, m2): Pre(m1), Pre(m2) and Post(m1) imply what Post(m2) says of the
 * result and the state, and some call of m1 satisfies both preconditions.
 *
 * A type that no function changes gives one line, Immutable, in place of all
 * constraints between these functions.
 */
#ifndef SUNDEW_CONTRACT_DISCOVER_H
#define SUNDEW_CONTRACT_DISCOVER_H
#include "engine/contract/contract.h"
#include "engine/contract/prove.h"

typedef struct DiscoverPlan {
    double rate;              /* threshold; 0 is 0.75 */
    bool (*stop)(void *arg);  /* asked now and then; NULL: never */
    void *arg;
    uint64_t most_queries;    /* to the solver; 0 is 20000 */
} DiscoverPlan;

typedef struct Discovered {
    Constraints constraints;  /* best first */
    Strings immutable;        /* types */
    size_t candidates, vacuous, below;
    bool stopped;
    ProverFigures prover;
} Discovered;

void discover(const Contracts *c, const DiscoverPlan *plan, Discovered *out);
void discovered_release(Discovered *d);

/* The published figures. */
double discover_rate(size_t proved, size_t of);
double discover_confidence(const double *p, size_t np, const double *proved, size_t n);
/* Ordered pairs of n points. */
size_t discover_candidates(size_t points);
#endif
