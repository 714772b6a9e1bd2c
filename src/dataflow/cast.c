/*
 * Casts. Java's rules: doubles saturate, longs are cut, NaN is 0. Text that is
 * no integer is tried as a double and cut. A bytearray is trimmed and checked
 * at both ends, a chararray only at the upper one.
 */
#include "dataflow/date.h"
#include "dataflow/eval.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>

static int32_t double_to_int(double d)
{
    if (isnan(d))
        return 0;
    return d >= INT32_MAX ? INT32_MAX : d <= INT32_MIN ? INT32_MIN : (int32_t)d;
}

static int64_t double_to_long(double d)
{
    if (isnan(d))
        return 0;
    return d >= 0x1p63 ? INT64_MAX : d <= -0x1p63 ? INT64_MIN : (int64_t)d;
}

static bool is_blank(char c) { return (unsigned char)c <= ' '; }

/* Digits with a sign and nothing else. */
static bool parse_long(const char *s, size_t n, int64_t *out)
{
    if (!n || n > 20 || (!isdigit((unsigned char)s[0]) && (n == 1 || (*s != '-' && *s != '+'))))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!isdigit((unsigned char)s[i]))
            return false;
    errno = 0;
    char buf[24];
    memcpy(buf, s, n);
    buf[n] = 0;
    *out = strtoll(buf, NULL, 10);
    return !errno;
}

/* As Java's Double.parseDouble: blanks around, no hexadecimal integers. */
static bool parse_double(const char *s, size_t n, double *out)
{
    while (n && is_blank(*s))
        s++, n--;
    while (n && is_blank(s[n - 1]))
        n--;
    if (!n || n > 400)
        return false;
    char *buf = xstrndup(s, n), *end;
    char *p = buf + (*buf == '-' || *buf == '+');
    bool ok = isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1])) ||
              !strcmp(p, "NaN") || !strcmp(p, "Infinity");
    if (ok && p[0] == '0' && (p[1] | 32) == 'x')
        ok = false;
    if (ok) {
        *out = strtod(buf, &end);
        if ((*end | 32) == 'd' || (*end | 32) == 'f')
            end++;
        ok = !*end;
    }
    free(buf);
    return ok;
}

static bool text_to_int(const Datum *v, int64_t min, int64_t max, int64_t *out)
{
    const char *s = v->u.s;
    size_t n = v->len;
    bool bytes = v->kind == DATUM_BYTES;
    while (bytes && n && is_blank(*s))
        s++, n--;
    while (bytes && n && is_blank(s[n - 1]))
        n--;
    int64_t i;
    if (parse_long(s, n, &i) && i >= min && i <= max) {
        *out = i;
        return true;
    }
    double d;
    if (!parse_double(s, n, &d) || d > (double)max || (bytes && d < (double)min) || isnan(d))
        return false;
    *out = max == INT32_MAX ? double_to_int(d) : double_to_long(d);
    return true;
}

static bool to_bool(const Datum *v, Datum *out)
{
    if (datum_is_number(v)) {
        *out = datum_bool(datum_as_double(v) != 0);
        return true;
    }
    bool yes = v->len == 4 && !strncasecmp(v->u.s, "true", 4);
    bool no = v->len == 5 && !strncasecmp(v->u.s, "false", 5);
    *out = datum_bool(yes);
    return yes || no;
}

static bool to_int(const Datum *v, Datum *out)
{
    int64_t i = 0;
    if (v->kind == DATUM_TEXT || v->kind == DATUM_BYTES) {
        if (!text_to_int(v, INT32_MIN, INT32_MAX, &i))
            return false;
    } else if (v->kind == DATUM_BOOL) {
        i = v->u.b;
    } else if (v->kind == DATUM_FLOAT || v->kind == DATUM_DOUBLE || v->kind == DATUM_BIGDEC) {
        i = double_to_int(v->u.d);
    } else {
        i = v->u.i;
    }
    *out = datum_int((int32_t)(uint32_t)i);
    return true;
}

static bool to_long(const Datum *v, DatumKind kind, Datum *out)
{
    int64_t i = 0;
    if (v->kind == DATUM_TEXT || v->kind == DATUM_BYTES) {
        if (!text_to_int(v, INT64_MIN, INT64_MAX, &i))
            return false;
    } else if (v->kind == DATUM_BOOL) {
        i = v->u.b;
    } else if (v->kind == DATUM_FLOAT || v->kind == DATUM_DOUBLE || v->kind == DATUM_BIGDEC) {
        i = double_to_long(v->u.d);
    } else {
        i = v->u.i;
    }
    *out = datum_long(i);
    out->kind = (uint8_t)kind;
    return true;
}

