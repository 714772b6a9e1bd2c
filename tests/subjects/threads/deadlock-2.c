/* Deadlock: two locks in two orders. */
#include "subject.h"
static Lock a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int both;

static void *one(void *unused)
{
    LOCK(a);
    LOCK(b);
    both++;
    UNLOCK(b);
    UNLOCK(a);
    return unused;
}

static void *other(void *unused)
{
#ifdef FIXED
    return one(unused);
#else
    LOCK(b);
    LOCK(a);
    both++;
    UNLOCK(a);
    UNLOCK(b);
    return unused;
#endif
}

int main(void)
{
    TOGETHER(one, other);
    assert(both == 2);
}
