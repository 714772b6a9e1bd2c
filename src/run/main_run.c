/* sundew-run: the worker inside the sandbox, as a program of its own; small, so
 * that forking it costs little. Started by run.c, with its control socket as
 * descriptor 3. */
#include "run/run_int.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int type;
    socklen_t n = sizeof type;
    if (argc != 2 || strcmp(argv[1], "worker") != 0 ||
        getsockopt(3, SOL_SOCKET, SO_TYPE, &type, &n) != 0) {
        fputs("sundew-run: a part of Sundew, started by it\n", stderr);
        return 2;
    }
    close_range(4, ~0u, 0);
    worker_main(3);
}
