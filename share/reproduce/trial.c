/*
 * What tests need while Sundew tries them; it is no part of tests that are kept.
 *
 * restore_load() puts a state back that is data, with the steps that the
 * environment asks for: see src/engine/record/restore_state.c.
 *
 * When a test dies, one line on descriptor 190 says where:
 *
 *     signal, the addresses of the program's own functions on the stack, as
 *     they are in the file, innermost first
 *
 * Return addresses are those of the call, not of what follows it.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { OUT = 190, MOST = 400 };

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

/* Can the memory at an address be read? (The kernel says, without a fault.) */
static int is_readable(uintptr_t at)
{
    char byte;
    struct iovec to = { &byte, 1 }, from = { (void *)at, 1 };
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
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
    ucontext_t *u = context;
    char *at = line;
    uintptr_t low = (uintptr_t)&__ehdr_start, high = (uintptr_t)_end;
    uintptr_t slide = __ehdr_start.e_type == ET_DYN ? low : 0;
    (void)info;
#if defined __x86_64__
    greg_t *pc = &u->uc_mcontext.gregs[REG_RIP], *sp = &u->uc_mcontext.gregs[REG_RSP];
    greg_t kept_pc = *pc, kept_sp = *sp;
    if (!is_readable((uintptr_t)*pc) && is_readable((uintptr_t)*sp)) {
        /* A jump to nowhere: the caller is on top of the stack. */
        *pc = *(greg_t *)*sp - 1;
        *sp += 8;
    }
    walk.from = (uintptr_t)*pc;
    _Unwind_Backtrace(step, &walk);
    *pc = kept_pc;
    *sp = kept_sp;
#else
    walk.begun = 1;
    _Unwind_Backtrace(step, &walk);
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

/* ---- the state */

void **restore_load(unsigned test, void **named);
int restore_test(void);

int restore_test(void)
{
    const char *text = getenv("RESTORE_TEST");
    return text ? atoi(text) : 0;
}

static void give_up(const char *what)
{
    fprintf(stderr, "restore: %s\n", what);
    exit(99);
}

static unsigned char *read_state(unsigned test, unsigned long *size)
{
    const char *base = getenv("RESTORE_STATE");
    char path[4096];
    snprintf(path, sizeof path, "%s.%u", base ? base : "", test);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        give_up("no state");
    *size = (unsigned long)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*size + 1);
    if (!data || fread(data, 1, *size, f) != *size)
        give_up("can't read the state");
    fclose(f);
    return data;
}

static int is_taken(uint64_t step)
{
    static const char *mask;
    static unsigned long digits;
    if (!mask) {
        mask = getenv("RESTORE_STEPS");
        mask = mask ? mask : "";
        digits = strlen(mask);
    }
    if (step == UINT64_MAX || digits == 0)
        return 1;
    if (step / 4 >= digits)
        return 0;
    char c = mask[step / 4];
    return (c <= '9' ? c - '0' : c - 'a' + 10) >> step % 4 & 1;
}

void **restore_load(unsigned test, void **named)
{
    enum { ZERO, BYTES, ITEM, NAMED, RAW };
    struct item { uint64_t size, name, freed; };
    struct piece { uint64_t step, guard, item, offset, kind, size, a, b; };
    unsigned long size;
    unsigned char *data = read_state(test, &size);
    uint64_t count[2];
    memcpy(count, data + 8, sizeof count);
    struct item *items = (void *)(data + 24);
    struct piece *p = (void *)(items + count[0]);
    unsigned char *bytes = (void *)(p + count[1]);
    void **object = calloc(count[0] + 1, sizeof *object);
    for (uint64_t i = 0; i < count[0]; i++)
        object[i] = items[i].name ? named[items[i].name - 1]
                                  : calloc(1, items[i].size ? items[i].size : 1);
    for (uint64_t i = 0; i < count[1]; i++, p++) {
        char *to = (char *)object[p->item] + p->offset;
        if (!is_taken(p->step) || !is_taken(p->guard))
            continue;
        void *pointer = p->kind == ITEM ? (char *)object[p->a] + p->b
                        : p->kind == NAMED ? named[p->a]
                                           : (void *)(uintptr_t)p->a;
        if (p->kind == ZERO)
            memset(to, 0, p->size);
        else if (p->kind == BYTES)
            memcpy(to, bytes + p->a, p->size);
        else
            memcpy(to, &pointer, sizeof pointer);
    }
    for (uint64_t i = 0; i < count[0]; i++)
        if (items[i].freed)
            free(object[i]);
    free(data);
    return object;
}
