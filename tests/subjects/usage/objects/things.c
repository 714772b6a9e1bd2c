#include "things.h"
#include <stdlib.h>
#include <string.h>

struct text { size_t n; char s[]; };
struct item { int number; struct item *next; };
struct list { struct item *first; int n; };
struct node { struct pool *pool; int value, used; };
struct pool { int n; struct node nodes[]; };

struct text *text_new(void) { return calloc(1, sizeof(struct text)); }

struct text *text_append(struct text *t, const char *s, size_t n)
{
    struct text *more = malloc(sizeof *more + t->n + n);
    memcpy(more->s, t->s, t->n);
    memcpy(more->s + t->n, s, n);
    more->n = t->n + n;
    free(t);
    return more;
}

size_t text_length(const struct text *t) { return t->n; }
void text_free(struct text *t) { free(t); }

int list_open(struct list **out)
{
    *out = calloc(1, sizeof **out);
    return 0;
}

struct item *item_new(int number)
{
    struct item *i = calloc(1, sizeof *i);
    i->number = number;
    return i;
}

void item_free(struct item *i) { free(i); }
int item_number(const struct item *i) { return i->number; }

void list_push(struct list *l, struct item *i)
{
    i->next = l->first;
    l->first = i;
    l->n++;
}

struct item *list_first(struct list *l) { return l->first; }

int list_each(struct list *l, int (*see)(struct item *i, void *user), void *user)
{
    int n = 0;
    for (struct item *i = l->first; i; i = i->next)
        n += see(i, user);
    return n;
}

void list_close(struct list *l)
{
    while (l->first) {
        struct item *i = l->first;
        l->first = i->next;
        item_free(i);
    }
    free(l);
}

void cursor_init(struct cursor *c, struct list *l)
{
    c->list = l;
    c->at = l->first;
    c->n = 0;
}

int cursor_next(struct cursor *c)
{
    if (!c->at)
        return -1;
    c->at = c->at->next;
    return c->n++;
}

void cursor_end(struct cursor *c) { memset(c, 0, sizeof *c); }

struct pool *pool_new(int nodes)
{
    struct pool *p = calloc(1, sizeof *p + (size_t)nodes * sizeof(struct node));
    p->n = nodes;
    return p;
}

void pool_free(struct pool *p) { free(p); }

struct node *node_alloc(struct pool *p)
{
    for (int i = 0; i < p->n; i++)
        if (!p->nodes[i].used) {
            p->nodes[i] = (struct node){ p, 0, 1 };
            return &p->nodes[i];
        }
    return NULL;
}

void node_set(struct node *n, int value) { n->value = value; }

void node_free(struct node *n)
{
    if (n->used && n->pool)
        n->used = 0;
}
