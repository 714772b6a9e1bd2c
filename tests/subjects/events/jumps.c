/* Two states. It keeps a jump buffer and an address on the stack, which are other ones at each start of the program. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf top;
static const char *name;
static int mode;

int main(int argc, char **argv)
{
    name = argv[argc - 1];
    if (setjmp(top))
        mode = 0;
    for (;;) {
        int c = getchar();
        if (c == 'e')
            longjmp(top, 1);
        else if (c == 'm')
            mode = 1;
        else if (c == 'n' && mode && !*name)
            return 1;
    }
}
