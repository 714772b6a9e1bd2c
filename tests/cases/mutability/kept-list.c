/*
 * name:   a va_list that a library keeps leads to its arguments
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: looks(p): immutable
 * absent: keeps_list(p): immutable
 * status: 0
 */
#include <stdarg.h>

struct item { long a; };

static va_list kept;
static void keep(int n, ...)
{
    va_start(kept, n);
}
struct item *take(void);
struct item *take(void) { return va_arg(kept, struct item *); }

void keeps_list(struct item *p, void (*f)(void))
{
    keep(1, p);
    f();
}

static long look(int n, ...)
{
    va_list ap;
    va_start(ap, n);
    long a = va_arg(ap, struct item *)->a;
    va_end(ap);
    return a;
}

long looks(struct item *p) { return look(1, p); }
