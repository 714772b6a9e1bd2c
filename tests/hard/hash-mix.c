/*
 * hash
 *
 * input: stdin
 * seed: aaaa
 * solution: E\x11\xf6K
 * fails: abort
 */
#include "hard.h"

/* A mixer that can be undone. */
int main(void)
{
    unsigned v;
    if (read(0, &v, 4) != 4)
        return 0;
    v ^= v >> 16;
    v *= 0x85ebca6b;
    v ^= v >> 13;
    v *= 0xc2b2ae35;
    v ^= v >> 16;
    if (v == 0x5eed5eed)
        BUG();
    return 0;
}
