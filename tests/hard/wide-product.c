/*
 * integer arithmetic
 *
 * input: stdin
 * seed: aaaaaaaaaaaaaaaa
 * solution: \x0c\x00\x00\x00\x00\x00\x00\x0e\xf3\xff\xff\xff\xff\xff\xff\xf1
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned long v[2];
    if (read(0, v, 16) != 16)
        return 0;
    unsigned __int128 p = (unsigned __int128)v[0] * 0x123456789abcdef1;
    if ((unsigned long)(p >> 64) == 0xfedcba98765432 && v[1] == ~v[0])
        BUG();
    return 0;
}
