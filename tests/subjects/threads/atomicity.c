/* Atomicity: two threads add to a balance without a lock; one addition is lost. */
#include "subject.h"
static int balance;
static Lock lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *unused)
{
#ifdef FIXED
    LOCK(lock);
#endif
    balance = balance + 10;
#ifdef FIXED
    UNLOCK(lock);
#endif
    return unused;
}

int main(void)
{
    TOGETHER(add, add);
    LOCK(lock);
    assert(balance == 20);
    UNLOCK(lock);
}
