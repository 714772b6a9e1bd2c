/*
 * Operations on concrete values. This is the meaning of every operation: the
 * simplifier folds with it, the tape computes with it, and the tests compare
 * it with Z3's opinion.
 */
#include "solve/expr_int.h"
#include <assert.h>
#include <math.h>

static ExprValue divide(ExprOp op, unsigned w, ExprValue a, ExprValue b)
{
    ExprSigned x = expr_signed(a, w), y = expr_signed(b, w);
    switch (op) {
    case EXPR_UDIV: return b ? a / b : expr_mask(w);
    case EXPR_UREM: return b ? a % b : a;
    case EXPR_SDIV:
        if (!b)
            return x < 0 ? 1 : expr_mask(w);
        return y == -1 ? -a : (ExprValue)(x / y);   /* the least / -1 wraps */
    default: return !b ? a : y == -1 ? 0 : (ExprValue)(x % y);
    }
}

static ExprValue shift(ExprOp op, unsigned w, ExprValue a, ExprValue b)
{
    bool far = b >= w;
    if (op == EXPR_SHL)
        return far ? 0 : a << b;
    if (op == EXPR_LSHR)
        return far ? 0 : a >> b;
    return (ExprValue)(expr_signed(a, w) >> (far ? w - 1 : (unsigned)b));
}

/* ---- floating point; NaN results get one pattern, Z3's included */

