/* Invariants of one variable. The rules of confidence stand in infer.h. */
#include "engine/contract/infer_int.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    BOUND_LEAST = -1,
    BOUND_MOST = 2,
    LEAST_EACH = 3,
    LEAST_ENUM = 10,
    SAME_OBJECT = 20,
    SAME_VALUE = 40,
    LEAST_FACT = 60,
    LEAST_LENGTH = 1000,
    LEAST_BOUND = 12,
    LEAST_FIELD = 30,
    LEAST_DESPITE = 200,      /* although the source puts something else there, too … */
    LEAST_ZEROED = 1000,      /* … 0, before a number is called not zero */
    LEAST_TESTED = 1000,      /* although the program looks whether it is 0 or NULL */
    LEAST_TRUTH = 100,
    LEAST_SET = 24,           /* results of a few values, which the source computes */
    LEAST_NUMBER = 60,        /* before a field is called not zero or positive */
    LEAST_FLOAT = 100,
    LEAST_FAR = 200,
    SAME_RESULT = 12,
};

static Invariant unary(InvKind kind, unsigned v, double confidence)
{
    return (Invariant){ .kind = kind, .v = { (int)v }, .confidence = confidence };
}

/* Does the source itself put something there that the invariant excludes? */
static bool is_contradicted(const Var *v, const Invariant *inv)
{
    for (unsigned i = 0; i < v->nputs; i++) {
        int64_t x = v->puts[i];
        bool fits = false;
        switch (inv->kind) {
        case INV_NONZERO: fits = x != 0; break;
        case INV_LOWER: fits = x >= inv->k[0].i; break;
        case INV_UPPER: fits = x <= inv->k[0].i; break;
        case INV_ONE_OF:
            for (unsigned k = 0; k < inv->n; k++)
                fits |= inv->k[k].i == x;
            break;
        default: fits = true;
        }
        if (!fits)
            return true;
    }
    return false;
}

static bool is_one_of_many(const Engine *e, const Var *v)
{
    return !e->many || map_get(e->many, v->type);
}

bool has_one_object(const Engine *e, int param)
{
    for (unsigned v = 0; param >= 0 && v < e->p->nvars; v++)
        if (e->p->vars[v].role == ROLE_PARAM && e->p->vars[v].param == param &&
            e->p->vars[v].kind == VAR_POINTER)
            return column_is_constant(&e->columns[v]) && is_one_of_many(e, &e->p->vars[v]) &&
                   !((uint64_t)e->columns[v].some[0].i & POINTER_ELSEWHERE);
    return false;
}

/* Did a number that the callers pass vary? */
static bool has_varied(const Engine *e)
{
    for (unsigned v = 0; v < e->p->nvars; v++)
        if (e->p->vars[v].role == ROLE_PARAM && e->p->vars[v].kind == VAR_INT &&
            e->columns[v].nsome >= LEAST_EACH)
            return true;
    return false;
}

/*
 * What the source says about a set of values. A parameter that anybody may pass, a
 * field that the program computes: that it was the same in these runs is an
 * accident. One object alone is told as it is, beside "has only one value".
 */
static bool source_allows_set(const Engine *e, const Var *v, const Invariant *inv)
{
    const Column *c = &e->columns[inv->v[0]];
    const Column *before = e->p->is_exit && v->twin >= 0 ? &e->columns[v->twin] : NULL;

    bool truth = inv->n == 2 && inv->k[0].i == 0 && inv->k[1].i == 1;

    if (e->loose || !v->is_looked_up || (v->kind != VAR_INT && v->kind != VAR_POINTER))
        return true;
    if (v->role == ROLE_RESULT)
        return !is_contradicted(v, inv) &&
               (!v->is_put_other || c->n >= (inv->n == 1 ? LEAST_DESPITE : LEAST_SET) ||
                (inv->n == 1 && has_varied(e)));
    /* On another way the function leaves what was there. */
    if (v->is_stored && !v->is_always_stored && before && !column_is_constant(before) &&
        c->n < LEAST_DESPITE)
        return false;
    /* Who stores the constant stores it in another object: here it was there before. */
    if (v->is_stored && before && column_is_constant(before) && inv->n == 1 &&
        before->some[0].i == inv->k[0].i && !has_one_object(e, v->param))
        return false;
    if (v->role == ROLE_PARAM)
        return (v->is_put && !v->is_put_other && !is_contradicted(v, inv)) ||
               (truth && c->n >= LEAST_TRUTH);
    return (v->is_put && !v->is_put_other && !is_contradicted(v, inv)) ||
           has_one_object(e, v->param);
}

