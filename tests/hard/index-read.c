/*
 * symbolic index
 *
 * input: stdin
 * seed: aaaa
 * solution: \xc8\x11
 * fails: abort
 */
#include "hard.h"

static int table[256];

int main(void)
{
    unsigned char b[2];
    for (int i = 0; i < 256; i++)
        table[i] = i * i % 251 + (i == 200 ? 1000 : 0);
    if (read(0, b, 2) != 2)
        return 0;
    if (table[b[0]] > 1000 && b[1] == 17)
        BUG();
    return 0;
}
