/*
 * integer overflow
 *
 * input: stdin
 * seed: \x01\x00\x00\x00
 * solution: \x00\x00\x00\x80
 * fails: abort
 */
#include "hard.h"

/* One number has a negative absolute value. */
int main(void)
{
    int v;
    if (read(0, &v, 4) != 4)
        return 0;
    int a = v < 0 ? (int)(0u - (unsigned)v) : v;
    if (a < 0)
        BUG();
    return 0;
}
