#include <stdarg.h>
#include <stdlib.h>
struct big { long a[4]; };
struct item { const char *name; };
static int take(int n, ...)
{
    va_list list;
    va_start(list, n);
    va_end(list);
    return n;
}
int main(int argc, char **argv)
{
    int (*volatile through)(int, ...) = take;
    struct item *i = malloc(sizeof *i);
    struct big b = { { 0 } };
    i->name = argv[argc - 1];
    take(1, 5, -6000000000L, 2.5, "lit", i->name, i, NULL, &argc ? 'x' : 0);
    take(2);
    take(3, b);
    through(4, 5);
    free(i);
    return 0;
}
