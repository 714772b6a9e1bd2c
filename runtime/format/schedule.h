/*
 * schedule - shared memory between the schedule engine and a program whose
 * threads it schedules.
 *
 *     header (plan, then result) | forced[] | hot[] | steps[] | races[]
 *
 * The engine makes it (memfd, sealed against shrinking), fills in the plan and
 * starts a run. The runtime (runtime/schedule/) follows the plan and writes the
 * result. The engine copies the result once and trusts no number in it.
 *
 * A *point* is a place where another thread may be chosen: a call of a
 * synchronisation function, an atomic access, or a plain access at a *hot* site.
 * A site is hot if a run has shown that another thread touches the same memory
 * and one of the two writes. A *decision* is a point at which more than one
 * thread can run, or the current one can't. Decisions are numbered from 0.
 *
 * Without a force the current thread goes on; if it can't, the next thread in
 * cyclic order does. A force says which thread runs at a decision instead. So a
 * schedule is a short list of forces, and the same list gives the same run.
 */
#ifndef SUNDEW_SCHEDULE_FORMAT_H
#define SUNDEW_SCHEDULE_FORMAT_H
#include <stdint.h>

enum {
    SUNDEW_SCHEDULE_FD = 202,
    SUNDEW_SCHEDULE_MAGIC = 0x68635364,       /* "dSch" */
    SUNDEW_SCHEDULE_VERSION = 3,
    SUNDEW_SCHEDULE_THREADS = 64,             /* a bit each in a mask */
    SUNDEW_SCHEDULE_FORCES = 1024,
    SUNDEW_SCHEDULE_STEPS = 1 << 15,
    SUNDEW_SCHEDULE_RACES = 64,
    SUNDEW_SCHEDULE_HELD = 4,                 /* locks told of an access */
    SUNDEW_SCHEDULE_STACK = 8,                /* callers told of an access */
    SUNDEW_SCHEDULE_NOWHERE = -1,             /* the site of what a player does */
    SUNDEW_SCHEDULE_HOT = 1 << 14,            /* bytes: sites below 131072 */
};
#define SUNDEW_SCHEDULE_ENV "SUNDEW_SCHEDULE"
#define SUNDEW_SCHEDULE_PLAYER                                                                     \
    "player"       /* its value in a process that plays a library:
                                               * the player says when scheduling begins */

enum {                                        /* how threads are chosen */
       SUNDEW_SCHEDULE_FORCED,                   /* forces, else as above */
       SUNDEW_SCHEDULE_PCT,                      /* random priorities, few changes */
       SUNDEW_SCHEDULE_POS,                      /* a random priority for each access */
};

enum {                                        /* flags of a plan */
       SUNDEW_SCHEDULE_RACING = 1,               /* look for data races */
       SUNDEW_SCHEDULE_ALL_HOT = 2,              /* every site is hot */
};

enum {                                        /* kinds of points and events */
       SUNDEW_AT_BEGIN,
       SUNDEW_AT_READ,
       SUNDEW_AT_WRITE,
       SUNDEW_AT_ATOMIC,
       SUNDEW_AT_LOCK,
       SUNDEW_AT_UNLOCK,
       SUNDEW_AT_READ_LOCK,
       SUNDEW_AT_WAIT,
       SUNDEW_AT_SIGNAL,
       SUNDEW_AT_BROADCAST,
       SUNDEW_AT_BARRIER,
       SUNDEW_AT_SEM_WAIT,
       SUNDEW_AT_SEM_POST,
       SUNDEW_AT_ONCE,
       SUNDEW_AT_CREATE,
       SUNDEW_AT_JOIN,
       SUNDEW_AT_EXIT,
       SUNDEW_AT_YIELD,
       SUNDEW_AT_SLEEP,
       SUNDEW_AT_FREE,
       SUNDEW_AT_KINDS,
};

enum {                                        /* how a run ended, for the scheduler */
       SUNDEW_SCHEDULE_RUNNING,                  /* it did not end by itself */
       SUNDEW_SCHEDULE_ENDED,                    /* exit() or return from main() */
       SUNDEW_SCHEDULE_DEADLOCK,                 /* nobody can run */
       SUNDEW_SCHEDULE_ENDLESS,                  /* too many points */
       SUNDEW_SCHEDULE_DIVERGED,                 /* a force names a thread that can't run */
       SUNDEW_SCHEDULE_CROWDED,                  /* too many threads */
       SUNDEW_SCHEDULE_FOREIGN, /* nobody can run but a thread that is not ours */
       SUNDEW_SCHEDULE_ENDS,
};

struct sundew_force {
    uint32_t decision;
    uint32_t thread;
};

enum {
    SUNDEW_STEP_DECISION = 1,
    SUNDEW_STEP_PREEMPTS = 2,
    SUNDEW_STEP_YIELDS = 4,
    SUNDEW_STEP_WAKES = 8, /* `chosen` is woken by a signal; who runs goes on */
};

/* One point that was passed, in the order of the run. */
struct sundew_step {
    uint64_t object; /* address */
    uint64_t enabled; /* a bit for each thread that could run */
    uint32_t site;
    uint32_t decision; /* its number, if it was one */
    uint8_t thread; /* that stood at the point */
    uint8_t chosen; /* that ran next */
    uint8_t kind;
    uint8_t flags;
    uint8_t usual; /* would have run without a force */
    uint8_t unused[3];
};

/* One side of a race. */
struct sundew_side {
    uint32_t site;
    uint8_t thread, write, nheld, unused;
    uint64_t held[SUNDEW_SCHEDULE_HELD]; /* locks: addresses */
    uint32_t held_at[SUNDEW_SCHEDULE_HELD]; /* sites where they were taken */
    uint32_t stack[SUNDEW_SCHEDULE_STACK]; /* addresses in the file of the woven program,
                                            * innermost first; 0: no more */
};
struct sundew_race {
    uint64_t address;
    struct sundew_side first, second;
};

/* What a thread waits for at the end. */
struct sundew_wait {
    uint64_t object;
    uint32_t site;
    uint8_t kind; /* SUNDEW_AT_…; BEGIN: it does not wait */
    uint8_t owner; /* thread that holds it; 255: nobody known */
    uint8_t state, unused;
};

struct sundew_schedule {
    uint32_t magic, version;
    /* the plan */
    uint32_t strategy, flags;
    uint64_t seed;
    uint32_t depth, length; /* PCT: changes + 1, expected points */
    uint32_t most_points; /* then the run is endless */
    uint32_t nforces;
    struct sundew_force forces[SUNDEW_SCHEDULE_FORCES];
    uint8_t hot[SUNDEW_SCHEDULE_HOT]; /* a bit a site */
    /* the result */
    uint8_t heated[SUNDEW_SCHEDULE_HOT]; /* sites that this run shows to be hot */
    uint32_t ended, nthreads, ndecisions, npoints, nsteps, nraces;
    /* A bit for each thread that was told that somebody else has it, or that time is over. */
    uint64_t refused;
    uint64_t histories[SUNDEW_SCHEDULE_THREADS]; /* hash of whose writes each thread has seen */
    struct sundew_wait waits[SUNDEW_SCHEDULE_THREADS];
    struct sundew_race races[SUNDEW_SCHEDULE_RACES];
    struct sundew_step steps[SUNDEW_SCHEDULE_STEPS];
};
#endif
