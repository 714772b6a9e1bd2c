/*
 * Servers: connections, bytes and ends are events; adapters.h is the manual.
 *
 * A program that would block in poll(), select(), epoll_wait(), accept() or recv() gets the next
 * event: a client connects, bytes arrive on a connection, a client goes, or time passes. There is no
 * peer. What the program sends goes nowhere. A connection has a descriptor of its own (one
 * end of a pair), so that flags and close() work as ever.
 *
 * Which kinds there are, and how many bytes arrive, is in the engine's memory
 * (struct sundew_events: kinds, connections, open).
 */
#include "runtime/adapters/adapters.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 8, DATA = 64, WATCHED = 32 };

struct connection {
    int fd;                          /* 0: none */
    uint8_t ended;                   /* no more bytes will come */
    uint8_t at, n;                   /* bytes[at .. n) have arrived */
    uint8_t bytes[DATA];
};

struct watched {                     /* by epoll */
    int queue, fd;
    struct epoll_event event;
};

/* Names that don't begin with sundew_ are in the state. */
struct connection event_connections[CONNECTIONS];
struct watched event_watched[WATCHED];
int event_listener = -1;
int event_waiting;                   /* clients that have not been accepted */
int event_opened;                    /* those that are there from the start have come */

extern uint64_t event_clock;

static struct connection *connection_of(int fd)
{
    for (int i = 0; fd > 0 && i < CONNECTIONS; i++)
        if (event_connections[i].fd == fd)
            return &event_connections[i];
    return NULL;
}

static int count_open(void)
{
    int n = 0;
    for (int i = 0; i < CONNECTIONS; i++)
        n += event_connections[i].fd && !event_connections[i].ended;
    return n;
}

/* ---- an event happens */

static void deliver(struct connection *c, const uint8_t *data, int n)
{
    for (int i = 0; i < n && c->n < DATA; i++)
        c->bytes[c->n++] = data[i];
}

/* The connection that `who` means, of those that are open. */
static struct connection *choose(unsigned who)
{
    int n = count_open();
    if (!n)
        return NULL;
    unsigned want = who % (unsigned)n, seen = 0;
    for (int i = 0; i < CONNECTIONS; i++)
        if (event_connections[i].fd && !event_connections[i].ended && seen++ == want)
            return &event_connections[i];
    return NULL;
}

/* Waits for an event; returns its kind. */
static unsigned next_event(void)
{
    struct {
        uint8_t kind, who, data[DATA];
    } e;
    const struct sundew_events *h = sundew_events;
    unsigned n = h->nkinds ? h->nkinds : 1;
    size_t size = h->event_size < sizeof e ? h->event_size : sizeof e;
    sundew_event_next(&e, size);
    unsigned chosen = n > 1 ? e.kind % n : 0, kind = h->kinds[0];
    for (unsigned i = 1; i < n; i++)
        if (chosen == i)
            kind = h->kinds[i];
    struct connection *c =
        kind == SUNDEW_EVENT_DATA || kind == SUNDEW_EVENT_END ? choose(e.who) : NULL;
    if (kind == SUNDEW_EVENT_CONNECT && event_listener >= 0 &&
        count_open() + event_waiting < (int)h->connections)
        event_waiting++;
    else if (kind == SUNDEW_EVENT_DATA && c)
        deliver(c, e.data, (int)size - 2);
    else if (kind == SUNDEW_EVENT_END && c)
        c->ended = 1;
    return kind;
}

/* Clients that are there from the start, before the first event. */
static void open_first(void)
{
    if (event_opened || event_listener < 0)
        return;
    event_opened = 1;
    event_waiting += (int)sundew_events->open;
}

/* ---- what is ready */

static int is_ours(int fd) { return fd >= 0 && (fd == event_listener || connection_of(fd)); }

static short ready(int fd, short want)
{
    const struct connection *c = connection_of(fd);
    short got = 0;
    if (fd >= 0 && fd == event_listener && event_waiting)
        got |= POLLIN;
    if (c && (c->at < c->n || c->ended))
        got |= POLLIN;
    if (c)
        got |= POLLOUT;
    return (short)(got & want);
}

static int count_ready(struct pollfd *fds, nfds_t n)
{
    int count = 0;
    for (nfds_t i = 0; i < n; i++) {
        fds[i].revents = ready(fds[i].fd, fds[i].events);
        count += fds[i].revents != 0;
    }
    return count;
}

static int watches(const struct pollfd *fds, nfds_t n)
{
    for (nfds_t i = 0; i < n; i++)
        if (is_ours(fds[i].fd))
            return 1;
    return 0;
}

/* Time passes until something is ready; 0: the time is over. */
static int wait_for(struct pollfd *fds, nfds_t n, int timeout)
{
    open_first();
    for (;;) {
        int count = count_ready(fds, n);
        if (count || !timeout)
            return count;
        if (next_event() == SUNDEW_EVENT_TIMER && timeout > 0) {
            event_clock += (uint64_t)timeout * 1000000u;
            return 0;
        }
    }
}