/* … about a bound or "not zero": of a result or parameter it has the last word, a
 * field may get another value in between. */
static void keep_unary(Engine *e, Invariant inv)
{
    const Var *v = &e->p->vars[inv.v[0]];
    bool field = v->role != ROLE_RESULT && v->role != ROLE_PARAM;
    bool zero = v->kind == VAR_INT &&
                (inv.kind == INV_NONZERO || (inv.kind == INV_LOWER && inv.k[0].i > 0));

    if (!e->loose && is_contradicted(v, &inv) &&
        (!field || e->columns[inv.v[0]].n < (zero ? LEAST_ZEROED : LEAST_DESPITE)))
        return;
    keep(e, inv);
}

/* Is a set of values one that a programmer may have meant? A constant is; of small
 * numbers in a row and of enumerators a few are. Far fields hold data. */
static bool may_be_set(const Column *c, const Var *v, bool loose)
{
    if (v->depth > 1 && !loose)
        return false;
    if (v->kind == VAR_FACT &&
        c->n < (str_starts(v->name, "printable(") ? LEAST_LENGTH : LEAST_FACT))
        return false;
    if (loose)
        return c->n >= LEAST_EACH;
    if (c->nsome == 1)
        return c->n >= (v->role == ROLE_RESULT || v->kind == VAR_FACT ? SAME_RESULT : SAME_VALUE) &&
               !str_starts(v->name, "strlen(") && !str_starts(v->name, "size(") &&
               (v->kind != VAR_STRING || v->role != ROLE_MEMORY || !v->parent);
    if (v->is_bool || v->kind != VAR_INT)
        return false;
    if (c->nsome == 2 && v->role != ROLE_PARAM && v->role != ROLE_RESULT)
        return false;
    for (unsigned i = 0; i < c->nsome; i++)
        if (c->times[i] < (v->nvalues ? LEAST_ENUM : LEAST_EACH) ||
            c->times[i] * 4 * c->nsome < c->n)          /* a rare one: others will come */
            return false;
    return v->nvalues ? v->nvalues > ONE_OF_MOST : c->min >= -1 && c->max <= 3;
}

static bool one_of(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];
    const Var *var = &e->p->vars[v];

    if (c->more || c->nsome > ONE_OF_MOST || !may_be_set(c, var, e->loose))
        return false;
    Invariant inv = unary(INV_ONE_OF, v, confidence_even(c->n));
    for (unsigned i = 0; i < c->nsome; i++)
        inv.k[i] = c->some[i];
    inv.n = (uint8_t)c->nsome;
    for (unsigned i = 1; i < inv.n; i++)           /* in rising order */
        for (unsigned k = i; k && inv.k[k - 1].i > inv.k[k].i && var->kind == VAR_INT; k--) {
            Cell t = inv.k[k];
            inv.k[k] = inv.k[k - 1];
            inv.k[k - 1] = t;
        }
    if (!source_allows_set(e, var, &inv))
        return false;
    keep(e, inv);
    return inv.confidence >= e->limit;
}

/* See infer.h, "bounds". */
static bool is_bound(const Column *c, const uint64_t *at)
{
    double range = (double)c->max - (double)c->min + 1;
    double expected = (double)c->n / range;

    if (c->n <= 5 || at[0] < 3)
        return false;
    if ((double)at[0] >= 5 * expected)
        return true;
    for (unsigned i = 0; i < 3; i++)
        if ((double)at[i] < expected / 2)
            return false;
    return true;
}

/* Data behind pointers takes all values one day: that needs more samples. */
static uint64_t least_samples(const Var *v)
{
    if (v->role != ROLE_MEMORY)
        return v->kind == VAR_POINTER ? 0 : LEAST_BOUND;
    return v->depth > 1 ? LEAST_FAR : v->kind == VAR_FLOAT ? LEAST_FLOAT : LEAST_FIELD;
}

