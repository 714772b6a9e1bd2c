/* What the files of the explorer share: see explore.h. */
#ifndef SUNDEW_EXPLORE_INT_H
#define SUNDEW_EXPLORE_INT_H
#include "base/map.h"
#include "engine/explore/explore.h"
#include "engine/explore/mutate.h"
#include "engine/explore/queue.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct Bug {
    ExploreFailure f;
    uint8_t *bytes;              /* the first input that showed it */
    size_t n;
    FrontJudge by;               /* who says so */
    bool studied;                /* its condition was looked for */
    bool busy;                   /* a job is at work on it: nobody else touches it */
    bool again;                  /* the strict judge, who came later, has seen it */
    bool gone;                   /* … and calls it the same as another */
} Bug;

enum { SHAPES = 34 };

/* Something that the program compares its input with. */
enum { LONGEST_KEYWORD = 64 };
typedef struct Keyword {
    uint8_t n, bytes[LONGEST_KEYWORD];
} Keyword;

/* An input that is to be run, in its state. */
typedef struct Config {
    FrontInput input;
    uint32_t parent;             /* entry; UINT32_MAX: none */
    uint32_t depth;              /* inputs before it */
    Origin origin;
} Config;

/* Inputs with as many before them. */
typedef struct Level {
    Vec(Config) todo;
    size_t next;                 /* from here on */
    size_t held;                 /* … and so many in the hands of jobs */
    ExploreLevel figures;
} Level;

/* One exploration. What stands below the lock belongs to who holds it. */
typedef struct Explorer {
    const ExplorePlan *plan;
    const ExploreFront *front;
    FrontHost host;
    FrontFacts facts;
    const char *folder;                        /* for the user's command; NULL: there is none */
    int lock_fd;                               /* the output folder is ours */
    char *queue_dir, *failures_dir;
    size_t reachable, longest;
    double begun;                              /* seconds */
    _Atomic uint64_t shortened;                /* runs that made inputs shorter, of all jobs */
    atomic_bool stop, stopping;                /* stopping: somebody has said why */
    double stopped;                            /* when; set before `stop` */
    const char *ended;                         /* why; likewise */
    bool steady; /* see explore.h */
    _Atomic double work; /* … seconds that the work so far would usually take */
    bool watched; /* jobs are at work, and somebody looks at the time */
    atomic_bool traces; /* runs can be traced */
    atomic_bool strict; /* there is a strict judge */
    pthread_t caller; /* who may be told notes */

    pthread_mutex_t note_lock;
    Strings notes; /* of other threads, until the caller tells them */
    Strings left_over; /* paths, see ExploreResult */

    pthread_mutex_t lock;
    double timeout; /* of a fast run */
    double start; /* what the first run took */
    bool never_ends; /* … it did not end */
    Queue *queue;
    Vec(Keyword) words; /* the dictionary */
    Map known_words;
    Vec(Bug *) bugs;
    size_t gone; /* of these */
    size_t unjudged; /* entries before it were seen by the strict judge */
    bool shapes[SHAPES][SHAPES]; /* of inputs that were run: see stage.c */
    Map bad_paths; /* paths of runs that died, judged */
    uint64_t executions, granted; /* inputs tried; … and those that jobs may still try */
    unsigned spent; /* jobs that may try no more */
    uint64_t ntraces, solved_new;
    uint64_t idle;             /* traces since the last question to a solver */
    uint64_t nfollowed,
        ndepending; /* traces of inputs with bytes; branches in them that depend on one */
    uint64_t checked, diverged, checked_precise, diverged_precise;
    Map imprecise; /* text -> ExploreImprecise * */
    Arena arena;
    double last_new; /* when, by explorer_age() */
    size_t unsaved; /* files that could not be written */
    size_t once; /* runs that died, and never did again */
    size_t hangs, late_judged; /* runs that took too long: real; looked at */
    /* of systematic.c */
    Vec(Level) levels;
    Map visited; /* states with inputs that were to be run */
    Map turns; /* ways in states that were gone or asked for */
    Map pins; /* ways up to an address ─▶ Pinned */
    unsigned busy; /* jobs at work on one */
    size_t held; /* inputs that jobs keep for themselves */
} Explorer;

typedef struct Tracer Tracer;

/* An input of somebody's; borrowed. */
typedef struct Input {
    uint32_t state;
    const uint8_t *bytes;
    size_t n;
    uint32_t parent; /* entry that it was made from; UINT32_MAX: none */
} Input;

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
    void *worker; /* the front end's */
    uint32_t state; /* that was restored last */
    Mutator *mutator;
    Tracer *tracer; /* NULL: no concolic stage, or not yet */
    SolverStats solver; /* under the lock */
    uint64_t untold; /* inputs that are not in x->executions yet */
    uint64_t tried, shortened; /* inputs; runs that made inputs shorter */
    uint64_t granted; /* inputs that it may try without asking */
    bool spent; /* it asked, and got none */
    double mutating, tracing; /* seconds spent */
    double sampling; /* … on the judge, with inputs that are not new */
    Vec(Waiting) waiting; /* of these, until there is time */
    uint32_t waited; /* how many there were */
    double synced;
    size_t nwords; /* of x->words that it has */
    Map imported; /* files of others it has read */
    Vec(Config) held; /* inputs of the state that it is at; under the lock */
    size_t next_held;
    Err err; /* why it ended early */
} Job;

