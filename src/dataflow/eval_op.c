/* Operators on tables. Each appends rows that know the rows they came from. */
#include "base/units.h"
#include "dataflow/eval_int.h"
#include <assert.h>
#include <stdio.h>

Row *eval_row(Eval *ev, Rows *out, const Tuple *t, Row *const *from, size_t nfrom)
{
    if (out->len >= ev->max_rows) {
        eval_stop(ev, "%s:%d: more than %zu rows", ev->op->at.file, ev->op->at.line, ev->max_rows);
        return NULL;
    }
    if ((out->len & 1023) == 1023 && ev->deadline && clock_seconds() > ev->deadline) {
        eval_stop(ev, "%s:%d: the time is over", ev->op->at.file, ev->op->at.line);
        return NULL;
    }
    Row *r = arena_new(ev->a, Row);
    r->tuple = t;
    r->nfrom = (uint32_t)nfrom;
    r->from = arena_array(ev->a, Row *, nfrom);
    for (size_t i = 0; i < nfrom; i++)
        r->from[i] = from[i];
    r->base = -1;
    r->index = (uint32_t)out->len;
    r->op = ev->op ? ev->op->id : -1;
    vec_push(out, r);
    return r;
}

Tuple *eval_concat(Eval *ev, const Tuple *x, const Tuple *y)
{
    Tuple *t = tuple_new(ev->a, x->n + y->n);
    if (x->n)
        memcpy(t->fields, x->fields, x->n * sizeof(Datum));
    if (y->n)
        memcpy(t->fields + x->n, y->fields, y->n * sizeof(Datum));
    return t;
}

static bool filter(Eval *ev, const Op *op, const Table *in, const Env *env, Rows *out,
                   uint8_t *outcomes)
{
    for (size_t i = 0; i < in->n && !ev->stopped; i++) {
        Env here = { in->rows[i]->tuple, env };
        Outcome o = eval_cond(ev, op->cond, &here);
        if (outcomes)
            outcomes[i] = (uint8_t)o;
        if (op->kind == OP_ASSERT) {
            if (o != OUTCOME_TRUE)
                eval_fault(ev, op->at, "ASSERT fails: %s", op->message ? op->message : "");
            o = OUTCOME_TRUE;
        }
        if (o == OUTCOME_TRUE)
            eval_row(ev, out, in->rows[i]->tuple, &in->rows[i], 1);
    }
    return !ev->stopped;
}

/* ---- FOREACH */

/* What one item gives: alternatives of some columns each. */
typedef struct Part {
    size_t n, width;
    Datum *cells;              /* n * width */
} Part;

static Part one_cell(Eval *ev, Datum d)
{
    Part p = { 1, 1, arena_array(ev->a, Datum, 1) };
    p.cells[0] = d;
    return p;
}

static Part nulls(Eval *ev, size_t width)
{
    return (Part){ 1, width, arena_array(ev->a, Datum, width) };
}

static void put_tuple(Part *p, size_t row, const Tuple *t)
{
    for (size_t i = 0; i < p->width && i < t->n; i++)
        p->cells[row * p->width + i] = t->fields[i];
}

static Part flatten_bag(Eval *ev, const Bag *b, const Schema *inner)
{
    size_t width = inner ? inner->n : 0;
    for (size_t i = 0; i < b->n && !inner; i++)
        width = b->items[i]->n > width ? b->items[i]->n : width;
    Part p = { b->n, width, arena_array(ev->a, Datum, b->n * width) };
    for (size_t i = 0; i < b->n; i++)
        put_tuple(&p, i, b->items[i]);
    return p;
}

static Part flatten_map(Eval *ev, const DatumMap *m)
{
    Part p = { m->n, 2, arena_array(ev->a, Datum, 2 * m->n) };
    for (size_t i = 0; i < m->n; i++) {
        p.cells[2 * i] = m->keys[i];
        p.cells[2 * i + 1] = m->values[i];
    }
    return p;
}

