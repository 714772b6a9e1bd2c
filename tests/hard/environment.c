/*
 * environment
 *
 * input: env:HARD/16
 * seed: aaaa
 * solution: open\x20sesame
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    const char *v = getenv("HARD");
    if (v && strcmp(v, "open sesame") == 0)
        BUG();
    return 0;
}
