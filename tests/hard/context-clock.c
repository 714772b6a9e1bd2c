/*
 * context
 *
 * input: stdin
 * seed: aaaa
 * solution: TICK
 * fails: abort
 */
#include "hard.h"
#include <time.h>

/* The program notices that it waited. */
int main(void)
{
    struct timespec a, b;
    char word[4];
    if (read(0, word, 4) != 4 || clock_gettime(CLOCK_MONOTONIC, &a) != 0)
        return 0;
    if (memcmp(word, "TICK", 4) == 0)
        sleep(2);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (b.tv_sec - a.tv_sec >= 2)
        BUG();
    return 0;
}
