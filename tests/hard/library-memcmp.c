/*
 * library function
 *
 * input: stdin
 * seed: aaaaaaaaaaaaaaaaaaaaaaaa
 * solution: \x89SDW\x0d\x0a\x1a\x0a\x00\x00\x00\x0dHEADabcdabcd
 * fails: abort
 */
#include "hard.h"

static const unsigned char magic[16] = { 0x89, 'S', 'D', 'W', 13,  10,  26,  10,
                                         0,    0,   0,   13,  'H', 'E', 'A', 'D' };

int main(void)
{
    unsigned char b[24];
    if (read(0, b, 24) != 24 || memcmp(b, magic, 16) != 0)
        return 0;
    if (memcmp(b + 16, b + 20, 4) == 0 && b[16] != b[17])
        BUG();
    return 0;
}
