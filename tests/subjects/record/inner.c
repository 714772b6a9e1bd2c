#include <stdio.h>
static int inner(int x) { return x + 1; }
static int middle(int x) { int y = inner(x); printf("%d\n", y); return y * 2; }
static int outer(int x) { return middle(x) + 1; }
int main(void) { printf("%d\n", outer(3)); return 0; }
