/*
 * Demands: which rows of the inputs make a row appear further down.
 *
 * A demand walks from an operator up to the inputs. Each step makes fresh
 * symbolic rows and says what must hold between them:
 *
 *     FILTER    a row of the input, the condition is true
 *     JOIN      a row of each input, keys equal and not null
 *     GROUP     some rows with equal keys; the key is new to the examples
 *     DISTINCT  a row; two demanded rows differ
 *     FOREACH   a row; the items are computed from it
 *     LOAD      a slot: a row to be added
 *
 * One class is one question to the solver, over all inputs at once.
 */
#include "base/units.h"
#include "dataflow/sym.h"
#include <assert.h>
#include <stdio.h>

enum { MOST_SLOTS = 600, MOST_OLD_ROWS = 40, MOST_RULED = 240 };

static Truth yes(Sought *s) { return arith_bool(s->z, true); }

static Truth no(Sought *s) { return arith_bool(s->z, false); }

/* Ops of subqueries count as the operator around them. */
static int tag_of(const Sought *s, const Op *op)
{
    return op->id < 100000 ? TAG_OPS + op->id : s->tag;
}

static void set_tag(Sought *s, const Op *op) { s->tag = tag_of(s, op); }

static Sym cannot(Sought *s, const char *why)
{
    s->stuck = true;
    if (!s->why)
        s->why = why;
    return (Sym){ .kind = DATUM_TUPLE, .null = no(s) };
}

/* ---- inputs */

static Sym row_of_load(Sought *s, const Op *op)
{
    size_t n = op->schema ? op->schema->n : s->know->ncolumns[op->id];
    if (s->slots.len >= MOST_SLOTS)
        return cannot(s, "it takes too many rows");
    if (!n)
        n = 4;                                     /* nothing known: some columns */
    Slot *slot = vec_grow(&s->slots);
    slot->load = op;
    slot->present = s->guard ? s->guard : yes(s);
    slot->aside = s->aside > 0;
    slot->used = arena_array(s->a, bool, n + 1);
    slot->row = sym_tuple(s, n);
    bool *used = slot->used;
    Sym row = slot->row;
    for (size_t i = 0; i < n; i++) {
        const Column *c = i < s->know->ncolumns[op->id] ? &s->know->columns[op->id][i] : NULL;
        Type t = op->schema ? op->schema->fields[i].type : dtype_of(DATUM_BYTES);
        row.fields[i] = sym_leaf(s, t, c, &used[i]);
    }
    return row;
}

/* Rows of one op, demanded for one class, that must differ from each other. */
static void remember(Sought *s, const Op *op, const Sym *row)
{
    if (s->nmade == s->cap_made) {
        s->cap_made = s->cap_made ? 2 * s->cap_made : 16;
        s->made = xrealloc(s->made, s->cap_made * sizeof *s->made);
    }
    Sym *copy = arena_new(s->a, Sym);
    *copy = *row;
    s->made[s->nmade].op = op;
    s->made[s->nmade++].row = copy;
}

static void assert_differs_from_made(Sought *s, const Op *op, const Sym *row)
{
    for (size_t i = 0; i < s->nmade; i++)
        if (s->made[i].op == op)
            sought_assert(s, arith_not(s->z, sym_alike(s, row, s->made[i].row)));
}

static size_t made_of(const Sought *s, const Op *op)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nmade; i++)
        n += s->made[i].op == op;
    return n;
}

/* Relaxed: the row may be one that was demanded before, as in a join or a union. */
static bool may_be_one(const Sought *s, const Op *op)
{
    return s->relaxed && s->shared && made_of(s, op);
}

static Sym demand_shared(Sought *s, const Op *op)
{
    s->shared++;
    Sym r = demand_row(s, op);
    s->shared--;
    return r;
}

/* ---- rows that share rows */

static const struct UniqueKey *primary_of(const Op *load)
{
    for (size_t i = 0; load->rules && i < load->rules->nunique; i++)
        if (load->rules->unique[i].primary)
            return &load->rules->unique[i];
    return NULL;
}

static Truth same_key(Sought *s, const Slot *x, const Slot *y, const struct UniqueKey *u)
{
    Truth same = yes(s);
    for (size_t i = 0; i < u->n; i++) {
        int c = u->columns[i];
        same = arith_and(s->z, same, sym_equal(s, &x->row.fields[c], &y->row.fields[c]));
    }
    return same;
}

/* Slots with the same primary key are one row (assert_unique). Two demanded
 * rows, made of the slots from `from` and from `mid` to the end, must not be one
 * row all through. */
static void assert_other_row(Sought *s, size_t from, size_t mid, size_t end)
{
    Truth other = no(s);
    bool any = false;
    if (from + (end - mid) > mid || end == mid)
        return;
    for (size_t i = 0; i < end - mid; i++) {
        const Slot *x = &s->slots.items[from + i], *y = &s->slots.items[mid + i];
        const struct UniqueKey *u = primary_of(x->load);
        if (x->aside && y->aside)                  /* no part of the row */
            continue;
        any = true;
        if (x->load != y->load || !u)
            return;
        Truth differ = arith_not(s->z, same_key(s, x, y, u));
        /* Present or not tells rows of different sides of a union apart. But one left
         * row is alone or has partners, never both: two rows that share it differ in
         * their partners. */
        Truth both = arith_and(s->z, x->present, y->present);
        differ = arith_and(s->z, differ, both);
        if (!x->partner || !y->partner)
            differ =
                arith_or(s->z, differ, arith_not(s->z, arith_same(s->z, x->present, y->present)));
        other = arith_or(s->z, other, differ);
    }
    if (any)
        sought_assert(s, other);
}

/* ---- keys */

static Sym key_of(Sought *s, const Keys *k, const Sym *row, const SymEnv *up)
{
    SymEnv env = { row, up };
    if (k->n == 1)
        return sym_term(s, k->exprs[0], &env);
    Sym t = sym_tuple(s, k->n);
    for (size_t i = 0; i < k->n; i++)
        t.fields[i] = sym_term(s, k->exprs[i], &env);
    return t;
}

static Truth key_null(Sought *s, const Sym *k)
{
    Truth t = k->null;
    for (size_t i = 0; k->kind == DATUM_TUPLE && i < k->n; i++)
        t = arith_or(s->z, t, k->fields[i].null);
    return t;
}

static Datum old_key(Sought *s, const Keys *k, const Tuple *row)
{
    if (k->n == 1)
        return evaluator_value(s->ev, k->exprs[0], row, NULL);
    Tuple *t = tuple_new(s->a, k->n);
    for (size_t i = 0; i < k->n; i++)
        t->fields[i] = evaluator_value(s->ev, k->exprs[i], row, NULL);
    return datum_tuple(t);
}

/* The key is none of those that input `k` of the op has already. */
static Truth is_new_key(Sought *s, const Op *op, size_t k, const Sym *key)
{
    Vec(Truth) differ = { 0 };
    const Table *t = op->id < 100000 ? run_table(s->run, op->in[k]) : &(Table){ 0 };
    for (size_t i = 0; i < t->n && i < 200; i++) {
        Datum d = old_key(s, &op->keys[k], t->rows[i]->tuple);
        if (eval_has_null(&d))
            continue;
        Sym old = sym_const(s, &d);
        vec_push(&differ, arith_not(s->z, sym_alike(s, key, &old)));
    }
    Truth all = arith_all(s->z, differ.items, differ.len);
    vec_release(&differ);
    return all;
}

