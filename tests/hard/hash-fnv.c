/*
 * hash
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x94'\xda\x19e^\x9bH
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[8];
    unsigned h = 2166136261u;
    if (read(0, b, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i++)
        h = (h ^ b[i]) * 16777619u;
    if (h == 0x1badd00d)
        BUG();
    return 0;
}
