/* Double-checked initialisation: the pointer is there before what it points to
 * is complete. */
#include "subject.h"
#include <stdatomic.h>
typedef struct Config {
    int size;
} Config;
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static Config the_one;
static _Atomic(Config *) config;

static Config *get(void)
{
    Config *c = atomic_load(&config);
    if (c)
        return c;
    LOCK(lock);
    if (!atomic_load(&config)) {
#ifdef FIXED
        the_one.size = 42;
        atomic_store(&config, &the_one);
#else
        atomic_store(&config, &the_one);
        the_one.size = 42;
#endif
    }
    UNLOCK(lock);
    return atomic_load(&config);
}

static void *use(void *unused)
{
    assert(get()->size == 42);
    return unused;
}

int main(void)
{
    TOGETHER(use, use);
}
