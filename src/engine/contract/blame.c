/*
 * Who broke it. One fault shows at many places: a function leaves a shelf too full,
 * its callers return with it, and all that run later are called with it. Of the
 * broken invariants that say the same, those stay whose function made it untrue: it
 * held at the entry and does not at the exit. Of these, a caller gives way to a
 * callee.
 */
#include "engine/contract/contract.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const Point *point_of(const Broken *b) { return b->is_exit ? &b->f->exit : &b->f->entry; }

/* Do two say the same, of the same things? */
static bool says_same(const Broken *a, const Broken *b)
{
    const Invariant *x = &a->inv, *y = &b->inv;

    if (x->kind != y->kind || x->guard != y->guard)
        return false;
    for (unsigned i = 0; i < inv_arity(x->kind); i++) {
        /* Arguments of two functions have nothing in common but their number. */
        if (a->f != b->f && point_of(a)->vars[x->v[i]].role == ROLE_PARAM)
            return false;
        if (strcmp(point_of(a)->vars[x->v[i]].key, point_of(b)->vars[y->v[i]].key) != 0)
            return false;
    }
    return true;
}

/* Did it hold when the function was entered? What was not there then did. */
static bool held_at_entry(const Broken *b, const Row *r, Arena *a)
{
    const Point *entry = &b->f->entry;
    Row before = { .cells = arena_array(a, Cell, entry->nvars + 1),
                   .known = arena_array(a, uint8_t, entry->nvars + 1) };
    Invariant then = b->inv;

    if (b->inv.guard || b->inv.kind == INV_UNCHANGED)
        return true;
    for (unsigned i = 0; i < inv_arity(then.kind); i++) {
        const Var *v = &b->f->exit.vars[b->inv.v[i]];
        then.v[i] = v->orig ? -1 : point_key(entry, v->key);
        if (then.v[i] < 0)
            return true;
    }
    row_at_entry(&b->f->exit, entry, r, &before);
    return inv_holds(&then, entry, &before);
}

static void look_who(Broken *b)
{
    Arena a = { 0 };

    for (size_t r = 0; b->is_exit && r < b->f->exit.rows.len && !b->made_here; r++) {
        const Row *row = &b->f->exit.rows.items[r];
        if (!inv_holds(&b->inv, &b->f->exit, row) && held_at_entry(b, row, &a)) {
            b->made_here = true;
            b->row = *row;
        }
    }
    arena_release(&a);
}

/* Is another one of the group more to blame than `at`? */
static bool is_excused(const BrokenList *list, size_t at, CallsFn *calls, void *arg)
{
    const Broken *b = &list->items[at];

    for (size_t i = 0; i < list->len; i++) {
        const Broken *o = &list->items[i];
        if (i == at || !says_same(o, b))
            continue;
        if (o->made_here != b->made_here) {
            if (o->made_here)
                return true;
            continue;
        }
        if (o->f == b->f ? i < at : o->made_here ? calls(b->f->name, o->f->name, arg) : i < at)
            return true;
    }
    return false;
}

void contracts_blame(BrokenList *list, CallsFn *calls, void *arg)
{
    bool *excused = xcalloc(list->len + 1, sizeof *excused);
    size_t kept = 0;

    for (size_t i = 0; i < list->len; i++)
        look_who(&list->items[i]);
    for (size_t i = 0; i < list->len; i++) {
        excused[i] = is_excused(list, i, calls, arg);
        for (size_t k = 0; k < list->len && !excused[i]; k++)
            list->items[i].others += k != i && says_same(&list->items[i], &list->items[k]);
    }
    for (size_t i = 0; i < list->len; i++)
        if (!excused[i])
            list->items[kept++] = list->items[i];
    list->len = kept;
    free(excused);
}
