/*
 * value through a pipe
 *
 * input: stdin
 * seed: aaaa
 * solution: \xfa\x94\xe4\xf4
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned v, w;
    int p[2];
    if (read(0, &v, 4) != 4 || pipe(p) != 0)
        return 0;
    v = v * 3 + 1;
    if (write(p[1], &v, 4) != 4 || read(p[0], &w, 4) != 4)
        return 0;
    if (w == 0xdeadbeef)
        BUG();
    return 0;
}
