/*
 * library function
 *
 * input: stdin
 * seed: aaaaaa
 * solution: \x11\x0d\x0b\x07\x05\x03
 * fails: abort
 */
#include "hard.h"

static int by_value(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

int main(void)
{
    unsigned char b[6];
    if (read(0, b, 6) != 6 || b[0] < b[1] || b[1] < b[2])
        return 0;
    qsort(b, 6, 1, by_value);
    if (b[0] == 3 && b[1] == 5 && b[2] == 7 && b[3] == 11 && b[4] == 13 && b[5] == 17)
        BUG();
    return 0;
}
