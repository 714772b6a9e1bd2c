/* PHP's values; phpvalue.h is the manual. The rules are those of PHP 8. */
#include "web/phpvalue.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PhpValue phpvalue_unknown(void) { return (PhpValue){ .type = PHP_UNKNOWN }; }
PhpValue phpvalue_null(void) { return (PhpValue){ .type = PHP_NULL }; }
PhpValue phpvalue_bool(bool b) { return (PhpValue){ .type = b ? PHP_TRUE : PHP_FALSE }; }
PhpValue phpvalue_int(int64_t i) { return (PhpValue){ .type = PHP_INT, .i = i }; }
PhpValue phpvalue_float(double d) { return (PhpValue){ .type = PHP_FLOAT, .d = d }; }
PhpValue phpvalue_text_z(const char *s) { return phpvalue_text(s, strlen(s)); }
bool phpvalue_is_known(PhpValue v) { return v.type != PHP_UNKNOWN; }

PhpValue phpvalue_text(const char *s, size_t n)
{
    assert(s || n == 0);
    return (PhpValue){ .type = PHP_TEXT, .s = s ? s : "", .n = n };
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The length of the number at s (without blanks); *real: it is no integer. */
static size_t number_length(const char *s, size_t n, bool *real)
{
    size_t i = 0, digits = 0;
    *real = false;
    if (i < n && (s[i] == '+' || s[i] == '-'))
        i++;
    for (; i < n && is_digit(s[i]); i++)
        digits++;
    if (i < n && s[i] == '.' && (digits || (i + 1 < n && is_digit(s[i + 1])))) {
        *real = true;
        for (i++; i < n && is_digit(s[i]); i++)
            digits++;
    }
    if (!digits)
        return 0;
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        size_t j = i + 1;
        if (j < n && (s[j] == '+' || s[j] == '-'))
            j++;
        if (j < n && is_digit(s[j])) {
            *real = true;
            while (j < n && is_digit(s[j]))
                j++;
            i = j;
        }
    }
    return i;
}

/* The number at the beginning of text; *end is how far it was read. */
static PhpValue leading_number(PhpValue v, size_t *end)
{
    assert(v.type == PHP_TEXT);
    size_t from = 0;
    bool real;
    while (from < v.n && is_blank(v.s[from]))
        from++;
    size_t len = number_length(v.s + from, v.n - from, &real);
    *end = len ? from + len : 0;
    if (!len)
        return phpvalue_int(0);
    char room[400];
    if (len >= sizeof room)
        return phpvalue_unknown();
    memcpy(room, v.s + from, len);
    room[len] = '\0';
    errno = 0;
    long long i = strtoll(room, NULL, 10);
    if (!real && errno != ERANGE)
        return phpvalue_int(i);
    return phpvalue_float(strtod(room, NULL));
}

bool phpvalue_numeric(PhpValue v, PhpValue *number)
{
    if (v.type == PHP_INT || v.type == PHP_FLOAT) {
        *number = v;
        return true;
    }
    if (v.type != PHP_TEXT)
        return false;
    size_t end;
    PhpValue x = leading_number(v, &end);
    if (!end || !phpvalue_is_known(x))
        return false;
    while (end < v.n && is_blank(v.s[end]))
        end++;
    *number = x;
    return end == v.n;
}

bool phpvalue_truth(PhpValue v)
{
    switch (v.type) {
    case PHP_TRUE:
    case PHP_ARRAY: return true;
    case PHP_INT: return v.i != 0;
    case PHP_FLOAT: return v.d != 0;
    case PHP_TEXT: return v.n > 1 || (v.n == 1 && v.s[0] != '0');
    default: return false;
    }
}

static int64_t float_to_int(double d)
{
    if (!isfinite(d))
        return 0;
    if (d >= -9223372036854775808.0 && d < 9223372036854775808.0)
        return (int64_t)d;
    double m = fmod(d, 18446744073709551616.0);
    if (m < 0)
        m += 18446744073709551616.0;
    return (int64_t)(uint64_t)m;
}

