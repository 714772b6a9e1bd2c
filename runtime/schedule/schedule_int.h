/*
 * schedule_int - what the files of the scheduling runtime share.
 *
 *     core     threads, the choice of the next one, the log of steps
 *     stack    where an access is called from
 *     objects  what is known of each lock, condition, barrier; clocks
 *     access   plain accesses: hot sites, data races
 *     sync     locks, conditions, barriers, semaphores, once
 *     thread   create, join, the end of a thread
 *     timing   sleeps and clocks in virtual time
 *
 * Only the thread that was chosen runs, so no file here takes a lock. Nobody else
 * runs while a thread begins or ends, because both allocate and free memory: the
 * maker waits until the new one has arrived, and who runs after the end of a
 * thread waits until the system has let go of that one. So addresses are the same
 * in each run of a schedule.
 */
#ifndef SUNDEW_SCHEDULE_INT_H
#define SUNDEW_SCHEDULE_INT_H
#include "runtime/format/schedule.h"
#include "runtime/heap/pages.h"
#include "runtime/schedule/schedule.h"
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { NOBODY = 255, MOST_HELD = 16 };

typedef enum { THREAD_NONE, THREAD_READY, THREAD_WAITS, THREAD_OVER } SchedState;

typedef struct SchedThread {
    uint8_t number;
    SchedState state;
    int go;                          /* futex: 1 when it was chosen */
    int arrived;                     /* futex: 1 when it stands at its begin */
    int tid;                         /* of the system; 0: not yet known */
    int leaving;                     /* who gave it the turn and is on its way out; 0 */
    uint8_t kind;                    /* of the point it stands at, or what it waits for */
    uint8_t owner;                   /* who holds what it waits for; NOBODY */
    bool timed;                      /* it waits until `until` at most */
    bool woken;                      /* by a signal or a post, not by time */
    bool inside;                     /* in this runtime: no points */
    bool joined;                     /* or detached: its number may be used again, once over */
    bool cancelled;                  /* pthread_cancel() names it and it has not looked */
    bool pending_writes;
    uint64_t object;
    uint32_t site;
    uint64_t until;                  /* virtual ns */
    uint64_t since;                  /* when it began to wait: order of waiters */
    uint64_t priority;
    uint32_t alone;                  /* points since another thread ran */
    struct {
        uint64_t object, value;
        uint32_t site, count;
    } turns[4];                      /* the same place, object and value again: a spin loop? */
    uint64_t spun_at;                /* how much had been written when it began to spin */
    uint32_t spun;                   /* times that it was found to spin since then */
    uint64_t seen[4];                /* last views that went into its history */
    uint32_t nseen;
    const void *frame;               /* of the function that the woven code called; NULL */
    uint8_t width, oldest;           /* bytes of the access it stands at, up to 8; of turns */
    uint32_t quiet;                  /* accesses at sites that are not hot, likewise */
    uint32_t clock[SUNDEW_SCHEDULE_THREADS];
    uint64_t held[MOST_HELD];
    uint32_t held_at[MOST_HELD];
    uint32_t nheld;
    pthread_t handle;
    void *(*routine)(void *);
    void *arg;
} SchedThread;

extern struct sundew_schedule *sundew_plan;      /* NULL: nothing is scheduled */
extern SchedThread sundew_sched_threads[SUNDEW_SCHEDULE_THREADS];
extern unsigned sundew_nsched;
extern bool sundew_is_played;                    /* a library in a player */
extern _Thread_local SchedThread *sundew_sched_self __attribute__((tls_model("initial-exec")));
extern uint64_t sundew_sched_now;                /* virtual ns since the begin */

/* --- core */

/* The calling thread, if it is scheduled and not already in here; then it is in
 * here until sundew_leave(). NULL: do the plain thing. */
SchedThread *sundew_enter(void);
void sundew_leave(SchedThread *me);
/* A point at which it could go on: others may run first. */
void sundew_point(SchedThread *me, unsigned kind, const volatile void *object);
/* The same for who lets others go first. */
void sundew_yield(SchedThread *me, unsigned kind);
/* It waits until somebody calls sundew_wake(), or until `until`; false: time was over. */
bool sundew_wait(SchedThread *me, unsigned kind, const volatile void *object, unsigned owner,
                 const uint64_t *until);
/* Threads that wait for the object in one of two ways can go on. */
void sundew_wake(const volatile void *object, unsigned kind, unsigned other);
/* One that waits for the condition: which one is a decision. */
void sundew_wake_one(SchedThread *me, const volatile void *condition);
/* At a cancellation point: if the thread was cancelled, it ends here. */
void sundew_look_for_cancel(SchedThread *me);
/* A line in the log without a choice. */
void sundew_note(SchedThread *me, unsigned kind, const volatile void *object);
SchedThread *sundew_thread_new(void);            /* NULL: too many */
void sundew_thread_over(SchedThread *me);        /* chooses the next */
void sundew_thread_await(SchedThread *me);       /* a new one, until it is chosen */
/* `r` is what a function answers that gives up: was the thread (NULL: one that is not scheduled)
 * told that somebody else has it? Returns r. */
int sundew_refused(const SchedThread *me, int r);
void sundew_thread_arrived(SchedThread *t);      /* its maker, until it stands there */
void sundew_end(unsigned how) __attribute__((noreturn));
uint64_t sundew_random(void);

/* --- objects */

typedef struct SchedObject {
    uint64_t address;
    uint8_t owner;                   /* NOBODY */
    uint8_t state;                   /* once: 1 under way, 2 done */
    uint32_t count, arrived;         /* barrier */
    uint32_t round;
    uint32_t clock[SUNDEW_SCHEDULE_THREADS];
} SchedObject;

SchedObject *sundew_object(const volatile void *at);       /* NULL: no room */
void sundew_acquire(SchedThread *me, SchedObject *o);      /* happens-before */
void sundew_release(SchedThread *me, SchedObject *o);
void sundew_hold(SchedThread *me, const volatile void *lock);
void sundew_let_go(SchedThread *me, const volatile void *lock);

/* The thread has seen something that depends on the order of threads. */
void sundew_seen(SchedThread *me, uint64_t what);

/* --- stack */
extern uintptr_t sundew_stack_top;               /* of the first thread */
/* From me->frame on; SUNDEW_SCHEDULE_STACK return addresses. */
void sundew_stack(const SchedThread *me, uint32_t *out);

/* --- access */
bool sundew_site_is_hot(uint32_t site);
void sundew_track(SchedThread *me, const void *at, uint32_t what, uint32_t site);

/* --- timing */
/* An absolute time of a clock as virtual ns. */
uint64_t sundew_until(clockid_t clock, const struct timespec *at);

#pragma GCC visibility pop
#endif
