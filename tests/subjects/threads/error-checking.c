/* An error-checking lock says that somebody else holds it; who does not look lets
 * go of a lock that is not his. */
#include "subject.h"
static Lock lock;
static int n;

static void *work(void *unused)
{
#ifdef FIXED
    LOCK(lock);
#else
    pthread_mutex_trylock(&lock);
#endif
    n++;
    assert(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &kind);
    TOGETHER(work, work);
    LOCK(lock);
    assert(pthread_mutex_lock(&lock) == EDEADLK);
    UNLOCK(lock);
}
