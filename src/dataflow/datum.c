#include "dataflow/datum.h"
#include "dataflow/date.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Datum datum_null(void) { return (Datum){ .kind = DATUM_NULL }; }

Datum datum_bool(bool b) { return (Datum){ .kind = DATUM_BOOL, .u.b = b }; }

Datum datum_int(int32_t i) { return (Datum){ .kind = DATUM_INT, .u.i = i }; }

Datum datum_long(int64_t i) { return (Datum){ .kind = DATUM_LONG, .u.i = i }; }

Datum datum_float(double d) { return (Datum){ .kind = DATUM_FLOAT, .u.d = (float)d }; }

Datum datum_double(double d) { return (Datum){ .kind = DATUM_DOUBLE, .u.d = d }; }

Datum datum_datetime(int64_t ms) { return (Datum){ .kind = DATUM_DATETIME, .u.i = ms }; }

Datum datum_text(Arena *a, const char *s) { return datum_textn(a, s, strlen(s)); }

Datum datum_textn(Arena *a, const char *s, size_t n)
{
    assert(n <= UINT32_MAX);
    return (Datum){ .kind = DATUM_TEXT, .len = (uint32_t)n, .u.s = arena_strndup(a, s, n) };
}

Datum datum_bytesn(Arena *a, const char *s, size_t n)
{
    Datum v = datum_textn(a, s, n);
    v.kind = DATUM_BYTES;
    return v;
}

Datum datum_borrow(DatumKind kind, const char *s, size_t n)
{
    assert(kind == DATUM_TEXT || kind == DATUM_BYTES);
    assert(n <= UINT32_MAX);
    return (Datum){ .kind = (uint8_t)kind, .len = (uint32_t)n, .u.s = s };
}

Datum datum_tuple(const Tuple *t) { return (Datum){ .kind = DATUM_TUPLE, .u.tuple = t }; }

Datum datum_bag(const Bag *b) { return (Datum){ .kind = DATUM_BAG, .u.bag = b }; }

Tuple *tuple_new(Arena *a, size_t n)
{
    Tuple *t = arena_alloc(a, 1, sizeof *t + n * sizeof(Datum), _Alignof(Tuple));
    t->n = n;
    return t;
}

Bag *bag_new(Arena *a, size_t n)
{
    Bag *b = arena_new(a, Bag);
    b->n = n;
    b->items = arena_array(a, const Tuple *, n);
    return b;
}

Datum datum_lookup(const DatumMap *m, const char *key, size_t n)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->keys[i].len == n && !memcmp(m->keys[i].u.s, key, n))
            return m->values[i];
    return datum_null();
}

bool datum_is_number(const Datum *v) { return dtype_is_number(v->kind); }

double datum_as_double(const Datum *v)
{
    switch ((DatumKind)v->kind) {
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_BIGINT: return (double)v->u.i;
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: return v->u.d;
    default: assert(!"a number"); return 0;
    }
}

/* ---- order */

static int compare_longs(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

/* As Java's Double.compareTo: -0.0 < 0.0, NaN equals itself and is greatest. */
static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    if (a != b)
        return a < b ? -1 : 1;
    return !!signbit(b) - !!signbit(a);
}

/* Java compares UTF-16 units: characters beyond U+FFFF stand below those from
 * U+E000 on. In UTF-8 this shows in the first byte that differs. */
static int unit_rank(unsigned char c) { return c >= 0xf0 ? 2 * 0xed + 1 : 2 * c; }

static int compare_text(const Datum *a, const Datum *b)
{
    size_t n = a->len < b->len ? a->len : b->len;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a->u.s[i], y = (unsigned char)b->u.s[i];
        if (x == y)
            continue;
        if (a->kind == DATUM_TEXT && unit_rank(x) != unit_rank(y))
            return unit_rank(x) < unit_rank(y) ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return compare_longs(a->len, b->len);
}

static int compare_maps(const DatumMap *a, const DatumMap *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (size_t i = 0; i < a->n; i++) {
        Datum other = datum_lookup(b, a->keys[i].u.s, a->keys[i].len);
        int c = datum_compare(&a->values[i], &other);
        if (c)
            return c;
    }
    return 0;
}

static int by_tuple(const void *x, const void *y)
{
    return tuple_compare(*(Tuple *const *)x, *(Tuple *const *)y);
}

static const Tuple **sorted_items(const Bag *b)
{
    const Tuple **items = xmalloc((b->n + 1) * sizeof *items);
    if (b->n)
        memcpy(items, b->items, b->n * sizeof *items);
    qsort(items, b->n, sizeof *items, by_tuple);
    return items;
}

static int compare_bags(const Bag *a, const Bag *b)
{
    if (a == b)
        return 0;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    const Tuple **x = sorted_items(a), **y = sorted_items(b);
    int c = 0;
    for (size_t i = 0; i < a->n && !c; i++)
        c = tuple_compare(x[i], y[i]);
    free(x);
    free(y);
    return c;
}

