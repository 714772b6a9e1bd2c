/*
 * Invariants of two variables: equality first, since what is equal to another
 * variable need not be compared with a third one any more; then equations and
 * orderings of the rest.
 */
#include "engine/contract/infer_int.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_SAMPLES = 7,
    LEAST_UNCHANGED = 12,
    LEAST_SAME = 30,
    LEAST_STORED = 200,       /* unchanged, although the function may store there */
    LEAST_COMPARED = 30,      /* samples and … */
    PAIRS_COMPARED = 5,       /* pairs that the program compares, before they are ordered */
    LEAST_STEPS = 20,         /* samples before x <= orig(x) is said */
    LEAST_ALIASES = 50,       /* samples and … */
    PAIRS_ALIASES = 8,        /* objects, if no one made the two pointers equal here */
    WINDOW_LEAST = -1,
    WINDOW_MOST = 2,
    LEAST_UNRELATED = 8,      /* different pairs of what the program never relates … */
    LEAST_ORDERED = 20,       /* … if nothing but their order shows it */
    LEAST_AT_BOUND = 3,       /* samples of x == y - 1 before x < y is said */
    VALUES_STEPS = 4,         /* different values of x before x <= orig(x) is said */
};

/* Rows in which two columns are known. */
typedef struct Pair {
    const Column *x, *y;
    uint64_t n;
    size_t rows;
    bool equal;
    __int128 least, most;     /* of x - y */
    unsigned different;       /* pairs of values, up to LEAST_ORDERED */
    int64_t some[LEAST_ORDERED][2];
    uint64_t at_most, at_least;          /* samples of the extremes of x - y */
} Pair;

static void note_pair(Pair *q, int64_t x, int64_t y)
{
    for (unsigned i = 0; i < q->different; i++)
        if (q->some[i][0] == x && q->some[i][1] == y)
            return;
    if (q->different < LEAST_ORDERED) {
        q->some[q->different][0] = x;
        q->some[q->different++][1] = y;
    }
}

static Pair look_at(const Engine *e, unsigned a, unsigned b)
{
    Pair q = { .x = &e->columns[a], .y = &e->columns[b], .equal = true };

    for (size_t r = 0; r < e->nrows; r++) {
        if (!q.x->known[r] || !q.y->known[r])
            continue;
        __int128 d = (__int128)q.x->cells[r].i - q.y->cells[r].i;
        if (!q.rows || d < q.least) {
            q.least = d;
            q.at_least = 0;
        }
        if (!q.rows || d > q.most) {
            q.most = d;
            q.at_most = 0;
        }
        q.at_least += d == q.least ? e->counts[r] : 0;
        q.at_most += d == q.most ? e->counts[r] : 0;
        q.equal &= d == 0;
        q.n += e->counts[r];
        q.rows++;
        if (q.different < LEAST_ORDERED)
            note_pair(&q, q.x->cells[r].i, q.y->cells[r].i);
    }
    return q;
}

/* Was one made by the function in some call? Then its twin was not known, and what is
 * now there is no value that stayed. */
bool is_made_here(const Engine *e, unsigned a, unsigned b)
{
    const Var *x = &e->p->vars[a];
    unsigned before = x->orig ? a : b, after = x->orig ? b : a;

    if (x->twin != (int)b || e->loose || x->kind == VAR_STRING || x->kind == VAR_FACT ||
        var_is_derived(x) || x->depth > 1)
        return false;
    for (size_t r = 0; r < e->nrows; r++)
        if (e->columns[after].known[r] && !e->columns[before].known[r])
            return true;
    return false;
}

/* Who speaks for a set of equal variables: as it is now, before what it was. */
static int rank(const Var *v)
{
    if (v->orig)
        return 4;
    switch (v->role) {
    case ROLE_PARAM: return 0;
    case ROLE_MEMORY: return 1;
    case ROLE_GLOBAL: return 2;
    case ROLE_RESULT: return 3;
    case ROLE_ERRNO: return 5;
    }
    return 5;
}

static bool doubles_equal(const Engine *e, unsigned a, unsigned b)
{
    const Column *x = &e->columns[a], *y = &e->columns[b];

    for (size_t r = 0; r < e->nrows; r++)
        if (x->known[r] && y->known[r] && x->cells[r].d != y->cells[r].d)
            return false;
    return true;
}

