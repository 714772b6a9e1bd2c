/*
 * The worker: the process inside the sandbox that starts subjects, watches them
 * and says how they ended. run_int.h has its messages.
 *
 * A run, from RUN to DONE:
 *
 *     begin      fork and exec the subject, or ask its fork server for a child
 *     supervise  sleep until something happens: a child changed state (SIGCHLD
 *                through a signalfd), the fork server or Sundew said something,
 *                or it is time to look at memory and CPU (every 20 ms) or over
 *     finish     kill whatever the run left, empty the private folders, answer
 *
 * Runs that end within 20 ms are never looked at; their limits are those that
 * the kernel keeps. When the control socket closes (Sundew is gone, killed even)
 * the worker kills everything and exits; as process 1 of a pid namespace it
 * need only exit.
 */
#include "run/run_int.h"
#include "base/empty.h"
#include "base/units.h"
#include "runtime/server/forkserver.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What to run; the texts are in `body`. */
typedef struct Start {
    StartWire wire;
    const char *file, *cwd;
    char **argv, **env;        /* env: with a free place at the end */
    int fds[WIRE_MOST_FDS];
    Str body;
    Arena arena;
    unsigned serial;           /* counts changes */
} Start;

/* A subject with a fork server in it, waiting. */
typedef struct Server {
    pid_t pid;                 /* 0: none, or it died */
    int socket;                /* -1: none */
    unsigned serial;           /* of the Start it was started from */
    RunLimits limits;          /* those that the kernel keeps for it */
    bool traced;
    unsigned number;           /* of the last run */
} Server;

typedef struct Run {
    RunLimits limits;
    bool lend;                 /* the server is for Sundew's own use */
    bool by_server;
    bool traced;
    pid_t main;                /* the subject; 0: gone, or the server's */
    bool ended;
    bool lost;                 /* the fork server died */
    int status;
    double cpu;
    uint64_t max_rss;
    FailureStop stop;
    bool blocked;
    double begun, next_look;
    double seen_cpu, base_cpu; /* at the last look that saw progress; at begin */
    double progress;           /* when that was */
    bool left;
} Run;

typedef struct Worker {
    Wire wire;                 /* to Sundew */
    int control, signals;      /* its descriptor */
    struct rlimit files;       /* as it was; ours is the highest there is */
    bool more;                 /* children may wait that no signal tells of */
    bool killing;              /* what stops now must not go on */
    Sandbox sandbox;
    off_t private_size[4];     /* of sandbox_private[], when empty */
    Str setup;                 /* holds the sandbox's texts */
    Start start;
    Server server;
    Run run;
    Trace trace;
} Worker;

enum { LOOK_MS = 20 };

/* ---- the subject */

static void limit(int what, uint64_t soft, uint64_t hard)
{
    struct rlimit now, r = { soft, hard };
    getrlimit(what, &now);
    if (r.rlim_max > now.rlim_max)
        r.rlim_max = now.rlim_max;
    if (r.rlim_cur > r.rlim_max)
        r.rlim_cur = r.rlim_max;
    setrlimit(what, &r);
}

/* Kernels before 5.14 count the user's processes outside of the sandbox too, so
 * these are added; the exact limit is watched. */
static void set_limits(const Worker *w)
{
    const RunLimits *l = &w->run.limits;
    uint64_t cpu = (uint64_t)ceil(l->cpu) + 1;
    uint64_t processes = l->processes + w->sandbox.user_tasks + 512;
    limit(RLIMIT_CORE, 0, 0);
    if (!w->start.wire.server)         /* a process may serve many rounds */
        limit(RLIMIT_CPU, cpu, cpu + 1);
    limit(RLIMIT_FSIZE, l->file_size, l->file_size);
    limit(RLIMIT_NPROC, processes, processes);
    if (w->run.lend && l->memory != RUN_UNLIMITED)
        limit(RLIMIT_AS, l->memory, l->memory);
}

