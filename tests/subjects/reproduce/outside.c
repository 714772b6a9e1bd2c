/* Fails by its environment, which no crash file holds: no test reproduces it. */
#include <stdio.h>
#include <stdlib.h>

static int look(int n)
{
    const char *how = getenv("OUTSIDE");
    int *p = how ? NULL : &n;
    return *(volatile int *)p;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", look(argc));
    return 0;
}
