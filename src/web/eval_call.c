/*
 * Functions of PHP's library. Each row: its name, how many arguments it wants
 * at least, and what it computes. All work on bytes, as PHP's own do.
 */
#include "web/eval.h"
#include <ctype.h>
#include <math.h>

static PhpValue text_of(Arena *a, size_t n, char **room)
{
    *room = arena_array(a, char, n + 1);
    return phpvalue_text(*room, n);
}

static const char blanks[] = " \t\n\r\v";

/* NUL is trimmed too. */
static bool trimmed(PhpValue set, char c)
{
    return memchr(set.s, c, set.n) || (set.s == blanks && c == '\0');
}

static PhpValue trim(const PhpValue *v, size_t n, bool left, bool right)
{
    PhpValue s = v[0], set = n > 1 ? v[1] : phpvalue_text_z(blanks);
    if (s.type != PHP_TEXT || set.type != PHP_TEXT || memchr(set.s, '.', set.n))
        return phpvalue_unknown();
    while (left && s.n && trimmed(set, s.s[0]))
        s.s++, s.n--;
    while (right && s.n && trimmed(set, s.s[s.n - 1]))
        s.n--;
    return s;
}

static PhpValue f_trim(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    return trim(v, n, true, true);
}
static PhpValue f_ltrim(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    return trim(v, n, true, false);
}
static PhpValue f_rtrim(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    return trim(v, n, false, true);
}

static PhpValue cased(Arena *a, PhpValue v, int (*how)(int), bool first_only)
{
    char *s;
    v = phpvalue_to_text(a, v);
    PhpValue r = text_of(a, v.n, &s);
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        s[i] = c < 0x80 && (!first_only || i == 0) ? (char)how(c) : (char)c;
    }
    return r;
}

static PhpValue f_lower(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return cased(a, v[0], tolower, false);
}
static PhpValue f_upper(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return cased(a, v[0], toupper, false);
}
static PhpValue f_ucfirst(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return cased(a, v[0], toupper, true);
}
static PhpValue f_lcfirst(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return cased(a, v[0], tolower, true);
}
static PhpValue f_int(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    return n == 1 ? phpvalue_to_int(v[0]) : phpvalue_unknown();
}
static PhpValue f_float(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return phpvalue_to_float(v[0]);
}
static PhpValue f_text(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return phpvalue_to_text(a, v[0]);
}
static PhpValue f_bool(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return phpvalue_bool(phpvalue_truth(v[0]));
}

static PhpValue f_numeric(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue x;
    (void)a;
    (void)n;
    return phpvalue_bool(phpvalue_numeric(v[0], &x));
}

static PhpValue f_strlen(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return phpvalue_int((int64_t)phpvalue_to_text(a, v[0]).n);
}

static PhpValue all_of(PhpValue v, int (*is)(int))
{
    if (v.type != PHP_TEXT)
        return phpvalue_bool(false);
    for (size_t i = 0; i < v.n; i++)
        if (!is((unsigned char)v.s[i]))
            return phpvalue_bool(false);
    return phpvalue_bool(v.n > 0);
}

static PhpValue f_digits(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return all_of(v[0], isdigit);
}
static PhpValue f_letters(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return all_of(v[0], isalpha);
}
static PhpValue f_alnum(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return all_of(v[0], isalnum);
}
static PhpValue f_xdigits(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return all_of(v[0], isxdigit);
}
static PhpValue f_lowers(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return all_of(v[0], islower);
}
static PhpValue f_uppers(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return all_of(v[0], isupper);
}

static int64_t find(PhpValue s, PhpValue what, int64_t from, bool any_case, bool last)
{
    if (from < 0)
        from += (int64_t)s.n;
    int64_t found = -1;
    for (int64_t i = from; i >= 0 && (size_t)i + what.n <= s.n; i++) {
        bool is = any_case ? strncasecmp(s.s + i, what.s, what.n) == 0
                           : memcmp(s.s + i, what.s, what.n) == 0;
        if (is && !last)
            return i;
        found = is ? i : found;
    }
    return found;
}

