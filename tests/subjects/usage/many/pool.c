#include "pool.h"
#include <stdlib.h>
struct pool {
    int n;
};
struct thing {
    struct pool *p;
    int n;
};
struct pool *pool_new(void) { return calloc(1, sizeof(struct pool)); }
void pool_free(struct pool *p) { free(p); }
struct thing *thing_new(struct pool *p, int n)
{
    struct thing *t = malloc(sizeof *t);
    p->n++;
    t->p = p;
    t->n = n;
    return t;
}
int thing_add(struct thing *t, int n) { return t->n += n; }
int thing_get(const struct thing *t) { return t->n; }
void thing_free(struct thing *t)
{
    t->p->n--;
    free(t);
}
