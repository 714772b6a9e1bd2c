/* Two preemptions. door_pass() opens and closes in two steps; door_watch() looks twice and
 * aborts if the door was closed meanwhile. One thread has to be stopped in the middle of
 * door_pass(), then the other in the middle of door_watch(). FIXED: one lock for each. */
#include "door.h"
#include <pthread.h>
#include <stdlib.h>

struct door {
    pthread_mutex_t lock;
    int open;
};

struct door *door_new(void)
{
    struct door *d = calloc(1, sizeof *d);
    if (d)
        pthread_mutex_init(&d->lock, NULL);
    return d;
}

void door_free(struct door *d)
{
    if (!d)
        return;
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static void let_others(struct door *d)
{
#ifndef FIXED
    pthread_mutex_unlock(&d->lock);
    pthread_mutex_lock(&d->lock);
#else
    (void)d;
#endif
}

void door_pass(struct door *d)
{
    pthread_mutex_lock(&d->lock);
    d->open = 1;
    let_others(d);
    d->open = 0;
    pthread_mutex_unlock(&d->lock);
}

int door_watch(const struct door *door)
{
    struct door *d = (struct door *)door;
    pthread_mutex_lock(&d->lock);
    int before = d->open;
    let_others(d);
    if (before && !d->open)
        abort();
    pthread_mutex_unlock(&d->lock);
    return before;
}
