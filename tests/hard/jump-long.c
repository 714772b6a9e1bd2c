/*
 * computed jump
 *
 * input: stdin
 * seed: aaaa
 * solution: \x1dK00
 * fails: abort
 */
#include "hard.h"
#include <setjmp.h>

static jmp_buf to;

int main(void)
{
    int v;
    if (read(0, &v, 4) != 4)
        return 0;
    int k = setjmp(to);
    if (k == 0)
        longjmp(to, (v & 0xffff) | 1);
    if (k == 0x4b1d)
        BUG();
    return 0;
}
