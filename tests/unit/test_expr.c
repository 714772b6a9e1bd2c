#include "base/rng.h"
#include "solve/expr.h"
#include "solve/smt.h"
#include "solve/tape.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef ExprValue V;

/* ---- a reference: every operation once more, bit by bit where that is
 * another way than the one the code under test takes */

static V ones(unsigned w)
{
    V v = 0;
    for (unsigned i = 0; i < w; i++)
        v |= (V)1 << i;
    return v;
}

static bool bit(V v, unsigned i) { return v >> i & 1; }

static V negate(V a, unsigned w) { return (~a + 1) & ones(w); }

static V ref_add(V a, V b, unsigned w)
{
    V r = 0;
    bool carry = false;
    for (unsigned i = 0; i < w; i++) {
        r |= (V)(bit(a, i) ^ bit(b, i) ^ carry) << i;
        carry = (bit(a, i) + bit(b, i) + carry) > 1;
    }
    return r;
}

static V ref_mul(V a, V b, unsigned w)
{
    V r = 0;
    for (unsigned i = 0; i < w; i++)
        if (bit(b, i))
            r = ref_add(r, a << i & ones(w), w);
    return r;
}

static bool ref_ult(V a, V b, unsigned w)
{
    for (unsigned i = w; i-- > 0;)
        if (bit(a, i) != bit(b, i))
            return bit(b, i);
    return false;
}

static void ref_divide(V a, V b, unsigned w, V *quotient, V *rest)
{
    V q = 0, r = 0;
    if (!b) {
        *quotient = ones(w);
        *rest = a;
        return;
    }
    for (unsigned i = w; i-- > 0;) {
        bool out = bit(r, w - 1);
        r = (r << 1 & ones(w)) | bit(a, i);
        if (out || !ref_ult(r, b, w)) {
            r = ref_add(r, negate(b, w), w);
            q |= (V)1 << i;
        }
    }
    *quotient = q;
    *rest = r;
}

static V ref_signed_divide(V a, V b, unsigned w, bool rest)
{
    bool na = bit(a, w - 1), nb = bit(b, w - 1);
    V q, r;
    ref_divide(na ? negate(a, w) : a, nb ? negate(b, w) : b, w, &q, &r);
    if (rest)
        return na ? negate(r, w) : r;
    return na != nb ? negate(q, w) : q;
}

static bool ref_slt(V a, V b, unsigned w)
{
    V flip = (V)1 << (w - 1);
    return ref_ult(a ^ flip, b ^ flip, w);
}

static V ref_shift(ExprOp op, V a, V b, unsigned w)
{
    V r = 0;
    for (unsigned i = 0; i < w; i++) {
        bool v = op == EXPR_SHL    ? b <= i && bit(a, i - (unsigned)b)
                 : b < w - i       ? bit(a, i + (unsigned)b)
                 : op == EXPR_ASHR ? bit(a, w - 1)
                                   : 0;
        r |= (V)v << i;
    }
    return r;
}

static unsigned ref_ones(V a, unsigned w)
{
    unsigned n = 0;
    for (unsigned i = 0; i < w; i++)
        n += bit(a, i);
    return n;
}

/* Does the exact result leave what w bits hold? In 256 bits by halves it would
 * be long; so through division and signs. */
static bool ref_mul_overflows(V a, V b, unsigned w, bool sign)
{
    if (!a || !b)
        return false;
    if (!sign) {
        V q, r;
        ref_divide(ones(w), b, w, &q, &r);
        return ref_ult(q, a, w);
    }
    bool minus = bit(a, w - 1) != bit(b, w - 1);
    V x = bit(a, w - 1) ? negate(a, w) : a, y = bit(b, w - 1) ? negate(b, w) : b;
    V most = minus ? (V)1 << (w - 1) : ((V)1 << (w - 1)) - 1, q, r;
    ref_divide(most, y, w, &q, &r);
    return ref_ult(q, x, w);
}

static V ref_binary(ExprOp op, V a, V b, unsigned w)
{
    V q, r, sum = ref_add(a, b, w), diff = ref_add(a, negate(b, w), w);
    bool sa = bit(a, w - 1), sb = bit(b, w - 1);
    V top = (V)1 << (w - 1);
    switch (op) {
    case EXPR_ADD: return sum;
    case EXPR_SUB: return diff;
    case EXPR_MUL: return ref_mul(a, b, w);
    case EXPR_UDIV: ref_divide(a, b, w, &q, &r); return q;
    case EXPR_UREM: ref_divide(a, b, w, &q, &r); return r;
    case EXPR_SDIV: return ref_signed_divide(a, b, w, false);
    case EXPR_SREM: return ref_signed_divide(a, b, w, true);
    case EXPR_SHL:
    case EXPR_LSHR:
    case EXPR_ASHR: return ref_shift(op, a, b, w);
    case EXPR_AND: return a & b;
    case EXPR_OR: return a | b;
    case EXPR_XOR: return a ^ b;
    case EXPR_EQ: return a == b;
    case EXPR_NE: return a != b;
    case EXPR_ULT: return ref_ult(a, b, w);
    case EXPR_ULE: return !ref_ult(b, a, w);
    case EXPR_UGT: return ref_ult(b, a, w);
    case EXPR_UGE: return !ref_ult(a, b, w);
    case EXPR_SLT: return ref_slt(a, b, w);
    case EXPR_SLE: return !ref_slt(b, a, w);
    case EXPR_SGT: return ref_slt(b, a, w);
    case EXPR_SGE: return !ref_slt(a, b, w);
    case EXPR_UMIN: return ref_ult(a, b, w) ? a : b;
    case EXPR_UMAX: return ref_ult(a, b, w) ? b : a;
    case EXPR_SMIN: return ref_slt(a, b, w) ? a : b;
    case EXPR_SMAX: return ref_slt(a, b, w) ? b : a;
    case EXPR_UADD_OVERFLOWS: return ref_ult(sum, a, w);
    case EXPR_USUB_OVERFLOWS: return ref_ult(a, b, w);
    case EXPR_SADD_OVERFLOWS: return sa == sb && bit(sum, w - 1) != sa;
    case EXPR_SSUB_OVERFLOWS: return sa != sb && bit(diff, w - 1) != sa;
    case EXPR_UMUL_OVERFLOWS: return ref_mul_overflows(a, b, w, false);
    case EXPR_SMUL_OVERFLOWS: return ref_mul_overflows(a, b, w, true);
    case EXPR_UADD_SAT: return ref_ult(sum, a, w) ? ones(w) : sum;
    case EXPR_USUB_SAT: return ref_ult(a, b, w) ? 0 : diff;
    case EXPR_SADD_SAT: return sa == sb && bit(sum, w - 1) != sa ? (sa ? top : top - 1) : sum;
    case EXPR_SSUB_SAT: return sa != sb && bit(diff, w - 1) != sa ? (sa ? top : top - 1) : diff;
    default: fail(); return 0;
    }
}

