/*
 * checksum
 *
 * input: stdin
 * seed: aaaabbbbcccc
 * solution: IHDRabc\x80\x0c\xdd\xaf\x99
 * fails: abort
 */
#include "hard.h"

/* Eight bytes of text, and their CRC behind them. */
static unsigned crc32(const unsigned char *p, int n)
{
    unsigned c = 0xffffffff;
    for (int i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
    }
    return ~c;
}

int main(void)
{
    unsigned char b[12];
    unsigned want;
    if (read(0, b, 12) != 12)
        return 0;
    memcpy(&want, b + 8, 4);
    if (crc32(b, 8) != want)
        return 0;
    if (memcmp(b, "IHDR", 4) == 0 && b[7] == 0x80)
        BUG();
    return 0;
}