static void assert_new_key(Sought *s, const Op *op, size_t k, const Sym *key)
{
    if (!s->relaxed)
        sought_assert_as(s, is_new_key(s, op, k, key), TAG_FRESH);
}

/* ---- operators */

static Sym row_of_filter(Sought *s, const Op *op)
{
    Sym row = demand_row(s, op->in[0]);
    SymEnv env = { &row, s->outer };
    set_tag(s, op);
    Sym c = sym_term(s, op->cond, &env);
    sought_assert(s, sym_true(s, &c));
    return row;
}

/* One row out of FLATTEN: the first item of a bag is there. */
typedef Vec(Sym) Syms;

static void flatten_into(Sought *s, const Item *it, Sym v, Syms *out)
{
    if (v.kind == DATUM_BAG && v.items) {
        if (!v.n) {
            s->stuck = true;
            s->why = "a bag is empty";
            return;
        }
        sought_assert(s, arith_and(s->z, arith_not(s->z, v.null), v.present[0]));
        for (size_t i = 0; i < v.items[0].n; i++)
            vec_push(out, v.items[0].fields[i]);
        size_t want = it->expr->type.inner ? it->expr->type.inner->n : v.items[0].n;
        for (size_t i = v.items[0].n; i < want; i++)
            vec_push(out, sym_null(s, DATUM_NULL));
    } else if (v.kind == DATUM_TUPLE) {
        for (size_t i = 0; i < v.n; i++)
            vec_push(out, v.fields[i]);
        size_t want = it->expr->type.inner ? it->expr->type.inner->n : v.n;
        for (size_t i = v.n; i < want; i++)
            vec_push(out, sym_null(s, DATUM_NULL));
    } else if (v.kind == DATUM_MAP && v.n) {
        Datum key = datum_text(s->a, v.keys[0]);
        sought_assert(s, arith_not(s->z, arith_or(s->z, v.null, v.fields[0].null)));
        vec_push(out, sym_const(s, &key));
        vec_push(out, v.fields[0]);
    } else {
        vec_push(out, v);
    }
}

static Sym row_of_foreach(Sought *s, const Op *op)
{
    bool many = false;
    for (size_t i = 0; i < op->nitems; i++)
        many |= op->items[i].flatten && op->items[i].expr->type.kind != DATUM_TUPLE;
    Sym in = many ? demand_shared(s, op->in[0]) : demand_row(s, op->in[0]);
    SymEnv env = { &in, s->outer };
    Syms out = { 0 };
    set_tag(s, op);
    for (size_t i = 0; i < op->nitems && !s->stuck; i++) {
        Term *e = op->items[i].expr;
        /* A column that is only passed on has not been looked at. */
        bool plain = e->kind == TERM_FIELD && !e->depth && e->index >= 0 &&
                     (size_t)e->index < in.n && !op->items[i].flatten;
        Sym v = plain ? in.fields[e->index] : sym_term(s, e, &env);
        if (op->items[i].flatten)
            flatten_into(s, &op->items[i], v, &out);
        else
            vec_push(&out, v);
    }
    Sym row = sym_tuple(s, out.len);
    if (out.len)
        memcpy(row.fields, out.items, out.len * sizeof(Sym));
    vec_release(&out);
    return row;
}

static Sym bag_of(Sought *s, const Sym *rows, size_t n)
{
    Sym b = { .kind = DATUM_BAG, .null = no(s), .n = n };
    /* Proofs: exactly one row, or two and more; with several groups one and more. */
    b.open = s->relaxed && n && !(n == 1 && s->one_group);
    b.items = arena_array(s->a, Sym, n + 1);
    b.present = arena_array(s->a, Truth, n + 1);
    for (size_t i = 0; i < n; i++) {
        b.items[i] = rows[i];
        b.present[i] = yes(s);
    }
    return b;
}

static int rows_in_group(const Sought *s, const Op *op)
{
    int n = s->filled == op && s->shape.group < 2 ? 2 : s->shape.group;
    return s->shape.uneven ? n + (int)made_of(s, op) : n;
}

static const Op *table_below(const Op *op);
static Truth comes_out(Sought *s, const Op *op, Sym *row);

/* A subquery over one table also sees the table's rows of the examples and those
 * that are demanded, if it lets them through. */
static Sym with_others(Sought *s, const Op *in, Sym bag, size_t demanded)
{
    const Op *load = table_below(in);
    const Table *t = load ? run_table(s->run, load) : NULL;
    Vec(Sym) rows = { 0 };
    Vec(Truth) present = { 0 };
    for (size_t i = 0; i < bag.n; i++) {
        vec_push(&rows, bag.items[i]);
        vec_push(&present, bag.present[i]);
    }
    for (size_t i = 0; t && i < t->n && i < MOST_OLD_ROWS; i++) {
        Datum d = datum_tuple(t->rows[i]->tuple);
        Sym row = sym_const(s, &d);
        vec_push(&present, comes_out(s, in, &row));
        vec_push(&rows, row);
    }
    for (size_t i = 0; load && i < demanded; i++) {
        if (s->slots.items[i].load != load)
            continue;
        Sym row = s->slots.items[i].row;
        Truth there = s->slots.items[i].present;
        vec_push(&present, arith_and(s->z, there, comes_out(s, in, &row)));
        vec_push(&rows, row);
    }
    Sym r = bag_of(s, rows.items, rows.len);
    memcpy(r.present, present.items, present.len * sizeof *present.items);
    vec_release(&rows);
    vec_release(&present);
    return r;
}

/* The rows of an input that are there, and new ones. */
static Sym all_rows_of(Sought *s, const Op *op, size_t k)
{
    Vec(Sym) rows = { 0 };
    size_t demanded = s->slots.len;
    int fresh = s->shape.empty >> k & 1 ? 0 : rows_in_group(s, op);
    size_t *starts = arena_array(s->a, size_t, (size_t)fresh + 1);
    for (int i = 0; i < fresh; i++) {
        starts[i] = s->slots.len;
        vec_push(&rows, demand_row(s, op->in[k]));
        for (int j = 0; j < i; j++)
            assert_other_row(s, starts[j], starts[i], s->slots.len);
    }
    if (op->id < 100000 && !s->relaxed) {
        const Table *t = run_table(s->run, op->in[k]);
        for (size_t i = 0; i < t->n && i < MOST_OLD_ROWS; i++) {
            Datum d = datum_tuple(t->rows[i]->tuple);
            vec_push(&rows, sym_const(s, &d));
        }
    }
    Sym bag = bag_of(s, rows.items, rows.len);
    vec_release(&rows);
    return op->id < 100000 || s->relaxed ? bag : with_others(s, op->in[k], bag, demanded);
}

/* Relaxed: in SQL the group of all rows is there without any row, too. */
static Sym all_or_none_of(Sought *s, const Op *op, size_t k)
{
    Truth some = arith_bool_var(s->z), before = s->guard;
    s->guard = before ? arith_and(s->z, before, some) : some;
    Sym bag = all_rows_of(s, op, k);
    s->guard = before;
    for (size_t i = 0; i < bag.n; i++)
        bag.present[i] = some;
    return bag;
}