/* Equal, and not because both never change or are always NULL. */
static bool are_equal(const Engine *e, unsigned a, unsigned b, Pair *q)
{
    bool strong;
    const Var *x = &e->p->vars[a], *y = &e->p->vars[b];

    if (!comparable(e->p, a, b, &strong))
        return false;
    *q = look_at(e, a, b);
    if (!q->n || (x->kind == VAR_FLOAT ? !doubles_equal(e, a, b) : !q->equal))
        return false;
    if (is_made_here(e, a, b))
        return false;
    if (!e->loose && x->kind == VAR_INT && point_apart(e->p, (int)a, (int)b))
        return false;                  /* who stores one alone makes them differ */
    if (!e->loose && x->twin != (int)b && q->n < LEAST_STORED &&
        ((x->is_stored && !x->is_always_stored) || (y->is_stored && !y->is_always_stored)))
        return false;
    bool dull = q->different < 2 && !strong;
    if (x->kind == VAR_POINTER && q->different == 1)
        dull = q->some[0][0] == 0 || !var_is_after(y) ||
               !(x->is_stored || y->is_stored || !x->is_looked_up);
    if (x->kind == VAR_POINTER && q->n < LEAST_UNCHANGED)
        return false;
    if (x->kind == VAR_POINTER && x->twin != (int)b && x->role == ROLE_MEMORY &&
        y->role == ROLE_MEMORY && x->is_looked_up && !x->is_stored && !y->is_stored &&
        (q->n < LEAST_ALIASES || q->different < PAIRS_ALIASES))
        return false;
    if (x->twin == (int)b && (x->is_stored || y->is_stored) && q->n < LEAST_STORED)
        return false;
    if (x->is_bool && !strong)
        return false;
    if (x->twin == (int)b && (x->depth > 1 || q->n < LEAST_SAME || str_starts(x->name, "strlen(")))
        return false;
    /* How many elements an array has, and a number beside it. */
    if ((str_starts(x->name, "size(") || str_starts(y->name, "size(")) && x->param == y->param &&
        x->orig == y->orig)
        return !dull && q->different >= 3;
    /* Small numbers are equal soon, unless the program makes them so. */
    return !dull && (x->kind == VAR_POINTER || q->different >= (strong ? 2 : LEAST_UNRELATED) ||
                     x->twin == (int)b);
}

/* `what` follows `leader` from now on. */
static void follow(Engine *e, unsigned what, unsigned leader, const Pair *q)
{
    if (q->rows == e->columns[what].rows)
        e->columns[what].leader = (int)leader;
}

static void infer_equal(Engine *e)
{
    for (int r = 0; r <= 5; r++)
        for (unsigned a = 0; a < e->p->nvars; a++) {
            if (rank(&e->p->vars[a]) != r || e->columns[a].leader != (int)a)
                continue;
            for (unsigned b = 0; b < e->p->nvars; b++) {
                Pair q;
                int rb = rank(&e->p->vars[b]);
                if (a == b || rb < r || (rb == r && b < a) || e->columns[b].leader != (int)b ||
                    !are_equal(e, a, b, &q))
                    continue;
                bool after = var_is_after(&e->p->vars[b]);
                Invariant inv = { .kind = INV_EQUAL,
                                  .confidence = confidence_even(q.n),
                                  .v = { (int)(after ? b : a), (int)(after ? a : b) } };
                keep(e, inv);
                if (inv.confidence >= e->limit)
                    follow(e, b, a, &q);
            }
        }
}

/* --- equations */

static void note_linear(Engine *e, unsigned a, unsigned b)
{
    e->linear[(size_t)a * e->p->nvars + b] = e->linear[(size_t)b * e->p->nvars + a] = 1;
}

static bool all_rows(const Engine *e, const Invariant *inv)
{
    const Column *x = &e->columns[inv->v[0]], *y = &e->columns[inv->v[1]];

    for (size_t r = 0; r < e->nrows; r++) {
        if (!x->known[r] || !y->known[r])
            continue;
        __int128 b = y->cells[r].i;
        if (inv->kind == INV_LINEAR     ? inv->k[0].i * b + inv->k[1].i != x->cells[r].i
            : inv->kind == INV_QUOTIENT ? b / inv->k[0].i != x->cells[r].i
                                        : (b < 0 ? -b : b) != x->cells[r].i)
            return false;
    }
    return true;
}

/* x == k * y + c from two of the pairs. */
static bool linear(const Engine *e, unsigned a, unsigned b, const Pair *q, Invariant *out)
{
    enum { MOST_FACTOR = 1 << 16 };
    __int128 dx = (__int128)q->some[1][0] - q->some[0][0];
    __int128 dy = (__int128)q->some[1][1] - q->some[0][1];

    if (dy == 0 || dx == 0 || dx % dy != 0)
        return false;
    __int128 k = dx / dy, c = q->some[0][0] - k * q->some[0][1];
    if (k > MOST_FACTOR || k < -MOST_FACTOR || c > INT32_MAX || c < INT32_MIN)
        return false;
    *out = (Invariant){ .kind = INV_LINEAR, .v = { (int)a, (int)b }, .confidence = 1 };
    out->k[0].i = (int64_t)k;
    out->k[1].i = (int64_t)c;
    /* 1024 * x - 1017: numbers of a test */
    if (!e->loose && k != 1 && k != -1 && (c > WINDOW_MOST || c < -WINDOW_MOST) &&
        q->different < LEAST_ORDERED)
        return false;
    return all_rows(e, out);
}

