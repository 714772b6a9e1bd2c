/* Back-off with trylock: the second lock's failure forgets to give back the first. */
#include "subject.h"
static Lock a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *unused)
{
    LOCK(a);
    LOCK(b);
    UNLOCK(b);
    UNLOCK(a);
    return unused;
}

static void *other(void *unused)
{
    for (;;) {
        LOCK(b);
        if (pthread_mutex_trylock(&a) == 0)
            break;
#ifdef FIXED
        UNLOCK(b);
#else
        LOCK(a);
        break;
#endif
    }
    UNLOCK(a);
    UNLOCK(b);
    return unused;
}

int main(void)
{
    TOGETHER(one, other);
}
