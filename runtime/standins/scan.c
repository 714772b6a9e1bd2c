/*
 * scanf from a string or a stream: %d %i %u %x %o %c %s %[ %n %% and floating point,
 * with widths, sizes and *. A format with something else in it (%m, %p, n$, wide
 * characters) is left to the real function as a whole.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/concolic/sources.h"
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Where characters come from; one may be looked at before it is taken. */
struct in {
    const char *s;                 /* of a string, or */
    FILE *f;                       /* of a stream */
    int seen, has_seen;            /* the one that was looked at */
    int taken;
};

static int peek(struct in *in)
{
    if (in->s)
        return *in->s ? (unsigned char)*in->s : EOF;
    if (!in->has_seen) {
        in->seen = sundew_standin_getc(in->f);
        in->has_seen = 1;
    }
    return in->seen;
}

static void take(struct in *in)
{
    if (in->s)
        in->s++;
    in->has_seen = 0;
    in->taken++;
}

static void leave(struct in *in)
{
    if (in->f && in->has_seen && in->seen != EOF)
        ungetc(in->seen, in->f);
}

struct spec {
    int skip, width;               /* 0: none */
    char size, conversion;         /* as in format.c */
    const char *set;               /* of %[ */
    size_t nset;
    int invert;
};

static const char *parse_set(const char *f, struct spec *s)
{
    s->invert = *f == '^';
    f += s->invert;
    s->set = f;
    if (*f == ']')
        f++;
    while (*f && *f != ']')
        f++;
    s->nset = (size_t)(f - s->set);
    return *f ? f + 1 : NULL;
}

static const char *parse(const char *f, struct spec *s)
{
    *s = (struct spec){ 0 };
    s->skip = *f == '*';
    f += s->skip;
    for (; *f >= '0' && *f <= '9' && s->width < 100000000; f++)
        s->width = s->width * 10 + (*f - '0');
    f = sundew_format_size(f, &s->size);
    s->conversion = *f;
    if (!*f || !strchr("diuxXocs[neEfFgG%", *f) || (s->size == 'l' && strchr("cs[", *f)) ||
        (s->size == 'D' && strchr("eEfFgG", *f)))
        return NULL;
    return *f == '[' ? parse_set(f + 1, s) : f + 1;
}

static int is_ours(const char *format)
{
    struct spec s;
    for (const char *f = format; *f;)
        if (*f++ == '%' && !(f = parse(f, &s)))
            return 0;
    return 1;
}

static void skip_spaces(struct in *in)
{
    int c;
    while ((c = peek(in)) != EOF && is_space((unsigned char)c))
        take(in);
}

static void store(const struct spec *s, unsigned long long v, void *to)
{
    switch (s->size) {
    case 'H': *(unsigned char *)to = (unsigned char)v; break;
    case 'h': *(unsigned short *)to = (unsigned short)v; break;
    case 'l':
    case 'L': *(unsigned long long *)to = v; break;
    default: *(unsigned *)to = (unsigned)v;
    }
}

enum { MATCHED, NO_MATCH, AT_END };

