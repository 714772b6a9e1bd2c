/*
 * The child reports a failed exec through a close-on-exec pipe: what arrives
 * there is its errno; a successful exec closes it.
 */
#include "base/proc.h"
#include "base/fault.h"
#include "base/mem.h"
#include "base/units.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Moves `fd` to place `to`, or opens `file` there. False with errno set. */
static bool redirect(int to, int fd, const char *file, int flags)
{
    if (file)
        fd = open(file, flags, 0666);
    else if (fd < 0)
        return true;
    if (fd < 0)
        return false;
    if (fd != to) {
        if (dup2(fd, to) < 0)
            return false;
        close(fd);
    }
    return true;
}

pid_t proc_fork(void)
{
    pid_t maker = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != maker)        /* it ended meanwhile */
            _exit(1);
    }
    return pid;
}

static _Noreturn void child(const Proc *p, int report, int out, int err)
{
    const int w = O_WRONLY | O_CREAT | O_TRUNC;
    if (p->seconds > 0)
        setpgid(0, 0);
    if (p->memory) {
        struct rlimit r = { p->memory, p->memory };
        setrlimit(RLIMIT_AS, &r);
    }
    bool ready = !p->enter || p->enter(p->enter_arg);
    if (p->death_signal)          /* after enter(), which may change credentials */
        prctl(PR_SET_PDEATHSIG, p->death_signal);
    if (p->out_to_err)
        dup2(2, 1);
    if (ready && redirect(0, -1, p->in, O_RDONLY) && redirect(1, out, p->out, w) &&
        redirect(2, err, p->err_out, w) && (!p->cwd || chdir(p->cwd) == 0)) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        if (p->env)
            environ = (char **)p->env;
        execvp(p->file ? p->file : p->argv[0], p->argv);
    }
    int e = errno;
    ssize_t ignored = write(report, &e, sizeof e);
    (void)ignored;
    _exit(127);
}

static pid_t start(const Proc *p, int out, int err_fd, Err *err)
{
    int report[2];
    if (fault_hits() || pipe2(report, O_CLOEXEC) != 0) {
        err_errno(err, "cannot start %s", p->argv[0]);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        child(p, report[1], out, err_fd);
    close(report[1]);
    int e = errno;
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
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    if (pid < 0) {
        errno = e;
        err_errno(err, "cannot start %s", p->file ? p->file : p->argv[0]);
        return -1;
    }
    return pid;
}

pid_t proc_start(const Proc *p, Err *err) { return start(p, -1, -1, err); }

static void note_status(int status, ProcResult *r)
{
    if (WIFSIGNALED(status)) {
        r->signal = WTERMSIG(status);
        r->status = 128 + r->signal;
    } else {
        r->status = WEXITSTATUS(status);
    }
}

void proc_wait(pid_t pid, ProcResult *r)
{
    assert(pid > 0);             /* another would wait for any child */
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    note_status(status, r);
}

/* Reads both pipes until they are closed or the time is over. */
static void drain(const Proc *p, ProcResult *r, int fds[2], double *deadline)
{
    uint64_t most = p->most_output ? p->most_output : 64u << 20;
    Str *into[2] = { &r->out, &r->err };
    while (fds[0] >= 0 || fds[1] >= 0) {
        struct pollfd polls[2] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 } };
        int wait_ms = -1;
        if (*deadline > 0) {
            if (p->stop && p->stop(p->stop_arg))
                *deadline = clock_seconds();
            double left = *deadline - clock_seconds();
            if (left <= 0)
                return;
            wait_ms = p->stop && left > 0.1 ? 100 : (int)(left * 1000) + 1;
        }
        if (poll(polls, 2, wait_ms) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < 2; i++) {
            if (fds[i] < 0 || !polls[i].revents)
                continue;
            char buf[65536];
            ssize_t n = read(fds[i], buf, sizeof buf);
            if (n <= 0) {
                close(fds[i]);
                fds[i] = -1;
            } else if (into[i]->len + (size_t)n <= most) {
                str_addn(into[i], buf, (size_t)n);
            } else {
                r->output_cut = true;
            }
        }
    }
}

bool proc_wait_until(pid_t pid, double deadline, ProcResult *r)
{
    int status;
    for (useconds_t nap = 200;; nap = nap < 10000 ? nap * 2 : nap) {
        pid_t done = waitpid(pid, &status, deadline > 0 ? WNOHANG : 0);
        if (done == pid) {
            note_status(status, r);
            return true;
        }
        if (done < 0 && errno != EINTR)
            return true;
        if (deadline > 0 && clock_seconds() >= deadline)
            return false;
        if (deadline > 0)
            usleep(nap);
    }
}

bool proc_run(const Proc *p, ProcResult *r, Err *err)
{
    assert(p->argv && p->argv[0]);
    int out[2] = { -1, -1 }, err_fd[2] = { -1, -1 };
    if (p->capture && (pipe2(out, O_CLOEXEC) || pipe2(err_fd, O_CLOEXEC))) {
        if (out[0] >= 0)
            close(out[0]), close(out[1]);
        return err_errno(err, "cannot start %s", p->argv[0]);
    }
    double begin = clock_seconds();
    Proc mortal = *p;            /* nobody waits for it when we are killed */
    mortal.death_signal = p->death_signal ? p->death_signal : SIGKILL;
    pid_t pid = start(&mortal, out[1], err_fd[1], err);
    if (p->capture) {
        close(out[1]);
        close(err_fd[1]);
    }
    int fds[2] = { out[0], err_fd[0] };
    double deadline = p->seconds > 0 ? begin + p->seconds : 0;
    if (pid > 0) {
        drain(p, r, fds, &deadline);
        if (!proc_wait_until(pid, deadline, r)) {
            r->timed_out = true;
            assert(p->seconds > 0);       /* so the child leads a group */
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
            proc_wait(pid, r);
        } else if (p->seconds > 0) {
            kill(-pid, SIGKILL);      /* what it left behind */
        }
    }
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    r->seconds = clock_seconds() - begin;
    return pid > 0;
}

void proc_result_release(ProcResult *r)
{
    str_release(&r->out);
    str_release(&r->err);
}
