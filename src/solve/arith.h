/*
 * arith - formulas over whole numbers, real numbers and truth values.
 *
 * The other solver of this room asks about bytes of an input; this one is for
 * questions about tables: is there an x with 5 < x and x + y = 12?
 *
 *     Arith *a = arith_new(&(ArithPlan){ .seconds = 1 });
 *     Num x = arith_int_var(a), five = arith_int(a, 5);
 *     arith_assert(a, arith_lt(a, five, x), 7);          7: a tag of the caller's
 *     if (arith_check(a, NULL, 0) == ARITH_SAT)
 *         arith_int_value(a, x, &value);
 *     else
 *         n = arith_core(a, tags, most);                 tags that contradict
 *     arith_free(a);
 *
 * Numbers have no size: the caller bounds them. Whole numbers are divided as C
 * and Java do, towards zero. Terms live until arith_free().
 */
#ifndef SUNDEW_SOLVE_ARITH_H
#define SUNDEW_SOLVE_ARITH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Arith Arith;
typedef struct NumNode *Num;         /* a number */
typedef struct TruthNode *Truth;     /* a truth value */

typedef struct ArithPlan {
    double seconds;            /* of one check, by the clock; 0: 1 */
    unsigned effort;           /* of one check, in steps of the solver: about four million a
                                * second. The same question takes the same effort on every
                                * machine. 0: no limit */
    uint32_t seed;
} ArithPlan;

typedef enum { ARITH_UNKNOWN, ARITH_UNSAT, ARITH_SAT } ArithAnswer;

Arith *arith_new(const ArithPlan *plan);
void arith_free(Arith *a);                         /* NULL is fine */

Truth arith_bool(Arith *a, bool b);
Truth arith_bool_var(Arith *a);
Truth arith_not(Arith *a, Truth x);
Truth arith_and(Arith *a, Truth x, Truth y);
Truth arith_or(Arith *a, Truth x, Truth y);
Truth arith_all(Arith *a, const Truth *x, size_t n);   /* true for none */
Truth arith_any(Arith *a, const Truth *x, size_t n);   /* false for none */
Truth arith_same(Arith *a, Truth x, Truth y);
Truth arith_choose_truth(Arith *a, Truth c, Truth x, Truth y);
bool arith_is_constant(Arith *a, Truth x, bool *value);

Num arith_int(Arith *a, int64_t i);
Num arith_real(Arith *a, double d);                /* finite; as its shortest decimal */
Num arith_int_var(Arith *a);
Num arith_real_var(Arith *a);
bool arith_is_real(Arith *a, Num x);
bool arith_is_known(Arith *a, Num x);              /* without variables */
Num arith_to_real(Arith *a, Num x);
Num arith_to_int(Arith *a, Num x);                 /* towards zero */
Num arith_floor(Arith *a, Num x);                  /* a whole number */
/* A whole and a real number meet as reals. */
Num arith_add(Arith *a, Num x, Num y);
Num arith_sub(Arith *a, Num x, Num y);
Num arith_mul(Arith *a, Num x, Num y);
Num arith_div(Arith *a, Num x, Num y);             /* y != 0 is the caller's care */
Num arith_mod(Arith *a, Num x, Num y);             /* whole numbers */
Num arith_choose(Arith *a, Truth c, Num x, Num y);
Truth arith_eq(Arith *a, Num x, Num y);
Truth arith_lt(Arith *a, Num x, Num y);
Truth arith_le(Arith *a, Num x, Num y);

/* What holds of a variable wherever it is used: asserted when the first formula has it. */
void arith_define(Arith *a, Num x, Truth definition);
size_t arith_defined(const Arith *a);              /* definitions that are in use */

/* Tags are from 0; those of one contradiction come back from arith_core(). */
void arith_assert(Arith *a, Truth x, int tag);
/* With all that was asserted, and these wishes. */
ArithAnswer arith_check(Arith *a, const Truth *wishes, size_t n);
/* After ARITH_UNSAT: which tags and which wishes contradict. Either may be
 * NULL. */
size_t arith_core(Arith *a, int *tags, size_t most);
bool arith_core_has_wish(Arith *a, size_t i);

/* After ARITH_SAT. False: the number is out of range, or irrational (then the
 * real is near). */
bool arith_int_value(Arith *a, Num x, int64_t *out);
bool arith_real_value(Arith *a, Num x, double *out);
bool arith_truth_value(Arith *a, Truth x);
#endif
