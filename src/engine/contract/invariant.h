/*
 * invariant - one statement about the variables of a point.
 *
 *     x one of {c…}      x == c, or x == c || x == d …; at most three
 *     x != 0             a pointer is not NULL
 *     x >= c, x <= c
 *     x % m == r
 *     (x & ~m) == 0      only flags of m
 *     x has one value    the same object at every sample
 *     x == y, x < y, x <= y, x < y - 1
 *     x == a * y + b     also a quotient x == y / a, and x == |y|
 *     x == a * y + b * z + c, x == y * z, y / z, y << z, y & z, y | z, y % z, min, max
 *     guard ==> one of the above
 *
 * An invariant is a plain value; variables are numbers of the point's. It is
 * printed as C over the names of the source.
 */
#ifndef SUNDEW_CONTRACT_INVARIANT_H
#define SUNDEW_CONTRACT_INVARIANT_H
#include "base/str.h"
#include "engine/contract/sample.h"

typedef enum {
    INV_ONE_OF,               /* v[0] in k[0 .. n) */
    INV_NONZERO,              /* v[0] != 0 */
    INV_LOWER,
    INV_UPPER,     /* v[0] >= k[0], v[0] <= k[0] */
    INV_MODULUS,              /* v[0] mod k[0] == k[1], the mathematical one */
    INV_FLAGS,                /* (v[0] & ~k[0]) == 0 */
    INV_ONE_VALUE,            /* v[0] is the object k[0] each time */
    INV_EQUAL,                /* v[0] == v[1] */
    INV_LESS,                 /* v[0] <= v[1] + k[0] */
    INV_LINEAR,               /* v[0] == k[0] * v[1] + k[1] */
    INV_QUOTIENT,             /* v[0] == v[1] / k[0] */
    INV_ABSOLUTE,             /* v[0] == |v[1]| */
    INV_LINEAR3,              /* v[0] == k[0] * v[1] + k[1] * v[2] + k[2] */
    INV_PRODUCT,              /* v[0] == v[1] * v[2] … */
    INV_RATIO,
    INV_REMAINDER,
    INV_SHIFT,
    INV_AND,
    INV_OR,
    INV_MINIMUM,
    INV_MAXIMUM,
    INV_UNCHANGED,            /* all that v[0] points to is as at entry */
    INV_N
} InvKind;
const char *inv_kind_name(InvKind k);          /* one-of, nonzero, … */
bool inv_kind_parse(const char *name, InvKind *out);
unsigned inv_arity(InvKind k);                 /* 1 to 3 variables */

typedef enum {
    GUARD_NONE,
    GUARD_ZERO,
    GUARD_NONZERO,
    GUARD_NEGATIVE,
    GUARD_NOT_NEGATIVE,
} Guard;
const char *guard_name(Guard g);               /* "", zero, nonzero, … */

enum { ONE_OF_MOST = 3 };

typedef struct Invariant {
    InvKind kind;
    uint8_t n;                /* one-of: how many values */
    Guard guard;              /* holds only where v_guard is so */
    int v_guard;
    int v[3];
    Cell k[3];
    double confidence;
    uint64_t samples;         /* that speak for it, borrowed ones included */
    uint64_t own;             /* … of them, the function's own */
    bool is_state;            /* of the handle, at every public function */
} Invariant;

typedef Vec(Invariant) Invariants;

/* What INV_UNCHANGED of this parameter speaks of: a field behind it, not what is worked out of
 * several. */
bool var_is_field(const Var *v, int param);
/* Does it hold in a row? A variable without a value says nothing: true. */
bool inv_holds(const Invariant *inv, const Point *p, const Row *r);
/* Are all its variables known in this row, and its guard true? */
bool inv_applies(const Invariant *inv, const Point *p, const Row *r);
/* Is the guard true of a value? */
bool guard_holds(Guard g, int64_t value);

/* The same statement: same kind, variables and constants. */
bool inv_same(const Invariant *a, const Invariant *b);
bool inv_mentions(const Invariant *inv, int v);
/* May it stand in the contract of its point? What a function can't have
 * changed belongs to its precondition. */
bool inv_belongs(const Invariant *inv, const Point *p);

/* As C; texts of the subject are escaped. */
void inv_print(const Invariant *inv, const Point *p, const Samples *s, Str *out);
/* Is the text an expression that a C compiler takes? orig() aside. */
bool inv_is_c(const Invariant *inv, const Point *p);
/* The values of its variables in a row: "s->top = 3, s->cap = 2". */
void inv_print_values(const Invariant *inv, const Point *p, const Samples *s, const Row *r,
                      Str *out);
#endif
