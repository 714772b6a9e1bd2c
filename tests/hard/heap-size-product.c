/*
 * heap extent
 *
 * input: stdin
 * seed: \x01\x00\x00\x00\x01\x00\x00\x00
 * solution: \x00\x00\x01\x00\x00\x00\x01\x00
 * fails: asan
 */
#include "hard.h"

/* width * height wraps around in 32 bits. */
int main(void)
{
    unsigned d[2];
    if (read(0, d, 8) != 8 || d[0] == 0 || d[1] == 0 || d[0] > 0x20000 || d[1] > 0x20000)
        return 0;
    unsigned size = d[0] * d[1];
    if (SAFE && (unsigned long)d[0] * d[1] != size)
        return 0;
    if (size > 1u << 20)
        return 0;
    char *p = malloc(size);
    for (unsigned i = 0; i < d[0]; i++)
        p[i] = 1;
    printf("%d\n", p[0]);
    free(p);
    return 0;
}
