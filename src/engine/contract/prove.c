/* Implications between invariants: see prove.h. */
#include "engine/contract/prove.h"
#include "solve/expr.h"
#include "solve/path.h"
#include "solve/solve.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96 };          /* products of a 64-bit number and a constant fit */

struct Prover {
    Exprs *exprs;
    ProverFigures figures;
};

Prover *prover_new(void)
{
    Prover *p = xcalloc(1, sizeof *p);
    p->exprs = exprs_new(NULL);
    return p;
}

void prover_free(Prover *p)
{
    if (!p)
        return;
    exprs_free(p->exprs);
    free(p);
}

ProverFigures prover_figures(const Prover *p) { return p->figures; }

/* --- the quick way */

/* What one fact about v[0] alone says of its range. */
static bool range_of(const Invariant *f, int64_t *least, int64_t *most)
{
    *least = INT64_MIN;
    *most = INT64_MAX;
    switch (f->kind) {
    case INV_LOWER: *least = f->k[0].i; return true;
    case INV_UPPER: *most = f->k[0].i; return true;
    case INV_ONE_OF:
        *least = *most = f->k[0].i;
        for (unsigned i = 1; i < f->n; i++) {
            *least = f->k[i].i < *least ? f->k[i].i : *least;
            *most = f->k[i].i > *most ? f->k[i].i : *most;
        }
        return true;
    default: return false;
    }
}

static bool is_integer(const Var *v)
{
    return v->kind == VAR_INT || v->kind == VAR_POINTER || v->kind == VAR_FACT ||
           v->kind == VAR_STRING;
}

/* Each value that the fact allows is allowed by the goal. */
static bool one_of_implies(const Invariant *f, const Invariant *goal, const Var *vars)
{
    if (f->kind != INV_ONE_OF || inv_arity(goal->kind) != 1 || goal->kind == INV_UNCHANGED ||
        goal->kind == INV_ONE_VALUE || goal->guard || !is_integer(&vars[f->v[0]]))
        return false;
    Cell c;
    uint8_t known = 1;
    Var v = { .kind = VAR_INT, .twin = -1 };
    Point p = { .vars = &v, .nvars = 1 };
    Row row = { .cells = &c, .known = &known };
    Invariant local = *goal;
    local.v[0] = 0;
    for (unsigned i = 0; i < f->n; i++) {
        c = f->k[i];
        if (!inv_holds(&local, &p, &row))
            return false;
    }
    return true;
}

bool fact_implies(const Invariant *f, const Invariant *goal, const Var *vars)
{
    int64_t fl, fm, gl, gm;

    if (f->kind == INV_UNCHANGED || f->kind == INV_ONE_VALUE)
        return false;
    if (inv_same(f, goal))
        return true;
    if (f->guard || goal->guard)
        return false;
    if (f->kind == INV_LESS && goal->kind == INV_LESS)
        return f->v[0] == goal->v[0] && f->v[1] == goal->v[1] && f->k[0].i <= goal->k[0].i;
    if (f->kind == INV_EQUAL && goal->kind == INV_LESS && goal->k[0].i >= 0)
        return (f->v[0] == goal->v[0] && f->v[1] == goal->v[1]) ||
               (f->v[1] == goal->v[0] && f->v[0] == goal->v[1]);
    if (f->kind == INV_EQUAL && goal->kind == INV_EQUAL)
        return f->v[1] == goal->v[0] && f->v[0] == goal->v[1];
    if (inv_arity(f->kind) != 1 || inv_arity(goal->kind) != 1 || f->v[0] != goal->v[0] ||
        !is_integer(&vars[f->v[0]]))
        return false;
    if (one_of_implies(f, goal, vars))
        return true;
    if (!range_of(f, &fl, &fm))
        return false;
    if (goal->kind == INV_NONZERO)
        return fl > 0 || fm < 0;
    return goal->kind != INV_ONE_OF && range_of(goal, &gl, &gm) && fl >= gl && fm <= gm;
}

/* --- as an expression */

typedef struct Builder {
    Exprs *p;
    const Var *vars;
    unsigned nvars;
} Builder;

