/*
 * GROUP, COGROUP, JOIN, CUBE.
 *
 * A key with a null part joins nothing. GROUP puts equal keys together, null
 * too; COGROUP keeps keys with a null part of different inputs apart.
 */
#include "dataflow/eval_int.h"
#include <assert.h>
#include <stdio.h>

bool eval_has_null(const Datum *v)
{
    if (v->kind == DATUM_TUPLE)
        for (size_t i = 0; i < v->u.tuple->n; i++)
            if (v->u.tuple->fields[i].kind == DATUM_NULL)
                return true;
    return v->kind == DATUM_NULL;
}

/* kind, then the value; texts and tuples with their length. */
void eval_key(Str *out, const Datum *v)
{
    str_addc(out, (char)v->kind);
    switch ((DatumKind)v->kind) {
    case DATUM_NULL: break;
    case DATUM_BOOL: str_addc(out, v->u.b); break;
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_DATETIME:
    case DATUM_BIGINT: str_addn(out, (const char *)&v->u.i, sizeof v->u.i); break;
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: {
        double d = v->u.d != v->u.d ? 0.0 / 0.0 : v->u.d;
        str_addn(out, (const char *)&d, sizeof d);
        break;
    }
    case DATUM_TEXT:
    case DATUM_BYTES:
        str_addn(out, (const char *)&v->len, sizeof v->len);
        str_addn(out, v->u.s, v->len);
        break;
    case DATUM_TUPLE:
        str_addn(out, (const char *)&v->u.tuple->n, sizeof v->u.tuple->n);
        for (size_t i = 0; i < v->u.tuple->n; i++)
            eval_key(out, &v->u.tuple->fields[i]);
        break;
    case DATUM_MAP:
    case DATUM_BAG: {
        Str s = { 0 };
        datum_print(&s, v, true);
        str_addn(out, (const char *)&s.len, sizeof s.len);
        str_addn(out, str_c(&s), s.len);
        str_release(&s);
        break;
    }
    }
}

/* One key is the value, several are a tuple. */
static Datum key_of(Eval *ev, const Keys *k, const Tuple *row, const Env *env)
{
    Env here = { row, env };
    if (k->n == 1)
        return eval_term(ev, k->exprs[0], &here);
    Tuple *t = tuple_new(ev->a, k->n);
    for (size_t i = 0; i < k->n; i++)
        t->fields[i] = eval_term(ev, k->exprs[i], &here);
    return datum_tuple(t);
}

/* Rows with the same key, by input. */
typedef struct Group {
    Datum key;
    Rows *rows;                /* one for each input */
} Group;

typedef struct Groups {
    Map numbers;
    Vec(Group) items;
    size_t nin;
} Groups;

static Group *group_of(Eval *ev, Groups *g, const Datum *key, size_t input, bool apart)
{
    Str bytes = { 0 };
    eval_key(&bytes, key);
    if (apart && g->nin > 1 && eval_has_null(key))
        str_addf(&bytes, "%zu", input);
    void **slot = map_slotn(&g->numbers, bytes.data, bytes.len);
    str_release(&bytes);
    if (!*slot) {
        Group *n = vec_grow(&g->items);
        n->key = *key;
        n->rows = arena_array(ev->a, Rows, g->nin);
        *slot = (void *)(uintptr_t)g->items.len;
    }
    return &g->items.items[(uintptr_t)*slot - 1];
}

static void groups_release(Groups *g)
{
    for (size_t i = 0; i < g->items.len; i++)
        for (size_t k = 0; k < g->nin; k++)
            free(g->items.items[i].rows[k].items);
    vec_release(&g->items);
    map_release(&g->numbers);
}

static void collect(Eval *ev, const Op *op, const Table *ins, const Env *env, Groups *g)
{
    g->nin = op->nin;
    for (size_t k = 0; k < op->nin; k++)
        for (size_t i = 0; i < ins[k].n; i++) {
            Datum key = op->keys ? key_of(ev, &op->keys[k], ins[k].rows[i]->tuple, env)
                                 : datum_borrow(DATUM_TEXT, "all", 3);
            vec_push(&group_of(ev, g, &key, k, true)->rows[k], ins[k].rows[i]);
        }
}

static int by_key(const void *x, const void *y)
{
    return datum_compare(&((const Group *)x)->key, &((const Group *)y)->key);
}

static bool emit_group(Eval *ev, const Op *op, const Group *g, Rows *out)
{
    Tuple *t = tuple_new(ev->a, 1 + op->nin);
    Rows from = { 0 };
    t->fields[0] = g->key;
    for (size_t k = 0; k < op->nin; k++) {
        Bag *b = bag_new(ev->a, g->rows[k].len);
        for (size_t i = 0; i < b->n; i++) {
            b->items[i] = g->rows[k].items[i]->tuple;
            vec_push(&from, g->rows[k].items[i]);
        }
        t->fields[k + 1] = datum_bag(b);
    }
    bool ok = eval_row(ev, out, t, from.items, from.len) != NULL;
    free(from.items);
    return ok;
}