/* Moves descriptors to their numbers; those in the way first go up. */
static bool place_fds(const Start *s, const int *std, int server)
{
    int from[WIRE_MOST_FDS + 4], as[WIRE_MOST_FDS + 4];
    size_t n = 0;
    for (int i = 0; i < 3; i++)
        from[n] = std[i], as[n++] = i;
    for (uint32_t i = 0; i < s->wire.nfds; i++)
        from[n] = s->fds[i], as[n++] = s->wire.as[i];
    if (server >= 0)
        from[n] = server, as[n++] = SUNDEW_FORKSERVER_FD;
    for (size_t i = 0; i < n; i++)
        if ((from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, RUN_MOST_FD)) < 0) {
            errno = errno == EINVAL ? EMFILE : errno;    /* beyond the limit */
            return false;
        }
    for (size_t i = 0; i < n; i++)
        if (dup2(from[i], as[i]) < 0)
            return false;
    return true;
}

static _Noreturn void child(const Worker *w, const int *std, int server, int go, int report)
{
    const Start *s = &w->start;
    sigset_t none;
    char c;
    sigemptyset(&none);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int high = fcntl(report, F_DUPFD_CLOEXEC, RUN_MOST_FD);
    if (high >= 0)
        report = high;
    guard_child();
    ssize_t ignored = go >= 0 ? write(go, "", 1) + read(go, &c, 1) : 0;
    set_limits(w);
    if (s->wire.fixed_addresses)
        personality(ADDR_NO_RANDOMIZE);
    bool placed = place_fds(s, std, server), there = placed && chdir(s->cwd) == 0;
    if (there) {
        signal(SIGCHLD, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setrlimit(RLIMIT_NOFILE, &w->files);
        guard_subject();
        execve(s->file, s->argv, s->env);
    }
    int e = placed && !there ? -errno : errno;
    ignored = write(report, &e, sizeof e);
    (void)ignored;
    _exit(127);
}

/* Starts a process; 0 with errno set if it could not be; negative if the folder
 * is the reason. */
static pid_t spawn(Worker *w, const int *std, int server, bool *traced)
{
    int report[2], go[2] = { -1, -1 };
    *traced = !w->start.wire.untraced && w->sandbox.rows[PROTECT_TRACE].granted;
    if (pipe2(report, O_CLOEXEC) != 0)
        return 0;
    if (*traced && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
        *traced = false;
    pid_t pid = fork();
    if (pid == 0)
        child(w, std, server, go[0], report[1]);
    int e = errno;
    close(report[1]);
    if (go[0] >= 0) {                  /* it says that it may be traced, we that it is */
        char c;
        close(go[0]);
        *traced = pid > 0 && read(go[1], &c, 1) == 1 && trace_seize(pid);
        ssize_t ignored = send(go[1], "", 1, MSG_NOSIGNAL);
        (void)ignored;
        close(go[1]);
    }
    if (pid > 0) {
        ssize_t n;
        do
            n = read(report[0], &e, sizeof e);
        while (n < 0 && errno == EINTR);
        if (n != sizeof e)
            e = 0;
    }
    close(report[0]);
    if (pid > 0 && e) {
        while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
            ;
        pid = 0;
    }
    errno = e;
    return pid > 0 ? pid : 0;
}

static void say_why(const Worker *w, int e, Str *why)
{
    if (e == EMFILE)
        str_addf(why, "the limit on open files is too low: runs need %d (ulimit -Hn)",
                 RUN_MOST_FD + WIRE_MOST_FDS);
    else if (e < 0)
        str_addf(why, "cannot enter %s: %s", w->start.cwd, strerror(-e));
    else
        str_add(why, strerror(e));
}

/* ---- reaping */

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static void note_end(Run *r, int status, double cpu, uint64_t max_rss)
{
    r->ended = true;
    r->status = status;
    r->cpu = cpu;
    r->max_rss = max_rss;
    r->main = 0;
}

/* Takes note of children that changed state, of some at most: a subject that
 * forks without end must not keep us here. False: no children at all. */
static bool reap(Worker *w)
{
    w->more = false;
    for (unsigned n = 0; n < 200; n++) {
        int status;
        struct rusage u;
        pid_t pid = wait4(-1, &status, WNOHANG | __WALL, &u);
        if (pid == 0)
            return true;
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            return false;
        if (WIFSTOPPED(status) && w->killing && pid != w->server.pid) {
            kill(pid, SIGKILL);        /* born while its parents are killed */
        } else if (WIFSTOPPED(status)) {
            trace_stop(&w->trace, pid, status);
        } else if (pid == w->server.pid) {
            w->server.pid = 0;
            w->run.lost = true;
        } else if (pid == w->run.main && !w->run.by_server) {
            note_end(&w->run, status, seconds_of(u.ru_utime) + seconds_of(u.ru_stime),
                     (uint64_t)u.ru_maxrss * 1024);
        }
    }
    w->more = true;
    return true;
}

static void drain_signals(const Worker *w)
{
    struct signalfd_siginfo si[8];
    while (read(w->signals, si, sizeof si) > 0)
        ;
}

/* Kills all processes below the worker, its fork server excepted if `spare`. */
static void kill_all(Worker *w, bool spare)
{
    pid_t except = spare ? w->server.pid : 0;
    bool own = w->sandbox.rows[PROTECT_PID].granted;
    w->killing = true;
    for (unsigned i = 0; i < 2000; i++) {
        size_t n = 0;
        if (own && !except)
            kill(-1, SIGKILL);
        else
            n = watch_kill(except);
        if (!reap(w) || (except && n == 0))
            break;
        if (i > 100) {                 /* it forks faster than we find it */
            except = 0;
            w->server.pid = 0;
        }
        struct pollfd p = { w->signals, POLLIN, 0 };
        poll(&p, 1, w->more ? 0 : 1 + (int)(i / 10));
        drain_signals(w);
    }
    w->killing = false;
}

/* Is there a child besides the fork server? */
static bool has_orphans(const Worker *w)
{
    char text[256];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n < 0)                         /* the kernel has no such list */
        return watch_usage(w->server.pid, false).tasks > 0;
    text[n] = 0;
    char *end;
    long first = strtol(text, &end, 10);
    return first && (strtol(end, NULL, 10) || first != watch_proc_number(w->server.pid));
}

/* ---- fork server */

typedef struct sundew_forkserver_message Message;

/* One message, and which process sent it: the kernel says that, so that a run can't
 * speak for its server. */
static ssize_t receive(const Worker *w, Message *m, pid_t *from)
{
    struct iovec iov = { m, sizeof *m };
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(16 * sizeof(int))];
    } control;
    struct msghdr h = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    ssize_t n = recvmsg(w->server.socket, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *from = 0;
    for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL; c; c = CMSG_NXTHDR(&h, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(c), sizeof who);
            *from = who.pid;
        } else if (c->cmsg_type == SCM_RIGHTS) {      /* nothing of ours */
            for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
                close(fd);
            }
        }
    }
    return n;
}

