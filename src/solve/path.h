/*
 * path - the conditions that one run of a program passed, in order.
 *
 *     Path *path = path_new(p);
 *     path_add(path, cond, site, true);     at `site`, `cond` was true
 *     path_add(path, other, site2, false);
 *     Slice slice = {0};
 *     path_slice(path, 1, other, &slice);   what of the first matters for it
 *     path_free(path);
 *
 * A conjunct is kept as the condition that held: `cond`, or its negation if it
 * was not taken. Constant conditions may be added; they take part in nothing.
 */
#ifndef SUNDEW_SOLVE_PATH_H
#define SUNDEW_SOLVE_PATH_H
#include "base/vec.h"
#include "solve/expr.h"

typedef struct Conjunct {
    Expr cond;                /* what held, one bit */
    uint32_t site;            /* the caller's number of the branch */
    bool taken;
} Conjunct;

typedef struct Path Path;

Path *path_new(Exprs *p);
void path_free(Path *path);             /* NULL is fine */
void path_reset(Path *path);            /* empty again; p may be reset too */

/* The number of the conjunct. A condition of 0 counts, and takes part in
 * nothing. */
size_t path_add(Path *path, Expr cond, uint32_t site, bool taken);
size_t path_length(const Path *path);
Conjunct path_at(const Path *path, size_t i);

/* Conditions of conjuncts before `index` that share bytes with `goal`, directly
 * or through other such conjuncts, each once, oldest first. Conjunctions are
 * split into their parts. Does not depend on the order of questions. */
typedef Vec(Expr) Slice;
void path_slice(const Path *path, size_t index, Expr goal, Slice *out);

void path_dump(const Path *path, Str *out);
#endif
