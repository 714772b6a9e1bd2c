/*
 * floating point
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x06\x81\x95\x43\x8b\xa2\x73\x40
 * fails: abort
 */
#include "hard.h"
#include <math.h>

int main(void)
{
    double v;
    if (read(0, &v, 8) != 8 || !(fabs(v) < 1e6))
        return 0;
    if (floor(v) == 314 && ceil(v) == 315 && lround(v * 100) == 31416)
        BUG();
    return 0;
}
