#include "stack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct stack {
    enum stack_kind kind;
    int n, cap;
    int *items;
    int unused;
};

struct stack *stack_new(enum stack_kind kind)
{
    if (kind != STACK_PLAIN && kind != STACK_UNIQUE)
        return NULL;
    struct stack *s = malloc(sizeof *s);
    s->kind = kind;
    s->n = 0;
    s->cap = 2;
    s->items = malloc(2 * sizeof *s->items);
#ifdef FAULTY
    s->items[2] = 0;             /* one too far; malloc() has room for it */
#endif
    return s;
}

int stack_push(struct stack *s, int value)
{
    if (s->kind == STACK_UNIQUE)
        for (int i = 0; i < s->n; i++)
            if (s->items[i] == value)
                return -1;
    if (s->n == s->cap)
        s->items = realloc(s->items, (size_t)(s->cap *= 2) * sizeof *s->items);
    s->items[s->n++] = value;
    return 0;
}

int stack_pop(struct stack *s, int *out)
{
    if (!s->n) {
#ifdef DEMANDING
        abort();                 /* the caller has to know: the example does */
#endif
        return -1;
    }
    *out = s->items[--s->n];
    return 0;
}

int stack_size(const struct stack *s) { return s->n; }

const char *stack_name(const struct stack *s)
{
    return s->kind == STACK_UNIQUE ? "unique" : "plain";
}

size_t stack_print(const struct stack *s, char *out, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < s->n; i++)
        at += (size_t)snprintf(at < size ? out + at : NULL, at < size ? size - at : 0,
                               i ? " %d" : "%d", s->items[i]);
    if (!s->n && size)
        *out = 0;
    return at;
}

int stack_each(const struct stack *s, int (*see)(int value, void *user), void *user)
{
    int i = 0;
    while (see && i < s->n && see(s->items[i], user) == 0)
        i++;
    return i;
}

double stack_mean(const struct stack *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum += s->items[i];
    return s->n ? sum / s->n : 0;
}

void stack_free(struct stack *s)
{
    if (s)
        free(s->items);
    free(s);
}

long stack_stamp(const struct stack *s) { return (long)time(NULL) + s->n; }
int stack_garbage(const struct stack *s) { return s->unused; }
char *stack_copy_name(const struct stack *s) { return strdup(stack_name(s)); }

int stack_lose(const struct stack *s)
{
    int *copy = malloc(sizeof *copy);
    *copy = s->n;
    return *copy + 100;
}

long stack_where(const struct stack *s) { return (long)lseek(2, 0, SEEK_CUR) + s->n; }
