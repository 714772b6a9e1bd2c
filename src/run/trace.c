/*
 * Watching for fatal signals with ptrace.
 *
 * A subject is seized before it executes, and whatever it starts is seized by
 * the kernel along with it. It then runs at full speed; it stops when a signal
 * is about to be delivered, and for a moment at each fork, exec and new thread.
 * When a fatal signal arrives, registers, siginfo and return addresses are noted,
 * and the signal is let through: the subject's own handlers work as ever.
 *
 * A program often catches its SIGSEGV, prints something and raises it again. So
 * the first fault that the kernel itself raised is kept beside the last signal,
 * and it is the one that explains the death.
 *
 * An executable with a sanitizer is let go at its exec: the leak check traces
 * the process itself, and two can't.
 */
#include "run/run_int.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_LOOKS = 16 };       /* signals examined per run */

static const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
                            PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_TRACEEXEC;

static void signal_reset(TraceSignal *s)
{
    Arena a = s->arena;
    arena_release(&a);
    *s = (TraceSignal){0};
}

void trace_reset(Trace *t, pid_t main)
{
    signal_reset(&t->fault);
    signal_reset(&t->last);
    t->looked = 0;
    t->main = main;
}

bool trace_seize(pid_t pid)
{
    return ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) == 0;
}

bool trace_works(char *why, size_t size)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    bool ok = pid > 0 && trace_seize(pid);
    if (!ok)
        snprintf(why, size, "%s", strerror(errno));
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, __WALL);
    }
    return ok;
}

/* -------------------------------------------------------- a fatal signal */

static size_t peek(pid_t pid, uint64_t address, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)(uintptr_t)address, n };
    ssize_t k = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return k > 0 ? (size_t)k : 0;
}

static FailureAccess access_of(pid_t pid, const Registers *r, uint64_t address)
{
    uint8_t code[16];
    if (address == r->pc)
        return FAILURE_ACCESS_EXEC;
#if defined __x86_64__
    size_t n = peek(pid, r->pc, code, sizeof code);
    if (n == 0)         /* the last bytes of a page */
        n = peek(pid, r->pc, code, 4096 - r->pc % 4096 < 16
                                       ? 4096 - r->pc % 4096 : 1);
    FailureAccess a = decode_access(code, n);
    if (a == FAILURE_ACCESS_UNKNOWN && address && address == r->source)
        return FAILURE_ACCESS_READ;
    if (a == FAILURE_ACCESS_UNKNOWN && address && address == r->target)
        return FAILURE_ACCESS_WRITE;
    return a;
#else
    (void)pid, (void)code;
    return FAILURE_ACCESS_UNKNOWN;
#endif
}

/* Return addresses, along the chain of frame pointers: complete for code that
 * keeps them (-O0), a guess for other code. */
static size_t walk(pid_t pid, const Registers *r, FailureAccess access,
                   uint64_t *pcs)
{
    size_t n = 0;
    uint64_t top;
    pcs[n++] = r->pc;
    if (access == FAILURE_ACCESS_EXEC && peek(pid, r->sp, &top, 8) == 8)
        pcs[n++] = top - 1;     /* the call that led astray */
    uint64_t fp = r->fp;
    while (n < TRACE_FRAMES && fp) {
        uint64_t pair[2];
        if (fp % 8 || peek(pid, fp, pair, 16) != 16 || pair[1] < 4096)
            break;
        pcs[n++] = pair[1] - 1;
        if (pair[0] <= fp)
            break;
        fp = pair[0];
    }
    return n;
}

/* Names the module and function of each address. */
static void locate(pid_t pid, TraceSignal *s, const uint64_t *pcs, size_t n)
{
    char path[64], line[4400];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)watch_proc_number(pid));
    FILE *maps = fopen(path, "re");
    s->nframes = n;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long from, to, offset;
        int at = 0;
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &offset,
                   &at) < 3 || line[at] != '/')
            continue;
        line[strcspn(line, "\n")] = 0;
        for (size_t i = 0; i < n; i++)
            if (pcs[i] >= from && pcs[i] < to) {
                FailureFrame *f = &s->frames[i];
                f->module = arena_strdup(&s->arena, line + at);
                f->offset = elf_locate(&s->arena, f->module,
                                       pcs[i] - from + offset, &f->function);
            }
    }
    if (maps)
        fclose(maps);
}

/* The process that the thread belongs to. */
static pid_t process_of(pid_t tid)
{
    char path[64], line[256];
    int tgid = tid;
    snprintf(path, sizeof path, "/proc/%d/status", (int)watch_proc_number(tid));
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Tgid: %d", &tgid) == 1)
            break;
    if (f)
        fclose(f);
    return tgid;
}

static void look(Trace *t, pid_t pid, int sig)
{
    siginfo_t si;
    Registers r;
    if (t->looked >= MOST_LOOKS || (pid != t->main && process_of(pid) != t->main))
        return;
    if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &si) != 0 || !registers_get(pid, &r))
        return;
    t->looked++;
    bool faults = si.si_code > 0 && sig != SIGTRAP && sig != SIGABRT;
    TraceSignal *s = faults && !t->fault.signal ? &t->fault : &t->last;
    signal_reset(s);
    s->signal = sig;
    s->code = si.si_code;
    s->pc = r.pc;
    s->sp = r.sp;
    if (faults && sig != SIGSYS) {
        s->address = (uint64_t)(uintptr_t)si.si_addr;
        if (sig == SIGSEGV || sig == SIGBUS)
            s->access = access_of(pid, &r, s->address);
    }
    uint64_t pcs[TRACE_FRAMES];
    locate(pid, s, pcs, walk(pid, &r, s->access, pcs));
}

const TraceSignal *trace_explain(const Trace *t, int signal)
{
    if (t->last.signal == signal && t->last.code > 0)
        return &t->last;
    if (t->fault.signal == signal)
        return &t->fault;
    return t->last.signal == signal ? &t->last : NULL;
}

/* ------------------------------------------------------------------ stops */

static bool is_fatal(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL ||
           sig == SIGABRT || sig == SIGTRAP || sig == SIGSYS;
}

static bool has_sanitizer(Trace *t, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    TraceSeen now = { st.st_dev, st.st_ino, st.st_mtime * 1000000000LL +
                      st.st_mtim.tv_nsec, false };
    for (size_t i = 0; i < 16; i++)
        if (t->seen[i].inode == now.inode && t->seen[i].device == now.device &&
            t->seen[i].changed == now.changed)
            return t->seen[i].sanitizer;
    now.sanitizer = elf_has_sanitizer(path);
    t->seen[t->nseen++ % 16] = now;
    return now.sanitizer;
}

static void at_exec(Trace *t, pid_t pid)
{
    char exe[64];
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)watch_proc_number(pid));
    bool go = has_sanitizer(t, exe);
    ptrace(go ? PTRACE_DETACH : PTRACE_CONT, pid, NULL, NULL);
}

void trace_stop(Trace *t, pid_t pid, int status)
{
    int sig = WSTOPSIG(status), event = status >> 16;
    bool stops = sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
                 sig == SIGTTOU;
    if (event == PTRACE_EVENT_EXEC) {
        at_exec(t, pid);
    } else if (event == PTRACE_EVENT_STOP) {
        ptrace(stops ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL, NULL);
    } else if (event) {
        ptrace(PTRACE_CONT, pid, NULL, NULL);
    } else {
        if (is_fatal(sig))
            look(t, pid, sig);
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
    }
}
