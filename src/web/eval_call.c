/*
 * Functions of PHP's library. Each row: its name, how many arguments it wants
 * at least, and what it computes. All work on bytes, as PHP's own do.
 */
#include "web/eval.h"
#include <ctype.h>
#include <math.h>

static Value text_of(Arena *a, size_t n, char **room)
{
    *room = arena_array(a, char, n + 1);
    return value_text(*room, n);
}

static const char blanks[] = " \t\n\r\v";

/* NUL is trimmed too. */
static bool trimmed(Value set, char c)
{
    return memchr(set.s, c, set.n) || (set.s == blanks && c == '\0');
}

static Value trim(const Value *v, size_t n, bool left, bool right)
{
    Value s = v[0], set = n > 1 ? v[1] : value_text_z(blanks);
    if (s.type != VALUE_TEXT || set.type != VALUE_TEXT || memchr(set.s, '.', set.n))
        return value_unknown();
    while (left && s.n && trimmed(set, s.s[0]))
        s.s++, s.n--;
    while (right && s.n && trimmed(set, s.s[s.n - 1]))
        s.n--;
    return s;
}

static Value f_trim(Arena *a, const Value *v, size_t n) { (void)a; return trim(v, n, true, true); }
static Value f_ltrim(Arena *a, const Value *v, size_t n) { (void)a; return trim(v, n, true, false); }
static Value f_rtrim(Arena *a, const Value *v, size_t n) { (void)a; return trim(v, n, false, true); }

static Value cased(Arena *a, Value v, int (*how)(int), bool first_only)
{
    char *s;
    v = value_to_text(a, v);
    Value r = text_of(a, v.n, &s);
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        s[i] = c < 0x80 && (!first_only || i == 0) ? (char)how(c) : (char)c;
    }
    return r;
}

static Value f_lower(Arena *a, const Value *v, size_t n) { (void)n; return cased(a, v[0], tolower, false); }
static Value f_upper(Arena *a, const Value *v, size_t n) { (void)n; return cased(a, v[0], toupper, false); }
static Value f_ucfirst(Arena *a, const Value *v, size_t n) { (void)n; return cased(a, v[0], toupper, true); }
static Value f_lcfirst(Arena *a, const Value *v, size_t n) { (void)n; return cased(a, v[0], tolower, true); }
static Value f_int(Arena *a, const Value *v, size_t n) { (void)a; return n == 1 ? value_to_int(v[0]) : value_unknown(); }
static Value f_float(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return value_to_float(v[0]); }
static Value f_text(Arena *a, const Value *v, size_t n) { (void)n; return value_to_text(a, v[0]); }
static Value f_bool(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return value_bool(value_truth(v[0])); }

static Value f_numeric(Arena *a, const Value *v, size_t n)
{
    Value x;
    (void)a;
    (void)n;
    return value_bool(value_numeric(v[0], &x));
}

static Value f_strlen(Arena *a, const Value *v, size_t n)
{
    (void)n;
    return value_int((int64_t)value_to_text(a, v[0]).n);
}

static Value all_of(Value v, int (*is)(int))
{
    if (v.type != VALUE_TEXT)
        return value_bool(false);
    for (size_t i = 0; i < v.n; i++)
        if (!is((unsigned char)v.s[i]))
            return value_bool(false);
    return value_bool(v.n > 0);
}

static Value f_digits(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return all_of(v[0], isdigit); }
static Value f_letters(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return all_of(v[0], isalpha); }
static Value f_alnum(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return all_of(v[0], isalnum); }
static Value f_xdigits(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return all_of(v[0], isxdigit); }
static Value f_lowers(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return all_of(v[0], islower); }
static Value f_uppers(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return all_of(v[0], isupper); }

static int64_t find(Value s, Value what, int64_t from, bool any_case, bool last)
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

static Value position(Arena *a, const Value *v, size_t n, bool any_case, bool last)
{
    int64_t from = n > 2 ? value_to_int(v[2]).i : 0;
    int64_t i = find(value_to_text(a, v[0]), value_to_text(a, v[1]), from, any_case, last);
    return i < 0 ? value_bool(false) : value_int(i);
}

static Value f_strpos(Arena *a, const Value *v, size_t n) { return position(a, v, n, false, false); }
static Value f_stripos(Arena *a, const Value *v, size_t n) { return position(a, v, n, true, false); }
static Value f_strrpos(Arena *a, const Value *v, size_t n) { return position(a, v, n, false, true); }

static Value f_strstr(Arena *a, const Value *v, size_t n)
{
    Value s = value_to_text(a, v[0]);
    int64_t i = find(s, value_to_text(a, v[1]), 0, false, false);
    bool before = n > 2 && value_truth(v[2]);
    if (i < 0)
        return value_bool(false);
    return before ? value_text(s.s, (size_t)i) : value_text(s.s + i, s.n - (size_t)i);
}

static Value f_contains(Arena *a, const Value *v, size_t n)
{
    (void)n;
    return value_bool(find(value_to_text(a, v[0]), value_to_text(a, v[1]), 0, false, false) >= 0);
}

