/* What the files of the explorer share: see explore.h. */
#ifndef SUNDEW_EXPLORE_INT_H
#define SUNDEW_EXPLORE_INT_H
#include "base/map.h"
#include "build/builds.h"
#include "engine/explore/explore.h"
#include "engine/explore/fast.h"
#include "engine/explore/mutate.h"
#include "engine/explore/queue.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

typedef struct Bug {
    ExploreFailure f;
    uint8_t *bytes;              /* the first input that showed it */
    size_t n;
    uint32_t parent;
    bool plain;                  /* only the counting build fails */
    bool studied;                /* its condition was looked for */
} Bug;

/* Something that the program compares its input with. */
enum { LONGEST_KEYWORD = 64 };
typedef struct Keyword {
    uint8_t n, bytes[LONGEST_KEYWORD];
} Keyword;

/* One exploration. What stands below the lock belongs to who holds it. */
typedef struct Explorer {
    const ExplorePlan *plan;
    Edges *edges;
    char *coverage, *concolic, *sanitized;     /* builds; NULL: there is none */
    pid_t building;                            /* makes the concolic one meanwhile; 0 */
    char *building_err;                        /* the file in which it says why not */
    const char *folder;                        /* of the builds */
    char *queue_dir, *failures_dir;
    uint32_t counters;
    bool in_memory;                            /* a fuzz target */
    bool asks;                                 /* … for its input: behind it are zeros */
    size_t slots;                              /* bytes of the input that are in slots */
    bool snapshot;                             /* runs may share a process */
    size_t reachable, longest;
    double begun;                              /* seconds */
    atomic_bool stop;
    double stopped;                            /* when */
    bool watched;                              /* jobs are at work, and somebody looks at the time */
    const char *ended;

    pthread_mutex_t lock;
    double timeout;                            /* of a fast run */
    double start;                              /* what the first run took */
    Queue *queue;
    Vec(Keyword) words;                        /* the dictionary */
    Map known_words;
    Vec(Bug *) bugs;
    Map bad_paths;                             /* paths of runs that died, judged */
    uint64_t executions, traces, solved_new;
    uint64_t checked, diverged, checked_precise, diverged_precise;
    SolverStats solver;                        /* of jobs that are over */
    Map imprecise;                             /* text -> ExploreImprecise * */
    Arena arena;
    double last_new;
    size_t unsaved;                            /* files that could not be written */
    size_t hangs, late_judged;                 /* runs that took too long: real; looked at */
    bool left_processes;
} Explorer;

typedef struct Tracer Tracer;

/* An input that is not kept, but is to run on the judge. */
typedef struct Waiting {
    uint8_t *bytes;
    size_t n;
    uint32_t parent;
} Waiting;

/* One thread's share of it. */
typedef struct Job {
    Explorer *x;
    unsigned number;
    Rng rng;
    Fast *fast;
    Mutator *mutator;
    Subject *judge, *plain;                    /* sanitized; coverage, looked at closely */
    _Atomic(Tracer *) tracer;                  /* NULL: no concolic stage, or not yet */
    uint64_t told;                             /* runs that are in x->executions */
    double mutating, tracing;                  /* seconds spent */
    double sampling;                           /* … on the judge, with inputs that are not new */
    Vec(Waiting) waiting;                      /* of these, until there is time */
    uint32_t waited;                           /* how many there were */
    double synced;
    size_t nwords;                             /* of x->words that it has */
    Map imported;                              /* files of others it has read */
    Err err;                                   /* why it ended early */
} Job;

/* --- explore.c */
bool job_over(Job *j);
void explorer_stop(Explorer *x, const char *why);
/* For the runs of a job (RunPlan.stop): what is under way has a second to end by itself. */
bool job_cuts(void *job);
/* Before the jobs run nobody watches; who reads many files asks this now and then. */
void explorer_look(Explorer *x);
/* CPU seconds for a run of a build that is so many times slower than a fast one. */
double explorer_allows(const Explorer *x, double times, double least);
/* Adds to the dictionary; takes the lock. */
void explorer_word(Explorer *x, const void *bytes, size_t n);
/* A file of the output folder could not be written: said once. Under the lock. */
void explorer_unsaved(Explorer *x, const char *path, int error);
void explorer_note(Explorer *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- stage.c: inputs through the counting build */
/* Runs what is in the batch; keeps what is new, has looked at what died. False: no more runs are
 * possible. */
bool stage_flush(Job *j, Origin origin, uint32_t parent);
/* One input by itself; *entry (may be NULL) gets it if it was new. */
bool stage_try(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
               Entry **entry);
/* An input that was just run and had news, or died. */
bool stage_keep(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
                bool died, bool late, Entry **entry);
/* Mutates one input of the queue. */
bool stage_mutate(Job *j);

/* --- corpus.c: files */
bool corpus_seeds(Job *j, Err *err);
void corpus_save(Explorer *x, const Entry *e);
bool corpus_sync(Job *j);

/* --- failures.c */
bool failures_open(Job *j, Err *err);
void failures_limits(Job *j);                  /* x->timeout or x->start has changed */
/* Runs it on the judge; `died`: it died in the counting build, with this status. */
bool failures_judge(Job *j, const uint8_t *bytes, size_t n, uint32_t parent, bool died,
                    bool late);
/* A failure of an earlier exploration, and what it was made smaller to or NULL: does it fail still? */
bool failures_again(Job *j, const Str *input, const Str *small);
/* An input that is not kept, but went another way than any before, or is the solver's answer:
 * it runs on the judge too, later, because that gets no more than a tenth of the time. Of many
 * only some wait. */
void failures_sample(Job *j, const uint8_t *bytes, size_t n, uint32_t parent);
void failures_samples(Job *j);                 /* as many of them as there is time for */
/* One run on this build: does it fail? Then `out` (of {0}) says how. */
bool failures_run(Job *j, Subject *s, const uint8_t *bytes, size_t n, Failure *out);
/* The condition of a failure that has none yet. */
void failures_study(Job *j);
void failures_finish(Explorer *x, ExploreResult *out);
void failures_close(Job *j);

/* --- condition.c */
/* What of the input matters for this failure, readable; the caller frees it. NULL: not known. */
char *condition_of(Job *j, Subject *judge, const uint8_t *bytes, size_t n, const Failure *f);

/* --- trace.c: the concolic stage */
Tracer *tracer_new(Job *j, Err *err);
void tracer_free(Tracer *t);
void tracer_limits(Job *j);                    /* as failures_limits() */
bool tracer_wanted(Job *j);
bool tracer_step(Job *j);
SolverStats tracer_stats(const Tracer *t);
#endif
