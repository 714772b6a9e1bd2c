/*
 * name:   a parenthesis in the wrong place
 * run:    sundew types --own-only $file
 * expect: $file:28:23: types: memcmp: argument 3 is a comparison
 * expect: 30 of 31 callers pass a size
 * status: 1
 */
#include <string.h>

int same(const char *a, const char *b, size_t n)
{
    int k = 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n) == 0; k += memcmp(a, b, n) == 0;
    k += memcmp(a, b, n == 0);
    return k;
}
