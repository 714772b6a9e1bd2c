/* Contracts of all functions, steered by constraints: see contract.h. */
#include "engine/contract/contract.h"
#include "engine/contract/prove.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- one function */

static void infer_rows(const FunctionSamples *f, const Point *p, const Constraints *k,
                       const ContractPlan *plan, Arena *a, Rows *rows, Invariants *out)
{
    if (k)
        constraint_project(k, f, p, a, rows);
    infer(p, rows, &plan->infer, out);
}

static void infer_point(const Contracts *c, const FunctionSamples *f, bool is_exit,
                        const Constraints *k, const ContractPlan *plan, Invariants *out)
{
    Arena a = { 0 };
    Rows rows = { 0 };
    const Point *p = is_exit ? &f->exit : &f->entry;

    if (k)
        constraint_rows(k, c->samples, f, is_exit, &a, &rows);
    else
        for (size_t r = 0; r < p->rows.len; r++)
            vec_push(&rows, p->rows.items[r]);
    infer_rows(f, p, k, plan, &a, &rows, out);
    vec_release(&rows);
    arena_release(&a);
}

/* --- Concord: a second pass, with the preconditions of the first */

static const Invariants *pre_of(const FunctionSamples *f, void *arg)
{
    const FunctionContract *fc = contracts_of(arg, f);
    return fc ? &fc->pre : NULL;
}

static void second_pass(Contracts *c, const Constraints *k, const ContractPlan *plan)
{
    for (size_t i = 0; i < c->functions.len; i++) {
        FunctionContract *fc = &c->functions.items[i];
        Arena a = { 0 };
        Rows rows = { 0 };
        constraint_rows(k, c->samples, fc->f, true, &a, &rows);
        size_t own = rows.len;
        constraint_concord(k, c->samples, fc->f, pre_of, c, &a, &rows);
        if (rows.len > own) {
            fc->post.len = 0;
            infer_rows(fc->f, &fc->f->exit, k, plan, &a, &rows, &fc->post);
        }
        vec_release(&rows);
        arena_release(&a);
    }
}

/* --- what is said twice */

static bool has_same(const Invariants *list, const Invariant *inv)
{
    for (size_t i = 0; i < list->len; i++)
        if (inv_same(&list->items[i], inv))
            return true;
    return false;
}

static bool is_unchanged(const Point *p, const Invariants *post, int v)
{
    const Var *x = &p->vars[v];

    if (x->role == ROLE_PARAM || x->orig)
        return true;
    if (x->role == ROLE_RESULT || x->twin < 0)
        return false;
    for (size_t i = 0; i < post->len; i++) {
        const Invariant *inv = &post->items[i];
        if (inv->guard)
            continue;
        if (inv->kind == INV_UNCHANGED && p->vars[inv->v[0]].param == x->param &&
            x->role == ROLE_MEMORY)
            return true;
        if (inv->kind == INV_EQUAL &&
            ((inv->v[0] == v && inv->v[1] == x->twin) || (inv->v[1] == v && inv->v[0] == x->twin)))
            return true;
    }
    return false;
}

/* The variable of the entry that has this one's key; -1. */
static int at_entry(const Point *entry, const Point *exit, int v)
{
    const Var *x = &exit->vars[v];

    if (!x->orig)
        return point_key(entry, x->key);
    return x->twin >= 0 ? point_key(entry, exit->vars[x->twin].key) : -1;
}

/* A postcondition that repeats the precondition about what did not change. */
static bool is_restated(const FunctionContract *fc, const Invariant *inv)
{
    Invariant before = *inv;
    const Point *exit = &fc->f->exit;

    if (inv->guard || inv->kind == INV_UNCHANGED)
        return false;
    bool constant =
        inv->kind == INV_ONE_OF && inv->n == 1 && exit->vars[inv->v[0]].role != ROLE_RESULT;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        if (!constant && !is_unchanged(exit, &fc->post, inv->v[i]))
            return false;
        before.v[i] = at_entry(&fc->f->entry, exit, inv->v[i]);
        if (before.v[i] < 0)
            return false;
    }
    return has_same(&fc->pre, &before);
}

