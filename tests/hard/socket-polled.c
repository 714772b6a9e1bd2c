/*
 * socket
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \xa5\xa5\xa5\xa5\x99\x88\xbb\xaa
 * fails: abort
 */
#include "hard.h"
#include <poll.h>

int main(void)
{
    int ends[2];
    unsigned v[2], back = 0;
    if (read(0, v, 8) != 8 || pipe(ends) != 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        struct pollfd p = { .fd = ends[0], .events = POLLIN };
        unsigned part = 0;
        if (write(ends[1], &v[i], 4) != 4 || poll(&p, 1, 1000) != 1 || read(ends[0], &part, 4) != 4)
            return 0;
        back ^= part;
    }
    if (v[0] == 0xa5a5a5a5 && back == 0x0f1e2d3c)
        BUG();
    return 0;
}
