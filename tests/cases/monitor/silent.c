/*
 * name:   a monitored program that ends well behaves like the plain one and leaves nothing
 * run:    sundew capture -q -- cc -g $file -o prog && sundew monitor -q prog && ./prog.monitored; echo "status $?"; ls *.crash 2>/dev/null | wc -l
 * expect: 3
 * expect: status 7
 * expect: 0
 * status: 0
 */
#include <stdio.h>

static int length(const char *text)
{
    int n = 0;
    while (text[n])
        n++;
    return n;
}

int main(void)
{
    printf("%d\n", length("abc"));
    return 7;
}