static bool to_double(const Datum *v, DatumKind kind, Datum *out)
{
    double d = 0;
    if (v->kind == DATUM_TEXT || v->kind == DATUM_BYTES) {
        if (!parse_double(v->u.s, v->len, &d))
            return false;
    } else if (v->kind == DATUM_BOOL) {
        d = v->u.b;
    } else {
        d = v->kind == DATUM_DATETIME ? (double)v->u.i : datum_as_double(v);
    }
    *out = kind == DATUM_FLOAT ? datum_float(d) : datum_double(d);
    out->kind = (uint8_t)kind;
    return true;
}

static bool to_date(const Datum *v, Datum *out)
{
    int64_t ms;
    if (v->kind == DATUM_TEXT || v->kind == DATUM_BYTES) {
        if (!date_parse(v->u.s, v->len, &ms))
            return false;
    } else if (datum_is_number(v)) {
        ms = v->kind == DATUM_LONG || v->kind == DATUM_INT ? v->u.i : (int64_t)datum_as_double(v);
    } else {
        return false;
    }
    *out = datum_datetime(ms);
    return true;
}

static bool to_text(Arena *a, const Datum *v, Datum *out)
{
    if (v->kind == DATUM_BYTES) {
        *out = *v;
        out->kind = DATUM_TEXT;
        return true;
    }
    Str s = { 0 };
    datum_print(&s, v, false);
    *out = datum_textn(a, str_c(&s), s.len);
    str_release(&s);
    return true;
}

/* Fields of a tuple to the types of a schema. */
static Tuple *cast_fields(Arena *a, const Tuple *t, const Schema *s)
{
    Tuple *r = tuple_new(a, s->n);
    for (size_t i = 0; i < s->n; i++)
        if (i < t->n && !datum_cast(a, &t->fields[i], s->fields[i].type, &r->fields[i]))
            r->fields[i] = datum_null();
    return r;
}

static bool cast_inside(Arena *a, const Datum *v, Type to, Datum *out)
{
    *out = *v;
    if (!to.inner)
        return true;
    if (to.kind == DATUM_TUPLE) {
        out->u.tuple = cast_fields(a, v->u.tuple, to.inner);
    } else if (to.kind == DATUM_BAG) {
        Bag *b = bag_new(a, v->u.bag->n);
        for (size_t i = 0; i < b->n; i++)
            b->items[i] = cast_fields(a, v->u.bag->items[i], to.inner);
        out->u.bag = b;
    } else if (to.kind == DATUM_MAP && to.inner->n) {
        DatumMap *m = arena_new(a, DatumMap);
        *m = *v->u.map;
        m->values = arena_array(a, Datum, m->n);
        for (size_t i = 0; i < m->n; i++)
            if (!datum_cast(a, &v->u.map->values[i], to.inner->fields[0].type, &m->values[i]))
                m->values[i] = datum_null();
        out->u.map = m;
    }
    return true;
}

bool datum_cast(Arena *a, const Datum *v, Type to, Datum *out)
{
    bool ok = true;
    if (v->kind == DATUM_NULL || to.kind == DATUM_BYTES || to.kind == DATUM_NULL) {
        *out = *v;
        return true;
    }
    if (v->kind == to.kind) {
        ok = cast_inside(a, v, to, out);
    } else if (to.kind >= DATUM_MAP) {
        ok = v->kind == DATUM_BYTES && datum_parse(a, v->u.s, v->len, to, out);
    } else if (v->kind >= DATUM_MAP) {
        ok = to.kind == DATUM_TEXT && to_text(a, v, out);
    } else {
        switch (to.kind) {
        case DATUM_BOOL: ok = v->kind != DATUM_DATETIME && to_bool(v, out); break;
        case DATUM_INT: ok = to_int(v, out); break;
        case DATUM_LONG:
        case DATUM_BIGINT: ok = to_long(v, to.kind, out); break;
        case DATUM_FLOAT:
        case DATUM_DOUBLE:
        case DATUM_BIGDEC: ok = to_double(v, to.kind, out); break;
        case DATUM_DATETIME: ok = to_date(v, out); break;
        case DATUM_TEXT: ok = to_text(a, v, out); break;
        default: assert(!"reached");
        }
    }
    if (!ok)
        *out = datum_null();
    out->made |= v->made;
    return ok;
}

/* ---- the text of complex values */

typedef struct Reader {
    Arena *a;
    const char *p, *end;
    int depth;
} Reader;

static bool read_value(Reader *r, Type to, const char *stop, Datum *out);

