/*
 * socket
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \xc6\xab\x34\x12\xae\x79\x37\x9e
 * fails: abort
 */
#include "hard.h"
#include <sys/socket.h>
#include <sys/uio.h>

/* Scattered and gathered. */
int main(void)
{
    int ends[2];
    unsigned v[2], first = 0, second = 0;
    if (read(0, v, 8) != 8 || socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
        return 0;
    v[0] += 7;
    v[1] += 11;
    struct iovec out[2] = { { &v[1], 4 }, { &v[0], 4 } }, in[2] = { { &second, 4 }, { &first, 4 } };
    struct msghdr sent = { .msg_iov = out, .msg_iovlen = 2 }, got = { .msg_iov = in, .msg_iovlen = 2 };
    if (sendmsg(ends[0], &sent, 0) != 8 || recvmsg(ends[1], &got, 0) != 8)
        return 0;
    if (first == 0x1234abcd && second == 0x9e3779b9)
        BUG();
    return 0;
}
