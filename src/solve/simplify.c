/*
 * Constructors that simplify.
 *
 * Each looks at its operands, one or two levels deep, and either gives a
 * smaller expression or adds the node. Three normal forms carry most of it:
 *
 *   pieces       A value read from memory is a row of pieces, high first:
 *                bytes, parts of expressions, constants. ZEXT and CONCAT are
 *                such rows; shifts by constants and masks make them, OR, XOR
 *                and ADD of pieces that don't overlap join them. So
 *                b0 | b1 << 8 becomes the concatenation b1:b0, and taking its
 *                low byte gives back b0.
 *   comparisons  are EQ, ULT, ULE, SLT, SLE, a constant on the right of EQ;
 *                those with a constant move to the narrowest operand, and an
 *                equation of a row splits into one for each piece.
 *   truth values are one bit wide, with NOT only before EQ, AND, OR, bits.
 *
 * Rules that build other nodes may call constructors again. `depth` bounds
 * that: beyond MAX_DEPTH nodes are taken as they are, so that neither time nor
 * stack depends on how deep the graph is.
 */
#include "solve/expr_int.h"
#include <assert.h>

enum { MAX_DEPTH = 24, MAX_PIECES = 32 };

static bool deep(const Exprs *p) { return p->depth >= MAX_DEPTH; }

static bool is_value(const Exprs *p, Expr e, ExprValue want)
{
    ExprValue v;
    return expr_is_const(p, e, &v) && v == want;
}

static bool is_ones(const Exprs *p, Expr e) { return is_value(p, e, expr_mask(p->nodes[e].width)); }

static bool is_const(const Exprs *p, Expr e) { return p->nodes[e].op == EXPR_CONST; }

/* All operands are constants: compute. */
static Expr fold(Exprs *p, ExprNode n)
{
    unsigned count = expr_arity((ExprOp)n.op);
    ExprValue a = 0, b = 0, c = 0;
    if ((n.a && !expr_is_const(p, n.a, &a)) || (count > 1 && n.b && !expr_is_const(p, n.b, &b)) ||
        (count > 2 && !expr_is_const(p, n.c, &c)))
        return 0;
    unsigned wb = count > 1 ? p->nodes[n.b].width : 0;
    return expr_const(p, n.width, expr_apply(&n, p->nodes[n.a].width, wb, a, b, c));
}

static Expr node2(Exprs *p, ExprOp op, unsigned width, Expr a, Expr b)
{
    ExprNode n = { .op = op, .width = (uint8_t)width, .a = a, .b = b };
    Expr e = is_const(p, a) && is_const(p, b) ? fold(p, n) : 0;
    return e ? e : expr_intern(p, n, 0);
}

static Expr node1(Exprs *p, ExprOp op, unsigned width, unsigned k, Expr a)
{
    ExprNode n = { .op = op, .width = (uint8_t)width, .k = (uint8_t)k, .a = a };
    Expr e = is_const(p, a) ? fold(p, n) : 0;
    return e ? e : expr_intern(p, n, 0);
}

/* ---- pieces */

typedef struct Pieces {
    Expr items[MAX_PIECES];   /* high first */
    unsigned n;
} Pieces;

static bool add_pieces(Exprs *p, Pieces *out, Expr e)
{
    for (;;) {
        ExprNode n = p->nodes[e];
        if (out->n + 2 > MAX_PIECES)
            return false;
        if (n.op == EXPR_CONCAT) {
            out->items[out->n++] = n.a;
            e = n.b;
        } else if (n.op == EXPR_ZEXT) {
            out->items[out->n++] = expr_const(p, n.width - p->nodes[n.a].width, 0);
            e = n.a;
        } else {
            out->items[out->n++] = e;
            return true;
        }
    }
}

/* Two neighbours as one, if they were one before; else 0. */
static Expr join(Exprs *p, Expr high, Expr low)
{
    ExprNode h = p->nodes[high], l = p->nodes[low];
    if (h.op == EXPR_CONST && l.op == EXPR_CONST)
        return node2(p, EXPR_CONCAT, h.width + l.width, high, low);
    if (h.op == EXPR_EXTRACT && l.op == EXPR_EXTRACT && h.a == l.a && h.k == l.k + l.width)
        return expr_extract(p, h.a, l.k, h.width + l.width);
    return 0;
}

/* The row of pieces as an expression. */
static Expr from_pieces(Exprs *p, const Pieces *in)
{
    Expr row[MAX_PIECES];
    unsigned n = 0;
    for (unsigned i = 0; i < in->n; i++) {
        if (!in->items[i])
            return 0;
        Expr both = n ? join(p, row[n - 1], in->items[i]) : 0;
        if (both)
            row[n - 1] = both;
        else
            row[n++] = in->items[i];
    }
    Expr e = row[n - 1];
    for (unsigned i = n - 1; i-- > 0 && e;) {
        unsigned width = p->nodes[row[i]].width + p->nodes[e].width;
        if (i == 0 && is_value(p, row[i], 0))
            return node1(p, EXPR_ZEXT, width, 0, e);
        e = expr_raw(p, EXPR_CONCAT, width, row[i], e, 0);
    }
    return e;
}