static void stop_server(Worker *w)
{
    if (w->server.socket < 0)
        return;
    close(w->server.socket);
    w->server.socket = -1;
    w->server.pid = 0;
    kill_all(w, false);
}

static bool server_fits(const Worker *w, const RunLimits *l)
{
    const RunLimits *s = &w->server.limits;
    return w->server.pid && w->server.serial == w->start.serial && s->file_size == l->file_size &&
           s->processes == l->processes;
}

/* Waits for the first message, while stops of the traced server are answered. */
static bool hear(Worker *w, Message *m, double seconds)
{
    double until = clock_seconds() + seconds;
    for (;;) {
        struct pollfd p[3] = { { w->server.socket, POLLIN, 0 },
                               { w->signals, POLLIN, 0 },
                               { w->control, POLLRDHUP, 0 } };
        poll(p, 3, w->more ? 0 : 100);
        if (p[1].revents || w->more) {
            drain_signals(w);
            reap(w);
        }
        pid_t from;
        if (p[0].revents)
            return receive(w, m, &from) == sizeof *m;
        if (!w->server.pid || clock_seconds() > until || p[2].revents & (POLLHUP | POLLRDHUP))
            return false;
    }
}

/* Starts the subject and shakes hands. False with `why`. */
static bool start_server(Worker *w, const int *std, Str *why)
{
    int pair[2];
    stop_server(w);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        str_addf(why, "socketpair: %s", strerror(errno));
        return false;
    }
    Server *v = &w->server;
    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int));
    v->pid = spawn(w, std, pair[1], &v->traced);
    int e = errno;
    close(pair[1]);
    v->socket = pair[0];
    v->serial = w->start.serial;
    v->limits = w->run.limits;
    v->number = 0;
    if (!v->pid) {
        say_why(w, e, why);
        stop_server(w);
        return false;
    }
    trace_reset(&w->trace, v->pid);
    w->trace.server = v->pid;
    Message m = { 0 };
    bool heard = hear(w, &m, 3 * w->run.limits.wall + 20);
    if (!heard || m.magic != SUNDEW_FORKSERVER_MAGIC || m.kind != SUNDEW_FORKSERVER_HELLO) {
        str_add(why, "no fork server in it answers (is it linked in and "
                     "started?)");
    } else if (m.version != SUNDEW_FORKSERVER_VERSION) {
        str_addf(why,
                 "its fork server speaks version %u, this is version %u: "
                 "build it anew",
                 m.version, SUNDEW_FORKSERVER_VERSION);
    } else {
        Message hello = { SUNDEW_FORKSERVER_MAGIC,
                          SUNDEW_FORKSERVER_VERSION,
                          SUNDEW_FORKSERVER_HELLO,
                          0,
                          0,
                          0,
                          0,
                          0 };
        if (send(v->socket, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello)
            return true;
        str_add(why, "its fork server went away");
    }
    stop_server(w);
    return false;
}

