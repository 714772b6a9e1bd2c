/* A race of two callers: one has a lock, the other has none. Its sum is right in most orders. */
#include <pthread.h>

static int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add(int n) { sum += n; }

static void guarded(void)
{
    pthread_mutex_lock(&lock);
    add(2);
    pthread_mutex_unlock(&lock);
}

static void *careful(void *unused)
{
    guarded();
    return unused;
}

static void *hasty(void *unused)
{
    add(1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, careful, NULL);
    pthread_create(&b, NULL, hasty, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return sum ? 0 : 1;
}
