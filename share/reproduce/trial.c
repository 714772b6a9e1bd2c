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
 *
 * RESTORE_WAY asks what would come behind the failure, as if it were mended: the
 * test goes on, and each failure adds the line "w PLACE ADDRESS": the instruction, and the
 * address that it touched (0: none, or not known).
 *
 *     skip     a bad pointer becomes one to zeroed memory
 *     return   the function that failed returns 0 to its caller
 *
 * RESTORE_POKE=OBJECT:OFFSET:VALUE,… changes words of the state at the end.
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

#if defined __x86_64__

/* ---- the way behind a failure */

enum { MOST_WAYS = 8, NEAR = 1 << 16, ROOM = 1 << 20 };

static const char *way;
static unsigned nways;

static const int registers[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI,
                                 REG_RDI, REG_RBP, REG_R8,  REG_R9,  REG_R10,
                                 REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
enum { NREGISTERS = sizeof registers / sizeof *registers };

/* One register after the other is pointed to zeroed memory, until the instruction gets by. */
static struct skipping {
    uintptr_t pc;
    unsigned next;             /* register to try */
    int changed;               /* the one that is changed now; -1: none */
    greg_t was;
} skipping = { .changed = -1 };

/* Is it outside of all addresses? Then the processor does not tell where an access failed. */
static int is_nowhere(greg_t v) { return v >> 47 != 0 && v >> 47 != -1; }

static int skip(ucontext_t *u, const siginfo_t *info)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    int untold = info->si_code == SI_KERNEL;
    static char room[ROOM];
    greg_t *g = u->uc_mcontext.gregs;
    if (skipping.pc == (uintptr_t)g[REG_RIP] && skipping.changed >= 0)
        g[skipping.changed] = skipping.was;
    else
        skipping = (struct skipping){ .pc = (uintptr_t)g[REG_RIP], .changed = -1 };
    for (; skipping.next < NREGISTERS; skipping.next++) {
        int r = registers[skipping.next];
        if (untold ? !is_nowhere(g[r]) : address - (uintptr_t)g[r] + NEAR >= 2 * NEAR)
            continue;
        skipping.next++;
        skipping.changed = r;
        skipping.was = g[r];
        memset(room, 0, sizeof room);
        g[r] = (greg_t)(uintptr_t)(room + sizeof room / 2);
        return 1;
    }
    return 0;
}

/* The caller of the innermost function of the program, as it is when that returns. */
static struct caller {
    uintptr_t low, high, pc, sp;
    uintptr_t saved[6];
    int own;                   /* functions of the program so far */
} caller;

static _Unwind_Reason_Code find_caller(struct _Unwind_Context *c, void *arg)
{
    static const int numbers[] = { 3, 6, 12, 13, 14, 15 };   /* rbx, rbp, r12 … */
    struct caller *k = arg;
    int before = 0;
    uintptr_t ip = _Unwind_GetIPInfo(c, &before);
    if (ip == walk.from)
        walk.begun = 1;
    if (!walk.begun || (!k->own && (ip < k->low || ip >= k->high)))
        return _URC_NO_REASON;
    if (!k->own++)
        return _URC_NO_REASON;
    k->pc = ip;
    k->sp = _Unwind_GetCFA(c);
    for (int i = 0; i < 6; i++)
        k->saved[i] = _Unwind_GetGR(c, numbers[i]);
    return _URC_END_OF_STACK;
}

static int go_back(ucontext_t *u, uintptr_t low, uintptr_t high)
{
    static const int to[] = { REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15 };
    greg_t *g = u->uc_mcontext.gregs;
    caller = (struct caller){ .low = low, .high = high };
    walk.begun = 0;
    _Unwind_Backtrace(find_caller, &caller);
    if (!caller.pc || caller.pc < low || caller.pc >= high)
        return 0;
    g[REG_RIP] = (greg_t)caller.pc;
    g[REG_RSP] = (greg_t)caller.sp;
    g[REG_RAX] = 0;
    for (int i = 0; i < 6; i++)
        g[to[i]] = (greg_t)caller.saved[i];
    return 1;
}

