/*
 * tape - expressions laid out for computing them many times.
 *
 * A tape holds every node below its roots once, operands first, so that one
 * pass over an array gives all values: no recursion, whatever the depth. The
 * bytes that occur are numbered 0, 1, 2 … on the tape; an assignment is an
 * array of that many values.
 *
 *     Tape *t = tape_new(p, conditions, n);
 *     uint8_t *v = …;                    v[i] is the value of tape_bytes(t)[i]
 *     tape_run(t, v);
 *     if (tape_truths(t) == n) …         all conditions hold
 *     v[2]++;
 *     tape_rerun(t, v, tape_bit(2));     the same, only what byte 2 reaches
 *
 * A tape lives no longer than the expressions it was made from.
 */
#ifndef SUNDEW_SOLVE_TAPE_H
#define SUNDEW_SOLVE_TAPE_H
#include "solve/expr.h"

typedef struct Tape Tape;

Tape *tape_new(const Exprs *p, const Expr *roots, size_t n);
void tape_free(Tape *t);                        /* NULL is fine */

size_t tape_size(const Tape *t);                /* nodes, constants included */
size_t tape_nbytes(const Tape *t);
const uint32_t *tape_bytes(const Tape *t);      /* ascending */
size_t tape_byte_index(const Tape *t, uint32_t byte);   /* SIZE_MAX: none */

void tape_run(Tape *t, const uint8_t *values);
/* Only what changed bytes reach; `changed` is the union of their tape_bit().
 * Gives the number of steps computed. */
size_t tape_rerun(Tape *t, const uint8_t *values, uint64_t changed);
static inline uint64_t tape_bit(size_t byte_index) { return (uint64_t)1 << byte_index % 64; }
ExprValue tape_value(const Tape *t, size_t root);
size_t tape_truths(const Tape *t);              /* roots that are not 0 */

/* For those who walk it: step i computes slot i from earlier slots. */
typedef struct TapeStep {
    ExprNode node;            /* operands are slots; for BYTE a is the index */
    uint8_t wa, wb;           /* widths of the operands a and b */
    bool narrow;              /* all widths are at most 64 bits */
    Expr expr;
    uint64_t reached_by;      /* bit i % 64 for each byte i below it */
} TapeStep;
const TapeStep *tape_steps(const Tape *t);
size_t tape_root(const Tape *t, size_t root);   /* its slot */
ExprValue tape_slot(const Tape *t, size_t slot);
const ExprTable *tape_table(const Tape *t, size_t slot);
#endif
