/*
 * Functions of text. Positions and lengths count UTF-16 units, as Java does:
 * a character beyond U+FFFF is two.
 */
#include "base/escape.h"
#include "base/vec.h"
#include "dataflow/eval.h"
#include "dataflow/function.h"
#include "dataflow/regex.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_text(const Datum *v) { return v->kind == DATUM_TEXT || v->kind == DATUM_BYTES; }

/* Any value as text. */
static Datum text_of(CallCtx *c, const Datum *v)
{
    Datum out;
    if (!datum_cast(c->arena, v, dtype_of(DATUM_TEXT), &out))
        return datum_null();
    return out;
}

/* A text that grows without end is none. */
enum { MOST_TEXT = 16 << 20 };

static Datum take(CallCtx *c, Str *s)
{
    if (s->len > MOST_TEXT) {
        str_release(s);
        c->warnings++;
        return datum_null();
    }
    Datum d = datum_textn(c->arena, str_c(s), s->len);
    str_release(s);
    return d;
}

static size_t step(const char *s, size_t n, int *units)
{
    unsigned cp;
    size_t k = utf8_decode(s, n, &cp);
    *units = k && cp > 0xffff ? 2 : 1;
    return k ? k : 1;
}

static int64_t units(const char *s, size_t n)
{
    int64_t r = 0;
    int u;
    for (size_t i = 0; i < n; i += step(s + i, n - i, &u), r += u)
        ;
    return r;
}

static size_t offset_of(const char *s, size_t n, int64_t unit)
{
    size_t i = 0;
    int u;
    for (int64_t at = 0; i < n && at < unit; at += u)
        i += step(s + i, n - i, &u);
    return i;
}

int64_t text_units(const Datum *v) { return units(v->u.s, v->len); }

static bool int_of(const Datum *v, int64_t *out)
{
    if (!datum_is_number(v))
        return false;
    *out = (int64_t)datum_as_double(v);
    return true;
}

static Datum fn_concat(CallCtx *c, const Datum *a, size_t n)
{
    Str s = { 0 };
    for (size_t i = 0; i < n; i++) {
        Datum t = text_of(c, &a[i]);
        if (t.kind == DATUM_TEXT)
            str_addn(&s, t.u.s, t.len);
    }
    return take(c, &s);
}

static Datum fn_substring(CallCtx *c, const Datum *a, size_t n)
{
    int64_t from, to = INT32_MAX;
    if (!is_text(&a[0]) || !int_of(&a[1], &from) || (n > 2 && !int_of(&a[2], &to)))
        return datum_null();
    int64_t len = text_units(&a[0]);
    to = to > len ? len : to;
    if (from < 0 || from > len || from > to) {
        c->warnings++;
        return datum_null();
    }
    size_t i = offset_of(a->u.s, a->len, from), k = offset_of(a->u.s, a->len, to);
    return datum_textn(c->arena, a->u.s + i, k - i);
}

static Datum fn_indexof(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    int64_t from = 0;
    if (!is_text(&a[0]) || !is_text(&a[1]) || (n > 2 && !int_of(&a[2], &from)))
        return datum_null();
    size_t i = offset_of(a->u.s, a->len, from);
    const char *at = memmem(a->u.s + i, a->len - i, a[1].u.s, a[1].len);
    return datum_int(at ? (int32_t)units(a->u.s, (size_t)(at - a->u.s)) : -1);
}

static Datum fn_last_indexof(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (!is_text(&a[0]) || !is_text(&a[1]))
        return datum_null();
    for (size_t i = a->len + 1; i-- > 0;)
        if (a->len - i >= a[1].len && !memcmp(a->u.s + i, a[1].u.s, a[1].len))
            return datum_int((int32_t)units(a->u.s, i));
    return datum_int(-1);
}

