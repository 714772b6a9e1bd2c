/*
 * loop bounded by input
 *
 * input: stdin
 * seed: aa
 * solution: \x0e\x00
 * fails: abort
 */
#include "hard.h"

static unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
    unsigned short n;
    if (read(0, &n, 2) != 2 || n > 20)
        return 0;
    if (fibonacci(n) == 377)
        BUG();
    return 0;
}
