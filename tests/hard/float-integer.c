/*
 * floating point
 *
 * input: stdin
 * seed: aaaa
 * solution: \x01\x00\x00\x01
 * fails: abort
 */
#include "hard.h"

/* The conversion rounds. */
int main(void)
{
    unsigned v;
    if (read(0, &v, 4) != 4)
        return 0;
    float f = (float)v;
    if (f == 16777216.0f && v != 16777216)
        BUG();
    return 0;
}
