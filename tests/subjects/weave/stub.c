/*
 * A runtime for tests of the weave: keeps a stack of frames by the rules of
 * runtime/monitor/monitor.h, checks what the probes hand it, and says at the end, into
 * the file $SUNDEW_STUB, how it went: "enters N leaves N open N wrong N".
 * Nothing is redirected to anything but the function itself.
 */
#include "runtime/monitor/monitor.h"
#include "runtime/format/tables.h"
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Frame {
    uint32_t row;
    void *sp;
} Frame;

enum { DEEPEST = 100000, MOST_SLOTS = 1024 };

static _Thread_local struct {
    Frame frames[DEEPEST];
    unsigned n;
    uint64_t slots[MOST_SLOTS];
} stack;
static uint64_t enters, leaves, wrong;
static int started;

static void count(uint64_t *n)
{
    __atomic_add_fetch(n, 1, __ATOMIC_RELAXED);
}

/* A copy that was inlined has no leave: its frame goes with that of the function around it. */
uint64_t *sundew_enter(uint32_t probe, void *sp)
{
    uint32_t row = probe & ~SUNDEW_COPY;
    if (row == probe)
        count(&enters);
    if (row >= sundew_tables.nfunctions)
        count(&wrong);
    while (stack.n && (char *)stack.frames[stack.n - 1].sp < (char *)sp)
        stack.n--;
    if (stack.n < DEEPEST)
        stack.frames[stack.n++] = (Frame){ row, sp };
    const SundewFunction *f = &sundew_tables.functions[row];
    return f->nslots + f->nlocals <= MOST_SLOTS ? stack.slots : NULL;
}

/* Each local is above the stack pointer and not far from it. */
void sundew_entered(uint32_t row, uint64_t *slots)
{
    const SundewFunction *f = &sundew_tables.functions[row];
    char *sp = stack.frames[stack.n - 1].sp;
    for (unsigned i = 0; i < f->nlocals; i++) {
        char *local = (char *)slots[f->nslots + i];
        if (local < sp || local > sp + (64 << 20))
            count(&wrong);
    }
}

void sundew_leave(uint32_t row, void *sp)
{
    count(&leaves);
    unsigned n = stack.n;
    while (n && (char *)stack.frames[n - 1].sp < (char *)sp)
        n--;
    while (n && stack.frames[n - 1].sp == sp && stack.frames[n - 1].row != row)
        n--;
    if (n && stack.frames[n - 1].sp == sp)
        stack.n = n - 1;
    else
        count(&wrong);
}

static void say(void)
{
    char text[200];
    const char *path = getenv("SUNDEW_STUB");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    snprintf(text, sizeof text, "enters %llu leaves %llu open %u wrong %llu\n",
             (unsigned long long)enters, (unsigned long long)leaves, stack.n,
             (unsigned long long)wrong);
    fputs(text, f);
    fclose(f);
}

void sundew_monitor_start(void)
{
    if (started++ || sundew_tables.version != SUNDEW_TABLES_VERSION ||
        sundew_tables.modes != sundew_modes)
        count(&wrong);
    if (getenv("SUNDEW_STUB_OFF"))
        memset(sundew_tables.modes, SUNDEW_OFF, sundew_tables.nfunctions);
    if (getenv("SUNDEW_STUB"))
        atexit(say);
}

void sundew_dump_now(const char *reason)
{
    (void)reason;
}

#define SAME(result, name, params, args) \
    result sundew_##name params;         \
    result sundew_##name params { return name args; }
SAME(void *, malloc, (size_t n), (n))
SAME(void *, calloc, (size_t n, size_t m), (n, m))
SAME(void *, realloc, (void *p, size_t n), (p, n))
SAME(void *, reallocarray, (void *p, size_t n, size_t m), (p, n, m))
SAME(void *, aligned_alloc, (size_t a, size_t n), (a, n))
SAME(void *, memalign, (size_t a, size_t n), (a, n))
SAME(int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n))
SAME(void *, valloc, (size_t n), (n))
SAME(char *, strdup, (const char *s), (s))
SAME(char *, strndup, (const char *s, size_t n), (s, n))
SAME(int, sigaction, (int s, const struct sigaction *a, struct sigaction *b), (s, a, b))
SAME(int, sigprocmask, (int how, const sigset_t *a, sigset_t *b), (how, a, b))
SAME(int, pthread_sigmask, (int how, const sigset_t *a, sigset_t *b), (how, a, b))
SAME(int, sigaltstack, (const stack_t *a, stack_t *b), (a, b))
SAME(int, pthread_create,
     (pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg), (t, a, f, arg))

typedef void Handler(int);
Handler *sundew_signal(int s, Handler *h);
Handler *sundew_signal(int s, Handler *h) { return signal(s, h); }
void sundew_free(void *p);
void sundew_free(void *p) { free(p); }
void sundew___assert_fail(const char *a, const char *f, unsigned line, const char *fn);
void sundew___assert_fail(const char *a, const char *f, unsigned line, const char *fn)
{
    __assert_fail(a, f, line, fn);
}
