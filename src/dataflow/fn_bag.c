/*
 * Functions of bags, tuples and maps. Aggregates look at the first field of
 * each tuple and pass over nulls; of nothing they give null, but for COUNT.
 */
#include "base/map.h"
#include "base/vec.h"
#include "dataflow/eval.h"
#include "dataflow/eval_int.h"
#include "dataflow/function.h"
#include <assert.h>
#include <math.h>
#include <string.h>

static const Datum *first(const Tuple *t)
{
    static const Datum none;
    return t->n ? &t->fields[0] : &none;
}

static bool want_bag(CallCtx *c, const Datum *v)
{
    return v->kind == DATUM_BAG || call_fail(c, "a bag is needed, this is %s", dtype_name(v->kind));
}

static Datum fn_count(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    if (!want_bag(c, a))
        return datum_null();
    int64_t k = 0;
    for (size_t i = 0; i < a->u.bag->n; i++)
        k += first(a->u.bag->items[i])->kind != DATUM_NULL;
    return datum_long(k);
}

static Datum fn_count_star(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return want_bag(c, a) ? datum_long((int64_t)a->u.bag->n) : datum_null();
}

/* A number; text that is none kills the job. */
static bool number_of(CallCtx *c, const Datum *v, Datum *out)
{
    *out = *v;
    if (datum_is_number(v))
        return true;
    if (v->kind == DATUM_BYTES && datum_cast(c->arena, v, dtype_of(DATUM_DOUBLE), out))
        return true;
    Str s = { 0 };
    datum_print(&s, v, false);
    call_fail(c, "\"%.60s\" is no number", str_c(&s));
    str_release(&s);
    return false;
}

typedef struct Sum {
    int64_t count, whole;
    double total;
    bool real;
} Sum;

static bool add_up(CallCtx *c, const Datum *bag, Sum *s)
{
    if (!want_bag(c, bag))
        return false;
    for (size_t i = 0; i < bag->u.bag->n; i++) {
        const Datum *v = first(bag->u.bag->items[i]);
        Datum d;
        if (v->kind == DATUM_NULL)
            continue;
        if (!number_of(c, v, &d))
            return false;
        if (d.kind == DATUM_INT || d.kind == DATUM_LONG || d.kind == DATUM_BIGINT)
            s->whole = (int64_t)((uint64_t)s->whole + (uint64_t)d.u.i);
        else
            s->real = true;
        s->total += datum_as_double(&d);
        s->count++;
    }
    return s->count > 0;
}

static Datum fn_sum(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    Sum s = { 0 };
    if (!add_up(c, a, &s))
        return datum_null();
    return s.real ? datum_double(s.total) : datum_long(s.whole);
}

static Datum fn_avg(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    Sum s = { 0 };
    if (!add_up(c, a, &s))
        return datum_null();
    return datum_double((s.real ? s.total : (double)s.whole) / (double)s.count);
}

static bool is_nan(const Datum *v)
{
    return (v->kind == DATUM_DOUBLE || v->kind == DATUM_FLOAT) && isnan(v->u.d);
}

/* Java's max and min: a NaN wins. */
static Datum extreme(CallCtx *c, const Datum *bag, int sign)
{
    Datum best = datum_null();
    if (!want_bag(c, bag))
        return best;
    for (size_t i = 0; i < bag->u.bag->n; i++) {
        Datum v = *first(bag->u.bag->items[i]);
        if (v.kind == DATUM_NULL)
            continue;
        if (v.kind == DATUM_BYTES && !number_of(c, &v, &v))
            return datum_null();
        if (best.kind == DATUM_NULL || is_nan(&v) ||
            (!is_nan(&best) && datum_compare(&v, &best) * sign > 0))
            best = v;
    }
    return best;
}

static Datum fn_max(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return extreme(c, a, 1);
}

static Datum fn_min(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return extreme(c, a, -1);
}

static Datum fn_size(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    switch ((DatumKind)a->kind) {
    case DATUM_TEXT: return datum_long(text_units(a));
    case DATUM_BYTES: return datum_long(a->len);
    case DATUM_BAG: return datum_long((int64_t)a->u.bag->n);
    case DATUM_TUPLE: return datum_long((int64_t)a->u.tuple->n);
    case DATUM_MAP: return datum_long((int64_t)a->u.map->n);
    default: return datum_long(1);
    }
}

static Datum fn_is_empty(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    if (a->kind == DATUM_MAP)
        return datum_bool(!a->u.map->n);
    if (a->kind != DATUM_BAG)
        return call_fail(c, "cannot test a null for emptiness"), datum_null();
    return datum_bool(!a->u.bag->n);
}

