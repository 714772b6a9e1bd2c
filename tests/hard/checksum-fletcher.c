/*
 * checksum
 *
 * input: stdin
 * seed: aaaaaaaaaa
 * solution: F!a\xcd)\xb5\x85\x16\x11N
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned char b[10];
    unsigned x = 0, y = 0;
    if (read(0, b, 10) != 10)
        return 0;
    for (int i = 0; i < 8; i++) {
        x = (x + b[i]) % 255;
        y = (y + x) % 255;
    }
    if (b[0] == 'F' && b[1] == '!' && b[8] == x && b[9] == y && x == 17)
        BUG();
    return 0;
}
