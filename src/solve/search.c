/*
 * Local search: from the parent, change few bytes until all conditions hold.
 *
 * There are two kinds of moves.
 *
 *   backwards   A condition that does not hold is given the value it should
 *               have, and the value is pushed down: for x + 3 == 10, x becomes
 *               7; a row of bytes is split; a table is searched; of two
 *               operands one is chosen and the other stays. It ends at bytes.
 *               (Propagation-based local search for bit-vectors, Niemetz and
 *               others, 2017, without its bookkeeping.)
 *   downhill    Each condition has a distance from being true. The byte and
 *               the value that bring the sum down most are taken, as in
 *               search-based testing.
 *
 * Work is counted in nodes computed, so that a run does not depend on the
 * clock.
 */
#include "solve/expr_int.h"
#include "solve/problem.h"
#include <math.h>

typedef struct Move {
    size_t slot;
    ExprValue want;
} Move;

enum { MAX_MOVES = 64, MAX_WALK = 4096 };

/* Moves still to make for one condition. */
typedef struct Walk {
    Problem *q;
    Move moves[MAX_MOVES];
    unsigned n;
    uint64_t changed;         /* bytes, as tape_bit() */
} Walk;

static ExprValue value(const Walk *k, size_t slot) { return tape_slot(k->q->tape, slot); }

static const TapeStep *step_at(const Walk *k, size_t slot) { return &tape_steps(k->q->tape)[slot]; }

static ExprValue below(Walk *k, ExprValue n)
{
    if (!n || n >> 64)
        return (ExprValue)rng_next(&k->q->rng) << 64 | rng_next(&k->q->rng);
    return rng_below(&k->q->rng, (uint64_t)n);
}

static bool heads(Walk *k) { return rng_next(&k->q->rng) >> 63; }

static bool push(Walk *k, size_t slot, ExprValue want)
{
    if (k->n == MAX_MOVES)
        return false;
    want &= expr_mask(step_at(k, slot)->node.width);
    k->moves[k->n++] = (Move){ slot, want };
    return true;
}

/* Which operand to change: one that bytes reach, else either. */
static bool take_second(Walk *k, const ExprNode *n)
{
    if (!step_at(k, n->b)->reached_by)
        return false;
    if (!step_at(k, n->a)->reached_by)
        return true;
    return heads(k);
}

/* ---- backwards through integers */

static ExprValue inverse(ExprValue v)
{
    ExprValue x = v;
    for (int i = 0; i < 7; i++)
        x *= 2 - v * x;
    return x;
}

static bool back_mul(Walk *k, const TapeStep *s, ExprValue want)
{
    bool second = take_second(k, &s->node);
    size_t slot = second ? s->node.b : s->node.a;
    ExprValue m = value(k, second ? s->node.a : s->node.b);
    unsigned zeros = 0;
    if (!m)
        return push(k, second ? s->node.a : s->node.b, 1);
    while (!(m >> zeros & 1))
        zeros++;
    if (want & expr_mask(zeros))
        want = want >> zeros << zeros;      /* as near as it gets */
    return push(k, slot, (want >> zeros) * inverse(m >> zeros));
}

static bool back_divide(Walk *k, const TapeStep *s, ExprValue want)
{
    ExprOp op = (ExprOp)s->node.op;
    ExprValue a = value(k, s->node.a), b = value(k, s->node.b);
    bool rem = op == EXPR_UREM || op == EXPR_SREM;
    if (!step_at(k, s->node.a)->reached_by || !b)
        return push(k, s->node.b, rem ? a - want : want ? a / want : a + 1);
    if (rem)
        return push(k, s->node.a, a / b * b + want);
    return push(k, s->node.a, want * b + below(k, b));
}

static bool back_shift(Walk *k, const TapeStep *s, ExprValue want)
{
    ExprValue a = value(k, s->node.a), b = value(k, s->node.b);
    unsigned w = s->wa;
    if (!step_at(k, s->node.a)->reached_by) {   /* which distance gives it? */
        for (unsigned i = 0; i < w; i++)
            if (expr_apply(&s->node, w, w, a, i, 0) == want)
                return push(k, s->node.b, i);
        return false;
    }
    if (b >= w)
        return push(k, s->node.b, below(k, w));
    if (step_at(k, s->node.b)->reached_by && below(k, 4) == 0)
        return push(k, s->node.b, below(k, w));
    if (s->node.op == EXPR_SHL)
        return push(k, s->node.a, want >> b);
    return push(k, s->node.a, want << b | (a & expr_mask((unsigned)b)));
}

