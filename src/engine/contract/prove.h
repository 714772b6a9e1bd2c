/*
 * prove - does an invariant follow from others?
 *
 * Variables are numbers that both sides share; their kinds say how wide they
 * are. What is syntactically there, and bounds and constants, are seen at once;
 * Z3 (src/solve) is asked for the rest, at most a second for each question, and
 * what it can't decide does not follow.
 */
#ifndef SUNDEW_CONTRACT_PROVE_H
#define SUNDEW_CONTRACT_PROVE_H
#include "engine/contract/invariant.h"

typedef struct Prover Prover;

typedef struct ProverFigures {
    uint64_t asked, quick, solver, unknown;
} ProverFigures;

/* At once, from this fact alone. */
bool fact_implies(const Invariant *fact, const Invariant *goal, const Var *vars);

Prover *prover_new(void);
void prover_free(Prover *p);                   /* NULL is fine */
/* `vars` by number. `used`, one a fact, gets which facts were needed (a superset
 * where the solver was asked); may be NULL. */
bool prove(Prover *p, const Var *vars, unsigned nvars, const Invariant *facts, size_t n,
           const Invariant *goal, bool *used);
ProverFigures prover_figures(const Prover *p);
#endif