double expr_to_double(ExprValue v, unsigned w)
{
    if (w == 32) {
        uint32_t bits = (uint32_t)v;
        float f;
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    uint64_t bits = (uint64_t)v;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static float to_float(ExprValue v)
{
    uint32_t bits = (uint32_t)v;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static ExprValue from_float(float f)
{
    uint32_t bits;
    if (isnan(f))
        return 0x7fc00000;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

ExprValue expr_from_double(double d, unsigned w)
{
    uint64_t bits;
    if (w == 32)
        return from_float((float)d);
    if (isnan(d))
        return (ExprValue)0x7ff8 << 48;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static double float32(ExprOp op, float x, float y)
{
    switch (op) {
    case EXPR_FADD: return (double)(x + y);
    case EXPR_FSUB: return (double)(x - y);
    case EXPR_FMUL: return (double)(x * y);
    case EXPR_FDIV: return (double)(x / y);
    case EXPR_FREM: return (double)fmodf(x, y);
    default: return (double)sqrtf(x);
    }
}

static double float64(ExprOp op, double x, double y)
{
    switch (op) {
    case EXPR_FADD: return x + y;
    case EXPR_FSUB: return x - y;
    case EXPR_FMUL: return x * y;
    case EXPR_FDIV: return x / y;
    case EXPR_FREM: return fmod(x, y);
    default: return sqrt(x);
    }
}

static double round_to(ExprRound how, double x)
{
    switch (how) {
    case EXPR_ROUND_FLOOR: return floor(x);
    case EXPR_ROUND_CEIL: return ceil(x);
    case EXPR_ROUND_TRUNC: return trunc(x);
    case EXPR_ROUND_EVEN: return nearbyint(x);
    default: return round(x);
    }
}

static double math(ExprMath fn, double x, double y)
{
    switch (fn) {
    case EXPR_MATH_SIN: return sin(x);
    case EXPR_MATH_COS: return cos(x);
    case EXPR_MATH_TAN: return tan(x);
    case EXPR_MATH_ASIN: return asin(x);
    case EXPR_MATH_ACOS: return acos(x);
    case EXPR_MATH_ATAN: return atan(x);
    case EXPR_MATH_SINH: return sinh(x);
    case EXPR_MATH_COSH: return cosh(x);
    case EXPR_MATH_TANH: return tanh(x);
    case EXPR_MATH_EXP: return exp(x);
    case EXPR_MATH_EXP2: return exp2(x);
    case EXPR_MATH_LOG: return log(x);
    case EXPR_MATH_LOG2: return log2(x);
    case EXPR_MATH_LOG10: return log10(x);
    case EXPR_MATH_CBRT: return cbrt(x);
    case EXPR_MATH_POW: return pow(x, y);
    case EXPR_MATH_ATAN2: return atan2(x, y);
    case EXPR_MATH_HYPOT: return hypot(x, y);
    default: return 0;
    }
}

/* Out of range is undefined in C; this is what x86-64 code gives. */
static ExprValue float_to_int(double x, unsigned w, bool is_signed)
{
    double least = is_signed ? -ldexp(1, (int)w - 1) : 0;
    double beyond = ldexp(1, is_signed ? (int)w - 1 : (int)w);
    double t = trunc(x);
    if (t >= least && t < beyond)
        return is_signed ? (ExprValue)(ExprSigned)t : (ExprValue)t;
    if (!is_signed && w <= 32 && t > -0x1p63 && t < 0x1p63)
        return (ExprValue)(int64_t)t;
    return is_signed || w > 32 ? (ExprValue)1 << (w - 1) : 0;
}

static ExprValue int_to_float(ExprValue v, unsigned from, unsigned w, bool is_signed)
{
    ExprSigned s = expr_signed(v, from);
    if (w == 32)
        return from_float(is_signed ? (float)s : (float)v);
    return expr_from_double(is_signed ? (double)s : (double)v, w);
}

static ExprValue apply_float(const ExprNode *n, unsigned wa, ExprValue a, ExprValue b)
{
    double x = expr_to_double(a, wa), y = expr_to_double(b, wa);
    switch ((ExprOp)n->op) {
    case EXPR_FOEQ: return x == y;
    case EXPR_FOLT: return x < y;
    case EXPR_FOLE: return x <= y;
    case EXPR_FUNO: return isnan(x) || isnan(y);
    case EXPR_FROUND: return expr_from_double(round_to((ExprRound)n->k, x), n->width);
    case EXPR_FTOF: return expr_from_double(x, n->width);
    case EXPR_FTOU:
    case EXPR_FTOS: return float_to_int(x, n->width, n->op == EXPR_FTOS);
    case EXPR_FMATH: return expr_from_double(math((ExprMath)n->k, x, y), n->width);
    default: break;
    }
    if (wa == 32)
        return from_float((float)float32((ExprOp)n->op, to_float(a), to_float(b)));
    return expr_from_double(float64((ExprOp)n->op, x, y), 64);
}

ExprValue expr_apply(const ExprNode *n, unsigned wa, unsigned wb, ExprValue a, ExprValue b,
                     ExprValue c)
{
    ExprValue v;
    switch ((ExprOp)n->op) {
    case EXPR_NOT: v = ~a; break;
    case EXPR_NEG: v = -a; break;
    case EXPR_ZEXT: v = a; break;
    case EXPR_SEXT: v = (ExprValue)expr_signed(a, wa); break;
    case EXPR_EXTRACT: v = a >> n->k; break;
    case EXPR_ADD: v = a + b; break;
    case EXPR_SUB: v = a - b; break;
    case EXPR_MUL: v = a * b; break;
    case EXPR_UDIV:
    case EXPR_SDIV:
    case EXPR_UREM:
    case EXPR_SREM: v = divide((ExprOp)n->op, wa, a, b); break;
    case EXPR_SHL:
    case EXPR_LSHR:
    case EXPR_ASHR: v = shift((ExprOp)n->op, wa, a, b); break;
    case EXPR_AND: v = a & b; break;
    case EXPR_OR: v = a | b; break;
    case EXPR_XOR: v = a ^ b; break;
    case EXPR_CONCAT:
        v = a << wb | b;              /* wb < 128: a has a bit at least */
        break;
    case EXPR_EQ: v = a == b; break;
    case EXPR_ULT: v = a < b; break;
    case EXPR_ULE: v = a <= b; break;
    case EXPR_SLT: v = expr_signed(a, wa) < expr_signed(b, wa); break;
    case EXPR_SLE: v = expr_signed(a, wa) <= expr_signed(b, wa); break;
    case EXPR_ITE: v = a ? b : c; break;
    case EXPR_UTOF:
    case EXPR_STOF: v = int_to_float(a, wa, n->width, n->op == EXPR_STOF); break;
    default:
        assert(n->op >= EXPR_FADD && n->op < EXPR_NOPS);
        v = apply_float(n, wa, a, b);
        break;
    }
    return v & expr_mask(n->width);
}
