/*
 * hash
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \xff$E\xc2\x0d\x08\x8cJ
 * fails: abort
 */
#include "hard.h"

/* Four rounds of a small cipher. */
int main(void)
{
    unsigned v[2], sum = 0;
    if (read(0, v, 8) != 8)
        return 0;
    for (int i = 0; i < 4; i++) {
        sum += 0x9e3779b9;
        v[0] += (v[1] << 4) ^ (v[1] >> 5) ^ (v[1] + sum);
        v[1] += (v[0] << 4) ^ (v[0] >> 5) ^ (v[0] + sum);
    }
    if (v[0] == 0x41424344 && v[1] == 0x45464748)
        BUG();
    return 0;
}
