/*
 * checksum
 *
 * input: stdin
 * seed: aaaabbbbcccc
 * solution: zbcdefgZ0\x03\xba\x0e
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[12];
    unsigned s = 1, t = 0, want;
    if (read(0, b, 12) != 12)
        return 0;
    for (int i = 0; i < 8; i++) {
        s = (s + b[i]) % 65521;
        t = (t + s) % 65521;
    }
    memcpy(&want, b + 8, 4);
    if ((t << 16 | s) == want && b[0] == 'z' && b[7] == 'Z')
        BUG();
    return 0;
}
