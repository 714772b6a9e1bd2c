/*
 * name:   the library and a va_list hand pointers to functions of a client
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: printed(p): unknown, own immutable
 * expect: sorts_own(p): immutable
 * absent: searched(p): immutable
 * absent: listed(p): immutable
 * absent: shown(p): immutable
 * status: 0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct item { long a; };

typedef int compare(const void *, const void *);

/* The client's function gets the address of the array, and finds the item in it. */
int searched(struct item *p, compare *cmp)
{
    struct item *all[2] = { p, p };
    return bsearch("k", all, 2, sizeof *all, cmp) != 0;
}

static void say(void (*f)(const char *, va_list), const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    f(format, ap);
    va_end(ap);
}

void listed(struct item *p, void (*f)(const char *, va_list)) { say(f, "%s", p); }

/* The client makes a pointer of the text. */
void shown(struct item *p, void (*f)(const char *))
{
    char text[40];
    snprintf(text, sizeof text, "%p", (void *)p);
    f(text);
}

static void note(char *to, size_t n, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(to, n, format, ap);
    va_end(ap);
}

/* Here only what it is called goes on. */
void printed(char *p, void (*f)(const char *))
{
    char text[40];
    note(text, sizeof text, "%d %s", 3, p);
    f(text);
}

static int by_value(const void *x, const void *y)
{
    struct item *const *a = x, *const *b = y;
    return ((*a)->a > (*b)->a) - ((*a)->a < (*b)->a);
}

int sorts_own(struct item *p)
{
    struct item *all[2] = { p, p };
    return bsearch(&p, all, 2, sizeof *all, by_value) != 0;
}
