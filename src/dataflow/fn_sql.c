/*
 * Functions of SQL that mean something else than Pig's of the same name, under
 * names with "sql." in front.
 */
#include "base/str.h"
#include "dataflow/date.h"
#include "dataflow/function.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static Datum take(CallCtx *c, Str *s)
{
    Datum d = datum_textn(c->arena, str_c(s), s->len);
    str_release(s);
    return d;
}

/* The text of any value, as SQL writes it. */
static void text_of(Str *out, const Datum *v)
{
    char buf[40];
    if (v->kind == DATUM_DOUBLE || v->kind == DATUM_FLOAT) {
        snprintf(buf, sizeof buf, "%.15g", v->u.d);
        str_add(out, buf);
    } else if (v->kind == DATUM_DATETIME) {
        date_print_as(out, v->u.i, v->u.i % 86400000 ? "yyyy-MM-dd HH:mm:ss" : "yyyy-MM-dd");
    } else {
        datum_print(out, v, false);
    }
}

static Datum fn_join(CallCtx *c, const Datum *a, size_t n)
{
    Str s = { 0 };
    for (size_t i = 0; i < n; i++)
        if (a[i].kind != DATUM_NULL)
            text_of(&s, &a[i]);
    return take(c, &s);
}

/* ---- characters, not bytes */

