/*
 * two-level table
 *
 * input: stdin
 * seed: aaaa
 * solution: \xf9\x0d
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    static int m[16][16];
    unsigned char b[2];
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++)
            m[i][k] = (i * 31 + k * 17) % 199;
    m[9][13] = 7777;
    if (read(0, b, 2) != 2)
        return 0;
    if (m[b[0] & 15][b[1] & 15] == 7777 && b[0] > 0xf0)
        BUG();
    return 0;
}
