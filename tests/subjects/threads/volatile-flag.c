/* A volatile flag in place of a lock. */
#include "subject.h"
static volatile int busy;
static int n;
static Lock lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *unused)
{
#ifdef FIXED
    LOCK(lock);
#else
    while (busy)
        ;
    busy = 1;
#endif
    n++;
#ifdef FIXED
    UNLOCK(lock);
#else
    busy = 0;
#endif
    return unused;
}

int main(void)
{
    TOGETHER(add, add);
    LOCK(lock);
    assert(n == 2);
    UNLOCK(lock);
}
