/* An error that is caught deep inside and ends the program further out: the
 * frames from before the catch are still there. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

static jmp_buf recover;

__attribute__((noinline)) void parse(const char *text, int depth)
{
    if (*text == '(')
        parse(text + 1, depth + 1);
    else if (depth > 2)
        longjmp(recover, depth);
    printf("%d\n", depth);
}

__attribute__((noinline)) int process(const char *text)
{
    int error = setjmp(recover);
    if (error == 0) {
        parse(text, 0);
        return 0;
    }
    if (DEFECT)
        abort();
    return error;
}

int main(void)
{
    return process("(((x") > 9;
}
