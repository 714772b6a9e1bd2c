/*
 * symbolic pointer
 *
 * input: stdin
 * seed: \x00\x00\x00\x00
 * solution: \x05\x05\x00\x00
 * fails: abort
 */
#include "hard.h"

static const short story[] = { 5, 1, 9, 8, 4, 7, 7, 3, 2, 6, 30000, 12, 13, 0, 1, 2 };

int main(void)
{
    unsigned char b[4];
    if (read(0, b, 4) != 4 || b[0] > 7 || b[1] > 7)
        return 0;
    const short *p = story + b[0];
    p += b[1];
    if (*p == 30000 && b[0] == 2 * b[1] - 5)
        BUG();
    return 0;
}
