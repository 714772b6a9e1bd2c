/* Sleeps and clocks of a program with one thread, in virtual time: see clock.h. */
#include "runtime/clock/clock.h"
#include <poll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

static uint64_t now;                             /* virtual ns */

unsigned sundew_clock_sleep(unsigned seconds);
unsigned sundew_clock_sleep(unsigned seconds)
{
    now += (uint64_t)seconds * SUNDEW_CLOCK_SECOND;
    return 0;
}

int sundew_clock_usleep(useconds_t us);
int sundew_clock_usleep(useconds_t us)
{
    now += (uint64_t)us * 1000;
    return 0;
}

int sundew_clock_nanosleep(const struct timespec *wanted, struct timespec *left);
int sundew_clock_nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!sundew_clock_is_valid(wanted))
        return nanosleep(wanted, left);
    now += sundew_clock_ns(wanted);
    return 0;
}

int sundew_clock_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left);
int sundew_clock_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left)
{
    if (!sundew_clock_is_virtual(clock) || !sundew_clock_is_valid(wanted))
        return clock_nanosleep(clock, flags, wanted, left);
    uint64_t until =
        flags & TIMER_ABSTIME ? sundew_clock_at(clock, wanted) : now + sundew_clock_ns(wanted);
    if (until > now)
        now = until;
    return 0;
}

int sundew_clock_clock_gettime(clockid_t clock, struct timespec *out);
int sundew_clock_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!sundew_clock_is_virtual(clock))
        return clock_gettime(clock, out);
    *out = sundew_clock_look(clock, &now);
    return 0;
}

int sundew_clock_gettimeofday(struct timeval *out, void *zone);
int sundew_clock_gettimeofday(struct timeval *out, void *zone)
{
    if (!out)
        return gettimeofday(out, zone);
    struct timespec t = sundew_clock_look(CLOCK_REALTIME, &now);
    *out = (struct timeval){ t.tv_sec, t.tv_nsec / 1000 };
    return 0;
}

time_t sundew_clock_time(time_t *out);
time_t sundew_clock_time(time_t *out)
{
    time_t t = sundew_clock_look(CLOCK_REALTIME, &now).tv_sec;
    if (out)
        *out = t;
    return t;
}

/* With nothing to wait for but the time it is a sleep. */
int sundew_clock_poll(struct pollfd *fds, nfds_t n, int ms);
int sundew_clock_poll(struct pollfd *fds, nfds_t n, int ms)
{
    if (n || ms < 0)
        return poll(fds, n, ms);
    now += (uint64_t)ms * 1000000;
    return 0;
}

int sundew_clock_select(int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *limit);
int sundew_clock_select(int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *limit)
{
    if (n > 0 || !limit || limit->tv_sec < 0 || limit->tv_usec < 0)
        return select(n, in, out, bad, limit);
    now += (uint64_t)limit->tv_sec * SUNDEW_CLOCK_SECOND + (uint64_t)limit->tv_usec * 1000;
    *limit = (struct timeval){ 0, 0 };
    return 0;
}
