/*
 * environment
 *
 * input: stdin
 * seed: aaaa
 * solution: \x1cq\x1b\x1b
 * fails: abort
 */
#include "hard.h"
#include <signal.h>

static volatile sig_atomic_t got;
static volatile unsigned kept;

static void on_signal(int number)
{
    got = number;
    kept = kept * 3 + 1;
}

int main(void)
{
    unsigned v;
    if (read(0, &v, 4) != 4)
        return 0;
    signal(SIGUSR1, on_signal);
    kept = v;
    raise(SIGUSR1);
    if (got == SIGUSR1 && kept == 0x51525355)
        BUG();
    return 0;
}