static Expr concat(Exprs *p, Expr a, Expr b)
{
    unsigned width = p->nodes[a].width + p->nodes[b].width;
    if (width > EXPR_MAX_WIDTH)
        return 0;
    Pieces all = { .n = 0 };
    if (!add_pieces(p, &all, a) || !add_pieces(p, &all, b))
        return node2(p, EXPR_CONCAT, width, a, b);
    return from_pieces(p, &all);
}

/* The bits [low, low + width) of a row. */
static Expr extract_row(Exprs *p, Expr a, unsigned low, unsigned width)
{
    Pieces all = { .n = 0 }, out = { .n = 0 };
    if (!add_pieces(p, &all, a))
        return node1(p, EXPR_EXTRACT, width, low, a);
    unsigned at = p->nodes[a].width;
    for (unsigned i = 0; i < all.n; i++) {
        unsigned w = p->nodes[all.items[i]].width;
        at -= w;
        unsigned from = low > at ? low : at;
        unsigned to = low + width < at + w ? low + width : at + w;
        if (from < to)
            out.items[out.n++] = expr_extract(p, all.items[i], from - at, to - from);
    }
    return from_pieces(p, &out);
}

static bool is_row(const Exprs *p, Expr e)
{
    return p->nodes[e].op == EXPR_CONCAT || p->nodes[e].op == EXPR_ZEXT;
}

/*
 * a | b, a ^ b or a + b where at every bit at least one is a constant 0 piece:
 * the row of the others. 0 if that is not so.
 */
static Expr overlay(Exprs *p, Expr a, Expr b)
{
    Pieces x = { .n = 0 }, y = { .n = 0 }, out = { .n = 0 };
    if (!add_pieces(p, &x, a) || !add_pieces(p, &y, b))
        return 0;
    unsigned i = 0, j = 0, skip_i = 0, skip_j = 0;   /* bits used, from above */
    while (i < x.n && j < y.n) {
        unsigned wi = p->nodes[x.items[i]].width - skip_i;
        unsigned wj = p->nodes[y.items[j]].width - skip_j;
        unsigned w = wi < wj ? wi : wj;
        bool zero_i = is_value(p, x.items[i], 0);
        if ((!zero_i && !is_value(p, y.items[j], 0)) || out.n == MAX_PIECES)
            return 0;
        out.items[out.n++] = zero_i ? expr_extract(p, y.items[j], wj - w, w)
                                    : expr_extract(p, x.items[i], wi - w, w);
        skip_i = wi == w ? 0 : skip_i + w;
        skip_j = wj == w ? 0 : skip_j + w;
        i += wi == w;
        j += wj == w;
    }
    return from_pieces(p, &out);
}

/* ---- extensions and extracts */

/* Carries an operation on both arms of an ITE with constant arms. */
static bool constant_arms(const Exprs *p, const ExprNode *n)
{
    return n->op == EXPR_ITE && is_const(p, n->b) && is_const(p, n->c);
}

Expr expr_zext(Exprs *p, Expr a, unsigned width)
{
    if (!a || width > EXPR_MAX_WIDTH || width < p->nodes[a].width)
        return 0;
    ExprNode n = p->nodes[a];
    if (n.width == width)
        return a;
    if (n.op == EXPR_ZEXT)
        return node1(p, EXPR_ZEXT, width, 0, n.a);
    if (n.op == EXPR_CONCAT && is_const(p, n.a))
        return concat(p, expr_const(p, width - n.width, 0), a);
    return node1(p, EXPR_ZEXT, width, 0, a);
}

Expr expr_sext(Exprs *p, Expr a, unsigned width)
{
    if (!a || width > EXPR_MAX_WIDTH || width < p->nodes[a].width)
        return 0;
    ExprNode n = p->nodes[a];
    if (n.width == width)
        return a;
    if (n.op == EXPR_SEXT)
        return node1(p, EXPR_SEXT, width, 0, n.a);
    if (n.op == EXPR_ZEXT)
        return node1(p, EXPR_ZEXT, width, 0, n.a);
    if (constant_arms(p, &n))
        return expr_ite(p, n.a, expr_sext(p, n.b, width), expr_sext(p, n.c, width));
    return node1(p, EXPR_SEXT, width, 0, a);
}

static Expr extract_sext(Exprs *p, ExprNode n, unsigned low, unsigned width)
{
    unsigned inner = p->nodes[n.a].width;
    if (low + width <= inner)
        return expr_extract(p, n.a, low, width);
    unsigned from = low < inner ? low : inner - 1;
    return expr_sext(p, expr_extract(p, n.a, from, inner - from), width);
}

/* Is it worthwhile to take part of this operand instead of the whole? */
static bool splits(const Exprs *p, Expr e)
{
    ExprOp op = (ExprOp)p->nodes[e].op;
    return op == EXPR_CONST || op == EXPR_ZEXT || op == EXPR_SEXT || op == EXPR_CONCAT;
}

