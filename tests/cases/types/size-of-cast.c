/*
 * name:   the size of the type that the argument is cast to is its size
 * run:    sundew types --own-only $file
 * expect: no findings
 * status: 0
 */
#include <stdint.h>
#include <stdlib.h>

int compare(const void *a, const void *b);

void sort_all(uint32_t *w, size_t n)
{
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort(w, n, sizeof *w, compare); qsort(w, n, sizeof *w, compare);
    qsort((uint8_t *)w, n * 4, sizeof(uint8_t), compare);
}
