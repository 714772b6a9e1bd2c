/*
 * symbolic pointer
 *
 * input: stdin
 * seed: aaaa
 * solution: \x09\x0d\x02\x00
 * fails: abort
 */
#include "hard.h"

/* A field is hit by a sum of two offsets. */
struct cell {
    char name[6];
    unsigned char mark, kind;
};

int main(void)
{
    static struct cell cells[4];
    unsigned char b[4];
    if (read(0, b, 4) != 4 || b[0] >= sizeof cells - 8 || b[1] > 13)
        return 0;
    unsigned char *p = (unsigned char *)cells + b[0];
    p[b[1]] = b[2] + 40;
    if (cells[2].mark == 42)
        BUG();
    return 0;
}
