/*
 * name:   what nobody wrote, what was freed and what lies outside is not learned
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog
 * expect: box_init
 * expect: ensures  b->n == n
 * expect: box_end
 * expect: requires b->n != 0
 * absent: -875836469
 * absent: 3419130827
 * status: 0
 */
#include <stdlib.h>

struct box { int n; int *items; };

__attribute__((noinline)) void box_init(struct box *b, int n)
{
    b->n = n;
    b->items = NULL;
}

__attribute__((noinline)) void box_end(struct box *b)
{
    free(b);
}

int main(void)
{
    for (int i = 0; i < 80; i++) {
        struct box *b = malloc(sizeof *b), local;
        box_init(b, i);
        box_init(&local, i);
        b->n = 5;
        box_end(b);
    }
    return 0;
}
