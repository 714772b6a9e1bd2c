/*
 * library function
 *
 * input: stdin
 * seed: 1.5\x0a\x20\x20\x20\x20
 * solution: 27.125\x0a
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    char b[16] = "";
    if (!fgets(b, sizeof b, stdin))
        return 0;
    double v = strtod(b, NULL);
    if (v > 27.124 && v < 27.126)
        BUG();
    return 0;
}
