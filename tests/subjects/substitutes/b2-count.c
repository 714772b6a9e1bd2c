/* Counters: one adds under its lock, one reads and writes without it, so that an addition can be
 * lost; nothing crashes. FIXED: it takes the lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct count {
    pthread_mutex_t lock;
    int n;
};
struct count_ops {
    struct count *(*make)(void);
    void (*add)(struct count *c, int by);
    int (*value)(struct count *c);
};

static struct count *count_make(void)
{
    struct count *c = calloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void count_add(struct count *c, int by)
{
    pthread_mutex_lock(&c->lock);
    c->n += by;
    pthread_mutex_unlock(&c->lock);
}

static void quick_add(struct count *c, int by)
{
#ifdef FIXED
    pthread_mutex_lock(&c->lock);
#endif
    int before = c->n;
    c->n = before + by;
#ifdef FIXED
    pthread_mutex_unlock(&c->lock);
#endif
}

static int count_value(struct count *c)
{
    pthread_mutex_lock(&c->lock);
    int n = c->n;
    pthread_mutex_unlock(&c->lock);
    return n;
}

const struct count_ops locked = { count_make, count_add, count_value };
const struct count_ops quick = { count_make, quick_add, count_value };

int main(void)
{
    struct count *c = locked.make();
    locked.add(c, 3);
    quick.add(c, 4);
    printf("%d\n", locked.value(c));
    return 0;
}
