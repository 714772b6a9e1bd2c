/*
 * Comparisons of a number with a constant, where the number is an integer that was
 * converted, scaled and moved: (double)x / 1000 < 27.126. Each step keeps the order of
 * integers or turns it around, so there is one x from which on the answer is another: it
 * is found by trying, with the very arithmetic of the program, and what is left is a comparison
 * of integers.
 */
#include "solve/expr_int.h"
#include <math.h>
#include <string.h>

enum { LONGEST = 12 };

/* f(x): steps[n - 1] is the conversion of the integer x, steps[0] the last step. */
typedef struct Chain {
    Expr x;
    ExprNode steps[LONGEST];
    unsigned widths[LONGEST];        /* of their first operands */
    ExprValue constants[LONGEST];    /* their second operands */
    unsigned n;
    bool is_signed;
} Chain;

static bool float_value(const Exprs *p, Expr e, double *out)
{
    ExprValue v;
    float f;
    uint32_t half;
    uint64_t bits;
    if (!expr_is_const(p, e, &v))
        return false;
    half = (uint32_t)v;
    bits = (uint64_t)v;
    memcpy(&f, &half, sizeof f);
    memcpy(out, &bits, sizeof *out);
    if (expr_width(p, e) == 32)
        *out = (double)f;
    return true;
}

/* By a constant that can't make NaN of anything. */
static bool is_step(const Exprs *p, const ExprNode *n)
{
    double c;
    if (n->op == EXPR_FTOF)
        return true;
    if (!float_value(p, n->b, &c) || !isfinite(c))
        return false;
    return n->op == EXPR_FADD || n->op == EXPR_FSUB ||
           ((n->op == EXPR_FMUL || n->op == EXPR_FDIV) && c != 0);
}

static bool find_chain(const Exprs *p, Expr e, Chain *out)
{
    *out = (Chain){ 0 };
    while (out->n < LONGEST) {
        ExprNode n = expr_node(p, e);
        bool first = n.op == EXPR_UTOF || n.op == EXPR_STOF;
        if (!first && n.op != EXPR_FTOF && n.op != EXPR_FADD && n.op != EXPR_FSUB &&
            n.op != EXPR_FMUL && n.op != EXPR_FDIV)
            return false;
        if (!first && !is_step(p, &n))
            return false;
        out->steps[out->n] = n;
        out->widths[out->n] = expr_width(p, n.a);
        if (!first && n.op != EXPR_FTOF)
            expr_is_const(p, n.b, &out->constants[out->n]);
        out->n++;
        e = n.a;
        if (first) {
            out->x = e;
            out->is_signed = n.op == EXPR_STOF;
            return expr_width(p, e) <= 64 && expr_width(p, e) > 1;
        }
    }
    return false;
}

static ExprValue value_at(const Chain *c, ExprValue x)
{
    for (unsigned i = c->n; i-- > 0;)
        x = expr_apply(&c->steps[i], c->widths[i], c->widths[i], x, c->constants[i], 0);
    return x;
}

/* f(x) op c, or c op f(x). */
static bool holds_at(const Chain *f, ExprOp op, unsigned width, ExprValue c, bool left, ExprValue x)
{
    ExprNode n = { .op = op, .width = 1 };
    ExprValue v = value_at(f, x);
    return expr_apply(&n, width, width, left ? v : c, left ? c : v, 0);
}

/* `order` is the place of an integer in its type's order, from 0. */
static ExprValue at_order(const Chain *f, unsigned w, uint64_t order)
{
    ExprValue flip = f->is_signed ? (ExprValue)1 << (w - 1) : 0;
    return (order ^ flip) & expr_mask(w);
}

static Expr less(Exprs *p, const Chain *f, ExprOp op, unsigned width, ExprValue c, bool left)
{
    unsigned w = expr_width(p, f->x);
    uint64_t from = 0, to = (uint64_t)expr_mask(w);
    bool first = holds_at(f, op, width, c, left, at_order(f, w, from));
    if (holds_at(f, op, width, c, left, at_order(f, w, to)) == first)
        return expr_const(p, 1, first);
    while (to - from > 1) {              /* as the first at `from`, not so at `to` */
        uint64_t mid = from + (to - from) / 2;
        if (holds_at(f, op, width, c, left, at_order(f, w, mid)) == first)
            from = mid;
        else
            to = mid;
    }
    Expr below = expr_binary(p, f->is_signed ? EXPR_SLT : EXPR_ULT, f->x,
                             expr_const(p, w, at_order(f, w, to)));
    return first ? below : expr_not(p, below);
}

Expr expr_monotone(Exprs *p, ExprOp op, Expr a, Expr b)
{
    Chain f;
    ExprValue c;
    double number;
    bool left = float_value(p, b, &number);          /* f(x) stands left */
    if ((op != EXPR_FOLT && op != EXPR_FOLE && op != EXPR_FOEQ) ||
        (!left && !float_value(p, a, &number)) || !find_chain(p, left ? a : b, &f))
        return 0;
    unsigned width = expr_width(p, a);
    expr_is_const(p, left ? b : a, &c);
    if (op != EXPR_FOEQ)
        return less(p, &f, op, width, c, left);
    Expr most = less(p, &f, EXPR_FOLE, width, c, true),
         below = less(p, &f, EXPR_FOLT, width, c, true);
    return most && below ? expr_binary(p, EXPR_AND, most, expr_not(p, below)) : 0;
}
