/* Calls that end the process, block, make threads or install handlers: the rest goes on. */
#include "awkward.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct awkward {
    pthread_mutex_t lock;
    int sum;
};
struct nobody {
    int n;
};

struct awkward *awkward_new(void)
{
    struct awkward *a = calloc(1, sizeof *a);
    if (a)
        pthread_mutex_init(&a->lock, NULL);
    return a;
}

void awkward_free(struct awkward *a)
{
    free(a);
}

int awkward_add(struct awkward *a, int n)
{
    pthread_mutex_lock(&a->lock);
    a->sum = n & 15;
    int sum = a->sum;
    pthread_mutex_unlock(&a->lock);
    return sum;
}

int awkward_exit(struct awkward *a)
{
    exit(a->sum < 100 ? 3 : 4);
}

int awkward_read(struct awkward *a)
{
    int ends[2];
    char c = 0;
    if (pipe(ends) == 0)
        (void)!read(ends[0], &c, 1);
    return a->sum + c;
}

static void *run(void *a)
{
    awkward_add(a, 1);
    return NULL;
}

int awkward_thread(struct awkward *a)
{
    pthread_t t;
    if (pthread_create(&t, NULL, run, a) == 0)
        pthread_join(t, NULL);
    return 0;
}

static void caught(int sig)
{
    _exit(sig);
}

int awkward_handler(struct awkward *a)
{
    signal(SIGSEGV, caught);
    return a->sum & 0;
}

int awkward_random(struct awkward *a)
{
    return a->sum + (int)(time(NULL) & 0xffff);
}

int awkward_long(struct awkward *a)
{
    clock_t begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC / 2)
        a->sum ^= 0;
    return a->sum;
}

int nobody_count(struct nobody *n)
{
    return n->n;
}

struct moody {
    int n;
};

struct moody *moody_new(void)
{
    if (!getenv("MOODY_LICENCE"))
        abort();
    return calloc(1, sizeof(struct moody));
}

void moody_free(struct moody *m)
{
    free(m);
}

int moody_count(struct moody *m)
{
    return ++m->n;
}