Expr expr_extract(Exprs *p, Expr a, unsigned low, unsigned width)
{
    if (!a || !width || low + width > p->nodes[a].width)
        return 0;
    ExprNode n = p->nodes[a];
    if (width == n.width)
        return a;
    if (n.op == EXPR_EXTRACT)
        return node1(p, EXPR_EXTRACT, width, low + n.k, n.a);
    if (is_row(p, a) && !deep(p)) {
        p->depth++;
        Expr e = extract_row(p, a, low, width);
        p->depth--;
        return e;
    }
    if (n.op == EXPR_SEXT)
        return extract_sext(p, n, low, width);
    if (constant_arms(p, &n))
        return expr_ite(p, n.a, expr_extract(p, n.b, low, width), expr_extract(p, n.c, low, width));
    bool bitwise = n.op == EXPR_AND || n.op == EXPR_OR || n.op == EXPR_XOR;
    bool lowest = low == 0 && (n.op == EXPR_ADD || n.op == EXPR_SUB || n.op == EXPR_MUL);
    if ((bitwise && (splits(p, n.a) || splits(p, n.b)) && p->depth < 4) ||
        (lowest && splits(p, n.a) && splits(p, n.b) && !deep(p))) {
        p->depth++;
        Expr e = expr_binary(p, (ExprOp)n.op, expr_extract(p, n.a, low, width),
                             expr_extract(p, n.b, low, width));
        p->depth--;
        return e;
    }
    if (n.op == EXPR_NOT && splits(p, n.a))
        return expr_not(p, expr_extract(p, n.a, low, width));
    return node1(p, EXPR_EXTRACT, width, low, a);
}

Expr expr_trunc(Exprs *p, Expr a, unsigned width) { return expr_extract(p, a, 0, width); }

/* ---- arithmetic; constants come as b */

static void constant_right(const Exprs *p, Expr *a, Expr *b)
{
    bool swap = is_const(p, *a) != is_const(p, *b) ? is_const(p, *a) : *a > *b;
    if (swap) {
        Expr t = *a;
        *a = *b;
        *b = t;
    }
}

static Expr add(Exprs *p, unsigned w, Expr a, Expr b)
{
    constant_right(p, &a, &b);
    ExprNode n = p->nodes[a];
    if (is_value(p, b, 0))
        return a;
    if (w == 1)
        return expr_binary(p, EXPR_XOR, a, b);
    if (is_const(p, b) && n.op == EXPR_ADD && is_const(p, n.b))
        return add(p, w, n.a, node2(p, EXPR_ADD, w, n.b, b));
    if (is_row(p, a) && (is_row(p, b) || is_const(p, b))) {
        Expr e = overlay(p, a, b);
        if (e)
            return e;
    }
    return node2(p, EXPR_ADD, w, a, b);
}

static Expr sub(Exprs *p, unsigned w, Expr a, Expr b)
{
    ExprValue v;
    ExprNode n = p->nodes[a];
    if (a == b)
        return expr_const(p, w, 0);
    if (expr_is_const(p, b, &v))
        return add(p, w, a, expr_const(p, w, -v));
    if (is_value(p, a, 0))
        return expr_unary(p, EXPR_NEG, b);
    if (n.op == EXPR_ADD && n.b == b)
        return n.a;
    if (n.op == EXPR_ADD && n.a == b)
        return n.b;
    return node2(p, EXPR_SUB, w, a, b);
}

static bool power_of_two(ExprValue v) { return v && !(v & (v - 1)); }

static unsigned log2_of(ExprValue v)
{
    unsigned k = 0;
    while (v >>= 1)
        k++;
    return k;
}

static Expr mul(Exprs *p, unsigned w, Expr a, Expr b)
{
    ExprValue v;
    constant_right(p, &a, &b);
    ExprNode n = p->nodes[a];
    if (w == 1)
        return expr_binary(p, EXPR_AND, a, b);
    if (!expr_is_const(p, b, &v))
        return node2(p, EXPR_MUL, w, a, b);
    if (v == 0)
        return b;
    if (v == 1)
        return a;
    if (power_of_two(v))
        return expr_binary(p, EXPR_SHL, a, expr_const(p, w, log2_of(v)));
    if (n.op == EXPR_MUL && is_const(p, n.b))
        return mul(p, w, n.a, node2(p, EXPR_MUL, w, n.b, b));
    return node2(p, EXPR_MUL, w, a, b);
}

static bool never_negative(const Exprs *p, Expr e)
{
    ExprValue v;
    ExprNode n = p->nodes[e];
    if (expr_is_const(p, e, &v))
        return !(v >> (n.width - 1));
    return n.op == EXPR_ZEXT;
}

/* The width that holds a value as unsigned: that of the operand of a ZEXT. */
static unsigned narrow_width(const Exprs *p, Expr e)
{
    ExprValue v;
    ExprNode n = p->nodes[e];
    if (expr_is_const(p, e, &v))
        return v ? log2_of(v) + 1 : 1;
    return n.op == EXPR_ZEXT ? p->nodes[n.a].width : n.width;
}

