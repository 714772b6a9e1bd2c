/*
 * maths
 *
 * input: stdin
 * seed: aaaa
 * solution: \x11?\x88:
 * fails: abort
 */
#include "hard.h"
#include <math.h>

int main(void)
{
    unsigned v;
    if (read(0, &v, 4) != 4)
        return 0;
    double r = sqrt((double)v);
    if (r == 31337.0)
        BUG();
    return 0;
}