static bool back_binary(Walk *k, const TapeStep *s, ExprValue want)
{
    const ExprNode *n = &s->node;
    ExprValue a = value(k, n->a), b = value(k, n->b);
    bool second = take_second(k, n);
    size_t slot = second ? n->b : n->a;
    ExprValue old = second ? b : a, other = second ? a : b;
    switch ((ExprOp)n->op) {
    case EXPR_ADD: return push(k, slot, want - other);
    case EXPR_SUB: return push(k, slot, second ? a - want : want + b);
    case EXPR_AND:
        if (n->width == 1 && want)
            return (a || push(k, n->a, 1)) && (b || push(k, n->b, 1));
        return push(k, slot, (old & ~other) | (want & other));
    case EXPR_OR:
        if (n->width == 1 && !want)
            return (!a || push(k, n->a, 0)) && (!b || push(k, n->b, 0));
        return push(k, slot, (old & other) | (want & ~other));
    case EXPR_XOR: return push(k, slot, want ^ other);
    case EXPR_CONCAT: return push(k, n->a, want >> s->wb) && push(k, n->b, want);
    case EXPR_MUL: return back_mul(k, s, want);
    case EXPR_UDIV:
    case EXPR_SDIV:
    case EXPR_UREM:
    case EXPR_SREM: return back_divide(k, s, want);
    default: return back_shift(k, s, want);
    }
}

/* A value x with x < limit (or x <= limit) in the order of the comparison,
 * near the edge or anywhere. `flip` makes signed order unsigned. */
static ExprValue pick_below(Walk *k, ExprValue limit, bool equal, ExprValue flip)
{
    ExprValue edge = (limit ^ flip) - !equal;
    ExprValue v = heads(k) ? edge : below(k, edge + 1);
    return v ^ flip;
}

static ExprValue pick_above(Walk *k, ExprValue limit, bool equal, ExprValue flip, unsigned w)
{
    ExprValue edge = (limit ^ flip) + !equal;
    ExprValue room = expr_mask(w) - edge;
    ExprValue v = heads(k) || room == ~(ExprValue)0 ? edge : edge + below(k, room + 1);
    return v ^ flip;
}

static bool back_compare(Walk *k, const TapeStep *s, bool want)
{
    const ExprNode *n = &s->node;
    ExprOp op = (ExprOp)n->op;
    ExprValue a = value(k, n->a), b = value(k, n->b);
    bool second = take_second(k, n);
    unsigned w = s->wa;
    if (op == EXPR_EQ) {
        ExprValue other = second ? a : b;
        if (!want)
            other = heads(k) ? other + 1 : other + 1 + below(k, 255);
        return push(k, second ? n->b : n->a, other);
    }
    /* a < b, a <= b; or not: b <= a, b < a. */
    bool sign = op == EXPR_SLT || op == EXPR_SLE;
    bool equal = (op == EXPR_ULE || op == EXPR_SLE) == want;
    ExprValue flip = sign ? (ExprValue)1 << (w - 1) : 0;
    bool above = want == second;            /* we change the larger side */
    if (above)
        return push(k, second ? n->b : n->a, pick_above(k, second ? a : b, equal, flip, w));
    return push(k, second ? n->b : n->a, pick_below(k, second ? a : b, equal, flip));
}

static bool back_ite(Walk *k, const ExprNode *n, ExprValue want)
{
    bool cond = value(k, n->a);
    size_t arm = cond ? n->b : n->c, other = cond ? n->c : n->b;
    if (value(k, other) == want || !step_at(k, arm)->reached_by || below(k, 4) == 0)
        return push(k, n->a, !cond) && (value(k, other) == want || push(k, other, want));
    return push(k, arm, want);
}

/* One of the places where the table has that value. */
static bool back_table(Walk *k, size_t slot, const ExprNode *n, ExprValue want)
{
    const ExprTable *t = tape_table(k->q->tape, slot);
    uint32_t found = 0, chosen = 0;
    for (uint32_t i = 0; i < t->n && i < 65536; i++)
        if (expr_table_at(t, i) == want && rng_below(&k->q->rng, ++found) == 0)
            chosen = i;
    if (!found)                             /* then any: it may be compared */
        chosen = (uint32_t)rng_below(&k->q->rng, t->n);
    return push(k, n->a, chosen);
}