static Value f_starts(Arena *a, const Value *v, size_t n)
{
    Value s = value_to_text(a, v[0]), p = value_to_text(a, v[1]);
    (void)n;
    return value_bool(s.n >= p.n && memcmp(s.s, p.s, p.n) == 0);
}

static Value f_ends(Arena *a, const Value *v, size_t n)
{
    Value s = value_to_text(a, v[0]), p = value_to_text(a, v[1]);
    (void)n;
    return value_bool(s.n >= p.n && memcmp(s.s + s.n - p.n, p.s, p.n) == 0);
}

static Value f_substr(Arena *a, const Value *v, size_t n)
{
    Value s = value_to_text(a, v[0]);
    int64_t len = (int64_t)s.n, from = value_to_int(v[1]).i;
    int64_t many = n > 2 && v[2].type != VALUE_NULL ? value_to_int(v[2]).i : len;
    from = from < 0 ? (from + len < 0 ? 0 : from + len) : from;
    if (from > len)
        return value_text("", 0);
    if (many < 0)
        many = len - from + many < 0 ? 0 : len - from + many;
    many = many > len - from ? len - from : many;
    return value_text(s.s + from, (size_t)many);
}

static Value compared(Arena *a, const Value *v, size_t most, bool any_case)
{
    Value x = value_to_text(a, v[0]), y = value_to_text(a, v[1]);
    size_t nx = x.n < most ? x.n : most, ny = y.n < most ? y.n : most;
    size_t n = nx < ny ? nx : ny;
    for (size_t i = 0; i < n; i++) {
        int c = any_case ? tolower((unsigned char)x.s[i]) - tolower((unsigned char)y.s[i])
                         : (unsigned char)x.s[i] - (unsigned char)y.s[i];
        if (c)
            return value_int(c < 0 ? -1 : 1);
    }
    return value_int(nx < ny ? -1 : nx > ny);
}

static Value f_strcmp(Arena *a, const Value *v, size_t n) { (void)n; return compared(a, v, SIZE_MAX, false); }
static Value f_strcasecmp(Arena *a, const Value *v, size_t n) { (void)n; return compared(a, v, SIZE_MAX, true); }
static Value f_strncmp(Arena *a, const Value *v, size_t n) { (void)n; return compared(a, v, (size_t)value_to_int(v[2]).i, false); }
static Value f_strncasecmp(Arena *a, const Value *v, size_t n) { (void)n; return compared(a, v, (size_t)value_to_int(v[2]).i, true); }

/* ---- text into text, byte by byte */

