/*
 * computed jump
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x00\x00\x00\x01\x00\x02\x01\x03
 * fails: abort
 */
#include "hard.h"

/* A small machine: push, add, multiply, check. */
int main(void)
{
    static void *const code[] = { &&push, &&add, &&mul, &&end };
    unsigned char b[8];
    int stack[16] = { 0 }, n = 1, at = 0;
    if (read(0, b, 8) != 8)
        return 0;
next:
    if (at >= 8)
        return 0;
    goto *code[b[at++] & 3];
push:
    stack[n++] = at + 1;
    goto next;
add:
    if (n < 3)
        return 0;
    n--;
    stack[n - 1] += stack[n];
    goto next;
mul:
    if (n < 3)
        return 0;
    n--;
    stack[n - 1] *= stack[n];
    goto next;
end:
    if (n == 2 && stack[1] == 44)
        BUG();
    return 0;
}
