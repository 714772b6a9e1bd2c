/* An error that is caught deep inside and ends the program further out: the
 * frames from before the catch are still there. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

static jmp_buf recover;

void parse(const char *text, int depth)
{
    if (*text == '(')
        CALL(parse)(text + 1, depth + 1);
    else if (depth > 2)
        longjmp(recover, depth);
    printf("%d\n", depth);
}

int process(const char *text)
{
    int error = setjmp(recover);
    if (error == 0) {
        CALL(parse)(text, 0);
        return 0;
    }
    if (DEFECT)
        abort();
    return error;
}

int main(void)
{
    return CALL(process)("(((x") > 9;
}
