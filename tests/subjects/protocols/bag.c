#include "bag.h"
#include "elsewhere.h"
#include <assert.h>
#include <stdlib.h>

struct stack {
    int items[64];
    size_t n;
};
struct list {
    int items[64];
    size_t n;
};
struct cursor {
    struct list *list;
    size_t at;
    int fresh;
};

struct stack *stack_new(void) { return calloc(1, sizeof(struct stack)); }
void stack_push(struct stack *s, int x) { s->items[s->n++] = x; }
size_t stack_size(struct stack *s) { return s->n; }
void stack_free(struct stack *s) { free(s); }

int stack_peek(struct stack *s)
{
    assert(s->n > 0);
    return s->items[s->n - 1];
}

int stack_pop(struct stack *s)
{
    assert(s->n > 0);
    return s->items[--s->n];
}

struct list *list_new(void) { return calloc(1, sizeof(struct list)); }
void list_add(struct list *l, int x) { l->items[l->n++] = x; }
size_t list_size(struct list *l) { return l->n; }
void list_free(struct list *l) { free(l); }

int list_get(struct list *l, size_t at)
{
    assert(at < l->n);
    return l->items[at];
}

struct cursor *list_cursor(struct list *l)
{
    struct cursor *c = calloc(1, sizeof *c);
    c->list = l;
    return c;
}

int cursor_has_next(struct cursor *c) { return c->at < c->list->n; }

int cursor_next(struct cursor *c)
{
    assert(c->at < c->list->n);
    c->fresh = 1;
    return c->list->items[c->at++];
}

void cursor_remove(struct cursor *c)
{
    assert(c->fresh);
    c->fresh = 0;
    for (size_t i = --c->at; i + 1 < c->list->n; i++)
        c->list->items[i] = c->list->items[i + 1];
    c->list->n--;
}

void cursor_free(struct cursor *c) { free(c); }

struct cursor *cursor_of_nothing(void)
{
    static struct list nothing;
    return list_cursor(&nothing);
}
