/* Producers and consumers wait on one condition, and a signal may wake the wrong
 * kind: all sleep. A broadcast is right. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;

static void tell(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void *put(void *unused)
{
    LOCK(lock);
    while (full)
        pthread_cond_wait(&changed, &lock);
    full = 1;
    tell();
    UNLOCK(lock);
    return unused;
}

static void *get(void *unused)
{
    LOCK(lock);
    while (!full)
        pthread_cond_wait(&changed, &lock);
    full = 0;
    tell();
    UNLOCK(lock);
    return unused;
}

int main(void)
{
    TOGETHER(get, get, put, put);
}
