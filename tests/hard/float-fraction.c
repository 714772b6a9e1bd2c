/*
 * floating point
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x00\x00\x10\x41\x00\x00\xc0\x40
 * fails: abort
 */
#include "hard.h"
#include <math.h>

int main(void)
{
    float x, y;
    if (read(0, &x, 4) != 4 || read(0, &y, 4) != 4)
        return 0;
    if (x > 1 && x < 1000 && y > 1 && y < 1000 && x / y == 1.5f && fmodf(x, 7) == 2)
        BUG();
    return 0;
}