static Expr divide(Exprs *p, ExprOp op, unsigned w, Expr a, Expr b)
{
    ExprValue v;
    if ((op == EXPR_SDIV || op == EXPR_SREM) && never_negative(p, a) && never_negative(p, b))
        op = op == EXPR_SDIV ? EXPR_UDIV : EXPR_UREM;
    bool rem = op == EXPR_UREM || op == EXPR_SREM;
    bool uns = op == EXPR_UDIV || op == EXPR_UREM;
    if (expr_is_const(p, b, &v) && v) {
        if (v == 1)
            return rem ? expr_const(p, w, 0) : a;
        if (uns && power_of_two(v))
            return rem ? expr_binary(p, EXPR_AND, a, expr_const(p, w, v - 1))
                       : expr_binary(p, EXPR_LSHR, a, expr_const(p, w, log2_of(v)));
        /* The divisor is not 0, so a narrower division gives the same. */
        unsigned na = narrow_width(p, a), nb = narrow_width(p, b);
        unsigned narrow = na > nb ? na : nb;
        if (uns && narrow < w && !is_const(p, a) && p->nodes[a].op == EXPR_ZEXT)
            return expr_zext(p,
                             divide(p, op, narrow, expr_trunc(p, a, narrow),
                                    expr_trunc(p, b, narrow)),
                             w);
    }
    return node2(p, op, w, a, b);
}

static Expr shift(Exprs *p, ExprOp op, unsigned w, Expr a, Expr b)
{
    ExprValue v;
    if (!expr_is_const(p, b, &v))
        return is_value(p, a, 0) ? a : node2(p, op, w, a, b);
    if (v == 0)
        return a;
    if (v >= w)
        return op == EXPR_ASHR ? expr_sext(p, expr_extract(p, a, w - 1, 1), w)
                               : expr_const(p, w, 0);
    unsigned k = (unsigned)v;
    if (op == EXPR_SHL)
        return concat(p, expr_extract(p, a, 0, w - k), expr_const(p, k, 0));
    Expr part = expr_extract(p, a, k, w - k);
    return op == EXPR_LSHR ? expr_zext(p, part, w) : expr_sext(p, part, w);
}

/* ---- bits */

/* x & mask as a row, where the mask's ones are whole bytes or its low bits. */
static Expr mask_row(Exprs *p, unsigned w, Expr a, ExprValue mask)
{
    unsigned low = 0, high = w;
    while (!(mask >> low & 1))
        low++;
    while (!(mask >> (high - 1) & 1))
        high--;
    if (mask >> low != expr_mask(high - low))
        return 0;
    if (low && (low % 8 || (high % 8 && high != w)) && !is_row(p, a))
        return 0;
    Expr e = expr_extract(p, a, low, high - low);
    if (low && e)
        e = concat(p, e, expr_const(p, low, 0));
    return expr_zext(p, e, w);
}

/* Both from the same narrower width: do it there. */
static Expr narrow_bits(Exprs *p, ExprOp op, unsigned w, Expr a, Expr b)
{
    ExprNode x = p->nodes[a], y = p->nodes[b];
    if (x.op != EXPR_ZEXT || deep(p))
        return 0;
    unsigned inner = p->nodes[x.a].width;
    bool fits = y.op == EXPR_ZEXT ? p->nodes[y.a].width == inner
                                  : is_const(p, b) && narrow_width(p, b) <= inner;
    if (!fits && !(op == EXPR_AND && is_const(p, b)))
        return 0;
    p->depth++;
    Expr e = expr_zext(p, expr_binary(p, op, x.a, expr_trunc(p, b, inner)), w);
    p->depth--;
    return e;
}

static bool opposite(const Exprs *p, Expr a, Expr b)
{
    return (p->nodes[a].op == EXPR_NOT && p->nodes[a].a == b) ||
           (p->nodes[b].op == EXPR_NOT && p->nodes[b].a == a);
}

static Expr and_bits(Exprs *p, unsigned w, Expr a, Expr b)
{
    ExprValue v;
    ExprNode n = p->nodes[a];
    if (a == b || is_ones(p, b))
        return a;
    if (is_value(p, b, 0))
        return b;
    if (opposite(p, a, b))
        return expr_const(p, w, 0);
    if (expr_is_const(p, b, &v)) {
        if (n.op == EXPR_AND && is_const(p, n.b))
            return expr_binary(p, EXPR_AND, n.a, node2(p, EXPR_AND, w, n.b, b));
        Expr e = mask_row(p, w, a, v);
        if (e)
            return e;
    }
    Expr e = narrow_bits(p, EXPR_AND, w, a, b);
    return e ? e : node2(p, EXPR_AND, w, a, b);
}

static Expr or_bits(Exprs *p, unsigned w, Expr a, Expr b)
{
    ExprNode n = p->nodes[a];
    if (a == b || is_value(p, b, 0))
        return a;
    if (is_ones(p, b))
        return b;
    if (opposite(p, a, b))
        return expr_const(p, w, expr_mask(w));
    if (is_const(p, b) && n.op == EXPR_OR && is_const(p, n.b))
        return expr_binary(p, EXPR_OR, n.a, node2(p, EXPR_OR, w, n.b, b));
    Expr e = is_row(p, a) || is_row(p, b) ? overlay(p, a, b) : 0;
    if (!e)
        e = narrow_bits(p, EXPR_OR, w, a, b);
    return e ? e : node2(p, EXPR_OR, w, a, b);
}

