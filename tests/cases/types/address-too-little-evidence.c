/*
 * name:   one caller less: not enough evidence
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
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
    bind(fd, (struct sockaddr *)a, 16);
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
