/*
 * hash
 *
 * input: stdin
 * seed: aaaaaaaaaaaaaaaa
 * solution: opensesamesundew
 * fails: abort
 * label: cannot be inverted
 */
#include "hard.h"

/* Sixteen bytes, 64 rounds, 128 bits of state: nobody gets back. */
int main(void)
{
    unsigned char b[16];
    unsigned long s[2] = { 0x6a09e667f3bcc908, 0xbb67ae8584caa73b };
    if (read(0, b, 16) != 16)
        return 0;
    for (int r = 0; r < 64; r++) {
        unsigned long m;
        memcpy(&m, b + (r & 1) * 8, 8);
        s[0] = (s[0] ^ m) * 0x9e3779b97f4a7c15;
        s[0] ^= s[0] >> 29 ^ s[1];
        s[1] = (s[1] << 23 | s[1] >> 41) + s[0] * m;
    }
    if (s[0] == 0x141ad583803570dc && s[1] == 0xab58ffce236daa76)
        BUG();
    return 0;
}