/* ---- backwards through floats */

static double inverse_math(ExprMath fn, double want, double other)
{
    switch (fn) {
    case EXPR_MATH_SIN: return asin(want);
    case EXPR_MATH_COS: return acos(want);
    case EXPR_MATH_TAN: return atan(want);
    case EXPR_MATH_ASIN: return sin(want);
    case EXPR_MATH_ACOS: return cos(want);
    case EXPR_MATH_ATAN: return tan(want);
    case EXPR_MATH_SINH: return asinh(want);
    case EXPR_MATH_COSH: return acosh(want);
    case EXPR_MATH_TANH: return atanh(want);
    case EXPR_MATH_EXP: return log(want);
    case EXPR_MATH_EXP2: return log2(want);
    case EXPR_MATH_LOG: return exp(want);
    case EXPR_MATH_LOG2: return exp2(want);
    case EXPR_MATH_LOG10: return pow(10, want);
    case EXPR_MATH_CBRT: return want * want * want;
    case EXPR_MATH_POW: return pow(want, 1 / other);
    case EXPR_MATH_ATAN2: return tan(want) * other;
    default: return sqrt(want * want - other * other);
    }
}

static double inverse_float(ExprOp op, bool second, double want, double other)
{
    switch (op) {
    case EXPR_FADD: return want - other;
    case EXPR_FSUB: return second ? other - want : want + other;
    case EXPR_FMUL: return want / other;
    case EXPR_FDIV: return second ? other / want : want * other;
    case EXPR_FSQRT: return want * want;
    default: return want;                        /* FREM, FROUND, FTOF */
    }
}

static bool back_float_compare(Walk *k, const TapeStep *s, bool want)
{
    const ExprNode *n = &s->node;
    bool second = take_second(k, n);
    unsigned w = s->wa;
    double other = expr_to_double(value(k, second ? n->a : n->b), w);
    bool equal = n->op == EXPR_FOEQ;
    double to = other;
    if (n->op == EXPR_FUNO)
        to = want ? NAN : 0;
    else if (equal && !want)
        to = other + 1;
    else if (!equal && heads(k))            /* away from the edge, or on it */
        to = other + (want == second ? 1 : -1) * (1 + fabs(other) / 2);
    else if (!equal && (n->op == EXPR_FOLT) == want)
        to = w == 32 ? (double)nextafterf((float)other, want == second ? INFINITY : -INFINITY)
                     : nextafter(other, want == second ? INFINITY : -INFINITY);
    return push(k, second ? n->b : n->a, expr_from_double(to, w));
}

static bool back_float(Walk *k, const TapeStep *s, ExprValue want)
{
    const ExprNode *n = &s->node;
    ExprOp op = (ExprOp)n->op;
    if (op >= EXPR_FOEQ && op <= EXPR_FUNO)
        return back_float_compare(k, s, want);
    if (op == EXPR_UTOF || op == EXPR_STOF) {
        double d = expr_to_double(want, n->width);
        if (!(fabs(d) < 0x1p126))
            return false;
        return push(k, n->a, (ExprValue)(ExprSigned)d);
    }
    if (op == EXPR_FTOU || op == EXPR_FTOS) {
        double d = op == EXPR_FTOU ? (double)want : (double)expr_signed(want, n->width);
        return push(k, n->a, expr_from_double(d, s->wa));
    }
    double d = expr_to_double(want, n->width);
    bool second = s->wb && take_second(k, n);
    double other = s->wb ? expr_to_double(value(k, second ? n->a : n->b), s->wa) : 0;
    d = op == EXPR_FMATH ? inverse_math((ExprMath)n->k, d, other)
                         : inverse_float(op, second, d, other);
    return push(k, second ? n->b : n->a, expr_from_double(d, s->wa));
}

/* ---- backwards: one move */

static void set_byte(Walk *k, size_t i, ExprValue want)
{
    uint8_t v = byteset_nearest(&k->q->allowed[i], (uint8_t)want);
    if (v != k->q->values[i])
        k->changed |= tape_bit(i);
    k->q->values[i] = v;
}

