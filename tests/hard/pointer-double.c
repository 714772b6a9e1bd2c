/*
 * symbolic pointer
 *
 * input: stdin
 * seed: aaaa
 * solution: \x02\x01\x03\x07
 * fails: abort
 */
#include "hard.h"

/* Which numbers grow is decided by two levels of pointers. */
int main(void)
{
    static int values[4];
    int *rows[4] = { &values[3], &values[0], &values[2], &values[1] };
    int **tables[3] = { &rows[1], &rows[0], &rows[2] };
    unsigned char b[4];
    if (read(0, b, 4) != 4)
        return 0;
    *tables[b[0] % 3][b[1] % 2] += b[2];
    *tables[b[1] % 3][b[0] % 2] += b[3];
    if (values[1] == 3 && values[3] == 7)
        BUG();
    return 0;
}