/* GROUP ALL has one group. */
static Sym row_of_all(Sought *s, const Op *op)
{
    Sym r = sym_tuple(s, 1 + op->nin);
    Datum all = datum_borrow(DATUM_TEXT, "all", 3);
    bool hollow = s->relaxed && s->plan->lang == LANG_SQL && s->filled != op;
    if (may_be_one(s, op))
        s->inexact = true;
    else if (made_of(s, op))
        sought_assert_as(s, no(s), tag_of(s, op));
    r.fields[0] = sym_const(s, &all);
    for (size_t k = 0; k < op->nin; k++)
        r.fields[k + 1] = hollow ? all_or_none_of(s, op, k) : all_rows_of(s, op, k);
    remember(s, op, &r.fields[0]);
    return r;
}

static Sym row_of_group(Sought *s, const Op *op)
{
    if (op->all || !op->keys)
        return row_of_all(s, op);
    Sym r = sym_tuple(s, 1 + op->nin);
    bool first = true;
    s->inexact |= op->nin > 1 && made_of(s, op);   /* all have the same empty sides */
    for (size_t k = 0; k < op->nin; k++) {
        int n = op->nin > 1 && (s->shape.empty >> k & 1) ? 0 : rows_in_group(s, op);
        Sym *rows = arena_array(s->a, Sym, (size_t)n + 1);
        size_t *starts = arena_array(s->a, size_t, (size_t)n + 1);
        for (int i = 0; i < n; i++) {
            starts[i] = s->slots.len;
            rows[i] = op->nin > 1 ? demand_shared(s, op->in[k]) : demand_row(s, op->in[k]);
            set_tag(s, op);
            for (int j = 0; j < i; j++)
                assert_other_row(s, starts[j], starts[i], s->slots.len);
            Sym key = key_of(s, &op->keys[k], &rows[i], s->outer);
            if (first)
                r.fields[0] = key;
            else
                sought_assert(s, op->nin > 1 ? sym_equal(s, &key, &r.fields[0])
                                             : sym_alike(s, &key, &r.fields[0]));
            first = false;
        }
        r.fields[k + 1] = bag_of(s, rows, (size_t)n);
    }
    if (first)
        return cannot(s, "a group needs a row");
    Truth null = key_null(s, &r.fields[0]);
    if (op->nin > 1 || !s->relaxed)                /* GROUP puts nulls together */
        sought_assert_as(s, op->nin == 1 && s->shape.null_key ? null : arith_not(s->z, null),
                         TAG_FRESH);
    set_tag(s, op);
    for (size_t k = 0; k < op->nin; k++)
        assert_new_key(s, op, k, &r.fields[0]);
    if (may_be_one(s, op))
        s->inexact = true;
    else
        assert_differs_from_made(s, op, &r.fields[0]);
    remember(s, op, &r.fields[0]);
    return r;
}

static Sym concat(Sought *s, const Sym *x, const Sym *y)
{
    Sym t = sym_tuple(s, x->n + y->n);
    memcpy(t.fields, x->fields, x->n * sizeof(Sym));
    memcpy(t.fields + x->n, y->fields, y->n * sizeof(Sym));
    return t;
}

static Sym nulls(Sought *s, const Op *op)
{
    size_t n = op->schema ? op->schema->n : 0;
    Sym t = sym_tuple(s, n);
    for (size_t i = 0; i < n; i++)
        t.fields[i] = sym_null(s, op->schema ? op->schema->fields[i].type.kind : DATUM_BYTES);
    return t;
}

/* No row of the other side that is there already fits this one. */
static void assert_alone(Sought *s, const Op *op, size_t side, const Sym *row)
{
    if (op->keys && op->keys[0].n) {
        Sym key = key_of(s, &op->keys[side], row, s->outer);
        assert_new_key(s, op, 1 - side, &key);
        return;
    }
    if (op->id >= 100000 || !op->cond)
        return;
    const Table *t = run_table(s->run, op->in[1 - side]);
    for (size_t i = 0; i < t->n && i < MOST_OLD_ROWS; i++) {
        Datum d = datum_tuple(t->rows[i]->tuple);
        Sym other = sym_const(s, &d);
        Sym both = side ? concat(s, &other, row) : concat(s, row, &other);
        SymEnv env = { &both, s->outer };
        Sym c = sym_term(s, op->cond, &env);
        sought_assert_as(s, arith_not(s->z, sym_true(s, &c)), TAG_FRESH);
    }
}

static Sym row_alone(Sought *s, const Op *op, size_t side)
{
    Sym row = demand_row(s, op->in[side]);
    set_tag(s, op);
    assert_alone(s, op, side, &row);
    Sym none = nulls(s, op->in[1 - side]);
    s->inexact = true;
    return side ? concat(s, &none, &row) : concat(s, &row, &none);
}

/* A row of one of two forms, whichever `first` says. */
static Sym either(Sought *s, Truth first, const Sym *x, const Sym *y)
{
    Sym r = sym_tuple(s, x->n < y->n ? x->n : y->n);
    for (size_t i = 0; i < r.n; i++)
        r.fields[i] = sym_choose(s, first, &x->fields[i], &y->fields[i]);
    return r;
}

/* Relaxed: the left row has a partner or not, each row as it likes. */
static Sym row_of_left_join(Sought *s, const Op *op)
{
    Sym left = demand_shared(s, op->in[0]);
    Truth partner = arith_bool_var(s->z), before = s->guard;
    s->guard = before ? arith_and(s->z, before, partner) : partner;
    size_t slot = s->slots.len;
    Sym right = demand_shared(s, op->in[1]);
    if (s->slots.len == slot + 1)
        s->slots.items[slot].partner = true;
    set_tag(s, op);
    if (op->keys && op->keys[0].n) {
        Sym x = key_of(s, &op->keys[0], &left, s->outer),
            y = key_of(s, &op->keys[1], &right, s->outer);
        sought_assert(s, sym_equal(s, &x, &y));
    }
    Sym both = concat(s, &left, &right), none = nulls(s, op->in[1]);
    if (op->cond) {
        SymEnv env = { &both, s->outer };
        Sym c = sym_term(s, op->cond, &env);
        sought_assert(s, sym_true(s, &c));
    }
    s->guard = before;
    right = either(s, partner, &right, &none);
    return concat(s, &left, &right);
}

