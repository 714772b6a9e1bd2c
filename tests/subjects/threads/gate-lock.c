/* Two locks in two orders under a gate lock: correct. The bug: one thread
 * forgets the gate. Only the order differs from deadlock-2 for a detector. */
#include "subject.h"
static Lock gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER,
            b = PTHREAD_MUTEX_INITIALIZER;

static void both(Lock *first, Lock *second)
{
    LOCK(*first);
    LOCK(*second);
    UNLOCK(*second);
    UNLOCK(*first);
}

static void *one(void *unused)
{
    LOCK(gate);
    both(&a, &b);
    UNLOCK(gate);
    return unused;
}

static void *other(void *unused)
{
#ifdef FIXED
    LOCK(gate);
#endif
    both(&b, &a);
#ifdef FIXED
    UNLOCK(gate);
#endif
    return unused;
}

int main(void)
{
    TOGETHER(one, other);
}
