/* Failures that are caught, very many of them: what is remembered must not
 * grow. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

static jmp_buf recover;

void fail(int n)
{
    char line[64];
    snprintf(line, sizeof line, "%d", n);
    if (line[0])
        longjmp(recover, 1);
}

void serve(int n)
{
    CALL(fail)(n);
    puts("never");
}

int finish(int *where)
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
            CALL(serve)(n);
    (void)argv;
    return CALL(finish)(where) < 0;
}