static Sym row_of_join(Sought *s, const Op *op)
{
    if (s->relaxed && op->join == JOIN_LEFT && op->in[1]->schema)
        return row_of_left_join(s, op);
    s->inexact |= s->relaxed && op->join != JOIN_INNER;
    if (s->shape.outer == OUTER_AS_ASKED && op->id < 100000 && s->know->lonely[op->id])
        return row_alone(s, op, op->join == JOIN_RIGHT);
    if (s->shape.outer == 1 && (op->join == JOIN_LEFT || op->join == JOIN_FULL))
        return row_alone(s, op, 0);
    if (s->shape.outer == 2 && (op->join == JOIN_RIGHT || op->join == JOIN_FULL))
        return row_alone(s, op, 1);
    Sym all = demand_shared(s, op->in[0]);
    Sym first = { 0 };
    if (op->keys && op->keys[0].n) {
        set_tag(s, op);
        first = key_of(s, &op->keys[0], &all, s->outer);
        sought_assert(s, arith_not(s->z, key_null(s, &first)));
    }
    for (size_t k = 1; k < op->nin; k++) {
        Sym row = demand_shared(s, op->in[k]);
        set_tag(s, op);
        if (op->keys && op->keys[k].n) {
            Sym key = key_of(s, &op->keys[k], &row, s->outer);
            sought_assert(s, sym_equal(s, &key, &first));
            vec_push(&s->strangers,
                     arith_and(s->z, is_new_key(s, op, k, &key), is_new_key(s, op, 0, &key)));
        }
        all = concat(s, &all, &row);
    }
    if (op->cond) {
        SymEnv env = { &all, s->outer };
        Sym c = sym_term(s, op->cond, &env);
        sought_assert(s, sym_true(s, &c));
    }
    return all;
}

static Sym row_of_cross(Sought *s, const Op *op)
{
    Sym all = demand_shared(s, op->in[0]);
    for (size_t k = 1; k < op->nin; k++) {
        Sym row = demand_shared(s, op->in[k]);
        all = concat(s, &all, &row);
    }
    return all;
}

static Sym convert(Sought *s, const Sym *v, Type to)
{
    if (v->kind == to.kind || to.kind == DATUM_BYTES)
        return *v;
    Term field = { .kind = TERM_FIELD, .type = dtype_of(v->kind) };
    Term *arg = &field;
    Term cast = { .kind = TERM_CAST, .type = to, .args = &arg, .nargs = 1 };
    Sym row = sym_tuple(s, 1);
    row.fields[0] = *v;
    SymEnv env = { &row, NULL };
    return sym_term(s, &cast, &env);
}

/* A row of one input in the form of the union. */
static Sym row_of_union(Sought *s, const Op *op, size_t side)
{
    const Schema *from = op->in[side]->schema, *to = op->schema;
    Sym row = demand_shared(s, op->in[side]);
    if (!to)
        return row;
    Sym r = sym_tuple(s, to->n);
    for (size_t i = 0; i < to->n; i++) {
        size_t at = i;
        if (op->by_name)
            for (at = 0; from && at < from->n && strcmp(from->fields[at].name, to->fields[i].name);)
                at++;
        r.fields[i] = at < row.n ? convert(s, &row.fields[at], to->fields[i].type)
                                 : sym_null(s, to->fields[i].type.kind);
    }
    return r;
}

static size_t side_of(Sought *s, const Op *op)
{
    if (s->shape.side == SIDE_BY_TURNS)
        return s->turn++ % op->nin;
    return (size_t)s->shape.side < op->nin ? (size_t)s->shape.side : 0;
}

/* Relaxed: each row comes from the side that it likes. */
static Sym row_of_any_side(Sought *s, const Op *op)
{
    Truth before = s->guard;
    Num pick = arith_int_var(s->z);
    Sym row = { 0 };
    for (size_t k = 0; k < op->nin; k++) {
        Truth here = arith_eq(s->z, pick, arith_int(s->z, (int64_t)k));
        s->guard = before ? arith_and(s->z, before, here) : here;
        Sym r = row_of_union(s, op, k);
        row = k ? either(s, here, &r, &row) : r;
        s->guard = before;
    }
    sought_assert_as(s, arith_le(s->z, arith_int(s->z, 0), pick), TAG_RANGE);
    sought_assert_as(s, arith_lt(s->z, pick, arith_int(s->z, (int64_t)op->nin)), TAG_RANGE);
    return row;
}

/* Are two rows alike? All their cells are looked at then. */
static Truth rows_alike(Sought *s, const Sym *x, const Sym *y)
{
    sym_look(x);
    sym_look(y);
    return sym_rows_alike(s, x, y);
}

/* No two rows of this op are alike. */
static void assert_set(Sought *s, const Op *op, const Sym *row)
{
    set_tag(s, op);
    s->inexact |= may_be_one(s, op);
    for (size_t i = 0; i < s->nmade; i++)
        if (s->made[i].op == op)
            sought_assert(s, arith_not(s->z, rows_alike(s, row, s->made[i].row)));
    remember(s, op, row);
}

static Sym row_of_distinct(Sought *s, const Op *op)
{
    Sym row = demand_row(s, op->in[0]);
    assert_set(s, op, &row);
    return row;
}

/* At most k rows leave a LIMIT. */
static Sym row_of_limit(Sought *s, const Op *op)
{
    Sym row = demand_row(s, op->in[0]);
    const Term *t = op->count;
    s->inexact |= may_be_one(s, op);
    if (t && t->kind == TERM_CONST && datum_is_number(&t->value) &&
        (double)made_of(s, op) >= datum_as_double(&t->value))
        sought_assert_as(s, no(s), tag_of(s, op));
    remember(s, op, &row);
    return row;
}

static Sym row_of_rank(Sought *s, const Op *op)
{
    Sym row = demand_row(s, op->in[0]), first = sym_tuple(s, 1);
    first.fields[0] = sym_leaf(s, dtype_of(DATUM_LONG), NULL, NULL);
    sought_assert_as(s, arith_not(s->z, first.fields[0].null), TAG_RANGE);
    s->inexact = true;
    return concat(s, &first, &row);
}

static Sym row_of_cube(Sought *s, const Op *op)
{
    Sym rows[2], r = sym_tuple(s, 2), keys[2];
    for (int i = 0; i < 2; i++) {
        rows[i] = demand_row(s, op->in[0]);
        set_tag(s, op);
        keys[i] = key_of(s, &op->keys[0], &rows[i], s->outer);
        sought_assert_as(s, arith_not(s->z, key_null(s, &keys[i])), TAG_FRESH);
    }
    sought_assert(s, sym_equal(s, &keys[0], &keys[1]));
    if (op->keys[0].n == 1) {
        r.fields[0] = sym_tuple(s, 1);
        r.fields[0].fields[0] = keys[0];
    } else {
        r.fields[0] = keys[0];
    }
    for (int i = 0; i < 2; i++) {
        Sym t = sym_tuple(s, 0);
        t = concat(s, &r.fields[0], &t);
        Sym rest = sym_tuple(s, rows[i].n);
        rest.n = 0;
        for (size_t c = 0; c < rows[i].n; c++) {
            bool dim = false;
            for (size_t j = 0; j < op->keys[0].n; j++)
                dim |= op->keys[0].exprs[j]->kind == TERM_FIELD &&
                       op->keys[0].exprs[j]->index == (int)c;
            if (!dim)
                rest.fields[rest.n++] = rows[i].fields[c];
        }
        rows[i] = concat(s, &t, &rest);
    }
    r.fields[1] = bag_of(s, rows, 2);
    s->inexact = true;
    return r;
}