static Expr number(Builder *b, int64_t x)
{
    return expr_const(b->p, WIDTH, (ExprValue)(__int128)x);
}

static Expr variable(Builder *b, int v)
{
    const Var *x = &b->vars[v];
    unsigned bytes = x->bits ? (x->bits + 7) / 8 : 8;
    char name[32];
    Expr parts[8];

    assert(v >= 0 && (unsigned)v < b->nvars && bytes <= 8);
    snprintf(name, sizeof name, "v%d.%u", v, bytes);
    uint32_t at = exprs_source(b->p, name, bytes);
    if (at == UINT32_MAX)
        return 0;
    for (unsigned i = 0; i < bytes; i++)
        parts[i] = expr_byte(b->p, at + i);
    Expr e = expr_le(b->p, parts, bytes);
    return x->is_unsigned || x->kind == VAR_POINTER ? expr_zext(b->p, e, WIDTH)
                                                    : expr_sext(b->p, e, WIDTH);
}

static Expr either(Builder *b, Expr x, Expr y) { return expr_binary(b->p, EXPR_OR, x, y); }

static Expr unary(Builder *b, const Invariant *inv, Expr x)
{
    Exprs *p = b->p;
    Expr k = number(b, inv->k[0].i), any = expr_bool(p, false);

    switch (inv->kind) {
    case INV_ONE_OF:
        for (unsigned i = 0; i < inv->n; i++)
            any = either(b, any, expr_binary(p, EXPR_EQ, x, number(b, inv->k[i].i)));
        return any;
    case INV_NONZERO: return expr_binary(p, EXPR_NE, x, number(b, 0));
    case INV_LOWER: return expr_binary(p, EXPR_SLE, k, x);
    case INV_UPPER: return expr_binary(p, EXPR_SLE, x, k);
    case INV_MODULUS:
        return expr_binary(p, EXPR_EQ, expr_binary(p, EXPR_SREM, x, k), number(b, inv->k[1].i));
    case INV_FLAGS:
        return expr_binary(p, EXPR_EQ, expr_binary(p, EXPR_AND, x, number(b, ~inv->k[0].i)),
                           number(b, 0));
    default: return 0;
    }
}

static Expr right_side(Builder *b, const Invariant *inv)
{
    Exprs *p = b->p;
    Expr y = variable(b, inv->v[1]);
    Expr z = inv_arity(inv->kind) > 2 ? variable(b, inv->v[2]) : 0;

    switch (inv->kind) {
    case INV_EQUAL: return y;
    case INV_LINEAR:
        return expr_binary(p, EXPR_ADD, expr_binary(p, EXPR_MUL, y, number(b, inv->k[0].i)),
                           number(b, inv->k[1].i));
    case INV_QUOTIENT: return expr_binary(p, EXPR_SDIV, y, number(b, inv->k[0].i));
    case INV_ABSOLUTE: return expr_unary(p, EXPR_ABS, y);
    case INV_LINEAR3:
        return expr_binary(p, EXPR_ADD,
                           expr_binary(p, EXPR_ADD,
                                       expr_binary(p, EXPR_MUL, y, number(b, inv->k[0].i)),
                                       expr_binary(p, EXPR_MUL, z, number(b, inv->k[1].i))),
                           number(b, inv->k[2].i));
    case INV_AND: return expr_binary(p, EXPR_AND, y, z);
    case INV_OR: return expr_binary(p, EXPR_OR, y, z);
    case INV_MINIMUM: return expr_binary(p, EXPR_SMIN, y, z);
    case INV_MAXIMUM: return expr_binary(p, EXPR_SMAX, y, z);
    default: return 0;
    }
}

static Expr body(Builder *b, const Invariant *inv)
{
    Expr x = variable(b, inv->v[0]);

    if (inv_arity(inv->kind) == 1)
        return unary(b, inv, x);
    if (inv->kind == INV_LESS)
        return expr_binary(b->p, EXPR_SLE, x,
                           expr_binary(b->p, EXPR_ADD, variable(b, inv->v[1]),
                                       number(b, inv->k[0].i)));
    return expr_binary(b->p, EXPR_EQ, x, right_side(b, inv));
}

