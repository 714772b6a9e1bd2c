/*
 * printf into memory. Integers, characters and strings are written by our own
 * code, so that the text has labels; floating point by the real function, which
 * is noted. A format with something else in it is left to the real function as a
 * whole.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spec {
    int left, zero, plus, space, alternate;
    int width, precision;          /* -1: none */
    char size;                     /* 0, h, H (hh), l, L (ll and its kin), D (long double) */
    char conversion;
};

/* One conversion behind '%'; NULL if it is none of ours. `ap` NULL: only looks, and a star
 * stands for 0. */
static const char *parse(const char *f, struct spec *s, va_list *ap)
{
    *s = (struct spec){ .width = 0, .precision = -1 };
    for (;; f++) {
        if (*f == '-')
            s->left = 1;
        else if (*f == '0')
            s->zero = 1;
        else if (*f == '+')
            s->plus = 1;
        else if (*f == ' ')
            s->space = 1;
        else if (*f == '#')
            s->alternate = 1;
        else
            break;
    }
    if (*f == '*') {
        s->width = ap ? va_arg(*ap, int) : 0;
        f++;
        if (s->width < 0) {
            s->left = 1;
            s->width = -s->width;
        }
    } else {
        for (; *f >= '0' && *f <= '9' && s->width < 100000; f++)
            s->width = s->width * 10 + (*f - '0');
    }
    if (*f == '.') {
        s->precision = 0;
        if (*++f == '*') {
            s->precision = ap ? va_arg(*ap, int) : 0;
            f++;
        }
        for (; *f >= '0' && *f <= '9' && s->precision < 100000; f++)
            s->precision = s->precision * 10 + (*f - '0');
    }
    f = sundew_format_size(f, &s->size);
    s->conversion = *f;
    if (!*f || !strchr("diuxXocspeEfFgGaA%", *f) || (s->size == 'l' && strchr("cs", *f)) ||
        s->width >= 100000 || s->precision >= 100000)
        return NULL;
    return f + 1;
}

/* Where text goes: what does not fit is only counted. */
struct out {
    char *at;
    size_t room, n;
};

static void put(struct out *o, char c)
{
    if (o->n < o->room)
        o->at[o->n] = c;
    o->n++;
}

static void pad(struct out *o, char c, int n)
{
    for (; n > 0; n--)
        put(o, c);
}

static void put_text(struct out *o, const struct spec *s, const char *text, int n)
{
    if (!s->left)
        pad(o, ' ', s->width - n);
    for (int i = 0; i < n; i++)
        put(o, text[i]);
    if (s->left)
        pad(o, ' ', s->width - n);
}

/* Digits of a number, the last one first: none for 0. How many there are is a comparison
 * each, what they are a value. */
static int decimal_digits(unsigned long long v, char *to)
{
    unsigned long long power = 1;
    int n = 0;
    while (n < 20 && v >= power) {
        to[n++] = (char)('0' + v / power % 10);
        if (n < 20)
            power *= 10;
    }
    return n;
}

static int binary_digits(unsigned long long v, unsigned base, char conversion, char *to)
{
    unsigned bits = base == 16 ? 4 : 3, letter = conversion == 'X' ? 'A' - 10 : 'a' - 10;
    int n = 0;
    while (n * bits < 64 && v >> (n * bits)) {
        unsigned d = (unsigned)(v >> (n * bits)) & (base - 1);
        to[n++] = (char)(d < 10 ? d + '0' : d + letter);
    }
    return n;
}

static void put_number(struct out *o, const struct spec *s, unsigned long long v, int negative)
{
    unsigned base = s->conversion == 'o' ? 8 : strchr("xXp", s->conversion) ? 16 : 10;
    char digits[24], prefix[3];
    int n = 0, np = 0, zeros;
    if (s->alternate && base == 16 && v) {
        prefix[np++] = '0';
        prefix[np++] = s->conversion == 'X' ? 'X' : 'x';
    }
    n = base == 10 ? decimal_digits(v, digits) : binary_digits(v, base, s->conversion, digits);
    if (strchr("di", s->conversion)) {
        if (negative)
            prefix[np++] = '-';
        else if (s->plus || s->space)
            prefix[np++] = s->plus ? '+' : ' ';
    }
    int least = s->precision < 0 ? 1 : s->precision;
    if (s->alternate && base == 8 && least <= n)
        least = n + 1;
    zeros = least > n ? least - n : 0;
    if (s->zero && !s->left && s->precision < 0 && s->width > np + n + zeros)
        zeros = s->width - np - n;
    int all = np + zeros + n;
    if (!s->left)
        pad(o, ' ', s->width - all);
    for (int i = 0; i < np; i++)
        put(o, prefix[i]);
    pad(o, '0', zeros);
    while (n > 0)
        put(o, digits[--n]);
    if (s->left)
        pad(o, ' ', s->width - all);
}

static long long take_signed(char size, va_list *ap)
{
    switch (size) {
    case 'H': return (signed char)va_arg(*ap, int);
    case 'h': return (short)va_arg(*ap, int);
    case 'l':
    case 'L': return va_arg(*ap, long long);
    default: return va_arg(*ap, int);
    }
}

