/* The player of player.c as a server: a byte of a client is an event. LOOP is POLL, SELECT or
 * EPOLL. */
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
enum { STOPPED, PLAYING, SKIPPING };

static int g = STOPPED;

static void handle(unsigned char e)
{
    if (g == STOPPED) {
        if (e == 'p')
            g = PLAYING;
        else if (e == 's')
            g = SKIPPING;
    } else if (e == 'x') {
        g = STOPPED;
    }
}

static int wait_for(int listener, int client, int queue)
{
#if defined POLL
    struct pollfd fds[2] = { { listener, POLLIN, 0 }, { client, POLLIN, 0 } };
    (void)queue;
    poll(fds, client >= 0 ? 2 : 1, -1);
    return fds[0].revents ? listener : client;
#elif defined SELECT
    fd_set in;
    (void)queue;
    FD_ZERO(&in);
    FD_SET(listener, &in);
    if (client >= 0)
        FD_SET(client, &in);
    select((client > listener ? client : listener) + 1, &in, NULL, NULL, NULL);
    return FD_ISSET(listener, &in) ? listener : client;
#else
    struct epoll_event e;
    (void)listener, (void)client;
    epoll_wait(queue, &e, 1, -1);
    return e.data.fd;
#endif
}

static void watch(int queue, int fd)
{
    struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
    epoll_ctl(queue, EPOLL_CTL_ADD, fd, &e);
}

int main(void)
{
    struct sockaddr_in a;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons(7777);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = -1, queue = epoll_create1(0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 5) != 0)
        return 1;
    watch(queue, listener);
    for (;;) {
        unsigned char e;
        int fd = wait_for(listener, client, queue);
        if (fd == listener) {
            client = accept(listener, NULL, NULL);
            watch(queue, client);
        } else if (recv(client, &e, 1, 0) == 1) {
            handle(e);
        } else {
            close(client);
            client = -1;
        }
    }
}
