/* A7: a stack of numbers. It is thread-safe: any function but stack_free() may be called
 * by several threads at the same time. Popping from an empty stack is a mistake. */
#ifndef STACK_H
#define STACK_H

struct stack;

struct stack *stack_new(void);
void stack_free(struct stack *s);
int stack_push(struct stack *s, int n);         /* -1: full */
int stack_pop(struct stack *s);                 /* asserts that there is one */
void stack_clear(struct stack *s);
int stack_take(struct stack *s);                /* waits until there is one */
#endif
