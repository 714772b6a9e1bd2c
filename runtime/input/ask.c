/* What programs written for KLEE and for software verifiers call: see input.h. All
 * of it gives way to what the program itself defines. In the concolic build
 * runtime/standins/ask.c stands before those that return something. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/input/input.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WEAK __attribute__((weak))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define X(type, name)                                                                              \
    WEAK type __VERIFIER_nondet_##name(void)                                                       \
    {                                                                                              \
        type v;                                                                                    \
        sundew_ask(&v, sizeof v);                                                                  \
        return v;                                                                                  \
    }
SUNDEW_NONDET(X)
#undef X

WEAK void __VERIFIER_nondet_memory(void *at, size_t n) { sundew_ask(at, n); }

WEAK void __VERIFIER_assume(int holds)
{
    if (!holds)
        sundew_refuse();
}

WEAK void __VERIFIER_assert(int holds)
{
    if (!holds)
        abort();
}

WEAK void __VERIFIER_error(void) { abort(); }

WEAK void reach_error(void) { abort(); }

WEAK void klee_make_symbolic(void *at, size_t n, const char *name)
{
    (void)name;
    sundew_ask(at, n);
}

WEAK int klee_int(const char *name)
{
    int v;
    (void)name;
    sundew_ask(&v, sizeof v);
    return v;
}

WEAK int klee_range(int begin, int end, const char *name)
{
    int v = klee_int(name);
    if (v < begin || v >= end)
        sundew_refuse();
    return v;
}

WEAK uintptr_t klee_choose(uintptr_t n)
{
    uintptr_t v;
    sundew_ask(&v, sizeof v);
    if (v >= n)
        sundew_refuse();
    return v;
}

WEAK void klee_assume(uintptr_t holds)
{
    if (!holds)
        sundew_refuse();
}

WEAK _Noreturn void klee_silent_exit(int status) { _exit(status); }

WEAK _Noreturn void klee_abort(void) { abort(); }

WEAK _Noreturn void klee_report_error(const char *file, int line, const char *message,
                                      const char *suffix)
{
    (void)file, (void)line, (void)message, (void)suffix;
    abort();
}

WEAK unsigned klee_is_symbolic(uintptr_t v)
{
    (void)v;
    return 0;
}

WEAK unsigned klee_is_replay(void) { return 1; }

/* Advice, of no use here. */
WEAK void klee_prefer_cex(void *at, uintptr_t holds) { (void)at, (void)holds; }

WEAK void klee_print_expr(const char *text, ...) { (void)text; }

WEAK void klee_warning(const char *text) { (void)text; }

WEAK void klee_warning_once(const char *text) { (void)text; }

WEAK void klee_mark_global(void *at) { (void)at; }

WEAK void klee_posix_prefer_cex(void *at, uintptr_t holds) { (void)at, (void)holds; }

WEAK void klee_open_merge(void) {}

WEAK void klee_close_merge(void) {}

WEAK void klee_stack_trace(void) {}

WEAK void klee_set_forking(unsigned on) { (void)on; }

/* What has been asked for stays what it is. */
#define VALUE(type, suffix)                                                                        \
    WEAK type klee_get_value##suffix(type v) { return v; }
VALUE(float, f)
VALUE(double, d)
VALUE(long, l)
VALUE(long long, ll)
VALUE(int, _i32)
VALUE(long long, _i64)
