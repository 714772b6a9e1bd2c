/*
 * socket
 *
 * input: stdin
 * seed: aaaaaa
 * solution: listen
 * fails: abort
 */
#include "hard.h"
#include <sys/socket.h>
#include <sys/un.h>

/* A client and its server in one process. */
int main(void)
{
    char b[6], got[6] = "";
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    socklen_t size = sizeof name;
    if (read(0, b, 6) != 6)
        return 0;
    int door = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    if (door < 0 || client < 0 || bind(door, (struct sockaddr *)&name, sizeof(sa_family_t)) != 0 ||
        listen(door, 1) != 0 || getsockname(door, (struct sockaddr *)&name, &size) != 0 ||
        connect(client, (struct sockaddr *)&name, size) != 0)
        return 0;
    int server = accept(door, NULL, NULL);
    if (server < 0 || send(client, b, 6, 0) != 6 || recv(server, got, 6, MSG_WAITALL) != 6)
        return 0;
    if (memcmp(got, "listen", 6) == 0)
        BUG();
    return 0;
}
