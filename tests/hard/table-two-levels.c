/*
 * two-level table
 *
 * input: stdin
 * seed: aaaa
 * solution: \xac\x83
 * fails: abort
 */
#include "hard.h"

static unsigned char first[256], second[256];

int main(void)
{
    unsigned char b[2];
    for (int i = 0; i < 256; i++) {
        first[i] = (unsigned char)(i * 7 + 3);
        second[i] = (unsigned char)(i * 13 ^ 0x5a);
    }
    if (read(0, b, 2) != 2)
        return 0;
    if (second[first[b[0]]] == 0x11 && first[second[b[1]]] == 0xee)
        BUG();
    return 0;
}
