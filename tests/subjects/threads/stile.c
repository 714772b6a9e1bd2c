/* Each access has the lock, but who comes while another passes is told that it is out of
 * order, which no serial order shows. FIXED: who passes keeps the lock. */
#include "stile.h"
#include <pthread.h>
#include <stdlib.h>

struct stile {
    pthread_mutex_t lock;
    int inside, passed;
};

struct stile *stile_new(void)
{
    struct stile *s = calloc(1, sizeof *s);
    if (s)
        pthread_mutex_init(&s->lock, NULL);
    return s;
}

void stile_free(struct stile *s)
{
    if (s)
        pthread_mutex_destroy(&s->lock);
    free(s);
}

int stile_pass(struct stile *s)
{
    pthread_mutex_lock(&s->lock);
    int busy = s->inside++;
#ifndef FIXED
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&s->lock);
#endif
    s->inside--;
    s->passed += !busy;
    pthread_mutex_unlock(&s->lock);
    return busy ? -1 : 0;
}

int stile_count(struct stile *s)
{
    pthread_mutex_lock(&s->lock);
    int n = s->passed;
    pthread_mutex_unlock(&s->lock);
    return n;
}
