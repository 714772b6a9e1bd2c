/*
 * floating point
 *
 * input: stdin
 * seed: \x00\x00\x00\x00\x00\x00\xf8?
 * solution: \x00\x00\x00\x00\x00\x00\xf8\x7f
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    double v;
    if (read(0, &v, 8) != 8)
        return 0;
    if (v != v)
        BUG();
    return 0;
}
