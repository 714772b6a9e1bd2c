/*
 * name:   a monitored program that dies leaves a crash file with its frames
 * run:    sundew capture -q -- cc -g $file -o prog && sundew monitor -q prog && { ./prog.monitored x; sundew reproduce --review *.crash; }
 * expect: length
 * expect: main
 * status: 0
 */
#include <stdio.h>

struct word { const char *text; int n; };

__attribute__((noinline)) static int length(const struct word *w)
{
    int n = 0;
    while (w->text[n])
        n++;
    return n;
}

int main(int argc, char **argv)
{
    struct word w = { argc > 1 ? NULL : argv[0], argc };
    printf("%d\n", length(&w));
    return 0;
}
