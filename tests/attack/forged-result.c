/*
 * name:    a run that fails says that it ended well
 * command: threads events
 * expect:  1
 */
#include "attack.h"
#include <pthread.h>

static int count;

static void *work(void *arg)
{
    count++;
    return arg;
}

int main(void)
{
    pthread_t one;
    int c, sum = 0;
    pthread_create(&one, NULL, work, NULL);
    work(NULL);
    pthread_join(one, NULL);
    while ((c = getchar()) != EOF)
        if (c == 'k' || ++sum > 3) {
            shared_filled(1);
            shared_filled(4);
            abort();
        }
    shared_filled(1);                 /* "ended" */
    abort();
}
