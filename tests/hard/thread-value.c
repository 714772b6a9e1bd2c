/*
 * thread
 *
 * input: stdin
 * seed: aaaa
 * solution: Ls\xe4\xea
 * fails: abort
 */
#include "hard.h"
#include <pthread.h>

static unsigned v;

static void *work(void *arg)
{
    unsigned *p = arg;
    *p = (*p << 7 | *p >> 25) ^ 0x600df00d;
    return NULL;
}

int main(void)
{
    pthread_t t;
    if (read(0, &v, 4) != 4 || pthread_create(&t, NULL, work, &v) != 0)
        return 0;
    pthread_join(t, NULL);
    if (v == 0x12345678)
        BUG();
    return 0;
}
