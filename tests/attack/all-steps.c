/*
 * name:    a program that does all of it, under everything that fits
 * command: check
 * expect:  0 1 2
 * long:    yes
 */
#include "attack.h"
#include <pthread.h>

static int count;

static void *work(void *arg)
{
    count++;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t one;
    if (argc > 1 && !freopen(argv[1], "r", stdin))
        return 2;
    unsigned c = first_byte();
    pthread_create(&one, NULL, work, NULL);
    work(NULL);
    pthread_join(one, NULL);
    if (c == 'T')
        shared_truncated();
    if (c == 'F' || c == 'G')
        shared_filled(c == 'F' ? 1 : 0xffffffff);
    if (c == 'S' && getppid() < 20)     /* in the sandbox */
        kill(getppid(), SIGSTOP);
    if (c == 'K' && getppid() < 20)
        kill(-1, SIGKILL);
    return c == 'x' ? *(volatile int *)0 : 0;
}
