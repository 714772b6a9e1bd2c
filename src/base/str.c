#include "base/str.h"
#include "base/mem.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(Str *s, size_t more)
{
    if (s->cap - s->len > more)
        return;
    size_t cap = s->cap ? s->cap : 64;
    while (cap - s->len <= more)
        cap *= 2;
    s->data = xrealloc(s->data, cap);
    s->cap = cap;
    assert(s->cap - s->len > more);      /* and a NUL */
}

void str_addn(Str *s, const char *bytes, size_t n)
{
    reserve(s, n);
    if (n)
        memcpy(s->data + s->len, bytes, n);
    s->len += n;
    s->data[s->len] = 0;
}

void str_add(Str *s, const char *text) { str_addn(s, text, strlen(text)); }

void str_addc(Str *s, char c) { str_addn(s, &c, 1); }

void str_addv(Str *s, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    assert(n >= 0);
    reserve(s, (size_t)n);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
    va_end(again);
    s->len += (size_t)n;
}

void str_addf(Str *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_addv(s, fmt, ap);
    va_end(ap);
}

const char *str_c(const Str *s) { return s->data ? s->data : ""; }

char *str_take(Str *s)
{
    char *p = s->data ? s->data : xstrdup("");
    *s = (Str){ 0 };
    return p;
}

void str_reset(Str *s)
{
    s->len = 0;
    if (s->data)
        s->data[0] = 0;
}

void str_release(Str *s)
{
    free(s->data);
    *s = (Str){ 0 };
}

bool str_is_one_of(const char *s, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(s, *list) == 0)
            return true;
    return false;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

/* Levenshtein distance, in one row. Words longer than the row are "far". */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), row[65];
    if (n > 64 || m > 64)
        return 64;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const char *str_nearest(const char *word, const char *const *candidates)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 2;
    for (; *candidates; candidates++) {
        size_t d = distance(word, *candidates);
        if (d < best_distance) {
            best_distance = d;
            best = *candidates;
        }
    }
    return best;
}
