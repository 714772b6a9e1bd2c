/*
 * value through a file
 *
 * input: stdin
 * seed: aaaa
 * solution: <36?
 * fails: abort
 */
#include "hard.h"

/* What is read again was written by the program. */
int main(void)
{
    unsigned char b[4], again[4];
    if (read(0, b, 4) != 4)
        return 0;
    for (int i = 0; i < 4; i++)
        b[i] ^= 0x5a;
    FILE *f = tmpfile();
    if (!f || fwrite(b, 1, 4, f) != 4)
        return 0;
    rewind(f);
    if (fread(again, 1, 4, f) != 4)
        return 0;
    fclose(f);
    if (memcmp(again, "file", 4) == 0)
        BUG();
    return 0;
}