/* The source was looked at, and it never brings the two together. */
static bool may_be_unrelated(const Engine *e, unsigned a, unsigned b)
{
    bool looked = e->p->related || e->p->vars[a].is_looked_up || e->p->vars[b].is_looked_up;

    return looked && !point_related(e->p, (int)a, (int)b);
}

static bool quotient(const Engine *e, unsigned a, unsigned b, const Pair *q, Invariant *out)
{
    static const int64_t tried[] = { 2, 3, 4, 5, 7, 8, 10, 16, 32, 64, 100, 1000 };
    const Column *x = &e->columns[a];

    unsigned telling = 0;
    for (unsigned i = 0; i < x->nsome; i++)
        telling += x->some[i].i != 0;
    if (telling < 2 || x->nsome < 3 || q->different < 4 || may_be_unrelated(e, a, b))
        return false;
    *out = (Invariant){ .kind = INV_QUOTIENT, .v = { (int)a, (int)b }, .confidence = 1 };
    for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++) {
        out->k[0].i = tried[i];
        if (all_rows(e, out))
            return true;
    }
    return false;
}

static bool absolute(const Engine *e, unsigned a, unsigned b, const Pair *q, Invariant *out)
{
    *out = (Invariant){ .kind = INV_ABSOLUTE, .v = { (int)a, (int)b }, .confidence = 1 };
    return e->columns[b].min < 0 && e->columns[b].max > 0 && q->different >= LEAST_PAIRS &&
           all_rows(e, out);
}

/* Is `a` the one to stand on the left: what the function made? */
static bool is_left(const Engine *e, unsigned a, unsigned b)
{
    const Var *x = &e->p->vars[a], *y = &e->p->vars[b];

    if (x->role == ROLE_RESULT || y->role == ROLE_RESULT)
        return x->role == ROLE_RESULT;
    return var_is_after(x) || !var_is_after(y);
}

static Pair turned(const Pair *q)
{
    Pair t = *q;

    t.x = q->y;
    t.y = q->x;
    t.least = -q->most;
    t.most = -q->least;
    t.at_least = q->at_most;
    t.at_most = q->at_least;
    for (unsigned i = 0; i < q->different; i++) {
        t.some[i][0] = q->some[i][1];
        t.some[i][1] = q->some[i][0];
    }
    return t;
}

static bool equation(Engine *e, unsigned a, unsigned b, const Pair *q, bool strong)
{
    bool twins = e->p->vars[a].twin == (int)b;
    unsigned least = !strong ? LEAST_UNRELATED : q->least == q->most && twins ? 3 : LEAST_PAIRS;
    Invariant inv;

    if ((q->different < LEAST_PAIRS - 1 && q->different < least) ||
        (!twins && q->n < LEAST_UNCHANGED))
        return false;
    for (int turn = 0; turn < 2; turn++) {
        unsigned left = turn == !is_left(e, a, b) ? a : b;
        unsigned right = left == a ? b : a;
        Pair t = left == a ? *q : turned(q);
        bool found = (q->different >= least && linear(e, left, right, &t, &inv)) ||
                     (var_is_after(&e->p->vars[left]) &&
                      (quotient(e, left, right, &t, &inv) || absolute(e, left, right, &t, &inv)));
        if (!found)
            continue;
        inv.confidence = confidence_even(q->n);
        keep(e, inv);
        if (inv.confidence >= e->limit && inv.kind == INV_LINEAR)
            note_linear(e, a, b);
        return inv.confidence >= e->limit;
    }
    return false;
}

/* --- orderings */

/* The number of elements of an array, or equal to one. */
static bool is_size(const Engine *e, unsigned v)
{
    for (unsigned i = 0; i < e->p->nvars; i++) {
        const char *name = e->p->vars[i].name;
        if (!str_starts(name, "size(") && !str_starts(name, "orig(size("))
            continue;
        if (i == v || e->columns[i].leader == (int)v)
            return true;
        const Column *x = &e->columns[i], *y = &e->columns[v];
        bool same = true;
        size_t both = 0;
        for (size_t r = 0; same && r < e->nrows; r++) {
            same = !x->known[r] || !y->known[r] || x->cells[r].i == y->cells[r].i;
            both += x->known[r] && y->known[r];
        }
        if (same && both && e->p->vars[i].orig == e->p->vars[v].orig)
            return true;
    }
    return false;
}

/* A constant close to zero: the bounds of the other say the same. */
static bool is_small_constant(const Column *c)
{
    return column_is_constant(c) && c->some[0].i >= WINDOW_LEAST && c->some[0].i <= WINDOW_MOST;
}

