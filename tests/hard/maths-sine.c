/*
 * maths
 *
 * input: stdin
 * seed: aaaa
 * solution: \xc0O
 * fails: abort
 */
#include "hard.h"
#include <math.h>

int main(void)
{
    unsigned short v;
    if (read(0, &v, 2) != 2)
        return 0;
    double r = sin(v / 1000.0);
    if (r > 0.99999 && v > 20000 && v < 30000)
        BUG();
    return 0;
}
