/*
 * jump through a table
 *
 * input: stdin
 * seed: aaaa
 * solution: \x02\x00\x01\x02
 * fails: abort
 */
#include "hard.h"

static int one(int v) { return v * 3; }
static int two(int v) { return v - 7; }
static int three(int v) { return v ^ 0x55; }
static int (*const table[])(int) = { one, two, three };

int main(void)
{
    unsigned char b[4];
    int v = 5;
    if (read(0, b, 4) != 4)
        return 0;
    for (int i = 0; i < 4; i++)
        v = table[b[i] % 3](v);
    if (v == 188)
        BUG();
    return 0;
}