/* A number that callers outside choose: that none chose 0 so far says little. */
static bool is_anybodys(const Var *v)
{
    return v->is_looked_up && v->role == ROLE_PARAM && v->is_put_other;
}

/* Contents of buffers, lengths of texts, and what a function computes: 0 comes one day. */
static bool is_data(const Var *v)
{
    const char *name = str_starts(v->name, "orig(") ? v->name + 5 : v->name;

    return (v->is_looked_up && v->role == ROLE_RESULT && v->is_put_other) ||
           (v->role == ROLE_MEMORY && (name[0] == '*' || var_is_derived(v))) ||
           str_starts(name, "strlen(") || str_starts(name, "size(");
}

/* A number that the source computes, and does not only choose from a few: more than it
 * was so far comes one day. */
static bool is_computed(const Var *v) { return v->is_looked_up && v->is_put_other; }

/* What the type alone says is no news. */
static bool type_says(const Var *v, int64_t bound, bool lower)
{
    if (lower && v->bits == 8 && bound <= 0)
        return true;                   /* a character: others than ASCII come one day */
    if (lower)
        return v->is_unsigned && bound <= 0;
    return v->is_bool && bound >= 1;
}

static bool bounds(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];
    const Var *var = &e->p->vars[v];
    bool excludes_zero = false;

    if (c->n < least_samples(var))
        return true;
    if (str_starts(var->name, "strlen(") && c->n < LEAST_LENGTH)
        return true;                   /* that no text was empty says little */

    if (c->min >= BOUND_LEAST && c->min <= BOUND_MOST && is_bound(c, c->at_min)) {
        Invariant inv = unary(INV_LOWER, v, fmax(0.99, confidence_even(c->n)));
        inv.k[0].i = c->min;
        bool few = c->min > 0 && !e->loose &&
                   ((var->role == ROLE_MEMORY && c->n < LEAST_NUMBER) || is_anybodys(var) ||
                    is_data(var) || (var->is_tested && c->n < LEAST_TESTED) ||
                    (is_computed(var) && c->n < LEAST_ZEROED));
        if (!type_says(var, c->min, true) && !few)
            keep_unary(e, inv);
        excludes_zero = c->min > 0;
    }
    if (c->max >= BOUND_LEAST && c->max <= BOUND_MOST && is_bound(c, c->at_max)) {
        Invariant inv = unary(INV_UPPER, v, fmax(0.99, confidence_even(c->n)));
        inv.k[0].i = c->max;
        if (!type_says(var, c->max, false) && (e->loose || !is_computed(var)))
            keep_unary(e, inv);
        excludes_zero |= c->max < 0;
    }
    return excludes_zero;
}

/* A "void *" that is stored or handed on: what a user of the library likes, NULL too. */
static bool is_context(const Var *v)
{
    return v->is_looked_up && v->is_put_other && v->role != ROLE_RESULT &&
           (strcmp(v->type, "void *") == 0 || strcmp(v->type, "const void *") == 0);
}

static void not_zero(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];
    bool pointer = e->p->vars[v].kind == VAR_POINTER;
    double range = (double)c->max - (double)c->min + 1;

    if (str_starts(e->p->vars[v].name, "size(") || e->p->vars[v].is_bool)
        return;                        /* known only if it is not */
    if (!pointer && var_is_derived(&e->p->vars[v]) && c->n < LEAST_LENGTH)
        return;                        /* an element is data */
    if (str_starts(e->p->vars[v].name, "strlen(") && c->n < LEAST_LENGTH)
        return;
    if (c->n < least_samples(&e->p->vars[v]) && !strchr(e->p->vars[v].name, '['))
        return;
    if (!pointer && e->p->vars[v].role == ROLE_MEMORY && c->n < LEAST_NUMBER)
        return;
    if (!pointer && !e->loose && (is_anybodys(&e->p->vars[v]) || is_data(&e->p->vars[v])))
        return;
    if (!e->loose && e->p->vars[v].is_tested && c->n < LEAST_TESTED)
        return;
    if (e->p->vars[v].depth > 1 && !strchr(e->p->vars[v].name, '['))
        return;                        /* the next of a list is NULL one day */
    if (!e->loose && (e->p->vars[v].takes_null || (pointer && is_context(&e->p->vars[v]))))
        return;
    for (size_t r = 0; r < e->nrows; r++)
        if (c->known[r] && c->cells[r].i == 0)
            return;
    keep_unary(e, unary(INV_NONZERO, v,
                        confidence_nonzero(c->n, pointer      ? 3
                                                 : range > 50 ? 50
                                                 : range < 3  ? 3
                                                              : range)));
}

