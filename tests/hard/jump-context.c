/*
 * computed jump
 *
 * input: stdin
 * seed: aaaa
 * solution: coro
 * fails: abort
 */
#include "hard.h"
#include <ucontext.h>

/* A coroutine looks at one byte at a time. */
static ucontext_t caller, callee;
static char slot;
static int same;

static void listen_to(void)
{
    static const char word[] = "coro";
    for (int i = 0; i < 4; i++) {
        same += slot == word[i];
        swapcontext(&callee, &caller);
    }
}

int main(void)
{
    static char stack[64 * 1024];
    char b[4];
    if (read(0, b, 4) != 4 || getcontext(&callee) != 0)
        return 0;
    callee.uc_stack.ss_sp = stack;
    callee.uc_stack.ss_size = sizeof stack;
    callee.uc_link = &caller;
    makecontext(&callee, listen_to, 0);
    for (int i = 0; i < 4; i++) {
        slot = b[i];
        swapcontext(&caller, &callee);
    }
    if (same == 4)
        BUG();
    return 0;
}
