/* Lost wake-up: the flag is looked at outside the lock that the signal takes. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static _Atomic bool done;

static void *wait(void *unused)
{
#ifdef FIXED
    LOCK(lock);
    while (!done)
        pthread_cond_wait(&ready, &lock);
#else
    bool now = done;
    LOCK(lock);
    if (!now)
        pthread_cond_wait(&ready, &lock);
#endif
    UNLOCK(lock);
    return unused;
}

static void *tell(void *unused)
{
    LOCK(lock);
    done = true;
    pthread_cond_signal(&ready);
    UNLOCK(lock);
    return unused;
}

int main(void)
{
    TOGETHER(wait, tell);
}
