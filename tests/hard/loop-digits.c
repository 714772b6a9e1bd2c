/*
 * loop bounded by input
 *
 * input: stdin
 * seed: aaaa
 * solution: \xff\x27\x6b\xee
 * fails: abort
 */
#include "hard.h"

/* The sum of decimal digits. */
int main(void)
{
    unsigned v, sum = 0;
    if (read(0, &v, 4) != 4)
        return 0;
    for (unsigned rest = v; rest; rest /= 10)
        sum += rest % 10;
    if (sum == 84)
        BUG();
    return 0;
}
