/*
 * name:    everything that can be killed is killed
 * command: threads events record substitutes
 * expect:  0 1 2
 */
#include "attack.h"
#include "target.h"
#include <pthread.h>

static int count;

static void *work(void *arg)
{
    count++;
    if (count > 1)
        kill(-1, SIGKILL);
    return arg;
}

int target_add(int a, int b) { return a + b; }

int target_flag(int a)
{
    if (a > 100000)
        kill(-1, SIGKILL);
    return a > 10;
}

int main(void)
{
    pthread_t one;
    int c, sum = 0;
    while ((c = getchar()) != EOF) {
        sum += c;
        if (c == 'k')
            kill(-1, SIGKILL);
    }
    pthread_create(&one, NULL, work, NULL);
    work(NULL);
    pthread_join(one, NULL);
    return sum == 7;
}
