/*
 * strtod and kin. A decimal number of up to 15 digits, times or over a power of
 * ten up to 22, is exact in double arithmetic but for one rounding: so the value
 * is an integer made of digits, converted, and one multiplication or division. The
 * rest is left to the real function, and noted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <stdlib.h>
#include <string.h>

enum { EXACT_DIGITS = 15, EXACT_POWER = 22 };

static const double powers[EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static int is_digit(char c) { return (unsigned)(unsigned char)c - '0' < 10u; }

/* The exponent behind e; where it ends. */
static const char *exponent(const char *p, int *value)
{
    const char *q = p + 1;
    int negative = 0, v = 0;
    *value = 0;
    if ((*p | 32) != 'e')
        return p;
    if (*q == '-' || *q == '+')
        negative = *q++ == '-';
    if (!is_digit(*q))
        return p;
    for (; is_digit(*q); q++)
        v = v < 10000 ? v * 10 + (*q - '0') : v;
    *value = negative ? -v : v;
    return q;
}

/* The number at p, without sign, as digits and a power of ten; NULL: not one that
 * is exact, or none at all. */
static const char *decimal(const char *p, uint64_t *digits, int *power)
{
    unsigned n = 0, seen = 0;
    int behind = 0, point = 0, e;
    *digits = 0;
    for (;; p++) {
        if (*p == '.' && !point) {
            point = 1;
            continue;
        }
        if (!is_digit(*p))
            break;
        seen++;
        *digits = *digits * 10 + (unsigned)(*p - '0');
        n += n > 0 || *p != '0';
        behind += point;
        if (n > EXACT_DIGITS || seen > 40)
            return NULL;
    }
    if (!seen)
        return NULL;
    p = exponent(p, &e);
    *power = e - behind;
    return p;
}

/* Not exact, or not decimal: the real one, whose result is not followed. */
static double other(const char *s, char **end)
{
    sundew_note(SUNDEW_WHY_FLOAT, "strtod");
    return strtod(s, end);
}

double sundew_parse_double(const char *s, char **end)
{
    const char *p = s, *stop;
    uint64_t digits;
    int power, negative = 0;
    while (is_space((unsigned char)*p))
        p++;
    if (*p == '-' || *p == '+')
        negative = *p++ == '-';
    if (!is_digit(*p) && *p != '.') {
        if ((*p | 32) == 'i' || (*p | 32) == 'n')
            return other(s, end);
        *end = (char *)s;
        return 0;
    }
    if (*p == '0' && (p[1] | 32) == 'x')
        return other(s, end);
    stop = decimal(p, &digits, &power);
    if (!stop && *p == '.' && !is_digit(p[1])) {
        *end = (char *)s;
        return 0;
    }
    if (!stop || power < -EXACT_POWER || power > EXACT_POWER)
        return other(s, end);
    double v = (double)digits;
    if (power > 0)
        v *= powers[power];
    else if (power < 0)
        v /= powers[-power];
    *end = (char *)stop;
    v = negative ? -v : v;
    sundew_number(&v, s, (uint64_t)(stop - s), SUNDEW_NUMBER_FLOAT, 10);
    return v;
}

static int concrete(const char *s)
{
    return !sundew_alive || !sundew_is_symbolic(s, strlen(s) + 1);
}

double sundew_standin_strtod(const char *s, char **end)
{
    if (concrete(s))
        return strtod(s, end);
    char *stop;
    double v = sundew_parse_double(s, &stop);
    if (end)
        *end = stop;
    return v;
}

double sundew_standin_atof(const char *s) { return sundew_standin_strtod(s, NULL); }

/* Digits of a float are fewer; its range is left to the real one. */
float sundew_standin_strtof(const char *s, char **end)
{
    if (concrete(s))
        return strtof(s, end);
    char *stop;
    double v = sundew_parse_double(s, &stop);
    char *real_end;
    float real = strtof(s, &real_end);
    if (end)
        *end = real_end;
    if (real_end != stop || real != (float)v) {       /* rounded twice */
        sundew_note(SUNDEW_WHY_FLOAT, "strtof");
        return real;
    }
    return (float)v;
}
