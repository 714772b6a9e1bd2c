/* Failures that are caught, very many of them: what is remembered must not
 * grow. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

static jmp_buf recover;

__attribute__((noinline)) void fail(int n)
{
    char line[64];
    snprintf(line, sizeof line, "%d", n);
    if (line[0])
        longjmp(recover, 1);
}

__attribute__((noinline)) void serve(int n)
{
    fail(n);
    puts("never");
}

__attribute__((noinline)) int finish(int *where)
{
    if (!where && !DEFECT)
        return 0;
    return printf("done\n") + *where;
}

int main(int argc, char **argv)
{
    int *where = argc > 99 ? &argc : NULL;
    for (volatile int n = 0; n < 100000; n++)
        if (setjmp(recover) == 0)
            serve(n);
    (void)argv;
    return finish(where) < 0;
}
