/*
 * name:   a struct that is no socket address
 * run:    sundew types --own-only $file
 * expect: $file:47:14: types: bind: argument 2 points to struct config
 * expect: 62 of 63 callers pass struct sockaddr_in (42), struct sockaddr_in6 (20)
 * status: 1
 */
#include <netinet/in.h>
#include <sys/socket.h>

struct config { int port; char name[60]; };

void bind_all(int fd, struct sockaddr_in *a, struct sockaddr_in6 *b,
              struct config *c)
{
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)a, 16); bind(fd, (struct sockaddr *)a, 16);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)b, 28); bind(fd, (struct sockaddr *)b, 28);
    bind(fd, (struct sockaddr *)c, 64);
}
