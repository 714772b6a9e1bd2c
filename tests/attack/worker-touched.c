/*
 * name:    the process that runs the subject is traced, read, limited, robbed
 * command: run
 * expect:  0
 */
#include "attack.h"
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

static int failures;

static void reached(const char *what, int it)
{
    if (it) {
        printf("reached: %s\n", what);
        failures++;
    }
}

/* What the C library has no function for. */
static int robbed(pid_t pid)
{
    int life = (int)syscall(434, pid, 0), got = -1;      /* pidfd_open, pidfd_getfd */
    for (int fd = 0; life >= 0 && got < 0 && fd < 8; fd++)
        got = (int)syscall(438, life, fd, 0);
    return got >= 0;
}

static int opens(pid_t pid, const char *what, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    int fd = open(path, flags);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int sees(pid_t pid, const char *what)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    return readlink(path, text, sizeof text) > 0;
}

int main(void)
{
    pid_t worker = getppid();
    char byte;
    struct iovec here = { &byte, 1 }, there = { (void *)0x400000, 1 };
    struct rlimit few = { 5, 5 };
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    reached("ptrace", ptrace(PTRACE_SEIZE, worker, 0, 0) == 0);
    reached("process_vm_readv", process_vm_readv(worker, &here, 1, &there, 1, 0) > 0);
    reached("pidfd_getfd", robbed(worker));
    reached("mem", opens(worker, "mem", O_RDWR));
    reached("environ", opens(worker, "environ", O_RDONLY));
    reached("standard error", opens(worker, "fd/2", O_WRONLY));
    reached("control socket", sees(worker, "fd/3"));
    reached("maps", opens(worker, "maps", O_RDONLY));
    reached("limits", prlimit(worker, RLIMIT_NOFILE, &few, NULL) == 0);
    reached("priority", setpriority(PRIO_PROCESS, (id_t)worker, 19) == 0);
    reached("priority of the user", setpriority(PRIO_USER, 0, 19) == 0);
    reached("priority of the group", setpriority(PRIO_PGRP, 0, 19) == 0);
    reached("priority of disks", syscall(SYS_ioprio_set, 3, (int)getuid(), 7 | 2 << 13) == 0);
    reached("affinity", sched_setaffinity(worker, sizeof one, &one) == 0);
    kill(worker, SIGSTOP);
    kill(worker, SIGTERM);
    kill(worker, SIGKILL);
    kill(worker, SIGCHLD);
    printf("tried all\n");
    return failures ? 3 : 0;
}
