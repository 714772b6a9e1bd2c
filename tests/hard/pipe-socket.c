/*
 * pipe
 *
 * input: stdin
 * seed: aaaa
 * solution: \x5c6\xa9\xd9
 * fails: abort
 */
#include "hard.h"
#include <sys/socket.h>

/* Through the two ends of a connection. */
int main(void)
{
    int ends[2];
    unsigned v, back = 0;
    if (read(0, &v, 4) != 4 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    v ^= 0x13572468;
    if (send(ends[0], &v, 4, 0) != 4 || recv(ends[1], &back, 4, 0) != 4)
        return 0;
    if (back == 0xcafe1234)
        BUG();
    return 0;
}
