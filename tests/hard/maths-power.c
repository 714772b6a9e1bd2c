/*
 * maths
 *
 * input: stdin
 * seed: aaaa
 * solution: \x0d\x05
 * fails: abort
 */
#include "hard.h"
#include <math.h>

int main(void)
{
    unsigned char b[2];
    if (read(0, b, 2) != 2)
        return 0;
    if (pow(b[0], b[1]) == 371293.0)
        BUG();
    return 0;
}
