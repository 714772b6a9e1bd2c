/*
 * thread
 *
 * input: stdin
 * seed: aaaa
 * solution: \xc2\xa8\x50\x73
 * fails: abort
 */
#include "hard.h"
#include <pthread.h>
#include <stdint.h>

/* Given as the argument, come back as the result. */
static void *work(void *arg)
{
    return (void *)((uintptr_t)arg * 9 + 3);
}

int main(void)
{
    pthread_t t;
    unsigned v;
    void *result = NULL;
    if (read(0, &v, 4) != 4 || pthread_create(&t, NULL, work, (void *)(uintptr_t)v) != 0)
        return 0;
    pthread_join(t, &result);
    if ((unsigned)(uintptr_t)result == 0x0dd5eed5)
        BUG();
    return 0;
}
