/* Boundaries; events.h is the manual. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/adapters/adapters.h"
#include "runtime/events/events.h"
#include "runtime/input/input.h"
#include "runtime/server/forkserver.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAYBE __attribute__((weak))
extern uint8_t sundew_counters[] MAYBE;
extern const uint64_t sundew_counters_size MAYBE;
MAYBE void sundew_event_step(void);
MAYBE void sundew_event_state(void);

struct sundew_events *sundew_events;
void *sundew_loop_arguments[SUNDEW_LOOP_ARGUMENTS];
static int looked, started, looping;
static uint64_t total, given;          /* events of this run */
static pid_t owner;                    /* the process that gets them */

/* ---- the engine's memory */

static void map_counters(const struct sundew_events *e)
{
    if (sundew_counters && &sundew_counters_size && e->counters == sundew_counters_size &&
        mmap(sundew_counters, e->counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             SUNDEW_EVENTS_FD, (off_t)sundew_events_counters_at()) == MAP_FAILED)
        _exit(125);
}

static void look(void)
{
    struct stat st;
    int kept = errno;
    if (looked)
        return;
    looked = 1;
    if (fstat(SUNDEW_EVENTS_FD, &st) == 0 && st.st_size >= (off_t)sizeof(struct sundew_events)) {
        struct sundew_events *e =
            mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, SUNDEW_EVENTS_FD, 0);
        if (e != MAP_FAILED && e->magic == SUNDEW_EVENTS_MAGIC &&
            e->version == SUNDEW_EVENTS_VERSION && e->size == (uint64_t)st.st_size) {
            sundew_events = e;
            e->stage = SUNDEW_EVENTS_STARTED;
            map_counters(e);
            close(SUNDEW_EVENTS_FD);
        }
    }
    errno = kept;
}

void sundew_event_hides(uint32_t what, const char *name)
{
    if (!sundew_events)
        return;
    sundew_events->hidden |= what;
    if (name) {
        size_t n = strnlen(name, sizeof sundew_events->file - 1);
        memcpy(sundew_events->file, name, n);
        sundew_events->file[n] = 0;
    }
}

int sundew_event_engine(void)
{
    look();
    return sundew_events != NULL;
}

bool sundew_event_tell(uint32_t object, uint64_t offset, uint64_t size, uint32_t how)
{
    struct sundew_events *e = sundew_events;
    if (e->nlocations >= SUNDEW_EVENTS_LOCATIONS) {
        e->hidden |= SUNDEW_EVENT_CUT;
        return false;
    }
    e->locations[e->nlocations++] =
        (struct sundew_event_location){ object, (uint32_t)offset, (uint32_t)size, how };
    return true;
}

/* ---- boundaries */

/* Events are what a run is made of; those before the last one are shared with other runs. */
uint64_t sundew_forkserver_way(uint32_t depth)
{
    const struct sundew_events *e = sundew_events;
    struct stat st;
    uint8_t part[256];
    uint64_t h = 1469598103934665603ull;
    if (!e || !e->shared || !e->event_size || fstat(0, &st) != 0 ||
        ((uint64_t)depth + 2) * e->event_size > (uint64_t)st.st_size)
        return 0;
    for (uint32_t at = 0; at < e->event_size;) {
        size_t left = e->event_size - at, want = left < sizeof part ? left : sizeof part;
        ssize_t n = pread(0, part, want, (off_t)((uint64_t)depth * e->event_size + at));
        if (n <= 0)
            return 0;
        for (ssize_t i = 0; i < n; i++)
            h = (h ^ part[i]) * 1099511628211ull;
        at += (uint32_t)n;
    }
    return h ? h : 1;
}

/* A run begins here, behind so many events. */
static void begin_run(uint64_t done)
{
    struct sundew_events *e = sundew_events;
    sundew_input_from(done * e->event_size);
    owner = getpid();
    e->stage = SUNDEW_EVENTS_WAITING;
    e->delivered = (uint32_t)done;
    e->hidden = 0;
    e->nlocations = 0;
    total = e->event_size ? sundew_input.size / e->event_size : 0;
}

static void start(void)
{
    started = 1;
    sundew_events->stage = SUNDEW_EVENTS_WAITING;
    sundew_forkserver_start();
    begin_run(0);
}

/* The last event is watched. */
static void begin_last(void)
{
    struct sundew_events *e = sundew_events;
    if (sundew_counters)
        memset(sundew_counters, 0, e->counters);
    e->hidden = 0;
    sundew_state_before();
    if (sundew_event_labels_begin)
        sundew_event_labels_begin();
    e->stage = SUNDEW_EVENTS_LAST;
}

static void finish(void)
{
    if (!total)
        sundew_state_before();
    sundew_state_after();
    sundew_events->stage = SUNDEW_EVENTS_DONE;
    _exit(0);
}

int sundew_event_boundary(void)
{
    int kept = errno;
    look();
    if (!sundew_events)
        return 0;
    if (!started)
        start();
    else if (getpid() != owner)        /* a child of the program: it gets nothing */
        _exit(0);
    else if (sundew_forkserver_deeper())
        begin_run(given);
    if (given >= total)
        finish();
    if (++given == total)
        begin_last();
    sundew_events->delivered = (uint32_t)given;
    sundew_events->handled++;
    errno = kept;
    return 1;
}

int sundew_event_next(void *to, size_t n)
{
    uint8_t rest;
    if (!sundew_event_boundary())
        return 0;
    sundew_ask(to, n);
    for (size_t i = n; i < sundew_events->event_size; i++)
        sundew_ask(&rest, 1);
    return 1;
}

/* ---- a function as a loop */

void sundew_event_offered(uint32_t argument, void *pointer)
{
    if (!looping && argument < SUNDEW_LOOP_ARGUMENTS)
        sundew_loop_arguments[argument] = pointer;
}

void sundew_event_reached(void)
{
    look();
    if (looping || !sundew_events || !sundew_events->loop || !sundew_event_step)
        return;
    looping = 1;
    if (sundew_event_state)
        sundew_event_state();
    for (;;) {
        sundew_event_boundary();
        sundew_event_step();
    }
}

/* The program ended without a call of the loop's function: the loop begins here. */
static void at_exit(void)
{
    if (!started)
        sundew_event_reached();
}

/* Until the first event the input is empty. The fork server gives each run its own. */
static void empty_input(void)
{
    int fd = open("/dev/null", O_RDONLY);
    if (fd > 0) {
        dup2(fd, 0);
        close(fd);
    }
}

__attribute__((constructor(102))) static void begin(void)
{
    look();
    if (sundew_events)
        empty_input();
    if (sundew_events && sundew_events->loop)
        atexit(at_exit);
}
