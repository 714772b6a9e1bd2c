/* Aggregates and window functions of SQL. */
#include "dataflow/eval_int.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

typedef struct Total {
    int64_t count;
    bool any, real;
    int64_t whole;
    double sum, squares;
    Datum least, most;
    Str text;
    bool all_true, one_true;
} Total;

static void total_add(Eval *ev, Total *t, const Datum *v, const Datum *between)
{
    t->count++;
    if (datum_is_number(v)) {
        double d = datum_as_double(v);
        if (v->kind == DATUM_INT || v->kind == DATUM_LONG)
            t->whole = (int64_t)((uint64_t)t->whole + (uint64_t)v->u.i);
        else
            t->real = true;
        t->sum += d;
        t->squares += d * d;
    }
    if (v->kind == DATUM_BOOL) {
        t->all_true = (t->any ? t->all_true : true) && v->u.b;
        t->one_true |= v->u.b;
    }
    if (!t->any || eval_compare(ev, v, &t->least) < 0)
        t->least = *v;
    if (!t->any || eval_compare(ev, v, &t->most) > 0)
        t->most = *v;
    if (between && t->any)
        datum_print(&t->text, between, false);
    datum_print(&t->text, v, false);
    t->any = true;
}

static Datum total_of(Eval *ev, Total *t, const char *name, Type type)
{
    if (!strcmp(name, "count"))
        return datum_long(t->count);
    if (!t->any)
        return datum_null();
    double n = (double)t->count;
    double spread = t->squares - t->sum * t->sum / n;
    if (!strcmp(name, "sum"))
        return t->real || type.kind != DATUM_LONG ? datum_double(t->sum) : datum_long(t->whole);
    if (!strcmp(name, "avg"))
        return datum_double(t->sum / n);
    if (!strcmp(name, "min"))
        return t->least;
    if (!strcmp(name, "max"))
        return t->most;
    if (!strcmp(name, "bool_and"))
        return datum_bool(t->all_true);
    if (!strcmp(name, "bool_or"))
        return datum_bool(t->one_true);
    if (!strcmp(name, "variance") || !strcmp(name, "stddev")) {
        if (t->count < 2)
            return datum_null();
        double v = spread < 0 ? 0 : spread / (n - 1);
        return datum_double(*name == 'v' ? v : sqrt(v));
    }
    return datum_textn(ev->a, str_c(&t->text), t->text.len);
}

Datum eval_aggregate(Eval *ev, const Term *t, const Env *env)
{
    Datum bag = eval_term(ev, t->args[0], env);
    Total total = { 0 };
    Map seen = { 0 };
    Str key = { 0 };
    for (size_t i = 0; bag.kind == DATUM_BAG && i < bag.u.bag->n; i++) {
        Env here = { bag.u.bag->items[i], env };
        if (t->filter && eval_cond(ev, t->filter, &here) != OUTCOME_TRUE)
            continue;
        if (t->nargs < 2) {
            total.count++;
            total.any = true;
            continue;
        }
        Datum v = eval_term(ev, t->args[1], &here);
        Datum between = t->nargs > 2 ? eval_term(ev, t->args[2], &here) : datum_null();
        if (v.kind == DATUM_NULL)
            continue;
        str_reset(&key);
        eval_key(&key, &v);
        if (t->distinct && !map_putn(&seen, key.data, key.len, ev))
            continue;
        total_add(ev, &total, &v, t->nargs > 2 ? &between : NULL);
    }
    Datum r = total_of(ev, &total, t->name, t->type);
    str_release(&total.text);
    str_release(&key);
    map_release(&seen);
    return r;
}

/* ---- windows */

typedef struct Part {
    Row **rows;
    Datum *keys;               /* norder for each row */
    size_t n;
} Part;

/* The last row with the same order keys as row i. */
static size_t peers_end(Eval *ev, const Window *w, const Part *p, size_t i)
{
    size_t k = i;
    while (k + 1 < p->n && w->norder &&
           !eval_sort_compare(ev, w->order, w->norder, &p->keys[i * w->norder],
                              &p->keys[(k + 1) * w->norder]))
        k++;
    return w->norder ? k : p->n - 1;
}

static bool same_peer(Eval *ev, const Window *w, const Part *p, size_t i, size_t k)
{
    return !w->norder || !eval_sort_compare(ev, w->order, w->norder, &p->keys[i * w->norder],
                                            &p->keys[k * w->norder]);
}

static void frame_of(Eval *ev, const Window *w, const Part *p, size_t i, int64_t *from, int64_t *to)
{
    *from = 0;
    *to = (int64_t)peers_end(ev, w, p, i);
    if (!w->frame)
        return;
    int64_t at = (int64_t)i, last = (int64_t)p->n - 1;
    if (w->rows) {
        *from = w->from == INT64_MIN ? 0 : at + w->from;
        *to = w->to == INT64_MAX ? last : at + w->to;
    } else {
        /* RANGE: the bounds that count are unbounded and the current row. */
        if (w->from != INT64_MIN) {
            *from = at;
            while (*from > 0 && same_peer(ev, w, p, (size_t)*from - 1, i))
                --*from;
        }
        if (w->to == INT64_MAX)
            *to = last;
    }
    *from = *from < 0 ? 0 : *from;
    *to = *to > last ? last : *to;
}

static Datum arg_of(Eval *ev, const Window *w, size_t k, const Row *row, const Env *env)
{
    Env here = { row->tuple, env };
    return k < w->nargs ? eval_term(ev, w->args[k], &here) : datum_null();
}

