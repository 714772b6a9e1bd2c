/*
 * The base engine: rows become columns, columns are tried against each kind of
 * invariant (unary.c, binary.c, ternary.c), then once more in the two halves that
 * the function's result makes.
 */
#include "engine/contract/infer.h"
#include "engine/contract/infer_int.h"
#include <assert.h>
#include <math.h>
#include <string.h>

double confidence_is_ge(double x, double goal)
{
    if (x >= goal)
        return 1;
    return x <= 1 ? 0 : (x - 1) / (goal - 1);
}

double confidence_nonzero(uint64_t n, double r)
{
    return r <= 1 ? 1 : 1 - pow(1 - 1 / r, (double)n);
}

double confidence_even(uint64_t n) { return n > 60 ? 1 : 1 - pow(0.5, (double)n); }

void keep(Engine *e, Invariant inv)
{
    assert(inv.confidence >= 0 && inv.confidence <= 1);
    if (inv.confidence >= e->limit)
        vec_push(e->out, inv);
}

/* An enum is compared with the same enum, a truth value with nothing but for
 * equality; what the program itself never brings together stays apart. */
bool comparable(const Point *p, unsigned i, unsigned k, bool *strong)
{
    const Var *a = &p->vars[i], *b = &p->vars[k];

    *strong = a->twin == (int)k || point_related(p, (int)i, (int)k);
    if (a->role == ROLE_ERRNO || b->role == ROLE_ERRNO || a->kind == VAR_FACT ||
        b->kind == VAR_FACT || a->kind == VAR_STRING || b->kind == VAR_STRING)
        return a->kind == b->kind && a->kind == VAR_STRING && *strong;
    if (a->kind != b->kind)
        return false;
    /* Parts of one array: what they are says how they are ordered. */
    bool part_a = var_is_derived(a) || a->name[0] == '*',
         part_b = var_is_derived(b) || b->name[0] == '*';
    if (part_a && part_b && a->param == b->param && a->kind == VAR_INT)
        return false;
    /* Far fields: only with those of the same struct, or what the program relates. */
    bool far = a->depth > 1 || b->depth > 1;
    if (far && a->twin != (int)k && (a->orig != b->orig || (!*strong && a->parent != b->parent)))
        return false;
    if (a->kind == VAR_POINTER)
        return a->depth < 2 && b->depth < 2;
    if ((a->nvalues || b->nvalues) && strcmp(a->type, b->type) != 0)
        return false;
    if (a->is_bool != b->is_bool)
        return false;
    return !a->unit || !b->unit || a->unit == b->unit || *strong;
}

bool differ_in_unit(const Var *a, const Var *b)
{
    return a->kind == VAR_INT && b->kind == VAR_INT && !a->nvalues && !b->nvalues && !a->is_bool &&
           !b->is_bool && a->unit && b->unit && a->unit != b->unit && a->role != ROLE_ERRNO &&
           b->role != ROLE_ERRNO;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a < 0 ? -a : a;
}

static void note_value(Column *c, Cell x, uint64_t times)
{
    for (unsigned i = 0; i < c->nsome; i++)
        if (c->some[i].i == x.i) {
            c->times[i] += times;
            return;
        }
    if (c->nsome < SOME) {
        c->some[c->nsome] = x;
        c->times[c->nsome++] = times;
    } else {
        c->more = true;
    }
}

static void note_integer(Column *c, int64_t x, bool first)
{
    int64_t base = c->some[0].i;

    if (first || x < c->min)
        c->min = x;
    if (first || x > c->max)
        c->max = x;
    c->bits |= (uint64_t)x;
    if (base > -(1ll << 60) && base < 1ll << 60 && x > -(1ll << 60) && x < 1ll << 60)
        c->step = gcd(c->step, x - base);
    else
        c->step = 1;
}

/* How often the bounds and their neighbours were seen. */
static void count_bounds(Column *c, const uint64_t *counts, size_t nrows)
{
    for (size_t r = 0; r < nrows; r++) {
        if (!c->known[r])
            continue;
        uint64_t low = (uint64_t)c->cells[r].i - (uint64_t)c->min;
        uint64_t high = (uint64_t)c->max - (uint64_t)c->cells[r].i;
        if (low < 3)
            c->at_min[low] += counts[r];
        if (high < 3)
            c->at_max[high] += counts[r];
    }
}

