/* A queue that is closed: who waits for room is not told. */
#include "subject.h"
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, some = PTHREAD_COND_INITIALIZER;
static int length, closed;

static void *put(void *unused)
{
    for (int i = 0; i < 2; i++) {
        LOCK(lock);
        while (length == 1 && !closed)
            pthread_cond_wait(&room, &lock);
        if (!closed) {
            length++;
            pthread_cond_signal(&some);
        }
        UNLOCK(lock);
    }
    return unused;
}

static void *close_it(void *unused)
{
    LOCK(lock);
    closed = 1;
    pthread_cond_broadcast(&some);
#ifdef FIXED
    pthread_cond_broadcast(&room);
#endif
    UNLOCK(lock);
    return unused;
}

int main(void)
{
    TOGETHER(put, close_it);
}
