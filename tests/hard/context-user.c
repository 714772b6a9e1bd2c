/*
 * context
 *
 * input: stdin
 * seed: aaaa
 * solution: USER
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned v, want = 0x52455355u + getuid() - geteuid();
    if (read(0, &v, 4) != 4)
        return 0;
    if (v == want)
        BUG();
    return 0;
}
