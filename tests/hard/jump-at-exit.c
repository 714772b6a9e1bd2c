/*
 * computed jump
 *
 * input: stdin
 * seed: aaaaa
 * solution: leave
 * fails: abort
 */
#include "hard.h"

/* Looked at when the program ends. */
static char b[5];

static void at_exit(void)
{
    if (memcmp(b, "leave", 5) == 0)
        BUG();
}

int main(void)
{
    atexit(at_exit);
    if (read(0, b, 5) != 5)
        return 0;
    exit(0);
}