PhpValue phpvalue_to_int(PhpValue v)
{
    size_t end;
    switch (v.type) {
    case PHP_UNKNOWN: return v;
    case PHP_INT: return v;
    case PHP_FLOAT: return phpvalue_int(float_to_int(v.d));
    case PHP_TEXT: {
        PhpValue x = leading_number(v, &end);
        if (x.type != PHP_FLOAT)
            return x;
        /* Text does not wrap around, it stops at the largest. */
        if (!isfinite(x.d))
            return phpvalue_int(0);
        return phpvalue_int(x.d >= 9223372036854775808.0   ? INT64_MAX
                            : x.d < -9223372036854775808.0 ? INT64_MIN
                                                           : float_to_int(x.d));
    }
    default: return phpvalue_int(phpvalue_truth(v));
    }
}

PhpValue phpvalue_to_float(PhpValue v)
{
    size_t end;
    if (v.type == PHP_UNKNOWN || v.type == PHP_FLOAT)
        return v;
    if (v.type == PHP_TEXT) {
        bool minus = v.n && v.s[0] == '-';
        v = leading_number(v, &end);
        if (v.type == PHP_INT && v.i == 0 && minus && end)
            return phpvalue_float(-0.0);
    }
    v = v.type == PHP_FLOAT ? v : phpvalue_to_int(v);
    return v.type == PHP_INT ? phpvalue_float((double)v.i) : v;
}

/* As PHP prints it, with 14 digits: 1.5, 1.0E+25. */
static char *float_text(Arena *a, double d)
{
    if (d != d)
        return arena_strdup(a, "NAN");
    if (isinf(d))
        return arena_strdup(a, d < 0 ? "-INF" : "INF");
    char *s = arena_printf(a, "%.14G", d);
    char *e = strchr(s, 'E');
    if (!e)
        return s;
    int exponent = atoi(e + 1);
    *e = '\0';
    return arena_printf(a, "%s%sE%+d", s, strchr(s, '.') ? "" : ".0", exponent);
}

PhpValue phpvalue_to_text(Arena *a, PhpValue v)
{
    char *s;
    switch (v.type) {
    case PHP_UNKNOWN:
    case PHP_TEXT: return v;
    case PHP_NULL:
    case PHP_FALSE: return phpvalue_text("", 0);
    case PHP_TRUE: return phpvalue_text("1", 1);
    case PHP_ARRAY: return phpvalue_text("Array", 5);
    case PHP_INT: s = arena_printf(a, "%lld", (long long)v.i); return phpvalue_text_z(s);
    default: return phpvalue_text_z(float_text(a, v.d));
    }
}

/* ---- comparing */

static int sign(double d) { return d < 0 ? -1 : d > 0; }

static int compare_numbers(PhpValue a, PhpValue b)
{
    if (a.type == PHP_INT && b.type == PHP_INT)
        return a.i < b.i ? -1 : a.i > b.i;
    double x = a.type == PHP_INT ? (double)a.i : a.d;
    double y = b.type == PHP_INT ? (double)b.i : b.d;
    if (x != x || y != y)
        return 1;
    return sign(x < y ? -1 : x > y);
}

static int compare_bytes(PhpValue a, PhpValue b)
{
    int c = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);
    if (c)
        return c < 0 ? -1 : 1;
    return a.n < b.n ? -1 : a.n > b.n;
}

static bool is_truth(PhpValue v) { return v.type == PHP_TRUE || v.type == PHP_FALSE; }

/* Digits that are no integer only because there are too many: the sign, else 0. */
static int overflows(PhpValue text, PhpValue number)
{
    if (number.type != PHP_FLOAT || fabs(number.d) < 9e18)
        return 0;
    return memchr(text.s, '.', text.n) || memchr(text.s, 'e', text.n) || memchr(text.s, 'E', text.n)
               ? 0
               : sign(number.d);
}

int phpvalue_compare(PhpValue a, PhpValue b)
{
    assert(phpvalue_is_known(a) && phpvalue_is_known(b));
    PhpValue x, y;
    if (a.type == PHP_NULL && b.type == PHP_TEXT)
        return b.n ? -1 : 0;
    if (b.type == PHP_NULL && a.type == PHP_TEXT)
        return a.n ? 1 : 0;
    if (is_truth(a) || is_truth(b) || a.type == PHP_NULL || b.type == PHP_NULL)
        return (int)phpvalue_truth(a) - (int)phpvalue_truth(b);
    if (a.type == PHP_ARRAY || b.type == PHP_ARRAY)
        return a.type == b.type ? 0 : a.type == PHP_ARRAY ? 1 : -1;
    bool nx = phpvalue_numeric(a, &x), ny = phpvalue_numeric(b, &y);
    if (nx && ny && a.type == PHP_TEXT && b.type == PHP_TEXT && x.type != y.type &&
        overflows(a, x) != overflows(b, y))
        return overflows(a, x) - overflows(b, y);
    if (nx && ny)
        return compare_numbers(x, y);
    Arena room = { 0 };
    int c = compare_bytes(phpvalue_to_text(&room, a), phpvalue_to_text(&room, b));
    arena_release(&room);
    return c;
}

