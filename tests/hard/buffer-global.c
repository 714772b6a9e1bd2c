/*
 * buffer overflow
 *
 * input: stdin
 * seed: aaaa
 * solution: \x10\xf7
 * fails: asan
 */
#include "hard.h"

static int before[4], table[16], behind[4];

int main(void)
{
    unsigned char b[2];
    if (read(0, b, 2) != 2 || (b[0] ^ b[1]) != 0xe7 || b[0] > (SAFE ? 15 : 16))
        return 0;
    table[b[0]] = 1;
    return before[0] + table[3] + behind[0];
}