/* ---- making */

static Datum fn_totuple(CallCtx *c, const Datum *a, size_t n)
{
    Tuple *t = tuple_new(c->arena, n);
    if (n)
        memcpy(t->fields, a, n * sizeof *a);
    return datum_tuple(t);
}

static Datum fn_tobag(CallCtx *c, const Datum *a, size_t n)
{
    Bag *b = bag_new(c->arena, n);
    for (size_t i = 0; i < n; i++)
        b->items[i] = a[i].kind == DATUM_TUPLE ? a[i].u.tuple : fn_totuple(c, &a[i], 1).u.tuple;
    return datum_bag(b);
}

static Datum fn_tomap(CallCtx *c, const Datum *a, size_t n)
{
    DatumMap *m = arena_new(c->arena, DatumMap);
    m->keys = arena_array(c->arena, Datum, n / 2 + 1);
    m->values = arena_array(c->arena, Datum, n / 2 + 1);
    for (size_t i = 0; i + 1 < n; i += 2) {
        Datum key;
        if (!datum_cast(c->arena, &a[i], dtype_of(DATUM_TEXT), &key) || key.kind == DATUM_NULL)
            continue;
        m->keys[m->n] = key;
        m->values[m->n++] = a[i + 1];
    }
    return (Datum){ .kind = DATUM_MAP, .u.map = m };
}

typedef struct TopItem {
    const Tuple *t;
    const Datum *key;
    int sign;
    size_t index;
} TopItem;

static int by_top(const void *x, const void *y)
{
    const TopItem *a = x, *b = y;
    int c = datum_compare(a->key, b->key) * -a->sign;
    return c ? c : a->index < b->index ? -1 : 1;
}

static Datum fn_top(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    static const Datum none;
    if (!datum_is_number(&a[0]) || !datum_is_number(&a[1]) || !want_bag(c, &a[2]))
        return datum_null();
    const Bag *b = a[2].u.bag;
    size_t column = (size_t)a[1].u.i, keep = (size_t)a[0].u.i;
    bool up = c->nctor && !strcmp(c->ctor[0], "ASC");
    TopItem *items = xcalloc(b->n + 1, sizeof *items);
    for (size_t i = 0; i < b->n; i++)
        items[i] =
            (TopItem){ b->items[i], column < b->items[i]->n ? &b->items[i]->fields[column] : &none,
                       up ? -1 : 1, i };
    qsort(items, b->n, sizeof *items, by_top);
    Bag *out = bag_new(c->arena, keep < b->n ? keep : b->n);
    for (size_t i = 0; i < out->n; i++)
        out->items[i] = items[i].t;
    free(items);
    return datum_bag(out);
}

/* ---- sets of tuples */

static void keys_of(const Bag *b, Map *m)
{
    Str key = { 0 };
    for (size_t i = 0; i < b->n; i++) {
        Datum d = datum_tuple(b->items[i]);
        str_reset(&key);
        eval_key(&key, &d);
        map_putn(m, key.data, key.len, (void *)b->items[i]);
    }
    str_release(&key);
}

typedef Vec(const Tuple *) TupleList;

/* The tuples of x that y has not, each once. */
static void minus(const Map *x, const Map *y, TupleList *out)
{
    for (size_t i = 0; i < x->len; i++)
        if (!map_getn(y, x->entries[i].key, x->entries[i].key_len))
            vec_push(out, (const Tuple *)x->entries[i].value);
}

static Datum difference(CallCtx *c, const Datum *a, bool both)
{
    if (!want_bag(c, &a[0]) || !want_bag(c, &a[1]))
        return datum_null();
    Map x = { 0 }, y = { 0 };
    TupleList found = { 0 };
    keys_of(a[0].u.bag, &x);
    keys_of(a[1].u.bag, &y);
    minus(&x, &y, &found);
    if (both)
        minus(&y, &x, &found);
    Bag *b = bag_new(c->arena, found.len);
    for (size_t i = 0; i < found.len; i++)
        b->items[i] = found.items[i];
    vec_release(&found);
    map_release(&x);
    map_release(&y);
    return datum_bag(b);
}

static Datum fn_diff(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return difference(c, a, true);
}

static Datum fn_subtract(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return difference(c, a, false);
}

