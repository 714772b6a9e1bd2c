/* ato…, strto… of integers, abs and kin. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* How many digits never overflow 64 bits. */
static unsigned safe_digits(int base) { return base <= 10 ? 19 : base <= 16 ? 15 : 12; }

/* A branch a character: where a number ends is known in each path. */
unsigned long long sundew_parse_integer(const char *s, char **end, int base, size_t limit,
                                        int *negative, int *too_big)
{
    const char *p = s, *stop = s + limit;
    if (limit > SIZE_MAX / 2)
        stop = (const char *)UINTPTR_MAX;
    *negative = *too_big = 0;
    *end = (char *)s;
    while (p < stop && is_space((unsigned char)*p))
        p++;
    if (p < stop && (*p == '-' || *p == '+'))
        *negative = *p++ == '-';
    if ((base == 0 || base == 16) && p + 2 < stop && *p == '0' && (p[1] | 32) == 'x' &&
        digit((unsigned char)p[2]) < 16) {
        p += 2;
        base = 16;
    } else if (base == 0) {
        base = p < stop && *p == '0' ? 8 : 10;
    }
    unsigned long long v = 0, cutoff = ULLONG_MAX / (unsigned)base;
    unsigned n = 0, safe = safe_digits(base), last = (unsigned)(ULLONG_MAX % (unsigned)base);
    for (; p < stop; p++, n++) {
        unsigned d = digit((unsigned char)*p);
        if (d >= (unsigned)base)
            break;
        *end = (char *)p + 1;
        if (n >= safe && (v > cutoff || (v == cutoff && d > last)))
            *too_big = 1;
        else
            v = v * (unsigned)base + d;
    }
    return v;
}

/* Decimal, and where it ends is of no interest: digits as one value, so that a solver may choose
 * how many there are. Only what fits into 18 digits. */
static int short_decimal(const char *s, long long *out)
{
    size_t n = strlen(s), there = readable(s, n + 1, CHAIN);
    const char *p = s, *stop = s + there;
    while (p < stop && is_space((unsigned char)*p))
        p++;
    const char *first = p;
    unsigned sign = p < stop && ((*p == '-') | (*p == '+'));
    if (stop - p > 18) {
        const char *q = p;
        if (sign)
            q++;
        while (q < stop && (unsigned)(unsigned char)*q - '0' < 10u)
            q++;
        if (q - p >= 18)
            return 0;
        stop = p + 18;
    }
    unsigned long long v = 0;
    unsigned going = 1;
    for (; p < stop; p++) {
        unsigned d = (unsigned char)*p - '0';
        v = (going & (d < 10)) ? v * 10 + d : v;
        going &= (d < 10) | (p == first ? sign : 0);
    }
    *out = first < stop && *first == '-' ? (long long)-v : (long long)v;
    return 1;
}

static int concrete(const char *s)
{
    return !sundew_alive || !sundew_is_symbolic(s, strlen(s) + 1);
}

static int bad_base(int base)
{
    if (base == 0 || (base >= 2 && base <= 36))
        return 0;
    errno = EINVAL;
    return 1;
}

/* The result for a signed type of 64 bits. */
static long long signed_value(const char *s, char **end, int base)
{
    long long small;
    if (!end && base == 10 && short_decimal(s, &small)) {
        sundew_number(&small, s, 0, SUNDEW_NUMBER_SIGNED, 10);
        return small;
    }
    char *stop;
    int negative, too_big;
    unsigned long long v = sundew_parse_integer(s, &stop, base, SIZE_MAX, &negative, &too_big);
    if (end)
        *end = stop;
    unsigned long long most = (unsigned long long)LLONG_MAX + (unsigned)negative;
    if (too_big || v > most) {
        errno = ERANGE;
        return negative ? LLONG_MIN : LLONG_MAX;
    }
    small = (long long)(negative ? -v : v);
    sundew_number(&small, s, (uint64_t)(stop - s), SUNDEW_NUMBER_SIGNED, (unsigned)base);
    return small;
}

static unsigned long long unsigned_value(const char *s, char **end, int base)
{
    long long small;
    if (!end && base == 10 && short_decimal(s, &small)) {
        sundew_number(&small, s, 0, SUNDEW_NUMBER_UNSIGNED, 10);
        return (unsigned long long)small;
    }
    char *stop;
    int negative, too_big;
    unsigned long long v = sundew_parse_integer(s, &stop, base, SIZE_MAX, &negative, &too_big);
    if (end)
        *end = stop;
    if (too_big) {
        errno = ERANGE;
        return ULLONG_MAX;
    }
    v = negative ? -v : v;
    sundew_number(&v, s, (uint64_t)(stop - s), SUNDEW_NUMBER_UNSIGNED, (unsigned)base);
    return v;
}

long sundew_standin_strtol(const char *s, char **end, int base)
{
    if (concrete(s))
        return strtol(s, end, base);
    return bad_base(base) ? 0 : (long)signed_value(s, end, base);
}

long long sundew_standin_strtoll(const char *s, char **end, int base)
{
    return sundew_standin_strtol(s, end, base);
}

unsigned long sundew_standin_strtoul(const char *s, char **end, int base)
{
    if (concrete(s))
        return strtoul(s, end, base);
    return bad_base(base) ? 0 : (unsigned long)unsigned_value(s, end, base);
}

unsigned long long sundew_standin_strtoull(const char *s, char **end, int base)
{
    return sundew_standin_strtoul(s, end, base);
}

int sundew_standin_atoi(const char *s)
{
    return (int)(concrete(s) ? strtol(s, NULL, 10) : signed_value(s, NULL, 10));
}

long sundew_standin_atol(const char *s)
{
    return (long)(concrete(s) ? strtol(s, NULL, 10) : signed_value(s, NULL, 10));
}

long long sundew_standin_atoll(const char *s) { return sundew_standin_atol(s); }

int sundew_standin_abs(int v) { return v < 0 ? (int)-(unsigned)v : v; }

long sundew_standin_labs(long v) { return v < 0 ? (long)-(unsigned long)v : v; }

long long sundew_standin_llabs(long long v)
{
    return v < 0 ? (long long)-(unsigned long long)v : v;
}

div_t sundew_standin_div(int a, int b) { return (div_t){ a / b, a % b }; }

ldiv_t sundew_standin_ldiv(long a, long b) { return (ldiv_t){ a / b, a % b }; }

int sundew_standin_ffs(int v) { return v ? __builtin_ctz((unsigned)v) + 1 : 0; }