static PhpValue position(Arena *a, const PhpValue *v, size_t n, bool any_case, bool last)
{
    int64_t from = n > 2 ? phpvalue_to_int(v[2]).i : 0;
    int64_t i = find(phpvalue_to_text(a, v[0]), phpvalue_to_text(a, v[1]), from, any_case, last);
    return i < 0 ? phpvalue_bool(false) : phpvalue_int(i);
}

static PhpValue f_strpos(Arena *a, const PhpValue *v, size_t n)
{
    return position(a, v, n, false, false);
}
static PhpValue f_stripos(Arena *a, const PhpValue *v, size_t n)
{
    return position(a, v, n, true, false);
}
static PhpValue f_strrpos(Arena *a, const PhpValue *v, size_t n)
{
    return position(a, v, n, false, true);
}

static PhpValue f_strstr(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue s = phpvalue_to_text(a, v[0]);
    int64_t i = find(s, phpvalue_to_text(a, v[1]), 0, false, false);
    bool before = n > 2 && phpvalue_truth(v[2]);
    if (i < 0)
        return phpvalue_bool(false);
    return before ? phpvalue_text(s.s, (size_t)i) : phpvalue_text(s.s + i, s.n - (size_t)i);
}

static PhpValue f_contains(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return phpvalue_bool(
        find(phpvalue_to_text(a, v[0]), phpvalue_to_text(a, v[1]), 0, false, false) >= 0);
}

static PhpValue f_starts(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue s = phpvalue_to_text(a, v[0]), p = phpvalue_to_text(a, v[1]);
    (void)n;
    return phpvalue_bool(s.n >= p.n && memcmp(s.s, p.s, p.n) == 0);
}

static PhpValue f_ends(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue s = phpvalue_to_text(a, v[0]), p = phpvalue_to_text(a, v[1]);
    (void)n;
    return phpvalue_bool(s.n >= p.n && memcmp(s.s + s.n - p.n, p.s, p.n) == 0);
}

static PhpValue f_substr(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue s = phpvalue_to_text(a, v[0]);
    int64_t len = (int64_t)s.n, from = phpvalue_to_int(v[1]).i;
    int64_t many = n > 2 && v[2].type != PHP_NULL ? phpvalue_to_int(v[2]).i : len;
    from = from < 0 ? (from + len < 0 ? 0 : from + len) : from;
    if (from > len)
        return phpvalue_text("", 0);
    if (many < 0)
        many = len - from + many < 0 ? 0 : len - from + many;
    many = many > len - from ? len - from : many;
    return phpvalue_text(s.s + from, (size_t)many);
}

static PhpValue compared(Arena *a, const PhpValue *v, size_t most, bool any_case)
{
    PhpValue x = phpvalue_to_text(a, v[0]), y = phpvalue_to_text(a, v[1]);
    size_t nx = x.n < most ? x.n : most, ny = y.n < most ? y.n : most;
    size_t n = nx < ny ? nx : ny;
    for (size_t i = 0; i < n; i++) {
        int c = any_case ? tolower((unsigned char)x.s[i]) - tolower((unsigned char)y.s[i])
                         : (unsigned char)x.s[i] - (unsigned char)y.s[i];
        if (c)
            return phpvalue_int(c < 0 ? -1 : 1);
    }
    return phpvalue_int(nx < ny ? -1 : nx > ny);
}

static PhpValue f_strcmp(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return compared(a, v, SIZE_MAX, false);
}
static PhpValue f_strcasecmp(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return compared(a, v, SIZE_MAX, true);
}
static PhpValue f_strncmp(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return compared(a, v, (size_t)phpvalue_to_int(v[2]).i, false);
}
static PhpValue f_strncasecmp(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return compared(a, v, (size_t)phpvalue_to_int(v[2]).i, true);
}

/* ---- text into text, byte by byte */

