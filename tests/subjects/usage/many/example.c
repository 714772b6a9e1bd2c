/* Many things of one pool, all used alike. */
#include "pool.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100, sum = 0;
    struct pool *p = pool_new();
    for (int i = 0; i < n; i++) {
        struct thing *t = thing_new(p, i);
        for (int k = 0; k < 8; k++) {
            thing_add(t, k);
            sum += thing_get(t);
        }
        thing_free(t);
    }
    pool_free(p);
    printf("%d\n", sum);
}
