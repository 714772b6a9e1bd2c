/*
 * name:   a library that was only built again gives no difference
 * run:    cc -E -P -DHEADER $file > stack.h && sundew capture -q -- sh -c 'cc -g -c $file && ar rcs libstack.a $name.o' && sundew regress libstack.a --headers stack.h --count 400 --seed 1 -o tests && make -s -C tests check && sundew capture -q -- sh -c 'cc -g -O2 -c $file && ar rcs libstack.a $name.o' && sundew regress libstack.a --headers stack.h --diff tests
 * absent: regress:
 * status: 0
 */
struct stack *stack_new(void);
int stack_push(struct stack *s, int value);
int stack_pop(struct stack *s);
int stack_depth(const struct stack *s);
void stack_free(struct stack *s);

#ifndef HEADER
#include <stdlib.h>

struct stack { int n, items[8]; };

struct stack *stack_new(void)
{
    return calloc(1, sizeof(struct stack));
}

int stack_push(struct stack *s, int value)
{
    if (s->n == 8)
        return -1;
    s->items[s->n++] = value;
    return s->n;
}

int stack_pop(struct stack *s)
{
    if (s->n == 0)
        return -1;
#ifdef WORSE
    return s->items[--s->n] + 1;
#else
    return s->items[--s->n];
#endif
}

int stack_depth(const struct stack *s)
{
    return s->n;
}

void stack_free(struct stack *s)
{
    free(s);
}
#endif