static bool ask_server(Worker *w, const int *std)
{
    Message m = { SUNDEW_FORKSERVER_MAGIC,
                  SUNDEW_FORKSERVER_VERSION,
                  SUNDEW_FORKSERVER_RUN,
                  ++w->server.number,
                  0,
                  0,
                  0,
                  0 };
    struct iovec iov = { &m, sizeof m };
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } control = { 0 };
    struct msghdr h = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(3 * sizeof(int));
    memcpy(CMSG_DATA(c), std, 3 * sizeof(int));
    return sendmsg(w->server.socket, &h, MSG_NOSIGNAL) == sizeof m;
}

static void server_said(Worker *w)
{
    Message m;
    pid_t from;
    ssize_t n = receive(w, &m, &from);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    bool by_server = from == w->server.pid;
    if (n > 0 && !by_server && !w->start.wire.rounds)
        return;                        /* a run that speaks for its server */
    if (n != sizeof m || m.magic != SUNDEW_FORKSERVER_MAGIC) {
        w->run.lost = true;
        return;
    }
    if (m.number != w->server.number)
        return;                        /* about an earlier run */
    if (m.kind == SUNDEW_FORKSERVER_ENDED && by_server)
        note_end(&w->run, m.status, (double)m.cpu_us / 1e6, m.max_rss);
    else if (m.kind == SUNDEW_FORKSERVER_ROUND && w->start.wire.rounds)
        note_end(&w->run, 0, (double)m.cpu_us / 1e6, m.max_rss);
}

/* ---- supervise */

static void stop_run(Worker *w, FailureStop why)
{
    Run *r = &w->run;
    if (r->stop || r->ended)
        return;
    r->stop = why;
    if (!r->by_server) {
        kill_all(w, false);
        if (!r->ended)
            note_end(r, SIGKILL, r->seen_cpu - r->base_cpu, 0);
        else if (r->status != SIGKILL)
            r->stop = FAILURE_STOP_NONE;       /* it was faster */
        return;
    }
    kill_all(w, true);
    Message m = { 0 };
    double until = clock_seconds() + 5;        /* it may speak of other runs without end */
    while (w->server.pid && !r->ended && clock_seconds() < until && hear(w, &m, 5))
        if (m.number == w->server.number)
            note_end(r, SIGKILL, (double)m.cpu_us / 1e6, m.max_rss);
    if (!r->ended) {
        stop_server(w);
        note_end(r, SIGKILL, 0, 0);
    }
}