static Datum shifted(Eval *ev, const Window *w, const Part *p, size_t i, const Env *env, int sign)
{
    Datum by = arg_of(ev, w, 1, p->rows[i], env);
    int64_t k = (int64_t)i + sign * (datum_is_number(&by) ? (int64_t)datum_as_double(&by) : 1);
    if (k < 0 || k >= (int64_t)p->n)
        return arg_of(ev, w, 2, p->rows[i], env);
    return arg_of(ev, w, 0, p->rows[k], env);
}

static int64_t rank_of(Eval *ev, const Window *w, const Part *p, size_t i, bool dense)
{
    int64_t r = 1;
    for (size_t k = 1; k <= i; k++)
        if (!same_peer(ev, w, p, k, k - 1))
            r = dense ? r + 1 : (int64_t)k + 1;
    return r;
}

static Datum window_value(Eval *ev, const Window *w, const Part *p, size_t i, const Env *env)
{
    int64_t from, to;
    const char *n = w->name;
    frame_of(ev, w, p, i, &from, &to);
    if (!strcmp(n, "row_number"))
        return datum_long((int64_t)i + 1);
    if (!strcmp(n, "rank") || !strcmp(n, "dense_rank"))
        return datum_long(rank_of(ev, w, p, i, *n == 'd'));
    if (!strcmp(n, "percent_rank"))
        return datum_double(
            p->n < 2 ? 0 : (double)(rank_of(ev, w, p, i, false) - 1) / (double)(p->n - 1));
    if (!strcmp(n, "cume_dist"))
        return datum_double((double)(peers_end(ev, w, p, i) + 1) / (double)p->n);
    if (!strcmp(n, "lag") || !strcmp(n, "lead"))
        return shifted(ev, w, p, i, env, *n == 'l' && n[1] == 'a' ? -1 : 1);
    if (!strcmp(n, "ntile")) {
        Datum d = arg_of(ev, w, 0, p->rows[i], env);
        int64_t k = datum_is_number(&d) ? (int64_t)datum_as_double(&d) : 1;
        k = k < 1 ? 1 : k;
        int64_t big = (int64_t)p->n % k, size = (int64_t)p->n / k, at = (int64_t)i;
        return datum_long(at < big * (size + 1) ? at / (size + 1) + 1
                          : size                ? (at - big) / size + 1
                                                : 1);
    }
    if (!strcmp(n, "first_value"))
        return from <= to ? arg_of(ev, w, 0, p->rows[from], env) : datum_null();
    if (!strcmp(n, "last_value"))
        return from <= to ? arg_of(ev, w, 0, p->rows[to], env) : datum_null();
    Total t = { 0 };
    for (int64_t k = from; k <= to; k++) {
        Datum v = w->nargs ? arg_of(ev, w, 0, p->rows[k], env) : datum_bool(true);
        if (v.kind != DATUM_NULL)
            total_add(ev, &t, &v, NULL);
    }
    Datum r = total_of(ev, &t, n,
                       w->nargs ? dtype_of(w->args[0]->type.kind == DATUM_INT ||
                                                   w->args[0]->type.kind == DATUM_LONG
                                               ? DATUM_LONG
                                               : DATUM_DOUBLE)
                                : dtype_of(DATUM_LONG));
    str_release(&t.text);
    return r;
}

static void window_part(Eval *ev, const Window *w, Part *p, const Env *env, Datum *column)
{
    eval_sort(ev, w->order, w->norder, env, p->rows, p->n);
    p->keys = arena_array(ev->a, Datum, p->n * w->norder + 1);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < w->norder; k++) {
            Env here = { p->rows[i]->tuple, env };
            p->keys[i * w->norder + k] = eval_term(ev, w->order[k].expr, &here);
        }
    for (size_t i = 0; i < p->n; i++)
        column[p->rows[i]->index] = window_value(ev, w, p, i, env);
}

static void window_column(Eval *ev, const Window *w, const Table *in, const Env *env, Datum *column)
{
    Map numbers = { 0 };
    Vec(Rows) parts = { 0 };
    for (size_t i = 0; i < in->n; i++) {
        Str key = { 0 };
        Env here = { in->rows[i]->tuple, env };
        for (size_t k = 0; k < w->npartition; k++) {
            Datum d = eval_term(ev, w->partition[k], &here);
            eval_key(&key, &d);
        }
        void **slot = map_slotn(&numbers, str_c(&key), key.len);
        if (!*slot) {
            vec_grow(&parts);
            *slot = (void *)(uintptr_t)parts.len;
        }
        Rows *part = &parts.items[(uintptr_t)*slot - 1];
        vec_push(part, in->rows[i]);
        str_release(&key);
    }
    for (size_t i = 0; i < parts.len; i++) {
        Part p = { .rows = parts.items[i].items, .n = parts.items[i].len };
        window_part(ev, w, &p, env, column);
        free(parts.items[i].items);
    }
    vec_release(&parts);
    map_release(&numbers);
}

bool eval_windows(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out)
{
    const Table *in = &ins[0];
    Datum **columns = arena_array(ev->a, Datum *, op->nwindows);
    for (size_t i = 0; i < in->n; i++)
        in->rows[i]->index = (uint32_t)i;
    for (size_t k = 0; k < op->nwindows; k++) {
        columns[k] = arena_array(ev->a, Datum, in->n + 1);
        window_column(ev, &op->windows[k], in, env, columns[k]);
    }
    for (size_t i = 0; i < in->n; i++) {
        Tuple *more = tuple_new(ev->a, op->nwindows);
        for (size_t k = 0; k < op->nwindows; k++)
            more->fields[k] = columns[k][i];
        eval_row(ev, out, eval_concat(ev, in->rows[i]->tuple, more), &in->rows[i], 1);
    }
    return !ev->stopped;
}
