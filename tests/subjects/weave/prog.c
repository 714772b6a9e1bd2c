#include <stdio.h>
#ifdef __clang__
int other(int n);
#else
#define other(n) ((n) + 1)
#endif
int main(void) { return printf("%d\n", other(1)) < 0; }