static Value mapped(Arena *a, Value v, const char *(*to)(char))
{
    Str s = {0};
    v = value_to_text(a, v);
    for (size_t i = 0; i < v.n; i++) {
        const char *w = to(v.s[i]);
        if (w)
            str_add(&s, w);
        else
            str_addc(&s, v.s[i]);
    }
    char *copy = arena_array(a, char, s.len + 1);
    memcpy(copy, str_c(&s), s.len);
    Value r = value_text(copy, s.len);
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

static Value f_html(Arena *a, const Value *v, size_t n) { (void)n; return mapped(a, v[0], html); }
static Value f_slashes(Arena *a, const Value *v, size_t n) { (void)n; return mapped(a, v[0], slashed); }
/* mysqli_real_escape_string($connection, $text) */
static Value f_escape(Arena *a, const Value *v, size_t n) { (void)n; return mapped(a, v[1], slashed); }

static Value f_unslashed(Arena *a, const Value *v, size_t n)
{
    char *s;
    Value x = value_to_text(a, v[0]);
    size_t k = 0;
    (void)n;
    text_of(a, x.n, &s);
    for (size_t i = 0; i < x.n; i++) {
        if (x.s[i] == '\\' && ++i >= x.n)
            break;
        s[k++] = x.s[i];
    }
    return value_text(s, k);
}

static Value f_urldecode(Arena *a, const Value *v, size_t n)
{
    Value x = value_to_text(a, v[0]);
    size_t len;
    (void)n;
    char *s = url_decode(x.s, x.n, &len);
    char *copy = arena_array(a, char, len + 1);
    memcpy(copy, s, len);
    free(s);
    return value_text(copy, len);
}

static Value f_replace(Arena *a, const Value *v, size_t n)
{
    Value from = value_to_text(a, v[0]), to = value_to_text(a, v[1]), s = value_to_text(a, v[2]);
    if (v[0].type == VALUE_ARRAY || v[1].type == VALUE_ARRAY || !from.n || n > 3)
        return value_unknown();
    Str out = {0};
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
    Value r = value_text(copy, out.len);
    str_release(&out);
    return r;
}

static Value f_repeat(Arena *a, const Value *v, size_t n)
{
    Value s = value_to_text(a, v[0]);
    int64_t times = value_to_int(v[1]).i;
    char *room;
    (void)n;
    if (times < 0 || (uint64_t)times * s.n > 1 << 20)
        return value_unknown();
    Value r = text_of(a, s.n * (size_t)times, &room);
    for (int64_t i = 0; i < times; i++)
        memcpy(room + (size_t)i * s.n, s.s, s.n);
    return r;
}

static Value f_reverse(Arena *a, const Value *v, size_t n)
{
    Value s = value_to_text(a, v[0]);
    char *room;
    Value r = text_of(a, s.n, &room);
    (void)n;
    for (size_t i = 0; i < s.n; i++)
        room[i] = s.s[s.n - 1 - i];
    return r;
}

static Value f_abs(Arena *a, const Value *v, size_t n)
{
    Value x;
    (void)a;
    (void)n;
    if (!value_numeric(v[0], &x))
        return value_unknown();
    return x.type == VALUE_INT ? value_int(x.i < 0 ? -x.i : x.i) : value_float(fabs(x.d));
}

static Value f_ord(Arena *a, const Value *v, size_t n)
{
    Value s = value_to_text(a, v[0]);
    (void)n;
    return value_int(s.n ? (unsigned char)s.s[0] : 0);
}

static Value most(const Value *v, size_t n, int wanted)
{
    Value best = v[0];
    for (size_t i = 1; i < n; i++)
        if (value_compare(v[i], best) == wanted)
            best = v[i];
    return n > 1 ? best : value_unknown();
}

static Value f_max(Arena *a, const Value *v, size_t n) { (void)a; return most(v, n, 1); }
static Value f_min(Arena *a, const Value *v, size_t n) { (void)a; return most(v, n, -1); }

static Value f_equals(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return value_bool(value_same(v[0], v[1])); }
static Value f_is_array(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return value_bool(v[0].type == VALUE_ARRAY); }
static Value f_is_string(Arena *a, const Value *v, size_t n) { (void)a; (void)n; return value_bool(v[0].type == VALUE_TEXT); }

static const struct row {
    const char *name;
    size_t least;
    Value (*compute)(Arena *a, const Value *v, size_t n);
} rows[] = {
    { "trim", 1, f_trim }, { "ltrim", 1, f_ltrim }, { "rtrim", 1, f_rtrim }, { "chop", 1, f_rtrim },
    { "strtolower", 1, f_lower }, { "mb_strtolower", 1, f_lower },
    { "strtoupper", 1, f_upper }, { "mb_strtoupper", 1, f_upper },
    { "ucfirst", 1, f_ucfirst }, { "lcfirst", 1, f_lcfirst },
    { "intval", 1, f_int }, { "floatval", 1, f_float }, { "doubleval", 1, f_float },
    { "strval", 1, f_text }, { "boolval", 1, f_bool },
    { "is_numeric", 1, f_numeric }, { "strlen", 1, f_strlen }, { "mb_strlen", 1, f_strlen },
    { "ctype_digit", 1, f_digits }, { "ctype_alpha", 1, f_letters }, { "ctype_alnum", 1, f_alnum },
    { "ctype_xdigit", 1, f_xdigits }, { "ctype_lower", 1, f_lowers }, { "ctype_upper", 1, f_uppers },
    { "strpos", 2, f_strpos }, { "stripos", 2, f_stripos }, { "strrpos", 2, f_strrpos },
    { "mb_strpos", 2, f_strpos }, { "strstr", 2, f_strstr }, { "str_contains", 2, f_contains },
    { "str_starts_with", 2, f_starts }, { "str_ends_with", 2, f_ends },
    { "substr", 2, f_substr }, { "mb_substr", 2, f_substr },
    { "strcmp", 2, f_strcmp }, { "strcasecmp", 2, f_strcasecmp }, { "strncmp", 3, f_strncmp },
    { "strncasecmp", 3, f_strncasecmp }, { "hash_equals", 2, f_equals },
    { "htmlspecialchars", 1, f_html }, { "htmlentities", 1, f_html },
    { "addslashes", 1, f_slashes }, { "mysqli_real_escape_string", 2, f_escape },
    { "stripslashes", 1, f_unslashed }, { "urldecode", 1, f_urldecode },
    { "rawurldecode", 1, f_urldecode }, { "str_replace", 3, f_replace },
    { "str_repeat", 2, f_repeat }, { "strrev", 1, f_reverse }, { "abs", 1, f_abs }, { "ord", 1, f_ord },
    { "max", 2, f_max }, { "min", 2, f_min }, { "is_scalar", 1, f_is_string },
    { "is_string", 1, f_is_string }, { "is_array", 1, f_is_array },
};

static const struct row *row_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool eval_knows(const char *name) { return row_of(name) != NULL; }

Value eval_call(Arena *a, const char *name, const Value *args, size_t n)
{
    const struct row *r = row_of(name);
    if (!r || n < r->least)
        return value_unknown();
    for (size_t i = strcmp(name, "mysqli_real_escape_string") == 0; i < n; i++)
        if (!value_is_known(args[i]))
            return value_unknown();
    return r->compute(a, args, n);
}
