/* An API: stacks, lists and cursors over lists. */
#ifndef BAG_H
#define BAG_H
#include <stddef.h>

struct stack;
struct stack *stack_new(void);
void stack_push(struct stack *s, int x);
int stack_peek(struct stack *s);       /* not of an empty one */
int stack_pop(struct stack *s);        /* not of an empty one */
size_t stack_size(struct stack *s);
void stack_free(struct stack *s);

struct list;
struct list *list_new(void);
void list_add(struct list *l, int x);
size_t list_size(struct list *l);
int list_get(struct list *l, size_t at);
void list_free(struct list *l);

struct cursor;
struct cursor *list_cursor(struct list *l);
int cursor_has_next(struct cursor *c);
int cursor_next(struct cursor *c);
void cursor_remove(struct cursor *c);  /* what next gave, once */
void cursor_free(struct cursor *c);
#endif
