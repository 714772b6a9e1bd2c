/* musttail: nothing may stand between the call and the return; without it the
 * stack would overflow. clang only. */
#include <stdio.h>

static int pong(long n, int *trace);
static int ping(long n, int *trace)
{
    if (n == 0)
        return *trace;
    *trace += 1;
    __attribute__((musttail)) return pong(n - 1, trace);
}
static int pong(long n, int *trace)
{
    *trace ^= 1;
    __attribute__((musttail)) return ping(n, trace);
}

int main(void)
{
    int trace = 0;
    printf("%d\n", ping(50000000, &trace));
    return 0;
}