static Sym row_of_sets(Sought *s, const Op *op)
{
    Sym l = demand_shared(s, op->in[0]);
    if (!op->all)
        assert_set(s, op, &l);
    if (op->kind == OP_INTERSECT) {
        Sym r = demand_shared(s, op->in[1]);
        set_tag(s, op);
        sought_assert(s, rows_alike(s, &l, &r));
        return l;
    }
    if (op->id < 100000) {
        const Table *t = run_table(s->run, op->in[1]);
        for (size_t i = 0; i < t->n && i < MOST_OLD_ROWS; i++) {
            Datum d = datum_tuple(t->rows[i]->tuple);
            Sym old = sym_const(s, &d);
            sought_assert_as(s, arith_not(s->z, rows_alike(s, &l, &old)), TAG_FRESH);
        }
    }
    s->inexact = true;
    return l;
}

static Sym row_of_values(Sought *s, const Op *op)
{
    if (!op->nrows)
        return cannot(s, "VALUES has no row");
    Num pick = arith_int_var(s->z);
    Truth *is = arena_array(s->a, Truth, op->nrows);
    for (size_t i = 0; i < op->nrows; i++)
        is[i] = arith_eq(s->z, pick, arith_int(s->z, (int64_t)i));
    sought_assert_as(s, arith_any(s->z, is, op->nrows), TAG_RANGE);
    Datum first = datum_tuple(op->rows[0]);
    Sym r = sym_const(s, &first);
    s->inexact |= op->nrows > 1;
    return r;
}

/* ---- window functions */

static const char *const ranks[] = { "row_number", "rank", "dense_rank", NULL };
static const char *const sums[] = { "sum", "avg", "min", "max", "count", NULL };

/* The partition is new: no old row is in it. */
static void assert_new_partition(Sought *s, const Op *op, const Window *w, const Sym *row)
{
    SymEnv env = { row, s->outer };
    if (!w->npartition || op->id >= 100000)
        return;
    Sym p = sym_term(s, w->partition[0], &env);
    const Table *t = run_table(s->run, op->in[0]);
    for (size_t r = 0; r < t->n && r < MOST_OLD_ROWS; r++) {
        Datum d = evaluator_value(s->ev, w->partition[0], t->rows[r]->tuple, NULL);
        Sym old = sym_const(s, &d);
        sought_assert_as(s, arith_not(s->z, sym_alike(s, &p, &old)), TAG_FRESH);
    }
}

/* Two rows of one partition; the first key of its order tells which one comes first. */
static void assert_partition(Sought *s, const Window *w, const Sym *first, const Sym *second)
{
    SymEnv x = { first, s->outer }, y = { second, s->outer };
    for (size_t k = 0; k < w->npartition; k++) {
        Sym p = sym_term(s, w->partition[k], &x), q = sym_term(s, w->partition[k], &y);
        sought_assert(s, sym_alike(s, &p, &q));
    }
    if (!w->norder)
        return;
    Sym both = sym_tuple(s, 2);
    both.fields[0] = sym_term(s, w->order[0].expr, &x);
    both.fields[1] = sym_term(s, w->order[0].expr, &y);
    Term fields[] = { { .kind = TERM_FIELD, .index = 0, .type = w->order[0].expr->type },
                      { .kind = TERM_FIELD, .index = 1, .type = w->order[0].expr->type } };
    Term *args[] = { &fields[0], &fields[1] };
    Term less = { .kind = w->order[0].descending ? TERM_GT : TERM_LT,
                  .type = dtype_of(DATUM_BOOL),
                  .args = args,
                  .nargs = 2 };
    SymEnv env = { &both, NULL };
    Sym t = sym_term(s, &less, &env);
    sought_assert(s, sym_true(s, &t));
}

static Sym sum_of(Sought *s, const Window *w, Type type, Sym *rows, size_t n)
{
    Sym group = sym_tuple(s, 1);
    group.fields[0] = bag_of(s, rows, n);
    Term bag = { .kind = TERM_FIELD, .type = dtype_of(DATUM_BAG) };
    Term *args[] = { &bag, w->nargs ? w->args[0] : NULL };
    Term t = { .kind = TERM_AGGREGATE,
               .name = w->name,
               .type = type,
               .args = args,
               .nargs = w->nargs ? 2 : 1 };
    SymEnv env = { &group, s->outer };
    return sym_term(s, &t, &env);
}

/* A row of a partition that has one row, or two (see Shape.window). */
static Sym row_of_window(Sought *s, const Op *op)
{
    Sym row = demand_row(s, op->in[0]), more = sym_tuple(s, op->nwindows);
    Sym other = s->shape.window ? demand_row(s, op->in[0]) : row;
    bool before = s->shape.window == 1, behind = s->shape.window == 2;
    SymEnv env = { &row, s->outer }, there = { &other, s->outer };
    Datum number = datum_long(before ? 2 : 1);
    set_tag(s, op);
    for (size_t i = 0; i < op->nwindows; i++) {
        const Window *w = &op->windows[i];
        Type type = op->schema->fields[row.n + i].type;
        Sym rows[] = { row, other };
        assert_new_partition(s, op, w, &row);
        if (s->shape.window)
            assert_partition(s, w, before ? &other : &row, before ? &row : &other);
        bool lag = !strcmp(w->name, "lag"), lead = !strcmp(w->name, "lead");
        if (str_is_one_of(w->name, ranks))
            more.fields[i] = sym_const(s, &number);
        else if (str_is_one_of(w->name, sums) && !w->frame)
            more.fields[i] = sum_of(s, w, type, rows, before || (behind && !w->norder) ? 2 : 1);
        else if (!strcmp(w->name, "first_value") && w->nargs && !w->frame)
            more.fields[i] = sym_term(s, w->args[0], before ? &there : &env);
        else if ((lag || lead) && w->nargs == 1)
            more.fields[i] =
                (lag ? before : behind) ? sym_term(s, w->args[0], &there) : sym_null(s, type.kind);
        else
            more.fields[i] = sym_leaf(s, type, NULL, NULL);
    }
    s->inexact = true;
    return concat(s, &row, &more);
}

static Sym row_of_bag(Sought *s, const Op *op)
{
    Sym b = sym_term(s, op->source, s->outer);
    if (b.kind != DATUM_BAG || !b.n)
        return cannot(s, "a bag is empty");
    sought_assert(s, b.present[0]);
    return b.items[0];
}

Sym demand_row(Sought *s, const Op *op)
{
    if (s->stuck)
        return nulls(s, op);
    if ((s->deadline && clock_seconds() > s->deadline) || (s->stop && s->stop(s->stop_arg)))
        return cannot(s, "the time was over");
    switch (op->kind) {
    case OP_LOAD: return row_of_load(s, op);
    case OP_VALUES: return row_of_values(s, op);
    case OP_BAG: return row_of_bag(s, op);
    case OP_FILTER:
    case OP_SPLIT:
    case OP_ASSERT: return row_of_filter(s, op);
    case OP_FOREACH: return row_of_foreach(s, op);
    case OP_GROUP: return row_of_group(s, op);
    case OP_JOIN: return row_of_join(s, op);
    case OP_CROSS: return row_of_cross(s, op);
    case OP_UNION:
        if (s->relaxed)
            return row_of_any_side(s, op);
        return row_of_union(s, op, side_of(s, op));
    case OP_DISTINCT: return row_of_distinct(s, op);
    case OP_LIMIT: return row_of_limit(s, op);
    case OP_RANK: return row_of_rank(s, op);
    case OP_CUBE: return row_of_cube(s, op);
    case OP_INTERSECT:
    case OP_EXCEPT: return row_of_sets(s, op);
    case OP_WINDOW: return row_of_window(s, op);
    case OP_SAMPLE: s->inexact = true; return demand_row(s, op->in[0]);
    case OP_ORDER:
    case OP_STORE: return demand_row(s, op->in[0]);
    case OP_STREAM: return cannot(s, "STREAM runs a program whose output is not known");
    }
    return cannot(s, "the operator is not known");
}

