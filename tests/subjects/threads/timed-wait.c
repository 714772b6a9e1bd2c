/* A wait with a limit whose end is taken for success. */
#include "subject.h"
#include <time.h>
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static char *message;

static void *reader(void *unused)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += 5;
    LOCK(lock);
    while (!message)
        if (pthread_cond_timedwait(&some, &lock, &at) == ETIMEDOUT)
            break;
#ifdef FIXED
    if (message)
#endif
        assert(message[0] == 'h');
    UNLOCK(lock);
    return unused;
}

static void *writer(void *unused)
{
    LOCK(lock);
    message = "hello";
    pthread_cond_signal(&some);
    UNLOCK(lock);
    return unused;
}

int main(void)
{
    TOGETHER(reader, writer);
}
