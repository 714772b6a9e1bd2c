/* A4. pot_copy() locks one pot, then the other: two copies in opposite directions wait for
 * each other. FIXED: the lower address first. */
#include "pot.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { ROOM = 16 };
struct pot {
    pthread_mutex_t lock;
    int numbers[ROOM], n;
};

struct pot *pot_new(void)
{
    struct pot *p = calloc(1, sizeof *p);
    if (p)
        pthread_mutex_init(&p->lock, NULL);
    return p;
}

void pot_free(struct pot *p)
{
    if (p)
        pthread_mutex_destroy(&p->lock);
    free(p);
}

static int add(struct pot *p, int n)
{
    if (p->n == ROOM)
        return -1;
    p->numbers[p->n++] = n;
    return 0;
}

int pot_add(struct pot *p, int n)
{
    pthread_mutex_lock(&p->lock);
    int r = add(p, n);
    pthread_mutex_unlock(&p->lock);
    return r;
}

int pot_copy(struct pot *d, struct pot *s)
{
    struct pot *first = d, *second = s;
    int r = 0;
    if (d == s)
        return 0;
#ifdef FIXED
    if ((uintptr_t)d > (uintptr_t)s) {
        first = s;
        second = d;
    }
#endif
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    for (int i = 0, n = s->n; i < n && !r; i++)
        r = add(d, s->numbers[i]);
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    return r;
}

int pot_sum(struct pot *p)
{
    unsigned sum = 0;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->n; i++)
        sum += (unsigned)p->numbers[i];
    pthread_mutex_unlock(&p->lock);
    return (int)sum;
}
