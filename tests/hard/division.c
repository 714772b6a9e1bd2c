/*
 * division by zero
 *
 * input: stdin
 * seed: \x01\x00\x00\x00\x02\x00\x00\x00
 * solution: H\x00\x00\x00\x01\x00\x00\x00
 * fails: fpe
 */
#include "hard.h"

int main(void)
{
    int v[2];
    if (read(0, v, 8) != 8 || v[0] < 0 || v[0] > 46000)
        return 0;
    int d = v[0] * v[0] - 5184;
    if (d == 0 && SAFE)
        return 0;
    return v[1] / 2 / d == 3;
}
