/*
 * socket
 *
 * input: stdin
 * seed: aaaa
 * solution: KEEP
 * fails: abort
 */
#include "hard.h"
#include <sys/socket.h>

/* Looked at before it is taken. */
int main(void)
{
    int ends[2];
    char b[4], seen[4], got[4];
    if (read(0, b, 4) != 4 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    if (write(ends[1], b, 4) != 4 || recv(ends[0], seen, 4, MSG_PEEK) != 4 || recv(ends[0], got, 4, 0) != 4)
        return 0;
    if (seen[0] == 'K' && got[1] == 'E' && seen[2] == 'E' && got[3] == 'P')
        BUG();
    return 0;
}
