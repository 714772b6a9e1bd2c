/*
 * floating point
 *
 * input: stdin
 * seed: \x00\x00\x80?\x00\x00\x80?
 * solution: \x00\x00\x00@\x08\xe5<\x1e
 * fails: abort
 */
#include "hard.h"

/* A number that is not 0 and makes no difference. */
int main(void)
{
    float v[2];
    if (read(0, v, 8) != 8)
        return 0;
    if (v[0] > 1.0f && v[0] < 1000.0f && v[1] > 0.0f && v[0] + v[1] == v[0])
        BUG();
    return 0;
}