/* ASCII letters; `only` counts how many from the front, 0: all. */
static Datum change_case(CallCtx *c, const Datum *v, int (*f)(int), size_t only)
{
    if (!is_text(v))
        return datum_null();
    Datum d = datum_textn(c->arena, v->u.s, v->len);
    char *s = (char *)d.u.s;
    for (size_t i = 0; i < d.len && (!only || i < only); i++)
        if ((unsigned char)s[i] < 128)
            s[i] = (char)f((unsigned char)s[i]);
    return d;
}

static Datum fn_lower(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return change_case(c, a, tolower, 0);
}

static Datum fn_upper(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return change_case(c, a, toupper, 0);
}

static Datum fn_lcfirst(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return change_case(c, a, tolower, 1);
}

static Datum fn_ucfirst(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return change_case(c, a, toupper, 1);
}

static Datum trim(CallCtx *c, const Datum *v, bool left, bool right)
{
    if (!is_text(v))
        return datum_null();
    const char *s = v->u.s;
    size_t n = v->len;
    while (left && n && (unsigned char)*s <= ' ')
        s++, n--;
    while (right && n && (unsigned char)s[n - 1] <= ' ')
        n--;
    return datum_textn(c->arena, s, n);
}

static Datum fn_trim(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return trim(c, a, true, true);
}

static Datum fn_ltrim(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return trim(c, a, true, false);
}

static Datum fn_rtrim(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    return trim(c, a, false, true);
}

static Datum fn_startswith(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (!is_text(&a[0]) || !is_text(&a[1]))
        return datum_null();
    return datum_bool(a->len >= a[1].len && !memcmp(a->u.s, a[1].u.s, a[1].len));
}

static Datum fn_endswith(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (!is_text(&a[0]) || !is_text(&a[1]))
        return datum_null();
    return datum_bool(a->len >= a[1].len &&
                      !memcmp(a->u.s + a->len - a[1].len, a[1].u.s, a[1].len));
}

static Datum fn_equals_fold(CallCtx *c, const Datum *a, size_t n)
{
    (void)c;
    (void)n;
    if (!is_text(&a[0]) || !is_text(&a[1]))
        return datum_null();
    return datum_bool(a->len == a[1].len && !strncasecmp(a->u.s, a[1].u.s, a->len));
}

/* ---- regular expressions */

static const Regex *pattern_of(CallCtx *c, const Datum *v)
{
    Err err = { 0 };
    const Regex *r = regex_new(c->arena, v->u.s, v->len, 0, &err);
    if (!r)
        call_fail(c, "%s", err.msg);
    return r;
}

static bool gave_up(CallCtx *c, RegexAnswer a)
{
    return a == REGEX_GAVE_UP && !call_fail(c, "the regular expression takes too long");
}

static Datum group_of(CallCtx *c, const Datum *s, const RegexMatch *m, size_t g)
{
    if (g >= m->ngroups || m->from[g] == SIZE_MAX || m->to[g] == SIZE_MAX)
        return datum_null();
    return datum_textn(c->arena, s->u.s + m->from[g], m->to[g] - m->from[g]);
}

static Datum fn_regex_extract(CallCtx *c, const Datum *a, size_t n)
{
    int64_t g;
    RegexMatch m;
    const Regex *r;
    bool whole = n > 3 && a[3].kind == DATUM_BOOL && a[3].u.b;
    if (!is_text(&a[0]) || !is_text(&a[1]) || !int_of(&a[2], &g) || g < 0 ||
        !(r = pattern_of(c, &a[1])))
        return datum_null();
    RegexAnswer ans =
        whole ? regex_full(r, a->u.s, a->len, &m) : regex_find(r, a->u.s, a->len, 0, &m);
    if (gave_up(c, ans) || ans != REGEX_YES)
        return datum_null();
    return group_of(c, a, &m, (size_t)g);
}

