/* What other invariants of the same point already say is left out. */
#include "engine/contract/infer_int.h"
#include <assert.h>
#include <stdlib.h>

typedef struct Hiding {
    Engine *e;
    Invariant *items;
    size_t n;
    bool *gone;
} Hiding;

/* x <= y + k through a third variable. */
static bool is_transitive(const Hiding *h, size_t at)
{
    const Invariant *inv = &h->items[at];

    for (size_t i = 0; i < h->n; i++) {
        const Invariant *a = &h->items[i];
        if (i == at || h->gone[i] || a->kind != INV_LESS || a->v[0] != inv->v[0])
            continue;
        for (size_t k = 0; k < h->n; k++) {
            const Invariant *b = &h->items[k];
            if (k != at && k != i && !h->gone[k] && b->kind == INV_LESS && b->v[0] == a->v[1] &&
                b->v[1] == inv->v[1] && a->k[0].i + b->k[0].i <= inv->k[0].i)
                return true;
        }
    }
    return false;
}

/* The unary ones of what is always equal to another variable. */
static bool follows_another(const Hiding *h, const Invariant *inv)
{
    const Column *c = &h->e->columns[inv->v[0]];
    bool constant = inv->kind == INV_ONE_OF && inv->n == 1;

    if (inv_arity(inv->kind) != 1 || c->leader == inv->v[0])
        return false;
    return !constant || h->e->p->vars[inv->v[0]].kind == VAR_POINTER ||
           h->e->p->vars[inv->v[0]].twin == c->leader;
}

/* a == orig(b), where a == b and b is as it was. */
static bool repeats_twin(const Hiding *h, const Invariant *inv)
{
    const Var *x = &h->e->p->vars[inv->v[1]];

    if (!x->orig || x->twin < 0 || x->twin == inv->v[0])
        return false;
    return h->e->columns[x->twin].leader == h->e->columns[inv->v[1]].leader;
}

static bool is_hidden(const Hiding *h, size_t at)
{
    const Invariant *inv = &h->items[at];

    if (inv->kind == INV_LESS)
        return is_transitive(h, at);
    if (inv->kind == INV_EQUAL)
        return repeats_twin(h, inv);
    return follows_another(h, inv);
}

/* All fields behind a parameter are as they were: say it once. */
static bool is_unchanged(const Hiding *h, int param, unsigned *fields)
{
    const Engine *e = h->e;

    *fields = 0;
    for (unsigned v = 0; v < e->p->nvars; v++) {
        const Var *var = &e->p->vars[v];
        if (!var_is_field(var, param))
            continue;
        if (is_made_here(e, v, (unsigned)var->twin))
            return false;
        const Column *now = &e->columns[v], *before = &e->columns[var->twin];
        size_t both = 0;
        for (size_t r = 0; r < e->nrows; r++) {
            if (now->known[r] && before->known[r] && now->cells[r].i != before->cells[r].i)
                return false;
            both += now->known[r] && before->known[r];
        }
        *fields += both > 0;
    }
    return true;
}

static void say_unchanged(Hiding *h, int param, int v)
{
    const Engine *e = h->e;
    unsigned fields;

    bool is_const = str_starts(e->p->vars[v].type, "const ");  /* the type says so */

    if (!is_const && (e->p->vars[v].is_partial || e->columns[v].n < 12 ||
                      !is_unchanged(h, param, &fields) || fields < 2))
        return;
    for (size_t i = 0; i < h->n; i++) {
        const Invariant *inv = &h->items[i];
        const Var *x = &e->p->vars[inv->v[0]];
        if (inv->kind == INV_EQUAL && x->twin == inv->v[1] && x->param == param)
            h->gone[i] = true;
    }
    if (is_const)
        return;
    keep(h->e, (Invariant){ .kind = INV_UNCHANGED,
                            .v = { v },
                            .confidence = confidence_even(e->columns[v].n) });
}

void infer_hide(Engine *e, size_t from)
{
    Hiding h = { .e = e, .n = e->out->len - from };

    h.gone = xcalloc(h.n + 1, sizeof *h.gone);
    h.items = xmemdup(e->out->items ? e->out->items + from : NULL, h.n * sizeof *h.items);
    for (size_t i = 0; i < h.n; i++)
        h.gone[i] = is_hidden(&h, i);
    e->out->len = from;
    for (unsigned v = 0; e->p->is_exit && v < e->p->nvars; v++)
        if (e->p->vars[v].role == ROLE_PARAM && e->p->vars[v].kind == VAR_POINTER)
            say_unchanged(&h, e->p->vars[v].param, (int)v);
    for (size_t i = 0; i < h.n; i++)
        if (!h.gone[i])
            vec_push(e->out, h.items[i]);
    free(h.items);
    free(h.gone);
}
