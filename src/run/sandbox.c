/*
 * Putting the worker into its sandbox, once, before the first run.
 *
 * Every line of defence is tried by itself and noted as granted or refused, so
 * that a container without mount namespaces still has Landlock, and the other
 * way round. The order matters: namespaces first (they need the capabilities
 * that the new user namespace brings), then mounts, then all capabilities are
 * given up, then Landlock and seccomp, which nothing can undo.
 *
 * File system, with a mount namespace:
 *
 *     /                     read-only, no device files, no set-user-id
 *     /dev/null zero full … as they were
 *     /tmp /var/tmp /dev/shm /run    empty, in memory, emptied after each run
 *     scratch, writable     as they were, on top of that
 *     readable, below /tmp… as they were but read-only, on top of that
 *     named by the words    the same, if it is a file or a folder
 *     layered               as it was, with all that is written kept in memory
 *     /proc                 of the new pid namespace, read-only: root without any capability may
 *                           still write to /proc/sys
 *
 * Landlock forbids the same writes by other means. One of the two is enough.
 */
#include "run/run_int.h"
#include "base/file.h"
#include "base/layer.h"
#include "base/userns.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const Protection protection_rows[PROTECT_COUNT] = {
    [PROTECT_USER] = { .name = "user namespace",
                       .without = "subjects keep the user's own privileges" },
    [PROTECT_PID] = { .name = "pid namespace",
                      .without = "subjects see other processes, and one that forks without "
                                 "end is killed by chasing" },
    [PROTECT_NET] = { .name = "network namespace",
                      .without = "subjects can't open network sockets at all, or, without "
                                 "seccomp too, reach the network" },
    [PROTECT_MOUNT] = { .name = "mount namespace",
                        .without = "subjects have no /tmp of their own, and without Landlock "
                                   "too can write wherever the user can" },
    [PROTECT_PROC] = { .name = "private /proc",
                       .without = "subjects can read what /proc tells of other processes" },
    [PROTECT_LANDLOCK] = { .name = "Landlock",
                           .without = "only the mount namespace keeps subjects from writing "
                                      "outside their scratch folder" },
    [PROTECT_SECCOMP] = { .name = "seccomp", .without = "subjects can use every system call" },
    [PROTECT_TRACE] = { .name = "ptrace",
                        .without = "crashes of subjects without a sanitizer have no fault "
                                   "address and no stack" },
};

const char *const sandbox_private[4] = { "/tmp", "/var/tmp", "/dev/shm", "/run" };

static bool wanted(const Sandbox *s, Protect p)
{
    return !s->setup.unprotected && !(s->setup.without & 1u << p);
}

static void refused(Sandbox *s, Protect p, const char *why)
{
    s->rows[p].granted = false;
    snprintf(s->rows[p].why, sizeof s->rows[p].why, "%s", why);
}

/* Notes the outcome of a system call. */
static bool note(Sandbox *s, Protect p, bool ok)
{
    s->rows[p].granted = ok;
    if (!ok)
        refused(s, p, strerror(errno));
    return ok;
}

/* ---- namespaces */

/* The same user and group inside as outside. */
static bool enter_user(void)
{
    UserIds ids = userns_ids();
    return userns_enter(&ids, 0);
}

static void loopback_up(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    if (fd >= 0) {
        ioctl(fd, SIOCSIFFLAGS, &r);
        close(fd);
    }
}

/* Stays outside as long as the worker lives. When Sundew is gone the worker
 * leaves by itself; should it be stuck, the guard kills it, and with process 1
 * the kernel kills everything in the namespace. */
