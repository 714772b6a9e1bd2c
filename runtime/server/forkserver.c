/* The fork server inside a subject; forkserver.h is its manual. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/server/forkserver.h"
#include "runtime/server/batch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

typedef struct sundew_forkserver_message Message;

/* Shared between the server and its children. */
struct shared {
    volatile uint32_t current;     /* run that a child is at */
    volatile uint32_t answered;    /* run that a child itself has ended */
    unsigned rounds;               /* of this child; here, because the program's own
                                      variables may be put back */
    uint64_t cpu_before;
    uint32_t declined;             /* the child ended without having begun a round */
};

static struct shared *shared;      /* NULL: no worker on the other side */
static struct sundew_batch *batch; /* NULL: runs come one by one */
static int above = SUNDEW_FORKSERVER_FD; /* who asks for runs: the worker, or a server */

/* Programs without counters have no batches (batch.c is not linked in). */
#pragma weak sundew_batch_open
#pragma weak sundew_batch_prepare
#pragma weak sundew_batch_judge
#pragma weak sundew_forkserver_way

static int say_to(int fd, const Message *m)
{
    ssize_t n;
    do
        n = send(fd, m, sizeof *m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == sizeof *m;
}

static int say(uint32_t kind, uint32_t number, int status, uint64_t cpu_us, uint64_t max_rss)
{
    Message m = {
        SUNDEW_FORKSERVER_MAGIC, SUNDEW_FORKSERVER_VERSION, kind, number, status, 0, cpu_us, max_rss
    };
    return say_to(above, &m);
}

/* Functions that a run returns through are inlined: otherwise the stack of a run that died in abort()
 * named them in place of the program's own (explore.sh tests it). */

/* The next message; with RUN, its descriptors become 0, 1 and 2. */
static inline __attribute__((always_inline)) int hear_from(int fd, Message *m)
{
    struct iovec iov = { m, sizeof *m };
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } control;
    struct msghdr h = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    ssize_t n;
    do
        n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n != sizeof *m || m->magic != SUNDEW_FORKSERVER_MAGIC ||
        m->version != SUNDEW_FORKSERVER_VERSION)
        return 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(3 * sizeof(int))) {
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

static inline __attribute__((always_inline)) int hear(Message *m) { return hear_from(above, m); }

static uint64_t microseconds(const struct rusage *u)
{
    return ((uint64_t)u->ru_utime.tv_sec + (uint64_t)u->ru_stime.tv_sec) * 1000000u +
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

/* The inputs of a batch, a process each or several; returns in children only.
 * A child in persistent mode goes on by itself, through batches too. */
static int serve_batch(void)
{
    while (batch->at < batch->n) {
        sundew_batch_prepare(batch);
        shared->rounds = 0;
        shared->cpu_before = 0;
        pid_t pid = fork();
        if (pid < 0)
            _exit(1);
        if (pid == 0)
            return 1;
        int status;
        struct rusage u;
        pid_t done;
        do
            done = wait4(pid, &status, 0, &u);
        while (done < 0 && errno == EINTR);
        if (done < 0)
            _exit(0);
        if (shared->declined) {
            shared->declined = 0;
        } else if (shared->answered == shared->current) {
            return 0; /* killed while it waited: the next batch is not heard of yet */
        } else if (batch->at < batch->n) {
            sundew_batch_judge(batch, status, microseconds(&u) - shared->cpu_before);
            batch->at++;
        }
    }
    if (shared->answered != shared->current) {
        shared->answered = shared->current;
        if (!say(SUNDEW_FORKSERVER_BATCHED, shared->current, 0, 0, 0))
            _exit(0);
    }
    return 0;
}

/* ---- a server ahead */

enum {
    MOST_FILES = 256,
    MOST_DEPTH = 64, /* servers are processes of the run: see run.h */
    ABOVE_FD = SUNDEW_FORKSERVER_FD - 2, /* high numbers: the program's own begin at 3 */
    AHEAD_FD = SUNDEW_FORKSERVER_FD - 3,
};

static uint32_t depth; /* of this server */
static int coming; /* this process will serve at its next stop … */
static Message first; /* … and this is its first run */
static struct {
    pid_t pid; /* 0: none */
    uint64_t way;
} ahead;
static off_t files[MOST_FILES]; /* where open files stand; -1: there is none */

/* Processes share the positions of open files, so each run gets back those of its beginning. */
static void note_files(void)
{
    for (int fd = 3; fd < MOST_FILES; fd++)
        files[fd] = lseek(fd, 0, SEEK_CUR);
}

static void restore_files(void)
{
    for (int fd = 3; fd < MOST_FILES; fd++)
        if (files[fd] >= 0)
            lseek(fd, files[fd], SEEK_SET);
}

static void drop_ahead(void)
{
    if (!ahead.pid)
        return;
    close(AHEAD_FD); /* it hears of it, and so do those ahead of it */
    while (waitpid(ahead.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    ahead.pid = 0;
}

/* Hands the run on, with its descriptors. */
static int hand_on(const Message *m)
{
    int fds[3] = { 0, 1, 2 };
    struct iovec iov = { (void *)m, sizeof *m };
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof fds)];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr h = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    return sendmsg(AHEAD_FD, &h, MSG_NOSIGNAL) == sizeof *m;
}

/* A process that goes one step on and serves there. Returns 1 in it. */
static int start_ahead(uint64_t way, const Message *m)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        _exit(1);
    pid_t pid = fork();
    if (pid < 0)
        _exit(1);
    dup3(pair[pid == 0], pid ? AHEAD_FD : ABOVE_FD, O_CLOEXEC);
    close(pair[0]);
    close(pair[1]);
    if (pid == 0) {
        ahead.pid = 0;
        above = ABOVE_FD;
        depth++;
        coming = 1;
        first = *m;
        return 1;
    }
    ahead.pid = pid;
    ahead.way = way;
    return 0;
}

/* What it says of the run is said to the one above. A server that dies of the step itself
 * has run as far as the run could. */
static int relay(uint32_t number)
{
    Message m;
    if (hear_from(AHEAD_FD, &m) && m.kind == SUNDEW_FORKSERVER_ENDED && m.number == number)
        return say_to(above, &m);
    pid_t pid = ahead.pid;
    ahead.pid = 0;
    close(AHEAD_FD);
    return wait_for(pid);
}

/* Has it been killed since the last run? */
static void look_ahead(void)
{
    if (ahead.pid && waitpid(ahead.pid, NULL, WNOHANG) == ahead.pid) {
        close(AHEAD_FD);
        ahead.pid = 0;
    }
}

/* Serves a run that begins with a step which others share; returns 1 in a new server. */
static int serve_ahead(uint64_t way, const Message *m)
{
    look_ahead();
    if (ahead.pid && (ahead.way != way || !hand_on(m)))
        drop_ahead();
    if (!ahead.pid && start_ahead(way, m))
        return 1;
    if (!relay(m->number))
        _exit(0);
    return 0;
}

/* Forks for a run; returns 1 in the child. */
static inline __attribute__((always_inline)) int serve_run(const Message *m)
{
    uint64_t way = sundew_forkserver_way && depth < MOST_DEPTH ? sundew_forkserver_way(depth) : 0;
    if (sundew_forkserver_way)
        restore_files();
    if (way)
        return serve_ahead(way, m);
    drop_ahead();
    shared->rounds = 0;
    shared->cpu_before = 0;
    pid_t pid = fork();
    if (pid < 0)
        _exit(1);
    if (pid == 0) {
        if (depth)
            close(ABOVE_FD);
        return 1;
    }
    if (!wait_for(pid))
        _exit(0);
    return 0;
}

/* ---- the server */

/* The server; returns in children only. */
static void serve(const sigset_t *mask)
{
    Message m;
    if (sundew_forkserver_way)
        note_files();
    for (;;) {
        if (coming)
            m = first;
        else if (!hear(&m))
            _exit(0);
        coming = 0;
        shared->current = m.number;
        if (m.kind == SUNDEW_FORKSERVER_BATCH && batch) {
            if (!serve_batch())
                continue;
            sigprocmask(SIG_SETMASK, mask, NULL);
            return;
        }
        batch = NULL;
        if (m.kind != SUNDEW_FORKSERVER_RUN)
            _exit(0);
        if (serve_run(&m)) {
            sigprocmask(SIG_SETMASK, mask, NULL);
            return;
        }
    }
}

/* Signals wait while it serves: a SIGCHLD handler of the program's would
 * take the child away, and a tracer would be told of each. */
static inline __attribute__((always_inline)) void serve_here(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    serve(&before);
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
    void *page =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    shared = page;
    batch = sundew_batch_open ? sundew_batch_open() : NULL;
    Message m;
    if (!say(SUNDEW_FORKSERVER_HELLO, 0, 0, 0, 0) || !hear(&m) || m.kind != SUNDEW_FORKSERVER_HELLO)
        _exit(0);
    serve_here();
}

int sundew_forkserver_deeper(void)
{
    if (!coming)
        return 0;
    serve_here();
    return 1;
}

/* The next input of the batch, or of the next batch. */
static int again_in_batch(unsigned most, int status)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    uint64_t cpu = (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
    if (++shared->rounds >= most || (batch->rounds && shared->rounds >= batch->rounds))
        return 0; /* the server sees how it ends */
    sundew_batch_judge(batch, status, cpu - shared->cpu_before);
    shared->cpu_before = cpu;
    if (++batch->at >= batch->n) {
        Message m;
        shared->answered = shared->current;
        if (!say(SUNDEW_FORKSERVER_BATCHED, shared->current, 0, 0, 0) || !hear(&m) ||
            m.kind != SUNDEW_FORKSERVER_BATCH)
            _exit(0);
        shared->current = m.number;
        if (batch->rounds && shared->rounds >= batch->rounds) {
            shared->declined = 1;
            _exit(0);
        }
    }
    sundew_batch_prepare(batch);
    return 1;
}

int sundew_forkserver_again(unsigned most) { return sundew_forkserver_go_on(most, 0); }

int sundew_forkserver_go_on(unsigned most, int status)
{
    if (shared && batch)
        return again_in_batch(most, status);
    if (!shared || ++shared->rounds >= most)
        return 0;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    uint64_t cpu = microseconds(&u);
    shared->answered = shared->current;
    if (!say(SUNDEW_FORKSERVER_ROUND, shared->current, status, cpu - shared->cpu_before,
             (uint64_t)u.ru_maxrss * 1024))
        _exit(0);
    shared->cpu_before = cpu;
    Message m;
    if (!hear(&m) || m.kind != SUNDEW_FORKSERVER_RUN)
        _exit(0);
    shared->current = m.number;
    return 1;
}
