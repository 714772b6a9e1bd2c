/*
 * loop bounded by input
 *
 * input: stdin
 * seed: \x01\x01\x01\x01
 * solution: [M
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[2];
    unsigned sum = 0;
    if (read(0, b, 2) != 2)
        return 0;
    for (unsigned i = 0; i < b[0]; i++)
        sum += i ^ b[1];
    if (sum == 6516)
        BUG();
    return 0;
}
