/* Waits at two places without keeping a value: the place itself is state. */
#include <stdio.h>

static int done;

static void ask(void)
{
    int c = getchar();
    if (c == 'y')
        done = 1;
}

int main(void)
{
    while (!done) {
        int c = getchar();
        if (c == 'q')
            ask();
        else if (c == 'y')
            puts("not now");
    }
    return 0;
}