static void drop_restated(FunctionContract *fc)
{
    bool *gone = xcalloc(fc->post.len + 1, sizeof *gone);
    size_t kept = 0;

    for (size_t i = 0; i < fc->post.len; i++)
        gone[i] = is_restated(fc, &fc->post.items[i]);
    for (size_t i = 0; i < fc->post.len; i++)
        if (!gone[i])
            fc->post.items[kept++] = fc->post.items[i];
    fc->post.len = kept;
    free(gone);
}

/* --- the state of handles */

/* Does the variable belong to the state of the handle? */
static bool is_state_var(const Var *v, const char *handle)
{
    size_t n = strlen(handle);

    return v->role == ROLE_MEMORY && !v->orig && v->key[0] == '(' &&
           strncmp(v->key + 1, handle, n) == 0 && v->key[n + 1] == ')';
}

/* The variables of the handle that any of its functions has. */
static void state_vars(const Samples *s, const char *handle, Arena *a, Point *out)
{
    Map seen = { 0 };
    Vec(Var) vars = { 0 };

    for (size_t i = 0; i < s->functions.len; i++)
        for (int side = 0; side < 2; side++) {
            const Point *p = side ? &s->functions.items[i]->exit : &s->functions.items[i]->entry;
            for (unsigned v = 0; v < p->nvars; v++)
                if (is_state_var(&p->vars[v], handle) &&
                    map_put(&seen, p->vars[v].key, (void *)1)) {
                    Var x = p->vars[v];
                    x.twin = -1;
                    vec_push(&vars, x);
                }
        }
    out->vars = arena_array(a, Var, vars.len + 1);
    out->related = arena_array(a, uint8_t, vars.len *vars.len + 1);
    out->nvars = (unsigned)vars.len;
    if (vars.len)
        memcpy(out->vars, vars.items, vars.len * sizeof *vars.items);
    vec_release(&vars);
    map_release(&seen);
}

static void add_state_rows(const Point *from, const Point *state, Arena *a, Rows *out)
{
    int *match = arena_array(a, int, state->nvars + 1);

    for (unsigned v = 0; v < state->nvars; v++) {
        match[v] = point_key(from, state->vars[v].key);
        for (unsigned k = 0; k < v && match[v] >= 0; k++)
            if (match[k] >= 0 && from->related)
                state->related[(size_t)v * state->nvars + k] =
                    state->related[(size_t)k * state->nvars + v] |=
                    from->related[(size_t)match[v] * from->nvars + (size_t)match[k]];
    }
    for (size_t r = 0; r < from->rows.len; r++) {
        Row row = { .cells = arena_array(a, Cell, state->nvars + 1),
                    .known = arena_array(a, uint8_t, state->nvars + 1),
                    .count = from->rows.items[r].count,
                    .origin = ORIGIN_OWN };
        for (unsigned v = 0; v < state->nvars; v++)
            if (match[v] >= 0 && from->rows.items[r].known[match[v]]) {
                row.known[v] = 1;
                row.cells[v] = from->rows.items[r].cells[match[v]];
            }
        vec_push(out, row);
    }
}

/* Constants and the like are told by the functions that saw them. */
static bool is_worth_sharing(const Invariant *inv)
{
    return inv->kind != INV_ONE_OF && inv->kind != INV_ONE_VALUE && inv->kind != INV_MODULUS &&
           inv->kind != INV_FLAGS;
}

/* Puts an invariant of the state into a point's list, if it has its variables. */
static void place_state(const Point *state, const Invariant *inv, const Point *p, Invariants *list)
{
    Invariant here = *inv;

    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        here.v[i] = point_key(p, state->vars[inv->v[i]].key);
        if (here.v[i] < 0)
            return;
    }
    here.own = 0;
    for (size_t r = 0; r < p->rows.len; r++) {
        if (!inv_holds(&here, p, &p->rows.items[r]))
            return;
        here.own += inv_applies(&here, p, &p->rows.items[r]) ? p->rows.items[r].count : 0;
    }
    here.is_state = true;
    for (size_t i = 0; i < list->len; i++) {
        list->items[i].is_state |= inv_same(&list->items[i], &here);
        if (fact_implies(&list->items[i], &here, p->vars))
            return;
    }
    if (here.own)
        vec_push(list, here);
}

