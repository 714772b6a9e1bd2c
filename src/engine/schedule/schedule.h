/*
 * schedule - run a program's threads in an order of our choice.
 *
 *     Scheduler *s = scheduler_open(&(SchedulerPlan){ .build = &b, .argv = argv }, err);
 *     ScheduleRun run = {0};
 *     scheduler_run(s, &schedule, &run, err);       one run, the same every time
 *     …
 *     schedule_search(s, &plan, judge, arg, err);   many runs
 *     scheduler_close(s);
 *
 * A Schedule is a short list of forces: at decision n, thread t runs. Without a
 * force the thread that runs goes on, so the empty schedule is the one without
 * preemptions. docs/schedules.md has the ideas; runtime/format/schedule.h what a
 * decision is.
 *
 * What a run says of itself comes from the subject. It is copied once and every
 * number is checked; sites and threads that do not exist are left out.
 */
#ifndef SUNDEW_ENGINE_SCHEDULE_H
#define SUNDEW_ENGINE_SCHEDULE_H
#include "base/rng.h"
#include "base/vec.h"
#include "build/schedule.h"
#include "run/run.h"
#include "runtime/format/schedule.h"

typedef struct Scheduler Scheduler;

typedef Vec(struct sundew_force) Forces;

typedef enum { SCHEDULE_FORCED, SCHEDULE_PCT, SCHEDULE_POS } ScheduleStrategy;

/* {0} is the schedule without preemptions. */
typedef struct Schedule {
    ScheduleStrategy strategy;
    uint64_t seed;                   /* of the random ones */
    Forces forces;                   /* of the forced one */
    Vec(uint32_t) hot;               /* sites at which plain accesses are points */
} Schedule;
void schedule_copy(Schedule *to, const Schedule *from);        /* `to` of {0} */
void schedule_release(Schedule *s);

typedef struct ScheduleRun {
    RunResult result;                /* output and failure */
    uint32_t ended;                  /* SUNDEW_SCHEDULE_… */
    uint32_t nthreads, ndecisions, npoints;
    unsigned preemptions;
    uint64_t refused; /* threads that were told that somebody else has it, a bit each */
    uint64_t history; /* runs with the same one gave all threads the same view */
    Vec(struct sundew_step) steps;
    Vec(struct sundew_race) races;
    Vec(struct sundew_wait) waits; /* by thread, after a deadlock */
    Vec(uint32_t) heated; /* sites that the run showed to be hot, in order */
} ScheduleRun;
void schedule_run_release(ScheduleRun *r);

/* How the program did, as far as its order of threads is to blame: a limit of ours says nothing. */
typedef enum { SCHEDULE_FINE, SCHEDULE_FAILS, SCHEDULE_DEADLOCKS } ScheduleVerdict;
ScheduleVerdict schedule_verdict(const ScheduleRun *run);

typedef struct SchedulerPlan {
    const ScheduleBuild *build;
    char *const *argv; /* argv[0] is the program's name */
    const char *cwd; /* a folder of the user's, not written; NULL: scratch */
    const char *input_file; /* standard input; NULL: empty */
    double seconds; /* of one run; 0: 5 */
    double idle; /* a run that waits so long for the system ends; 0: never */
    uint32_t most_points; /* of one run; 0: 200,000 */
    bool racing; /* look for data races too */
    /* For a library that a player loads; the build is the library. */
    const char *player; /* run this in place of the build; NULL */
    RunFd fd; /* what the player gets besides */
    const char *preload; /* a library to load first; NULL */
    bool quick; /* reports of sanitizers have no names and lines */
    bool look_up; /* …but we look up those of the build and of the system */
} SchedulerPlan;

