/* A lost wake-up: bqueue_take() looks for a number, and begins to wait in a second step. A
 * put in between wakes nobody. A take from an empty queue waits rightly. FIXED: one step. */
#include "bqueue.h"
#include <pthread.h>
#include <stdlib.h>

enum { ROOM = 4 };
struct bqueue {
    pthread_mutex_t lock;
    pthread_cond_t there;
    int numbers[ROOM], n;
};

struct bqueue *bqueue_new(void)
{
    struct bqueue *q = calloc(1, sizeof *q);
    if (q) {
        pthread_mutex_init(&q->lock, NULL);
        pthread_cond_init(&q->there, NULL);
    }
    return q;
}

void bqueue_free(struct bqueue *q)
{
    if (q) {
        pthread_mutex_destroy(&q->lock);
        pthread_cond_destroy(&q->there);
    }
    free(q);
}

int bqueue_put(struct bqueue *q, int n)
{
    pthread_mutex_lock(&q->lock);
    int full = q->n == ROOM;
    if (!full)
        q->numbers[q->n++] = n;
    pthread_cond_signal(&q->there);
    pthread_mutex_unlock(&q->lock);
    return full ? -1 : 0;
}

int bqueue_count(struct bqueue *q)
{
    pthread_mutex_lock(&q->lock);
    int n = q->n;
    pthread_mutex_unlock(&q->lock);
    return n;
}

int bqueue_take(struct bqueue *q)
{
#ifdef FIXED
    pthread_mutex_lock(&q->lock);
    while (q->n == 0)
        pthread_cond_wait(&q->there, &q->lock);
#else
    while (bqueue_count(q) == 0) {
        pthread_mutex_lock(&q->lock);
        pthread_cond_wait(&q->there, &q->lock);
        pthread_mutex_unlock(&q->lock);
    }
    pthread_mutex_lock(&q->lock);
    if (q->n == 0)                      /* another thread took it */
        q->numbers[q->n++] = 0;
#endif
    int n = q->numbers[--q->n];
    pthread_mutex_unlock(&q->lock);
    return n;
}
