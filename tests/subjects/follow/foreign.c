#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    char b[8];
    if (read(0, b, 8) != 8)
        return 1;
    memfrob(b, PART);
    if (b[6] == 'x')
        puts("x");
    if (b[1] == 'y')
        puts("y");
    return 0;
}
