/*
 * library function
 *
 * input: stdin
 * seed: a,b,c\x0a\x20\x20\x20\x20\x20
 * solution: set,x,99\x0a
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    char b[24] = "", *part[3];
    int n = 0;
    if (!fgets(b, sizeof b, stdin))
        return 0;
    for (char *p = strtok(b, ",\n"); p && n < 3; p = strtok(NULL, ",\n"))
        part[n++] = p;
    if (n == 3 && strcmp(part[0], "set") == 0 && strcmp(part[1], "x") == 0 && atoi(part[2]) == 99)
        BUG();
    return 0;
}
