/*
 * monitor - the entry points that the monitoring weave calls.
 *
 * For a monitored function f, the row `r` of sundew_tables.functions, the weave
 * writes two small functions and calls one at the entry of f and the other before each
 * return (in the words of C; they are always inlined, the bodies of the ifs
 * are cold):
 *
 *     f.enter:  if (sundew_modes[r]) {
 *                   uint64_t *s = sundew_enter(r, sp);
 *                   if (s) {
 *                       s[0] = argument 0; …           the slots
 *                       s[nslots] = &local 0; …        escaping stack objects
 *                       sundew_entered(r, s);
 *                   }
 *               }
 *     f.leave:  if (sundew_modes[r])
 *                   sundew_leave(r, sp);
 *
 * `sp` is f's stack pointer, the same for both. A function may be entered
 * while its mode is not off and left while it is, and the other way round; it
 * may also never be left (longjmp, noreturn): sundew_leave() takes off all
 * frames below `sp`, so the stack mends itself; of those at `sp` itself, which
 * are the functions that were inlined into one, it takes off the ones up to the
 * nearest of `row`, and none if there is none of it. Likewise sundew_enter()
 * takes off what is below `sp`, and keeps what is at it.
 *
 * With second chance, where all functions are off for most of a program's life,
 * there is no f.leave, which would be half of the cost. A frame stays until
 * another is entered at its place or above, and the dump keeps those that are on
 * the machine's stack; what a longjmp left is not told from what returned.
 *
 * Small functions that the compiler inlines have f.enter in each copy, and f.leave only in
 * the function itself: see stack.c.
 *
 * Nothing here allocates through the subject's allocator, changes errno or
 * fails: what can't be kept is left out. All of it may be called in signal handlers and on
 * any thread, before main() too.
 */
#ifndef SUNDEW_MONITOR_H
#define SUNDEW_MONITOR_H
#include <stddef.h>
#include <stdint.h>

extern uint8_t sundew_modes[];            /* emitted by the weave, with the tables */

/* The row; with this bit the probe is in a copy that was inlined. */
#define SUNDEW_COPY UINT32_C(0x80000000)
uint64_t *sundew_enter(uint32_t probe, void *sp);
void sundew_entered(uint32_t row, uint64_t *slots);
void sundew_leave(uint32_t row, void *sp);

/* A constructor of the highest priority in the woven program calls it. */
void sundew_monitor_start(void);

/* What developers call for failures that don't crash; the run goes on. Its
 * public face is share/include/sundew.h. */
void sundew_dump_now(const char *reason);

/*
 * Calls of the program (and takings of the address) of a function named in
 * this list go to sundew_NAME instead, which does the same and keeps the books:
 * which memory is allocated, whose signal handlers are installed, what an
 * assertion said. X(name).
 */
/* clang-format off */
#define SUNDEW_ALLOCATING(X)                                                   \
    X(malloc) X(calloc) X(realloc) X(reallocarray) X(free) X(aligned_alloc)    \
    X(memalign) X(posix_memalign) X(valloc) X(strdup) X(strndup)               \
    X(getline) X(getdelim) X(asprintf) X(vasprintf)
#define SUNDEW_REDIRECTED(X)                                                   \
    SUNDEW_ALLOCATING(X)                                                       \
    X(sigaction) X(signal) X(__sysv_signal) X(sigprocmask) X(pthread_sigmask) X(sigsuspend)     \
    X(sigaltstack) X(pthread_create) X(__assert_fail) X(mmap) X(mmap64) X(munmap)
/* clang-format on */
#endif
