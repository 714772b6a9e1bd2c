/*
 * Ranges of values. From the sets of the bytes and from conditions like
 * x < 100 on whatever expression, each step of the tape gets a range that its
 * value can't leave; if a condition's range is {0}, or a range is empty, there
 * is no solution. Two decimal digits are never more than 99.
 *
 * Ranges are unsigned. A signed condition helps where it keeps its operand
 * from being negative or always negative.
 */
#include "base/mem.h"
#include "solve/expr_int.h"
#include "solve/problem.h"

typedef struct Range {
    ExprValue lo, hi;
} Range;

/* What conditions say about an operand. */
typedef struct Hint {
    Range u;
    ExprSigned slo, shi;
    bool used;
} Hint;

static Range whole(unsigned w) { return (Range){ 0, expr_mask(w) }; }

static bool is_one(Range r) { return r.lo == r.hi; }

/* ---- hints */

static void hint_unsigned(Hint *h, unsigned w, ExprValue lo, ExprValue hi)
{
    if (!h->used)
        *h = (Hint){ whole(w), -((ExprSigned)1 << (w - 1)), (ExprSigned)expr_mask(w - 1), true };
    if (lo > h->u.lo)
        h->u.lo = lo;
    if (hi < h->u.hi)
        h->u.hi = hi;
}

static void hint_signed(Hint *h, unsigned w, ExprSigned lo, ExprSigned hi)
{
    hint_unsigned(h, w, 0, expr_mask(w));
    if (lo > h->slo)
        h->slo = lo;
    if (hi < h->shi)
        h->shi = hi;
}

/* A condition that holds, of the form x op constant or constant op x. */
static void hint_from(const Tape *t, size_t root, Hint *hints)
{
    const TapeStep *steps = tape_steps(t), *s = &steps[root];
    size_t a = s->node.a, b = s->node.b;
    if (s->node.op < EXPR_EQ || s->node.op > EXPR_SLE || s->wa == 1)
        return;
    bool left = steps[a].node.op == EXPR_CONST;
    if (left == (steps[b].node.op == EXPR_CONST))
        return;
    size_t x = left ? b : a;
    ExprValue c = tape_slot(t, left ? a : b);
    ExprSigned sc = expr_signed(c, s->wa);
    ExprSigned least = -((ExprSigned)1 << (s->wa - 1));
    ExprSigned most = (ExprSigned)expr_mask(s->wa - 1);
    Hint *h = &hints[x];
    switch ((ExprOp)s->node.op) {
    case EXPR_EQ: hint_unsigned(h, s->wa, c, c); break;
    case EXPR_ULT:                    /* constants at the edge were folded */
        left ? hint_unsigned(h, s->wa, c + 1, expr_mask(s->wa)) : hint_unsigned(h, s->wa, 0, c - 1);
        break;
    case EXPR_ULE:
        left ? hint_unsigned(h, s->wa, c, expr_mask(s->wa)) : hint_unsigned(h, s->wa, 0, c);
        break;
    case EXPR_SLT:
        left ? hint_signed(h, s->wa, sc + 1, most) : hint_signed(h, s->wa, least, sc - 1);
        break;
    default: left ? hint_signed(h, s->wa, sc, most) : hint_signed(h, s->wa, least, sc); break;
    }
}

/* The range with what hints say; false if nothing is left. */
static bool narrow(Range *r, const Hint *h, unsigned w)
{
    if (!h->used)
        return true;
    if (h->slo > h->shi)
        return false;
    Range s = whole(w);
    if (h->slo >= 0 || h->shi < 0)    /* on one side of zero: contiguous */
        s = (Range){ (ExprValue)h->slo & expr_mask(w), (ExprValue)h->shi & expr_mask(w) };
    ExprValue lo = h->u.lo > s.lo ? h->u.lo : s.lo;
    ExprValue hi = h->u.hi < s.hi ? h->u.hi : s.hi;
    if (lo > r->lo)
        r->lo = lo;
    if (hi < r->hi)
        r->hi = hi;
    return r->lo <= r->hi;
}