static PhpValue mapped(Arena *a, PhpValue v, const char *(*to)(char))
{
    Str s = { 0 };
    v = phpvalue_to_text(a, v);
    for (size_t i = 0; i < v.n; i++) {
        const char *w = to(v.s[i]);
        if (w)
            str_add(&s, w);
        else
            str_addc(&s, v.s[i]);
    }
    char *copy = arena_array(a, char, s.len + 1);
    memcpy(copy, str_c(&s), s.len);
    PhpValue r = phpvalue_text(copy, s.len);
    str_release(&s);
    return r;
}

static const char *html(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#039;";
    default: return NULL;
    }
}

static const char *slashed(char c)
{
    switch (c) {
    case '\\': return "\\\\";
    case '"': return "\\\"";
    case '\'': return "\\'";
    default: return NULL;
    }
}

static PhpValue f_html(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return mapped(a, v[0], html);
}
static PhpValue f_slashes(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return mapped(a, v[0], slashed);
}
/* mysqli_real_escape_string($connection, $text) */
static PhpValue f_escape(Arena *a, const PhpValue *v, size_t n)
{
    (void)n;
    return mapped(a, v[1], slashed);
}

static PhpValue f_unslashed(Arena *a, const PhpValue *v, size_t n)
{
    char *s;
    PhpValue x = phpvalue_to_text(a, v[0]);
    size_t k = 0;
    (void)n;
    text_of(a, x.n, &s);
    for (size_t i = 0; i < x.n; i++) {
        if (x.s[i] == '\\' && ++i >= x.n)
            break;
        s[k++] = x.s[i];
    }
    return phpvalue_text(s, k);
}

static PhpValue f_urldecode(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue x = phpvalue_to_text(a, v[0]);
    size_t len;
    (void)n;
    char *s = url_decode(x.s, x.n, &len);
    char *copy = arena_array(a, char, len + 1);
    memcpy(copy, s, len);
    free(s);
    return phpvalue_text(copy, len);
}

static PhpValue f_replace(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue from = phpvalue_to_text(a, v[0]), to = phpvalue_to_text(a, v[1]),
             s = phpvalue_to_text(a, v[2]);
    if (v[0].type == PHP_ARRAY || v[1].type == PHP_ARRAY || !from.n || n > 3)
        return phpvalue_unknown();
    Str out = { 0 };
    for (size_t i = 0; i < s.n;) {
        if (i + from.n <= s.n && memcmp(s.s + i, from.s, from.n) == 0) {
            str_addn(&out, to.s, to.n);
            i += from.n;
        } else {
            str_addc(&out, s.s[i++]);
        }
    }
    char *copy = arena_array(a, char, out.len + 1);
    memcpy(copy, str_c(&out), out.len);
    PhpValue r = phpvalue_text(copy, out.len);
    str_release(&out);
    return r;
}

static PhpValue f_repeat(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue s = phpvalue_to_text(a, v[0]);
    int64_t times = phpvalue_to_int(v[1]).i;
    char *room;
    (void)n;
    if (times < 0 || (uint64_t)times * s.n > 1 << 20)
        return phpvalue_unknown();
    PhpValue r = text_of(a, s.n * (size_t)times, &room);
    for (int64_t i = 0; i < times; i++)
        memcpy(room + (size_t)i * s.n, s.s, s.n);
    return r;
}

static PhpValue f_reverse(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue s = phpvalue_to_text(a, v[0]);
    char *room;
    PhpValue r = text_of(a, s.n, &room);
    (void)n;
    for (size_t i = 0; i < s.n; i++)
        room[i] = s.s[s.n - 1 - i];
    return r;
}

static PhpValue f_abs(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue x;
    (void)a;
    (void)n;
    if (!phpvalue_numeric(v[0], &x))
        return phpvalue_unknown();
    return x.type == PHP_INT ? phpvalue_int(x.i < 0 ? -x.i : x.i) : phpvalue_float(fabs(x.d));
}

static PhpValue f_ord(Arena *a, const PhpValue *v, size_t n)
{
    PhpValue s = phpvalue_to_text(a, v[0]);
    (void)n;
    return phpvalue_int(s.n ? (unsigned char)s.s[0] : 0);
}

