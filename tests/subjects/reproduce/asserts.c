/*
 * push() asserts what it is handed: the fix is elsewhere. take() asserts what it did: it may be
 * mended itself.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct stack {
    int n, room;
    int *items;
};

static void push(struct stack *s, int v)
{
    assert(s && s->room > 0);
    s->items[s->n++ % s->room] = v;
}

static int take(struct stack *s)
{
    int last = s->n - 1;
#if !DEFECT
    last = last < 0 ? 0 : last;
#endif
    assert(last >= 0);
    return last + s->items[0];
}

static int run(int room, int n)
{
    struct stack s = { .room = room };
#if !DEFECT
    s.room = room ? room : 1;
#endif
    s.items = calloc(4, sizeof *s.items);
    for (int i = 0; i < n; i++)
        push(&s, i);
    return take(&s);
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", run(argc - 2, argc - 1));
    return 0;
}
