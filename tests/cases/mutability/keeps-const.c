/*
 * name:   a library that keeps const: its client is trusted to do so, too
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: shows(p): unknown, own immutable
 * expect: gives(p): unknown, own immutable
 * status: 0
 */
#include <string.h>

struct item { char text[8]; };

static long reads(const struct item *p) { return p->text[0]; }

unsigned long measures(const struct item *p) { return strlen(p->text); }

void shows(struct item *p, void (*f)(const struct item *)) { f(p); }

void gives(struct item *p, void (*f)(const struct item *, long (*)(const struct item *))) { f(p, reads); }
