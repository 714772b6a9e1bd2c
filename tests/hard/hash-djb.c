/*
 * hash
 *
 * input: stdin
 * seed: aaaaaa
 * solution: zsun!7
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[6];
    unsigned h = 5381;
    if (read(0, b, 6) != 6)
        return 0;
    for (int i = 0; i < 6; i++)
        h = h * 33 + b[i];
    if (h == 0x2cd7642d)
        BUG();
    return 0;
}
