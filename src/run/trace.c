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
#include "base/vec.h"
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

static const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                            PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

static void signal_reset(TraceSignal *s)
{
    Arena a = s->arena;
    arena_release(&a);
    *s = (TraceSignal){ 0 };
}

void trace_reset(Trace *t, pid_t main)
{
    signal_reset(&t->fault);
    signal_reset(&t->last);
    t->looked = 0;
    t->main = main;
    t->let_go = false;
}

bool trace_seize(pid_t pid) { return ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) == 0; }

bool trace_works(char *why, size_t size)
{
    int ready[2];
    char c;
    if (pipe2(ready, O_CLOEXEC) != 0) {
        snprintf(why, size, "%s", strerror(errno));
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        guard_child();
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    ssize_t ignored = read(ready[0], &c, 1);
    (void)ignored;
    close(ready[0]);
    bool ok = pid > 0 && trace_seize(pid);
    if (!ok)
        snprintf(why, size, "%s", strerror(errno));
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, __WALL);
    }
    return ok;
}

/* ---- a fatal signal */

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
        n = peek(pid, r->pc, code, 4096 - r->pc % 4096 < 16 ? 4096 - r->pc % 4096 : 1);
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

/* A file that is mapped into the subject as code. */
typedef struct Mapping {
    uint64_t from, to, offset;
    const char *path;          /* in the arena of the signal */
    bool user;                 /* no part of the system */
} Mapping;
typedef Vec(Mapping) Mappings;

static void read_mappings(pid_t pid, Arena *a, Mappings *out)
{
    char path[64], line[4400];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)watch_proc_number(pid));
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long from, to, offset;
        char rights[8];
        int at = 0;
        if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &from, &to, rights, &offset, &at) < 4 ||
            line[at] != '/' || rights[2] != 'x')
            continue;
        line[strcspn(line, "\n")] = 0;
        vec_push(out, ((Mapping){ from, to, offset, arena_strdup(a, line + at),
                                  !failure_is_foreign_module(line + at) }));
    }
    if (maps)
        fclose(maps);
}

static const Mapping *mapping_at(const Mappings *m, uint64_t pc)
{
    for (size_t i = 0; i < m->len; i++)
        if (pc >= m->items[i].from && pc < m->items[i].to)
            return &m->items[i];
    return NULL;
}

/* A stack while it is read: return addresses found so far. */
typedef struct Walk {
    pid_t pid;
    Mappings maps;
    uint64_t pcs[TRACE_FRAMES];
    size_t n;
} Walk;

/* Along the chain of frame pointers: complete for code that keeps them (-O0),
 * a guess for other code. */
static void follow(Walk *w, uint64_t fp)
{
    while (w->n < TRACE_FRAMES && fp) {
        uint64_t pair[2];
        if (fp % 8 || peek(w->pid, fp, pair, 16) != 16 || !mapping_at(&w->maps, pair[1] - 1))
            break;
        w->pcs[w->n++] = pair[1] - 1;
        if (pair[0] <= fp)
            break;
        fp = pair[0];
    }
}

static bool is_user_call(const Walk *w, uint64_t back)
{
    uint8_t code[7];
    const Mapping *m = mapping_at(&w->maps, back - 1);
    return m && m->user && peek(w->pid, back - 7, code, 7) == 7 &&
           (code[2] == 0xe8 || code[5] == 0xff || code[4] == 0xff || code[1] == 0xff);
}

/* Out of the C library, which keeps no frame pointers: the first word on the
 * stack that is a return address into user code, and below it the frame pointer
 * of that code, saved by somebody. */
static void search(Walk *w, uint64_t sp)
{
    enum { WORDS = 512 };
    uint64_t stack[WORDS];
    size_t n = peek(w->pid, sp, stack, sizeof stack) / 8, at = 0;
    while (at < n && !is_user_call(w, stack[at]))
        at++;
    if (at == n)
        return;
    w->pcs[w->n++] = stack[at] - 1;
    uint64_t place = sp + at * 8, pair[2];
    for (size_t i = 0; i < at; i++)
        if (stack[i] > place && stack[i] - place < 1 << 20 && stack[i] % 8 == 0 &&
            peek(w->pid, stack[i], pair, 16) == 16 && mapping_at(&w->maps, pair[1] - 1)) {
            follow(w, stack[i]);
            return;
        }
}

static void walk(Walk *w, const Registers *r, FailureAccess access)
{
    uint64_t top;
    w->pcs[w->n++] = r->pc;
    if (access == FAILURE_ACCESS_EXEC && peek(w->pid, r->sp, &top, 8) == 8)
        w->pcs[w->n++] = top - 1;      /* the call that led astray */
    size_t before = w->n;
    follow(w, r->fp);
    bool user = false;
    for (size_t i = 0; i < w->n; i++) {
        const Mapping *m = mapping_at(&w->maps, w->pcs[i]);
        user |= m && m->user;
    }
    if (!user) {
        w->n = before;
        search(w, r->sp);
    }
}

static void note_stack(pid_t pid, TraceSignal *s, const Registers *r)
{
    Walk w = { .pid = pid };
    read_mappings(pid, &s->arena, &w.maps);
    walk(&w, r, s->access);
    s->nframes = w.n;
    for (size_t i = 0; i < w.n; i++) {
        const Mapping *m = mapping_at(&w.maps, w.pcs[i]);
        FailureFrame *f = &s->frames[i];
        if (!m)
            continue;
        f->module = m->path;
        f->offset = elf_locate(&s->arena, m->path, w.pcs[i] - m->from + m->offset, &f->function);
    }
    vec_release(&w.maps);
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
    note_stack(pid, s, &r);
}

const TraceSignal *trace_explain(const Trace *t, int signal)
{
    if (t->last.signal == signal && t->last.code > 0)
        return &t->last;
    if (t->fault.signal == signal)
        return &t->fault;
    return t->last.signal == signal ? &t->last : NULL;
}

/* ---- stops */

static bool is_fatal(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGABRT ||
           sig == SIGTRAP || sig == SIGSYS;
}

static bool has_sanitizer(Trace *t, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    TraceSeen now = { st.st_dev, st.st_ino, st.st_mtime * 1000000000LL + st.st_mtim.tv_nsec,
                      false };
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
    if (pid == t->main || !t->main)
        t->let_go = go;
    ptrace(go ? PTRACE_DETACH : PTRACE_CONT, pid, NULL, NULL);
}

void trace_stop(Trace *t, pid_t pid, int status)
{
    int sig = WSTOPSIG(status), event = status >> 16;
    bool stops = sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
    if (event == PTRACE_EVENT_EXEC) {
        at_exec(t, pid);
    } else if (event == PTRACE_EVENT_STOP) {
        ptrace(stops ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL, NULL);
    } else if (event) {
        unsigned long child;
        if (event != PTRACE_EVENT_VFORK_DONE && pid == t->server &&
            ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child) == 0)
            t->main = (pid_t)child;
        ptrace(PTRACE_CONT, pid, NULL, NULL);
    } else {
        if (is_fatal(sig))
            look(t, pid, sig);
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
    }
}
