/* One thread adds while another clears. Every serial order is fine. */
#include "tally.h"
#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t start;

static void *add(void *t)
{
    static const char *const keys[] = { "TEA", "JAM", "SALT", "RICE", "MILK" };

    pthread_barrier_wait(&start);
    for (int i = 0; i < 100000; i++)
        tally_add(t, keys[i % 5], 1);
    return NULL;
}

static void *clear(void *t)
{
    pthread_barrier_wait(&start);
    for (int i = 0; i < 100000; i++)
        tally_clear(t);
    return NULL;
}

int main(void)
{
    struct tally *t = tally_new();
    pthread_t one, two;

    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&one, NULL, add, t);
    pthread_create(&two, NULL, clear, t);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    tally_free(t);
    return 0;
}