static V ref_unary(ExprOp op, V a, unsigned w)
{
    V r = 0;
    unsigned n = 0;
    switch (op) {
    case EXPR_NOT: return ~a & ones(w);
    case EXPR_NEG: return negate(a, w);
    case EXPR_ABS: return bit(a, w - 1) ? negate(a, w) : a;
    case EXPR_BSWAP:
        for (unsigned i = 0; i < w; i++)
            r |= (V)bit(a, i) << (w - 8 - i / 8 * 8 + i % 8);
        return r;
    case EXPR_BITREVERSE:
        for (unsigned i = 0; i < w; i++)
            r |= (V)bit(a, i) << (w - 1 - i);
        return r;
    case EXPR_CTPOP: return ref_ones(a, w) & ones(w);
    case EXPR_CTLZ:
        while (n < w && !bit(a, w - 1 - n))
            n++;
        return n & ones(w);
    case EXPR_CTTZ:
        while (n < w && !bit(a, n))
            n++;
        return n & ones(w);
    default: fail(); return 0;
    }
}

/* ---- random graphs, with their values under some assignments */

enum { NBYTES = 6, ASSIGNMENTS = 6, POPULATION = 64 };

typedef struct Random {
    Exprs *p;
    Rng rng;
    uint8_t bytes[ASSIGNMENTS][NBYTES];
    struct {
        Expr e;
        V v[ASSIGNMENTS];
    } all[POPULATION];
    unsigned n;
} Random;

static const unsigned widths[] = { 1, 7, 8, 8, 16, 24, 32, 32, 33, 64, 100, 128 };

static V random_value(Rng *r, unsigned w)
{
    static const uint64_t nice[] = { 0,          1,          2,      3,        7,     8,
                                     10,         0x7f,       0x80,   0xff,     0x100, 0xffff,
                                     0x7fffffff, 0x80000000, 0xff00, 0xff0000, 0x5f };
    V v = rng_below(r, 3) ? nice[rng_below(r, sizeof nice / sizeof *nice)]
                          : (V)rng_next(r) << 64 | rng_next(r);
    if (rng_below(r, 4) == 0)
        v = ~v;
    return v & ones(w);
}

static void add(Random *x, Expr e, const V *v)
{
    assert_true(e);
    unsigned i = x->n < POPULATION ? x->n++ : (unsigned)rng_below(&x->rng, POPULATION);
    x->all[i].e = e;
    memcpy(x->all[i].v, v, sizeof x->all[i].v);
    for (unsigned k = 0; k < ASSIGNMENTS; k++) {
        V got = expr_eval(x->p, e, x->bytes[k], NBYTES);
        if (got != v[k]) {
            Str s = { 0 };
            expr_dump(x->p, e, &s);
            printf("%s\n", str_c(&s));
            str_release(&s);
        }
        assert_true(got == v[k]);
    }
}

/* One of a width, made from another one if there is none. */
static unsigned pick(Random *x, unsigned w)
{
    for (unsigned tries = 0; tries < 40; tries++) {
        unsigned i = (unsigned)rng_below(&x->rng, x->n);
        if (expr_width(x->p, x->all[i].e) == w)
            return i;
    }
    unsigned i = (unsigned)rng_below(&x->rng, x->n);
    V v[ASSIGNMENTS];
    Expr e = x->all[i].e;
    unsigned from = expr_width(x->p, e);
    bool sign = rng_below(&x->rng, 2);
    for (unsigned k = 0; k < ASSIGNMENTS; k++) {
        v[k] = x->all[i].v[k];
        if (w > from && sign && bit(v[k], from - 1))
            v[k] |= ones(w) & ~ones(from);
        v[k] &= ones(w);
    }
    e = w < from ? expr_trunc(x->p, e, w) : sign ? expr_sext(x->p, e, w) : expr_zext(x->p, e, w);
    add(x, e, v);
    for (i = 0; x->all[i].e != e; i++)
        ;
    return i;
}

static void grow_constant(Random *x)
{
    unsigned w = widths[rng_below(&x->rng, sizeof widths / sizeof *widths)];
    V c = random_value(&x->rng, w), v[ASSIGNMENTS];
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = c;
    add(x, expr_const(x->p, w, c), v);
}

