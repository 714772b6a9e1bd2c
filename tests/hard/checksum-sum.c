/*
 * checksum
 *
 * input: stdin
 * seed: \x00\x00\x00\x00\x00\x00\x00\x00
 * solution: H\xc8\xc8\xc8i\x00xj
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[8];
    unsigned sum = 0, product = 1;
    if (read(0, b, 8) != 8)
        return 0;
    for (int i = 0; i < 6; i++) {
        sum += b[i];
        product = product * 31 + b[i];
    }
    if (sum == 777 && (product & 0xffff) == (unsigned)(b[6] | b[7] << 8) && b[0] == 'H')
        BUG();
    return 0;
}