/* ---- subqueries */

static void note_subquery(Term *t, void *arg) { *(bool *)arg |= t->op != NULL; }

/* The table that a subquery looks through row by row; NULL: it does more. */
static const Op *table_below(const Op *op)
{
    bool more = false;
    switch (op->kind) {
    case OP_LOAD: return op;
    case OP_FILTER: term_walk(op->cond, note_subquery, &more); break;
    case OP_FOREACH:
        for (size_t i = 0; i < op->nitems; i++) {
            term_walk(op->items[i].expr, note_subquery, &more);
            more |= op->items[i].flatten;
        }
        break;
    default: return NULL;
    }
    return more ? NULL : table_below(op->in[0]);
}

/* Does a row of the table come out of the subquery? *row is what comes out. */
static Truth comes_out(Sought *s, const Op *op, Sym *row)
{
    if (op->kind == OP_LOAD)
        return yes(s);
    Truth before = comes_out(s, op->in[0], row);
    SymEnv env = { row, s->outer };
    if (op->kind == OP_FILTER) {
        Sym c = sym_term(s, op->cond, &env);
        return arith_and(s->z, before, sym_true(s, &c));
    }
    Sym out = sym_tuple(s, op->nitems);
    for (size_t i = 0; i < op->nitems; i++)
        out.fields[i] = sym_term(s, op->items[i].expr, &env);
    *row = out;
    return before;
}

static Truth compares(Sought *s, const Sym *x, TermKind compare, const Sym *row)
{
    Term a = { .kind = TERM_FIELD, .index = 0 }, b = { .kind = TERM_FIELD, .index = 1 };
    Term *args[] = { &a, &b };
    Term cmp = { .kind = compare, .args = args, .nargs = 2 };
    Sym both = sym_tuple(s, 2);
    both.fields[0] = *x;
    both.fields[1] = row->fields[0];
    SymEnv here = { &both, NULL };
    Sym c = sym_term(s, &cmp, &here);
    return sym_true(s, &c);
}

static const SymEnv *keep_env(Sought *s, const SymEnv *env)
{
    if (!env)
        return NULL;
    SymEnv *e = arena_new(s->a, SymEnv);
    Sym *row = arena_new(s->a, Sym);
    *row = *env->row;
    *e = (SymEnv){ row, keep_env(s, env->up) };
    return e;
}

/* If nothing is to be there, no row of the table may be it: neither those of the
 * examples nor those that are demanded. */
static void assert_not_it(Sought *s, const Absent *q, const Sym *of_table, Truth present)
{
    const SymEnv *outer = s->outer;
    Truth before = s->guard;
    int tag = s->tag;
    Sym row = *of_table;
    s->outer = q->env;
    s->guard = q->guard;
    s->tag = q->tag;
    Truth it = arith_and(s->z, present, comes_out(s, q->op, &row));
    if (q->x && row.n)
        it = arith_and(s->z, it, compares(s, q->x, q->compare, &row));
    sought_assert(s, arith_or(s->z, q->there, arith_not(s->z, it)));
    s->outer = outer;
    s->guard = before;
    s->tag = tag;
}

static void note_absent(Sought *s, const Op *op, const SymEnv *env, const Sym *x, TermKind compare,
                        Truth there, size_t own)
{
    const Op *load = table_below(op);
    if (!load)
        return;
    Absent q = { .op = op,
                 .load = load,
                 .env = keep_env(s, env),
                 .compare = compare,
                 .own = own,
                 .there = there,
                 .guard = s->guard,
                 .tag = s->tag };
    if (x) {
        Sym *copy = arena_new(s->a, Sym);
        *copy = *x;
        q.x = copy;
    }
    vec_push(&s->absents, q);
    const Table *t = run_table(s->run, load);
    for (size_t i = 0; i < t->n && i < MOST_OLD_ROWS && !s->relaxed; i++) {
        Datum d = datum_tuple(t->rows[i]->tuple);
        Sym old = sym_const(s, &d);
        assert_not_it(s, &q, &old, yes(s));
    }
}

Truth demand_exists(Sought *s, const Op *op, const SymEnv *env, const Sym *x, TermKind compare)
{
    Truth there = arith_bool_var(s->z), before = s->guard;
    const SymEnv *outer = s->outer;
    Shape shape = s->shape;
    bool one_group = s->one_group;
    int tag = s->tag;
    s->guard = before ? arith_and(s->z, before, there) : there;
    s->outer = env;
    if (s->relaxed) {                               /* groups of one row and more */
        s->shape.group = 1;
        s->one_group = false;
    }
    s->aside++;
    Sym row = demand_shared(s, op);
    s->aside--;
    s->shape = shape;
    s->one_group = one_group;
    s->tag = tag;
    if (x && row.n)
        sought_assert(s, compares(s, x, compare, &row));
    s->guard = before;
    s->outer = outer;
    if (!s->stuck)
        note_absent(s, op, env, x, compare, there, SIZE_MAX);
    if (s->stuck) {                                 /* then it is not there */
        s->stuck = false;
        s->inexact = true;
        sought_assert(s, arith_not(s->z, there));
    }
    return there;
}

/* A subquery of one value has one row: the table has no other one for it, or with
 * DISTINCT no other value. */
static void demand_no_other(Sought *s, const Op *op, const SymEnv *env, const Sym *row, size_t own)
{
    if (op->kind == OP_DISTINCT)
        note_absent(s, op->in[0], env, &row->fields[0], TERM_NE, no(s), SIZE_MAX);
    else
        note_absent(s, op, env, NULL, TERM_NE, no(s), own);
}

Sym demand_scalar(Sought *s, const Op *op, const SymEnv *env, int column)
{
    for (size_t i = 0; i < s->nscalars && !env; i++)
        if (s->scalar_ops[i] == op)
            return (size_t)column < s->scalar_rows[i].n ? s->scalar_rows[i].fields[column]
                                                        : sym_null(s, DATUM_NULL);
    const SymEnv *outer = s->outer;
    int tag = s->tag;
    s->outer = env;
    Sym row;
    const Table *t = op->id < 100000 ? run_table(s->run, op) : NULL;
    if (t && t->n == 1) {                           /* it has its row already */
        Datum d = datum_tuple(t->rows[0]->tuple);
        row = sym_const(s, &d);
    } else {
        size_t own = s->slots.len;
        s->aside++;
        row = demand_row(s, op);
        s->aside--;
        if (!s->relaxed && !s->stuck && op->id >= 100000 && row.n == 1)
            demand_no_other(s, op, env, &row, own);
    }
    s->outer = outer;
    s->tag = tag;
    s->inexact = true;
    if (!env && s->nscalars < 32) {
        s->scalar_ops[s->nscalars] = op;
        s->scalar_rows[s->nscalars++] = row;
    }
    return (size_t)column < row.n ? row.fields[column] : sym_null(s, DATUM_NULL);
}