/* True: the test goes on. `line`: where it failed. */
static int goes_on(int sig, siginfo_t *info, ucontext_t *u, uintptr_t low, uintptr_t high)
{
    uintptr_t pc = walk.n ? walk.at[0] : 0;
    int again = sig == SIGSEGV && skipping.changed >= 0 &&
                skipping.pc == (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    if (!way || (!again && nways++ == MOST_WAYS))
        return 0;
    int on = way[0] == 'r'                     ? go_back(u, low, high)
             : sig == SIGSEGV || sig == SIGBUS ? skip(u, info)
                                               : 0;
    int touched = (sig == SIGSEGV || sig == SIGBUS) && info->si_code != SI_KERNEL;
    char line[48] = "w", *at = line + 1;
    if (!on || again)
        return on;
    put(&at, pc - (__ehdr_start.e_type == ET_DYN ? low : 0));
    put(&at, touched ? (uintptr_t)info->si_addr : 0);
    *at++ = '\n';
    return write(OUT, line, (size_t)(at - line)) > 0;
}
#endif

static void died(int sig, siginfo_t *info, void *context)
{
    static char line[MOST * 17 + 64];
    ucontext_t *u = context;
    char *at = line;
    uintptr_t low = (uintptr_t)&__ehdr_start, high = (uintptr_t)_end;
    uintptr_t slide = __ehdr_start.e_type == ET_DYN ? low : 0;
    (void)info;
    walk = (struct walk){ 0 };
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
    static int told;
    if (!told++ && write(OUT, line, (size_t)(at - line)) < 0)
        _exit(98);
#if defined __x86_64__
    if (goes_on(sig, info, u, low, high))
        return;
#endif
    signal(sig, SIG_DFL);
    if (sig == SIGABRT)
        raise(sig);
}

__attribute__((constructor)) static void begin(void)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    stack_t s = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction a = { .sa_sigaction = died, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
#if defined __x86_64__
    way = getenv("RESTORE_WAY");
#endif
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

static void poke(void **object, uint64_t n)
{
    const char *text = getenv("RESTORE_POKE");
    unsigned long long item, offset, value;
    for (; text && sscanf(text, "%llu:%llu:%llu", &item, &offset, &value) == 3;
         text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
        if (item < n)
            memcpy((char *)object[item] + offset, &value, sizeof(void *));
}

void **restore_load(unsigned test, void **named)
{
    enum { ZERO, BYTES, ITEM, NAMED, RAW };
    struct item {
        uint64_t size, name, freed;
    };
    struct piece {
        uint64_t step, guard, item, offset, kind, size, a, b;
    };
    unsigned long size;
    unsigned char *data = read_state(test, &size);
    uint64_t count[2];
    memcpy(count, data + 8, sizeof count);
    struct item *items = (void *)(data + 24);
    struct piece *p = (void *)(items + count[0]);
    unsigned char *bytes = (void *)(p + count[1]);
    void **object = calloc(count[0] + 1, sizeof *object);
    for (uint64_t i = 0; i < count[0]; i++)
        object[i] =
            items[i].name ? named[items[i].name - 1] : calloc(1, items[i].size ? items[i].size : 1);
    for (uint64_t i = 0; i < count[1]; i++, p++) {
        char *to = (char *)object[p->item] + p->offset;
        if (!is_taken(p->step) || !is_taken(p->guard))
            continue;
        void *pointer = p->kind == ITEM    ? (char *)object[p->a] + p->b
                        : p->kind == NAMED ? named[p->a]
                                           : (void *)(uintptr_t)p->a;
        if (p->kind == ZERO)
            memset(to, 0, p->size);
        else if (p->kind == BYTES)
            memcpy(to, bytes + p->a, p->size);
        else
            memcpy(to, &pointer, sizeof pointer);
    }
    poke(object, count[0]);
    for (uint64_t i = 0; i < count[0]; i++)
        if (items[i].freed)
            free(object[i]);
    free(data);
    return object;
}
