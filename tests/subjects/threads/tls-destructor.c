/* A thread's destructor gives its buffer back after the pool is gone. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static _Atomic int done, open_pool = 1;

static void give_back(void *buffer)
{
    LOCK(lock);
    assert(open_pool);
    free(buffer);
    UNLOCK(lock);
}

static void *work(void *unused)
{
    pthread_setspecific(key, malloc(16));
    done = 1;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_key_create(&key, give_back);
    pthread_create(&t, NULL, work, NULL);
#ifdef FIXED
    pthread_join(t, NULL);
#else
    while (!done)
        ;
#endif
    LOCK(lock);
    open_pool = 0;
    UNLOCK(lock);
#ifndef FIXED
    pthread_join(t, NULL);
#endif
}
