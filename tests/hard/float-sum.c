/*
 * floating point
 *
 * input: stdin
 * seed: \x01\x02\x03\x04
 * solution: \xc8\x96d-
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[4];
    if (read(0, b, 4) != 4)
        return 0;
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += b[i] * 0.25f;
    if (sum == 123.75f && b[0] > b[1] && b[1] > b[2] && b[2] > b[3])
        BUG();
    return 0;
}
