/*
 * Floating-point unknowns: conditions as equations, solved as on paper.
 *
 * An unknown is a float or double whose bytes all come from the input. A condition on
 * such numbers has a residual: how far it is from being true, 0 if it is. Newton's method for
 * many unknowns (with the damping of Levenberg and Marquardt, and slopes by trying) brings all
 * residuals down together:
 *
 *     x + y == -1.75, x - y == 6.75     from (0, 0) to (2.5, -4.25) in one step
 *     x * x == 39.0625                  from 1 to 6.25 in six
 *
 * What is near a solution is rounded to few decimals, the fewest first: programs compare
 * with numbers that people write, and == wants the exact one. The conditions themselves
 * decide whether a candidate is a solution, so nothing here needs to be exact.
 */
#include "solve/expr_int.h"
#include "solve/problem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { UNKNOWNS = 8, ROUNDS = 24, STARTS = 10, DECIMALS = 16 };

typedef struct Unknown {
    size_t slot;
    unsigned n;                        /* bytes: 4 or 8 */
    size_t byte[8];                    /* on the tape, low to high */
} Unknown;

typedef struct Newton {
    Problem *q;
    Unknown unknowns[UNKNOWNS];
    size_t n;                          /* of them */
    size_t m;                          /* conditions */
    double margin;                     /* how far inside of a bound to go */
    double *residual, *moved;          /* m each */
    double *slope;                     /* m rows of n */
    size_t budget;                     /* nodes that may still be computed */
} Newton;

/* ---- unknowns */

static bool is_float_op(unsigned op) { return op >= EXPR_FADD && op <= EXPR_FMATH; }

static bool takes_float(unsigned op)
{
    return is_float_op(op) && op != EXPR_UTOF && op != EXPR_STOF;
}

/* Is the value at this slot a row of bytes and nothing else? */
static bool bytes_of(const TapeStep *steps, size_t slot, Unknown *u)
{
    size_t row[8], n = 1;
    u->slot = slot;
    u->n = 0;
    row[0] = slot;
    while (n) {
        const ExprNode *node = &steps[row[--n]].node;
        if (node->op == EXPR_BYTE && u->n < 8) {
            u->byte[u->n++] = node->a;
        } else if (node->op == EXPR_CONCAT && n < 7) {
            row[n++] = node->a;
            row[n++] = node->b;        /* the low part comes first */
        } else {
            return false;
        }
    }
    return u->n == 4 || u->n == 8;
}

static void add_unknown(Newton *w, const TapeStep *steps, size_t slot)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->unknowns[i].slot == slot)
            return;
    if (w->n < UNKNOWNS && bytes_of(steps, slot, &w->unknowns[w->n]))
        w->n++;
}

static void find_unknowns(Newton *w)
{
    const TapeStep *steps = tape_steps(w->q->tape);
    for (size_t i = 0; i < tape_size(w->q->tape); i++) {
        if (!takes_float(steps[i].node.op))
            continue;
        add_unknown(w, steps, steps[i].node.a);
        if (steps[i].wb)
            add_unknown(w, steps, steps[i].node.b);
    }
}

/* ---- values */

static double value_at(const Newton *w, size_t slot)
{
    return expr_to_double(tape_slot(w->q->tape, slot), tape_steps(w->q->tape)[slot].node.width);
}

/* Bytes that may not have their value keep the old one. */
static void put(Newton *w, size_t i, double v)
{
    const Unknown *u = &w->unknowns[i];
    uint64_t bits = (uint64_t)expr_from_double(v, u->n * 8);
    for (unsigned k = 0; k < u->n; k++)
        problem_set(w->q, u->byte[k], (uint8_t)(bits >> 8 * k));
}

static bool put_all(Newton *w, const double *x)
{
    for (size_t i = 0; i < w->n; i++)
        put(w, i, x[i]);
    w->budget -= w->budget < tape_size(w->q->tape) ? w->budget : tape_size(w->q->tape);
    return problem_holds(w->q);
}

/* ---- how far from true */

static double residual_at(const Newton *w, size_t slot, bool want, unsigned depth);

/* Both, or one of them. */
static double join(const Newton *w, const ExprNode *n, bool both, bool want, unsigned depth)
{
    double a = residual_at(w, n->a, want, depth + 1), b = residual_at(w, n->b, want, depth + 1);
    return both ? fabs(a) + fabs(b) : fabs(a) < fabs(b) ? a : b;
}

static double residual_at(const Newton *w, size_t slot, bool want, unsigned depth)
{
    const TapeStep *s = &tape_steps(w->q->tape)[slot];
    const ExprNode *n = &s->node;
    bool is = tape_slot(w->q->tape, slot) != 0;
    if (is == want)
        return 0;
    if (depth < 16 && n->width == 1 && n->op == EXPR_NOT)
        return residual_at(w, n->a, !want, depth + 1);
    if (depth < 16 && n->width == 1 && (n->op == EXPR_AND || n->op == EXPR_OR))
        return join(w, n, (n->op == EXPR_AND) == want, want, depth);
    if (n->op != EXPR_FOEQ && n->op != EXPR_FOLT && n->op != EXPR_FOLE)
        return 1;
    double a = value_at(w, n->a), b = value_at(w, n->b), far = a - b;
    if (!isfinite(far))
        return 1e150;
    if (n->op == EXPR_FOEQ)
        return want ? far : 1;
    double inside = w->margin * fmax(1, fmin(fabs(a), fabs(b)));
    return want ? far + inside : far - inside;
}