static Expr xor_bits(Exprs *p, unsigned w, Expr a, Expr b)
{
    ExprNode n = p->nodes[a];
    if (a == b)
        return expr_const(p, w, 0);
    if (is_value(p, b, 0))
        return a;
    if (is_ones(p, b))
        return expr_not(p, a);
    if (opposite(p, a, b))
        return expr_const(p, w, expr_mask(w));
    if (is_const(p, b) && n.op == EXPR_XOR && is_const(p, n.b))
        return expr_binary(p, EXPR_XOR, n.a, node2(p, EXPR_XOR, w, n.b, b));
    Expr e = is_row(p, a) || is_row(p, b) ? overlay(p, a, b) : 0;
    if (!e)
        e = narrow_bits(p, EXPR_XOR, w, a, b);
    return e ? e : node2(p, EXPR_XOR, w, a, b);
}

Expr expr_not(Exprs *p, Expr a)
{
    if (!a)
        return 0;
    ExprNode n = p->nodes[a];
    switch ((ExprOp)n.op) {
    case EXPR_NOT: return n.a;
    case EXPR_ULT: return expr_binary(p, EXPR_ULE, n.b, n.a);
    case EXPR_ULE: return expr_binary(p, EXPR_ULT, n.b, n.a);
    case EXPR_SLT: return expr_binary(p, EXPR_SLE, n.b, n.a);
    case EXPR_SLE: return expr_binary(p, EXPR_SLT, n.b, n.a);
    default: return node1(p, EXPR_NOT, n.width, 0, a);
    }
}

/* ---- comparisons */

static Expr equal(Exprs *p, Expr a, Expr b);

/* The inverse of an odd number modulo 2^128 (Newton). */
static ExprValue inverse(ExprValue v)
{
    ExprValue x = v;
    for (int i = 0; i < 7; i++)
        x *= 2 - v * x;
    return x;
}

/* A row equals a constant, or another row of the same shape: all pieces do. */
static Expr equal_rows(Exprs *p, Expr a, Expr b)
{
    Pieces x = { .n = 0 };
    if (!add_pieces(p, &x, a))
        return 0;
    if (!is_const(p, b)) {
        Pieces y = { .n = 0 };
        if (!add_pieces(p, &y, b) || x.n != y.n)
            return 0;
        for (unsigned i = 0; i < x.n; i++)
            if (p->nodes[x.items[i]].width != p->nodes[y.items[i]].width)
                return 0;
    }
    unsigned at = p->nodes[a].width;
    Expr all = expr_bool(p, true);
    for (unsigned i = 0; i < x.n; i++) {
        unsigned w = p->nodes[x.items[i]].width;
        at -= w;
        Expr one = equal(p, x.items[i], expr_extract(p, b, at, w));
        all = expr_binary(p, EXPR_AND, all, one);
    }
    return all;
}

/* ITE(c, yes, no) == v where one arm is a constant; or where `no` is v exactly when c holds,
 * which it doesn't there: differences of strings, d ? d : …, are such. */
static Expr equal_ite(Exprs *p, ExprNode n, Expr b)
{
    ExprValue v, arm;
    expr_is_const(p, b, &v);
    unsigned below = p->nodes[n.c].op;
    if (below == EXPR_SUB || below == EXPR_ADD || below == EXPR_XOR || below == EXPR_ZEXT) {
        Expr other = equal(p, n.c, b);
        if (other == n.a)
            return expr_binary(p, EXPR_AND, n.a, equal(p, n.b, b));
    }
    if (expr_is_const(p, n.b, &arm)) {
        Expr other = equal(p, n.c, b);
        return arm == v ? expr_binary(p, EXPR_OR, n.a, other)
                        : expr_binary(p, EXPR_AND, expr_not(p, n.a), other);
    }
    if (expr_is_const(p, n.c, &arm)) {
        Expr other = equal(p, n.b, b);
        return arm == v ? expr_binary(p, EXPR_OR, expr_not(p, n.a), other)
                        : expr_binary(p, EXPR_AND, n.a, other);
    }
    return 0;
}

