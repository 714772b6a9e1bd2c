/* A condition without a loop: who is woken finds that a third took the item. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int items;

static void *consume(void *unused)
{
    LOCK(lock);
#ifdef FIXED
    while (items == 0)
#else
    if (items == 0)
#endif
        pthread_cond_wait(&some, &lock);
    assert(items > 0);
    items--;
    UNLOCK(lock);
    return unused;
}

static void *produce(void *unused)
{
    for (int i = 0; i < 2; i++) {
        LOCK(lock);
        items++;
        pthread_cond_signal(&some);
        UNLOCK(lock);
    }
    return unused;
}

int main(void)
{
    TOGETHER(consume, consume, produce);
}
