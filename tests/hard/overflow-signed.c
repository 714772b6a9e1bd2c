/*
 * integer overflow
 *
 * input: stdin
 * seed: \x01\x00\x00\x00\x02\x00\x00\x00
 * solution: \x00\x00\x00\x7f\x00\x00\x00\x7f
 * fails: ubsan
 */
#include "hard.h"

int main(void)
{
    int v[2];
    if (read(0, v, 8) != 8)
        return 0;
    if (v[0] == v[1] && v[0] > 1000000) {
        int sum = SAFE ? v[0] / 2 + v[1] / 2 : v[0] + v[1];
        printf("%d\n", sum);
    }
    return 0;
}
