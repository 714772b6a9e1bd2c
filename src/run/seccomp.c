/*
 * seccomp: system calls that no subject needs and that reach far into the
 * kernel fail with EPERM. A list of what is forbidden, not of what is allowed:
 * subjects are arbitrary programs.
 */
#include "run/run_int.h"
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

static const char *const forbidden[] = {
    /* the machine */
    "reboot",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "swapon",
    "swapoff",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "acct",
    "quotactl",
    "quotactl_fd",
    "syslog",
    "iopl",
    "ioperm",
    "sethostname",
    "setdomainname",
    "vhangup",
    /* the view of the file system */
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_by_handle_at",
    "name_to_handle_at",
    /* namespaces */
    "unshare",
    "setns",
    /* large and seldom used parts of the kernel; io_uring would get past the
     * rules about sockets */
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "keyctl",
    "add_key",
    "request_key",
    "lookup_dcookie",
    "fanotify_init",
    "kcmp",
    "migrate_pages",
    "move_pages",
    "vmsplice",
};

static const char *const reaching_into_others[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
};

static int forbid(scmp_filter_ctx c, const char *name)
{
    int nr = seccomp_syscall_resolve_name(name);
    if (nr == __NR_SCMP_ERROR)
        return 0;                  /* older library than kernel */
    int e = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), nr, 0);
    return e == -EDOM || e == -EINVAL ? 0 : e;
}

/* clone() may not make namespaces; clone3() hides its flags in memory, so it
 * is said not to exist and the C library falls back to clone(). */
static int forbid_namespaces(scmp_filter_ctx c)
{
    static const unsigned flags[] = { CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                      CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP };
    int e = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (size_t i = 0; !e && i < sizeof flags / sizeof *flags; i++)
        e = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    return e;
}

/* Families of sockets; the kernel looks at 32 of their bits. With a network of its own a subject may use the ordinary
 * ones; without, only those that stay on the machine. */
static int limit_sockets(scmp_filter_ctx c, bool own_network)
{
    int e = 0;
    for (unsigned family = 0; !e && family < 64; family++) {
        bool ok =
            family == AF_UNIX ||
            (own_network && (family == AF_INET || family == AF_INET6 || family == AF_NETLINK));
        if (!ok)
            e = seccomp_rule_add(c, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, family));
    }
    return e;
}

bool seccomp_enter(const Sandbox *s, char *why, size_t size)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
    int e = c ? 0 : -ENOMEM;
    if (c && seccomp_arch_native() == SCMP_ARCH_X86_64)
        seccomp_arch_add(c, SCMP_ARCH_X86); /* 32-bit subjects */
    if (c)
        seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for (size_t i = 0; !e && i < sizeof forbidden / sizeof *forbidden; i++)
        e = forbid(c, forbidden[i]);
    /* Harmless where it can reach the sandbox's own processes only, and the
     * leak sanitizer needs it. */
    bool alone = s->rows[PROTECT_PID].granted || s->rows[PROTECT_LANDLOCK].granted;
    for (size_t i = 0; !e && !alone && i < 4; i++)
        e = forbid(c, reaching_into_others[i]);
    if (!e)
        e = forbid_namespaces(c);
    if (!e) /* typing into a terminal */
        e = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                             SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, TIOCSTI));
    if (!e && !s->setup.network)
        e = limit_sockets(c, s->rows[PROTECT_NET].granted);
    if (!e)
        e = seccomp_load(c);
    if (c)
        seccomp_release(c);
    if (e)
        snprintf(why, size, "%s", strerror(-e));
    return e == 0;
}
