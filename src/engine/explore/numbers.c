/*
 * Text of numbers. A float has the fewest digits that give it back, without an
 * exponent where that is short. An integer is written in the base that the program reads.
 */
#include "engine/explore/numbers.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 80 };

size_t numbers_wide(const Trail *t) { return t->free + 8 * t->numbers.len; }

void numbers_values(const Trail *t, const Exprs *p, const uint8_t *bytes, size_t n, uint8_t *wide)
{
    assert(t->free && t->in + n <= t->free);
    memset(wide, 0, numbers_wide(t));
    memcpy(wide + t->in, bytes, n);
    for (size_t i = 0; i < t->numbers.len; i++) {
        Expr said = t->numbers.items[i].value;
        uint64_t v = said ? (uint64_t)expr_eval(p, said, wide, t->free) : 0;
        memcpy(wide + t->free + 8 * i, &v, 8);
    }
}

bool numbers_matter(const Trail *t, const Exprs *p, Expr cond)
{
    size_t n;
    const ByteRange *ranges = cond ? expr_bytes(p, cond, &n) : NULL;
    return ranges && n && ranges[n - 1].to > t->free;
}

/* ---- text */

static bool write_float(double v, char *out)
{
    if (!isfinite(v))
        return false;
    for (int digits = 0; fabs(v) < 1e15 && digits <= 12; digits++) {
        snprintf(out, TEXT, "%.*f", digits, v);
        if (strtod(out, NULL) == v)
            return true;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, TEXT, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            return true;
    }
    return false;
}

static bool write_integer(uint64_t v, bool negative, unsigned base, char *out)
{
    char digits[65];
    size_t n = 0;
    base = base ? base : 10;
    if (base < 2 || base > 36)
        return false;
    do
        digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[v % base];
    while (v /= base);
    if (negative)
        *out++ = '-';
    while (n)
        *out++ = digits[--n];
    *out = 0;
    return true;
}

static bool write_number(const Number *number, uint64_t bits, char *out)
{
    double v;
    if (number->kind == SUNDEW_NUMBER_FLOAT) {
        memcpy(&v, &bits, sizeof v);
        return write_float(v, out);
    }
    bool negative = number->kind == SUNDEW_NUMBER_SIGNED && (int64_t)bits < 0;
    return write_integer(negative ? -bits : bits, negative, number->base, out);
}

/* ---- into the input */

typedef struct Writing {
    uint8_t *at;
    size_t n, room;
} Writing;

/* All behind the old text moves. */
static bool move(Writing *w, const Number *number, const char *text)
{
    size_t len = strlen(text), end = (size_t)number->from + number->n;
    if (end > w->n || w->n - number->n + len > w->room)
        return false;
    memmove(w->at + number->from + len, w->at + end, w->n - end);
    memcpy(w->at + number->from, text, len);
    w->n = w->n - number->n + len;
    return true;
}

/* Shorter text gets zeros in front of its digits; longer text takes the place of what is behind
 * it, and the byte that ended the number ends it again. */
static bool overwrite(Writing *w, const Number *number, const char *text)
{
    size_t len = strlen(text), sign = *text == '-', end = (size_t)number->from + number->n;
    uint8_t *to = w->at + number->from;
    if (end > w->n || number->from + len > w->n)
        return false;
    if (len <= number->n) {
        memcpy(to, text, sign);
        memset(to + sign, '0', number->n - len);
        memcpy(to + sign + number->n - len, text + sign, len - sign);
        return true;
    }
    uint8_t behind = end < w->n ? w->at[end] : 0;
    memcpy(to, text, len);
    if (number->from + len < w->n)
        to[len] = behind;
    return true;
}

static int last_first(const void *a, const void *b)
{
    const Number *x = *(const Number *const *)a, *y = *(const Number *const *)b;
    return x->from > y->from ? -1 : x->from < y->from;
}

size_t numbers_write(const Trail *t, const uint8_t *before, const uint8_t *after, size_t n,
                     NumbersHow how, uint8_t *out, size_t room)
{
    const Number *all[TRAIL_NUMBERS];
    size_t many = t->numbers.len;
    Writing w = { out, n, room };
    bool changed = false, same = true;
    assert(n <= room && many <= TRAIL_NUMBERS);
    memcpy(out, after + t->in, n);
    for (size_t i = 0; i < many; i++)
        all[i] = &t->numbers.items[i];
    /* From the last on: the texts before it stay where they are. */
    qsort(all, many, sizeof *all, last_first);
    for (size_t i = 0; i < many; i++) {
        size_t at = t->free + 8 * (size_t)(all[i] - t->numbers.items);
        uint64_t bits;
        char text[TEXT];
        memcpy(&bits, after + at, 8);
        if (memcmp(before + at, &bits, 8) == 0)
            continue;
        if (!write_number(all[i], bits, text) ||
            !(how == NUMBERS_MOVE ? move : overwrite)(&w, all[i], text))
            return 0;
        changed = true;
        same &= strlen(text) == all[i]->n;
    }
    return changed && !(same && how == NUMBERS_OVERWRITE) ? w.n : 0;
}
