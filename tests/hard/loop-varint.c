/*
 * loop bounded by input
 *
 * input: stdin
 * seed: \x01\x00\x00\x00\x00\x00
 * solution: \x95\x9a\xef:\x00\x00
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[6];
    unsigned long v = 0;
    int i = 0;
    if (read(0, b, 6) != 6)
        return 0;
    do
        v |= (unsigned long)(b[i] & 127) << (7 * i);
    while (b[i++] & 128 && i < 6);
    if (i == 4 && v == 123456789)
        BUG();
    return 0;
}