static Part flatten(Eval *ev, const Item *it, Datum d)
{
    Type t = it->expr->type;
    size_t width = t.inner ? t.inner->n : it->as ? it->as->n : 1;
    switch ((DatumKind)d.kind) {
    case DATUM_BAG: return flatten_bag(ev, d.u.bag, t.kind == DATUM_BAG ? t.inner : NULL);
    case DATUM_TUPLE: {
        Part p = nulls(ev, t.kind == DATUM_TUPLE && t.inner ? t.inner->n : d.u.tuple->n);
        put_tuple(&p, 0, d.u.tuple);
        return p;
    }
    case DATUM_MAP: return flatten_map(ev, d.u.map);
    case DATUM_NULL:
        if (t.kind == DATUM_BAG || t.kind == DATUM_TUPLE)
            return nulls(ev, width);
        if (t.kind == DATUM_MAP)
            return nulls(ev, 2);
        return nulls(ev, it->as ? it->as->n : 1);
    default: return one_cell(ev, d);
    }
}

/* All combinations of the parts. */
static bool emit_product(Eval *ev, const Part *parts, size_t n, Row *from, Rows *out)
{
    size_t width = 0, total = 1;
    for (size_t i = 0; i < n; i++) {
        width += parts[i].width;
        if (parts[i].n && total > ev->max_rows / parts[i].n)
            return eval_stop(ev, "%s:%d: FLATTEN makes more than %zu rows", ev->op->at.file,
                             ev->op->at.line, ev->max_rows);
        total *= parts[i].n;
    }
    for (size_t k = 0; k < total; k++) {
        Tuple *t = tuple_new(ev->a, width);
        size_t at = width, rest = k;
        for (size_t i = n; i-- > 0;) {
            size_t pick = rest % parts[i].n;
            rest /= parts[i].n;
            at -= parts[i].width;
            if (parts[i].width)
                memcpy(&t->fields[at], &parts[i].cells[pick * parts[i].width],
                       parts[i].width * sizeof(Datum));
        }
        if (!eval_row(ev, out, t, &from, 1))
            return false;
    }
    return true;
}

static bool foreach (Eval *ev, const Op *op, const Table *in, const Env *env, Rows * out)
{
    Part *parts = arena_array(ev->a, Part, op->nitems);
    for (size_t i = 0; i < in->n && !ev->stopped; i++) {
        Env here = { in->rows[i]->tuple, env };
        for (size_t k = 0; k < op->nitems; k++) {
            Datum d = eval_term(ev, op->items[k].expr, &here);
            if (ev->marks && !d.made && d.kind < DATUM_MAP)
                d.made = eval_is_made(ev, op->items[k].expr, &here);
            parts[k] = op->items[k].flatten ? flatten(ev, &op->items[k], d) : one_cell(ev, d);
        }
        if (!emit_product(ev, parts, op->nitems, in->rows[i], out))
            return false;
    }
    return !ev->stopped;
}

/* ---- sets */

static void tuple_key(Str *out, const Tuple *t)
{
    Datum d = datum_tuple(t);
    eval_key(out, &d);
}

static bool distinct(Eval *ev, const Table *in, Rows *out)
{
    Map seen = { 0 };
    Str key = { 0 };
    Vec(Row *) *groups = xcalloc(in->n + 1, sizeof *groups);
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        str_reset(&key);
        tuple_key(&key, in->rows[i]->tuple);
        void **slot = map_slotn(&seen, key.data, key.len);
        if (!*slot)
            *slot = (void *)(uintptr_t)++n;
        vec_push(&groups[(uintptr_t)*slot - 1], in->rows[i]);
    }
    for (size_t i = 0; i < n; i++) {
        eval_row(ev, out, groups[i].items[0]->tuple, groups[i].items, groups[i].len);
        vec_release(&groups[i]);
    }
    free(groups);
    map_release(&seen);
    str_release(&key);
    return !ev->stopped;
}

