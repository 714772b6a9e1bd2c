#include "poly.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24 };                      /* coefficients */

struct rat { long long n, d; };
struct poly { struct rat c[MOST]; int degree; };

static const struct rat nan_rat = { 1, 0 };

static long long gcd(long long a, long long b)
{
    if (a < 0)
        a = -a;
    while (b) {
        long long r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Numbers that would overflow are not numbers either. */
static int is_large(long long x) { return x > 1000000000 || x < -1000000000; }

static struct rat make(long long n, long long d)
{
    if (d == 0)
        return nan_rat;
    if (d < 0) {
        n = -n;
        d = -d;
    }
    long long g = gcd(n, d);
    n /= g;
    d /= g;
    if (is_large(n) || is_large(d))
        return nan_rat;
    return (struct rat){ n, d };
}

static int is_nan(struct rat a) { return a.d == 0; }

static struct rat add(struct rat a, struct rat b)
{
    if (is_nan(a) || is_nan(b))
        return nan_rat;
    return make(a.n * b.d + b.n * a.d, a.d * b.d);
}

static struct rat mul(struct rat a, struct rat b)
{
    if (is_nan(a) || is_nan(b))
        return nan_rat;
    return make(a.n * b.n, a.d * b.d);
}

static struct rat negate(struct rat a)
{
    return is_nan(a) ? nan_rat : (struct rat){ -a.n, a.d };
}

static struct rat divide(struct rat a, struct rat b)
{
    if (is_nan(a) || is_nan(b) || b.n == 0)
        return nan_rat;
    return make(a.n * b.d, a.d * b.n);
}

static struct rat *keep(struct rat a)
{
    struct rat *r = malloc(sizeof *r);
    *r = a;
    return r;
}

struct rat *rat_new(int n, int d) { return keep(make(n, d)); }
struct rat *rat_add(const struct rat *a, const struct rat *b) { return keep(add(*a, *b)); }
struct rat *rat_sub(const struct rat *a, const struct rat *b) { return keep(add(*a, negate(*b))); }
struct rat *rat_mul(const struct rat *a, const struct rat *b) { return keep(mul(*a, *b)); }
struct rat *rat_div(const struct rat *a, const struct rat *b) { return keep(divide(*a, *b)); }
int rat_is_nan(const struct rat *a) { return is_nan(*a); }
void rat_free(struct rat *a) { free(a); }

/* What is not a number is greater than all that is. */
int rat_compare(const struct rat *a, const struct rat *b)
{
    if (is_nan(*a) || is_nan(*b))
        return is_nan(*a) - is_nan(*b);
    long long x = a->n * b->d, y = b->n * a->d;
    return x < y ? -1 : x > y;
}

int rat_print(const struct rat *a, char *out, int size)
{
    if (is_nan(*a))
        return snprintf(out, (size_t)size, "nan");
    if (a->d == 1)
        return snprintf(out, (size_t)size, "%lld", a->n);
    return snprintf(out, (size_t)size, "%lld/%lld", a->n, a->d);
}

static const char *digits(const char *s, long long *x)
{
    const char *begin = s;
    *x = 0;
    while (*s >= '0' && *s <= '9' && s - begin < 9)
        *x = *x * 10 + (*s++ - '0');
    return s == begin ? NULL : s;
}

/* A number without a sign; where it ends, or NULL. */
static const char *parse_number(const char *s, struct rat *out)
{
    long long n, d = 1;
    s = digits(s, &n);
    if (s && *s == '/')
        s = digits(s + 1, &d);
    if (s)
        *out = make(n, d);
    return s;
}

struct rat *rat_parse(const char *text)
{
    struct rat r;
    int minus = *text == '-';
    if (strcmp(text, "nan") == 0)
        return keep(nan_rat);
    const char *end = parse_number(text + minus, &r);
    if (!end || *end)
        return NULL;
    return keep(minus ? negate(r) : r);
}

static struct poly *blank(void)
{
    struct poly *p = malloc(sizeof *p);
    for (int i = 0; i < MOST; i++)
        p->c[i] = (struct rat){ 0, 1 };
    p->degree = 0;
    return p;
}

static struct poly *settle(struct poly *p)
{
    p->degree = MOST - 1;
    while (p->degree > 0 && p->c[p->degree].n == 0)
        p->degree--;
    return p;
}

struct poly *poly_zero(void) { return blank(); }
void poly_free(struct poly *p) { free(p); }

struct poly *poly_term(const struct rat *c, int exponent)
{
    if (exponent < 0 || exponent >= MOST)
        return NULL;
    struct poly *p = blank();
    p->c[exponent] = *c;
    return settle(p);
}

static const char *parse_term(const char *s, struct rat *c, long long *e)
{
    *c = (struct rat){ 1, 1 };
    *e = 0;
    if (*s != 'x') {
        s = parse_number(s, c);
        if (!s || *s != '*')
            return s;
        s++;
    }
    if (*s++ != 'x')
        return NULL;
    *e = 1;
    return *s == '^' ? digits(s + 1, e) : s;
}

struct poly *poly_parse(const char *s)
{
    struct poly *p = blank();
    do {
        struct rat c;
        long long e;
        int minus = *s == '-';
        if (*s == '-' || *s == '+')
            s++;
        s = parse_term(s, &c, &e);
        if (!s || e >= MOST) {
            free(p);
            return NULL;
        }
        p->c[e] = add(p->c[e], minus ? negate(c) : c);
    } while (*s == '+' || *s == '-');
    if (*s) {
        free(p);
        return NULL;
    }
    return settle(p);
}

struct poly *poly_add(const struct poly *a, const struct poly *b)
{
    struct poly *p = blank();
    for (int i = 0; i < MOST; i++)
        p->c[i] = add(a->c[i], b->c[i]);
    return settle(p);
}

struct poly *poly_negate(const struct poly *a)
{
    struct poly *p = blank();
    for (int i = 0; i <= a->degree; i++)
        p->c[i] = negate(a->c[i]);
    return settle(p);
}

struct poly *poly_sub(const struct poly *a, const struct poly *b)
{
    struct poly *minus = poly_negate(b), *p = poly_add(a, minus);
    free(minus);
    return p;
}

struct poly *poly_scale(const struct poly *a, const struct rat *c)
{
    struct poly *p = blank();
    for (int i = 0; i <= a->degree; i++)
        p->c[i] = mul(a->c[i], *c);
    return settle(p);
}

struct poly *poly_mul(const struct poly *a, const struct poly *b)
{
    if (a->degree + b->degree >= MOST)
        return NULL;
    struct poly *p = blank();
    for (int i = 0; i <= a->degree; i++)
        for (int k = 0; k <= b->degree; k++)
            p->c[i + k] = add(p->c[i + k], mul(a->c[i], b->c[k]));
    return settle(p);
}

/* The quotient; one coefficient that is not a number if b is zero or has one. */
struct poly *poly_div(const struct poly *a, const struct poly *b)
{
    struct poly *q = blank(), *rest = blank();
    struct rat lead = b->c[b->degree];
    *rest = *a;
    if (lead.n == 0 || is_nan(lead)) {
        q->c[0] = nan_rat;
        free(rest);
        return settle(q);
    }
    for (int i = a->degree - b->degree; i >= 0; i--) {
        struct rat f = divide(rest->c[i + b->degree], lead);
        q->c[i] = f;
        for (int k = 0; k <= b->degree; k++)
            rest->c[i + k] = add(rest->c[i + k], negate(mul(f, b->c[k])));
    }
    free(rest);
    return settle(q);
}

struct poly *poly_diff(const struct poly *a)
{
    struct poly *p = blank();
    for (int i = 1; i <= a->degree; i++)
        p->c[i - 1] = mul(a->c[i], make(i, 1));
    return settle(p);
}

struct poly *poly_integral(const struct poly *a, const struct rat *c)
{
    if (a->degree + 1 >= MOST)
        return NULL;
    struct poly *p = blank();
    for (int i = 0; i <= a->degree; i++)
        p->c[i + 1] = divide(a->c[i], make(i + 1, 1));
    p->c[0] = *c;
    return settle(p);
}

int poly_degree(const struct poly *a) { return a->degree; }

int poly_terms(const struct poly *a)
{
    int n = 0;
    for (int i = 0; i <= a->degree; i++)
        n += a->c[i].n != 0;
    return n;
}

struct rat *poly_coefficient(const struct poly *a, int exponent)
{
    if (exponent < 0 || exponent >= MOST)
        return keep((struct rat){ 0, 1 });
    return keep(a->c[exponent]);
}

struct rat *poly_eval(const struct poly *a, const struct rat *x)
{
    struct rat sum = { 0, 1 };
    for (int i = a->degree; i >= 0; i--)
        sum = add(mul(sum, *x), a->c[i]);
    return keep(sum);
}

int poly_equal(const struct poly *a, const struct poly *b)
{
    if (a->degree != b->degree)
        return 0;
    for (int i = 0; i <= a->degree; i++)
        if (a->c[i].n != b->c[i].n || a->c[i].d != b->c[i].d)
            return 0;
    return 1;
}

static void put(char *out, int size, int *at, const char *text)
{
    for (; *text; text++, ++*at)
        if (*at + 1 < size)
            out[*at] = *text;
}

static void put_term(char *out, int size, int *at, struct rat c, int e)
{
    char number[48], power[16];
    int one = c.d == 1 && (c.n == 1 || c.n == -1);
    if (c.n < 0 && c.d)
        put(out, size, at, "-");
    else if (*at)
        put(out, size, at, "+");
    struct rat positive = c.n < 0 ? negate(c) : c;
    rat_print(&positive, number, sizeof number);
    if (!one || e == 0)
        put(out, size, at, number);
    if (e == 0)
        return;
    put(out, size, at, one ? "x" : "*x");
    snprintf(power, sizeof power, "^%d", e);
    if (e > 1)
        put(out, size, at, power);
}

int poly_print(const struct poly *a, char *out, int size)
{
    int at = 0;
    for (int i = a->degree; i >= 0; i--)
        if (a->c[i].n != 0)
            put_term(out, size, &at, a->c[i], i);
    if (!at)
        put(out, size, &at, "0");
    if (size > 0)
        out[at < size ? at : size - 1] = 0;
    return at;
}
