/* Two places that fail alike: the optimiser makes one of them, which has no line. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

struct box {
    int size;
    int *items;
};

__attribute__((noinline)) void put(struct box *b, int kind, int value)
{
    if (kind == 1)
        b->items[0] = value;
    else if (kind == 2)
        puts("two");
    else if (kind == 3)
        b->items[0] = value;
}

__attribute__((noinline)) int fill(int kind)
{
    struct box b = { 1, NULL };
    if (kind == 1 || !DEFECT)
        b.items = calloc(4, sizeof *b.items);
    put(&b, kind, 7);
    int got = b.items ? b.items[0] : 0;
    free(b.items);
    return got;
}

int main(int argc, char **argv)
{
    (void)argv;
    return fill(argc + 1) == fill(argc + 2);
}
