/*
 * symbolic pointer
 *
 * input: stdin
 * seed: aaaa
 * solution: \x05\x02\x06\x01
 * fails: abort
 */
#include "hard.h"
#include <stdint.h>

/* The low bits of a pointer carry the input. */
int main(void)
{
    static _Alignas(8) char home[8];
    unsigned char b[4];
    uintptr_t kept[4];
    unsigned sum = 0;
    if (read(0, b, 4) != 4)
        return 0;
    for (int i = 0; i < 4; i++)
        kept[i] = (uintptr_t)home | (b[i] & 7);
    for (int i = 0; i < 4; i++)
        sum = sum * 8 + (unsigned)(kept[i] & 7);
    if (sum == 05261)
        BUG();
    return 0;
}
