/*
 * Says where a test died, while Sundew tries it: one line on descriptor 198,
 *
 *     signal, the addresses of the program's own functions on the stack, as
 *     they are in the file, innermost first
 *
 * Return addresses are those of the call, not of what follows it. Linked into
 * trials only, not into the tests that are kept.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { OUT = 198, MOST = 400 };

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

static struct walk {
    uintptr_t at[MOST];
    unsigned n;
    uintptr_t from;            /* where the signal came: what is before is ours */
    int begun;
} walk;

static char stack[1 << 16];

static _Unwind_Reason_Code step(struct _Unwind_Context *c, void *arg)
{
    struct walk *w = arg;
    int before = 0;
    uintptr_t ip = _Unwind_GetIPInfo(c, &before);
    if (ip == w->from)
        w->begun = 1;
    if (w->begun && w->n < MOST)
        w->at[w->n++] = before || ip == w->from ? ip : ip - 1;
    return w->n < MOST ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void put(char **at, uintptr_t v)
{
    *(*at)++ = ' ';
    for (int shift = 60; shift >= 0; shift -= 4)
        *(*at)++ = "0123456789abcdef"[v >> shift & 15];
}

static void died(int sig, siginfo_t *info, void *context)
{
    static char line[MOST * 17 + 64];
    const ucontext_t *u = context;
    char *at = line;
    uintptr_t low = (uintptr_t)&__ehdr_start, high = (uintptr_t)_end;
    uintptr_t slide = __ehdr_start.e_type == ET_DYN ? low : 0;
    (void)info;
#if defined __x86_64__
    walk.from = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
    walk.begun = 1;
#endif
    _Unwind_Backtrace(step, &walk);
#if defined __x86_64__
    if (walk.n < 2 && !(walk.from >= low && walk.from < high)) {
        /* A jump to nowhere: the caller is on top of the stack. */
        uintptr_t sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
        walk.at[walk.n++] = *(uintptr_t *)sp - 1;
    }
#endif
    put(&at, (uintptr_t)sig);
    for (unsigned i = 0; i < walk.n; i++)
        if (walk.at[i] >= low && walk.at[i] < high)
            put(&at, walk.at[i] - slide);
    *at++ = '\n';
    if (write(OUT, line, (size_t)(at - line)) < 0)
        _exit(98);
    signal(sig, SIG_DFL);
    if (sig == SIGABRT)
        raise(sig);
}

__attribute__((constructor)) static void begin(void)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    stack_t s = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction a = { .sa_sigaction = died,
                           .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
    sigaltstack(&s, NULL);
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &a, NULL);
}
