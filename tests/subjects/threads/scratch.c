/* No handle: the state is the library's own, and without a lock. FIXED: with one. */
#include "scratch.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *kept;
static int length;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() (void)0
#define UNLOCK() (void)0
#endif

int scratch_put(int n)
{
    LOCK();
    length = 0;
    free(kept);
    kept = malloc(16);
    if (kept) {
        length = n & 15;
        memset(kept, 'x', (size_t)length);
    }
    int now = length;
    UNLOCK();
    return now;
}

int scratch_sum(void)
{
    int sum = 0;
    LOCK();
    for (int i = 0; i < length; i++)
        sum += kept[i];
    UNLOCK();
    return sum;
}
