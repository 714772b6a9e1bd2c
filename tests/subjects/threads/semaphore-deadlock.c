/* Two permits of one semaphore are taken one by one; two threads get one each. */
#include "subject.h"
#include <semaphore.h>
static sem_t permits;

static void *both(void *unused)
{
#ifdef FIXED
    static Lock lock = PTHREAD_MUTEX_INITIALIZER;
    LOCK(lock);
#endif
    sem_wait(&permits);
    sem_wait(&permits);
#ifdef FIXED
    UNLOCK(lock);
#endif
    sem_post(&permits);
    sem_post(&permits);
    return unused;
}

int main(void)
{
    sem_init(&permits, 0, 2);
    TOGETHER(both, both);
}
