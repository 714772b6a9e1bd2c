/*
 * integer overflow
 *
 * input: stdin
 * seed: \x01\x00\x00\x00\x01\x00\x00\x00
 * solution: \x00\x20\x00\x00\x00\xf0\xff\xff
 * fails: abort
 */
#include "hard.h"

/* offset + length <= size is no check. */
int main(void)
{
    unsigned v[2];
    if (read(0, v, 8) != 8 || v[0] < 0x1800 || v[1] < 0x1800)
        return 0;
    if (v[0] + v[1] <= 0x2000 && (!SAFE || v[0] <= 0x2000 - v[1]))
        BUG();
    return 0;
}