static Datum fn_regex_all(CallCtx *c, const Datum *a, size_t n)
{
    RegexMatch m;
    const Regex *r;
    bool find = n > 2 && a[2].kind == DATUM_BOOL && !a[2].u.b;
    if (!is_text(&a[0]) || !is_text(&a[1]) || !(r = pattern_of(c, &a[1])))
        return datum_null();
    RegexAnswer ans =
        find ? regex_find(r, a->u.s, a->len, 0, &m) : regex_full(r, a->u.s, a->len, &m);
    if (gave_up(c, ans) || ans != REGEX_YES)
        return datum_null();
    Tuple *t = tuple_new(c->arena, m.ngroups - 1);
    for (size_t g = 1; g < m.ngroups; g++)
        t->fields[g - 1] = group_of(c, a, &m, g);
    return datum_tuple(t);
}

static Datum one_field_bag(CallCtx *c, const Datum *items, size_t n)
{
    Bag *b = bag_new(c->arena, n);
    for (size_t i = 0; i < n; i++) {
        Tuple *t = tuple_new(c->arena, 1);
        t->fields[0] = items[i];
        b->items[i] = t;
    }
    return datum_bag(b);
}

static Datum fn_regex_search(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    RegexMatch m;
    const Regex *r;
    if (!is_text(&a[0]) || !is_text(&a[1]) || !(r = pattern_of(c, &a[1])))
        return datum_null();
    Vec(Datum) found = { 0 };
    for (size_t at = 0; at <= a->len && regex_find(r, a->u.s, a->len, at, &m) == REGEX_YES;) {
        vec_push(&found, group_of(c, a, &m, m.ngroups > 1 ? 1 : 0));
        at = m.to[0] > at ? m.to[0] : at + 1;
    }
    Datum d = one_field_bag(c, found.items, found.len);
    vec_release(&found);
    return d;
}

/* "$1" in a replacement is a group, a backslash takes the next as it is. */
static void put_replacement(Str *out, const Datum *with, const Datum *s, const RegexMatch *m)
{
    for (size_t i = 0; i < with->len; i++) {
        char ch = with->u.s[i];
        if (ch == '\\' && i + 1 < with->len) {
            str_addc(out, with->u.s[++i]);
        } else if (ch == '$' && i + 1 < with->len && isdigit((unsigned char)with->u.s[i + 1])) {
            size_t g = (size_t)(with->u.s[++i] - '0');
            if (g < m->ngroups && m->from[g] != SIZE_MAX && m->to[g] != SIZE_MAX)
                str_addn(out, s->u.s + m->from[g], m->to[g] - m->from[g]);
        } else {
            str_addc(out, ch);
        }
    }
}

static Datum fn_replace(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    RegexMatch m;
    const Regex *r;
    if (!is_text(&a[0]) || !is_text(&a[1]) || !is_text(&a[2]) || !(r = pattern_of(c, &a[1])))
        return datum_null();
    Str out = { 0 };
    size_t at = 0;
    RegexAnswer ans;
    while (at <= a->len && (ans = regex_find(r, a->u.s, a->len, at, &m)) == REGEX_YES) {
        str_addn(&out, a->u.s + at, m.from[0] - at);
        put_replacement(&out, &a[2], a, &m);
        at = m.to[0];
        if (m.to[0] == m.from[0]) {
            if (at < a->len)
                str_addc(&out, a->u.s[at]);
            at++;
        }
    }
    if (at < a->len)
        str_addn(&out, a->u.s + at, a->len - at);
    return take(c, &out);
}

/* Java's split: limit 0 drops empty parts at the end, > 0 is a maximum. */
typedef Vec(Datum) Data;

static void split(CallCtx *c, const Datum *s, const Regex *r, int64_t limit, Data *out)
{
    RegexMatch m;
    size_t from = 0, at = 0;
    while (at <= s->len && (limit <= 0 || (int64_t)out->len + 1 < limit) &&
           regex_find(r, s->u.s, s->len, at, &m) == REGEX_YES) {
        if (m.to[0] == m.from[0]) {
            at = m.to[0] + 1;
            if (m.from[0] == 0 || m.from[0] >= s->len)
                continue;
        } else {
            at = m.to[0];
            if (m.to[0] == 0)
                continue;
        }
        vec_push(out, datum_textn(c->arena, s->u.s + from, m.from[0] - from));
        from = m.to[0];
    }
    vec_push(out, datum_textn(c->arena, s->u.s + from, s->len - from));
    while (!limit && out->len > 1 && !out->items[out->len - 1].len)
        out->len--;
}

