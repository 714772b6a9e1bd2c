/* What the files of the base engine share. */
#ifndef SUNDEW_CONTRACT_INFER_INT_H
#define SUNDEW_CONTRACT_INFER_INT_H
#include "engine/contract/infer.h"

enum {
    SOME = 8,                 /* different values of a column that are kept */
    LEAST_PAIRS = 5,          /* different rows for an equation of two */
    LEAST_TRIPLES = 8,
    MOST_TERNARY = 24,        /* variables that are combined three at a time */
};

/* One variable in all rows. */
typedef struct Column {
    Cell *cells;
    uint8_t *known;
    uint64_t n;               /* samples that know it */
    size_t rows;              /* rows that know it */
    int64_t min, max;         /* of an integer */
    double fmin, fmax;        /* of a float */
    uint64_t at_min[3], at_max[3];       /* the bound and its two neighbours */
    Cell some[SOME];
    uint64_t times[SOME];
    unsigned nsome;           /* SOME: that many, or more */
    bool more;                /* there are more different values */
    uint64_t bits;            /* or of all values */
    int64_t step;             /* gcd of the differences */
    int leader;               /* of its equality set: itself if it is the one */
} Column;

typedef struct Engine {
    Arena arena;
    const Point *p;
    double limit;
    size_t nrows;
    uint64_t *counts;
    Column *columns;
    bool loose;
    const Map *many;
    uint8_t *linear;          /* nvars * nvars: the two are in an equation */
    Invariants *out;
} Engine;

static inline bool column_is_constant(const Column *c) { return c->n && c->nsome == 1; }

/* May the two be compared at all; `strong`: it is known that they may. */
bool comparable(const Point *p, unsigned a, unsigned b, bool *strong);
/* Two integers that have different units: a product may still relate them. */
bool differ_in_unit(const Var *a, const Var *b);
/* Was the function only seen with one object of the heap behind this parameter? The
 * same place on the stack held many. */
bool has_one_object(const Engine *e, int param);
/* Twins: in some call there was no value before. */
bool is_made_here(const Engine *e, unsigned a, unsigned b);
void keep(Engine *e, Invariant inv);           /* if its confidence is enough */

void infer_unary(Engine *e);
void infer_loose(Engine *e);                   /* bounds of all, and of differences */
void infer_binary(Engine *e);
void infer_ternary(Engine *e);
void infer_hide(Engine *e, size_t from);       /* what others imply */
#endif
