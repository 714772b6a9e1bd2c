/*
 * name:   a comparison function for its struct
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
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
    qsort(p + 1, n, sizeof *p, by_key); (void)m;
}
