/*
 * Operations that are expressed through others: what LLVM has as intrinsics,
 * comparisons the other way round, overflow tests, reads of small objects.
 */
#include "solve/expr_int.h"

static Expr bin(Exprs *p, ExprOp op, Expr a, Expr b) { return expr_binary(p, op, a, b); }

static Expr not_bin(Exprs *p, ExprOp op, Expr a, Expr b)
{
    return expr_not(p, expr_binary(p, op, a, b));
}

static Expr sign_bit(Exprs *p, Expr a) { return expr_extract(p, a, expr_width(p, a) - 1, 1); }

/* Pieces of `size` bits in opposite order. */
static Expr reversed(Exprs *p, Expr a, unsigned size)
{
    unsigned w = expr_width(p, a);
    if (w % size)
        return 0;
    Expr e = expr_extract(p, a, 0, size);
    for (unsigned at = size; at < w; at += size)
        e = bin(p, EXPR_CONCAT, e, expr_extract(p, a, at, size));
    return e;
}

/* The sum of the bits, by halves. */
static Expr count_ones(Exprs *p, Expr a)
{
    unsigned w = expr_width(p, a);
    if (w == 1)
        return a;
    unsigned half = w / 2;
    Expr low = count_ones(p, expr_extract(p, a, 0, half));
    Expr high = count_ones(p, expr_extract(p, a, half, w - half));
    return bin(p, EXPR_ADD, expr_zext(p, low, w), expr_zext(p, high, w));
}

/* Zeros above the highest one: smear it downwards, count what is left. */
static Expr leading_zeros(Exprs *p, Expr a)
{
    unsigned w = expr_width(p, a);
    for (unsigned k = 1; k < w; k *= 2)
        a = bin(p, EXPR_OR, a, bin(p, EXPR_LSHR, a, expr_const(p, w, k)));
    return count_ones(p, expr_not(p, a));
}

static Expr trailing_zeros(Exprs *p, Expr a)
{
    Expr less = bin(p, EXPR_ADD, a, expr_const(p, expr_width(p, a), ~(ExprValue)0));
    return count_ones(p, bin(p, EXPR_AND, expr_not(p, a), less));
}

Expr expr_lower_unary(Exprs *p, ExprOp op, Expr a)
{
    unsigned w = expr_width(p, a);
    ExprValue top = (ExprValue)1 << (w - 1);
    switch (op) {
    case EXPR_BSWAP: return reversed(p, a, 8);
    case EXPR_BITREVERSE: return reversed(p, a, 1);
    case EXPR_CTPOP: return count_ones(p, a);
    case EXPR_CTLZ: return leading_zeros(p, a);
    case EXPR_CTTZ: return trailing_zeros(p, a);
    case EXPR_ABS: return expr_ite(p, sign_bit(p, a), expr_unary(p, EXPR_NEG, a), a);
    case EXPR_FNEG: return bin(p, EXPR_XOR, a, expr_const(p, w, top));
    case EXPR_FABS: return bin(p, EXPR_AND, a, expr_const(p, w, top - 1));
    default: return 0;
    }
}

static Expr float_compare(Exprs *p, ExprOp op, Expr a, Expr b)
{
    switch (op) {
    case EXPR_FONE: return bin(p, EXPR_OR, bin(p, EXPR_FOLT, a, b), bin(p, EXPR_FOLT, b, a));
    case EXPR_FOGT: return bin(p, EXPR_FOLT, b, a);
    case EXPR_FOGE: return bin(p, EXPR_FOLE, b, a);
    case EXPR_FORD: return not_bin(p, EXPR_FUNO, a, b);
    case EXPR_FUEQ: return bin(p, EXPR_OR, bin(p, EXPR_FUNO, a, b), bin(p, EXPR_FOEQ, a, b));
    case EXPR_FUNE: return not_bin(p, EXPR_FOEQ, a, b);
    case EXPR_FULT: return not_bin(p, EXPR_FOLE, b, a);
    case EXPR_FULE: return not_bin(p, EXPR_FOLT, b, a);
    case EXPR_FUGT: return not_bin(p, EXPR_FOLE, a, b);
    default: return not_bin(p, EXPR_FOLT, a, b);
    }
}

