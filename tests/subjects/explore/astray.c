/* A library function that nobody follows decides whether a comparison is reached. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int c = getchar();
    char text[2] = { (char)c, 0 };
    if (c == EOF)
        return 1;
    if (a64l(text) == 38) {            /* 'a' */
        if (c == 'b')
            puts("never");
        return 2;
    }
    return 0;
}
