#include "shelf.h"
#include "bag.h"
#include "elsewhere.h"
#include <stdlib.h>

struct shelf {
    struct stack *stack;
    struct list *pages;
    struct cursor *cursor;
    int fresh;
};

struct shelf *shelf_new(void)
{
    struct shelf *s = calloc(1, sizeof *s);
    s->stack = stack_new();
    s->pages = list_new();
    return s;
}

void shelf_free(struct shelf *s)
{
    if (s->cursor)
        cursor_free(s->cursor);
    stack_free(s->stack);
    list_free(s->pages);
    free(s);
}

void shelf_fill(struct shelf *s, int x) { stack_push(s->stack, x); }

int shelf_report(struct shelf *s)
{
#ifdef FIXED
    if (!stack_size(s->stack))
        return -1;
#endif
    return stack_peek(s->stack);
}

/* The shelf must have been filled. */
int shelf_top(struct shelf *s) { return stack_peek(s->stack); }

void shelf_page(struct shelf *s, int x) { list_add(s->pages, x); }

int shelf_current(struct shelf *s)
{
    size_t n = list_size(s->pages);
#ifdef FIXED
    if (!n)
        return -1;
#endif
    return list_get(s->pages, n - 1);
}

void shelf_begin(struct shelf *s)
{
    if (s->cursor)
        cursor_free(s->cursor);
    s->cursor = list_cursor(s->pages);
}

int shelf_next(struct shelf *s)
{
    s->fresh = cursor_has_next(s->cursor);
    return s->fresh ? cursor_next(s->cursor) : -1;
}

void shelf_flush(struct shelf *s)
{
#ifdef FIXED
    if (!s->fresh)
        return;
    s->fresh = 0;
#endif
    cursor_remove(s->cursor);
}

/* A cursor that no call we see has made. */
int shelf_foreign(void)
{
    struct list *mine = list_new();
    struct cursor *c = cursor_of_nothing();
    int x = cursor_next(c);
    cursor_free(c);
    list_free(mine);
    return x;
}

/* Gone afterwards, though neither the name nor the code says so. */
static void (*gone)(void *) = free;
void shelf_away(struct shelf *s)
{
    stack_free(s->stack);
    list_free(s->pages);
    gone(s);
}