/* Signed a + b (or a - b) leaves the range: the result's sign differs from
 * what the operands' signs allow. */
static Expr signed_overflows(Exprs *p, bool minus, Expr a, Expr b)
{
    Expr sum = bin(p, minus ? EXPR_SUB : EXPR_ADD, a, b);
    Expr sa = sign_bit(p, a), sb = sign_bit(p, b), sr = sign_bit(p, sum);
    Expr alike = bin(p, EXPR_EQ, sa, minus ? expr_not(p, sb) : sb);
    return bin(p, EXPR_AND, alike, bin(p, EXPR_NE, sa, sr));
}

/* The product in twice the width does not fit; without room for that, dividing
 * the product gives back another factor. */
static Expr product_overflows(Exprs *p, bool sign, Expr a, Expr b)
{
    unsigned w = expr_width(p, a);
    if (2 * w <= EXPR_MAX_WIDTH) {
        Expr x = sign ? expr_sext(p, a, 2 * w) : expr_zext(p, a, 2 * w);
        Expr y = sign ? expr_sext(p, b, 2 * w) : expr_zext(p, b, 2 * w);
        Expr m = bin(p, EXPR_MUL, x, y), low = expr_trunc(p, m, w);
        return bin(p, EXPR_NE, m, sign ? expr_sext(p, low, 2 * w) : expr_zext(p, low, 2 * w));
    }
    Expr zero = expr_const(p, w, 0), ones = expr_const(p, w, ~(ExprValue)0);
    Expr m = bin(p, EXPR_MUL, a, b);
    Expr back = bin(p, sign ? EXPR_SDIV : EXPR_UDIV, m, b);
    Expr differs = bin(p, EXPR_AND, bin(p, EXPR_NE, b, zero), bin(p, EXPR_NE, back, a));
    if (!sign)
        return differs;
    Expr least = expr_const(p, w, (ExprValue)1 << (w - 1));
    Expr corner = bin(p, EXPR_AND, bin(p, EXPR_EQ, b, ones), bin(p, EXPR_EQ, a, least));
    return bin(p, EXPR_OR, differs, corner);
}

static Expr saturated(Exprs *p, ExprOp op, Expr a, Expr b)
{
    unsigned w = expr_width(p, a);
    ExprValue top = (ExprValue)1 << (w - 1);
    if (op == EXPR_UADD_SAT)
        return expr_ite(p, bin(p, EXPR_UADD_OVERFLOWS, a, b), expr_const(p, w, ~(ExprValue)0),
                        bin(p, EXPR_ADD, a, b));
    if (op == EXPR_USUB_SAT)
        return expr_ite(p, bin(p, EXPR_ULT, a, b), expr_const(p, w, 0), bin(p, EXPR_SUB, a, b));
    bool minus = op == EXPR_SSUB_SAT;
    Expr edge = expr_ite(p, sign_bit(p, a), expr_const(p, w, top), expr_const(p, w, top - 1));
    return expr_ite(p, signed_overflows(p, minus, a, b), edge,
                    bin(p, minus ? EXPR_SUB : EXPR_ADD, a, b));
}

Expr expr_lower_binary(Exprs *p, ExprOp op, Expr a, Expr b)
{
    switch (op) {
    case EXPR_NE: return not_bin(p, EXPR_EQ, a, b);
    case EXPR_UGT: return bin(p, EXPR_ULT, b, a);
    case EXPR_UGE: return bin(p, EXPR_ULE, b, a);
    case EXPR_SGT: return bin(p, EXPR_SLT, b, a);
    case EXPR_SGE: return bin(p, EXPR_SLE, b, a);
    case EXPR_UMIN: return expr_ite(p, bin(p, EXPR_ULT, a, b), a, b);
    case EXPR_UMAX: return expr_ite(p, bin(p, EXPR_ULT, a, b), b, a);
    case EXPR_SMIN: return expr_ite(p, bin(p, EXPR_SLT, a, b), a, b);
    case EXPR_SMAX: return expr_ite(p, bin(p, EXPR_SLT, a, b), b, a);
    case EXPR_UADD_SAT:
    case EXPR_USUB_SAT:
    case EXPR_SADD_SAT:
    case EXPR_SSUB_SAT: return saturated(p, op, a, b);
    case EXPR_UADD_OVERFLOWS: return bin(p, EXPR_ULT, bin(p, EXPR_ADD, a, b), a);
    case EXPR_USUB_OVERFLOWS: return bin(p, EXPR_ULT, a, b);
    case EXPR_SADD_OVERFLOWS:
    case EXPR_SSUB_OVERFLOWS: return signed_overflows(p, op == EXPR_SSUB_OVERFLOWS, a, b);
    case EXPR_UMUL_OVERFLOWS:
    case EXPR_SMUL_OVERFLOWS: return product_overflows(p, op == EXPR_SMUL_OVERFLOWS, a, b);
    default:
        if (op >= EXPR_FONE && op <= EXPR_FUGE)
            return float_compare(p, op, a, b);
        return 0;
    }
}

