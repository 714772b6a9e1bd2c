/*
 * thread
 *
 * input: stdin
 * seed: aaaa
 * solution: mine
 * fails: abort
 */
#include "hard.h"
#include <pthread.h>

static pthread_key_t key;

static void *work(void *arg)
{
    char own[4];
    memcpy(own, arg, 4);
    pthread_setspecific(key, own);
    const char *again = pthread_getspecific(key);
    return (void *)(long)(memcmp(again, "mine", 4) == 0);
}

int main(void)
{
    pthread_t t;
    char b[4];
    void *same = NULL;
    if (read(0, b, 4) != 4 || pthread_key_create(&key, NULL) != 0 || pthread_create(&t, NULL, work, b) != 0)
        return 0;
    pthread_join(t, &same);
    if (same)
        BUG();
    return 0;
}
