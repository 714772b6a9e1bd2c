/* PHP's values; value.h is the manual. The rules are those of PHP 8. */
#include "web/value.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Value value_unknown(void) { return (Value){ .type = VALUE_UNKNOWN }; }
Value value_null(void) { return (Value){ .type = VALUE_NULL }; }
Value value_bool(bool b) { return (Value){ .type = b ? VALUE_TRUE : VALUE_FALSE }; }
Value value_int(int64_t i) { return (Value){ .type = VALUE_INT, .i = i }; }
Value value_float(double d) { return (Value){ .type = VALUE_FLOAT, .d = d }; }
Value value_text_z(const char *s) { return value_text(s, strlen(s)); }
bool value_is_known(Value v) { return v.type != VALUE_UNKNOWN; }

Value value_text(const char *s, size_t n)
{
    assert(s || n == 0);
    return (Value){ .type = VALUE_TEXT, .s = s ? s : "", .n = n };
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
static Value leading_number(Value v, size_t *end)
{
    assert(v.type == VALUE_TEXT);
    size_t from = 0;
    bool real;
    while (from < v.n && is_blank(v.s[from]))
        from++;
    size_t len = number_length(v.s + from, v.n - from, &real);
    *end = len ? from + len : 0;
    if (!len)
        return value_int(0);
    char room[400];
    if (len >= sizeof room)
        return value_unknown();
    memcpy(room, v.s + from, len);
    room[len] = '\0';
    errno = 0;
    long long i = strtoll(room, NULL, 10);
    if (!real && errno != ERANGE)
        return value_int(i);
    return value_float(strtod(room, NULL));
}

bool value_numeric(Value v, Value *number)
{
    if (v.type == VALUE_INT || v.type == VALUE_FLOAT) {
        *number = v;
        return true;
    }
    if (v.type != VALUE_TEXT)
        return false;
    size_t end;
    Value x = leading_number(v, &end);
    if (!end || !value_is_known(x))
        return false;
    while (end < v.n && is_blank(v.s[end]))
        end++;
    *number = x;
    return end == v.n;
}

bool value_truth(Value v)
{
    switch (v.type) {
    case VALUE_TRUE: case VALUE_ARRAY: return true;
    case VALUE_INT: return v.i != 0;
    case VALUE_FLOAT: return v.d != 0;
    case VALUE_TEXT: return v.n > 1 || (v.n == 1 && v.s[0] != '0');
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

Value value_to_int(Value v)
{
    size_t end;
    switch (v.type) {
    case VALUE_UNKNOWN: return v;
    case VALUE_INT: return v;
    case VALUE_FLOAT: return value_int(float_to_int(v.d));
    case VALUE_TEXT: {
        Value x = leading_number(v, &end);
        return x.type == VALUE_FLOAT ? value_int(float_to_int(x.d)) : x;
    }
    default: return value_int(value_truth(v));
    }
}

Value value_to_float(Value v)
{
    size_t end;
    if (v.type == VALUE_UNKNOWN || v.type == VALUE_FLOAT)
        return v;
    if (v.type == VALUE_TEXT)
        v = leading_number(v, &end);
    v = v.type == VALUE_FLOAT ? v : value_to_int(v);
    return v.type == VALUE_INT ? value_float((double)v.i) : v;
}

Value value_to_text(Arena *a, Value v)
{
    char *s;
    switch (v.type) {
    case VALUE_UNKNOWN: case VALUE_TEXT: return v;
    case VALUE_NULL: case VALUE_FALSE: return value_text("", 0);
    case VALUE_TRUE: return value_text("1", 1);
    case VALUE_ARRAY: return value_text("Array", 5);
    case VALUE_INT:
        s = arena_printf(a, "%lld", (long long)v.i);
        return value_text_z(s);
    default:
        if (v.d == floor(v.d) && fabs(v.d) < 1e15)
            s = arena_printf(a, "%.0f", v.d);
        else
            s = arena_printf(a, "%.14G", v.d);
        return value_text_z(s);
    }
}

/* ---- comparing */

static int sign(double d) { return d < 0 ? -1 : d > 0; }

static int compare_numbers(Value a, Value b)
{
    if (a.type == VALUE_INT && b.type == VALUE_INT)
        return a.i < b.i ? -1 : a.i > b.i;
    double x = a.type == VALUE_INT ? (double)a.i : a.d;
    double y = b.type == VALUE_INT ? (double)b.i : b.d;
    if (x != x || y != y)
        return 1;
    return sign(x < y ? -1 : x > y);
}

static int compare_bytes(Value a, Value b)
{
    int c = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);
    if (c)
        return c < 0 ? -1 : 1;
    return a.n < b.n ? -1 : a.n > b.n;
}

static bool is_truth(Value v) { return v.type == VALUE_TRUE || v.type == VALUE_FALSE; }

int value_compare(Value a, Value b)
{
    assert(value_is_known(a) && value_is_known(b));
    Value x, y;
    if (a.type == VALUE_NULL && b.type == VALUE_TEXT)
        return b.n ? -1 : 0;
    if (b.type == VALUE_NULL && a.type == VALUE_TEXT)
        return a.n ? 1 : 0;
    if (is_truth(a) || is_truth(b) || a.type == VALUE_NULL || b.type == VALUE_NULL)
        return (int)value_truth(a) - (int)value_truth(b);
    if (a.type == VALUE_ARRAY || b.type == VALUE_ARRAY)
        return a.type == b.type ? 0 : a.type == VALUE_ARRAY ? 1 : -1;
    bool nx = value_numeric(a, &x), ny = value_numeric(b, &y);
    if (nx && ny)
        return compare_numbers(x, y);
    Arena room = {0};
    int c = compare_bytes(value_to_text(&room, a), value_to_text(&room, b));
    arena_release(&room);
    return c;
}

bool value_equal(Value a, Value b)
{
    if (a.type == VALUE_ARRAY && b.type == VALUE_ARRAY)
        return false;
    return value_compare(a, b) == 0;
}

bool value_same(Value a, Value b)
{
    if (a.type != b.type)
        return false;
    switch (a.type) {
    case VALUE_INT: return a.i == b.i;
    case VALUE_FLOAT: return a.d == b.d;
    case VALUE_TEXT: return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
    default: return a.type != VALUE_ARRAY;
    }
}

/* ---- computing */

static bool number_of(Value v, Value *out)
{
    if (v.type == VALUE_NULL || is_truth(v)) {
        *out = value_int(value_truth(v));
        return true;
    }
    return value_numeric(v, out);
}

static Value integers(char op, int64_t a, int64_t b)
{
    int64_t r;
    switch (op) {
    case '+': return __builtin_add_overflow(a, b, &r) ? value_float((double)a + (double)b) : value_int(r);
    case '-': return __builtin_sub_overflow(a, b, &r) ? value_float((double)a - (double)b) : value_int(r);
    case '*': return __builtin_mul_overflow(a, b, &r) ? value_float((double)a * (double)b) : value_int(r);
    case '/':
        if (b == 0)
            return value_unknown();
        if (b == -1 || a % b)
            return b == -1 && a != INT64_MIN ? value_int(-a) : value_float((double)a / (double)b);
        return value_int(a / b);
    default: return value_unknown();
    }
}

Value value_arithmetic(char op, Value a, Value b)
{
    Value x, y;
    if (!value_is_known(a) || !value_is_known(b) || !number_of(a, &x) || !number_of(b, &y))
        return value_unknown();
    if (op == '%') {
        int64_t m = value_to_int(x).i, n = value_to_int(y).i;
        return n == 0 ? value_unknown() : value_int(n == -1 ? 0 : m % n);
    }
    if (op == '^') {
        double r = pow(value_to_float(x).d, value_to_float(y).d);
        bool whole = x.type == VALUE_INT && y.type == VALUE_INT && y.i >= 0 && fabs(r) < 9e15;
        return whole ? value_int((int64_t)r) : value_float(r);
    }
    if (x.type == VALUE_INT && y.type == VALUE_INT)
        return integers(op, x.i, y.i);
    double d = value_to_float(x).d, e = value_to_float(y).d;
    switch (op) {
    case '+': return value_float(d + e);
    case '-': return value_float(d - e);
    case '*': return value_float(d * e);
    default: return e == 0 ? value_unknown() : value_float(d / e);
    }
}

Value value_concat(Arena *a, Value x, Value y)
{
    if (!value_is_known(x) || !value_is_known(y))
        return value_unknown();
    x = value_to_text(a, x);
    y = value_to_text(a, y);
    char *s = arena_array(a, char, x.n + y.n + 1);
    memcpy(s, x.s, x.n);
    memcpy(s + x.n, y.s, y.n);
    return value_text(s, x.n + y.n);
}
