/*
 * heap extent
 *
 * input: stdin
 * seed: \x04abcdefgh
 * solution: \x0dabcdefgh
 * fails: asan
 */
#include "hard.h"

/* A length of 13 is believed. */
int main(void)
{
    unsigned char b[64];
    ssize_t n = read(0, b, sizeof b);
    if (n < 5)
        return 0;
    unsigned char *p = malloc((size_t)n);
    memcpy(p, b, (size_t)n);
    unsigned len = p[0], sum = 0;
    if (len >= (unsigned)n && (SAFE || len != 13))
        return 0;
    for (unsigned i = 1; i <= len; i++)
        sum += p[i];
    printf("%u\n", sum);
    free(p);
    return 0;
}