static size_t char_bytes(const char *s, size_t left)
{
    size_t n = 1;
    while (n < left && ((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static int64_t char_count(const char *s, size_t n)
{
    int64_t k = 0;
    for (size_t i = 0; i < n; i++)
        k += ((unsigned char)s[i] & 0xc0) != 0x80;
    return k;
}

/* Characters from..to-1, from 0. */
static Datum slice(CallCtx *c, const Datum *t, int64_t from, int64_t to)
{
    Str s = { 0 };
    int64_t at = 0;
    for (size_t i = 0; i < t->len; at++) {
        size_t n = char_bytes(t->u.s + i, t->len - i);
        if (at >= from && at < to)
            str_addn(&s, t->u.s + i, n);
        i += n;
    }
    return take(c, &s);
}

static bool is_text(const Datum *v) { return v->kind == DATUM_TEXT || v->kind == DATUM_BYTES; }

static int64_t whole(const Datum *v)
{
    return datum_is_number(v) ? (int64_t)datum_as_double(v) : 0;
}

static Datum fn_length(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    return is_text(a) ? datum_long(char_count(a->u.s, a->len)) : datum_null();
}

static Datum fn_substr(CallCtx *c, const Datum *a, size_t n)
{
    int64_t from = whole(&a[1]) - 1, to = n > 2 ? from + whole(&a[2]) : INT64_MAX;
    return is_text(a) ? slice(c, a, from, to) : datum_null();
}

static Datum fn_left(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    int64_t k = whole(&a[1]);
    return is_text(a) ? slice(c, a, 0, k < 0 ? char_count(a->u.s, a->len) + k : k) : datum_null();
}

static Datum fn_right(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    int64_t k = whole(&a[1]);
    if (!is_text(a))
        return datum_null();
    return slice(c, a, k < 0 ? -k : char_count(a->u.s, a->len) - k, INT64_MAX);
}

static Datum trimmed(CallCtx *c, const Datum *a, size_t n, bool left, bool right)
{
    if (!is_text(a))
        return datum_null();
    const char *set = n > 1 && is_text(&a[1]) ? a[1].u.s : " ";
    size_t from = 0, to = a->len;
    while (left && from < to && strchr(set, a->u.s[from]) && a->u.s[from])
        from++;
    while (right && to > from && strchr(set, a->u.s[to - 1]) && a->u.s[to - 1])
        to--;
    return datum_textn(c->arena, a->u.s + from, to - from);
}

static Datum fn_trim(CallCtx *c, const Datum *a, size_t n) { return trimmed(c, a, n, true, true); }

static Datum fn_ltrim(CallCtx *c, const Datum *a, size_t n)
{
    return trimmed(c, a, n, true, false);
}

static Datum fn_rtrim(CallCtx *c, const Datum *a, size_t n)
{
    return trimmed(c, a, n, false, true);
}

static Datum fn_replace(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    if (!is_text(&a[0]) || !is_text(&a[1]) || !is_text(&a[2]))
        return datum_null();
    Str s = { 0 };
    for (size_t i = 0; i < a->len;) {
        bool here = a[1].len && a->len - i >= a[1].len && !memcmp(a->u.s + i, a[1].u.s, a[1].len);
        str_addn(&s, here ? a[2].u.s : a->u.s + i, here ? a[2].len : 1);
        i += here ? a[1].len : 1;
    }
    return take(c, &s);
}

static Datum fn_strpos(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (!is_text(&a[0]) || !is_text(&a[1]))
        return datum_null();
    const char *p = memmem(a->u.s, a->len, a[1].u.s, a[1].len);
    return datum_long(p ? char_count(a->u.s, (size_t)(p - a->u.s)) + 1 : 0);
}

/* ---- numbers */

static Datum fn_round(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    if (!datum_is_number(a))
        return datum_null();
    double scale = n > 1 ? pow(10, (double)whole(&a[1])) : 1;
    return datum_double(round(datum_as_double(a) * scale) / scale);
}

static Datum fn_power(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (!datum_is_number(&a[0]) || !datum_is_number(&a[1]))
        return datum_null();
    return datum_double(pow(datum_as_double(&a[0]), datum_as_double(&a[1])));
}

static Datum fn_mod(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    int64_t y = whole(&a[1]);
    return y ? datum_long(y == -1 ? 0 : whole(&a[0]) % y) : datum_null();
}

/* ---- dates */

static Datum fn_shift(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (a->kind != DATUM_DATETIME)
        return datum_null();
    Date d = date_split(a->u.i);
    int64_t months = d.year * 12 + d.month - 1 + whole(&a[1]);
    Date first = d;
    first.year = months / 12;
    first.month = (int)(months % 12) + 1;
    first.day = 1;
    Date next = first;
    next.month++;
    int64_t days = (date_join(&next) - date_join(&first)) / 86400000;
    first.day = d.day > days ? (int)days : d.day;
    return datum_datetime(date_join(&first) + whole(&a[2]));
}

static Datum fn_part(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (!is_text(&a[0]) || a[1].kind != DATUM_DATETIME)
        return datum_null();
    Date d = date_split(a[1].u.i);
    const struct {
        const char *name;
        int64_t value;
    } parts[] = {
        { "year", d.year },
        { "month", d.month },
        { "day", d.day },
        { "hour", d.hour },
        { "minute", d.minute },
        { "second", d.second },
        { "quarter", (d.month + 2) / 3 },
        { "dow", date_weekday(a[1].u.i) % 7 },
        { "isodow", date_weekday(a[1].u.i) },
        { "epoch", a[1].u.i / 1000 },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcasecmp(parts[i].name, a[0].u.s))
            return datum_long(parts[i].value);
    return datum_null();
}

static Datum fn_trunc(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    static const char *const units[] = { "year", "month", "day", "hour", "minute", NULL };
    if (!is_text(&a[0]) || a[1].kind != DATUM_DATETIME || !str_is_one_of(a[0].u.s, units))
        return datum_null();
    Date d = date_split(a[1].u.i);
    int keep = 0;
    while (strcmp(units[keep], a[0].u.s))
        keep++;
    Date r = { .year = d.year,
               .month = keep > 0 ? d.month : 1,
               .day = keep > 1 ? d.day : 1,
               .hour = keep > 2 ? d.hour : 0,
               .minute = keep > 3 ? d.minute : 0 };
    return datum_datetime(date_join(&r));
}

#define SQL(text, lo, hi, kind, f)                                                                 \
    { .name = "sql." text, .min = lo, .max = hi, .rule = TYPE_FIXED, .result = kind, .call = f }
const Function functions_sql[] = {
    SQL("join", 2, 2, DATUM_TEXT, fn_join),
    { .name = "sql.concat",
      .min = 1,
      .max = -1,
      .rule = TYPE_FIXED,
      .result = DATUM_TEXT,
      .call = fn_join,
      .sees_nulls = true },
    SQL("length", 1, 1, DATUM_LONG, fn_length),
    SQL("substr", 2, 3, DATUM_TEXT, fn_substr),
    SQL("left", 2, 2, DATUM_TEXT, fn_left),
    SQL("right", 2, 2, DATUM_TEXT, fn_right),
    SQL("trim", 1, 2, DATUM_TEXT, fn_trim),
    SQL("ltrim", 1, 2, DATUM_TEXT, fn_ltrim),
    SQL("rtrim", 1, 2, DATUM_TEXT, fn_rtrim),
    SQL("replace", 3, 3, DATUM_TEXT, fn_replace),
    SQL("strpos", 2, 2, DATUM_LONG, fn_strpos),
    SQL("round", 1, 2, DATUM_DOUBLE, fn_round),
    SQL("power", 2, 2, DATUM_DOUBLE, fn_power),
    SQL("mod", 2, 2, DATUM_LONG, fn_mod),
    SQL("shift", 3, 3, DATUM_DATETIME, fn_shift),
    SQL("part", 2, 2, DATUM_LONG, fn_part),
    SQL("trunc", 2, 2, DATUM_DATETIME, fn_trunc),
    { 0 },
};