/* 0: it can't be said in bit-vectors. */
static Expr as_expr(Builder *b, const Invariant *inv)
{
    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if (!is_integer(&b->vars[inv->v[i]]))
            return 0;
    Expr e = body(b, inv);
    if (!inv->guard || !e)
        return e;
    Expr g = variable(b, inv->v_guard), zero = number(b, 0), is;
    switch (inv->guard) {
    case GUARD_ZERO: is = expr_binary(b->p, EXPR_EQ, g, zero); break;
    case GUARD_NONZERO: is = expr_binary(b->p, EXPR_NE, g, zero); break;
    case GUARD_NEGATIVE: is = expr_binary(b->p, EXPR_SLT, g, zero); break;
    default: is = expr_binary(b->p, EXPR_SLE, zero, g); break;
    }
    return either(b, expr_not(b->p, is), e);
}

/* --- asking */

/* Facts that share variables with the goal, directly or through others. */
static size_t mark_related(const Invariant *facts, size_t n, const Invariant *goal, unsigned nvars,
                           bool *related)
{
    bool *in = xcalloc(nvars + 1, sizeof *in);
    size_t count = 0;
    bool grew = true;

    for (unsigned v = 0; v < nvars; v++)
        in[v] = inv_mentions(goal, (int)v);
    memset(related, 0, n * sizeof *related);
    while (grew) {
        grew = false;
        for (size_t i = 0; i < n; i++) {
            bool touches = false;
            for (unsigned k = 0; k < inv_arity(facts[i].kind); k++)
                touches |= in[facts[i].v[k]];
            if (related[i] || !touches)
                continue;
            related[i] = grew = true;
            count++;
            for (unsigned k = 0; k < inv_arity(facts[i].kind); k++)
                in[facts[i].v[k]] = true;
        }
    }
    free(in);
    return count;
}

static bool ask(Prover *p, const Var *vars, unsigned nvars, const Invariant *facts, size_t n,
                const Invariant *goal, const bool *related)
{
    Builder b = { p->exprs, vars, nvars };
    Answer answer;

    exprs_reset(p->exprs);
    Expr q = as_expr(&b, goal);
    if (!q)
        return false;
    Path *path = path_new(p->exprs);
    for (size_t i = 0; i < n; i++) {
        Expr e = related[i] ? as_expr(&b, &facts[i]) : 0;
        if (e)
            path_add(path, e, (uint32_t)i, true);
    }
    size_t at = path_add(path, q, (uint32_t)n, true);
    ExprValue constant;
    bool proved = expr_is_const(p->exprs, q, &constant) && constant;
    if (!proved) {
        Solver *solver = solver_new(p->exprs, &(SolverPlan){ .z3_seconds = 1,
                                                             .z3_steps = 1000000,
                                                             .no_optimistic = true,
                                                             .search_steps = 20000 });
        uint8_t *input = xcalloc(nvars + 1, 8);
        SolveStatus st = solver_query(solver, path, at, input, (size_t)nvars * 8, &answer);
        proved = st == SOLVE_UNSAT;
        p->figures.unknown += st == SOLVE_UNKNOWN;
        solver_free(solver);
        free(input);
    }
    path_free(path);
    return proved;
}

bool prove(Prover *p, const Var *vars, unsigned nvars, const Invariant *facts, size_t n,
           const Invariant *goal, bool *used)
{
    bool *related = xcalloc(n + 1, sizeof *related);
    bool proved = false;

    p->figures.asked++;
    if (used)
        memset(used, 0, n * sizeof *used);
    for (size_t i = 0; i < n && !proved; i++)
        if (fact_implies(&facts[i], goal, vars)) {
            proved = true;
            p->figures.quick++;
            if (used)
                used[i] = true;
        }
    if (!proved && goal->kind != INV_UNCHANGED && goal->kind != INV_ONE_VALUE &&
        mark_related(facts, n, goal, nvars, related)) {
        p->figures.solver++;
        proved = ask(p, vars, nvars, facts, n, goal, related);
        if (used && proved)
            memcpy(used, related, n * sizeof *used);
    }
    free(related);
    return proved;
}