int datum_compare(const Datum *a, const Datum *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch ((DatumKind)a->kind) {
    case DATUM_NULL: return 0;
    case DATUM_BOOL: return a->u.b - b->u.b;
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_DATETIME:
    case DATUM_BIGINT: return compare_longs(a->u.i, b->u.i);
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: return compare_doubles(a->u.d, b->u.d);
    case DATUM_BYTES:
    case DATUM_TEXT: return compare_text(a, b);
    case DATUM_MAP: return compare_maps(a->u.map, b->u.map);
    case DATUM_TUPLE: return tuple_compare(a->u.tuple, b->u.tuple);
    case DATUM_BAG: return compare_bags(a->u.bag, b->u.bag);
    }
    return 0;
}

int tuple_compare(const Tuple *a, const Tuple *b)
{
    if (a == b)
        return 0;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (size_t i = 0; i < a->n; i++) {
        int c = datum_compare(&a->fields[i], &b->fields[i]);
        if (c)
            return c;
    }
    return 0;
}

/* ---- copies and marks */

static bool tuple_is_made(const Tuple *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (datum_is_made(&t->fields[i]))
            return true;
    return false;
}

bool datum_is_made(const Datum *v)
{
    if (v->made)
        return true;
    if (v->kind == DATUM_TUPLE)
        return tuple_is_made(v->u.tuple);
    if (v->kind == DATUM_BAG)
        for (size_t i = 0; i < v->u.bag->n; i++)
            if (tuple_is_made(v->u.bag->items[i]))
                return true;
    if (v->kind == DATUM_MAP)
        for (size_t i = 0; i < v->u.map->n; i++)
            if (datum_is_made(&v->u.map->values[i]))
                return true;
    return false;
}

static Datum copy_with(Arena *a, const Datum *v, bool made);

static Tuple *copy_tuple(Arena *a, const Tuple *t, bool made)
{
    Tuple *r = tuple_new(a, t->n);
    for (size_t i = 0; i < t->n; i++)
        r->fields[i] = copy_with(a, &t->fields[i], made);
    return r;
}

static DatumMap *copy_map(Arena *a, const DatumMap *m, bool made)
{
    DatumMap *r = arena_new(a, DatumMap);
    r->n = m->n;
    r->keys = arena_array(a, Datum, m->n);
    r->values = arena_array(a, Datum, m->n);
    for (size_t i = 0; i < m->n; i++) {
        r->keys[i] = copy_with(a, &m->keys[i], made);
        r->values[i] = copy_with(a, &m->values[i], made);
    }
    return r;
}

static Datum copy_with(Arena *a, const Datum *v, bool made)
{
    Datum r = *v;
    r.made |= made;
    if (v->kind == DATUM_TEXT || v->kind == DATUM_BYTES)
        r.u.s = arena_strndup(a, v->u.s, v->len);
    if (v->kind == DATUM_TUPLE)
        r.u.tuple = copy_tuple(a, v->u.tuple, made);
    if (v->kind == DATUM_MAP)
        r.u.map = copy_map(a, v->u.map, made);
    if (v->kind == DATUM_BAG) {
        Bag *b = bag_new(a, v->u.bag->n);
        for (size_t i = 0; i < b->n; i++)
            b->items[i] = copy_tuple(a, v->u.bag->items[i], made);
        r.u.bag = b;
    }
    return r;
}

Datum datum_copy(Arena *a, const Datum *v) { return copy_with(a, v, false); }

Datum datum_mark_made(Arena *a, const Datum *v) { return copy_with(a, v, true); }

/* ---- printing */

/* The fewest digits that read back as the same number. */
static int shortest_digits(double d, bool is_float, char *buf, size_t size)
{
    int digits = 1;
    for (; digits < 17; digits++) {
        snprintf(buf, size, "%.*e", digits - 1, d);
        if (is_float ? strtof(buf, NULL) == (float)d : strtod(buf, NULL) == d)
            break;
    }
    snprintf(buf, size, "%.*e", digits - 1, d);
    return digits;
}