/*
 * small <= large + k. Two variables are ordered by chance as a rule, unless the
 * program itself relates them, or the bound was reached and by many values.
 */
static bool is_ordered_by_chance(const Engine *e, unsigned a, unsigned b, const Pair *q)
{
    const Var *x = &e->p->vars[a], *y = &e->p->vars[b];

    if (str_starts(x->name, "most(") || str_starts(y->name, "most(") ||
        str_starts(x->name, "least(") || str_starts(y->name, "least("))
        return true;                   /* contents and a number beside them */
    if (x->parent && y->parent)
        return true;                   /* fields that the program never compares */
    if (str_starts(x->name, "strlen(") || str_starts(y->name, "strlen("))
        return true;
    if (q->different < LEAST_ORDERED || q->x->max <= q->y->min || q->most < -1)
        return true;
    return q->at_most < LEAST_AT_BOUND || x->depth > 1 || y->depth > 1 || x->orig || y->orig;
}

static void less(Engine *e, unsigned small, unsigned large, const Pair *q)
{
    const Column *x = q->x, *y = q->y;
    /* x < y is said if it came close; else x <= y is enough. */
    int64_t k = q->most == -1 && q->at_most >= LEAST_AT_BOUND ? -1 : 0;

    bool twins = e->p->vars[small].twin == (int)large;
    if (twins && !e->loose &&
        (is_made_here(e, small, large) || x->nsome < VALUES_STEPS || y->nsome < VALUES_STEPS))
        return;
    if (q->different < (twins ? 3 : PAIRS_COMPARED) ||
        q->n < (twins ? LEAST_STEPS : LEAST_COMPARED) ||
        (!twins && !point_compared(e->p, (int)small, (int)large) &&
         is_ordered_by_chance(e, small, large, q)))
        return;
    if (is_small_constant(x) || is_small_constant(y))
        return;
    if (column_is_constant(x) && column_is_constant(y))
        return;
    if (q->most <= -2 && has_one_object(e, e->p->vars[small].param) && is_size(e, large) &&
        !is_size(e, small) && e->p->vars[small].parent &&
        e->p->vars[small].parent == e->p->vars[large].parent)
        k = -2;
    Invariant inv = { .kind = INV_LESS,
                      .v = { (int)small, (int)large },
                      .confidence = confidence_even(q->n) };
    inv.k[0].i = k;
    keep(e, inv);
}

static void floats_ordered(Engine *e, unsigned a, unsigned b)
{
    const Column *x = &e->columns[a], *y = &e->columns[b];
    bool less_ = true, more = true;
    uint64_t n = 0;

    for (size_t r = 0; r < e->nrows; r++) {
        if (!x->known[r] || !y->known[r])
            continue;
        less_ &= x->cells[r].d <= y->cells[r].d;
        more &= x->cells[r].d >= y->cells[r].d;
        n += e->counts[r];
    }
    if (n < LEAST_SAMPLES || less_ == more || x->fmax <= y->fmin || y->fmax <= x->fmin)
        return;
    keep(e, (Invariant){ .kind = INV_LESS,
                         .confidence = confidence_even(n),
                         .v = { (int)(less_ ? a : b), (int)(less_ ? b : a) } });
}

static void infer_pair(Engine *e, unsigned a, unsigned b)
{
    const Var *x = &e->p->vars[a], *y = &e->p->vars[b];
    bool strong = false, scaled = differ_in_unit(x, y);

    if ((!scaled && !comparable(e->p, a, b, &strong)) || x->kind == VAR_POINTER ||
        x->kind == VAR_STRING)
        return;
    if (x->kind == VAR_FLOAT) {
        floats_ordered(e, a, b);
        return;
    }
    /* Both as they were at entry: a matter of the precondition. */
    if (e->p->is_exit && !var_is_after(x) && !var_is_after(y))
        return;
    Pair q = look_at(e, a, b);
    if (q.n < LEAST_SAMPLES || q.equal || is_made_here(e, a, b) || (scaled && q.least == q.most) ||
        equation(e, a, b, &q, strong && !scaled) || x->is_bool || x->nvalues || scaled)
        return;
    if (q.most <= 0) {
        less(e, a, b, &q);
    } else if (q.least >= 0) {
        Pair t = turned(&q);
        less(e, b, a, &t);
    }
}

void infer_binary(Engine *e)
{
    infer_equal(e);
    for (unsigned a = 0; a < e->p->nvars; a++)
        for (unsigned b = a + 1; b < e->p->nvars; b++)
            if (e->columns[a].n && e->columns[b].n && e->columns[a].leader == (int)a &&
                e->columns[b].leader == (int)b)
                infer_pair(e, a, b);
}