static bool split_args(CallCtx *c, const Datum *a, size_t n, Data *out)
{
    Datum blank = datum_borrow(DATUM_TEXT, "\\s", 2);
    int64_t limit = 0;
    const Regex *r;
    if (!is_text(&a[0]) || (n > 1 && !is_text(&a[1])) || (n > 2 && !int_of(&a[2], &limit)) ||
        !(r = pattern_of(c, n > 1 ? &a[1] : &blank)))
        return false;
    split(c, a, r, limit, out);
    return true;
}

static Datum fn_strsplit(CallCtx *c, const Datum *a, size_t n)
{
    Data parts = { 0 };
    if (!split_args(c, a, n, &parts))
        return datum_null();
    Tuple *t = tuple_new(c->arena, parts.len);
    memcpy(t->fields, parts.items, parts.len * sizeof(Datum));
    vec_release(&parts);
    return datum_tuple(t);
}

static Datum fn_strsplit_bag(CallCtx *c, const Datum *a, size_t n)
{
    Data parts = { 0 };
    if (!split_args(c, a, n, &parts))
        return datum_null();
    Datum d = one_field_bag(c, parts.items, parts.len);
    vec_release(&parts);
    return d;
}

static Datum fn_tokenize(CallCtx *c, const Datum *a, size_t n)
{
    const char *marks = n > 1 && is_text(&a[1]) ? a[1].u.s : " \",()*";
    if (!is_text(&a[0]))
        return datum_null();
    Data parts = { 0 };
    for (size_t i = 0; i < a->len;) {
        size_t from = i;
        while (i < a->len && !(a->u.s[i] && strchr(marks, a->u.s[i])))
            i++;
        if (i > from)
            vec_push(&parts, datum_textn(c->arena, a->u.s + from, i - from));
        i += i < a->len;
    }
    Datum d = one_field_bag(c, parts.items, parts.len);
    vec_release(&parts);
    return d;
}

/* One conversion of SPRINTF with a format that we built ourselves. */
static bool put_formatted(Str *out, const char *spec, char letter, const Datum *v)
{
    char fmt[48];
    size_t n = strlen(spec);
    if (n > 20)
        return false;
    if (letter == 's' || letter == 'S') {
        Str s = { 0 };
        datum_print(&s, v, false);
        snprintf(fmt, sizeof fmt, "%%%ss", spec);
        str_addf(out, fmt, v->kind == DATUM_NULL ? "null" : str_c(&s));
        str_release(&s);
        return true;
    }
    if (!datum_is_number(v))
        return false;
    if (strchr("dxXo", letter) && v->kind != DATUM_FLOAT && v->kind != DATUM_DOUBLE) {
        snprintf(fmt, sizeof fmt, "%%%sll%c", spec, letter);
        str_addf(out, fmt, (long long)v->u.i);
        return true;
    }
    if (strchr("feEgG", letter)) {
        snprintf(fmt, sizeof fmt, "%%%s%c", spec, letter);
        str_addf(out, fmt, datum_as_double(v));
        return true;
    }
    return false;
}

static bool has_large_number(const char *spec)
{
    for (const char *p = spec; *p; p += strspn(p, "0123456789"), p += *p != 0)
        if (strspn(p, "0123456789") > 4)
            return true;
    return false;
}