static int scan_integer(struct in *in, const struct spec *s, unsigned long long *out)
{
    unsigned base = strchr("xX", s->conversion) ? 16
                    : s->conversion == 'o'      ? 8
                    : s->conversion == 'i'      ? 0
                                                : 10;
    int left = s->width ? s->width : INT_MAX, negative = 0, c = peek(in), any = 0;
    unsigned n = 0;
    unsigned long long v = 0;
    int too_big = 0, kept = 0;
    char text[SUNDEW_NUMBER_LONGEST];
    if (c == EOF)
        return AT_END;
    if (left && (c == '-' || c == '+')) {
        negative = c == '-';
        text[kept++] = (char)c;
        take(in);
        left--;
        c = left ? peek(in) : EOF;
    }
    if (left && c == '0' && (base == 0 || base == 16)) {
        take(in);
        left--;
        any = 1;
        c = left ? peek(in) : EOF;
        if (left && c != EOF && (c | 32) == 'x') {
            take(in);
            left--;
            base = 16;                 /* glibc takes a bare 0x for 0 */
            c = left ? peek(in) : EOF;
        } else if (base == 0) {
            base = 8;
        }
    } else if (base == 0) {
        base = 10;
    }
    while (left && c != EOF && digit((unsigned char)c) < base) {
        unsigned d = digit((unsigned char)c);
        if (n >= 12 && v > (ULLONG_MAX - d) / base)
            too_big = 1;
        else
            v = v * base + d;
        if (kept < SUNDEW_NUMBER_LONGEST)
            text[kept++] = (char)c;
        take(in);
        left--;
        any = 1;
        n++;
        c = left ? peek(in) : EOF;
    }
    if (!any)
        return NO_MATCH;
    if (strchr("di", s->conversion)) {
        unsigned long long most = (unsigned long long)LLONG_MAX + (unsigned)negative;
        if (too_big || (n >= 15 && v > most)) {
            errno = ERANGE;
            v = most;
        }
        *out = negative ? -v : v;
    } else {
        if (too_big) {
            errno = ERANGE;
            v = ULLONG_MAX;
            negative = 0;
        }
        *out = negative ? -v : v;
    }
    if (kept && base == 10)
        sundew_number(out, text, (uint64_t)kept,
                      s->conversion == 'u' ? SUNDEW_NUMBER_UNSIGNED : SUNDEW_NUMBER_SIGNED, base);
    return MATCHED;
}

/* What has been collected of a number, and whether the next character goes on with it. */
struct number {
    char text[512];
    int n, digits, exponent, point, hexadecimal;
    const char *word;              /* of inf or nan, what is missing */
};

static int goes_on(struct number *t, int c)
{
    int small = c | 32, before = t->n ? t->text[t->n - 1] : 0;
    int begin = t->n == 0 || (t->n == 1 && !t->digits && (before == '-' || before == '+'));
    if (t->word)
        return *t->word && small == *t->word ? t->word++, 1 : 0;
    if ((c == '-' || c == '+') && t->n == 0)
        return 1;
    if (begin && (small == 'i' || small == 'n')) {
        t->word = small == 'i' ? "nfinity" : "an";
        return 1;
    }
    if ((unsigned)c - '0' < 10u || (t->hexadecimal && !t->exponent && (unsigned)small - 'a' < 6u)) {
        t->digits++;
        return 1;
    }
    if (small == 'x' && t->digits == 1 && before == '0' && !t->point && !t->hexadecimal) {
        t->hexadecimal = 1;
        t->digits = 0;
        return 1;
    }
    if (c == '.' && !t->point && !t->exponent)
        return t->point = 1;
    if (small == (t->hexadecimal ? 'p' : 'e') && t->digits && !t->exponent)
        return t->exponent = 1;
    return (c == '-' || c == '+') && t->exponent && (before | 32) == (t->hexadecimal ? 'p' : 'e');
}

/* Collects what may be a number, and lets strtod() see it. */
static int scan_float(struct in *in, const struct spec *s, double *out)
{
    struct number t = { .n = 0 };
    int left = s->width && s->width < 500 ? s->width : 500, c;
    char *end;
    if (peek(in) == EOF)
        return AT_END;
    for (; left > 0 && (c = peek(in)) != EOF && goes_on(&t, c); left--) {
        t.text[t.n++] = (char)c;
        take(in);
    }
    t.text[t.n] = 0;
    if (!t.digits && !t.word)
        return NO_MATCH;
    *out = sundew_standin_strtod(t.text, &end);
    return end == t.text || (t.word && *end) ? NO_MATCH : MATCHED;   /* 1e is 1 */
}

static unsigned in_set(const struct spec *s, unsigned char c)
{
    unsigned in = 0;
    for (size_t i = 0; i < s->nset; i++) {
        unsigned char a = (unsigned char)s->set[i];
        if (i + 2 < s->nset && s->set[i + 1] == '-') {
            unsigned char b = (unsigned char)s->set[i + 2];
            in |= (c >= a) & (c <= b);
            i += 2;
        } else {
            in |= c == a;
        }
    }
    return s->invert ? !in : in;
}

