#include <stdio.h>
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
void __VERIFIER_assume(int);
void klee_make_symbolic(void *, unsigned long, const char *);
int main(void)
{
    char s[4];
    int v = __VERIFIER_nondet_int();
    klee_make_symbolic(s, 3, "s");
    s[3] = 0;
    __VERIFIER_assume(v != 0);
    printf("%d %s %d\n", v, s, __VERIFIER_nondet_uchar());
    return 0;
}
