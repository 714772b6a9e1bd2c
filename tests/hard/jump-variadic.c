/*
 * computed jump
 *
 * input: stdin
 * seed: aaaa
 * solution: \x0b\x16!,
 * fails: abort
 */
#include "hard.h"
#include <stdarg.h>

static int weigh(int n, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, n);
    for (int i = 1; i <= n; i++)
        sum += va_arg(list, int) * i;
    va_end(list);
    return sum;
}

int main(void)
{
    unsigned char b[4];
    if (read(0, b, 4) != 4)
        return 0;
    if (weigh(4, b[0], b[1], b[2], b[3]) == 330 && b[0] == 11 && b[1] == 2 * b[0] && b[2] == 3 * b[0])
        BUG();
    return 0;
}
