/*
 * floating point
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x00\x00\x00\x00\x00\x00\x3a\x42
 * fails: abort
 */
#include "hard.h"
#include <math.h>

int main(void)
{
    double v;
    int e;
    if (read(0, &v, 8) != 8 || v != v)
        return 0;
    double m = frexp(v, &e);
    if (e == 37 && m == 0.8125)
        BUG();
    return 0;
}
