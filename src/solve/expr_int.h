/*
 * What the files of expr share: the pool, and operations on concrete values.
 */
#ifndef SUNDEW_SOLVE_EXPR_INT_H
#define SUNDEW_SOLVE_EXPR_INT_H
#include "base/mem.h"
#include "base/vec.h"
#include "solve/deps.h"
#include "solve/expr.h"

typedef __int128 ExprSigned;

typedef struct Source {
    char *name;
    uint32_t base, capacity;
} Source;

/*
 * nodes[e] is expression e; nodes[0] stands for none. deps[e] is the number of
 * its set of bytes. `slots` finds a node by its contents: open addressing,
 * at most two thirds full.
 *
 * A constant of more than 64 bits keeps its high half in wide[c]; all other
 * constants stand in a (low 32 bits) and b.
 */
struct Exprs {
    ExprNode *nodes;
    uint32_t *deps;
    size_t count, cap;
    uint32_t *slots;
    size_t nslots;            /* a power of two */
    Vec(uint64_t) wide;
    Vec(ExprTable) tables;
    Arena table_bytes;
    size_t table_size;
    Deps sets;
    Vec(Source) sources;
    uint32_t next_byte;
    size_t limit;
    uint32_t generation;
    bool full;
    unsigned depth;           /* of simplification that calls itself */
};

/* The node as it is, without simplification: found or added; 0 if full. */
Expr expr_intern(Exprs *p, ExprNode n, ExprValue wide);
static inline Expr expr_raw(Exprs *p, ExprOp op, unsigned width, Expr a, Expr b, Expr c)
{
    return expr_intern(p, (ExprNode){ .op = op, .width = width, .a = a, .b = b, .c = c }, 0);
}

static inline ExprValue expr_mask(unsigned width)
{
    return width >= 128 ? ~(ExprValue)0 : ((ExprValue)1 << width) - 1;
}

static inline ExprSigned expr_signed(ExprValue v, unsigned width)
{
    unsigned drop = 128 - width;
    return (ExprSigned)(v << drop) >> drop;
}

/* One operation on concrete values: what the evaluator and the simplifier
 * both rest on. wa and wb are the widths of a and b. Not for leaves, tables. */
ExprValue expr_apply(const ExprNode *n, unsigned wa, unsigned wb, ExprValue a, ExprValue b,
                     ExprValue c);

/* A float of 32 or 64 bits and its pattern; NaN has one pattern. */
double expr_to_double(ExprValue v, unsigned width);
ExprValue expr_from_double(double d, unsigned width);

/* monotone.c: a comparison of floats as one of integers; 0: it is none. */
Expr expr_monotone(Exprs *p, ExprOp op, Expr a, Expr b);

/* For operations that have no node of their own. */
Expr expr_lower_unary(Exprs *p, ExprOp op, Expr a);
Expr expr_lower_binary(Exprs *p, ExprOp op, Expr a, Expr b);
#endif