/* ---- operations on ranges */

static Range add(Range a, Range b, unsigned w)
{
    ExprValue lo, hi, max = expr_mask(w);
    bool over_lo = __builtin_add_overflow(a.lo, b.lo, &lo) || lo > max;
    bool over_hi = __builtin_add_overflow(a.hi, b.hi, &hi) || hi > max;
    if (over_lo != over_hi)
        return whole(w);
    return (Range){ lo & max, hi & max };
}

static Range mul(Range a, Range b, unsigned w)
{
    ExprValue hi;
    if (__builtin_mul_overflow(a.hi, b.hi, &hi) || hi > expr_mask(w))
        return whole(w);
    return (Range){ a.lo * b.lo, hi };
}

/* All ones up to the highest one of v. */
static ExprValue smear(ExprValue v)
{
    for (unsigned k = 1; k < 128; k *= 2)
        v |= v >> k;
    return v;
}

/* As signed, in ascending order; false if the range has both signs. */
static bool one_sign(Range r, unsigned w, ExprSigned *lo, ExprSigned *hi)
{
    *lo = expr_signed(r.lo, w);
    *hi = expr_signed(r.hi, w);
    return (r.lo >> (w - 1)) == (r.hi >> (w - 1));
}

static Range truth(bool possible, bool certain) { return (Range){ certain, possible }; }

static Range compare(ExprOp op, Range a, Range b, unsigned w)
{
    ExprSigned alo, ahi, blo, bhi;
    switch (op) {
    case EXPR_EQ:
        return truth(a.lo <= b.hi && b.lo <= a.hi, is_one(a) && is_one(b) && a.lo == b.lo);
    case EXPR_ULT: return truth(a.lo < b.hi, a.hi < b.lo);
    case EXPR_ULE: return truth(a.lo <= b.hi, a.hi <= b.lo);
    default:
        if (!one_sign(a, w, &alo, &ahi))
            alo = -((ExprSigned)1 << (w - 1)), ahi = ~alo;
        if (!one_sign(b, w, &blo, &bhi))
            blo = -((ExprSigned)1 << (w - 1)), bhi = ~blo;
        return op == EXPR_SLT ? truth(alo < bhi, ahi < blo) : truth(alo <= bhi, ahi <= blo);
    }
}

static Range table(const ExprTable *t, Range index)
{
    if (index.lo >= t->n)
        return (Range){ 0, 0 };
    bool beyond = index.hi >= t->n;
    ExprValue last = beyond ? t->n - 1 : index.hi;
    if (last - index.lo > 4096)
        return whole(t->size * 8);
    Range r = { beyond ? 0 : ~(ExprValue)0, 0 };
    for (ExprValue i = index.lo; i <= last; i++) {
        ExprValue v = expr_table_at(t, i);
        r.lo = v < r.lo ? v : r.lo;
        r.hi = v > r.hi ? v : r.hi;
    }
    return r;
}

static Range divide(ExprOp op, Range a, Range b, unsigned w)
{
    if (!b.lo)
        return op == EXPR_UREM ? (Range){ 0, a.hi } : whole(w);
    if (op == EXPR_UDIV)
        return (Range){ a.lo / b.hi, a.hi / b.lo };
    if (a.hi < b.lo)
        return a;
    return (Range){ 0, a.hi < b.hi - 1 ? a.hi : b.hi - 1 };
}

static Range extend_sign(Range a, unsigned from, unsigned to)
{
    ExprSigned lo, hi;
    if (!one_sign(a, from, &lo, &hi))
        return whole(to);
    return (Range){ (ExprValue)lo & expr_mask(to), (ExprValue)hi & expr_mask(to) };
}

