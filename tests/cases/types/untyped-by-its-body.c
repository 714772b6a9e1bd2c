/*
 * name:   a function that hands its argument on to free
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
#include <stdlib.h>
struct a { int i; }; struct b { int i; };

void drop(void *p)
{
    free(p);
}

void drop_all(struct a *a, struct b *b)
{
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(a); drop(a); drop(a); drop(a); drop(a); drop(a);
    drop(b);
}
