/*
 * library function
 *
 * input: stdin
 * seed: 1\x0a\x20\x20\x20\x20\x20\x20
 * solution: -48213\x0a
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    char b[16] = "";
    if (!fgets(b, sizeof b, stdin))
        return 0;
    if (atoi(b) == -48213)
        BUG();
    return 0;
}