void double_print(Str *out, double d, bool is_float)
{
    if (isnan(d) || isinf(d)) {
        str_add(out, isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
        return;
    }
    if (d == 0) {
        str_add(out, signbit(d) ? "-0.0" : "0.0");
        return;
    }
    char buf[64];
    int digits = shortest_digits(d, is_float, buf, sizeof buf);
    double size = fabs(d);
    if (size >= 1e-3 && size < 1e7) {
        int exponent = atoi(strchr(buf, 'e') + 1);
        int decimals = digits - 1 - exponent;
        str_addf(out, "%.*f", decimals < 1 ? 1 : decimals, d);
        return;
    }
    char *e = strchr(buf, 'e');
    int exponent = atoi(e + 1);
    *e = 0;
    str_addf(out, "%s%sE%d", buf, strchr(buf, '.') ? "" : ".0", exponent);
}

static void bag_print(Str *out, const Bag *b, bool canonical)
{
    const Tuple **items = canonical ? sorted_items(b) : NULL;
    str_addc(out, '{');
    for (size_t i = 0; i < b->n; i++) {
        if (i)
            str_addc(out, ',');
        tuple_print(out, items ? items[i] : b->items[i], canonical);
    }
    str_addc(out, '}');
    free(items);
}

static void map_print(Str *out, const DatumMap *m, bool canonical)
{
    str_addc(out, '[');
    for (size_t i = 0; i < m->n; i++) {
        if (i)
            str_addc(out, ',');
        datum_print(out, &m->keys[i], canonical);
        str_addc(out, '#');
        datum_print(out, &m->values[i], canonical);
    }
    str_addc(out, ']');
}

void datum_print(Str *out, const Datum *v, bool canonical)
{
    switch ((DatumKind)v->kind) {
    case DATUM_NULL: break;
    case DATUM_BOOL: str_add(out, v->u.b ? "true" : "false"); break;
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_BIGINT: str_addf(out, "%" PRId64, v->u.i); break;
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: double_print(out, v->u.d, v->kind == DATUM_FLOAT); break;
    case DATUM_DATETIME: date_print(out, v->u.i); break;
    case DATUM_BYTES:
    case DATUM_TEXT: str_addn(out, v->u.s, v->len); break;
    case DATUM_MAP: map_print(out, v->u.map, canonical); break;
    case DATUM_TUPLE: tuple_print(out, v->u.tuple, canonical); break;
    case DATUM_BAG: bag_print(out, v->u.bag, canonical); break;
    }
}

void tuple_print(Str *out, const Tuple *t, bool canonical)
{
    str_addc(out, '(');
    for (size_t i = 0; i < t->n; i++) {
        if (i)
            str_addc(out, ',');
        datum_print(out, &t->fields[i], canonical);
    }
    str_addc(out, ')');
}

/* ---- types */

Schema *schema_new(Arena *a, size_t n)
{
    Schema *s = arena_alloc(a, 1, sizeof *s + n * sizeof(SchemaField), _Alignof(Schema));
    s->n = n;
    return s;
}

Type dtype_of(DatumKind kind) { return (Type){ .kind = kind }; }

Type dtype_bag(const Schema *inner) { return (Type){ DATUM_BAG, inner }; }

Type dtype_tuple(const Schema *inner) { return (Type){ DATUM_TUPLE, inner }; }

static const char *const dtype_names[DATUM_KINDS] = {
    [DATUM_NULL] = "null",         [DATUM_BOOL] = "boolean",      [DATUM_INT] = "int",
    [DATUM_LONG] = "long",         [DATUM_FLOAT] = "float",       [DATUM_DOUBLE] = "double",
    [DATUM_DATETIME] = "datetime", [DATUM_BYTES] = "bytearray",   [DATUM_TEXT] = "chararray",
    [DATUM_BIGINT] = "biginteger", [DATUM_BIGDEC] = "bigdecimal", [DATUM_MAP] = "map",
    [DATUM_TUPLE] = "tuple",       [DATUM_BAG] = "bag",
};

const char *dtype_name(DatumKind kind)
{
    assert((int)kind < DATUM_KINDS);
    return dtype_names[kind];
}

bool dtype_is_number(DatumKind k)
{
    return (k >= DATUM_INT && k <= DATUM_DOUBLE) || k == DATUM_BIGINT || k == DATUM_BIGDEC;
}

static void fields_print(Str *out, const Schema *s)
{
    str_addc(out, '(');
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            str_add(out, ", ");
        if (s->fields[i].name)
            str_addf(out, "%s: ", s->fields[i].name);
        dtype_print(out, s->fields[i].type);
    }
    str_addc(out, ')');
}

void dtype_print(Str *out, Type t)
{
    if (t.kind == DATUM_BAG && t.inner) {
        str_addc(out, '{');
        fields_print(out, t.inner);
        str_addc(out, '}');
    } else if (t.kind == DATUM_TUPLE && t.inner) {
        fields_print(out, t.inner);
    } else if (t.kind == DATUM_MAP && t.inner && t.inner->n) {
        str_add(out, "map[");
        dtype_print(out, t.inner->fields[0].type);
        str_addc(out, ']');
    } else {
        str_add(out, dtype_name(t.kind));
    }
}

static bool short_name_is(const char *full, const char *name)
{
    if (!full || !str_ends(full, name))
        return false;
    size_t n = strlen(full), m = strlen(name);
    return n > m + 2 && full[n - m - 1] == ':' && full[n - m - 2] == ':';
}

int schema_find(const Schema *s, const char *name)
{
    int found = -1;
    for (size_t i = 0; i < s->n; i++)
        if (s->fields[i].name && !strcmp(s->fields[i].name, name)) {
            if (found >= 0)
                return -2;
            found = (int)i;
        }
    if (found >= 0)
        return found;
    for (size_t i = 0; i < s->n; i++)
        if (short_name_is(s->fields[i].name, name)) {
            if (found >= 0)
                return -2;
            found = (int)i;
        }
    return found;
}
