/* Deadlock: three philosophers, each with the left fork first. */
#include "subject.h"
static Lock forks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                         PTHREAD_MUTEX_INITIALIZER };

static void *dine(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg, left = me, right = (me + 1) % 3;
#ifdef FIXED
    if (left > right) {
        left = right;
        right = me;
    }
#endif
    LOCK(forks[left]);
    LOCK(forks[right]);
    UNLOCK(forks[right]);
    UNLOCK(forks[left]);
    return NULL;
}

int main(void)
{
    TOGETHER(dine, dine, dine);
}
