/* A store to null is undefined, and so is all that leads to it. The monitored program fails
 * all the same. */
#include <stdio.h>

#define DEFECT 1

__attribute__((noinline)) static int half(int n)
{
    if (n > 1 && DEFECT) {
        int *p = 0;
        *p = 1;
    }
    return n / 2;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", half(argc));
    return 0;
}