static void infer_state(Contracts *c, const char *handle, const ContractPlan *plan)
{
    Arena a = { 0 };
    Point state = { 0 };
    Rows rows = { 0 };
    Invariants found = { 0 };
    unsigned functions = 0;

    state_vars(c->samples, handle, &a, &state);
    for (size_t i = 0; i < c->functions.len; i++) {
        const FunctionSamples *f = c->functions.items[i].f;
        if (!f->is_public || strcmp(f->handle, handle) != 0)
            continue;
        add_state_rows(&f->entry, &state, &a, &rows);
        add_state_rows(&f->exit, &state, &a, &rows);
        functions++;
    }
    if (functions > 1)
        infer(&state, &rows, &(InferPlan){ .limit = plan->infer.limit, .no_guards = true }, &found);
    for (size_t i = 0; i < c->functions.len; i++) {
        FunctionContract *fc = &c->functions.items[i];
        if (!fc->f->is_public || strcmp(fc->f->handle, handle) != 0)
            continue;
        for (size_t k = 0; k < found.len; k++)
            if (is_worth_sharing(&found.items[k])) {
                place_state(&state, &found.items[k], &fc->f->entry, &fc->pre);
                place_state(&state, &found.items[k], &fc->f->exit, &fc->post);
            }
    }
    vec_release(&found);
    vec_release(&rows);
    arena_release(&a);
}

static void infer_states(Contracts *c, const ContractPlan *plan)
{
    Map done = { 0 };

    for (size_t i = 0; i < c->functions.len; i++) {
        const char *handle = c->functions.items[i].f->handle;
        if (*handle && map_put(&done, handle, (void *)1))
            infer_state(c, handle, plan);
    }
    map_release(&done);
}

/* --- order */

static int telling(const Invariant *inv)
{
    static const int place[INV_N] = {
        [INV_LINEAR3] = 0, [INV_PRODUCT] = 0,   [INV_RATIO] = 0,    [INV_REMAINDER] = 0,
        [INV_SHIFT] = 0,   [INV_AND] = 0,       [INV_OR] = 0,       [INV_MINIMUM] = 0,
        [INV_MAXIMUM] = 0, [INV_LINEAR] = 1,    [INV_QUOTIENT] = 1, [INV_ABSOLUTE] = 1,
        [INV_EQUAL] = 1,   [INV_LESS] = 2,      [INV_NONZERO] = 3,  [INV_LOWER] = 4,
        [INV_UPPER] = 4,   [INV_FLAGS] = 5,     [INV_MODULUS] = 5,  [INV_UNCHANGED] = 5,
        [INV_ONE_OF] = 6,  [INV_ONE_VALUE] = 8,
    };
    return 2 * place[inv->kind] + (inv->guard != GUARD_NONE);
}

static int by_telling(const void *a, const void *b)
{
    const Invariant *x = a, *y = b;
    int d = telling(x) - telling(y);

    if (d)
        return d;
    for (int i = 0; i < 3; i++)
        if (x->v[i] != y->v[i])
            return x->v[i] < y->v[i] ? -1 : 1;
    return (int)x->guard - (int)y->guard;
}

void contract_rank(Invariants *list)
{
    if (list->len)
        qsort(list->items, list->len, sizeof *list->items, by_telling);
}

/* --- all */

static void copy_list(const Invariants *from, Invariants *to)
{
    for (size_t i = 0; i < from->len; i++)
        vec_push(to, from->items[i]);
}

enum { LEAST_MANY = 2 };

typedef struct Some {         /* objects of a type */
    unsigned n;
    int64_t objects[LEAST_MANY];
} Some;

static void note_object(Some *some, int64_t x)
{
    unsigned i = 0;

    while (i < some->n && some->objects[i] != x)
        i++;
    if (i == some->n && i < LEAST_MANY)
        some->objects[some->n++] = x;
}