static Range bitwise(ExprOp op, Range a, Range b, unsigned w)
{
    if (w == 1 && op != EXPR_XOR)
        return op == EXPR_AND ? (Range){ a.lo & b.lo, a.hi & b.hi }
                              : (Range){ a.lo | b.lo, a.hi | b.hi };
    if (op == EXPR_AND)
        return (Range){ 0, a.hi < b.hi ? a.hi : b.hi };
    ExprValue hi = smear(a.hi | b.hi);
    if (op == EXPR_XOR)
        return (Range){ 0, hi };
    return (Range){ a.lo > b.lo ? a.lo : b.lo, hi };
}

static Range step_range(const Problem *q, size_t slot, const Range *r)
{
    const TapeStep *s = &tape_steps(q->tape)[slot];
    const ExprNode *n = &s->node;
    unsigned w = n->width;
    Range none = { 0, 0 };
    Range a = s->wa ? r[n->a] : none, b = s->wb ? r[n->b] : none;
    switch ((ExprOp)n->op) {
    case EXPR_CONST: return (Range){ tape_slot(q->tape, slot), tape_slot(q->tape, slot) };
    case EXPR_BYTE:
        return (Range){ byteset_least(&q->allowed[n->a]), byteset_most(&q->allowed[n->a]) };
    case EXPR_NOT: return (Range){ ~a.hi & expr_mask(w), ~a.lo & expr_mask(w) };
    case EXPR_NEG: return a.lo ? (Range){ -a.hi & expr_mask(w), -a.lo & expr_mask(w) } : whole(w);
    case EXPR_ZEXT: return a;
    case EXPR_SEXT: return extend_sign(a, s->wa, w);
    case EXPR_EXTRACT:
        if ((a.lo >> n->k) >> w != (a.hi >> n->k) >> w)
            return whole(w);
        return (Range){ a.lo >> n->k & expr_mask(w), a.hi >> n->k & expr_mask(w) };
    case EXPR_CONCAT: return (Range){ a.lo << s->wb | b.lo, a.hi << s->wb | b.hi };
    case EXPR_ADD: return add(a, b, w);
    case EXPR_SUB: return a.lo >= b.hi ? (Range){ a.lo - b.hi, a.hi - b.lo } : whole(w);
    case EXPR_MUL: return mul(a, b, w);
    case EXPR_UDIV:
    case EXPR_UREM: return divide((ExprOp)n->op, a, b, w);
    case EXPR_LSHR: return (Range){ b.hi >= w ? 0 : a.lo >> b.hi, b.lo >= w ? 0 : a.hi >> b.lo };
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_XOR: return bitwise((ExprOp)n->op, a, b, w);
    case EXPR_EQ:
    case EXPR_ULT:
    case EXPR_ULE:
    case EXPR_SLT:
    case EXPR_SLE: return compare((ExprOp)n->op, a, b, s->wa);
    case EXPR_ITE: {
        Range c = r[n->c];
        if (is_one(a))
            return a.lo ? b : c;
        return (Range){ b.lo < c.lo ? b.lo : c.lo, b.hi > c.hi ? b.hi : c.hi };
    }
    case EXPR_TABLE: return table(tape_table(q->tape, slot), a);
    default: return whole(w);
    }
}

bool interval_refutes(const Problem *q)
{
    size_t n = tape_size(q->tape);
    Range *r = xmalloc((n + 1) * sizeof *r);
    Hint *hints = xcalloc(n + 1, sizeof *hints);
    bool empty = false;
    for (size_t i = 0; i < q->rest.len; i++) {
        size_t root = tape_root(q->tape, i);
        hint_from(q->tape, root, hints);
        hint_unsigned(&hints[root], 1, 1, 1);   /* it holds */
    }
    for (size_t i = 0; i < n && !empty; i++) {
        r[i] = step_range(q, i, r);
        empty = !narrow(&r[i], &hints[i], tape_steps(q->tape)[i].node.width);
    }
    free(r);
    free(hints);
    return empty;
}
