/*
 * thread
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: producer
 * fails: abort
 */
#include "hard.h"
#include <pthread.h>

/* Byte by byte through a slot that two threads share. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static char slot;
static int full;

static void *produce(void *arg)
{
    const char *b = arg;
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&more, &lock);
        slot = b[i];
        full = 1;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t;
    char b[8], got[8];
    if (read(0, b, 8) != 8 || pthread_create(&t, NULL, produce, b) != 0)
        return 0;
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&lock);
        while (!full)
            pthread_cond_wait(&more, &lock);
        got[i] = slot;
        full = 0;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(t, NULL);
    if (memcmp(got, "producer", 8) == 0)
        BUG();
    return 0;
}
