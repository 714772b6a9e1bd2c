/* Two threads find the cache full and both empty it. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static char *cache;

static char *look(void)
{
    LOCK(lock);
    char *c = cache;
    UNLOCK(lock);
    return c;
}

static void *empty(void *unused)
{
#ifdef FIXED
    LOCK(lock);
    char *old = cache;
    cache = NULL;
    UNLOCK(lock);
    free(old);
#else
    if (look()) {
        free(look());
        LOCK(lock);
        cache = NULL;
        UNLOCK(lock);
    }
#endif
    return unused;
}

int main(void)
{
    cache = malloc(8);
    TOGETHER(empty, empty);
    (void)look;
}
