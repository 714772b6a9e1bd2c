/* A callback that takes the lock again: right with a recursive lock, a deadlock
 * with a plain one, and only if the list is not empty by then. */
#include "subject.h"
static Lock lock;
static int listeners;

static void notify(void)
{
    LOCK(lock);
    listeners--;
    UNLOCK(lock);
}

static void *fire(void *unused)
{
    LOCK(lock);
    if (listeners)
        notify();
    UNLOCK(lock);
    return unused;
}

static void *listen(void *unused)
{
    LOCK(lock);
    listeners++;
    UNLOCK(lock);
    return unused;
}

int main(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifdef FIXED
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
#else
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
#endif
    pthread_mutex_init(&lock, &kind);
    TOGETHER(fire, listen);
}
