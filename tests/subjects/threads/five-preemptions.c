/* Up to five preemptions: the threads must take turns at each step. */
#include "subject.h"
static _Atomic int turn;

static void step(int from, int to)
{
    if (turn == from)
        turn = to;
}

static void *even(void *unused)
{
    step(0, 1);
    step(2, 3);
    step(4, 5);
    return unused;
}

static void *odd(void *unused)
{
    step(1, 2);
    step(3, 4);
    step(5, 6);
    return unused;
}

int main(void)
{
    TOGETHER(even, odd);
#ifdef FIXED
    assert(turn <= 6);
#else
    assert(turn < 6);
#endif
}
