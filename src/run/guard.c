/*
 * Keeping subjects away from the worker, which runs as the same user beside them.
 *
 * The worker is not dumpable: the kernel then refuses ptrace, process_vm_readv,
 * pidfd_getfd and /proc/PID/{mem,fd,maps,environ} to everybody without capabilities,
 * and subjects have none. What needs no such right is forbidden by a filter that subjects
 * get besides the sandbox's own: changing the worker's limits, priority, processors or
 * scheduling. Signals do it no harm where it is process 1 of its namespace; where it is not,
 * the filter forbids to send it any.
 *
 * The filter says the same once more of tracing, reading and robbing the worker. Subjects
 * may do these things to their own processes: the leak check does, and so do debuggers.
 */
#include "run/run_int.h"
#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct sock_fprog filter;       /* as the kernel wants it; empty: none */

/* Their first argument is a process. */
static const char *const changing[] = {
    "prlimit64",     "sched_setaffinity", "sched_setscheduler", "sched_setparam",
    "sched_setattr", "process_vm_readv",  "process_vm_writev",  "pidfd_open",
};
static const char *const signalling[] = {
    "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
};
/* Their second is. */
static const char *const second[] = { "ptrace", "setpriority", "ioprio_set" };
/* Their first says what the second names: a process, or all of a group or a user, which may be
 * the worker's too. */
static const struct {
    const char *name;
    unsigned process;
} of_many[] = { { "setpriority", 0 /* PRIO_PROCESS */ }, { "ioprio_set", 1 /* …_WHO_PROCESS */ } };
/* Theirs is named in other ways. */
static const char *const hidden[] = { "pidfd_getfd", "process_madvise" };

/* Forbids a call, or with `arg` >= 0 only one about the process. */
static void forbid(scmp_filter_ctx c, const char *name, int arg, pid_t pid)
{
    int nr = seccomp_syscall_resolve_name(name);
    struct scmp_arg_cmp is = { .arg = arg < 0 ? 0 : (unsigned)arg,
                               .op = SCMP_CMP_MASKED_EQ,
                               .datum_a = 0xffffffff,
                               .datum_b = (uint32_t)pid };
    if (nr != __NR_SCMP_ERROR)
        seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), nr, arg < 0 ? 0 : 1, &is);
}

/* Forbids the call unless its first argument is `process`. */
static void forbid_many(scmp_filter_ctx c, const char *name, unsigned process)
{
    int nr = seccomp_syscall_resolve_name(name);
    struct scmp_arg_cmp more = { .arg = 0, .op = SCMP_CMP_GT, .datum_a = process };
    if (nr != __NR_SCMP_ERROR)
        seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), nr, 1, &more);
}

#define EACH(i, list) (size_t i = 0; i < sizeof list / sizeof *list; i++)

static scmp_filter_ctx make_filter(bool own_pids)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
    pid_t worker = getpid();
    if (!c)
        return NULL;
    if (seccomp_arch_native() == SCMP_ARCH_X86_64)
        seccomp_arch_add(c, SCMP_ARCH_X86);
    seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for
        EACH(i, changing)
    forbid(c, changing[i], 0, worker);
    for
        EACH(i, second)
    forbid(c, second[i], 1, worker);
    for
        EACH(i, of_many)
    forbid_many(c, of_many[i].name, of_many[i].process);
    for
        EACH(i, hidden)
    forbid(c, hidden[i], -1, 0);
    for
        EACH(i, signalling)
    if (!own_pids)
        forbid(c, signalling[i], 0, worker);
    if (!own_pids)                     /* a folder of /proc will do as the process */
        forbid(c, "pidfd_send_signal", -1, 0);
    return c;
}

/* Its bytes, by way of a file in memory. */
static void compile(scmp_filter_ctx c, struct sock_fprog *out)
{
    int fd = memfd_create("filter", MFD_CLOEXEC);
    off_t size = c && fd >= 0 && seccomp_export_bpf(c, fd) == 0 ? lseek(fd, 0, SEEK_END) : 0;
    struct sock_filter *rows = xcalloc((size_t)size + 1, 1);
    if (size > 0 && pread(fd, rows, (size_t)size, 0) == size) {
        out->filter = rows;
        out->len = (unsigned short)((size_t)size / sizeof *rows);
    } else {
        free(rows);
    }
    if (fd >= 0)
        close(fd);
    if (c)
        seccomp_release(c);
}

void guard_worker(bool own_pids)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    compile(make_filter(own_pids), &filter);
}

void guard_child(void) { prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

void guard_subject(void)
{
    if (filter.len)
        prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &filter, 0, 0);
}