int sundew_event_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    if (!sundew_event_engine() || !watches(fds, n))
        return poll(fds, n, timeout);
    return wait_for(fds, n, timeout);
}

int sundew_event_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const void *mask)
{
    if (!sundew_event_engine() || !watches(fds, n))
        return ppoll(fds, n, t, mask);
    return wait_for(fds, n, t ? (int)(t->tv_sec * 1000 + t->tv_nsec / 1000000) : -1);
}

int sundew_event_select(int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *t)
{
    struct pollfd fds[CONNECTIONS + 1];
    nfds_t used = 0;
    for (int fd = 0; fd < n && used < CONNECTIONS + 1; fd++) {
        int reads = in && FD_ISSET(fd, in), writes = out && FD_ISSET(fd, out);
        if ((reads || writes) && is_ours(fd))
            fds[used++] =
                (struct pollfd){ fd, (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0 };
    }
    if (!sundew_event_engine() || !used)
        return select(n, in, out, bad, t);
    wait_for(fds, used, t ? (int)(t->tv_sec * 1000 + t->tv_usec / 1000) : -1);
    int count = 0;
    if (in)
        FD_ZERO(in);
    if (out)
        FD_ZERO(out);
    if (bad)
        FD_ZERO(bad);
    for (nfds_t i = 0; i < used; i++) {
        if (fds[i].revents & POLLIN)
            FD_SET(fds[i].fd, in);
        if (fds[i].revents & POLLOUT)
            FD_SET(fds[i].fd, out);
        count += (fds[i].revents & POLLIN) != 0;
        count += (fds[i].revents & POLLOUT) != 0;
    }
    return count;
}

int sundew_event_epoll_ctl(int queue, int op, int fd, struct epoll_event *event)
{
    if (!sundew_event_engine() || !is_ours(fd))
        return epoll_ctl(queue, op, fd, event);
    struct watched *free = NULL;
    for (int i = 0; i < WATCHED; i++) {
        struct watched *w = &event_watched[i];
        if (w->fd == fd && w->queue == queue) {
            if (op == EPOLL_CTL_DEL)
                w->fd = 0;
            else
                w->event = *event;
            return 0;
        }
        if (!w->fd && !free)
            free = w;
    }
    if (op == EPOLL_CTL_ADD && free)
        *free = (struct watched){ queue, fd, *event };
    return 0;
}

int sundew_event_epoll_wait(int queue, struct epoll_event *events, int most, int timeout)
{
    struct pollfd fds[WATCHED];
    if (!sundew_event_engine())
        return epoll_wait(queue, events, most, timeout);
    nfds_t n = 0;
    for (int i = 0; i < WATCHED; i++) {
        const struct watched *w = &event_watched[i];
        short want = (short)((w->event.events & EPOLLIN ? POLLIN : 0) |
                             (w->event.events & EPOLLOUT ? POLLOUT : 0));
        if (w->fd && w->queue == queue)
            fds[n++] = (struct pollfd){ w->fd, want, 0 };
    }
    if (!n)
        return epoll_wait(queue, events, most, timeout);
    wait_for(fds, n, timeout);
    int count = 0;
    nfds_t k = 0;
    for (int i = 0; i < WATCHED && count < most; i++) {
        const struct watched *w = &event_watched[i];
        if (!w->fd || w->queue != queue)
            continue;
        short got = fds[k++].revents;
        if (got) {
            events[count] = w->event;
            events[count++].events =
                (got & POLLIN ? EPOLLIN : 0u) | (got & POLLOUT ? EPOLLOUT : 0u);
        }
    }
    return count;
}

int sundew_event_epoll_pwait(int queue, struct epoll_event *events, int most, int timeout,
                             const sigset_t *mask)
{
    return sundew_event_engine() ? sundew_event_epoll_wait(queue, events, most, timeout)
                                 : epoll_pwait(queue, events, most, timeout, mask);
}

/* ---- sockets */

/* A sandbox without a network of its own forbids such sockets. Nothing goes over this one anyway. */
int sundew_event_socket(int domain, int type, int protocol)
{
    int fd = socket(domain, type, protocol);
    bool stream = (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM;
    if (fd < 0 && stream && (domain == AF_INET || domain == AF_INET6) && sundew_event_engine())
        fd = socket(AF_UNIX, type, 0);
    return fd;
}

int sundew_event_bind(int fd, const struct sockaddr *address, socklen_t n)
{
    return sundew_event_engine() ? 0 : bind(fd, address, n);
}

int sundew_event_listen(int fd, int most)
{
    if (!sundew_event_engine())
        return listen(fd, most);
    event_listener = fd;
    return 0;
}

static int would_block(int fd) { return fcntl(fd, F_GETFL) & O_NONBLOCK; }

int sundew_event_accept4(int fd, struct sockaddr *address, socklen_t *n, int flags)
{
    int pair[2];
    struct connection *c = NULL;
    if (!sundew_event_engine() || fd != event_listener)
        return accept4(fd, address, n, flags);
    open_first();
    while (!event_waiting) {
        if (would_block(fd)) {
            errno = EAGAIN;
            return -1;
        }
        next_event();
    }
    event_waiting--;
    for (int i = 0; i < CONNECTIONS && !c; i++)
        if (!event_connections[i].fd)
            c = &event_connections[i];
    if (!c || socketpair(AF_UNIX, SOCK_STREAM | flags, 0, pair) != 0) {
        errno = EMFILE;
        return -1;
    }
    close(pair[1]);
    if (address && n) {
        memset(address, 0, *n);
        if (*n >= sizeof address->sa_family)
            address->sa_family = AF_INET;
    }
    *c = (struct connection){ .fd = pair[0] };
    return pair[0];
}

int sundew_event_accept(int fd, struct sockaddr *address, socklen_t *n)
{
    if (!sundew_event_engine() || fd != event_listener)
        return accept(fd, address, n);
    return sundew_event_accept4(fd, address, n, 0);
}

/* Bytes of a connection; `keep`: they stay there. */
static ssize_t take(struct connection *c, void *to, size_t n, int keep, int nonblocking)
{
    while (c->at >= c->n && !c->ended) {
        if (nonblocking || would_block(c->fd)) {
            errno = EAGAIN;
            return -1;
        }
        next_event();
    }
    size_t k = 0;
    for (; k < n && c->at + k < c->n; k++)
        ((uint8_t *)to)[k] = c->bytes[c->at + k];
    if (keep)
        return (ssize_t)k;
    c->at = (uint8_t)(c->at + k);
    if (c->at == c->n) {
        memset(c->bytes, 0, sizeof c->bytes);
        c->at = c->n = 0;
    }
    return (ssize_t)k;
}

ssize_t sundew_event_take(int fd, void *to, size_t n)
{
    struct connection *c = connection_of(fd);
    return c ? take(c, to, n, 0, 0) : -2;
}

ssize_t sundew_event_recv(int fd, void *to, size_t n, int flags)
{
    struct connection *c = sundew_event_engine() ? connection_of(fd) : NULL;
    return c ? take(c, to, n, flags & MSG_PEEK, flags & MSG_DONTWAIT) : recv(fd, to, n, flags);
}

ssize_t sundew_event_recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from,
                              socklen_t *len)
{
    struct connection *c = sundew_event_engine() ? connection_of(fd) : NULL;
    return c ? take(c, to, n, flags & MSG_PEEK, flags & MSG_DONTWAIT)
             : recvfrom(fd, to, n, flags, from, len);
}

ssize_t sundew_event_send(int fd, const void *from, size_t n, int flags)
{
    return sundew_event_engine() && connection_of(fd) ? (ssize_t)n : send(fd, from, n, flags);
}

ssize_t sundew_event_write(int fd, const void *from, size_t n)
{
    return sundew_event_engine() && connection_of(fd) ? (ssize_t)n : write(fd, from, n);
}

static size_t total_of(const struct iovec *v, int n)
{
    size_t all = 0;
    for (int i = 0; i < n; i++)
        all += v[i].iov_len;
    return all;
}

ssize_t sundew_event_writev(int fd, const struct iovec *from, int n)
{
    return sundew_event_engine() && connection_of(fd) ? (ssize_t)total_of(from, n)
                                                      : writev(fd, from, n);
}

/* The first part that has room; the rest stays for the next call. */
ssize_t sundew_event_readv(int fd, const struct iovec *to, int n)
{
    struct connection *c = sundew_event_engine() ? connection_of(fd) : NULL;
    if (!c)
        return readv(fd, to, n);
    for (int i = 0; i < n; i++)
        if (to[i].iov_len)
            return take(c, to[i].iov_base, to[i].iov_len, 0, 0);
    return 0;
}

int sundew_event_arrived(int fd)
{
    const struct connection *c = sundew_event_engine() ? connection_of(fd) : NULL;
    return c ? c->n - c->at : -1;
}

int sundew_event_close(int fd)
{
    struct connection *c = sundew_event_engine() ? connection_of(fd) : NULL;
    for (int i = 0; c && i < WATCHED; i++)
        if (event_watched[i].fd == fd)
            event_watched[i] = (struct watched){ 0 };
    if (c)
        *c = (struct connection){ 0 };
    return close(fd);
}

int sundew_event_shutdown(int fd, int how)
{
    return sundew_event_engine() && connection_of(fd) ? 0 : shutdown(fd, how);
}

int sundew_event_getpeername(int fd, struct sockaddr *address, socklen_t *n)
{
    if (!sundew_event_engine() || !connection_of(fd))
        return getpeername(fd, address, n);
    memset(address, 0, *n);
    address->sa_family = AF_INET;
    return 0;
}