static _Noreturn void guard(pid_t worker, int control)
{
    int status, life = (int)syscall(SYS_pidfd_open, worker, 0);
    struct pollfd p[2] = { { life, POLLIN, 0 }, { control, POLLRDHUP, 0 } };
    if (life >= 0 && dup2(control, 0) == 0 && dup2(life, 1) == 1) {
        p[0].fd = 1;
        p[1].fd = 0;
        close_range(2, ~0u, 0);
        while (poll(p, 2, -1) < 0 || !(p[0].revents | p[1].revents))
            ;
        poll(p, 1, 3000);
    }
    close(0);
    if (life >= 0)
        kill(worker, SIGKILL);
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
        ;
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* The worker goes on in a child, which is process 1 of a new namespace if
 * there is one; the caller becomes its guard. */
static void split(int control)
{
    pid_t parent = getpid(), pid = fork();
    if (pid > 0)
        guard(pid, control);
    if (pid < 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent && getppid() != 0)
        _exit(0);
}

/* ---- mounts */

/* Something that stays visible: a detached copy of the mount at `path`. */
typedef struct Exposed {
    const char *path;
    int tree;
    bool is_dir;
} Exposed;

enum { MOST_EXPOSED = 96 };
typedef struct Mounts {
    Exposed list[MOST_EXPOSED];
    size_t n, nreadable;       /* those that may only be read come first */
} Mounts;

bool sandbox_hides(const char *path)
{
    for (size_t i = 0; i < 4; i++)
        if (path_is_below(path, sandbox_private[i]))
            return true;
    return false;
}

static bool expose(Mounts *m, const char *path, uint64_t attributes)
{
    if (m->n == MOST_EXPOSED) {
        errno = E2BIG;
        return false;
    }
    int tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    struct mount_attr a = { .attr_set = attributes };
    if (tree < 0)
        return false;
    if (attributes)
        mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof a);
    m->list[m->n++] = (Exposed){ path, tree, file_is_dir(path) };
    return true;
}

/* Words may come from a stranger: what they name is looked at once more. */
static void expose_named(Mounts *m, const char *path, uint64_t attributes)
{
    struct stat st;
    if (!sandbox_hides(path) || !expose(m, path, attributes))
        return;
    const Exposed *x = &m->list[m->n - 1];
    if (fstat(x->tree, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return;
    close(x->tree);
    m->n--;
}

static bool expose_all(Sandbox *s, Mounts *m)
{
    static const char *const devices[] = { "/dev/null",   "/dev/zero",    "/dev/full",
                                           "/dev/random", "/dev/urandom", "/dev/tty" };
    const uint64_t harmless = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        expose(m, devices[i], MOUNT_ATTR_NOSUID);
    /* Outer ones first, or they would hide the inner ones; what is writable
     * wins over what is readable. */
    for (char **p = s->named; *p; p++)
        expose_named(m, *p, harmless | MOUNT_ATTR_RDONLY);
    for (char **p = s->readable; *p; p++)
        if (sandbox_hides(*p))
            expose(m, *p, harmless | MOUNT_ATTR_RDONLY);
    m->nreadable = m->n;
    for (char **p = s->writable; *p; p++)
        expose(m, *p, harmless);
    return expose(m, s->scratch, harmless);
}

/* Makes the place where `path` will be mounted, on a private folder. */
static void make_place(const Exposed *x)
{
    char *copy = xstrdup(x->path);
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        mkdir(copy, 0555);     /* not emptied after a run: keep it clean */
        *p = '/';
    }
    if (x->is_dir)
        mkdir(copy, 0755);
    else
        close(open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    free(copy);
}

/* A private folder in memory, unless it is itself to be seen. */
static bool make_private(Sandbox *s, size_t i)
{
    const char *dir = sandbox_private[i];
    struct stat st;
    if (s->setup.network && strcmp(dir, "/run") == 0)
        return false;          /* names are often looked up with its help */
    for (char **p = s->readable; *p; p++)
        if (path_is_below(dir, *p))
            return false;
    for (char **p = s->writable; *p; p++)
        if (path_is_below(dir, *p))
            return false;
    return !path_is_below(dir, s->scratch) && lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
           mount("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=256m") == 0;
}

static bool wants_layer(const Sandbox *s)
{
    return *s->layered && strcmp(s->layered, "/") != 0 && !path_is_below("/proc", s->layered) &&
           !path_is_below(s->layered, "/proc");
}

static bool mount_all(Sandbox *s)
{
    Mounts m = { 0 };
    struct mount_attr a = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
    bool ok = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && expose_all(s, &m) &&
              mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &a, sizeof a) == 0;
    for (size_t i = 0; ok && i < 4; i++)
        s->private_tmp[i] = make_private(s, i);
    for (size_t i = 0; i < m.n; i++) {
        if (ok && i == m.nreadable && wants_layer(s))
            s->has_layer =
                layer_over(s->layered, s->rows[PROTECT_USER].granted, MS_NOSUID | MS_NODEV);
        if (ok && sandbox_hides(m.list[i].path))
            make_place(&m.list[i]);
        if (ok &&
            move_mount(m.list[i].tree, "", AT_FDCWD, m.list[i].path, MOVE_MOUNT_F_EMPTY_PATH) !=
                0 &&
            m.list[i].path == s->scratch)
            ok = false;
        close(m.list[i].tree);
    }
    return ok;
}

/* ---- capabilities */

static void drop_capabilities(void)
{
    prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
                                 SECBIT_KEEP_CAPS_LOCKED);
    for (int cap = 0; cap < 64; cap++)
        prctl(PR_CAPBSET_DROP, cap);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { 0 };
    syscall(SYS_capset, &h, none);
}

