#include "set.h"
#include <string.h>
int len(struct set *l) { struct set *at = l; int n = 0; for (; at; at = at->next) n++; return n; }
int sum(struct set *l, int *bias)
{
    int *p = bias, *q = p;
    return l ? l->v + *q + len(l) + sum(l->next, p + 0) : 0;
}
void put(struct set *l) { l->v = 1; }
static int cb(char *s) { return s[0]; }
int (*by_pointer)(char *) = cb;
struct set *same(struct set *l) { return l; }
static struct set *kept;
void keep(struct set *l) { kept = l; }
typedef int *ip;
int hidden(ip p) { return *p; }
static int inner(int *a, char *name) { int *b = &a[1]; return *b + (int)strlen(name); }
int outer(int *a, char *n) { return inner(a, n); }
void deep(struct set *l) { l->next->v = 0; }
#define DECLARE(T) T *x
int by_macro(DECLARE(int)) { return *x; }
#define ALL int *all
int of_macro(ALL) { return *all; }
int main(int argc, char **argv)
{
    struct set x = { 0 };
    put(same(&x)); keep(&x); if (x.next) deep(&x);
    return len(kept) + sum(&x, &argc) + outer(&argc, argv[0]) + hidden(&argc) + by_pointer("x") + by_macro(&argc) + of_macro(&argc);
}
