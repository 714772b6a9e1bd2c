/* Undefined behaviour is a matter of the compiler. This program makes that plain. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int c = getchar();
#ifdef __clang__
    if (c == 'C')
        abort();
#endif
    if (c == 'B')
        abort();
    return c == 'A';
}
