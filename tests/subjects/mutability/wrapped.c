#include <stdio.h>

int look(const int *p);
int peek(const int *p);
int __real_look(const int *p) __attribute__((weak));

int by_look(int *p) { return look(p); }
int by_peek(int *p) { return peek(p); }
int by_real(int *p) { return __real_look ? __real_look(p) : 0; }

int main(void)
{
    int n = 1;
    printf("%d\n", by_look(&n) + by_peek(&n) + by_real(&n) + n);
    return 0;
}