/* The columns of one input in the order of the union's, with its types. */
static const Tuple *fit(Eval *ev, const Op *op, size_t input, const Tuple *t)
{
    const Schema *s = op->schema, *from = op->in[input]->schema;
    if (!s)
        return t;
    Tuple *r = tuple_new(ev->a, s->n);
    for (size_t i = 0; i < s->n; i++) {
        int at = (int)i;
        if (op->by_name)
            for (at = 0;
                 from && at < (int)from->n && strcmp(from->fields[at].name, s->fields[i].name);)
                at++;
        if (at < (int)t->n && (!from || at < (int)from->n) &&
            !datum_cast(ev->a, &t->fields[at], s->fields[i].type, &r->fields[i]))
            ev->warnings++;
    }
    return r;
}

static bool union_all(Eval *ev, const Op *op, const Table *ins, Rows *out)
{
    for (size_t k = 0; k < op->nin; k++)
        for (size_t i = 0; i < ins[k].n && !ev->stopped; i++)
            eval_row(ev, out, fit(ev, op, k, ins[k].rows[i]->tuple), &ins[k].rows[i], 1);
    return !ev->stopped;
}

/* INTERSECT and EXCEPT, with ALL by counting. */
static bool set_operation(Eval *ev, const Op *op, const Table *ins, Rows *out)
{
    Map right = { 0 }, seen = { 0 };
    Str key = { 0 };
    for (size_t i = 0; i < ins[1].n; i++) {
        str_reset(&key);
        tuple_key(&key, fit(ev, op, 1, ins[1].rows[i]->tuple));
        void **slot = map_slotn(&right, key.data, key.len);
        *slot = (void *)((uintptr_t)*slot + 1);
    }
    for (size_t i = 0; i < ins[0].n && !ev->stopped; i++) {
        const Tuple *t = fit(ev, op, 0, ins[0].rows[i]->tuple);
        str_reset(&key);
        tuple_key(&key, t);
        uintptr_t there = (uintptr_t)map_getn(&right, key.data, key.len);
        void **times = map_slotn(&seen, key.data, key.len);
        uintptr_t before = (uintptr_t)*times;
        *times = (void *)(before + 1);
        bool in = op->all ? before < there : there > 0;
        bool keep = (op->kind == OP_INTERSECT) == in && (op->all || !before);
        if (keep)
            eval_row(ev, out, t, &ins[0].rows[i], 1);
    }
    map_release(&right);
    map_release(&seen);
    str_release(&key);
    return !ev->stopped;
}

static bool cross(Eval *ev, const Op *op, const Table *ins, Rows *out)
{
    size_t total = 1;
    for (size_t k = 0; k < op->nin; k++) {
        if (ins[k].n && total > ev->max_rows / ins[k].n)
            return eval_stop(ev, "%s:%d: CROSS makes more than %zu rows", op->at.file, op->at.line,
                             ev->max_rows);
        total *= ins[k].n;
    }
    Row **from = arena_array(ev->a, Row *, op->nin);
    for (size_t i = 0; i < total && !ev->stopped; i++) {
        size_t rest = i;
        for (size_t k = op->nin; k-- > 0;) {
            from[k] = ins[k].rows[rest % ins[k].n];
            rest /= ins[k].n;
        }
        const Tuple *t = from[0]->tuple;
        for (size_t k = 1; k < op->nin; k++)
            t = eval_concat(ev, t, from[k]->tuple);
        eval_row(ev, out, t, from, op->nin);
    }
    return !ev->stopped;
}

/* ---- order */

typedef struct Sorted {
    Row *row;
    Datum *keys;
    Eval *ev;
    const SortKey *order;
    size_t n, index;
} Sorted;