/* The types of pointers that led to several objects. */
static void find_many(const Samples *s, Map *out)
{
    Map seen = { 0 };         /* type -> Some */

    for (size_t i = 0; i < s->functions.len; i++)
        for (int side = 0; side < 2; side++) {
            const Point *p = side ? &s->functions.items[i]->exit : &s->functions.items[i]->entry;
            for (unsigned v = 0; v < p->nvars; v++)
                for (size_t r = 0; r < p->rows.len && p->vars[v].kind == VAR_POINTER; r++) {
                    const Cell *x = &p->rows.items[r].cells[v];
                    if (!p->rows.items[r].known[v] || !x->i)
                        continue;
                    void **slot = map_slot(&seen, p->vars[v].type);
                    if (!*slot)
                        *slot = xcalloc(1, sizeof(Some));
                    note_object(*slot, x->i);
                }
        }
    for (size_t i = 0; i < seen.len; i++) {
        if (((Some *)seen.entries[i].value)->n == LEAST_MANY)
            map_put(out, seen.entries[i].key, out);
        free(seen.entries[i].value);
    }
    map_release(&seen);
}

Contracts *contracts_infer(const Samples *s, const Constraints *k, const ContractPlan *given)
{
    Contracts *c = xcalloc(1, sizeof *c);
    Map many = { 0 };
    ContractPlan with = *given, *plan = &with;

    find_many(s, &many);
    plan->infer.many = &many;
    c->samples = s;
    for (size_t i = 0; i < s->functions.len; i++) {
        FunctionContract *fc = vec_grow(&c->functions);
        fc->f = s->functions.items[i];
        infer_point(c, fc->f, false, NULL, plan, &fc->pre_before);
        infer_point(c, fc->f, true, NULL, plan, &fc->post_before);
        if (k && k->items.len) {
            infer_point(c, fc->f, false, k, plan, &fc->pre);
            infer_point(c, fc->f, true, k, plan, &fc->post);
        } else {
            copy_list(&fc->pre_before, &fc->pre);
            copy_list(&fc->post_before, &fc->post);
        }
    }
    if (k && k->items.len)
        second_pass(c, k, plan);
    for (size_t i = 0; i < c->functions.len; i++)
        drop_restated(&c->functions.items[i]);
    if (!plan->no_state)
        infer_states(c, plan);
    for (size_t i = 0; i < c->functions.len; i++) {
        contract_rank(&c->functions.items[i].pre);
        contract_rank(&c->functions.items[i].post);
        contract_rank(&c->functions.items[i].pre_before);
        contract_rank(&c->functions.items[i].post_before);
    }
    map_release(&many);
    return c;
}

void contracts_free(Contracts *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->functions.len; i++) {
        FunctionContract *fc = &c->functions.items[i];
        vec_release(&fc->pre);
        vec_release(&fc->post);
        vec_release(&fc->pre_before);
        vec_release(&fc->post_before);
    }
    vec_release(&c->functions);
    free(c);
}

const FunctionContract *contracts_of(const Contracts *c, const FunctionSamples *f)
{
    for (size_t i = 0; i < c->functions.len; i++)
        if (c->functions.items[i].f == f)
            return &c->functions.items[i];
    return NULL;
}

bool contract_is_own(const FunctionContract *f, const Invariant *inv, bool is_exit)
{
    return has_same(is_exit ? &f->post_before : &f->pre_before, inv);
}

int contract_refuted(const Contracts *c, const Constraints *k, const FunctionSamples *f,
                     bool is_exit, const Invariant *inv, Row *row, Arena *a)
{
    Rows rows = { 0 };
    int by = -1;
    const Point *p = is_exit ? &f->exit : &f->entry;

    constraint_rows(k, c->samples, f, is_exit, a, &rows);
    if (is_exit)
        constraint_concord(k, c->samples, f, pre_of, (void *)c, a, &rows);
    for (size_t r = 0; r < rows.len && by < 0; r++) {
        Row *one = &rows.items[r];
        bool other = inv->kind == INV_ONE_VALUE && inv_applies(inv, p, one) &&
                     one->cells[inv->v[0]].i != inv->k[0].i;
        if (one->origin != ORIGIN_OWN && (other || !inv_holds(inv, p, one))) {
            by = one->origin;
            *row = *one;
        }
    }
    vec_release(&rows);
    return by;
}
