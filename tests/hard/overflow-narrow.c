/*
 * integer overflow
 *
 * input: stdin
 * seed: \x10\x00\x00\x00aaaa
 * solution: _\x00\x01\x00aaaa
 * fails: abort
 */
#include "hard.h"

/* A 32-bit length becomes a short. */
int main(void)
{
    unsigned len;
    if (read(0, &len, 4) != 4 || len > 0x20000)
        return 0;
    short small = (short)len;
    if (small < 100 && len >= 100 && small > 90)
        BUG();
    return 0;
}