/* a == v for a constant b = v: on what a is made of, if that is unique. */
static Expr equal_constant(Exprs *p, Expr a, Expr b, ExprValue v)
{
    ExprNode n = p->nodes[a];
    unsigned w = n.width;
    ExprValue k = 0;
    bool has_k =
        n.b && n.op != EXPR_TABLE && expr_arity((ExprOp)n.op) > 1 && expr_is_const(p, n.b, &k);
    switch ((ExprOp)n.op) {
    case EXPR_ZEXT:
    case EXPR_CONCAT: return equal_rows(p, a, b);
    case EXPR_SEXT: {
        unsigned inner = p->nodes[n.a].width;
        if ((ExprValue)expr_signed(v, inner) << (128 - w) != v << (128 - w))
            return expr_bool(p, false);
        return equal(p, n.a, expr_const(p, inner, v));
    }
    case EXPR_NOT: return equal(p, n.a, expr_const(p, w, ~v));
    case EXPR_NEG: return equal(p, n.a, expr_const(p, w, -v));
    case EXPR_ADD: return has_k ? equal(p, n.a, expr_const(p, w, v - k)) : 0;
    case EXPR_SUB:
        if (expr_is_const(p, n.a, &k))
            return equal(p, n.b, expr_const(p, w, k - v));
        return v == 0 ? equal(p, n.a, n.b) : 0;
    case EXPR_XOR:
        if (has_k)
            return equal(p, n.a, expr_const(p, w, v ^ k));
        return v == 0 ? equal(p, n.a, n.b) : 0;
    case EXPR_MUL: return has_k && (k & 1) ? equal(p, n.a, expr_const(p, w, v * inverse(k))) : 0;
    case EXPR_AND:
        if (has_k && (v & ~k))
            return expr_bool(p, false);
        if (has_k && power_of_two(k))
            return equal(p, expr_extract(p, n.a, log2_of(k), 1), expr_bool(p, v != 0));
        return 0;
    case EXPR_OR: return has_k && (k & ~v) ? expr_bool(p, false) : 0;
    case EXPR_ITE: return equal_ite(p, n, b);
    default: return 0;
    }
}

static Expr equal(Exprs *p, Expr a, Expr b)
{
    ExprValue v;
    if (!a || !b)
        return 0;
    if (a == b)
        return expr_bool(p, true);
    constant_right(p, &a, &b);
    if (is_const(p, a) || deep(p))
        return node2(p, EXPR_EQ, 1, a, b);
    ExprNode x = p->nodes[a], y = p->nodes[b];
    Expr e = 0;
    p->depth++;
    if (expr_is_const(p, b, &v)) {
        if (x.width == 1)
            e = v ? a : expr_not(p, a);
        else
            e = equal_constant(p, a, b, v);
    } else if (x.width == 1 && opposite(p, a, b)) {
        e = expr_bool(p, false);
    } else if (x.op == y.op && (x.op == EXPR_ZEXT || x.op == EXPR_SEXT) &&
               p->nodes[x.a].width == p->nodes[y.a].width) {
        e = equal(p, x.a, y.a);
    } else if (is_row(p, a) && is_row(p, b)) {
        e = equal_rows(p, a, b);
    }
    p->depth--;
    return e ? e : node2(p, EXPR_EQ, 1, a, b);
}

/* Where both sides are extended in the same way, or one is and the other a
 * constant that fits: the narrow operands. `sign` for SEXT. */
static bool narrow_both(Exprs *p, bool sign, Expr a, Expr b, Expr *na, Expr *nb)
{
    ExprOp op = sign ? EXPR_SEXT : EXPR_ZEXT;
    ExprNode x = p->nodes[a], y = p->nodes[b];
    unsigned w = 0;
    if (x.op == op)
        w = p->nodes[x.a].width;
    if (y.op == op && p->nodes[y.a].width > w)
        w = p->nodes[y.a].width;
    if (!w || w == x.width)
        return false;
    Expr side[2] = { a, b };
    for (int i = 0; i < 2; i++) {
        ExprNode n = p->nodes[side[i]];
        ExprValue v;
        if (n.op == op && p->nodes[n.a].width <= w)
            continue;
        if (!expr_is_const(p, side[i], &v))
            return false;
        ExprValue back = sign ? (ExprValue)expr_signed(v & expr_mask(w), w) & expr_mask(n.width)
                              : v & expr_mask(w);
        if (back != v)
            return false;
    }
    *na = expr_trunc(p, a, w);
    *nb = expr_trunc(p, b, w);
    return *na && *nb;
}

static Expr unsigned_less(Exprs *p, Expr a, Expr b)
{
    ExprValue v, w;
    Expr na, nb;
    unsigned width = p->nodes[a].width;
    if (a == b || is_value(p, b, 0) || is_ones(p, a))
        return expr_bool(p, false);
    if (is_value(p, b, 1))
        return equal(p, a, expr_const(p, width, 0));
    if (is_value(p, a, 0))
        return expr_not(p, equal(p, b, a));
    if (is_ones(p, b))
        return expr_not(p, equal(p, a, b));
    if (is_value(p, a, expr_mask(width) - 1))
        return equal(p, b, expr_const(p, width, expr_mask(width)));
    if (width == 1)
        return expr_binary(p, EXPR_AND, expr_not(p, a), b);
    if (narrow_both(p, false, a, b, &na, &nb) || narrow_both(p, true, a, b, &na, &nb))
        return unsigned_less(p, na, nb);
    /* The constant does not fit into what the other side was extended from. */
    if (expr_is_const(p, b, &v) && p->nodes[a].op == EXPR_ZEXT && v > expr_mask(narrow_width(p, a)))
        return expr_bool(p, true);
    if (expr_is_const(p, a, &w) && p->nodes[b].op == EXPR_ZEXT &&
        w >= expr_mask(narrow_width(p, b)))
        return expr_bool(p, false);
    return node2(p, EXPR_ULT, 1, a, b);
}

