/*
 * problem - one question to the quick solvers: bytes for which all conditions
 * hold, near to a parent's.
 *
 * Conditions on a single byte are turned into the set of values that the byte
 * may have; what is left over is `rest`, laid out on a tape. A candidate in
 * `values` with all bytes inside their sets and all of the rest true is a
 * solution.
 *
 *     input[0] == 'P', input[1] < '7'     allowed[0] = {P}, allowed[1] = {0..6}
 *     le16(input[0..1]) > 1000            rest
 */
#ifndef SUNDEW_SOLVE_PROBLEM_H
#define SUNDEW_SOLVE_PROBLEM_H
#include "base/rng.h"
#include "solve/byteset.h"
#include "solve/solve.h"
#include "solve/tape.h"
#include <stdatomic.h>

typedef struct Problem {
    const Exprs *p;
    Slice rest;               /* conditions on more than one byte */
    size_t first_goal;        /* rest[first_goal ..] come from the question */
    Tape *tape;               /* of the rest */
    size_t n;                 /* bytes, those of the tape first */
    uint32_t *bytes;
    ByteSet *allowed;         /* never empty */
    uint8_t *parent;          /* the parent's values, moved into the sets */
    uint8_t *values;          /* the candidate */
    Rng rng;
    const atomic_bool *stop;
} Problem;

/* What is known about single conditions; kept from query to query. */
typedef struct Masks Masks;
Masks *masks_new(size_t entries);
void masks_free(Masks *m);
void masks_reset(Masks *m);

/*
 * conds[0 .. n) must hold; those from first_goal on are the question. False if
 * the conditions on some single byte leave nothing: then `core` gets them. The
 * parent's bytes at or beyond `len` count as 0.
 */
bool problem_init(Problem *q, const Exprs *p, Masks *masks, const Expr *conds, size_t n,
                  size_t first_goal, const uint8_t *parent, size_t len, Slice *core);
void problem_release(Problem *q);
void problem_restart(Problem *q);      /* the candidate is the parent again */
/* Is the candidate a solution? Computes the tape. */
bool problem_holds(Problem *q);
/* Set a byte, if it may have that value. */
bool problem_set(Problem *q, size_t i, uint8_t v);
bool problem_stopped(const Problem *q);

/* The quick solvers: true, the candidate is a solution. */
bool quick_copy(Problem *q, size_t budget);
bool quick_back(Problem *q, size_t budget);
bool quick_down(Problem *q, size_t budget);
bool quick_newton(Problem *q, size_t budget);      /* for floats */
/* All candidates, if that takes at most `budget` node evaluations: SAT, UNSAT,
 * or UNKNOWN because it would take more. */
SolveStatus quick_small(Problem *q, size_t budget);
/* Can ranges of values show that there is no solution? */
bool interval_refutes(const Problem *q);
#endif
