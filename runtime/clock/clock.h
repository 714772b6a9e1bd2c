/*
 * clock - virtual time, for programs that must not wait.
 *
 * Clocks begin at fixed times. They go on when somebody sleeps or a wait with a limit is over.
 * Each look at a clock takes a microsecond, so that a loop which waits for a time ends. Clocks of
 * CPU time stay as they are.
 *
 * runtime/schedule keeps a time of its own, because its threads wait for each other. Programs that
 * are explored have sundew_clock_sleep() and its kin (waits.c) in the place of the library's functions:
 * SUNDEW_CLOCK_FUNCTIONS. They are for programs with one thread.
 */
#ifndef SUNDEW_CLOCK_H
#define SUNDEW_CLOCK_H
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SUNDEW_CLOCK_SECOND 1000000000u          /* in ns */

/* `now` is virtual ns since the beginning. */
static inline uint64_t sundew_clock_begin(clockid_t clock)
{
    uint64_t seconds =
        clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? 1700000000u : 100000u;
    return seconds * SUNDEW_CLOCK_SECOND;
}

static inline uint64_t sundew_clock_ns(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * SUNDEW_CLOCK_SECOND + (uint64_t)t->tv_nsec;
}

/* What clock_nanosleep() and its kin accept. */
static inline bool sundew_clock_is_valid(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < (long)SUNDEW_CLOCK_SECOND;
}

/* An absolute time of a clock as virtual ns. */
static inline uint64_t sundew_clock_at(clockid_t clock, const struct timespec *at)
{
    uint64_t ns = sundew_clock_ns(at);
    return ns > sundew_clock_begin(clock) ? ns - sundew_clock_begin(clock) : 0;
}

/* What the clock shows; looking takes time. */
static inline struct timespec sundew_clock_look(clockid_t clock, uint64_t *now)
{
    *now += 1000;
    uint64_t ns = sundew_clock_begin(clock) + *now;
    return (struct timespec){ (time_t)(ns / SUNDEW_CLOCK_SECOND),
                              (long)(ns % SUNDEW_CLOCK_SECOND) };
}

/* Is this clock's time virtual? */
static inline bool sundew_clock_is_virtual(clockid_t clock)
{
    return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID && clock >= 0;
}

/* Each has a sundew_clock_NAME(). */
/* clang-format off */
#define SUNDEW_CLOCK_FUNCTIONS(X) \
    X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep) X(clock_gettime) X(gettimeofday) \
    X(time) X(poll) X(select)
/* clang-format on */
#endif
