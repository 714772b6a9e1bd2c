/* The fork server inside a subject; forkserver.h is its manual. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "forkserver.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct sundew_forkserver_message Message;

/* Shared between the server and its children. */
struct shared {
    volatile uint32_t current;     /* run that a child is at */
    volatile uint32_t answered;    /* run that a child itself has ended */
};

static struct shared *shared;      /* NULL: no worker on the other side */
static unsigned rounds;
static uint64_t cpu_before;

static int say(uint32_t kind, uint32_t number, int status, uint64_t cpu_us,
               uint64_t max_rss)
{
    Message m = { SUNDEW_FORKSERVER_MAGIC, SUNDEW_FORKSERVER_VERSION, kind,
                  number, status, 0, cpu_us, max_rss };
    ssize_t n;
    do
        n = send(SUNDEW_FORKSERVER_FD, &m, sizeof m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == sizeof m;
}

/* The next message; with RUN, its descriptors become 0, 1 and 2. */
static int hear(Message *m)
{
    struct iovec iov = { m, sizeof *m };
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } control;
    struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    ssize_t n;
    do
        n = recvmsg(SUNDEW_FORKSERVER_FD, &h, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n != sizeof *m || m->magic != SUNDEW_FORKSERVER_MAGIC ||
        m->version != SUNDEW_FORKSERVER_VERSION)
        return 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    if (c && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(3 * sizeof(int))) {
        int fds[3];
        memcpy(fds, CMSG_DATA(c), sizeof fds);
        for (int i = 0; i < 3; i++) {
            dup2(fds[i], i);
            if (fds[i] > 2)
                close(fds[i]);
        }
    }
    return 1;
}

static uint64_t microseconds(const struct rusage *u)
{
    return ((uint64_t)u->ru_utime.tv_sec + (uint64_t)u->ru_stime.tv_sec) *
               1000000u +
           (uint64_t)u->ru_utime.tv_usec + (uint64_t)u->ru_stime.tv_usec;
}

/* Waits for the child and tells how it ended, unless it has done so itself. */
static int wait_for(pid_t pid)
{
    int status;
    struct rusage u;
    pid_t done;
    do
        done = wait4(pid, &status, 0, &u);
    while (done < 0 && errno == EINTR);
    if (done < 0)
        return 0;
    uint32_t number = shared->current;
    if (shared->answered == number)
        return 1;
    return say(SUNDEW_FORKSERVER_ENDED, number, status, microseconds(&u),
               (uint64_t)u.ru_maxrss * 1024);
}

/* The server; returns in children only. */
static void serve(const sigset_t *mask)
{
    Message m;
    for (;;) {
        if (!hear(&m) || m.kind != SUNDEW_FORKSERVER_RUN)
            _exit(0);
        shared->current = m.number;
        pid_t pid = fork();
        if (pid < 0)
            _exit(1);
        if (pid == 0) {
            sigprocmask(SIG_SETMASK, mask, NULL);
            return;
        }
        if (!wait_for(pid))
            _exit(0);
    }
}

static const char *variable(const char *name)
{
    size_t n = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

void sundew_forkserver_start(void)
{
    if (shared || !variable(SUNDEW_FORKSERVER_ENV) ||
        fcntl(SUNDEW_FORKSERVER_FD, F_SETFD, FD_CLOEXEC) != 0)
        return;
    void *page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    shared = page;
    Message m;
    if (!say(SUNDEW_FORKSERVER_HELLO, 0, 0, 0, 0) || !hear(&m) ||
        m.kind != SUNDEW_FORKSERVER_HELLO)
        _exit(0);
    /* Signals wait while it serves: a SIGCHLD handler of the program's would
     * take the child away, and a tracer would be told of each. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    serve(&before);
}

int sundew_forkserver_again(unsigned most)
{
    if (!shared || ++rounds >= most)
        return 0;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    uint64_t cpu = microseconds(&u);
    shared->answered = shared->current;
    if (!say(SUNDEW_FORKSERVER_ROUND, shared->current, 0, cpu - cpu_before,
             (uint64_t)u.ru_maxrss * 1024))
        _exit(0);
    cpu_before = cpu;
    Message m;
    if (!hear(&m) || m.kind != SUNDEW_FORKSERVER_RUN)
        _exit(0);
    shared->current = m.number;
    return 1;
}