static bool move_back(Walk *k, Move m)
{
    const TapeStep *s = step_at(k, m.slot);
    const ExprNode *n = &s->node;
    if (value(k, m.slot) == m.want && n->op != EXPR_BYTE)
        return true;
    switch ((ExprOp)n->op) {
    case EXPR_CONST: return false;
    case EXPR_BYTE: set_byte(k, n->a, m.want); return true;
    case EXPR_NOT: return push(k, n->a, ~m.want);
    case EXPR_NEG: return push(k, n->a, -m.want);
    case EXPR_ZEXT:
    case EXPR_SEXT: return push(k, n->a, m.want);
    case EXPR_EXTRACT: {
        ExprValue part = expr_mask(n->width) << n->k;
        return push(k, n->a, (value(k, n->a) & ~part) | m.want << n->k);
    }
    case EXPR_EQ:
    case EXPR_ULT:
    case EXPR_ULE:
    case EXPR_SLT:
    case EXPR_SLE: return back_compare(k, s, m.want);
    case EXPR_ITE: return back_ite(k, n, m.want);
    case EXPR_TABLE: return back_table(k, m.slot, n, m.want);
    default: return n->op >= EXPR_FADD ? back_float(k, s, m.want) : back_binary(k, s, m.want);
    }
}

/* Make a condition true by going backwards. Gives the bytes changed. */
static uint64_t go_back(Problem *q, size_t root)
{
    Walk k = { .q = q };
    push(&k, root, 1);
    for (unsigned i = 0; k.n && i < MAX_WALK; i++)
        if (!move_back(&k, k.moves[--k.n]))
            break;
    return k.changed;
}

/* One of the conditions that don't hold. */
static size_t false_root(Problem *q)
{
    size_t chosen = SIZE_MAX, found = 0;
    for (size_t i = q->rest.len; i-- > 0;)
        if (!tape_value(q->tape, i) && rng_below(&q->rng, ++found) == 0)
            chosen = tape_root(q->tape, i);
    return chosen;
}

/* What it costs to look at the tape again. */
static size_t rerun(Problem *q, uint64_t changed)
{
    return tape_rerun(q->tape, q->values, changed) + tape_size(q->tape) / 8 + 1;
}

bool quick_back(Problem *q, size_t budget)
{
    uint8_t *kept = xmalloc(q->n + 1);
    problem_restart(q);
    bool found = problem_holds(q);
    size_t best = tape_truths(q->tape), cost = tape_size(q->tape);
    unsigned since = 0;                     /* moves without progress */
    while (!found && budget > cost && !problem_stopped(q)) {
        budget -= cost;
        memcpy(kept, q->values, q->n);
        uint64_t changed = go_back(q, false_root(q));
        cost = rerun(q, changed);
        size_t now = tape_truths(q->tape);
        found = now == q->rest.len;
        since = now > best ? 0 : since + 1;
        if (!found && since > 24) {         /* led nowhere */
            problem_restart(q);
            problem_holds(q);
            cost = tape_size(q->tape);
            now = tape_truths(q->tape);
            since = 0;
        } else if (now + 1 < best || (now < best && rng_below(&q->rng, 3))) {
            memcpy(q->values, kept, q->n);
            cost += rerun(q, changed);
            now = best;
        }
        best = now;
    }
    free(kept);
    return found;
}

/* ---- downhill */

/* Distances of one-bit steps from being 1 and from being 0. */
typedef struct Hill {
    double *to_true, *to_false;
} Hill;

static double gap(ExprValue a, ExprValue b)
{
    ExprValue d = a > b ? a - b : b - a;
    return d ? log2(1 + (double)d) : 0;
}

static double float_gap(double a, double b)
{
    double d = fabs(a - b);
    return isnan(d) ? 200 : d > 0 ? log2(1 + d * 0x1p40) / 4 : 0;
}

static void compare_distance(const Problem *q, const TapeStep *s, double *t, double *f)
{
    ExprValue a = tape_slot(q->tape, s->node.a), b = tape_slot(q->tape, s->node.b);
    ExprOp op = (ExprOp)s->node.op;
    if (op == EXPR_SLT || op == EXPR_SLE) {
        a ^= (ExprValue)1 << (s->wa - 1);
        b ^= (ExprValue)1 << (s->wa - 1);
    }
    double d =
        op >= EXPR_FADD ? float_gap(expr_to_double(a, s->wa), expr_to_double(b, s->wa)) : gap(a, b);
    *t = d + 1;
    *f = op == EXPR_EQ || op == EXPR_FOEQ ? 1 : d + 1;
}