/* Only where all values are at least zero, where C's % is the mathematical one. */
static void modulus(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];

    if ((!e->loose && is_data(&e->p->vars[v])) || e->p->vars[v].depth > 1 || c->step < 2 ||
        c->min < 0 || !c->more || c->n < SAME_VALUE || e->p->vars[v].nvalues)
        return;
    Invariant inv = unary(INV_MODULUS, v, 1 - pow(1 / (double)c->step, (double)c->nsome));
    inv.k[0].i = c->step;
    inv.k[1].i = c->min % c->step;
    keep(e, inv);
}

static void flags(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];
    Invariant inv = unary(INV_FLAGS, v, confidence_even(c->n / 4));

    inv.k[0].i = (int64_t)c->bits;
    if (e->p->vars[v].is_flags && c->nsome > ONE_OF_MOST)
        keep(e, inv);
}

static void integer(Engine *e, unsigned v)
{
    if (e->p->vars[v].nvalues) {               /* the type says which there are */
        one_of(e, v);
        flags(e, v);
        return;
    }
    if (e->p->vars[v].role == ROLE_ERRNO) {
        not_zero(e, v);
        return;
    }
    if (one_of(e, v))
        return;
    if (!bounds(e, v))
        not_zero(e, v);
    modulus(e, v);
    flags(e, v);
}

static void pointer(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];

    if (column_is_constant(c) && c->some[0].i == 0) {
        if (!may_be_set(c, &e->p->vars[v], e->loose))
            return;
        Invariant inv = unary(INV_ONE_OF, v, confidence_even(c->n));
        inv.n = 1;
        if (source_allows_set(e, &e->p->vars[v], &inv))
            keep(e, inv);
        return;
    }
    not_zero(e, v);
    /* A variable is always the same; of objects on the heap there could be many. */
    if (column_is_constant(c) && is_one_of_many(e, &e->p->vars[v]) && c->n >= SAME_OBJECT &&
        e->p->vars[v].depth < 2 && !e->loose && !((uint64_t)c->some[0].i & POINTER_ELSEWHERE) &&
        !var_is_derived(&e->p->vars[v])) {
        Invariant inv = unary(INV_ONE_VALUE, v, confidence_even(c->n));
        inv.k[0] = c->some[0];
        keep(e, inv);
    }
}

static void floating(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];
    uint64_t at = 0;

    if (one_of(e, v) || c->n < least_samples(&e->p->vars[v]))
        return;
    for (size_t r = 0; r < e->nrows; r++)
        if (c->known[r] && c->cells[r].d == c->fmin)
            at += e->counts[r];
    if (c->n > 5 && at >= 3 && c->fmin >= BOUND_LEAST && c->fmin <= BOUND_MOST &&
        c->fmin == floor(c->fmin)) {
        Invariant inv = unary(INV_LOWER, v, fmax(0.99, confidence_even(c->n)));
        inv.k[0].d = c->fmin;
        keep(e, inv);
    } else if (c->fmin > 0) {
        keep(e, unary(INV_NONZERO, v, confidence_nonzero(c->n, 50)));
    }
}

/* A fact is of interest only if it was always true. */
static void fact(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];

    if (column_is_constant(c) && c->some[0].i == 1)
        one_of(e, v);
}

void infer_unary(Engine *e)
{
    for (unsigned v = 0; v < e->p->nvars; v++) {
        if (!e->columns[v].n)
            continue;
        switch (e->p->vars[v].kind) {
        case VAR_INT: integer(e, v); break;
        case VAR_POINTER: pointer(e, v); break;
        case VAR_FLOAT: floating(e, v); break;
        case VAR_STRING: one_of(e, v); break;
        case VAR_FACT: fact(e, v); break;
        }
    }
}