bool eval_group(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out)
{
    Groups g = { 0 };
    collect(ev, op, ins, env, &g);
    if (!g.items.len && op->all && op->even_empty) {
        Datum all = datum_borrow(DATUM_TEXT, "all", 3);
        group_of(ev, &g, &all, 0, false);
    }
    if (g.items.len)
        qsort(g.items.items, g.items.len, sizeof(Group), by_key);
    bool ok = !ev->stopped;
    for (size_t i = 0; i < g.items.len && ok; i++) {
        bool keep = true;
        for (size_t k = 0; k < op->nin && op->keys; k++)
            keep &= !op->keys[k].inner || g.items.items[i].rows[k].len;
        ok = !keep || emit_group(ev, op, &g.items.items[i], out);
    }
    groups_release(&g);
    return ok;
}

/* ---- JOIN */

static size_t width_of(const Op *op, const Table *t)
{
    if (op->schema)
        return op->schema->n;
    return t->n ? t->rows[0]->tuple->n : 0;
}

static bool emit_joined(Eval *ev, Row *const *from, size_t n, Rows *out)
{
    const Tuple *t = from[0]->tuple;
    for (size_t k = 1; k < n; k++)
        t = eval_concat(ev, t, from[k]->tuple);
    return eval_row(ev, out, t, from, n) != NULL;
}

/* A row of one side, with nulls for the other. */
static bool emit_alone(Eval *ev, const Op *op, const Table *ins, Row *row, size_t side, Rows *out)
{
    Tuple *none = tuple_new(ev->a, width_of(op->in[1 - side], &ins[1 - side]));
    const Tuple *t =
        side == 0 ? eval_concat(ev, row->tuple, none) : eval_concat(ev, none, row->tuple);
    return eval_row(ev, out, t, &row, 1) != NULL;
}

static bool emit_product(Eval *ev, const Op *op, const Group *g, Rows *out)
{
    size_t total = 1;
    for (size_t k = 0; k < op->nin; k++) {
        if (g->rows[k].len && total > ev->max_rows / g->rows[k].len)
            return eval_stop(ev, "%s:%d: JOIN makes more than %zu rows", op->at.file, op->at.line,
                             ev->max_rows);
        total *= g->rows[k].len;
    }
    Row **from = arena_array(ev->a, Row *, op->nin);
    for (size_t i = 0; i < total; i++) {
        size_t rest = i;
        for (size_t k = op->nin; k-- > 0;) {
            from[k] = g->rows[k].items[rest % g->rows[k].len];
            rest /= g->rows[k].len;
        }
        if (!emit_joined(ev, from, op->nin, out))
            return false;
    }
    return true;
}

static bool join_group(Eval *ev, const Op *op, const Table *ins, const Group *g, Rows *out)
{
    bool all = !eval_has_null(&g->key);
    for (size_t k = 0; k < op->nin; k++)
        all &= g->rows[k].len > 0;
    if (all)
        return emit_product(ev, op, g, out);
    for (size_t side = 0; side < 2 && op->join != JOIN_INNER; side++) {
        bool keeps = op->join == JOIN_FULL || (op->join == JOIN_LEFT) == (side == 0);
        for (size_t i = 0; keeps && i < g->rows[side].len; i++)
            if (!emit_alone(ev, op, ins, g->rows[side].items[i], side, out))
                return false;
    }
    return true;
}

/* JOIN … ON any condition: all pairs are tried. */
static bool join_on(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out)
{
    assert(op->nin == 2);
    bool *hit = xcalloc(ins[1].n + 1, sizeof *hit);
    bool left = op->join == JOIN_LEFT || op->join == JOIN_FULL;
    bool right = op->join == JOIN_RIGHT || op->join == JOIN_FULL;
    for (size_t i = 0; i < ins[0].n && !ev->stopped; i++) {
        bool any = false;
        for (size_t k = 0; k < ins[1].n && !ev->stopped; k++) {
            Row *from[2] = { ins[0].rows[i], ins[1].rows[k] };
            const Tuple *t = eval_concat(ev, from[0]->tuple, from[1]->tuple);
            Env here = { t, env };
            if (eval_cond(ev, op->cond, &here) != OUTCOME_TRUE)
                continue;
            any = hit[k] = true;
            eval_row(ev, out, t, from, 2);
        }
        if (!any && left)
            emit_alone(ev, op, ins, ins[0].rows[i], 0, out);
    }
    for (size_t k = 0; k < ins[1].n && right && !ev->stopped; k++)
        if (!hit[k])
            emit_alone(ev, op, ins, ins[1].rows[k], 1, out);
    free(hit);
    return !ev->stopped;
}

