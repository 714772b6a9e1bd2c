/*
 * name:   a library prints pointers by a va_list only as numbers
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: tells(p): unknown, own immutable
 * absent: hides(p): immutable
 * absent: hides(p): unknown, own immutable
 * status: 0
 */
#include <stdarg.h>
#include <stdio.h>

struct item { long a; char name[8]; };

static void vnote(char *to, size_t n, const char *format, va_list ap) { vsnprintf(to, n, format, ap); }

static void note(char *to, size_t n, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vnote(to, n, format, ap);
    va_end(ap);
}

/* The client may make a pointer of the number. */
void hides(struct item *p, void (*f)(const char *))
{
    char text[40];
    note(text, sizeof text, "%lx", (long)p);
    f(text);
}

void tells(struct item *p, void (*f)(const char *))
{
    char text[40];
    note(text, sizeof text, "%ld %s", p->a, p->name);
    f(text);
}
