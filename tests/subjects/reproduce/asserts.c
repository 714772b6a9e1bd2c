/*
 * push() asserts what it is handed, checked() too, by a call that only looks: the fix is elsewhere.
 * take() asserts what a call has done: it may be mended itself.
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

static int pop(struct stack *s)
{
    return --s->n;
}

static int room_of(const struct stack *s)
{
    return s->room;
}

static int take(struct stack *s)
{
    int last = pop(s);
#if !DEFECT
    last = last < 0 ? 0 : last;
#endif
    assert(last >= 0);
    return last + s->items[0];
}

static int checked(const struct stack *s)
{
    int left = room_of(s) - s->n;
    assert(left < 90);
    return left;
}

static int run(int room, int n)
{
    struct stack s = { .room = room };
#if !DEFECT
    s.room = room && room < 90 ? room : 1;
#endif
    s.items = calloc(4, sizeof *s.items);
    for (int i = 0; i < n; i++)
        push(&s, i);
    return take(&s) + (room > 2 ? checked(&s) : 0);
}

int main(int argc, char **argv)
{
    int room = argc > 2 ? atoi(argv[2]) : argc - 2;
    printf("%d\n", run(room, argc - 1));
    return 0;
}