static unsigned long long take_unsigned(char size, va_list *ap)
{
    switch (size) {
    case 'H': return (unsigned char)va_arg(*ap, int);
    case 'h': return (unsigned short)va_arg(*ap, int);
    case 'l':
    case 'L': return va_arg(*ap, unsigned long long);
    default: return va_arg(*ap, unsigned);
    }
}

/* By the real function. */
static void put_float(struct out *o, const struct spec *s, va_list *ap)
{
    char format[64], text[1024], *big = text, *p = format;
    *p++ = '%';
    for (const char *f = "-0+ #"; *f; f++)
        if ((*f == '-' && s->left) || (*f == '0' && s->zero) || (*f == '+' && s->plus) ||
            (*f == ' ' && s->space) || (*f == '#' && s->alternate))
            *p++ = *f;
    snprintf(p, 40, s->precision < 0 ? "*%s%c" : "*.*%s%c", s->size == 'D' ? "L" : "",
             s->conversion);
    int n = 0;
    for (int turn = 0, room = sizeof text; turn < 2; turn++) {
        va_list again;
        va_copy(again, *ap);
        if (s->size == 'D') {
            long double v = va_arg(again, long double);
            n = s->precision < 0 ? snprintf(big, (size_t)room, format, s->width, v)
                                 : snprintf(big, (size_t)room, format, s->width, s->precision, v);
        } else {
            double v = va_arg(again, double);
            if (turn == 0 && SYMBOLIC(v)) {
                sundew_pin(&v, sizeof v, SUNDEW_WHY_FLOAT);
                sundew_note(SUNDEW_WHY_FLOAT, "printf");
            }
            n = s->precision < 0 ? snprintf(big, (size_t)room, format, s->width, v)
                                 : snprintf(big, (size_t)room, format, s->width, s->precision, v);
        }
        va_end(again);
        if (n < room || turn)
            break;
        room = n + 1;
        big = malloc((size_t)room);
        if (!big)
            return;
    }
    if (s->size == 'D')
        (void)va_arg(*ap, long double);
    else
        (void)va_arg(*ap, double);
    for (int i = 0; i < n; i++)
        put(o, big[i]);
    if (big != text)
        free(big);
}

static void convert(struct out *o, const struct spec *s, va_list *ap)
{
    switch (s->conversion) {
    case '%': put(o, '%'); break;
    case 'd':
    case 'i': {
        long long v = take_signed(s->size, ap);
        int negative = v < 0;
        put_number(o, s, negative ? -(unsigned long long)v : (unsigned long long)v, negative);
        break;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': put_number(o, s, take_unsigned(s->size, ap), 0); break;
    case 'p': {
        unsigned long long v = (unsigned long long)(uintptr_t)va_arg(*ap, void *);
        struct spec t = *s;
        t.alternate = 1;
        if (v)
            put_number(o, &t, v, 0);
        else
            put_text(o, s, "(nil)", 5);
        break;
    }
    case 'c': {
        char c = (char)va_arg(*ap, int);
        put_text(o, s, &c, 1);
        break;
    }
    case 's': {
        const char *text = va_arg(*ap, const char *);
        if (!text)
            text = s->precision < 0 || s->precision >= 6 ? "(null)" : "";
        int n = 0;
        while ((s->precision < 0 || n < s->precision) && n < INT_MAX && text[n])
            n++;
        put_text(o, s, text, n);
        break;
    }
    default: put_float(o, s, ap);
    }
}

static int is_ours(const char *format)
{
    struct spec s;
    for (const char *f = format; *f;)
        if (*f++ == '%' && !(f = parse(f, &s, NULL)))
            return 0;
    return 1;
}

static int format_into(char *to, size_t room, const char *format, va_list ap)
{
    va_list own;
    va_copy(own, ap);
    struct out o = { to, room ? room - 1 : 0, 0 };
    for (const char *f = format; *f;) {
        struct spec s;
        if (*f != '%') {
            put(&o, *f++);
            continue;
        }
        const char *next = parse(f + 1, &s, &own);
        convert(&o, &s, &own);
        f = next;
    }
    va_end(own);
    if (room)
        to[o.n < room ? o.n : room - 1] = 0;
    return o.n > INT_MAX ? -1 : (int)o.n;
}

int sundew_standin_vsnprintf(char *to, size_t room, const char *format, va_list ap)
{
    sundew_format(format);
    if (!sundew_alive || !is_ours(format) || room > INT_MAX)
        return vsnprintf(to, room, format, ap);
    return format_into(to, room, format, ap);
}

int sundew_standin_snprintf(char *to, size_t room, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = sundew_standin_vsnprintf(to, room, format, ap);
    va_end(ap);
    return n;
}

int sundew_standin_vsprintf(char *to, const char *format, va_list ap)
{
    sundew_format(format);
    if (!sundew_alive || !is_ours(format))
        return vsprintf(to, format, ap);
    return format_into(to, INT_MAX, format, ap);
}

int sundew_standin_sprintf(char *to, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = sundew_standin_vsprintf(to, format, ap);
    va_end(ap);
    return n;
}

int sundew_standin_vasprintf(char **to, const char *format, va_list ap)
{
    if (!sundew_alive || !is_ours(format))
        return vasprintf(to, format, ap);
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *to = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!*to)
        return -1;
    return format_into(*to, (size_t)n + 1, format, ap);
}

int sundew_standin_asprintf(char **to, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = sundew_standin_vasprintf(to, format, ap);
    va_end(ap);
    return n;
}
