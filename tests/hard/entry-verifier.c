/*
 * verifier task
 *
 * input: call
 * seed: \x00\x00\x00\x00\x00\x00\x00\x00
 * solution: HL\x00\x00\xc9
 * fails: abort
 */
#include "hard.h"

extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);

int main(void)
{
    int x = __VERIFIER_nondet_int();
    unsigned char y = __VERIFIER_nondet_uchar();
    __VERIFIER_assume(x > 1000 && x < 100000);
    if (x % 251 == y && x / 251 == 77 && y > 200)
        BUG();
    return 0;
}
