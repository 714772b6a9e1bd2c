/* A7, correct: what fails or waits here does so in serial orders, too. */
#include "stack.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { ROOM = 16 };
struct stack {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int numbers[ROOM], n;
};

struct stack *stack_new(void)
{
    struct stack *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->more, NULL);
    return s;
}

void stack_free(struct stack *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->more);
    free(s);
}

int stack_push(struct stack *s, int n)
{
    pthread_mutex_lock(&s->lock);
    int full = s->n == ROOM;
    if (!full) {
        s->numbers[s->n++] = n;
        pthread_cond_signal(&s->more);
    }
    pthread_mutex_unlock(&s->lock);
    return full ? -1 : 0;
}

int stack_pop(struct stack *s)
{
    pthread_mutex_lock(&s->lock);
    assert(s->n > 0);
    int n = s->numbers[--s->n];
    pthread_mutex_unlock(&s->lock);
    return n;
}

void stack_clear(struct stack *s)
{
    pthread_mutex_lock(&s->lock);
    s->n = 0;
    pthread_mutex_unlock(&s->lock);
}

int stack_take(struct stack *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->n == 0)
        pthread_cond_wait(&s->more, &s->lock);
    int n = s->numbers[--s->n];
    pthread_mutex_unlock(&s->lock);
    return n;
}