/* ---- classes */

static void demand_condition(Sought *s, const Class *c)
{
    Sym row = demand_row(s, c->op->in[0]);
    SymEnv env = { &row, NULL };
    s->tag = TAG_OPS + c->op->id;
    if (s->stuck)
        return;
    Sym t = sym_term(s, c->op->cond, &env);
    if (c->kind == CLASS_PASS)
        sought_assert(s, sym_true(s, &t));
    else if (c->kind == CLASS_FAIL)
        sought_assert(s, sym_false(s, &t));
    else
        sought_assert(s, t.null);
}

static void collect_parts(const Term *t, TermKind kind, const Term **out, size_t *n)
{
    if (t->kind == kind) {
        collect_parts(t->args[0], kind, out, n);
        collect_parts(t->args[1], kind, out, n);
    } else if (*n < 256) {
        out[(*n)++] = t;
    }
}

static void demand_atom(Sought *s, const Class *c)
{
    Sym row = demand_row(s, c->op->in[0]);
    SymEnv env = { &row, NULL };
    s->tag = TAG_OPS + c->op->id;
    if (s->stuck)
        return;
    if (c->kind == CLASS_BOUNDARY) {
        Sym x = sym_term(s, c->atom->args[0], &env), y = sym_term(s, c->atom->args[1], &env);
        sought_assert(s, sym_equal(s, &x, &y));
        return;
    }
    const Term *parts[256];
    size_t n = 0;
    bool and = c->op->cond->kind == TERM_AND;
    collect_parts(c->op->cond, c->op->cond->kind, parts, &n);
    for (size_t i = 0; i < n; i++) {
        Sym t = sym_term(s, parts[i], &env);
        bool want_false = ((int)i == c->part) == and;
        sought_assert(s, want_false ? sym_false(s, &t) : sym_true(s, &t));
    }
}

static void demand_duplicate(Sought *s, const Class *c)
{
    Sym x = demand_row(s, c->op->in[0]);
    size_t mid = s->slots.len;
    Sym y = demand_row(s, c->op->in[0]);
    s->tag = TAG_OPS + c->op->id;
    assert_other_row(s, 0, mid, s->slots.len);
    sought_assert(s, rows_alike(s, &x, &y));
}

static void demand_two_different(Sought *s, const Class *c)
{
    Sym x = demand_row(s, c->op->in[0]), y = demand_row(s, c->op->in[0]);
    SymEnv ex = { &x, NULL }, ey = { &y, NULL };
    s->tag = TAG_OPS + c->op->id;
    /* Better two that the order tells apart. */
    Truth differ = no(s);
    for (size_t i = 0; i < c->op->norder; i++) {
        Sym a = sym_term(s, c->op->order[i].expr, &ex), b = sym_term(s, c->op->order[i].expr, &ey);
        differ = arith_or(s->z, differ, arith_not(s->z, sym_alike(s, &a, &b)));
    }
    if (!c->op->norder)
        differ = arith_not(s->z, sym_rows_alike(s, &x, &y));
    sought_assert(s, differ);
}

static void demand_more(Sought *s, const Class *c)
{
    if (c->needs > 101) {
        cannot(s, "it takes more than a hundred rows");
        return;
    }
    if (s->relaxed && c->needs > 6) {
        s->inexact = true;
        return;
    }
    const Table *t = run_table(s->run, c->op->in[0]);
    size_t have = s->relaxed ? 0 : t->n < c->needs ? t->n : c->needs;
    size_t *starts = arena_array(s->a, size_t, c->needs + 1);
    for (size_t i = have; i < c->needs && !s->stuck; i++) {
        starts[i] = s->slots.len;
        demand_row(s, c->op->in[0]);
        for (size_t k = have; k < i; k++)
            assert_other_row(s, starts[k], starts[i], s->slots.len);
    }
}

static void demand_only_left(Sought *s, const Class *c)
{
    Sym l = demand_row(s, c->op->in[0]);
    const Table *t = run_table(s->run, c->op->in[1]);
    for (size_t i = 0; i < t->n && i < MOST_OLD_ROWS; i++) {
        Datum d = datum_tuple(t->rows[i]->tuple);
        Sym old = sym_const(s, &d);
        sought_assert_as(s, arith_not(s->z, rows_alike(s, &l, &old)), TAG_FRESH);
    }
}

static void demand_in_both(Sought *s, const Class *c)
{
    Sym l = demand_row(s, c->op->in[0]), r = demand_shared(s, c->op->in[1]);
    s->tag = TAG_OPS + c->op->id;
    sought_assert(s, rows_alike(s, &l, &r));
}

bool demand_class(Sought *s, const Class *c)
{
    const Op *op = c->op;
    Shape shape = s->shape;
    switch (c->kind) {
    case CLASS_ROWS: demand_row(s, op->nin ? op->in[0] : op); break;
    case CLASS_FROM_INPUT: demand_row(s, op->in[c->part]); break;
    case CLASS_PASS:
    case CLASS_FAIL:
    case CLASS_NULL: demand_condition(s, c); break;
    case CLASS_BOUNDARY:
    case CLASS_ONE_DECIDES: demand_atom(s, c); break;
    case CLASS_GROUP_OF_TWO:
        s->filled = op;
        demand_row(s, op);
        break;
    case CLASS_EMPTY_SIDE:
        s->shape.empty = 1 << c->part;
        s->shape.group = 1;
        demand_row(s, op);
        break;
    case CLASS_JOINED:
        s->shape.outer = 0;
        demand_row(s, op);
        break;
    case CLASS_LEFT_ALONE:
    case CLASS_RIGHT_ALONE: row_alone(s, op, (size_t)c->part); break;
    case CLASS_DUPLICATE: demand_duplicate(s, c); break;
    case CLASS_TWO_EACH:
        for (size_t k = 0; k < op->nin; k++)
            for (int i = 0; i < 2; i++)
                k ? demand_shared(s, op->in[k]) : demand_row(s, op->in[k]);
        break;
    case CLASS_TWO_DIFFERENT: demand_two_different(s, c); break;
    case CLASS_MORE_THAN_LIMIT: demand_more(s, c); break;
    case CLASS_IN_BOTH: demand_in_both(s, c); break;
    case CLASS_ONLY_LEFT: demand_only_left(s, c); break;
    }
    s->shape = shape;
    return !s->stuck;
}

/* ---- rules of a schema */

static Sym key_columns(Sought *s, const Sym *row, const int *columns, size_t n, bool *used)
{
    Sym t = sym_tuple(s, n);
    for (size_t i = 0; i < n; i++) {
        t.fields[i] = row->fields[columns[i]];
        if (used)
            used[columns[i]] = true;
    }
    return t;
}

static Sym old_columns(Sought *s, const Tuple *row, const int *columns, size_t n)
{
    Sym t = sym_tuple(s, n);
    for (size_t i = 0; i < n; i++)
        t.fields[i] = sym_const(s, &row->fields[columns[i]]);
    return t;
}