Scheduler *scheduler_open(const SchedulerPlan *plan, Err *err);
void scheduler_close(Scheduler *s); /* NULL is fine */
/* False: it could not be run at all. */
bool scheduler_run(Scheduler *s, const Schedule *schedule, ScheduleRun *out, Err *err);
/* The forces that give a random run again. */
void schedule_of_run(const Schedule *of, const ScheduleRun *run, Schedule *out);
/* NULL: no such site. */
const ScheduleSite *scheduler_site(const Scheduler *s, uint32_t site);

/* --- search */

typedef enum { SEARCH_GO_ON, SEARCH_STOP } SearchVerdict;
/* Sees each run, and the schedule that gives it again. */
typedef SearchVerdict SearchJudge(const Schedule *schedule, const ScheduleRun *run, void *arg);

typedef struct SearchPlan {
    size_t most; /* runs; 0: 1000 */
    unsigned bound; /* of preemptions in the systematic part; 0: 7 */
    uint64_t seed;
    bool (*stop)(void *arg); /* time is over; NULL */
    void *stop_arg;
    /* Only systematic runs, at the hot sites of this schedule: the first that shows
     * something has the fewest preemptions. NULL: random ones, too. */
    const Schedule *points_of;
    /* The systematic part never stops threads below this: one that only makes the others, say. */
    unsigned first_thread;
    /* Random runs go on until `most` when the systematic part has ended; else 200, and as many as
     * were systematic. */
    bool spends;
} SearchPlan;

typedef struct SearchResult {
    size_t runs, systematic, random;
    size_t inconclusive; /* ended neither well nor badly: the sum of … */
    size_t ends[SUNDEW_SCHEDULE_ENDS]; /* … endless, diverged, crowded, foreign … */
    size_t timeouts; /* … and stopped by the clock */
    bool gave_up; /* too many were stopped by the clock */
    unsigned complete; /* all schedules with fewer preemptions than this were
                                      * run: 3 means up to 2; 0: none */
    size_t points; /* most in one run */
    size_t hot; /* sites with conflicts */
    unsigned threads;
} SearchResult;

bool schedule_search(Scheduler *s, const SearchPlan *plan, SearchJudge *judge, void *arg,
                     SearchResult *out, Err *err);

/* --- stacks */

typedef Vec(ScheduleSite) ScheduleCallers; /* .what is not set */
/* Where one side of a race was called from, innermost first; the access itself is left
 * out. The texts live as long as the scheduler. */
void schedule_callers(Scheduler *s, const struct sundew_side *side, ScheduleCallers *out);

/* The same for many: asks for the names of all these races at once, so that
 * schedule_callers() has them. */
void schedule_look_up(Scheduler *s, const struct sundew_race *races, size_t n);

/* --- the turn that was taken */

/* Did another thread get the turn of one that could have gone on? A thread that was taken for a
 * spin loop counts, if it only looked like one it was a preemption. */
bool schedule_takes_turn(const struct sundew_step *e);
/* The first access at which a thread was stopped that could have gone on, and the first access of
 * the thread that ran in its place to the same memory (else its next point), with the locks that
 * each held there. Threads below `from` do not count. False: no thread was stopped. */
bool schedule_switch(const Scheduler *s, const ScheduleRun *run, unsigned from,
                     struct sundew_side *stopped, struct sundew_side *ran);

/* --- text */

/* "lock", "write" …, as people say it. */
const char *schedule_kind_name(unsigned kind);
/* The schedule as a file: read back by schedule_read(), which refuses that of
 * another build. `key` names the build. */
void schedule_write(const Schedule *schedule, const char *key, Str *out);
bool schedule_read(const char *text, const char *key, Schedule *out, Err *err);
/* A folder with the schedule, the picture of its run and the words of the command, for
 * `sundew threads --replay`. */
bool schedule_keep(const char *folder, const Schedule *schedule, const char *key,
                   const Strings *argv, const Str *picture, Err *err);
/* The run, a column for each thread: what happened in which order. At most `most`
 * lines; the middle of a longer one is left out. */
void schedule_draw(const Scheduler *s, const ScheduleRun *run, size_t most, Str *out);
#endif