static void grow_binary(Random *x)
{
    static const ExprOp ops[] = {
        EXPR_ADD,
        EXPR_SUB,
        EXPR_MUL,
        EXPR_UDIV,
        EXPR_SDIV,
        EXPR_UREM,
        EXPR_SREM,
        EXPR_SHL,
        EXPR_LSHR,
        EXPR_ASHR,
        EXPR_AND,
        EXPR_OR,
        EXPR_XOR,
        EXPR_EQ,
        EXPR_ULT,
        EXPR_ULE,
        EXPR_SLT,
        EXPR_SLE,
        EXPR_NE,
        EXPR_UGT,
        EXPR_UGE,
        EXPR_SGT,
        EXPR_SGE,
        EXPR_UMIN,
        EXPR_UMAX,
        EXPR_SMIN,
        EXPR_SMAX,
        EXPR_UADD_SAT,
        EXPR_USUB_SAT,
        EXPR_SADD_SAT,
        EXPR_SSUB_SAT,
        EXPR_UADD_OVERFLOWS,
        EXPR_SADD_OVERFLOWS,
        EXPR_USUB_OVERFLOWS,
        EXPR_SSUB_OVERFLOWS,
        EXPR_UMUL_OVERFLOWS,
        EXPR_SMUL_OVERFLOWS,
        EXPR_SHL,
        EXPR_LSHR,
        EXPR_AND,
        EXPR_OR,
        EXPR_ADD,
        EXPR_EQ,
        EXPR_EQ,
    };
    ExprOp op = ops[rng_below(&x->rng, sizeof ops / sizeof *ops)];
    unsigned w = widths[rng_below(&x->rng, sizeof widths / sizeof *widths)];
    unsigned i = pick(x, w), j = pick(x, w);
    V va[ASSIGNMENTS], vb[ASSIGNMENTS], v[ASSIGNMENTS];
    Expr a = x->all[i].e, b = x->all[j].e;
    memcpy(va, x->all[i].v, sizeof va);
    memcpy(vb, x->all[j].v, sizeof vb);
    if (rng_below(&x->rng, 3) == 0) {        /* a constant operand */
        V c = op == EXPR_SHL || op == EXPR_LSHR || op == EXPR_ASHR
                  ? rng_below(&x->rng, w + 2) & (uint64_t)ones(w)
                  : random_value(&x->rng, w);
        if (op >= EXPR_EQ && op <= EXPR_SLE && rng_below(&x->rng, 2))
            c = va[rng_below(&x->rng, ASSIGNMENTS)];     /* holds for some */
        b = expr_const(x->p, w, c);
        for (unsigned k = 0; k < ASSIGNMENTS; k++)
            vb[k] = c;
    }
    bool swap = rng_below(&x->rng, 4) == 0;
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = swap ? ref_binary(op, vb[k], va[k], w) : ref_binary(op, va[k], vb[k], w);
    add(x, expr_binary(x->p, op, swap ? b : a, swap ? a : b), v);
}

static void grow_unary(Random *x)
{
    static const ExprOp ops[] = { EXPR_NOT,        EXPR_NEG,   EXPR_ABS,  EXPR_BSWAP,
                                  EXPR_BITREVERSE, EXPR_CTPOP, EXPR_CTLZ, EXPR_CTTZ };
    ExprOp op = ops[rng_below(&x->rng, sizeof ops / sizeof *ops)];
    unsigned w = widths[rng_below(&x->rng, sizeof widths / sizeof *widths)];
    if (op == EXPR_BSWAP && w % 8)
        w = 32;
    unsigned i = pick(x, w);
    V v[ASSIGNMENTS];
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = ref_unary(op, x->all[i].v[k], w);
    add(x, expr_unary(x->p, op, x->all[i].e), v);
}

static void grow_concat(Random *x)
{
    unsigned i = (unsigned)rng_below(&x->rng, x->n), j = (unsigned)rng_below(&x->rng, x->n);
    unsigned wa = expr_width(x->p, x->all[i].e), wb = expr_width(x->p, x->all[j].e);
    V v[ASSIGNMENTS];
    if (wa + wb > 128) {
        assert_int_equal(expr_binary(x->p, EXPR_CONCAT, x->all[i].e, x->all[j].e), 0);
        return;
    }
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = x->all[i].v[k] << wb | x->all[j].v[k];
    add(x, expr_binary(x->p, EXPR_CONCAT, x->all[i].e, x->all[j].e), v);
}

static void grow_extract(Random *x)
{
    unsigned i = (unsigned)rng_below(&x->rng, x->n);
    unsigned w = expr_width(x->p, x->all[i].e);
    unsigned low = (unsigned)rng_below(&x->rng, w);
    if (rng_below(&x->rng, 2))
        low = low / 8 * 8;
    unsigned n = 1 + (unsigned)rng_below(&x->rng, w - low);
    V v[ASSIGNMENTS];
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = x->all[i].v[k] >> low & ones(n);
    add(x, expr_extract(x->p, x->all[i].e, low, n), v);
}

static void grow_ite(Random *x)
{
    unsigned w = widths[rng_below(&x->rng, sizeof widths / sizeof *widths)];
    unsigned c = pick(x, 1);
    Expr ce = x->all[c].e;
    V cv[ASSIGNMENTS], v[ASSIGNMENTS];
    memcpy(cv, x->all[c].v, sizeof cv);
    unsigned i = pick(x, w), j = pick(x, w);
    if (expr_width(x->p, x->all[i].e) != w)    /* replaced meanwhile */
        return;
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = cv[k] ? x->all[i].v[k] : x->all[j].v[k];
    add(x, expr_ite(x->p, ce, x->all[i].e, x->all[j].e), v);
}

