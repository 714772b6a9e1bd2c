/* Registers of a stopped thread: the one thing here that differs between
 * processors. */
#include "run/run_int.h"
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined __x86_64__
static void name(const struct user_regs_struct *u, Registers *r)
{
    *r =
        (Registers){ .pc = u->rip, .sp = u->rsp, .fp = u->rbp, .source = u->rsi, .target = u->rdi };
}
#elif defined __aarch64__
static void name(const struct user_regs_struct *u, Registers *r)
{
    *r = (Registers){ .pc = u->pc, .sp = u->sp, .fp = u->regs[29] };
}
#else
#error "registers.c: say where program counter, stack and frame pointer are"
#endif

bool registers_get(pid_t pid, Registers *r)
{
    struct user_regs_struct u = { 0 };
    struct iovec iov = { &u, sizeof u };
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov) != 0)
        return false;
    name(&u, r);
    return true;
}
