/*
 * computed jump
 *
 * input: stdin
 * seed: \x00\x00\x00\x00\x00\x00\x00\x00
 * solution: \x01\x07\x02\x06\x04\x02\x05*
 * fails: abort
 */
#include "hard.h"

/* The input is a program of four instructions. */
int main(void)
{
    static void *const code[] = { &&stop, &&load, &&times, &&plus, &&minus, &&test };
    unsigned char b[17] = "";
    unsigned at = 0, value = 0;
    if (read(0, b, 8) != 8)
        return 0;
next:
    if (at >= 16)
        return 0;
    goto *code[b[at] % 6];
load:
    value = b[at + 1];
    at += 2;
    goto next;
times:
    value *= b[at + 1];
    at += 2;
    goto next;
plus:
    value += b[at + 1];
    at += 2;
    goto next;
minus:
    value -= b[at + 1];
    at += 2;
    goto next;
test:
    if (value == 40 && b[at + 1] == 42 && at == 6)
        BUG();
    at += 2;
    goto next;
stop:
    return 0;
}