static void grow_table(Random *x)
{
    uint32_t data[40];
    unsigned n = 1 + (unsigned)rng_below(&x->rng, 40), i = pick(x, 8);
    V v[ASSIGNMENTS];
    for (unsigned k = 0; k < n; k++)
        data[k] = (uint32_t)rng_below(&x->rng, 5) * 0x01010101;
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = x->all[i].v[k] < n ? data[x->all[i].v[k]] : 0;
    add(x, expr_table(x->p, data, n, 4, x->all[i].e), v);
}

static void grow_choice(Random *x)
{
    Expr items[9];
    V values[9][ASSIGNMENTS], v[ASSIGNMENTS];
    unsigned n = 1 + (unsigned)rng_below(&x->rng, 9);
    for (unsigned k = 0; k < n; k++) {
        unsigned i = pick(x, 16);
        items[k] = x->all[i].e;
        memcpy(values[k], x->all[i].v, sizeof values[k]);
    }
    unsigned i = pick(x, rng_below(&x->rng, 2) ? 8 : 1);
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        v[k] = x->all[i].v[k] < n ? values[x->all[i].v[k]][k] : 0;
    add(x, expr_choose(x->p, items, n, x->all[i].e), v);
}

static void grow_funnel(Random *x)
{
    unsigned w = rng_below(&x->rng, 2) ? 32 : 8;
    unsigned i = pick(x, w);
    Expr high = x->all[i].e;
    V vh[ASSIGNMENTS], vl[ASSIGNMENTS], v[ASSIGNMENTS];
    memcpy(vh, x->all[i].v, sizeof vh);
    i = pick(x, w);
    Expr low = x->all[i].e;
    memcpy(vl, x->all[i].v, sizeof vl);
    i = pick(x, w);
    bool left = rng_below(&x->rng, 2);
    for (unsigned k = 0; k < ASSIGNMENTS; k++) {
        unsigned by = (unsigned)(x->all[i].v[k] % w);
        V both = vh[k] << w | vl[k];
        v[k] = (left ? both << by >> w : both >> by) & ones(w);
    }
    add(x, expr_funnel(x->p, left, high, low, x->all[i].e), v);
}

static void grow(Random *x)
{
    switch (rng_below(&x->rng, 14)) {
    case 0: grow_constant(x); break;
    case 1: grow_unary(x); break;
    case 2:
    case 3: grow_concat(x); break;
    case 4:
    case 5: grow_extract(x); break;
    case 6: grow_ite(x); break;
    case 7: grow_table(x); break;
    case 8: grow_choice(x); break;
    case 9: grow_funnel(x); break;
    default: grow_binary(x); break;
    }
}

static void start_random(Random *x, uint64_t seed)
{
    *x = (Random){ .p = exprs_new(NULL), .rng = rng_seeded(seed) };
    exprs_source(x->p, "input", NBYTES);
    for (unsigned k = 0; k < ASSIGNMENTS; k++)
        for (unsigned i = 0; i < NBYTES; i++)
            x->bytes[k][i] = rng_below(&x->rng, 2) ? (uint8_t)rng_next(&x->rng)
                                                   : (uint8_t)(rng_below(&x->rng, 3) - 1);
    for (unsigned i = 0; i < NBYTES; i++) {
        V v[ASSIGNMENTS];
        for (unsigned k = 0; k < ASSIGNMENTS; k++)
            v[k] = x->bytes[k][i];
        add(x, expr_byte(x->p, i), v);
    }
}

static void random_expressions_keep_their_values(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        Random x;
        start_random(&x, seed);
        for (unsigned i = 0; i < 250; i++)
            grow(&x);
        exprs_check(x.p);
        exprs_free(x.p);
    }
}

static void z3_agrees_on_every_value(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1030; seed++) {
        Random x;
        start_random(&x, seed);
        for (unsigned i = 0; i < 120; i++)
            grow(&x);
        for (unsigned i = 0; i < x.n; i += 3) {
            Tape *t = tape_new(x.p, &x.all[i].e, 1);
            uint8_t v[NBYTES];
            for (size_t k = 0; k < tape_nbytes(t); k++)
                v[k] = x.bytes[0][tape_bytes(t)[k]];
            ExprValue got;
            if (tape_size(t) < 2000) {
                assert_true(smt_evaluate(x.p, t, v, &got));
                assert_true(got == x.all[i].v[0]);
            }
            tape_free(t);
        }
        exprs_check(x.p);
        exprs_free(x.p);
    }
}

static void dependencies_are_never_left_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Random x;
        start_random(&x, seed);
        for (unsigned i = 0; i < 200; i++)
            grow(&x);
        for (unsigned i = 0; i < x.n; i++) {
            Tape *t = tape_new(x.p, &x.all[i].e, 1);
            size_t n, count = 0;
            const ByteRange *r = expr_bytes(x.p, x.all[i].e, &n);
            for (size_t k = 0; k < n; k++)
                count += r[k].to - r[k].from;
            assert_int_equal(count, tape_nbytes(t));
            assert_int_equal(count, expr_bytes_count(x.p, x.all[i].e));
            tape_free(t);
        }
        exprs_check(x.p);
        exprs_free(x.p);
    }
}

