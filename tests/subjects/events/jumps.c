/* Two states. It keeps a jump buffer and an address on the stack, which are other ones at each start of the program. A
 * jump leaves a function that waits, whose variables are no state then. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf top;
static const char *name;
static int mode;

static int next(void)
{
    char line[64];
    line[0] = (char)getchar();
    if (line[0] == 'e')
        longjmp(top, 1);
    return line[0];
}

int main(int argc, char **argv)
{
    name = argv[argc - 1];
    if (setjmp(top))
        mode = 0;
    for (;;) {
        int c = next();
        if (c == 'm')
            mode = 1;
        else if (c == 'n' && mode && !*name)
            return 1;
    }
}