int eval_sort_compare(Eval *ev, const SortKey *order, size_t n, const Datum *x, const Datum *y)
{
    for (size_t i = 0; i < n; i++) {
        bool a = x[i].kind == DATUM_NULL, b = y[i].kind == DATUM_NULL;
        int c = a || b ? (a == b                        ? 0
                          : (a == order[i].nulls_first) ? -1
                                                        : 1)
                       : eval_compare(ev, &x[i], &y[i]) * (order[i].descending ? -1 : 1);
        if (c)
            return c;
    }
    return 0;
}

static int by_keys(const void *x, const void *y)
{
    const Sorted *a = x, *b = y;
    int c = eval_sort_compare(a->ev, a->order, a->n, a->keys, b->keys);
    return c ? c : a->index < b->index ? -1 : 1;
}

void eval_sort(Eval *ev, const SortKey *keys, size_t n, const Env *env, Row **rows, size_t nrows)
{
    Sorted *s = xcalloc(nrows + 1, sizeof *s);
    for (size_t i = 0; i < nrows; i++) {
        Env here = { rows[i]->tuple, env };
        s[i] = (Sorted){ rows[i], arena_array(ev->a, Datum, n), ev, keys, n, i };
        for (size_t k = 0; k < n; k++)
            s[i].keys[k] = eval_term(ev, keys[k].expr, &here);
    }
    qsort(s, nrows, sizeof *s, by_keys);
    for (size_t i = 0; i < nrows; i++)
        rows[i] = s[i].row;
    free(s);
}

static Row **copy_rows(const Table *in)
{
    Row **rows = xmalloc((in->n + 1) * sizeof *rows);
    if (in->n)
        memcpy(rows, in->rows, in->n * sizeof *rows);
    return rows;
}

static bool order(Eval *ev, const Op *op, const Table *in, const Env *env, Rows *out)
{
    Row **rows = copy_rows(in);
    eval_sort(ev, op->order, op->norder, env, rows, in->n);
    for (size_t i = 0; i < in->n; i++)
        eval_row(ev, out, rows[i]->tuple, &rows[i], 1);
    free(rows);
    return !ev->stopped;
}

static bool rank(Eval *ev, const Op *op, const Table *in, const Env *env, Rows *out)
{
    Row **rows = copy_rows(in);
    if (op->norder)
        eval_sort(ev, op->order, op->norder, env, rows, in->n);
    Datum *before = NULL;
    int64_t number = 0, dense = 0;
    for (size_t i = 0; i < in->n; i++) {
        Env here = { rows[i]->tuple, env };
        Datum *keys = arena_array(ev->a, Datum, op->norder);
        for (size_t k = 0; k < op->norder; k++)
            keys[k] = eval_term(ev, op->order[k].expr, &here);
        if (!op->norder || !before || eval_sort_compare(ev, op->order, op->norder, before, keys)) {
            number = (int64_t)i + 1;
            dense++;
        }
        before = keys;
        Tuple *first = tuple_new(ev->a, 1);
        first->fields[0] = datum_long(op->dense ? dense : number);
        eval_row(ev, out, eval_concat(ev, first, rows[i]->tuple), &rows[i], 1);
    }
    free(rows);
    return !ev->stopped;
}

/* A number from a term that sees no row of its own. */
static bool number_of(Eval *ev, const Term *t, const Env *env, double *out)
{
    Env here = { tuple_new(ev->a, 0), env };
    Datum d = eval_term(ev, t, &here);
    if (!datum_is_number(&d))
        return false;
    *out = datum_as_double(&d);
    return true;
}

static bool limit(Eval *ev, const Op *op, const Table *in, const Env *env, Rows *out)
{
    double count = (double)in->n, skip = 0;
    if (op->count)
        number_of(ev, op->count, env, &count);
    if (op->offset)
        number_of(ev, op->offset, env, &skip);
    for (size_t i = 0; i < in->n; i++)
        if ((double)i >= skip && (double)i < skip + count)
            eval_row(ev, out, in->rows[i]->tuple, &in->rows[i], 1);
    return !ev->stopped;
}