/* Where `twin` holds, two slots are one row: all cells are alike. */
static void assert_twins(Sought *s, const Slot *x, const Slot *y, Truth twin)
{
    for (size_t i = 0; i < x->row.n; i++) {
        if (!x->used[i] && !y->used[i])
            continue;
        x->used[i] = y->used[i] = true;
        Truth alike = sym_alike(s, &x->row.fields[i], &y->row.fields[i]);
        sought_assert_as(s, arith_or(s->z, arith_not(s->z, twin), alike), TAG_RULES);
    }
}

/* The keys of two rows clash: equal, and no part is null. */
static Truth clash(Sought *s, const Sym *x, const Sym *y)
{
    return arith_and(s->z, sym_equal(s, x, y), arith_not(s->z, key_null(s, x)));
}

static void assert_unique(Sought *s, size_t at, const struct UniqueKey *u)
{
    const struct UniqueKey *primary = primary_of(s->slots.items[at].load);
    Slot *slot = &s->slots.items[at];
    Sym key = key_columns(s, &slot->row, u->columns, u->n, slot->used);
    const Table *t = run_table(s->run, slot->load);
    for (size_t i = 0; i < t->n && i < 200 && !s->relaxed; i++) {
        Sym old = old_columns(s, t->rows[i]->tuple, u->columns, u->n);
        Truth same = clash(s, &key, &old);
        sought_assert_as(s, arith_not(s->z, same), TAG_RULES);
    }
    for (size_t i = 0; i < at; i++) {
        const Slot *other = &s->slots.items[i];
        if (other->load != slot->load)
            continue;
        Sym old = key_columns(s, &other->row, u->columns, u->n, NULL);
        Truth both = arith_and(s->z, slot->present, other->present);
        if (primary) {                             /* then it is the same row */
            Truth twin = arith_and(s->z, both, same_key(s, slot, other, primary));
            if (u == primary)
                assert_twins(s, slot, other, twin);
            both = arith_and(s->z, both, arith_not(s->z, twin));
        }
        sought_assert_as(s, arith_not(s->z, arith_and(s->z, both, clash(s, &key, &old))),
                         TAG_RULES);
    }
}

/* The row that a foreign key names is there already, or is made. */
static void assert_foreign(Sought *s, size_t at, const struct ForeignKey *f)
{
    Sym row = s->slots.items[at].row;
    Sym key = key_columns(s, &row, f->columns, f->n, s->slots.items[at].used);
    Truth found = key_null(s, &key), present = s->slots.items[at].present;
    if (!f->table || f->table->kind != OP_LOAD)
        return;
    const Table *t = run_table(s->run, f->table);
    for (size_t i = 0; i < t->n && i < MOST_OLD_ROWS && !s->relaxed; i++) {
        Sym old = old_columns(s, t->rows[i]->tuple, f->others, f->n);
        found = arith_or(s->z, found, sym_equal(s, &key, &old));
    }
    for (size_t i = 0; i < s->slots.len; i++) {
        const Slot *other = &s->slots.items[i];
        if (other->load != f->table)
            continue;
        Sym old = key_columns(s, &other->row, f->others, f->n, NULL);
        found = arith_or(s->z, found, arith_and(s->z, other->present, sym_equal(s, &key, &old)));
    }
    Truth extra = arith_bool_var(s->z), before = s->guard;
    s->guard = arith_and(s->z, present, extra);
    size_t made = s->slots.len;
    Sym parent = row_of_load(s, f->table);
    if (s->slots.len > made) {
        s->slots.items[made].present = s->guard;
        Sym other = key_columns(s, &parent, f->others, f->n, s->slots.items[made].used);
        found = arith_or(s->z, found, arith_and(s->z, extra, sym_equal(s, &key, &other)));
    }
    s->guard = before;
    sought_assert_as(s, arith_or(s->z, arith_not(s->z, present), found), TAG_RULES);
}

/* Dates are whole days, numbers have so many decimals or bytes, text is not too
 * long. */
static void assert_form(Sought *s, const TableRules *r, size_t i, const Sym *x)
{
    bool whole = r->whole_days && r->whole_days[i];
    int decimals = r->decimals ? r->decimals[i] : -1, most = r->max_length ? r->max_length[i] : 0;
    if (whole && x->num)
        sought_assert_as(s,
                         arith_eq(s->z, x->num,
                                  arith_mul(s->z, arith_int_var(s->z), arith_int(s->z, 86400000))),
                         TAG_RULES);
    if (decimals >= 0 && decimals < 7 && x->num && arith_is_real(s->z, x->num)) {
        double unit = 1;
        for (int k = 0; k < decimals; k++)
            unit *= 10;
        sought_assert_as(s,
                         arith_eq(s->z, arith_mul(s->z, x->num, arith_real(s->z, unit)),
                                  arith_to_real(s->z, arith_int_var(s->z))),
                         TAG_RULES);
    }
    if (x->kind == DATUM_LONG && most > 0 && most < 8 && x->num) {
        int64_t end = (int64_t)1 << (8 * most - 1);
        sought_assert_as(s, arith_le(s->z, arith_int(s->z, -end), x->num), TAG_RULES);
        sought_assert_as(s, arith_lt(s->z, x->num, arith_int(s->z, end)), TAG_RULES);
    }
    for (size_t k = 0; most > 0 && x->kind == DATUM_TEXT && k < x->nalts; k++)
        if (x->alts[k].value.len > (uint32_t)most)
            sought_assert_as(s, arith_not(s->z, x->alts[k].when), TAG_RULES);
}

static void assert_rules(Sought *s, size_t at)
{
    const TableRules *r = s->slots.items[at].load->rules;
    if (!r)
        return;
    Sym row = s->slots.items[at].row;
    Truth before = s->guard;
    s->guard = s->slots.items[at].present;
    for (size_t i = 0; r->not_null && i < row.n; i++)
        if (r->not_null[i])
            sought_assert_as(s, arith_not(s->z, row.fields[i].null), TAG_RULES);
    int tag = s->tag;
    s->tag = TAG_RULES;
    for (size_t i = 0; i < r->nchecks; i++) {
        SymEnv env = { &row, NULL };
        Sym c = sym_term(s, r->checks[i], &env);
        sought_assert(s, arith_not(s->z, sym_false(s, &c)));
    }
    s->tag = tag;
    s->guard = before;
    for (size_t i = 0; i < r->nunique; i++)
        assert_unique(s, at, &r->unique[i]);
    for (size_t i = 0; i < r->nforeign; i++)
        assert_foreign(s, at, &r->foreign[i]);
    for (size_t i = 0; i < row.n; i++)
        if (s->slots.items[at].used[i])
            assert_form(s, r, i, &row.fields[i]);
}

static void assert_absent(Sought *s, size_t at)
{
    for (size_t i = 0; i < s->absents.len; i++)
        if (s->absents.items[i].load == s->slots.items[at].load && s->absents.items[i].own != at)
            assert_not_it(s, &s->absents.items[i], &s->slots.items[at].row,
                          s->slots.items[at].present);
}

void demand_rules(Sought *s)
{
    for (size_t i = 0; i < s->slots.len && !s->stuck; i++) {
        if (i >= MOST_RULED) {
            cannot(s, "it takes too many rows");
            return;
        }
        if (!s->slots.items[i].ruled) {
            s->slots.items[i].ruled = true;
            assert_absent(s, i);
            assert_rules(s, i);
        }
    }
}
