/*
 * floating point
 *
 * input: stdin
 * seed: 1 1                 
 * solution: 2.5 -4.25 0.125\x0a
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    double x, y;
    float z;
    if (scanf("%lf %lf %f", &x, &y, &z) != 3)
        return 0;
    if (x + y == -1.75 && x - y == 6.75 && z > 0.12f && z < 0.13f)
        BUG();
    return 0;
}
