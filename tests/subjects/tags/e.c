#include <stdio.h>
#include <stdlib.h>
struct S { int v; struct S *next; };
static void away(const struct S *s) { ((struct S *)s)->v = 1; }
static int value(const struct S *s) { return s->v; }
static int reads(const struct S *s) { return value(s) + (s->next ? s->next->v : 0); }
static char *find(const char *s) { while (*s && *s != 'x') s++; return (char *)s; }
int main(int argc, char **argv)
{
    struct S s = {0};
    char text[] = "abxc";
    *find(text) = 'y';
    if (argc > 1) away(&s);
    printf("%d %s\n", reads(&s), text);
    return 0;
}
