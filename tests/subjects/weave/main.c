#include <stdio.h>
#include <stdlib.h>
int api(int); extern int counter;
int main(void) { for (int i = 0; i < 5; i++) { int n = api(i * 3); printf("%d %d\n", n, counter); } return 0; }
