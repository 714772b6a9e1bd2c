/*
 * name:   the parenthesis where it belongs
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
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
    k += memcmp(a, b, n + 1) == 0; k += memcmp(a, b, 4) == 0;
    return k;
}