static void make_column(Engine *e, const Rows *rows, unsigned v)
{
    Column *c = &e->columns[v];
    VarKind kind = e->p->vars[v].kind;

    c->cells = arena_array(&e->arena, Cell, e->nrows + 1);
    c->known = arena_array(&e->arena, uint8_t, e->nrows + 1);
    c->leader = (int)v;
    for (size_t r = 0; r < e->nrows; r++) {
        const Row *row = &rows->items[r];
        c->known[r] = row->known[v];
        if (!row->known[v])
            continue;
        c->cells[r] = row->cells[v];
        note_value(c, row->cells[v], row->count);
        if (kind == VAR_FLOAT) {
            double d = row->cells[v].d;
            c->fmin = c->rows && c->fmin <= d ? c->fmin : d;
            c->fmax = c->rows && c->fmax >= d ? c->fmax : d;
        } else {
            note_integer(c, row->cells[v].i, c->rows == 0);
        }
        c->n += row->count;
        c->rows++;
    }
    /* A number beside an array that is seldom an index of it is none. */
    uint64_t all = 0;
    for (size_t r = 0; r < e->nrows; r++)
        all += e->counts[r];
    if (var_is_derived(&e->p->vars[v]) && 2 * c->n < all) {
        memset(c->known, 0, e->nrows);
        c->n = c->rows = c->nsome = 0;
    }
    if (kind != VAR_FLOAT && c->rows)
        count_bounds(c, e->counts, e->nrows);
}

static void engine_init(Engine *e, const Point *p, const Rows *rows, const InferPlan *plan,
                        Invariants *out)
{
    *e = (Engine){
        .p = p,
        .limit = plan->limit,
        .loose = plan->loose,
        .many = plan->many,
        .nrows = rows->len,
        .out = out,
    };
    e->counts = arena_array(&e->arena, uint64_t, rows->len + 1);
    e->columns = arena_array(&e->arena, Column, p->nvars + 1);
    e->linear = arena_array(&e->arena, uint8_t, (size_t)p->nvars * p->nvars + 1);
    for (size_t r = 0; r < rows->len; r++)
        e->counts[r] = rows->items[r].count;
    for (unsigned v = 0; v < p->nvars; v++)
        make_column(e, rows, v);
}

/* Samples of its own and all that speak for an invariant. */
static void count_evidence(const Point *p, const Rows *rows, Invariant *inv)
{
    inv->samples = inv->own = 0;
    for (size_t r = 0; r < rows->len; r++) {
        const Row *row = &rows->items[r];
        if (!inv_applies(inv, p, row))
            continue;
        assert(inv_holds(inv, p, row));
        inv->samples += row->count;
        if (row->origin == ORIGIN_OWN)
            inv->own += row->count;
    }
}

static void infer_plain(const Point *p, const Rows *rows, const InferPlan *plan, Invariants *out)
{
    Engine e;
    size_t from = out->len;

    engine_init(&e, p, rows, plan, out);
    infer_unary(&e);
    infer_binary(&e);
    infer_ternary(&e);
    infer_hide(&e, from);
    if (plan->loose)
        infer_loose(&e);
    arena_release(&e.arena);
}

/* --- implications */

static bool is_known(const Invariants *list, const Invariant *inv)
{
    for (size_t i = 0; i < list->len; i++)
        if (inv_same(&list->items[i], inv))
            return true;
    return false;
}

/* What the half of the rows with `guard` shows beyond what all show. */
static void infer_half(const Point *p, const Rows *rows, int result, Guard guard,
                       const InferPlan *plan, Invariants *out)
{
    Rows half = { 0 };
    uint64_t n = 0;
    Invariants found = { 0 };
    size_t whole = out->len;

    for (size_t r = 0; r < rows->len; r++)
        if (rows->items[r].known[result] && guard_holds(guard, rows->items[r].cells[result].i)) {
            vec_push(&half, rows->items[r]);
            n += rows->items[r].count;
        }
    infer_plain(p, &half, plan, &found);
    for (size_t i = 0; i < found.len; i++) {
        Invariant inv = found.items[i];
        Invariants all = { out->items, whole, whole };
        bool about_result = inv_arity(inv.kind) == 1 && inv.v[0] == result;
        inv.confidence *= confidence_even(n / 2);      /* twice the calls: it is a half */
        if (about_result || is_known(&all, &inv) || !inv_belongs(&inv, p) ||
            inv.kind == INV_ONE_VALUE || inv.confidence < plan->limit)
            continue;
        inv.guard = guard;
        inv.v_guard = result;
        vec_push(out, inv);
    }
    vec_release(&found);
    vec_release(&half);
}

