/*
 * name:   memory that is given back through a pointer to const is a note
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability prog
 * expect: $file:10:13: mutability: xfree: x points to const and is given back
 * absent: written through
 * status: 0
 */
#include <stdlib.h>

static void xfree(const void *x)
{
    if (x)
        free((void *)x);
}

int main(void)
{
    xfree(malloc(3));
    return 0;
}
