/*
 * symbolic index
 *
 * input: stdin
 * seed: aaaa
 * solution: %\x00\x00\x00
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[4];
    char mark[64] = { 0 };
    if (read(0, b, 4) != 4 || b[0] >= 64)
        return 0;
    mark[b[0]] = 1;
    if (mark[37])
        BUG();
    return 0;
}