/* %s, %[ and %c. */
static int scan_text(struct in *in, const struct spec *s, char *to)
{
    int most = s->width ? s->width : s->conversion == 'c' ? 1 : INT_MAX, n = 0, c;
    if (peek(in) == EOF)
        return AT_END;
    for (; n < most && (c = peek(in)) != EOF; n++) {
        if (s->conversion == 's' && is_space((unsigned char)c))
            break;
        if (s->conversion == '[' && !in_set(s, (unsigned char)c))
            break;
        if (to)
            to[n] = (char)c;
        take(in);
    }
    if (s->conversion == 'c')
        return MATCHED;                /* fewer at the end will do for glibc */
    if (to && n)
        to[n] = 0;
    return n ? MATCHED : NO_MATCH;
}

static int one(struct in *in, const struct spec *s, va_list *ap)
{
    unsigned long long v = 0;
    double d = 0;
    int r;
    switch (s->conversion) {
    case 'c':
    case '[':
    case 's': return scan_text(in, s, s->skip ? NULL : va_arg(*ap, char *));
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        r = scan_integer(in, s, &v);
        if (r == MATCHED && !s->skip)
            store(s, v, va_arg(*ap, void *));
        return r;
    default:
        r = scan_float(in, s, &d);
        if (r == MATCHED && !s->skip) {
            if (s->size == 'l')
                *va_arg(*ap, double *) = d;
            else
                *va_arg(*ap, float *) = (float)d;
        }
        return r;
    }
}

static int scan(struct in *in, const char *format, va_list *ap)
{
    int assigned = 0;
    struct spec s;
    for (const char *f = format; *f;) {
        if (is_space((unsigned char)*f)) {
            skip_spaces(in);
            f++;
            continue;
        }
        int literal = *f != '%';
        if (!literal) {
            f = parse(f + 1, &s);
            if (s.conversion == 'n') {
                if (!s.skip)
                    store(&s, (unsigned long long)in->taken, va_arg(*ap, void *));
                continue;
            }
            if (s.conversion != 'c' && s.conversion != '[')
                skip_spaces(in);
            literal = s.conversion == '%' ? 2 : 0;
        }
        if (literal) {
            int c = peek(in), want = literal == 2 ? '%' : (unsigned char)*f;
            f += literal == 1;
            if (c == EOF)
                return assigned ? assigned : EOF;
            if (c != want)
                return assigned;
            take(in);
            continue;
        }
        int r = one(in, &s, ap);
        if (r != MATCHED)
            return r == AT_END && !assigned ? EOF : assigned;
        assigned += !s.skip;
    }
    return assigned;
}

int sundew_standin_vsscanf(const char *s, const char *format, va_list ap)
{
    if (!sundew_alive || !is_ours(format) || !sundew_is_symbolic(s, strlen(s) + 1))
        return vsscanf(s, format, ap);
    struct in in = { .s = s };
    va_list own;
    va_copy(own, ap);
    int n = scan(&in, format, &own);
    va_end(own);
    return n;
}

int sundew_standin_sscanf(const char *s, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = sundew_standin_vsscanf(s, format, ap);
    va_end(ap);
    return n;
}

int sundew_standin_vfscanf(FILE *f, const char *format, va_list ap)
{
    if (!sundew_reads_labels(f) || !is_ours(format))
        return vfscanf(f, format, ap);
    struct in in = { .f = f };
    va_list own;
    va_copy(own, ap);
    int n = scan(&in, format, &own);
    va_end(own);
    leave(&in);
    return n;
}

int sundew_standin_fscanf(FILE *f, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = sundew_standin_vfscanf(f, format, ap);
    va_end(ap);
    return n;
}

int sundew_standin_vscanf(const char *format, va_list ap)
{
    return sundew_standin_vfscanf(stdin, format, ap);
}

int sundew_standin_scanf(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = sundew_standin_vfscanf(stdin, format, ap);
    va_end(ap);
    return n;
}