/* ---- in sequence */

static void enter_namespaces(Sandbox *s)
{
    if (wanted(s, PROTECT_USER))
        note(s, PROTECT_USER, enter_user());
    if (wanted(s, PROTECT_NET) && !s->setup.network &&
        note(s, PROTECT_NET, unshare(CLONE_NEWNET) == 0))
        loopback_up();
    if (wanted(s, PROTECT_MOUNT))
        note(s, PROTECT_MOUNT, unshare(CLONE_NEWNS) == 0);
    if (wanted(s, PROTECT_PID)) {
        s->own_ipc = unshare(CLONE_NEWIPC | CLONE_NEWUTS) == 0;
        note(s, PROTECT_PID, unshare(CLONE_NEWPID) == 0);
    }
}

static void enter_mounts(Sandbox *s)
{
    if (!s->rows[PROTECT_MOUNT].granted)
        return;
    note(s, PROTECT_MOUNT, mount_all(s));
    if (s->rows[PROTECT_PID].granted && wanted(s, PROTECT_PROC))
        note(s, PROTECT_PROC,
             mount("proc", "/proc", "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ==
                 0);
}

void sandbox_enter(Sandbox *s, int control)
{
    memcpy(s->rows, protection_rows, sizeof s->rows);
    for (int p = 0; p < PROTECT_COUNT; p++)
        refused(s, p, !wanted(s, p) ? "not asked for" : "needs another protection");
    if (s->setup.network)
        refused(s, PROTECT_NET, "the network was asked for");
    s->user_tasks = watch_user_tasks();
    enter_namespaces(s);
    split(control);
    file_put("/proc/self/oom_score_adj", "1000");   /* subjects go first */
    enter_mounts(s);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!s->setup.unprotected)
        drop_capabilities();
    Protection *row = s->rows;
    if (wanted(s, PROTECT_LANDLOCK))
        row[PROTECT_LANDLOCK].granted =
            landlock_enter(s, row[PROTECT_LANDLOCK].why, sizeof row->why);
    if (wanted(s, PROTECT_SECCOMP))
        row[PROTECT_SECCOMP].granted = seccomp_enter(s, row[PROTECT_SECCOMP].why, sizeof row->why);
    if (!s->setup.unprotected)
        guard_worker(row[PROTECT_PID].granted);
    if (!(s->setup.without & 1u << PROTECT_TRACE))
        row[PROTECT_TRACE].granted = trace_works(row[PROTECT_TRACE].why, sizeof row->why);
    for (int p = 0; p < PROTECT_COUNT; p++)
        if (row[p].granted)
            row[p].why[0] = 0;
}