/* Which way the result splits the calls: into failures and the rest. */
static Guard guard_of_result(const Point *p, const Rows *rows, int result)
{
    bool zero = false, negative = false, positive = false;

    for (size_t r = 0; r < rows->len; r++) {
        if (!rows->items[r].known[result])
            continue;
        int64_t x = rows->items[r].cells[result].i;
        zero |= x == 0;
        negative |= x < 0;
        positive |= x > 0;
    }
    if (p->vars[result].kind == VAR_POINTER)
        return zero && (positive || negative) ? GUARD_ZERO : GUARD_NONE;
    if (negative && (zero || positive))
        return GUARD_NEGATIVE;
    return zero && positive ? GUARD_ZERO : GUARD_NONE;
}

static void infer_guarded(const Point *p, const Rows *rows, const InferPlan *plan, Invariants *out)
{
    int result = -1;

    for (unsigned v = 0; v < p->nvars; v++)
        if (p->vars[v].role == ROLE_RESULT && strcmp(p->vars[v].name, "return") == 0 &&
            (p->vars[v].kind == VAR_INT || p->vars[v].kind == VAR_POINTER))
            result = (int)v;
    Guard guard = result < 0 ? GUARD_NONE : guard_of_result(p, rows, result);
    if (guard == GUARD_NONE)
        return;
    Invariants halves = { 0 };
    for (size_t i = 0; i < out->len; i++)
        vec_push(&halves, out->items[i]);
    infer_half(p, rows, result, guard, plan, &halves);
    infer_half(p, rows, result, guard == GUARD_ZERO ? GUARD_NONZERO : GUARD_NOT_NEGATIVE, plan,
               &halves);
    for (size_t i = out->len; i < halves.len; i++)
        vec_push(out, halves.items[i]);
    vec_release(&halves);
}

/* errno means something after a failure alone, and then it is not 0. In one half of
 * the calls a set of values is an accident more often than not. */
enum { LEAST_GUARDED = 100 };          /* samples of a half, before two are ordered */

static bool says_something(const Point *p, const Invariant *inv)
{
    bool failure = inv->guard == GUARD_NEGATIVE ||
                   (inv->guard == GUARD_ZERO && p->vars[inv->v_guard].kind == VAR_POINTER);

    if (p->vars[inv->v[0]].role == ROLE_ERRNO)
        return failure && inv->kind == INV_NONZERO;
    if (!inv->guard)
        return true;
    const Var *v = &p->vars[inv->v[0]];
    if (v->role == ROLE_GLOBAL && inv_arity(inv->kind) == 1)
        return false;                  /* it has been so since the program began */
    if (inv->kind == INV_ONE_OF)
        return inv->n == 1 && v->depth < 2 && v->kind != VAR_STRING &&
               (v->nvalues || (inv->k[0].i >= -1 && inv->k[0].i <= 1));
    if (inv_arity(inv->kind) == 3 && inv->kind != INV_LINEAR3 && inv->kind != INV_PRODUCT)
        return false;
    if (inv->kind == INV_LESS && v->twin != inv->v[1] && inv->samples < LEAST_GUARDED)
        return false;
    if ((inv->kind == INV_EQUAL || inv->kind == INV_LINEAR) && v->twin != inv->v[1] &&
        v->role == ROLE_MEMORY && p->vars[inv->v[1]].role == ROLE_MEMORY &&
        inv->samples < LEAST_GUARDED)
        return false;                  /* of two structs: equal by chance */
    if (inv->kind == INV_LESS && inv->confidence < 1 - 1e-5)
        return false;                  /* fewer than 17 calls of that half */
    return inv->kind != INV_MODULUS && inv->kind != INV_FLAGS &&
           (v->depth < 2 || inv->kind == INV_EQUAL);
}

void infer(const Point *p, const Rows *rows, const InferPlan *plan, Invariants *out)
{
    InferPlan with = *plan;
    size_t from = out->len;

    with.limit = plan->limit > 0 ? plan->limit : 0.99;
    if (!rows->len)
        return;
    infer_plain(p, rows, &with, out);
    if (p->is_exit && !plan->no_guards)
        infer_guarded(p, rows, &with, out);
    size_t kept = from;
    for (size_t i = from; i < out->len; i++) {
        Invariant inv = out->items[i];
        if (!inv_belongs(&inv, p))
            continue;
        count_evidence(p, rows, &inv);
        if (!plan->loose && !says_something(p, &inv))
            continue;
        out->items[kept++] = inv;
    }
    out->len = kept;
}
