/*
 * integer overflow
 *
 * input: stdin
 * seed: \x01\x00\x00\x00\x01\x00\x00\x00
 * solution: \x03\x00\x00\x00\xab\xaa\xaa\xaa
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned v[2];
    if (read(0, v, 8) != 8)
        return 0;
    if (v[0] > 1 && v[1] > 1 && v[0] * v[1] == 1)
        BUG();
    return 0;
}
