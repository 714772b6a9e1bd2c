/*
 * name:   an exported function that writes what it gets as const, by a function of the C library
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * absent: shows(p): immutable
 * absent: own immutable
 * status: 0
 */
#define _GNU_SOURCE
#include <string.h>

struct item { char text[8]; };

void cuts(const struct item *p)
{
    char *s = (char *)p->text;
    strsep(&s, "=");
}

void shows(struct item *p, void (*f)(const struct item *)) { f(p); }
