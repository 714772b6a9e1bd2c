/*
 * loop bounded by input
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \xab\x90\x00\x00\x1d\xf1\x00\x00
 * fails: abort
 */
#include "hard.h"

static unsigned gcd(unsigned a, unsigned b)
{
    return b ? gcd(b, a % b) : a;
}

int main(void)
{
    unsigned v[2];
    if (read(0, v, 8) != 8)
        return 0;
    if (v[1] && v[0] % v[1] && gcd(v[0], v[1]) == 12345)
        BUG();
    return 0;
}