static Expr unsigned_less_equal(Exprs *p, Expr a, Expr b)
{
    ExprValue v;
    unsigned w = p->nodes[a].width;
    Expr na, nb;
    if (a == b || is_value(p, a, 0) || is_ones(p, b))
        return expr_bool(p, true);
    if (expr_is_const(p, b, &v))
        return unsigned_less(p, a, expr_const(p, w, v + 1));
    if (expr_is_const(p, a, &v))
        return unsigned_less(p, expr_const(p, w, v - 1), b);
    if (w == 1)
        return expr_binary(p, EXPR_OR, expr_not(p, a), b);
    if (narrow_both(p, false, a, b, &na, &nb) || narrow_both(p, true, a, b, &na, &nb))
        return unsigned_less_equal(p, na, nb);
    return node2(p, EXPR_ULE, 1, a, b);
}

/* A sign-extended value compared with a constant outside its range, or a
 * value that is never negative with a negative one: decided. -1 if not. */
static int signed_decided(const Exprs *p, Expr a, Expr b)
{
    ExprValue v;
    bool flip = is_const(p, a);            /* the constant is on the left */
    Expr e = flip ? b : a;
    ExprNode n = p->nodes[e];
    if (!expr_is_const(p, flip ? a : b, &v) || (n.op != EXPR_SEXT && n.op != EXPR_ZEXT))
        return -1;
    unsigned inner = p->nodes[n.a].width;
    ExprSigned k = expr_signed(v, n.width);
    ExprSigned least = n.op == EXPR_ZEXT ? 0 : -((ExprSigned)1 << (inner - 1));
    ExprSigned most = (ExprSigned)expr_mask(n.op == EXPR_ZEXT ? inner : inner - 1);
    if (flip)
        return k < least ? 1 : k >= most ? 0 : -1;
    return most < k ? 1 : least >= k ? 0 : -1;
}

static Expr signed_less(Exprs *p, Expr a, Expr b)
{
    Expr na, nb;
    unsigned w = p->nodes[a].width;
    ExprValue least = (ExprValue)1 << (w - 1);
    if (a == b || is_value(p, b, least) || is_value(p, a, least - 1))
        return expr_bool(p, false);
    if (w == 1)
        return expr_binary(p, EXPR_AND, a, expr_not(p, b));
    if (is_const(p, a) && is_const(p, b))
        return node2(p, EXPR_SLT, 1, a, b);
    int decided = signed_decided(p, a, b);
    if (decided >= 0)
        return expr_bool(p, decided);
    if (never_negative(p, a) && never_negative(p, b))
        return unsigned_less(p, a, b);
    if (narrow_both(p, true, a, b, &na, &nb))
        return signed_less(p, na, nb);
    if (is_value(p, b, 0) && splits(p, a))
        return expr_extract(p, a, w - 1, 1);
    return node2(p, EXPR_SLT, 1, a, b);
}

static Expr signed_less_equal(Exprs *p, Expr a, Expr b)
{
    ExprValue v;
    unsigned w = p->nodes[a].width;
    ExprValue least = (ExprValue)1 << (w - 1);
    Expr na, nb;
    if (a == b || is_value(p, a, least) || is_value(p, b, least - 1))
        return expr_bool(p, true);
    if (w == 1)
        return expr_binary(p, EXPR_OR, a, expr_not(p, b));
    if (expr_is_const(p, b, &v))
        return signed_less(p, a, expr_const(p, w, v + 1));
    if (expr_is_const(p, a, &v))
        return signed_less(p, expr_const(p, w, v - 1), b);
    if (never_negative(p, a) && never_negative(p, b))
        return unsigned_less_equal(p, a, b);
    if (narrow_both(p, true, a, b, &na, &nb))
        return signed_less_equal(p, na, nb);
    return node2(p, EXPR_SLE, 1, a, b);
}

/* ---- the constructors of expr.h */

Expr expr_ite(Exprs *p, Expr cond, Expr yes, Expr no)
{
    ExprValue v;
    if (!cond || !yes || !no || p->nodes[cond].width != 1 ||
        p->nodes[yes].width != p->nodes[no].width)
        return 0;
    if (expr_is_const(p, cond, &v))
        return v ? yes : no;
    if (yes == no)
        return yes;
    ExprNode c = p->nodes[cond], y = p->nodes[yes], n = p->nodes[no];
    if (c.op == EXPR_NOT)
        return expr_ite(p, c.a, no, yes);
    if (y.width == 1 && is_const(p, yes))
        return is_value(p, yes, 1) ? expr_binary(p, EXPR_OR, cond, no)
                                   : expr_binary(p, EXPR_AND, expr_not(p, cond), no);
    if (y.width == 1 && is_const(p, no))
        return is_value(p, no, 1) ? expr_binary(p, EXPR_OR, expr_not(p, cond), yes)
                                  : expr_binary(p, EXPR_AND, cond, yes);
    if (y.op == EXPR_ITE && y.a == cond)
        yes = y.b;
    if (n.op == EXPR_ITE && n.a == cond)
        no = n.c;
    return expr_raw(p, EXPR_ITE, y.width, cond, yes, no);
}

