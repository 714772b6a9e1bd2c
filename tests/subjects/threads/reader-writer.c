/* A reader's lock held while writing: two writers at once. */
#include "subject.h"
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int entries;

static void *add(void *unused)
{
#ifdef FIXED
    pthread_rwlock_wrlock(&lock);
#else
    pthread_rwlock_rdlock(&lock);
#endif
    entries++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *look(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    assert(entries >= 0 && entries <= 2);
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    TOGETHER(add, look, add);
    assert(entries == 2);
}