static void skip_blank(Reader *r)
{
    while (r->p < r->end && is_blank(*r->p))
        r->p++;
}

static bool take(Reader *r, char c)
{
    skip_blank(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool read_tuple(Reader *r, const Schema *s, Tuple **out)
{
    if (!take(r, '('))
        return false;
    Vec(Datum) fields = { 0 };
    bool ok = true;
    if (!take(r, ')')) {
        do {
            Type t = s && fields.len < s->n ? s->fields[fields.len].type : dtype_of(DATUM_BYTES);
            ok = read_value(r, t, ",)", vec_grow(&fields));
        } while (ok && take(r, ','));
        ok = ok && take(r, ')');
    }
    size_t n = s ? s->n : fields.len;
    *out = tuple_new(r->a, n);
    for (size_t i = 0; i < n && i < fields.len; i++)
        (*out)->fields[i] = fields.items[i];
    vec_release(&fields);
    return ok;
}

static bool read_bag(Reader *r, const Schema *s, Datum *out)
{
    Vec(Tuple *) items = { 0 };
    bool ok = take(r, '{');
    if (ok && !take(r, '}')) {
        do {
            Tuple *t = NULL;
            ok = read_tuple(r, s, &t);
            vec_push(&items, t);
        } while (ok && take(r, ','));
        ok = ok && take(r, '}');
    }
    Bag *b = bag_new(r->a, items.len);
    for (size_t i = 0; i < items.len; i++)
        b->items[i] = items.items[i];
    vec_release(&items);
    *out = datum_bag(b);
    return ok;
}

static bool read_map(Reader *r, const Schema *s, Datum *out)
{
    Vec(Datum) keys = { 0 }, values = { 0 };
    bool ok = take(r, '[');
    Type t = s && s->n ? s->fields[0].type : dtype_of(DATUM_BYTES);
    if (ok && !take(r, ']')) {
        do {
            const char *from = r->p;
            while (r->p < r->end && *r->p != '#')
                r->p++;
            vec_push(&keys, datum_textn(r->a, from, (size_t)(r->p - from)));
            ok = take(r, '#') && read_value(r, t, ",]", vec_grow(&values));
        } while (ok && take(r, ','));
        ok = ok && take(r, ']');
    }
    DatumMap *m = arena_new(r->a, DatumMap);
    m->n = ok ? keys.len : 0;
    m->keys = arena_array(r->a, Datum, m->n + 1);
    m->values = arena_array(r->a, Datum, m->n + 1);
    for (size_t i = 0; i < m->n; i++) {
        m->keys[i] = keys.items[i];
        m->values[i] = values.items[i];
    }
    vec_release(&keys);
    vec_release(&values);
    *out = (Datum){ .kind = DATUM_MAP, .u.map = m };
    return ok;
}

static bool read_simple(Reader *r, Type to, const char *stop, Datum *out)
{
    const char *from = r->p;
    while (r->p < r->end && !strchr(stop, *r->p))
        r->p++;
    Datum raw = datum_bytesn(r->a, from, (size_t)(r->p - from));
    if (!raw.len)
        raw = datum_null();
    if (!datum_cast(r->a, &raw, to, out))
        *out = datum_null();
    return true;
}

static bool read_value(Reader *r, Type to, const char *stop, Datum *out)
{
    bool ok = false;
    if (++r->depth > 100)
        return false;
    skip_blank(r);
    char c = r->p < r->end ? *r->p : 0;
    Tuple *t = NULL;
    if (c == '{' && (to.kind == DATUM_BAG || to.kind == DATUM_BYTES)) {
        ok = read_bag(r, to.inner, out);
    } else if (c == '(' && (to.kind == DATUM_TUPLE || to.kind == DATUM_BYTES)) {
        ok = read_tuple(r, to.inner, &t);
        *out = datum_tuple(t);
    } else if (c == '[' && (to.kind == DATUM_MAP || to.kind == DATUM_BYTES)) {
        ok = read_map(r, to.inner, out);
    } else if (to.kind < DATUM_MAP) {
        ok = read_simple(r, to, stop, out);
    } else {
        *out = datum_null();
        const char *from = r->p;
        while (r->p < r->end && !strchr(stop, *r->p))
            r->p++;
        ok = r->p == from;
    }
    r->depth--;
    return ok;
}

bool datum_parse(Arena *a, const char *s, size_t n, Type to, Datum *out)
{
    Reader r = { a, s, s + n, 0 };
    bool ok = read_value(&r, to, "", out);
    skip_blank(&r);
    return ok && r.p == r.end && out->kind == to.kind;
}
