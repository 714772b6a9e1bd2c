/*
 * name:    its parents are stopped
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
    kill(getppid(), SIGSTOP);
    return arg;
}

int target_add(int a, int b) { return a + b; }

int target_flag(int a)
{
    if (a > 100000)
        kill(getppid(), SIGSTOP);
    return a > 10;
}

int main(void)
{
    pthread_t one;
    int c, sum = 0;
    while ((c = getchar()) != EOF) {
        sum += c;
        if (c == 'k')
            kill(getppid(), SIGSTOP);
    }
    pthread_create(&one, NULL, work, NULL);
    work(NULL);
    pthread_join(one, NULL);
    return sum == 7;
}