Expr expr_unary(Exprs *p, ExprOp op, Expr a)
{
    if (!a)
        return 0;
    ExprNode n = p->nodes[a];
    switch (op) {
    case EXPR_NOT: return expr_not(p, a);
    case EXPR_NEG:
        if (n.op == EXPR_NEG)
            return n.a;
        if (n.op == EXPR_SUB)
            return expr_binary(p, EXPR_SUB, n.b, n.a);
        return n.width == 1 ? a : node1(p, EXPR_NEG, n.width, 0, a);
    case EXPR_FSQRT:
        if (n.width != 32 && n.width != 64)
            return 0;
        return node1(p, EXPR_FSQRT, n.width, 0, a);
    default: return expr_lower_unary(p, op, a);
    }
}

static Expr float_binary(Exprs *p, ExprOp op, Expr a, Expr b)
{
    unsigned w = p->nodes[a].width;
    if (w != 32 && w != 64)
        return 0;
    if (op == EXPR_FADD || op == EXPR_FMUL || op == EXPR_FOEQ || op == EXPR_FUNO)
        constant_right(p, &a, &b);
    bool compare = op >= EXPR_FOEQ && op <= EXPR_FUNO;
    Expr integers = compare && is_const(p, a) != is_const(p, b) ? expr_monotone(p, op, a, b) : 0;
    return integers ? integers : node2(p, op, compare ? 1 : w, a, b);
}

static Expr binary(Exprs *p, ExprOp op, Expr a, Expr b)
{
    unsigned w = p->nodes[a].width;
    if (is_const(p, a) && is_const(p, b) && op >= EXPR_ADD && op < EXPR_CONCAT)
        return node2(p, op, w, a, b);
    if (op == EXPR_AND || op == EXPR_OR || op == EXPR_XOR)
        constant_right(p, &a, &b);
    switch (op) {
    case EXPR_ADD: return add(p, w, a, b);
    case EXPR_SUB: return sub(p, w, a, b);
    case EXPR_MUL: return mul(p, w, a, b);
    case EXPR_UDIV:
    case EXPR_SDIV:
    case EXPR_UREM:
    case EXPR_SREM: return divide(p, op, w, a, b);
    case EXPR_SHL:
    case EXPR_LSHR:
    case EXPR_ASHR: return shift(p, op, w, a, b);
    case EXPR_AND: return and_bits(p, w, a, b);
    case EXPR_OR: return or_bits(p, w, a, b);
    case EXPR_XOR: return xor_bits(p, w, a, b);
    case EXPR_CONCAT: return concat(p, a, b);
    case EXPR_EQ: return equal(p, a, b);
    case EXPR_ULT: return unsigned_less(p, a, b);
    case EXPR_ULE: return unsigned_less_equal(p, a, b);
    case EXPR_SLT: return signed_less(p, a, b);
    case EXPR_SLE: return signed_less_equal(p, a, b);
    default:
        return op >= EXPR_FADD && op <= EXPR_FUNO ? float_binary(p, op, a, b)
                                                  : expr_lower_binary(p, op, a, b);
    }
}

Expr expr_binary(Exprs *p, ExprOp op, Expr a, Expr b)
{
    if (!a || !b || (op != EXPR_CONCAT && p->nodes[a].width != p->nodes[b].width))
        return 0;
    if (deep(p) && op >= EXPR_ADD && op <= EXPR_SLE && op != EXPR_CONCAT) {
        unsigned w = op >= EXPR_EQ ? 1 : p->nodes[a].width;
        return node2(p, op, w, a, b);
    }
    p->depth++;
    Expr e = binary(p, op, a, b);
    p->depth--;
    return e;
}

Expr expr_fround(Exprs *p, ExprRound how, Expr a)
{
    unsigned w = a ? p->nodes[a].width : 0;
    if (how > EXPR_ROUND_AWAY || (w != 32 && w != 64))
        return 0;
    return node1(p, EXPR_FROUND, w, how, a);
}

Expr expr_fmath(Exprs *p, ExprMath fn, Expr a, Expr b)
{
    unsigned w = a ? p->nodes[a].width : 0;
    bool two = fn >= EXPR_MATH_POW;
    if (fn >= EXPR_MATH_N || (w != 32 && w != 64) || two != (b != 0) ||
        (b && p->nodes[b].width != w))
        return 0;
    ExprNode n = { .op = EXPR_FMATH, .width = (uint8_t)w, .k = (uint8_t)fn, .a = a, .b = b };
    Expr e = is_const(p, a) && (!b || is_const(p, b)) ? fold(p, n) : 0;
    return e ? e : expr_intern(p, n, 0);
}

Expr expr_fconvert(Exprs *p, ExprOp op, Expr a, unsigned width)
{
    unsigned w = a ? p->nodes[a].width : 0;
    bool from = op == EXPR_FTOF || op == EXPR_FTOU || op == EXPR_FTOS;
    bool to = op == EXPR_FTOF || op == EXPR_UTOF || op == EXPR_STOF;
    if (!w || (!from && !to) || !width || width > EXPR_MAX_WIDTH || (from && w != 32 && w != 64) ||
        (to && width != 32 && width != 64))
        return 0;
    if (op == EXPR_FTOF && w == width)
        return a;
    return node1(p, op, width, 0, a);
}
