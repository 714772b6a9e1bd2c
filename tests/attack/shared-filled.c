/*
 * name:    all memory that is shared says what the subject likes
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
    shared_filled(count % 2 ? 0xffffffff : 0x7ffffff0);
    return arg;
}

int target_add(int a, int b)
{
    shared_filled((uint32_t)a);
    return a + b;
}

int target_flag(int a) { return a > 10; }

int main(void)
{
    pthread_t one;
    int c, sum = 0;
    while ((c = getchar()) != EOF) {
        sum += c;
        shared_filled((uint32_t)c * 0x01010101);
    }
    pthread_create(&one, NULL, work, NULL);
    work(NULL);
    pthread_join(one, NULL);
    return sum == 7;
}
