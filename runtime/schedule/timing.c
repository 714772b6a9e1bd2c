/*
 * Sleeps and clocks in virtual time.
 *
 * The clocks of a scheduled program begin at fixed times and go on when somebody
 * sleeps or a wait with a limit is over; each look at a clock takes a
 * microsecond, so that a loop which waits for a time ends.
 */
#include "runtime/schedule/schedule_int.h"

enum { SECOND = 1000000000, LOOK = 1000 };
#define BEGIN_REAL      ((uint64_t)1700000000 * SECOND)
#define BEGIN_MONOTONIC ((uint64_t)100000 * SECOND)

static uint64_t begin_of(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? BEGIN_REAL : BEGIN_MONOTONIC;
}

uint64_t sundew_until(clockid_t clock, const struct timespec *at)
{
    uint64_t ns = (uint64_t)at->tv_sec * SECOND + (uint64_t)at->tv_nsec;
    return ns > begin_of(clock) ? ns - begin_of(clock) : 0;
}

static struct timespec look(clockid_t clock)
{
    sundew_sched_now += LOOK;
    uint64_t ns = begin_of(clock) + sundew_sched_now;
    return (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
}

/* Are this clock's times ours? Those of CPU time are not. */
static bool is_ours(clockid_t clock)
{
    return sundew_sched_self && clock != CLOCK_PROCESS_CPUTIME_ID &&
           clock != CLOCK_THREAD_CPUTIME_ID && clock >= 0;
}

static void sleep_at(SchedThread *me, uint64_t ns)
{
    int kept = errno;
    uint64_t until = sundew_sched_now + ns;
    sundew_wait(me, SUNDEW_AT_SLEEP, NULL, NOBODY, &until);
    sundew_look_for_cancel(me);
    sundew_leave(me);
    errno = kept;
}

unsigned sundew_sched_sleep(unsigned seconds);
unsigned sundew_sched_sleep(unsigned seconds)
{
    SchedThread *me = sundew_enter();
    if (!me)
        return sleep(seconds);
    sleep_at(me, (uint64_t)seconds * SECOND);
    return 0;
}

int sundew_sched_usleep(useconds_t us);
int sundew_sched_usleep(useconds_t us)
{
    SchedThread *me = sundew_enter();
    if (!me)
        return usleep(us);
    sleep_at(me, (uint64_t)us * 1000);
    return 0;
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

static bool is_valid(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < SECOND;
}

int sundew_sched_nanosleep(const struct timespec *wanted, struct timespec *left);
int sundew_sched_nanosleep(const struct timespec *wanted, struct timespec *left)
{
    SchedThread *me = is_valid(wanted) ? sundew_enter() : NULL;
    if (!me)
        return nanosleep(wanted, left);
    sleep_at(me, ns_of(wanted));
    return 0;
}

int sundew_sched_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left);
int sundew_sched_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left)
{
    SchedThread *me = is_ours(clock) && is_valid(wanted) ? sundew_enter() : NULL;
    if (!me)
        return clock_nanosleep(clock, flags, wanted, left);
    uint64_t at = flags & TIMER_ABSTIME ? sundew_until(clock, wanted) : 0;
    sleep_at(me, flags & TIMER_ABSTIME ? (at > sundew_sched_now ? at - sundew_sched_now : 0)
                                       : ns_of(wanted));
    return 0;
}

int sundew_sched_thrd_sleep(const struct timespec *wanted, struct timespec *left);
int sundew_sched_thrd_sleep(const struct timespec *wanted, struct timespec *left)
{
    return sundew_sched_self ? sundew_sched_nanosleep(wanted, left) : thrd_sleep(wanted, left);
}

int sundew_sched_clock_gettime(clockid_t clock, struct timespec *out);
int sundew_sched_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!is_ours(clock))
        return clock_gettime(clock, out);
    *out = look(clock);
    return 0;
}

int sundew_sched_gettimeofday(struct timeval *out, void *zone);
int sundew_sched_gettimeofday(struct timeval *out, void *zone)
{
    if (!sundew_sched_self)
        return gettimeofday(out, zone);
    struct timespec t = look(CLOCK_REALTIME);
    *out = (struct timeval){ t.tv_sec, t.tv_nsec / 1000 };
    return 0;
}

time_t sundew_sched_time(time_t *out);
time_t sundew_sched_time(time_t *out)
{
    if (!sundew_sched_self)
        return time(out);
    time_t t = look(CLOCK_REALTIME).tv_sec;
    if (out)
        *out = t;
    return t;
}