static Datum fn_bag_to_tuple(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    if (!want_bag(c, a))
        return datum_null();
    size_t width = 0;
    for (size_t i = 0; i < a->u.bag->n; i++)
        width += a->u.bag->items[i]->n;
    Tuple *t = tuple_new(c->arena, width);
    size_t k = 0;
    for (size_t i = 0; i < a->u.bag->n; i++)
        for (size_t j = 0; j < a->u.bag->items[i]->n; j++)
            t->fields[k++] = a->u.bag->items[i]->fields[j];
    return datum_tuple(t);
}

static Datum fn_bag_to_string(CallCtx *c, const Datum *a, size_t n)
{
    Datum t = fn_bag_to_tuple(c, a, 1);
    if (t.kind != DATUM_TUPLE)
        return t;
    Str s = { 0 };
    for (size_t i = 0; i < t.u.tuple->n; i++) {
        if (i)
            str_add(&s, n > 1 && a[1].kind == DATUM_TEXT ? a[1].u.s : "_");
        datum_print(&s, &t.u.tuple->fields[i], false);
    }
    Datum d = datum_textn(c->arena, str_c(&s), s.len);
    str_release(&s);
    return d;
}

/* ---- maps */

static Datum bag_of_data(CallCtx *c, const Datum *items, size_t n, bool once)
{
    Bag *b = bag_new(c->arena, n);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && once && !seen; j++)
            seen = !datum_compare(&items[i], &items[j]);
        if (!seen)
            b->items[k++] = fn_totuple(c, &items[i], 1).u.tuple;
    }
    b->n = k;
    return datum_bag(b);
}

static Datum fn_keyset(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return a->kind == DATUM_MAP ? bag_of_data(c, a->u.map->keys, a->u.map->n, true) : datum_null();
}

static Datum fn_valueset(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return a->kind == DATUM_MAP ? bag_of_data(c, a->u.map->values, a->u.map->n, true)
                                : datum_null();
}

static Datum fn_valuelist(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return a->kind == DATUM_MAP ? bag_of_data(c, a->u.map->values, a->u.map->n, false)
                                : datum_null();
}

#define AGG(text, how, f)                                                                          \
    { .name = text,                                                                                \
      .min = 1,                                                                                    \
      .max = 1,                                                                                    \
      .rule = how,                                                                                 \
      .result = DATUM_LONG,                                                                        \
      .call = f,                                                                                   \
      .aggregate = true }
const Function functions_bag[] = {
    AGG("COUNT", TYPE_FIXED, fn_count),
    { .name = "COUNT_STAR",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_LONG,
      .call = fn_count_star,
      .aggregate = true,
      .sees_nulls = true },
    AGG("SUM", TYPE_SUM, fn_sum),
    { .name = "AVG",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_DOUBLE,
      .call = fn_avg,
      .aggregate = true },
    AGG("MAX", TYPE_MINMAX, fn_max),
    AGG("MIN", TYPE_MINMAX, fn_min),
    { .name = "SIZE",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_LONG,
      .call = fn_size },
    { .name = "ARITY",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_LONG,
      .call = fn_size },
    { .name = "IsEmpty",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_BOOL,
      .call = fn_is_empty,
      .sees_nulls = true },
    { .name = "TOTUPLE",
      .min = 0,
      .max = -1,
      .rule = TYPE_TUPLE_OF,
      .call = fn_totuple,
      .sees_nulls = true },
    { .name = "TOBAG",
      .min = 0,
      .max = -1,
      .rule = TYPE_BAG_OF,
      .call = fn_tobag,
      .sees_nulls = true },
    { .name = "TOMAP",
      .min = 0,
      .max = -1,
      .rule = TYPE_MAP_OF,
      .call = fn_tomap,
      .sees_nulls = true },
    { .name = "TOP", .min = 3, .max = 3, .rule = TYPE_TOP, .call = fn_top },
    { .name = "DIFF", .min = 2, .max = 2, .rule = TYPE_BAG_SAME, .call = fn_diff },
    { .name = "SUBTRACT", .min = 2, .max = 2, .rule = TYPE_BAG_SAME, .call = fn_subtract },
    { .name = "BagToTuple",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_TUPLE,
      .call = fn_bag_to_tuple },
    { .name = "BagToString",
      .min = 1,
      .max = 2,
      .rule = TYPE_FIXED,
      .result = DATUM_TEXT,
      .call = fn_bag_to_string },
    { .name = "KEYSET",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_BAG,
      .call = fn_keyset },
    { .name = "VALUESET",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_BAG,
      .call = fn_valueset },
    { .name = "VALUELIST",
      .min = 1,
      .max = 1,
      .rule = TYPE_FIXED,
      .result = DATUM_BAG,
      .call = fn_valuelist },
    { 0 },
};