static double measure(const Newton *w, double *out)
{
    double sum = 0;
    for (size_t i = 0; i < w->m; i++) {
        out[i] = residual_at(w, tape_root(w->q->tape, i), true, 0);
        sum += out[i] * out[i];
    }
    return sum;
}

/* ---- a step */

/* Solves (JᵀJ + damping) d = -Jᵀr by elimination. */
static bool solve_step(const Newton *w, double damping, double *d)
{
    double a[UNKNOWNS][UNKNOWNS + 1];
    for (size_t i = 0; i < w->n; i++) {
        for (size_t k = 0; k <= w->n; k++) {
            a[i][k] = 0;
            for (size_t r = 0; r < w->m; r++)
                a[i][k] +=
                    w->slope[r * w->n + i] * (k < w->n ? w->slope[r * w->n + k] : -w->residual[r]);
        }
        a[i][i] += damping * (a[i][i] + 1e-12);
    }
    for (size_t i = 0; i < w->n; i++) {
        size_t best = i;
        for (size_t k = i + 1; k < w->n; k++)
            best = fabs(a[k][i]) > fabs(a[best][i]) ? k : best;
        for (size_t k = 0; k <= w->n; k++) {
            double t = a[i][k];
            a[i][k] = a[best][k];
            a[best][k] = t;
        }
        if (!isfinite(a[i][i]) || a[i][i] == 0)
            return false;
        for (size_t r = 0; r < w->n; r++)
            for (size_t k = w->n + 1; r != i && k-- > i;)
                a[r][k] -= a[i][k] * (a[r][i] / a[i][i]);
    }
    for (size_t i = 0; i < w->n; i++)
        d[i] = a[i][w->n] / a[i][i];
    return true;
}

static void find_slopes(Newton *w, const double *x)
{
    double near[UNKNOWNS];
    for (size_t i = 0; i < w->n; i++) {
        double h = fmax(fabs(x[i]), 1) * (w->unknowns[i].n == 4 ? 1e-3 : 1e-6);
        memcpy(near, x, w->n * sizeof *near);
        near[i] += h;
        put_all(w, near);
        measure(w, w->moved);
        for (size_t r = 0; r < w->m; r++)
            w->slope[r * w->n + i] = (w->moved[r] - w->residual[r]) / h;
    }
}

/* The nearest with few decimals; x stays as it is. */
static bool round_off(Newton *w, const double *x)
{
    double near[UNKNOWNS], unit = 1;
    for (int decimals = 0; decimals <= DECIMALS; decimals++, unit *= 10) {
        for (size_t i = 0; i < w->n; i++)
            near[i] = fabs(x[i]) * unit < 0x1p53 ? nearbyint(x[i] * unit) / unit : x[i];
        if (put_all(w, near))
            return true;
    }
    return put_all(w, x);
}

/* From x downhill; true: the candidate is a solution. */
static bool descend(Newton *w, double *x)
{
    double damping = 1e-6, d[UNKNOWNS], next[UNKNOWNS];
    put_all(w, x);
    double far = measure(w, w->residual);
    for (unsigned round = 0; round < ROUNDS && w->budget && isfinite(far); round++) {
        find_slopes(w, x);
        bool better = false;
        for (unsigned tries = 0; tries < 8 && !better; tries++, damping *= 10) {
            if (!solve_step(w, damping, d))
                continue;
            for (size_t i = 0; i < w->n; i++)
                next[i] = x[i] + d[i];
            put_all(w, next);
            double then = measure(w, w->moved);
            better = then < far;
            if (better) {
                memcpy(x, next, sizeof next);
                memcpy(w->residual, w->moved, w->m * sizeof *w->moved);
                far = then;
            }
        }
        damping = fmax(damping / 100, 1e-12);
        if (!better || far < 1e-18)
            break;
    }
    return round_off(w, x);
}

/* Where to begin: as it is, then simple numbers, then any. */
static void begin(Newton *w, unsigned start, const double *parent, double *x)
{
    static const double simple[] = { 1, -1, 0.5, 100 };
    for (size_t i = 0; i < w->n; i++) {
        double any = ((double)rng_below(&w->q->rng, 2000001) - 1e6) / 1e4;
        x[i] = start == 0 && fabs(parent[i]) < 1e100 ? parent[i]
               : start && start <= 4                 ? simple[start - 1]
                                                     : any;
    }
}

bool quick_newton(Problem *q, size_t budget)
{
    Newton w = { .q = q, .m = q->rest.len, .budget = budget };
    double parent[UNKNOWNS], x[UNKNOWNS];
    bool found = false;
    find_unknowns(&w);
    if (!w.n || !w.m)
        return false;
    w.residual = xcalloc(w.m, sizeof(double));
    w.moved = xcalloc(w.m, sizeof(double));
    w.slope = xcalloc(w.m * w.n, sizeof(double));
    problem_restart(q);
    problem_holds(q);
    for (size_t i = 0; i < w.n; i++)
        parent[i] = value_at(&w, w.unknowns[i].slot);
    for (unsigned start = 0; start < STARTS && !found && w.budget && !problem_stopped(q); start++) {
        static const double margins[] = { 1e-2, 1e-6, 0.5 };
        w.margin = margins[start % 3];
        problem_restart(q);
        begin(&w, start, parent, x);
        found = descend(&w, x);
    }
    free(w.residual);
    free(w.moved);
    free(w.slope);
    return found;
}
