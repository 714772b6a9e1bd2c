/* Deadlock: two readers that both want to become writers, each waiting for the
 * other to stop reading. */
#include "subject.h"
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int n;

static void *upgrade(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    int old = n;
#ifndef FIXED
    pthread_rwlock_wrlock(&lock);
    n = old + 1;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
#else
    (void)old;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    n++;
    pthread_rwlock_unlock(&lock);
#endif
    return unused;
}

int main(void)
{
    TOGETHER(upgrade, upgrade);
}