static void hill_step(const Problem *q, Hill *h, size_t i)
{
    const TapeStep *s = &tape_steps(q->tape)[i];
    const ExprNode *n = &s->node;
    if (n->width != 1)
        return;
    double t = 1, f = 1, *T = h->to_true, *F = h->to_false;
    bool now = tape_slot(q->tape, i);
    switch ((ExprOp)n->op) {
    case EXPR_NOT:
        t = F[n->a];
        f = T[n->a];
        break;
    case EXPR_AND:
        t = T[n->a] + T[n->b];
        f = fmin(F[n->a], F[n->b]);
        break;
    case EXPR_OR:
        t = fmin(T[n->a], T[n->b]);
        f = F[n->a] + F[n->b];
        break;
    case EXPR_ITE:
        t = fmin(T[n->a] + T[n->b], F[n->a] + T[n->c]);
        f = fmin(T[n->a] + F[n->b], F[n->a] + F[n->c]);
        break;
    case EXPR_EQ:
    case EXPR_ULT:
    case EXPR_ULE:
    case EXPR_SLT:
    case EXPR_SLE:
    case EXPR_FOEQ:
    case EXPR_FOLT:
    case EXPR_FOLE: compare_distance(q, s, &t, &f); break;
    default: break;
    }
    T[i] = now ? 0 : fmin(fmax(t, 0.5), 1e6);
    F[i] = now ? fmin(fmax(f, 0.5), 1e6) : 0;
}

static double distance(const Problem *q, Hill *h)
{
    double sum = 0;
    for (size_t i = 0; i < tape_size(q->tape); i++)
        hill_step(q, h, i);
    for (size_t i = 0; i < q->rest.len; i++)
        sum += h->to_true[tape_root(q->tape, i)];
    return sum;
}

/* Candidates for a byte: all it may be if `all`, else near ones and bits. */
static bool candidate(uint8_t old, unsigned v, bool all)
{
    unsigned d = v > old ? v - old : old - v, x = v ^ old;
    return v != old && (all || d == 1 || d == 10 || !(x & (x - 1)));
}

/* The best change of one byte; false if none is better. */
static bool step_down(Problem *q, Hill *h, double *best, size_t *budget)
{
    size_t nbytes = tape_nbytes(q->tape), cost = tape_size(q->tape) + 1;
    size_t best_byte = SIZE_MAX;
    uint8_t best_value = 0;
    bool all = nbytes * 256 * cost < *budget / 4;
    size_t first = nbytes ? rng_below(&q->rng, nbytes) : 0;
    double from = *best;
    for (size_t k = 0; k < nbytes; k++) {
        size_t i = (first + k) % nbytes;
        uint8_t old = q->values[i];
        for (unsigned v = 0; v < 256; v++) {
            if (!byteset_has(&q->allowed[i], (uint8_t)v) || !candidate(old, v, all))
                continue;
            if (*budget < cost)
                break;
            *budget -= cost;
            q->values[i] = (uint8_t)v;
            tape_rerun(q->tape, q->values, tape_bit(i));
            double d = distance(q, h);
            if (d < *best) {
                *best = d;
                best_byte = i;
                best_value = (uint8_t)v;
            }
        }
        q->values[i] = old;
        tape_rerun(q->tape, q->values, tape_bit(i));
        if (*best < from && !all)
            break;                          /* take the first that helps */
    }
    if (best_byte == SIZE_MAX)
        return false;
    q->values[best_byte] = best_value;
    tape_rerun(q->tape, q->values, tape_bit(best_byte));
    return true;
}

static void shake(Problem *q)
{
    size_t n = tape_nbytes(q->tape);
    problem_restart(q);
    for (size_t i = 0; i < 1 + n / 4 && n; i++) {
        size_t b = rng_below(&q->rng, n);
        unsigned count = byteset_count(&q->allowed[b]);
        q->values[b] = byteset_at(&q->allowed[b], (unsigned)rng_below(&q->rng, count));
    }
}

bool quick_down(Problem *q, size_t budget)
{
    size_t n = tape_size(q->tape) + 1;
    Hill h = { xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)) };
    bool found = false;
    problem_restart(q);
    while (!(found = problem_holds(q)) && budget > n && !problem_stopped(q)) {
        double best = distance(q, &h);
        budget -= n;
        while (best > 0 && step_down(q, &h, &best, &budget))
            ;
        if (best > 0)
            shake(q);
    }
    free(h.to_true);
    free(h.to_false);
    return found;
}
