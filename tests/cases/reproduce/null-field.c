/*
 * name:   a crash becomes tests that crash in the same way
 * run:    sundew capture -q -- cc -g $file -o prog && sundew monitor -q prog && { ./prog.monitored x; sundew reproduce *.crash -o tests; make -s -C tests check; }
 * expect: yes         yes          2        main
 * expect: yes         no           0        length
 * expect: yes         no           1        total
 * expect: $file:21: reproduce:
 * status: 2
 */
#include <stdio.h>

struct word { const char *text; int n; };

/* handed the damage: w is there, its text is null already */
__attribute__((noinline)) static int length(const struct word *w)
{
    int n = 0;
    if (w->n > 9)
        return -1;
    /* the fault */
    while (w->text[n])
        n++;
    return n;
}

__attribute__((noinline)) static int total(const struct word *all, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += length(&all[i]);
    return sum;
}

int main(int argc, char **argv)
{
    struct word all[2] = { { argv[0], 1 }, { argc > 1 ? NULL : "b", 2 } };
    printf("%d\n", total(all, 2));
    return 0;
}
