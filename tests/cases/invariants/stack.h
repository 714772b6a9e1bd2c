/* The stack of the published example: an array and the index of its top. */
#include <stdlib.h>
#include <stdbool.h>

struct stack {
    void **a;
    int cap, top;
};
extern int default_capacity;

struct stack *stack_new(int cap);
void stack_free(struct stack *s);
bool stack_is_empty(const struct stack *s);
bool stack_is_full(const struct stack *s);
void stack_clear(struct stack *s);
bool stack_push(struct stack *s, void *x);
bool stack_pop(struct stack *s);
void *stack_top(const struct stack *s);
void *stack_top_and_pop(struct stack *s);
