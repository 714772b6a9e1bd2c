/*
 * thread
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x00\x00\x00\x40\xef\xbe\xed\x3f
 * fails: abort
 */
#include "hard.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sum;

static void *add(void *arg)
{
    atomic_fetch_add(&sum, *(unsigned *)arg);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    unsigned v[2];
    if (read(0, v, 8) != 8)
        return 0;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, add, &v[i]) != 0)
            return 0;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    if (atomic_load(&sum) == 0x7fedbeef && v[0] % 16 == 0)
        BUG();
    return 0;
}
