/* A signal without a flag: if nobody waits yet, it is gone. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t start = PTHREAD_COND_INITIALIZER;
#ifdef FIXED
static bool started;
#endif

static void *worker(void *unused)
{
    LOCK(lock);
#ifdef FIXED
    while (!started)
#endif
        pthread_cond_wait(&start, &lock);
    UNLOCK(lock);
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    LOCK(lock);
#ifdef FIXED
    started = true;
#endif
    pthread_cond_signal(&start);
    UNLOCK(lock);
    pthread_join(t, NULL);
}
