/*
 * shield - a job can't send signals to the processes that run it.
 *
 * A call that kills or stops its parent would end all jobs beside it. The kernel is told
 * (seccomp) to end a process that names this process, its parent or all processes in
 * kill() and the like: the job died, and only this one. (An error would not do: the
 * sequence would become a test, which then kills who runs it.) What gets past it
 * costs the request a second try, see exec.c.
 */
#include "engine/play/player/player_int.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/* The low half of the first argument. */
enum { ARGUMENT = offsetof(struct seccomp_data, args) };

#define LOAD(at)             BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define SAME(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define ANSWER(what)         BPF_STMT(BPF_RET | BPF_K, what)

void shield_parents(void)
{
    pid_t self = getpid(), parent = getppid();
    struct sock_filter rows[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        SAME(ARCH, 0, 12),
        LOAD(offsetof(struct seccomp_data, nr)),
        SAME(SYS_kill, 4, 0),
        SAME(SYS_tgkill, 3, 0),
        SAME(SYS_tkill, 2, 0),
        SAME(SYS_rt_sigqueueinfo, 1, 0),
        SAME(SYS_rt_tgsigqueueinfo, 0, 6),
        LOAD(ARGUMENT),
        SAME(self, 3, 0),
        SAME(parent, 2, 0),
        SAME(-parent, 1, 0),
        SAME(-1, 0, 1),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        ANSWER(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof rows / sizeof *rows, rows };
    if (ARCH)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}