static PhpValue most(const PhpValue *v, size_t n, int wanted)
{
    PhpValue best = v[0];
    for (size_t i = 1; i < n; i++)
        if (phpvalue_compare(v[i], best) == wanted)
            best = v[i];
    return n > 1 ? best : phpvalue_unknown();
}

static PhpValue f_max(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    return most(v, n, 1);
}
static PhpValue f_min(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    return most(v, n, -1);
}

static PhpValue f_equals(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return phpvalue_bool(phpvalue_same(v[0], v[1]));
}
static PhpValue f_is_array(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return phpvalue_bool(v[0].type == PHP_ARRAY);
}
static PhpValue f_is_string(Arena *a, const PhpValue *v, size_t n)
{
    (void)a;
    (void)n;
    return phpvalue_bool(v[0].type == PHP_TEXT);
}

static const struct row {
    const char *name;
    size_t least;
    PhpValue (*compute)(Arena *a, const PhpValue *v, size_t n);
} rows[] = {
    { "trim", 1, f_trim },
    { "ltrim", 1, f_ltrim },
    { "rtrim", 1, f_rtrim },
    { "chop", 1, f_rtrim },
    { "strtolower", 1, f_lower },
    { "mb_strtolower", 1, f_lower },
    { "strtoupper", 1, f_upper },
    { "mb_strtoupper", 1, f_upper },
    { "ucfirst", 1, f_ucfirst },
    { "lcfirst", 1, f_lcfirst },
    { "intval", 1, f_int },
    { "floatval", 1, f_float },
    { "doubleval", 1, f_float },
    { "strval", 1, f_text },
    { "boolval", 1, f_bool },
    { "is_numeric", 1, f_numeric },
    { "strlen", 1, f_strlen },
    { "mb_strlen", 1, f_strlen },
    { "ctype_digit", 1, f_digits },
    { "ctype_alpha", 1, f_letters },
    { "ctype_alnum", 1, f_alnum },
    { "ctype_xdigit", 1, f_xdigits },
    { "ctype_lower", 1, f_lowers },
    { "ctype_upper", 1, f_uppers },
    { "strpos", 2, f_strpos },
    { "stripos", 2, f_stripos },
    { "strrpos", 2, f_strrpos },
    { "mb_strpos", 2, f_strpos },
    { "strstr", 2, f_strstr },
    { "str_contains", 2, f_contains },
    { "str_starts_with", 2, f_starts },
    { "str_ends_with", 2, f_ends },
    { "substr", 2, f_substr },
    { "mb_substr", 2, f_substr },
    { "strcmp", 2, f_strcmp },
    { "strcasecmp", 2, f_strcasecmp },
    { "strncmp", 3, f_strncmp },
    { "strncasecmp", 3, f_strncasecmp },
    { "hash_equals", 2, f_equals },
    { "htmlspecialchars", 1, f_html },
    { "htmlentities", 1, f_html },
    { "addslashes", 1, f_slashes },
    { "mysqli_real_escape_string", 2, f_escape },
    { "stripslashes", 1, f_unslashed },
    { "urldecode", 1, f_urldecode },
    { "rawurldecode", 1, f_urldecode },
    { "str_replace", 3, f_replace },
    { "str_repeat", 2, f_repeat },
    { "strrev", 1, f_reverse },
    { "abs", 1, f_abs },
    { "ord", 1, f_ord },
    { "max", 2, f_max },
    { "min", 2, f_min },
    { "is_scalar", 1, f_is_string },
    { "is_string", 1, f_is_string },
    { "is_array", 1, f_is_array },
};

static const struct row *row_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool eval_knows(const char *name) { return row_of(name) != NULL; }

PhpValue eval_call(Arena *a, const char *name, const PhpValue *args, size_t n)
{
    const struct row *r = row_of(name);
    if (!r || n < r->least)
        return phpvalue_unknown();
    for (size_t i = strcmp(name, "mysqli_real_escape_string") == 0; i < n; i++)
        if (!phpvalue_is_known(args[i]))
            return phpvalue_unknown();
    return r->compute(a, args, n);
}
