/*
 * loop bounded by input
 *
 * input: stdin
 * seed: \x01a\x01b\x00\x00\x00\x00
 * solution: \x03a\x05b\x01c\x02d
 * fails: abort
 */
#include "hard.h"

/* Run lengths: the text must come out. */
int main(void)
{
    unsigned char b[8];
    char out[32];
    unsigned n = 0;
    if (read(0, b, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i += 2)
        for (unsigned k = 0; k < b[i] && n < 31; k++)
            out[n++] = (char)b[i + 1];
    out[n] = 0;
    if (strcmp(out, "aaabbbbbcdd") == 0)
        BUG();
    return 0;
}
