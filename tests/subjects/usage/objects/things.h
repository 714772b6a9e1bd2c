/* things - the ways in which C hands objects around. */
#ifndef THINGS_H
#define THINGS_H
#include <stddef.h>

/* Moves when it grows: the returned one takes the place of the one passed. */
struct text;
struct text *text_new(void);
struct text *text_append(struct text *t, const char *s, size_t n);
size_t text_length(const struct text *t);
void text_free(struct text *t);

/* Comes out of a parameter; owns its items. */
struct list;
struct item;
int list_open(struct list **out);
void list_close(struct list *l);
struct item *item_new(int number);
void item_free(struct item *i);                         /* of one that is in no list */
int item_number(const struct item *i);
void list_push(struct list *l, struct item *i);         /* takes the item */
struct item *list_first(struct list *l);                /* stays the list's */
int list_each(struct list *l, int (*see)(struct item *i, void *user), void *user);

/* In the caller's storage. */
struct cursor { struct list *list; struct item *at; int n; };
void cursor_init(struct cursor *c, struct list *l);
int cursor_next(struct cursor *c);
void cursor_end(struct cursor *c);

/* Comes from a pool, which hands its memory out again. */
struct pool;
struct node;
struct pool *pool_new(int nodes);
void pool_free(struct pool *p);
struct node *node_alloc(struct pool *p);
void node_set(struct node *n, int value);
void node_free(struct node *n);
#endif