static bool plain_compare(ExprOp cmp, V a, V b, unsigned w)
{
    int64_t x = w == 8 ? (int8_t)a : (int32_t)a, y = w == 8 ? (int8_t)b : (int32_t)b;
    return cmp == EXPR_EQ    ? a == b
           : cmp == EXPR_ULT ? a < b
           : cmp == EXPR_UGT ? a > b
           : cmp == EXPR_SLT ? x < y
                             : x >= y;
}

/* (x op k) cmp v for every x: rules that need a lucky constant. */
static void conditions_on_one_byte_hold_for_the_same_values(void **state)
{
    (void)state;
    static const ExprOp ops[] = { EXPR_ADD,  EXPR_SUB,  EXPR_MUL,  EXPR_AND,  EXPR_OR,  EXPR_XOR,
                                  EXPR_UDIV, EXPR_UREM, EXPR_SDIV, EXPR_SREM, EXPR_SHL, EXPR_ASHR };
    static const ExprOp cmps[] = { EXPR_EQ, EXPR_ULT, EXPR_UGT, EXPR_SLT, EXPR_SGE };
    static const uint8_t ks[] = { 0, 1, 2, 3, 5, 6, 8, 10, 0x24, 0x5f, 0x80, 0xdf, 0xff };
    enum { NK = sizeof ks };
    for (unsigned o = 0; o < 12; o++)
        for (unsigned form = 0; form < 3; form++) {
            Exprs *p = exprs_new(NULL);
            unsigned w = form ? 32 : 8;
            V r[256];
            Expr x = expr_byte(p, 0);
            x = form == 1 ? expr_zext(p, x, 32) : form == 2 ? expr_sext(p, x, 32) : x;
            for (unsigned i = 0; i < NK * NK * 5; i++) {
                V k = ks[i / NK / 5], v = ks[i % NK];
                ExprOp cmp = cmps[i / NK % 5];
                if (i % (NK * 5) == 0)
                    for (unsigned b = 0; b < 256; b++)
                        r[b] = ref_binary(ops[o], form == 2 && b > 127 ? b | 0xffffff00u : b, k, w);
                Expr e = expr_binary(p, cmp, expr_binary(p, ops[o], x, expr_const(p, w, k)),
                                     expr_const(p, w, v));
                Tape *t = tape_new(p, &e, 1);
                for (unsigned b = 0; b < 256; b++) {
                    uint8_t in = (uint8_t)b;
                    tape_run(t, &in);
                    assert_true(tape_value(t, 0) == plain_compare(cmp, r[b], v, w));
                }
                tape_free(t);
            }
            exprs_check(p);
            exprs_free(p);
        }
}

/* ---- floats */

