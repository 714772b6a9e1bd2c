/*
 * library function
 *
 * input: stdin
 * seed: 1-1-1\x0a\x20\x20\x20\x20\x20\x20
 * solution: 2024-2-29\x0a
 * fails: abort
 */
#include "hard.h"

/* A leap day. */
int main(void)
{
    char b[24] = "";
    int y, m, d;
    if (!fgets(b, sizeof b, stdin) || sscanf(b, "%d-%d-%d", &y, &m, &d) != 3)
        return 0;
    if (m == 2 && d == 29 && y > 1900 && y < 2100 && y % 4 == 0 && y % 100 != 0)
        BUG();
    return 0;
}