/* ---- explore.c */
bool job_over(Job *j);
bool job_done(Job *j); /* it is, or this job may try no more inputs */
void explorer_stop(Explorer *x, const char *why);
/* Seconds since the search began. All choices go by this, and not by the clock. */
double explorer_age(const Explorer *x);
/* Work was done that usually takes so long. */
void explorer_worked(Explorer *x, double seconds);
/* May it try one more input? Takes the lock now and then. */
bool job_may_try(Job *j);
/* Before the jobs run nobody watches; who reads many files asks this now and then. */
void explorer_look(Explorer *x);
FrontLimits explorer_limits(Explorer *x); /* takes the lock */
/* Adds to the dictionary; takes the lock. */
void explorer_word(Explorer *x, const void *bytes, size_t n);
/* A folder of the output, made if it is not there. False: a link, which --resume would empty. */
bool explorer_own_folder(const char *folder, Err *err);
/* A file of the output folder could not be written: said once. Under the lock. */
void explorer_unsaved(Explorer *x, const char *path, int error);
/* From any thread; the caller of explore() hears it soon. */
void explorer_note(Explorer *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next runs of this job begin in this state. */
bool job_restore(Job *j, uint32_t state);
/* Is it ready to trace? It gets ready as soon as that is possible. */
bool job_traces(Job *j);

/* ---- stage.c: inputs through quick runs */
/* Runs what was added to the worker's batch. */
bool stage_run(Job *j, bool apart, FrontBatch *out);
/* The runs of this batch were of inputs that are tried for the first time. */
void stage_tried(Job *j, const FrontBatch *batch);
/* One input by itself; *entry (may be NULL) gets it if it was new. */
bool stage_try(Job *j, const uint8_t *bytes, size_t n, Origin origin, uint32_t parent,
               Entry **entry);
/* An input that was just run and had news, or died. */
bool stage_keep(Job *j, const FrontRun *run, Origin origin, uint32_t parent, Entry **entry);
/* Mutates one input of the queue. */
bool stage_mutate(Job *j);

/* ---- corpus.c: files */
bool corpus_seeds(Job *j, Err *err);
void corpus_save(Explorer *x, const Entry *e);
bool corpus_sync(Job *j);

/* ---- failures.c */
enum { FAILURES_REPEATS = 20 }; /* how often an input runs again that does not always fail */
/* Has it judged; `died`: it died in a quick run; `late`: it took too long; `signal`: of FrontRun.
 * False: it is no failure, so it may be looked at like any other input. */
bool failures_judge(Job *j, const Input *in, bool died, bool late, int signal);
/* The first run, which may take `most` seconds: x->start. */
void failures_at_start(Job *j, double most);
/* A failure of an earlier exploration, and what it was made smaller to or NULL: does it fail still? */
bool failures_again(Job *j, const Str *input, const Str *small);
/* An input that is not kept, but went another way than any before, or is the solver's answer:
 * it is judged too, later, because that gets no more than a tenth of the time. Of many
 * only some wait. */
void failures_sample(Job *j, const Input *in);
void failures_samples(Job *j); /* as many of them as there is time for */
/* Some of the inputs and failures that are older than the strict judge. */
void failures_later(Job *j);
/* Does it fail so that `f` is the same? */
bool failures_alike(Job *j, FrontJudge by, const Input *in, const Failure *f);
/* The condition of a failure that has none yet. */
void failures_study(Job *j);
void failures_finish(Explorer *x, ExploreResult *out);
void failures_close(Job *j);

/* ---- trace.c: the concolic stage */
Tracer *tracer_new(Job *j);
void tracer_free(Tracer *t);
bool tracer_wanted(Job *j);
bool tracer_step(Job *j);
/* Runs the input and reads what it said; trail.path NULL: it could not be read. False: no more
 * runs are possible. */
bool tracer_run(Job *j, const Input *in, FrontTrace *out);
/* What of the input matters for this failure, readable; the caller frees it. NULL: not known. */
char *tracer_condition(Job *j, FrontJudge by, const Input *in, const Failure *f);

/* ---- systematic.c */
/* Runs a seed. */
bool systematic_try(Job *j, const uint8_t *bytes, size_t n, Origin origin);
/* Without seeds: what the front end begins with, or zeros. */
bool systematic_begin(Job *j);
/* One input, or a short wait for other jobs. */
bool systematic_step(Job *j);
void systematic_close(Job *j);
void systematic_finish(Explorer *x, ExploreResult *out);
/* lcov.c: the branches that were reached, for LCOV's viewers. */
bool lcov_write(const Explorer *x, const char *path, Err *err);
#endif
