/* Work in a process of its own: see apart.h. */
#include "base/apart.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "base/units.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_apart;          /* this process is one */

pid_t apart_fork(const char *scratch)
{
    fflush(NULL);
    pid_t pid = proc_fork();
    if (pid == 0) {
        is_apart = true;
        setsid();
        setenv("TMPDIR", scratch, 1);            /* compilers that are killed leave files */
    }
    return pid;
}

/* Is this process, which /proc lists, of the session? */
static bool is_in_session(const char *name, pid_t session)
{
    char path[64], state;
    long id = 0;
    Str text = { 0 };
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    bool is = *name >= '0' && *name <= '9' && file_read(path, &text, NULL);
    const char *end = is ? strrchr(str_c(&text), ')') : NULL;     /* names hold anything */
    is = end && sscanf(end + 1, " %c %*d %*d %ld", &state, &id) == 2 && id == session &&
         state != 'Z';
    str_release(&text);
    return is;
}

/* Compilers have groups of their own, but no session. */
static void kill_session(pid_t session)
{
    enum { ROUNDS = 10 };                        /* new ones may start meanwhile */
    size_t found = 1;
    for (unsigned i = 0; found && i < ROUNDS; i++) {
        Strings names = { 0 };
        found = 0;
        dir_list("/proc", &names, NULL);
        for (size_t k = 0; k < names.len; k++)
            if (is_in_session(names.items[k], session)) {
                kill((pid_t)atol(names.items[k]), SIGKILL);
                found++;
            }
        strings_release(&names);
    }
}

void apart_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    kill_session(pid);
    waitpid(pid, NULL, 0);                       /* only now may its number be another's */
}

/* ---- a piece of work */

static _Noreturn void work(const ApartPlan *plan, int to)
{
    Err why = { 0 };
    bool ok = plan->work(plan->arg, &why);
    ssize_t ignored = ok ? 0 : write(to, why.msg, strlen(why.msg));
    (void)ignored;
    _exit(ok ? 0 : 1);
}

/* It said why it failed, or died without a word. */
static ApartEnd result(pid_t pid, int from, Err *err)
{
    Err why = { 0 };
    int status = 0;
    ssize_t n = read(from, why.msg, sizeof why.msg - 1);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return APART_DONE;
    why.msg[n > 0 ? n : 0] = 0;
    err_set(err, "%s", n > 0 ? why.msg : "the process that makes builds died");
    return APART_FAILED;
}

static ApartEnd wait_for(const ApartPlan *plan, pid_t pid, int from, Err *err)
{
    struct pollfd fd = { .fd = from, .events = POLLIN };
    for (;;) {
        if (poll(&fd, 1, 100) > 0)
            return result(pid, from, err);
        bool stopped = plan->stop && plan->stop(plan->stop_arg);
        if (stopped || (plan->until > 0 && clock_seconds() > plan->until)) {
            apart_kill(pid);
            return stopped ? APART_STOPPED : APART_LATE;
        }
    }
}

ApartEnd apart_run(const ApartPlan *plan, Err *err)
{
    int both[2];
    if (is_apart)
        return plan->work(plan->arg, err) ? APART_DONE : APART_FAILED;
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return APART_FAILED;
    if (pipe2(both, O_CLOEXEC) != 0) {
        err_errno(err, "pipe");
        tempdir_remove(scratch);
        return APART_FAILED;
    }
    pid_t pid = apart_fork(scratch);
    if (pid == 0) {
        close(both[0]);
        work(plan, both[1]);
    }
    close(both[1]);
    ApartEnd end = APART_FAILED;
    if (pid < 0)
        err_errno(err, "cannot start a process");
    else
        end = wait_for(plan, pid, both[0], err);
    close(both[0]);
    tempdir_remove(scratch);
    return end;
}
