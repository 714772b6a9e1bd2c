/* desk_post() gives up if the lock is taken, and desk_claim() says that somebody else is at the
 * desk: both may. desk_turn() takes the sheet away for a moment, so another thread is told that
 * there is none, which no serial order shows. FIXED: it keeps the lock. */
#include "desk.h"
#include <pthread.h>
#include <stdlib.h>

struct desk {
    pthread_mutex_t lock, drawer;           /* taken in this order */
    int posted, claimed, sheets;
};

struct desk *desk_new(void)
{
    struct desk *d = calloc(1, sizeof *d);
    if (d) {
        pthread_mutex_init(&d->lock, NULL);
        pthread_mutex_init(&d->drawer, NULL);
        d->sheets = 1;
    }
    return d;
}

void desk_free(struct desk *d)
{
    if (d) {
        pthread_mutex_destroy(&d->lock);
        pthread_mutex_destroy(&d->drawer);
    }
    free(d);
}

int desk_post(struct desk *d)
{
    if (pthread_mutex_trylock(&d->lock) != 0)
        return -1;
    int n = ++d->posted;
    pthread_mutex_unlock(&d->lock);
    return n;
}

static int set_claimed(struct desk *d, int claimed)
{
    pthread_mutex_lock(&d->lock);
    int before = d->claimed;
    d->claimed = claimed;
    pthread_mutex_unlock(&d->lock);
    return before;
}

int desk_claim(struct desk *d)
{
    if (set_claimed(d, 1))
        return -1;
    set_claimed(d, 0);
    return 0;
}

int desk_turn(struct desk *d)
{
    pthread_mutex_lock(&d->lock);
    int there = d->sheets;
    d->sheets = 0;
#ifndef FIXED
    pthread_mutex_unlock(&d->lock);
    pthread_mutex_lock(&d->lock);
#endif
    pthread_mutex_lock(&d->drawer);
    if (there)
        d->sheets = 1;
    pthread_mutex_unlock(&d->drawer);
    pthread_mutex_unlock(&d->lock);
    return there ? 0 : -1;
}
