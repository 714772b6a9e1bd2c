/* qsort, bsearch. A merge sort, as the C library's: equal elements keep their order. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <stdlib.h>
#include <string.h>

typedef int Compare(const void *, const void *, void *);

struct sort {
    size_t size;
    Compare *compare;
    void *arg;
    char *room;
};

static void merge(const struct sort *s, char *base, size_t n1, size_t n2)
{
    char *a = base, *b = base + n1 * s->size, *to = s->room;
    while (n1 > 0 && n2 > 0) {
        if (s->compare(a, b, s->arg) <= 0) {
            __builtin_memcpy(to, a, s->size);
            a += s->size;
            n1--;
        } else {
            __builtin_memcpy(to, b, s->size);
            b += s->size;
            n2--;
        }
        to += s->size;
    }
    if (n1 > 0)
        __builtin_memcpy(to, a, n1 * s->size);
    __builtin_memcpy(base, s->room, (size_t)(b - base));
}

static void sort(const struct sort *s, char *base, size_t n)
{
    if (n <= 1)
        return;
    size_t n1 = n / 2;
    sort(s, base, n1);
    sort(s, base + n1 * s->size, n - n1);
    merge(s, base, n1, n - n1);
}

void sundew_standin_qsort_r(void *base, size_t n, size_t size, Compare *compare, void *arg)
{
    struct sort s = { size, compare, arg, NULL };
    if (n <= 1 || !size)
        return;
    s.room = malloc(n * size);
    if (!s.room || !sundew_alive) {
        free(s.room);
        qsort_r(base, n, size, compare, arg);
        return;
    }
    sort(&s, base, n);
    sundew_forget(s.room, n * size);
    free(s.room);
}

/* The function without a third argument is the argument. */
static int without(const void *a, const void *b, void *compare)
{
    return ((int (*)(const void *, const void *))compare)(a, b);
}

void sundew_standin_qsort(void *base, size_t n, size_t size,
                          int (*compare)(const void *, const void *))
{
    if (!sundew_alive) {
        qsort(base, n, size, compare);
        return;
    }
    sundew_standin_qsort_r(base, n, size, without, (void *)compare);
}

void *sundew_standin_bsearch(const void *key, const void *base, size_t n, size_t size,
                             int (*compare)(const void *, const void *))
{
    size_t from = 0, to = n;
    while (from < to) {
        size_t i = (from + to) / 2;
        const char *at = (const char *)base + i * size;
        int c = compare(key, at);
        if (c < 0)
            to = i;
        else if (c > 0)
            from = i + 1;
        else
            return (void *)at;
    }
    return NULL;
}