bool eval_join(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out)
{
    if (op->cond)
        return join_on(ev, op, ins, env, out);
    Groups g = { 0 };
    collect(ev, op, ins, env, &g);
    if (g.items.len)
        qsort(g.items.items, g.items.len, sizeof(Group), by_key);
    bool ok = !ev->stopped;
    for (size_t i = 0; i < g.items.len && ok; i++)
        ok = join_group(ev, op, ins, &g.items.items[i], out);
    groups_release(&g);
    return ok;
}

/* ---- CUBE */

static const Tuple *cube_row(Eval *ev, const Op *op, const Tuple *row, const Datum *dims)
{
    const Keys *k = &op->keys[0];
    Tuple *t = tuple_new(ev->a, k->n + row->n);
    size_t n = 0;
    for (; n < k->n; n++)
        t->fields[n] = dims[n];
    for (size_t i = 0; i < row->n; i++) {
        bool dim = false;
        for (size_t j = 0; j < k->n; j++)
            dim |= k->exprs[j]->kind == TERM_FIELD && k->exprs[j]->index == (int)i;
        if (!dim)
            t->fields[n++] = row->fields[i];
    }
    t->n = n;
    return t;
}

/* Which dimensions stay in combination `c`: the rollups are cut from the end,
 * the others are a set. */
static bool stays(const Op *op, size_t c, size_t dim)
{
    size_t rolls = op->rollup ? op->rollup + 1 : 1;
    if (dim < op->rollup)
        return dim < c % rolls;
    return (c / rolls) >> (dim - op->rollup) & 1;
}

typedef struct CubeGroup {
    Datum key;
    Rows rows;
    Vec(const Tuple *) tuples;
} CubeGroup;

static bool emit_cube(Eval *ev, CubeGroup *g, Rows *out)
{
    Bag *b = bag_new(ev->a, g->tuples.len);
    memcpy(b->items, g->tuples.items, b->n * sizeof *b->items);
    Tuple *t = tuple_new(ev->a, 2);
    t->fields[0] = g->key;
    t->fields[1] = datum_bag(b);
    bool ok = eval_row(ev, out, t, g->rows.items, g->rows.len) != NULL;
    free(g->rows.items);
    vec_release(&g->tuples);
    return ok;
}

static int by_cube_key(const void *x, const void *y)
{
    return datum_compare(&((const CubeGroup *)x)->key, &((const CubeGroup *)y)->key);
}

bool eval_cube(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out)
{
    const Keys *k = &op->keys[0];
    if (k->n > 12)
        return eval_stop(ev, "%s:%d: CUBE has more than 12 dimensions", op->at.file, op->at.line);
    size_t combos = (op->rollup ? op->rollup + 1 : 1) << (k->n - op->rollup);
    Map numbers = { 0 };
    Vec(CubeGroup) groups = { 0 };
    for (size_t i = 0; i < ins[0].n; i++) {
        Env here = { ins[0].rows[i]->tuple, env };
        Datum *dims = arena_array(ev->a, Datum, k->n);
        for (size_t d = 0; d < k->n; d++) {
            dims[d] = eval_term(ev, k->exprs[d], &here);
            if (dims[d].kind == DATUM_NULL)
                dims[d] = datum_borrow(DATUM_TEXT, "unknown", 7);
        }
        for (size_t c = 0; c < combos; c++) {
            Tuple *key = tuple_new(ev->a, k->n);
            for (size_t d = 0; d < k->n; d++)
                key->fields[d] = stays(op, c, d) ? dims[d] : datum_null();
            Datum kd = datum_tuple(key);
            Str bytes = { 0 };
            eval_key(&bytes, &kd);
            void **slot = map_slotn(&numbers, bytes.data, bytes.len);
            str_release(&bytes);
            if (!*slot) {
                vec_grow(&groups)->key = kd;
                *slot = (void *)(uintptr_t)groups.len;
            }
            CubeGroup *g = &groups.items[(uintptr_t)*slot - 1];
            vec_push(&g->rows, ins[0].rows[i]);
            vec_push(&g->tuples, cube_row(ev, op, ins[0].rows[i]->tuple, key->fields));
        }
    }
    if (groups.len)
        qsort(groups.items, groups.len, sizeof(CubeGroup), by_cube_key);
    for (size_t i = 0; i < groups.len; i++)
        emit_cube(ev, &groups.items[i], out);
    vec_release(&groups);
    map_release(&numbers);
    return !ev->stopped;
}