static Datum fn_sprintf(CallCtx *c, const Datum *a, size_t n)
{
    Str out = { 0 };
    size_t next = 1;
    bool ok = is_text(&a[0]);
    for (size_t i = 0; ok && i < a->len; i++) {
        if (a->u.s[i] != '%') {
            str_addc(&out, a->u.s[i]);
            continue;
        }
        char spec[24];
        size_t k = 0;
        for (i++; i < a->len && k < 20 && strchr("0123456789.-+ #,", a->u.s[i]); i++)
            if (a->u.s[i] != ',')
                spec[k++] = a->u.s[i];
        spec[k] = 0;
        ok = !has_large_number(spec) && out.len <= MOST_TEXT;
        char letter = i < a->len ? a->u.s[i] : 0;
        if (letter == '%' || letter == 'n')
            str_addc(&out, letter == '%' ? '%' : '\n');
        else
            ok = ok && next < n && put_formatted(&out, spec, letter, &a[next]), next++;
    }
    if (!ok) {
        str_release(&out);
        c->warnings++;
        return datum_null();
    }
    return take(c, &out);
}

static Datum fn_unique(CallCtx *c, const Datum *a, size_t n)
{
    (void)a;
    (void)n;
    Str s = { 0 };
    str_addf(&s, "0-%lld", (long long)c->unique++);
    return take(c, &s);
}

#define TEXT(text, lo, hi, kind, f)                                                                \
    { .name = text,                                                                                \
      .min = lo,                                                                                   \
      .max = hi,                                                                                   \
      .rule = TYPE_FIXED,                                                                          \
      .result = kind,                                                                              \
      .want = DATUM_TEXT,                                                                          \
      .call = f }
const Function functions_text[] = {
    TEXT("CONCAT", 2, -1, DATUM_TEXT, fn_concat),
    TEXT("SUBSTRING", 2, 3, DATUM_TEXT, fn_substring),
    TEXT("INDEXOF", 2, 3, DATUM_INT, fn_indexof),
    TEXT("LAST_INDEX_OF", 2, 2, DATUM_INT, fn_last_indexof),
    TEXT("LOWER", 1, 1, DATUM_TEXT, fn_lower),
    TEXT("UPPER", 1, 1, DATUM_TEXT, fn_upper),
    TEXT("LCFIRST", 1, 1, DATUM_TEXT, fn_lcfirst),
    TEXT("UCFIRST", 1, 1, DATUM_TEXT, fn_ucfirst),
    TEXT("TRIM", 1, 1, DATUM_TEXT, fn_trim),
    TEXT("LTRIM", 1, 1, DATUM_TEXT, fn_ltrim),
    TEXT("RTRIM", 1, 1, DATUM_TEXT, fn_rtrim),
    TEXT("STARTSWITH", 2, 2, DATUM_BOOL, fn_startswith),
    TEXT("ENDSWITH", 2, 2, DATUM_BOOL, fn_endswith),
    TEXT("EqualsIgnoreCase", 2, 2, DATUM_BOOL, fn_equals_fold),
    TEXT("REGEX_EXTRACT", 3, 4, DATUM_TEXT, fn_regex_extract),
    TEXT("REGEX_EXTRACT_ALL", 2, 3, DATUM_TUPLE, fn_regex_all),
    TEXT("REGEX_SEARCH", 2, 2, DATUM_BAG, fn_regex_search),
    TEXT("REPLACE", 3, 3, DATUM_TEXT, fn_replace),
    TEXT("STRSPLIT", 1, 3, DATUM_TUPLE, fn_strsplit),
    TEXT("STRSPLITTOBAG", 1, 3, DATUM_BAG, fn_strsplit_bag),
    TEXT("TOKENIZE", 1, 2, DATUM_BAG, fn_tokenize),
    { .name = "SPRINTF",
      .min = 1,
      .max = -1,
      .rule = TYPE_FIXED,
      .result = DATUM_TEXT,
      .call = fn_sprintf,
      .sees_nulls = true },
    { .name = "UniqueID",
      .min = 0,
      .max = 0,
      .rule = TYPE_FIXED,
      .result = DATUM_TEXT,
      .call = fn_unique,
      .random = true },
    { 0 },
};
