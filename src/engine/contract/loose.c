/*
 * All that the runs showed of numbers, accidents too: the least and the largest value
 * of each, by how much a function changed it, and how far two numbers of one struct,
 * or the result and another number, are apart. Another run of the same command on the same program shows the same.
 */
#include "engine/contract/infer_int.h"

enum { LEAST_LOOSE = 3, MOST_DIFFERENCE = 1 << 30 };

static void loose_bounds(Engine *e, unsigned v)
{
    const Column *c = &e->columns[v];
    Invariant low = { .kind = INV_LOWER, .v = { (int)v }, .confidence = 1 };
    Invariant high = { .kind = INV_UPPER, .v = { (int)v }, .confidence = 1 };

    low.k[0].i = c->min;
    high.k[0].i = c->max;
    keep(e, low);
    keep(e, high);
}

/* a <= b + k, with the smallest k that these runs allow. */
static void loose_difference(Engine *e, unsigned a, unsigned b)
{
    const Column *x = &e->columns[a], *y = &e->columns[b];
    Invariant inv = { .kind = INV_LESS, .v = { (int)a, (int)b }, .confidence = 1 };
    __int128 most = 0;
    size_t rows = 0;

    for (size_t r = 0; r < e->nrows; r++) {
        if (!x->known[r] || !y->known[r])
            continue;
        __int128 d = (__int128)x->cells[r].i - y->cells[r].i;
        most = !rows || d > most ? d : most;
        rows++;
    }
    if (rows < LEAST_LOOSE || most > MOST_DIFFERENCE || most < -MOST_DIFFERENCE)
        return;
    inv.k[0].i = (int64_t)most;
    keep(e, inv);
}

/* Whose difference is kept: what was and what is, and after the call the result and
 * fields of one struct. */
static bool is_loose_pair(const Engine *e, const Var *x, const Var *y, unsigned k)
{
    if (y->kind != VAR_INT || y->role == ROLE_ERRNO)
        return false;
    if (x->twin == (int)k || (x->role == ROLE_RESULT && y->role == ROLE_PARAM))
        return true;
    return e->p->is_exit && !y->orig && x->depth < 2 && y->depth < 2 &&
           ((x->parent && x->parent == y->parent) ||
            (x->role == ROLE_RESULT && y->role == ROLE_MEMORY));
}

void infer_loose(Engine *e)
{
    for (unsigned v = 0; v < e->p->nvars; v++) {
        const Var *x = &e->p->vars[v];
        if (x->kind != VAR_INT || x->orig || x->role == ROLE_ERRNO || e->columns[v].n < LEAST_LOOSE)
            continue;
        loose_bounds(e, v);
        for (unsigned k = 0; k < e->p->nvars; k++) {
            const Var *y = &e->p->vars[k];
            if (k == v || !is_loose_pair(e, x, y, k))
                continue;
            loose_difference(e, v, k);
            if (x->parent != y->parent || x->twin == (int)k)    /* else its own turn comes */
                loose_difference(e, k, v);
        }
    }
}
