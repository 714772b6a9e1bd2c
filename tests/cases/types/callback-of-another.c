/*
 * name:   a comparison function for another struct
 * run:    sundew types --own-only $file
 * expect: $file:36:11: types: qsort: argument 1 is another type than it expects
 * expect: 30 of 31 callers pass what the callback expects
 * status: 1
 */
#include <stdlib.h>

struct pair { int key, value; };
struct name { char text[20]; };

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->key - y->key;
}

void sort_all(struct pair *p, struct name *m, size_t n)
{
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(p, n, sizeof *p, by_key); qsort(p, n, sizeof *p, by_key);
    qsort(m, n, sizeof *m, by_key);
}