bool phpvalue_equal(PhpValue a, PhpValue b)
{
    if (a.type == PHP_ARRAY && b.type == PHP_ARRAY)
        return false;
    return phpvalue_compare(a, b) == 0;
}

bool phpvalue_same(PhpValue a, PhpValue b)
{
    if (a.type != b.type)
        return false;
    switch (a.type) {
    case PHP_INT: return a.i == b.i;
    case PHP_FLOAT: return a.d == b.d;
    case PHP_TEXT: return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
    default: return a.type != PHP_ARRAY;
    }
}

/* ---- computing */

static bool number_of(PhpValue v, PhpValue *out)
{
    if (v.type == PHP_NULL || is_truth(v)) {
        *out = phpvalue_int(phpvalue_truth(v));
        return true;
    }
    return phpvalue_numeric(v, out);
}

static PhpValue integers(char op, int64_t a, int64_t b)
{
    int64_t r;
    switch (op) {
    case '+':
        return __builtin_add_overflow(a, b, &r) ? phpvalue_float((double)a + (double)b)
                                                : phpvalue_int(r);
    case '-':
        return __builtin_sub_overflow(a, b, &r) ? phpvalue_float((double)a - (double)b)
                                                : phpvalue_int(r);
    case '*':
        return __builtin_mul_overflow(a, b, &r) ? phpvalue_float((double)a * (double)b)
                                                : phpvalue_int(r);
    case '/':
        if (b == 0)
            return phpvalue_unknown();
        if (b == -1 || a % b)
            return b == -1 && a != INT64_MIN ? phpvalue_int(-a)
                                             : phpvalue_float((double)a / (double)b);
        return phpvalue_int(a / b);
    default: return phpvalue_unknown();
    }
}

PhpValue phpvalue_arithmetic(char op, PhpValue a, PhpValue b)
{
    PhpValue x, y;
    if (!phpvalue_is_known(a) || !phpvalue_is_known(b) || !number_of(a, &x) || !number_of(b, &y))
        return phpvalue_unknown();
    if (op == '%') {
        int64_t m = phpvalue_to_int(x).i, n = phpvalue_to_int(y).i;
        return n == 0 ? phpvalue_unknown() : phpvalue_int(n == -1 ? 0 : m % n);
    }
    if (op == '^') {
        double r = pow(phpvalue_to_float(x).d, phpvalue_to_float(y).d);
        bool whole = x.type == PHP_INT && y.type == PHP_INT && y.i >= 0 && fabs(r) < 9e15;
        return whole ? phpvalue_int((int64_t)r) : phpvalue_float(r);
    }
    if (x.type == PHP_INT && y.type == PHP_INT)
        return integers(op, x.i, y.i);
    double d = phpvalue_to_float(x).d, e = phpvalue_to_float(y).d;
    switch (op) {
    case '+': return phpvalue_float(d + e);
    case '-': return phpvalue_float(d - e);
    case '*': return phpvalue_float(d * e);
    default: return e == 0 ? phpvalue_unknown() : phpvalue_float(d / e);
    }
}

PhpValue phpvalue_concat(Arena *a, PhpValue x, PhpValue y)
{
    if (!phpvalue_is_known(x) || !phpvalue_is_known(y))
        return phpvalue_unknown();
    x = phpvalue_to_text(a, x);
    y = phpvalue_to_text(a, y);
    if (x.n + y.n > 16 << 20)          /* nobody sends that in a request */
        return phpvalue_unknown();
    char *s = arena_array(a, char, x.n + y.n + 1);
    memcpy(s, x.s, x.n);
    memcpy(s + x.n, y.s, y.n);
    return phpvalue_text(s, x.n + y.n);
}
