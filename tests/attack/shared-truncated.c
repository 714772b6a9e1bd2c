/*
 * name:    all memory that is shared is made shorter
 * command: threads events substitutes
 * expect:  0 1 2
 */
#include "attack.h"
#include "target.h"
#include <pthread.h>

static int count;

static void *work(void *arg)
{
    for (int i = 0; i < 3; i++)
        count++;
    shared_truncated();
    return arg;
}

int target_add(int a, int b)
{
    shared_truncated();
    return a + b;
}

int target_flag(int a) { return a > 10; }

int main(void)
{
    pthread_t one;
    int c, sum = 0;
    while ((c = getchar()) != EOF) {
        sum += c;
        shared_truncated();
    }
    pthread_create(&one, NULL, work, NULL);
    work(NULL);
    pthread_join(one, NULL);
    return sum == 7;
}
