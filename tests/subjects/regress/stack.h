/* A stack of numbers, with functions that are hard on who writes tests. */
#ifndef STACK_H
#define STACK_H
#include <stddef.h>

enum stack_kind { STACK_PLAIN, STACK_UNIQUE = 7 };
struct stack;

struct stack *stack_new(enum stack_kind kind);
int stack_push(struct stack *s, int value);          /* 0, or -1 */
int stack_pop(struct stack *s, int *out);            /* 0, or -1 */
int stack_size(const struct stack *s);
const char *stack_name(const struct stack *s);
size_t stack_print(const struct stack *s, char *out, size_t size);
int stack_each(const struct stack *s, int (*see)(int value, void *user), void *user);
double stack_mean(const struct stack *s);
void stack_free(struct stack *s);

long stack_stamp(const struct stack *s);             /* differs from second to second */
int stack_garbage(const struct stack *s);            /* what malloc left there */
char *stack_copy_name(const struct stack *s);        /* the caller frees it */
int stack_lose(const struct stack *s);               /* leaks */
long stack_where(const struct stack *s);             /* where standard error stands */
#endif
