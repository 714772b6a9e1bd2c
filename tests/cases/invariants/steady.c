/*
 * name:   what two runs of a command keep, changed code should keep; what differs from run to run is not held against it
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog --steady -- ./prog > base && sundew invariants prog --check -- ./prog && echo kept && sundew capture -q -- cc -g -DFAULT $file -o prog && sundew invariants prog --check -- ./prog
 * expect: kept
 * expect: clamp
 * absent: noise
 * status: 1
 */
#include <unistd.h>

#ifdef FAULT
#define MOST 10
#else
#define MOST 9
#endif

__attribute__((noinline)) int clamp(int n)
{
    return n > 9 ? MOST : n;
}

/* Another number in each process. */
__attribute__((noinline)) int noise(int n)
{
    return n * getpid();
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += clamp(i % 14) + (noise(i) == 7);
    return sum == 0;
}
