/*
 * name:   AT4: what a method starts with, the constructor may have left
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog && printf 'Follows(box_new, box_use)\nFollows(ring_add, ring_drop)\n' > r && sundew invariants prog --constraints r
 * expect: ensures  return->fld == 100
 * expect: ensures  r->head == 0 || r->head == 1 || r->head == 2
 * expect: - ensures  return->fld == 100
 * expect: refuted by Follows(box_new, box_use): return->fld =
 * expect: + ensures  return->fld > 0
 * expect: - ensures  r->head == 0 || r->head == 1 || r->head == 2
 * expect: + ensures  r->head >= 0
 * status: 0
 */
#include <stdlib.h>

struct box { int fld; };
struct ring { int head; };

__attribute__((noinline)) struct box *box_new(void)
{
    struct box *b = malloc(sizeof *b);
    b->fld = 100;
    return b;
}

__attribute__((noinline)) void box_use(struct box *b)
{
    b->fld++;
}

__attribute__((noinline)) void ring_add(struct ring *r)
{
    r->head = (r->head + 1) % 3;
}

__attribute__((noinline)) void ring_drop(struct ring *r)
{
    r->head--;
}

int main(void)
{
    struct ring *r = calloc(1, sizeof *r);
    for (int i = 0; i < 60; i++) {
        struct box *b = box_new();
        for (int k = 1; k < 40; k++) {
            b->fld = k;
            box_use(b);
        }
        free(b);
        r->head %= 3;
        ring_add(r);
        for (int k = 0; k < 20; k++) {
            struct ring other = { k };
            ring_drop(&other);
        }
    }
    free(r);
    return 0;
}
