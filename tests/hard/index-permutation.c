/*
 * symbolic index
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x00\x0a\x02\x0b\x0f\x0c\x09\x08
 * fails: abort
 */
#include "hard.h"

/* The bytes must be the way through a permutation. */
static unsigned char next[16] = { 3, 7, 0, 12, 9, 1, 15, 10, 2, 6, 13, 4, 5, 8, 11, 14 };

int main(void)
{
    unsigned char b[8], at = 0;
    if (read(0, b, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i++) {
        at = next[(at + b[i]) & 15];
        if (at != (i * 5 + 3) % 16)
            return 0;
    }
    BUG();
    return 0;
}