/* One look at what the run uses. */
static void look(Worker *w, double now)
{
    Run *r = &w->run;
    const RunLimits *l = &r->limits;
    pid_t except = r->by_server ? w->server.pid : 0;
    Usage u = watch_usage(except, false);
    if (u.memory > l->memory)
        u.memory = watch_usage(except, true).memory;
    if (r->base_cpu < 0)
        r->base_cpu = r->by_server ? u.cpu : 0;
    if (u.cpu != r->seen_cpu || u.runnable) {
        r->seen_cpu = u.cpu;
        r->progress = now;
    }
    r->blocked = now - r->progress > fmin(1, (now - r->begun) / 2);
    /* Where /proc lists a whole machine, a look takes its time. */
    r->next_look = now + fmax(LOOK_MS / 1e3, 20 * (clock_seconds() - now));
    if (u.memory > l->memory)
        stop_run(w, FAILURE_STOP_MEMORY);
    else if (u.tasks > l->processes)
        stop_run(w, FAILURE_STOP_PROCESSES);
    else if (u.cpu - r->base_cpu > l->cpu)
        stop_run(w, FAILURE_STOP_CPU);
    else if (now - r->begun > l->wall)
        stop_run(w, FAILURE_STOP_WALL);
    else if (l->idle > 0 && now - r->progress > l->idle)
        stop_run(w, FAILURE_STOP_IDLE);
}

static _Noreturn void leave(Worker *w)
{
    kill_all(w, false);
    _exit(0);
}

/* Sundew says stop, or is gone. */
static void control_said(Worker *w)
{
    WireKind kind;
    Str body = { 0 };
    int fds[WIRE_MOST_FDS];
    size_t nfds;
    if (!wire_receive(&w->wire, &kind, &body, fds, &nfds))
        leave(w);
    for (size_t i = 0; i < nfds; i++)
        close(fds[i]);
    str_release(&body);
    if (kind == WIRE_STOP)
        stop_run(w, FAILURE_STOP_OUTPUT);
}

static void supervise(Worker *w)
{
    Run *r = &w->run;
    while (!r->ended && !(r->by_server && r->lost)) {
        double now = clock_seconds();
        if (now >= r->next_look) {
            look(w, now);
            continue;
        }
        struct pollfd p[3] = { { w->control, POLLIN, 0 },
                               { w->signals, POLLIN, 0 },
                               { r->by_server ? w->server.socket : -1, POLLIN, 0 } };
        int most = (int)((r->next_look - now) * 1000) + 1;
        if (poll(p, 3, w->more ? 0 : most) < 0)
            continue;
        if (p[2].revents)
            server_said(w);
        if (p[1].revents || w->more) {
            drain_signals(w);
            reap(w);
        }
        if (p[0].revents && !r->ended)
            control_said(w);
    }
}

/* ---- answer */

static void say_failed(Worker *w, const char *why)
{
    Str body = { 0 };
    wire_add_text(&body, why);
    if (!wire_send(&w->wire, WIRE_FAILED, &body, NULL, 0))
        leave(w);
    str_release(&body);
}

static void say_done(Worker *w)
{
    Run *r = &w->run;
    DoneWire d = { .wait_status = r->status,
                   .stop = r->stop,
                   .blocked = r->blocked,
                   .traced = r->traced && !w->trace.let_go,
                   .left_processes = r->left,
                   .lost_server = r->by_server && r->lost,
                   .cpu_seconds = r->cpu,
                   .max_rss = r->max_rss,
                   .seconds = clock_seconds() - r->begun };
    const TraceSignal *t =
        WIFSIGNALED(r->status) && !r->stop ? trace_explain(&w->trace, WTERMSIG(r->status)) : NULL;
    if (t) {
        d.has_info = true;
        d.code = t->code;
        d.address = t->address;
        d.sp = t->sp;
        d.access = t->access;
        d.nframes = (uint32_t)t->nframes;
    }
    Str body = { 0 };
    wire_add(&body, &d, sizeof d);
    for (size_t i = 0; t && i < t->nframes; i++) {
        const FailureFrame *f = &t->frames[i];
        wire_add_text(&body, f->function ? f->function : "");
        wire_add_text(&body, f->module ? f->module : "");
        wire_add(&body, &f->offset, sizeof f->offset);
    }
    if (!wire_send(&w->wire, WIRE_DONE, &body, NULL, 0))
        leave(w);
    str_release(&body);
}

/* The size of a folder in memory counts its entries, and what is mounted there
 * stays: the same size as at the begin means nothing new. */
