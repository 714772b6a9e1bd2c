/*
 * loop bounded by input
 *
 * input: stdin
 * seed: \x01\x01
 * solution: `\x00
 * fails: abort
 */
#include "hard.h"

/* How often until one is reached? */
int main(void)
{
    unsigned char b[2];
    if (read(0, b, 2) != 2)
        return 0;
    unsigned v = b[0] + 1u, n = 0;
    while (v != 1 && n < 200) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        n++;
    }
    if (n == 118)
        BUG();
    return 0;
}