static V bits_of(double d, unsigned w)
{
    if (w == 32) {
        float f = (float)d;
        uint32_t u;
        memcpy(&u, &f, 4);
        return u;
    }
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

static Expr le_bytes(Exprs *p, uint32_t from, unsigned n)
{
    Expr b[16];
    for (unsigned i = 0; i < n; i++)
        b[i] = expr_byte(p, from + i);
    return expr_le(p, b, n);
}

static void z3_agrees_on_floats(void **state)
{
    (void)state;
    static const double numbers[] = { 0.0,  -0.0, 1,      -1,    0.1,    3.5,
                                      -2.5, 1e10, -1e-10, 1e300, 255.99, 0x1p-140 };
    static const ExprOp ops[] = { EXPR_FADD, EXPR_FSUB, EXPR_FMUL, EXPR_FDIV, EXPR_FOEQ, EXPR_FOLT,
                                  EXPR_FOLE, EXPR_FUNO, EXPR_FONE, EXPR_FUGE, EXPR_FULT };
    enum { N = sizeof numbers / sizeof *numbers };
    Exprs *p = exprs_new(NULL);
    Rng rng = rng_seeded(5);
    for (unsigned i = 0; i < 150; i++) {
        unsigned w = rng_below(&rng, 2) ? 32 : 64, n = w / 8;
        Expr a = le_bytes(p, 0, n), b = le_bytes(p, 8, n), e;
        switch (rng_below(&rng, 5)) {
        case 0: e = expr_unary(p, EXPR_FSQRT, expr_unary(p, EXPR_FABS, a)); break;
        case 1: e = expr_fround(p, (ExprRound)rng_below(&rng, 5), a); break;
        case 2: e = expr_fconvert(p, EXPR_FTOF, a, 96 - w); break;
        case 3: e = expr_fconvert(p, rng_below(&rng, 2) ? EXPR_STOF : EXPR_UTOF, a, 96 - w); break;
        default: e = expr_binary(p, ops[rng_below(&rng, 11)], a, b); break;
        }
        uint8_t in[16] = { 0 };
        V va = bits_of(numbers[rng_below(&rng, N)], w);
        V vb = bits_of(numbers[rng_below(&rng, N)], w);
        memcpy(in, &va, n);
        memcpy(in + 8, &vb, n);
        Tape *t = tape_new(p, &e, 1);
        uint8_t v[16];
        for (size_t k = 0; k < tape_nbytes(t); k++)
            v[k] = in[tape_bytes(t)[k]];
        ExprValue got, want = expr_eval(p, e, in, sizeof in);
        bool nan =
            expr_width(p, e) == w && (w == 32 ? want == 0x7fc00000 : want == (V)0x7ff8 << 48);
        if (!nan) {
            assert_true(smt_evaluate(p, t, v, &got));
            assert_true(got == want);
        }
        tape_free(t);
    }
    exprs_check(p);
    exprs_free(p);
}

/* (double)x / d + s compared with c: no float is left, and the answer is that of C. */
static void comparisons_of_scaled_integers_are_of_integers(void **state)
{
    (void)state;
    static const double by[] = { 1000, -7, 0.1, 3, 1e300, 22 }, more[] = { 0, -12.5, 1e9 },
                        with[] = { 27.126, 0, -300.25, 1e9, INFINITY, -1e-300, 65535 / 3.0 };
    static const ExprOp ops[] = { EXPR_FOLT, EXPR_FOLE, EXPR_FOEQ };
    Exprs *p = exprs_new(NULL);
    Expr x = le_bytes(p, 0, 2);
    for (unsigned i = 0; i < 6 * 3 * 7 * 3 * 2; i++) {
        double d = by[i % 6], s = more[i / 6 % 3], c = with[i / 18 % 7];
        ExprOp op = ops[i / 126 % 3];
        bool sign = i / 378 % 2;
        Expr e = expr_fconvert(p, sign ? EXPR_STOF : EXPR_UTOF, x, 64);
        e = expr_binary(p, EXPR_FDIV, e, expr_const(p, 64, bits_of(d, 64)));
        e = expr_binary(p, EXPR_FADD, e, expr_const(p, 64, bits_of(s, 64)));
        Expr k = expr_const(p, 64, bits_of(c, 64));
        Expr right = expr_binary(p, op, k, e);
        e = expr_binary(p, op, e, k);
        assert_int_equal(expr_node(p, e).flags & EXPR_HAS_FLOAT, 0);
        assert_int_equal(expr_node(p, right).flags & EXPR_HAS_FLOAT, 0);
        for (unsigned v = 0; v < 65536; v += 1 + v % 97) {
            uint8_t in[2] = { (uint8_t)v, (uint8_t)(v >> 8) };
            double f = (sign ? (double)(int16_t)v : (double)v) / d + s;
            bool is = op == EXPR_FOLT ? f < c : op == EXPR_FOLE ? f <= c : f == c;
            bool other = op == EXPR_FOLT ? c < f : op == EXPR_FOLE ? c <= f : f == c;
            assert_int_equal(expr_eval(p, e, in, 2), is);
            assert_int_equal(expr_eval(p, right, in, 2), other);
        }
    }
    /* not what may be NaN, or is no constant */
    Expr y = le_bytes(p, 0, 8);
    Expr e = expr_binary(p, EXPR_FOLT, y, expr_const(p, 64, bits_of(3, 64)));
    assert_int_not_equal(expr_node(p, e).flags & EXPR_HAS_FLOAT, 0);
    e = expr_binary(p, EXPR_FMUL, expr_fconvert(p, EXPR_UTOF, x, 64), y);
    e = expr_binary(p, EXPR_FOLT, e, expr_const(p, 64, bits_of(3, 64)));
    assert_int_not_equal(expr_node(p, e).flags & EXPR_HAS_FLOAT, 0);
    exprs_check(p);
    exprs_free(p);
}

static void floats_compute_as_c_does(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    Expr x = le_bytes(p, 0, 8);
    double in = 0.75, out;
    Expr e = expr_fmath(p, EXPR_MATH_SIN, x, 0);
    V v = expr_eval(p, e, (uint8_t *)&in, 8);
    uint64_t u = (uint64_t)v;
    memcpy(&out, &u, 8);
    assert_true(fabs(out - sin(0.75)) < 1e-15);
    e = expr_fmath(p, EXPR_MATH_POW, x, expr_const(p, 64, bits_of(2, 64)));
    u = (uint64_t)expr_eval(p, e, (uint8_t *)&in, 8);
    memcpy(&out, &u, 8);
    assert_true(out == 0.5625);
    e = expr_fconvert(p, EXPR_FTOS, x, 32);
    in = -7.9;
    assert_true(expr_eval(p, e, (uint8_t *)&in, 8) == (uint32_t)-7);
    assert_int_equal(expr_fmath(p, EXPR_MATH_SIN, expr_byte(p, 0), 0), 0);
    assert_int_equal(expr_fmath(p, EXPR_MATH_POW, x, 0), 0);
    exprs_check(p);
    exprs_free(p);
}

/* ---- simplification and printing */

static void prints(Exprs *p, Expr e, const char *text)
{
    Str s = { 0 };
    expr_print(p, e, &s);
    assert_string_equal(str_c(&s), text);
    str_release(&s);
}

static void people_can_read_conditions(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    exprs_source(p, "input", 64);
    uint32_t env = exprs_source(p, "HOME", 8);
    Expr b3 = expr_byte(p, 3), w = le_bytes(p, 4, 4);
    prints(p, expr_binary(p, EXPR_EQ, b3, expr_const(p, 8, 'a')), "input[3] == 'a'");
    prints(p, expr_binary(p, EXPR_UGT, w, expr_const(p, 32, 100)), "le32(input[4..7]) > 100");
    prints(p, expr_binary(p, EXPR_SLT, w, expr_const(p, 32, (V)-5)),
           "(int32)le32(input[4..7]) < -5");
    prints(p, expr_binary(p, EXPR_EQ, w, expr_const(p, 32, 0x46464952)), "input[4..7] == \"RIFF\"");
    prints(p, expr_binary(p, EXPR_NE, w, expr_const(p, 32, 0x46464952)), "input[4..7] != \"RIFF\"");
    prints(p, expr_unary(p, EXPR_BSWAP, w), "be32(input[4..7])");
    prints(p, expr_binary(p, EXPR_NE, expr_byte(p, env + 1), expr_const(p, 8, 0)), "HOME[1] != 0");
    prints(p, expr_binary(p, EXPR_EQ, expr_zext(p, b3, 32), expr_const(p, 32, '\n')),
           "input[3] == 10");
    prints(p,
           expr_binary(p, EXPR_ULT, expr_binary(p, EXPR_ADD, b3, expr_const(p, 8, (V) - '0')),
                       expr_const(p, 8, 10)),
           "(input[3] - 48) < 10");
    prints(p, 0, "(none)");
    exprs_check(p);
    exprs_free(p);
}

/* What compilers make of reading numbers byte by byte. */
static void idioms_become_rows_of_bytes(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    Expr b[4], le = le_bytes(p, 0, 4), ored = 0, added = 0;
    for (unsigned i = 0; i < 4; i++) {
        b[i] =
            expr_binary(p, EXPR_SHL, expr_zext(p, expr_byte(p, i), 32), expr_const(p, 32, 8 * i));
        ored = i ? expr_binary(p, EXPR_OR, ored, b[i]) : b[i];
        added = i ? expr_binary(p, EXPR_ADD, b[i], added) : b[i];
    }
    assert_int_equal(ored, le);
    assert_int_equal(added, le);
    Expr back = expr_trunc(p, expr_binary(p, EXPR_LSHR, le, expr_const(p, 32, 8)), 8);
    assert_int_equal(back, expr_byte(p, 1));
    assert_int_equal(expr_binary(p, EXPR_AND, le, expr_const(p, 32, 0xff)),
                     expr_zext(p, expr_byte(p, 0), 32));
    assert_int_equal(expr_unary(p, EXPR_BSWAP, expr_unary(p, EXPR_BSWAP, le)), le);
    /* (char)(int)c == 'x' with all its extensions */
    Expr c = expr_sext(p, expr_byte(p, 2), 32);
    assert_int_equal(expr_binary(p, EXPR_EQ, c, expr_const(p, 32, 'x')),
                     expr_binary(p, EXPR_EQ, expr_byte(p, 2), expr_const(p, 8, 'x')));
    assert_int_equal(expr_binary(p, EXPR_EQ, c, expr_const(p, 32, 200)), expr_bool(p, false));
    /* !!(x == 3) != 0 */
    Expr is3 = expr_binary(p, EXPR_EQ, le, expr_const(p, 32, 3));
    assert_int_equal(expr_binary(p, EXPR_NE, expr_zext(p, is3, 32), expr_const(p, 32, 0)), is3);
    exprs_check(p);
    exprs_free(p);
}

static void equal_expressions_are_one(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    Expr a = expr_byte(p, 1), b = expr_byte(p, 2);
    assert_int_equal(expr_binary(p, EXPR_ADD, a, b), expr_binary(p, EXPR_ADD, b, a));
    assert_int_not_equal(expr_binary(p, EXPR_SUB, a, b), expr_binary(p, EXPR_SUB, b, a));
    V big = (V)1 << 100 | 5;
    assert_int_equal(expr_const(p, 128, big), expr_const(p, 128, big));
    assert_int_not_equal(expr_const(p, 128, big), expr_const(p, 128, 5));
    assert_int_not_equal(expr_const(p, 64, 5), expr_const(p, 128, 5));
    V v;
    assert_true(expr_is_const(p, expr_const(p, 128, big), &v) && v == big);
    exprs_check(p);
    exprs_free(p);
}

static void nonsense_is_no_expression(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    Expr a = expr_byte(p, 1), w = expr_zext(p, a, 32);
    assert_int_equal(expr_binary(p, EXPR_ADD, a, w), 0);
    assert_int_equal(expr_binary(p, EXPR_ADD, a, 0), 0);
    assert_int_equal(expr_zext(p, w, 8), 0);
    assert_int_equal(expr_zext(p, w, 129), 0);
    assert_int_equal(expr_extract(p, a, 4, 5), 0);
    assert_int_equal(expr_const(p, 0, 1), 0);
    assert_int_equal(expr_const(p, 200, 1), 0);
    assert_int_equal(expr_unary(p, EXPR_BSWAP, expr_extract(p, w, 0, 7)), 0);
    assert_int_equal(expr_ite(p, a, a, a), 0);
    assert_int_equal(expr_binary(p, EXPR_FADD, a, a), 0);
    assert_int_equal(expr_not(p, 0), 0);
    exprs_check(p);
    exprs_free(p);
}

/* ---- size */

static void a_million_deep_is_no_problem(void **state)
{
    (void)state;
    enum { DEEP = 1000000 };
    Exprs *p = exprs_new(NULL);
    Expr e = expr_zext(p, expr_byte(p, 0), 32), k = expr_zext(p, expr_byte(p, 1), 32);
    uint32_t want = 7;
    for (int i = 0; i < DEEP; i++) {
        e = expr_binary(p, EXPR_XOR, expr_binary(p, EXPR_MUL, e, expr_const(p, 32, 0x01000193)), k);
        want = want * 0x01000193 ^ 9;
    }
    uint8_t in[2] = { 7, 9 };
    assert_true(expr_eval(p, e, in, 2) == want);
    /* A truth value of the same depth, its negation, and printing. */
    Expr t = expr_binary(p, EXPR_ULT, expr_byte(p, 0), expr_byte(p, 1));
    for (int i = 0; i < DEEP / 4; i++) {
        Expr x = expr_binary(p, EXPR_ULT, expr_byte(p, (uint32_t)i % 50),
                             expr_const(p, 8, 100 + (unsigned)i % 7));
        t = i % 2 ? expr_binary(p, EXPR_AND, t, x) : expr_ite(p, t, x, expr_not(p, t));
    }
    Str s = { 0 };
    expr_print(p, expr_not(p, t), &s);
    expr_print(p, e, &s);
    assert_true(s.len < 8000);
    str_release(&s);
    assert_true(expr_eval(p, t, in, 2) <= 1);
    exprs_check(p);
    exprs_free(p);
}

static void memory_is_bounded_and_comes_back(void **state)
{
    (void)state;
    Exprs *p = exprs_new(&(ExprsPlan){ .memory = 4 << 20 });
    exprs_source(p, "input", 1000);
    Expr e = expr_zext(p, expr_byte(p, 0), 64);
    for (uint32_t i = 1; i < 2000000 && e; i++) {
        Expr x = expr_zext(p, expr_byte(p, i * 7 % 1000), 64);
        e = expr_binary(p, EXPR_ADD, expr_binary(p, EXPR_MUL, e, expr_const(p, 64, i | 1)), x);
    }
    assert_int_equal(e, 0);
    assert_true(exprs_is_full(p));
    assert_true(exprs_memory(p) <= 4 << 20);
    assert_int_equal(exprs_generation(p), 0);
    exprs_reset(p);
    assert_false(exprs_is_full(p));
    assert_int_equal(exprs_generation(p), 1);
    assert_true(expr_byte(p, 3));
    uint32_t index;
    assert_string_equal(exprs_source_of(p, 3, &index), "input");
    exprs_check(p);
    exprs_free(p);
}

static void sources_are_numbered_through(void **state)
{
    (void)state;
    Exprs *p = exprs_new(NULL);
    uint32_t a = exprs_source(p, "a", 10), b = exprs_source(p, "b", 5), index;
    assert_int_equal(a, 0);
    assert_int_equal(b, 10);
    assert_int_equal(exprs_source(p, "a", 10), 0);
    assert_int_equal(exprs_source(p, "a", 11), UINT32_MAX);
    assert_string_equal(exprs_source_of(p, 12, &index), "b");
    assert_int_equal(index, 2);
    assert_null(exprs_source_of(p, 15, &index));
    exprs_check(p);
    exprs_free(p);
}

/* A checksum over n bytes has n growing sets; they must not cost n². */
static void growing_sets_stay_small(void **state)
{
    (void)state;
    enum { N = 100000 };
    Exprs *p = exprs_new(NULL);
    Expr e = expr_zext(p, expr_byte(p, 0), 32);
    for (uint32_t i = 1; i < N; i++)
        e = expr_binary(p, EXPR_ADD, expr_binary(p, EXPR_MUL, e, expr_const(p, 32, 33)),
                        expr_zext(p, expr_byte(p, i), 32));
    assert_int_equal(expr_bytes_count(p, e), N);
    assert_true(exprs_memory(p) < 64 << 20);
    /* Scattered bytes: joined beyond 32 ranges, none lost. */
    Expr s = expr_byte(p, 0);
    for (uint32_t i = 1; i < 100; i++)
        s = expr_binary(p, EXPR_XOR, s,
                        expr_binary(p, EXPR_MUL, expr_byte(p, i * i), expr_const(p, 8, 3)));
    size_t n;
    const ByteRange *r = expr_bytes(p, s, &n);
    assert_true(n <= 32);
    for (uint32_t i = 0; i < 100; i++) {
        bool in = false;
        for (size_t k = 0; k < n; k++)
            in |= r[k].from <= i * i && i * i < r[k].to;
        assert_true(in);
    }
    exprs_check(p);
    exprs_free(p);
}

static void tapes_recompute_only_what_changed(void **state)
{
    (void)state;
    Random x;
    start_random(&x, 77);
    for (unsigned i = 0; i < 200; i++)
        grow(&x);
    for (unsigned i = 0; i < x.n; i++) {
        Expr e = x.all[i].e;
        Tape *t = tape_new(x.p, &e, 1);
        uint8_t v[NBYTES];
        for (size_t k = 0; k < tape_nbytes(t); k++)
            v[k] = x.bytes[0][tape_bytes(t)[k]];
        tape_run(t, v);
        for (size_t k = 0; k < tape_nbytes(t); k++) {
            v[k] = x.bytes[1][tape_bytes(t)[k]];
            tape_rerun(t, v, tape_bit(k));
        }
        assert_true(tape_value(t, 0) == x.all[i].v[1]);
        tape_free(t);
    }
    exprs_check(x.p);
    exprs_free(x.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_expressions_keep_their_values),
        cmocka_unit_test(z3_agrees_on_every_value),
        cmocka_unit_test(dependencies_are_never_left_out),
        cmocka_unit_test(conditions_on_one_byte_hold_for_the_same_values),
        cmocka_unit_test(z3_agrees_on_floats),
        cmocka_unit_test(floats_compute_as_c_does),
        cmocka_unit_test(comparisons_of_scaled_integers_are_of_integers),
        cmocka_unit_test(people_can_read_conditions),
        cmocka_unit_test(idioms_become_rows_of_bytes),
        cmocka_unit_test(equal_expressions_are_one),
        cmocka_unit_test(nonsense_is_no_expression),
        cmocka_unit_test(a_million_deep_is_no_problem),
        cmocka_unit_test(memory_is_bounded_and_comes_back),
        cmocka_unit_test(sources_are_numbered_through),
        cmocka_unit_test(growing_sets_stay_small),
        cmocka_unit_test(tapes_recompute_only_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
