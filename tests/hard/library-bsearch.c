/*
 * library function
 *
 * input: stdin
 * seed: aaaa
 * solution: \xaa\xe1\x19\x00
 * fails: abort
 */
#include "hard.h"

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    int table[64], v;
    for (int i = 0; i < 64; i++)
        table[i] = i * i * 1009 + i;
    if (read(0, &v, 4) != 4)
        return 0;
    int *p = bsearch(&v, table, 64, sizeof *table, by_value);
    if (p && p - table == 41)
        BUG();
    return 0;
}
