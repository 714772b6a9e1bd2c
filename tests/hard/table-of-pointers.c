/*
 * two-level table
 *
 * input: stdin
 * seed: aaaa
 * solution: \x03\x01
 * fails: abort
 */
#include "hard.h"

static const int a[] = { 1, 2, 3, 4 }, c[] = { 5, 6, 7, 8 }, d[] = { 9, 4242, 11, 12 };
static const int *const rows[] = { a, c, a, d, c, a, a, c };

int main(void)
{
    unsigned char b[2];
    if (read(0, b, 2) != 2 || b[0] > 7 || b[1] > 3)
        return 0;
    if (rows[b[0]][b[1]] == 4242)
        BUG();
    return 0;
}