static void empty_private(Worker *w)
{
    if (w->sandbox.own_ipc)
        ipc_empty();
    for (size_t i = 0; i < 4; i++) {
        struct stat st;
        if (!w->sandbox.private_tmp[i] || stat(sandbox_private[i], &st) != 0 ||
            st.st_size == w->private_size[i])
            continue;
        int dir = open(sandbox_private[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir >= 0) {
            folder_empty(dir);
            close(dir);
        }
    }
}

static void finish(Worker *w)
{
    Run *r = &w->run;
    r->left = r->by_server ? has_orphans(w) : reap(w);
    assert(r->ended || (r->by_server && r->lost));
    if (r->left)
        kill_all(w, r->by_server);
    if (r->by_server && r->lost)
        stop_server(w);
    empty_private(w);
}

/* ---- requests */

static bool begin(Worker *w, const int *std, Str *why)
{
    Run *r = &w->run;
    r->by_server = w->start.wire.server;
    r->base_cpu = -1;
    r->seen_cpu = -1;
    if (!r->by_server) {
        stop_server(w);
        trace_reset(&w->trace, 0);
        w->trace.server = 0;
        r->main = spawn(w, std, -1, &r->traced);
        w->trace.main = r->main;
        if (!r->main)
            say_why(w, errno, why);
        return r->main != 0;
    }
    if (!server_fits(w, &r->limits) && !start_server(w, std, why))
        return false;
    bool let_go = w->trace.let_go;
    trace_reset(&w->trace, w->trace.main);
    w->trace.let_go = let_go;
    r->traced = w->server.traced;
    r->lost = false;
    if (!ask_server(w, std)) {         /* it died between two runs */
        if (!start_server(w, std, why))
            return false;
        r->lost = false;
        if (!ask_server(w, std)) {
            str_add(why, "its fork server went away");
            return false;
        }
    }
    return true;
}

static bool read_run(Worker *w, const Str *body, size_t nfds)
{
    RunWire wire;
    WireIn in = { str_c(body), str_c(body) + body->len, false };
    wire_get(&in, &wire, sizeof wire);
    if (in.bad || nfds != 3 || !w->start.file) {
        say_failed(w, "the request is broken");
        return false;
    }
    w->run = (Run){ .limits = wire.limits, .lend = wire.lend };
    return true;
}

static void run(Worker *w, const Str *body, int *fds, size_t nfds)
{
    Str why = { 0 };
    if (!read_run(w, body, nfds))
        return;
    bool begun = begin(w, fds, &why);
    w->run.begun = w->run.progress = clock_seconds();
    w->run.next_look = w->run.begun + LOOK_MS / 1e3;
    for (size_t i = 0; i < nfds; i++)
        close(fds[i]);
    if (begun) {
        supervise(w);
        finish(w);
        if (w->run.by_server && w->run.lost && !w->run.ended)
            note_end(&w->run, SIGKILL, 0, 0);
    }
    if (begun)
        say_done(w);
    else
        say_failed(w, str_c(&why));
    str_release(&why);
}

/* Starts the fork server and hands its socket out: who has it asks for runs
 * itself, and says TIDY when one takes too long. */
static void lend(Worker *w, const Str *body, int *fds, size_t nfds)
{
    Str why = { 0 }, none = { 0 };
    bool ok = read_run(w, body, nfds);
    if (ok && !start_server(w, fds, &why)) {
        say_failed(w, str_c(&why));
        ok = false;
    }
    DoneWire d = { 0 };
    wire_add(&none, &d, sizeof d);
    if (ok && !wire_send(&w->wire, WIRE_DONE, &none, &w->server.socket, 1))
        leave(w);
    for (size_t i = 0; i < nfds; i++)
        close(fds[i]);
    str_release(&none);
    str_release(&why);
}

static void tidy(Worker *w)
{
    Str body = { 0 };
    DoneWire d = { .left_processes = has_orphans(w) };
    kill_all(w, true);
    empty_private(w);
    wire_add(&body, &d, sizeof d);
    if (!wire_send(&w->wire, WIRE_DONE, &body, NULL, 0))
        leave(w);
    str_release(&body);
}

static char **texts(Arena *a, WireIn *in, uint32_t n, uint32_t more)
{
    char **list = arena_array(a, char *, (size_t)n + more + 1);
    for (uint32_t i = 0; i < n && !in->bad; i++)
        list[i] = (char *)wire_get_text(in);
    return list;
}

static void take_start(Worker *w, Str *body, const int *fds, size_t nfds)
{
    Start *s = &w->start;
    for (uint32_t i = 0; i < s->wire.nfds; i++)
        close(s->fds[i]);
    unsigned serial = s->serial + 1;
    arena_release(&s->arena);
    str_release(&s->body);
    *s = (Start){ .body = *body, .serial = serial };
    *body = (Str){ 0 };
    WireIn in = { s->body.data, s->body.data + s->body.len, false };
    wire_get(&in, &s->wire, sizeof s->wire);
    s->file = wire_get_text(&in);
    s->cwd = wire_get_text(&in);
    s->argv = texts(&s->arena, &in, s->wire.nargs, 0);
    s->env = texts(&s->arena, &in, s->wire.nenv, 1);
    if (s->wire.server)
        s->env[s->wire.nenv] =
            arena_printf(&s->arena, "%s=%d", SUNDEW_FORKSERVER_ENV, SUNDEW_FORKSERVER_FD);
    memcpy(s->fds, fds, nfds * sizeof *fds);
    if (in.bad || s->wire.nfds != nfds)
        s->file = NULL;
    s->wire.nfds = (uint32_t)nfds;
}

/* ---- setup */

static void set_up(Worker *w)
{
    WireKind kind;
    int fds[WIRE_MOST_FDS];
    size_t nfds;
    static Arena arena;                /* as long as the process */
    if (!wire_receive(&w->wire, &kind, &w->setup, fds, &nfds) || kind != WIRE_SETUP)
        _exit(2);
    WireIn in = { w->setup.data, w->setup.data + w->setup.len, false };
    Sandbox *s = &w->sandbox;
    wire_get(&in, &s->setup, sizeof s->setup);
    if (in.bad || s->setup.version != WIRE_VERSION || s->setup.size != WIRE_SIZE) {
        say_failed(w, "sundew-run is of another version than sundew");
        _exit(2);
    }
    s->scratch = wire_get_text(&in);
    s->layered = wire_get_text(&in);
    s->readable = texts(&arena, &in, s->setup.nreadable, 0);
    s->writable = texts(&arena, &in, s->setup.nwritable, 0);
    s->named = texts(&arena, &in, s->setup.nnamed, 0);
    sandbox_enter(s, w->control);
    for (size_t i = 0; i < 4; i++) {
        struct stat st;
        w->private_size[i] = stat(sandbox_private[i], &st) == 0 ? st.st_size : -1;
    }
    Str body = { 0 };
    for (int i = 0; i < PROTECT_COUNT; i++) {
        uint8_t granted = s->rows[i].granted;
        wire_add(&body, &granted, 1);
        wire_add_text(&body, s->rows[i].why);
    }
    if (!wire_send(&w->wire, WIRE_READY, &body, NULL, 0))
        _exit(0);
    str_release(&body);
}

static void on_child(int sig) { (void)sig; /* there, so that it is not ignored */ }

static void open_signals(Worker *w)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    signal(SIGCHLD, on_child);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

_Noreturn void worker_main(int control)
{
    Worker w = { .wire.fd = control, .control = control, .server.socket = -1 };
    umask(022);
    setsid();
    fcntl(control, F_SETFD, FD_CLOEXEC);
    getrlimit(RLIMIT_NOFILE, &w.files);
    limit(RLIMIT_NOFILE, RLIM_INFINITY, RLIM_INFINITY);
    set_up(&w);
    open_signals(&w);
    for (;;) {
        struct pollfd p[2] = { { control, POLLIN, 0 }, { w.signals, POLLIN, 0 } };
        poll(p, 2, -1);
        if (p[1].revents) {
            drain_signals(&w);
            reap(&w);
        }
        if (!p[0].revents)
            continue;
        WireKind kind;
        Str body = { 0 };
        int fds[WIRE_MOST_FDS];
        size_t nfds;
        if (!wire_receive(&w.wire, &kind, &body, fds, &nfds))
            leave(&w);
        if (kind == WIRE_START) {
            take_start(&w, &body, fds, nfds);
        } else if (kind == WIRE_RUN) {
            run(&w, &body, fds, nfds);
        } else if (kind == WIRE_LEND) {
            lend(&w, &body, fds, nfds);
        } else if (kind == WIRE_TIDY) {
            tidy(&w);
        }
        str_release(&body);
    }
}
