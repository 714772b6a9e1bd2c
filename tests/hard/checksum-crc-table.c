/*
 * checksum
 *
 * input: stdin
 * seed: aaaabbbb
 * solution: \xc3jH\xf8aaaa
 * fails: abort
 */
#include "hard.h"

/* The same by a table: which text has this CRC? */
int main(void)
{
    static unsigned table[256];
    unsigned char b[4];
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        table[i] = c;
    }
    if (read(0, b, 4) != 4)
        return 0;
    unsigned c = 0xffffffff;
    for (int i = 0; i < 4; i++)
        c = c >> 8 ^ table[(c ^ b[i]) & 255];
    if (~c == 0x8b3a6f21)
        BUG();
    return 0;
}