Expr expr_funnel(Exprs *p, bool left, Expr high, Expr low, Expr by)
{
    if (!high || !low || !by)
        return 0;
    unsigned w = expr_width(p, high);
    if (expr_width(p, low) != w || expr_width(p, by) != w)
        return 0;
    Expr k = bin(p, EXPR_UREM, by, expr_const(p, w, w));
    Expr rest = bin(p, EXPR_SUB, expr_const(p, w, w), k);
    /* A shift by `rest` == w gives 0, as it should. */
    Expr x = bin(p, EXPR_SHL, high, left ? k : rest);
    Expr y = bin(p, EXPR_LSHR, low, left ? rest : k);
    return bin(p, EXPR_OR, x, y);
}

Expr expr_le(Exprs *p, const Expr *bytes, unsigned n)
{
    if (!n || n > EXPR_MAX_WIDTH / 8)
        return 0;
    Expr e = bytes[0];
    for (unsigned i = 1; i < n; i++)
        e = bin(p, EXPR_CONCAT, bytes[i], e);
    return e;
}

/* items[from .. to) read at index: a tree of comparisons. */
static Expr choose(Exprs *p, const Expr *items, uint32_t from, uint32_t to, Expr index)
{
    if (to - from == 1)
        return items[from];
    uint32_t middle = from + (to - from) / 2;
    Expr below = bin(p, EXPR_ULT, index, expr_const(p, expr_width(p, index), middle));
    return expr_ite(p, below, choose(p, items, from, middle, index),
                    choose(p, items, middle, to, index));
}

/* All are constants of a whole number of bytes: a table will do. */
static Expr constant_table(Exprs *p, const Expr *items, uint32_t n, Expr index)
{
    unsigned size = expr_width(p, items[0]) / 8;
    if (expr_width(p, items[0]) % 8 || !size || size > 8 || (size & (size - 1)))
        return 0;
    ExprValue v;
    for (uint32_t i = 0; i < n; i++)
        if (!expr_is_const(p, items[i], &v))
            return 0;
    uint8_t *bytes = xmalloc((size_t)n * size);
    for (uint32_t i = 0; i < n; i++) {
        expr_is_const(p, items[i], &v);
        memcpy(bytes + (size_t)i * size, &v, size);
    }
    Expr e = expr_table(p, bytes, n, size, index);
    free(bytes);
    return e;
}

Expr expr_choose(Exprs *p, const Expr *items, uint32_t n, Expr index)
{
    if (!n || !index)
        return 0;
    unsigned w = expr_width(p, items[0]);
    for (uint32_t i = 0; i < n; i++)
        if (!items[i] || expr_width(p, items[i]) != w)
            return 0;
    Expr e = constant_table(p, items, n, index);
    if (e)
        return e;
    /* An index that can't reach all items must not be compared with more than
     * it can hold; one that can reach beyond reads 0 there. */
    ExprValue reach = expr_mask(expr_width(p, index));
    if (reach < n)
        n = (uint32_t)reach + 1;
    e = choose(p, items, 0, n, index);
    if (reach < n)
        return e;
    Expr inside = bin(p, EXPR_ULT, index, expr_const(p, expr_width(p, index), n));
    return expr_ite(p, inside, e, expr_const(p, w, 0));
}