static bool sample(Eval *ev, const Op *op, const Table *in, const Env *env, Rows *out)
{
    double part = 1;
    number_of(ev, op->count, env, &part);
    for (size_t i = 0; i < in->n; i++)
        if (rng_unit(&ev->rng) < part)
            eval_row(ev, out, in->rows[i]->tuple, &in->rows[i], 1);
    return !ev->stopped;
}

static bool values(Eval *ev, const Op *op, Rows *out)
{
    for (size_t i = 0; i < op->nrows; i++)
        eval_row(ev, out, op->rows[i], NULL, 0);
    return !ev->stopped;
}

static bool bag_rows(Eval *ev, const Op *op, const Env *env, Rows *out)
{
    Datum d = eval_term(ev, op->source, env);
    for (size_t i = 0; d.kind == DATUM_BAG && i < d.u.bag->n; i++)
        eval_row(ev, out, d.u.bag->items[i], NULL, 0);
    return !ev->stopped;
}

static bool same(Eval *ev, const Table *in, Rows *out)
{
    for (size_t i = 0; i < in->n; i++)
        eval_row(ev, out, in->rows[i]->tuple, &in->rows[i], 1);
    return !ev->stopped;
}

bool eval_op(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out, uint8_t *outcomes)
{
    const Op *before = ev->op;
    ev->op = op;
    bool ok = true;
    switch (op->kind) {
    case OP_FILTER:
    case OP_SPLIT:
    case OP_ASSERT: ok = filter(ev, op, &ins[0], env, out, outcomes); break;
    case OP_FOREACH: ok = foreach (ev, op, &ins[0], env, out); break;
    case OP_GROUP: ok = eval_group(ev, op, ins, env, out); break;
    case OP_CUBE: ok = eval_cube(ev, op, ins, env, out); break;
    case OP_JOIN: ok = eval_join(ev, op, ins, env, out); break;
    case OP_CROSS: ok = cross(ev, op, ins, out); break;
    case OP_UNION: ok = union_all(ev, op, ins, out); break;
    case OP_INTERSECT:
    case OP_EXCEPT: ok = set_operation(ev, op, ins, out); break;
    case OP_DISTINCT: ok = distinct(ev, &ins[0], out); break;
    case OP_ORDER: ok = order(ev, op, &ins[0], env, out); break;
    case OP_RANK: ok = rank(ev, op, &ins[0], env, out); break;
    case OP_LIMIT: ok = limit(ev, op, &ins[0], env, out); break;
    case OP_SAMPLE: ok = sample(ev, op, &ins[0], env, out); break;
    case OP_STORE: ok = same(ev, &ins[0], out); break;
    case OP_VALUES: ok = values(ev, op, out); break;
    case OP_BAG: ok = bag_rows(ev, op, env, out); break;
    case OP_WINDOW: ok = eval_windows(ev, op, ins, env, out); break;
    case OP_STREAM: break;
    case OP_LOAD: assert(!"reached"); break;
    }
    ev->op = before;
    return ok;
}

bool eval_nested(Eval *ev, const Op *op, const Env *env, Rows *out)
{
    if (op->id < 100000) {                     /* a table of the plan itself */
        for (size_t i = 0; ev->tables && i < ev->tables[op->id].n; i++)
            vec_push(out, ev->tables[op->id].rows[i]);
        return true;
    }
    Table *ins = arena_array(ev->a, Table, op->nin + 1);
    bool ok = true;
    for (size_t i = 0; i < op->nin && ok; i++) {
        Rows rows = { 0 };
        ok = eval_nested(ev, op->in[i], env, &rows);
        ins[i] = (Table){ rows.items, rows.len };
    }
    ok = ok && eval_op(ev, op, ins, env, out, NULL);
    for (size_t i = 0; i < op->nin; i++)
        free(ins[i].rows);
    return ok;
}
