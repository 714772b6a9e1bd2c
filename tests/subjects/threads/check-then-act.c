/* Atomicity of two critical sections: each is locked, the pair is not. */
#include "subject.h"
static int left = 1;
static Lock lock = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *unused)
{
    LOCK(lock);
    int n = left;
#ifndef FIXED
    UNLOCK(lock);
    LOCK(lock);
#endif
    if (n > 0)
        left--;
    UNLOCK(lock);
    return unused;
}

int main(void)
{
    TOGETHER(take, take);
    assert(left >= 0);
}
