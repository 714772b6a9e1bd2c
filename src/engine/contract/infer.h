/*
 * infer - which invariants the rows of a point don't refute.
 *
 *     Invariants found = {0};
 *     infer(&f->entry, &f->entry.rows, &(InferPlan){0}, &found);
 *
 * Every kind of invariant is tried on all combinations of variables that may be
 * compared. What no row refutes and what is unlikely to hold by chance stays; of
 * invariants that imply each other the most specific one is reported (x == 0
 * hides x >= 0).
 *
 * The confidence is about the probability that the invariant does not hold by
 * chance. The rules, as published for dynamic invariant detection:
 *
 *   non-zero   1 - (1 - 1/r)^n; r is 3 for pointers, else the observed range, at
 *              most 50. So a pointer must be seen 12 times.
 *   bounds     more than 5 samples, at least 3 at the bound, and 5 times the
 *              expected number at the bound, or the bound and its two neighbours
 *              half of the expected number each; the constant is in -1 … 2.
 *   one of     up to 3 values, each seen 3 times; a constant 1 - (1/2)^n.
 *   orderings  1 - (1/2)^n
 *   equations  five different rows with two variables, eight with three
 *   ==>        confidence of the guard times that of the rest
 *
 * Floating-point numbers are compared with a relative tolerance of 1e-4.
 */
#ifndef SUNDEW_CONTRACT_INFER_H
#define SUNDEW_CONTRACT_INFER_H
#include "engine/contract/invariant.h"

typedef struct InferPlan {
    double limit;             /* least confidence; 0 is 0.99 */
    bool no_guards;           /* no implications */
    bool loose;               /* all that these runs show, accidents too: to be held
                               * against another run of the same command */
    const Map *many;          /* types of pointers of which the runs had several
                               * objects; NULL: all. Of others nothing is told that
                               * one object shows */
} InferPlan;

void infer(const Point *p, const Rows *rows, const InferPlan *plan, Invariants *out);

/* 1 if x >= goal, 0 if x <= 1, between them on a line. */
double confidence_is_ge(double x, double goal);
/* n samples that were never zero, out of r possible values. */
double confidence_nonzero(uint64_t n, double r);
/* n samples that each could have refuted it with probability 1/2. */
double confidence_even(uint64_t n);
#endif
