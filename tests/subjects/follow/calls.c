#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <unistd.h>
static jmp_buf back;
static int add(int n, ...)
{
    va_list ap;
    int s = 0;
    va_start(ap, n);
    while (n-- > 0)
        s = 2 * s + va_arg(ap, int);
    va_end(ap);
    return s;
}
struct pair { int a; char b; double c; };
static struct pair twist(struct pair p) { p.a ^= 0x5a; p.c *= 2; return p; }
static int by_name(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
int main(void)
{
    char line[32], text[32];
    if (!fgets(line, sizeof line, stdin) || strlen(line) < 12)
        return 1;
    if (add(7, line[0], line[1], line[2], line[3], line[4], line[5], line[6]) == 12000)
        puts("sum");
    struct pair p = twist((struct pair){ line[7], line[8], line[9] / 4.0 });
    if (p.a == 0x12 && p.c > 60.5)
        puts("pair");
    snprintf(text, sizeof text, "<%03d>", line[10]);
    if (strcmp(text, "<077>") == 0)
        puts("text");
    qsort(line, 4, 1, by_name);
    if (memcmp(line, "aceg", 4) == 0)
        puts("sorted");
    if (setjmp(back) == 0 && line[11] == 'j')
        longjmp(back, 1);
    char *copy = realloc(strdup(line), 4000);
    int k = copy[11] == 'r';
    free(copy);
    return k;
}
