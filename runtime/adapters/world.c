/*
 * The world around the program: time, chance, files. Time and chance are part
 * of the state: variables here, which the weave's table of objects has. What is written to
 * files is not; the engine is told of it.
 */
#include "runtime/adapters/adapters.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Names that don't begin with sundew_ are in the state. */
uint64_t event_clock = 1700000000ull * 1000000000ull;   /* ns */
uint64_t event_chance = 1;

static void pass(uint64_t ns) { event_clock += ns; }

time_t sundew_event_time(time_t *out)
{
    if (!sundew_event_engine())
        return time(out);
    time_t t = (time_t)(event_clock / 1000000000u);
    if (out)
        *out = t;
    return t;
}

int sundew_event_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!sundew_event_engine())
        return clock_gettime(clock, out);
    out->tv_sec = (time_t)(event_clock / 1000000000u);
    out->tv_nsec = (long)(event_clock % 1000000000u);
    return 0;
}

int sundew_event_gettimeofday(struct timeval *out, void *zone)
{
    if (!sundew_event_engine())
        return gettimeofday(out, zone);
    out->tv_sec = (time_t)(event_clock / 1000000000u);
    out->tv_usec = (suseconds_t)(event_clock % 1000000000u / 1000);
    return 0;
}

unsigned sundew_event_sleep(unsigned seconds)
{
    if (!sundew_event_engine())
        return sleep(seconds);
    pass(seconds * 1000000000ull);
    return 0;
}

int sundew_event_usleep(useconds_t us)
{
    if (!sundew_event_engine())
        return usleep(us);
    pass(us * 1000ull);
    return 0;
}

int sundew_event_nanosleep(const struct timespec *want, struct timespec *left)
{
    if (!sundew_event_engine())
        return nanosleep(want, left);
    pass((uint64_t)want->tv_sec * 1000000000u + (uint64_t)want->tv_nsec);
    return 0;
}

extern int napms(int ms);

int sundew_event_napms(int ms)
{
    if (!sundew_event_engine())
        return napms(ms);
    pass((uint64_t)ms * 1000000u);
    return 0;
}

/* ---- chance */

static uint64_t draw(void)
{
    event_chance = event_chance * 6364136223846793005ull + 1442695040888963407ull;
    return event_chance >> 33;
}

int sundew_event_rand(void) { return sundew_event_engine() ? (int)(draw() & RAND_MAX) : rand(); }

void sundew_event_srand(unsigned seed)
{
    if (sundew_event_engine())
        event_chance = seed;
    else
        srand(seed);
}

long sundew_event_random(void)
{
    return sundew_event_engine() ? (long)(draw() & 0x7fffffff) : random();
}

void sundew_event_srandom(unsigned seed)
{
    if (sundew_event_engine())
        event_chance = seed;
    else
        srandom(seed);
}

/* ---- files */

FILE *sundew_event_fopen(const char *path, const char *mode)
{
    if (strpbrk(mode, "wa+"))
        sundew_event_hides(SUNDEW_EVENT_WROTE_FILE, path);
    return fopen(path, mode);
}

int sundew_event_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if ((flags & O_ACCMODE) != O_RDONLY && strcmp(path, "/dev/tty") && strcmp(path, "/dev/null"))
        sundew_event_hides(SUNDEW_EVENT_WROTE_FILE, path);
    return open(path, flags, mode);
}

int sundew_event_unlink(const char *path)
{
    sundew_event_hides(SUNDEW_EVENT_WROTE_FILE, path);
    return unlink(path);
}

int sundew_event_rename(const char *from, const char *to)
{
    sundew_event_hides(SUNDEW_EVENT_WROTE_FILE, to);
    return rename(from, to);
}
