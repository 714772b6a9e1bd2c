/* Sleeps and clocks in virtual time: runtime/clock/clock.h. */
#include "runtime/clock/clock.h"
#include "runtime/schedule/schedule_int.h"

enum { SECOND = SUNDEW_CLOCK_SECOND };

uint64_t sundew_until(clockid_t clock, const struct timespec *at)
{
    return sundew_clock_at(clock, at);
}

static struct timespec look(clockid_t clock) { return sundew_clock_look(clock, &sundew_sched_now); }

/* Are this clock's times ours? */
static bool is_ours(clockid_t clock) { return sundew_sched_self && sundew_clock_is_virtual(clock); }

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

int sundew_sched_nanosleep(const struct timespec *wanted, struct timespec *left);
int sundew_sched_nanosleep(const struct timespec *wanted, struct timespec *left)
{
    SchedThread *me = sundew_clock_is_valid(wanted) ? sundew_enter() : NULL;
    if (!me)
        return nanosleep(wanted, left);
    sleep_at(me, sundew_clock_ns(wanted));
    return 0;
}

int sundew_sched_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left);
int sundew_sched_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left)
{
    SchedThread *me = is_ours(clock) && sundew_clock_is_valid(wanted) ? sundew_enter() : NULL;
    if (!me)
        return clock_nanosleep(clock, flags, wanted, left);
    uint64_t at = flags & TIMER_ABSTIME ? sundew_until(clock, wanted) : 0;
    sleep_at(me, flags & TIMER_ABSTIME ? (at > sundew_sched_now ? at - sundew_sched_now : 0)
                                       : sundew_clock_ns(wanted));
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
