/*
 * exec - execute sequences on a library, thousands a second, each in a child
 * process of its own.
 *
 *     ExecPlan plan = { .api = api, .library = "libx.so", .libexec = … };
 *     Exec *e = exec_open(&plan, err);
 *     ExecJob jobs[2] = { { .seq = s }, { .seq = t } };
 *     Outcome out[2];
 *     if (!exec_run(e, &a, jobs, 2, out, err)) …        it could not be done
 *     if (out[0].state == OUTCOME_DONE) use out[0].obs
 *     exec_close(e);
 *
 * The library is loaded once, by sundew-play in a sandbox (run/run.h); jobs go
 * there in batches. Jobs that follow one another and begin with the same
 * `prefix` steps execute these once and fork from there.
 *
 * What a job does is an Outcome, whatever it is. How exactly something died
 * (failure.h) costs more to find out: exec_failure().
 */
#ifndef SUNDEW_SEQ_EXEC_H
#define SUNDEW_SEQ_EXEC_H
#include "base/err.h"
#include "engine/sequence/sequence.h"
#include "run/failure.h"

typedef struct Exec Exec;

typedef struct ExecPlan {
    const Api *api;
    const char *library;         /* a shared library with the API's functions */
    const char *libexec;         /* where sundew-play is */
    const char *preload;         /* a library to load first (ASan's); or NULL */
    bool fill_freed;             /* with that: freed memory is filled, so that code without
                                  * probes stumbles, too */
    bool fixed_addresses;        /* no ASLR */
    char *const *env;            /* more variables; NULL: none */
    const SeqFile *files;       /* what calls may find in their folder */
    size_t nfiles;
    const char *writable;        /* a folder that jobs may write to; or NULL */
    bool writes;                 /* also look at standard output, and at the files that are there
                                  * at the end; jobs share no prefix then */
    unsigned cpu_ms, wall_ms;    /* limits of a job; 0: 300 and 5000 */
    bool (*stop)(void *arg);     /* asked ten times a second: is all to end? Jobs without an
                                  * outcome are OUTCOME_NOT_RUN then; NULL: never */
    void *stop_arg;
} ExecPlan;

Exec *exec_open(const ExecPlan *plan, Err *err);
void exec_close(Exec *e);                        /* NULL is fine */
const char *exec_missing(const Exec *e);         /* of the sandbox, see run.h; or NULL */
size_t exec_npoints(const Exec *e);              /* of coverage */
size_t exec_nreached(const Exec *e);             /* blocks with mutants */

typedef struct ExecJob {
    const Seq *seq;
    unsigned prefix;             /* steps that it shares with its neighbours … */
    unsigned group;              /* … of the same group; 0: shares nothing */
    unsigned mutant;
    unsigned fill;               /* a byte for fresh and freed memory */
    int64_t clock;               /* seconds that the clock is ahead */
    bool twice;                  /* also look for leaks */
    bool reached;                /* `fresh` are blocks with mutants */
    bool all;                    /* `fresh` also has what is known */
} ExecJob;

typedef enum {
    OUTCOME_NOT_RUN,
    OUTCOME_DONE,
    OUTCOME_DIED,
    OUTCOME_TIMEOUT,
    OUTCOME_PREFIX,              /* the prefix did not get through */
    OUTCOME_EXITED,              /* the library ended the process, or a sanitizer */
} OutcomeState;

/* Places beside results and parameters. */
enum {
    OBSERVED_ERRNO = -3,
    OBSERVED_CALLBACKS = -4,
    OBSERVED_STDOUT = -5,        /* bytes; with ExecPlan.writes */
    OBSERVED_FILES = -6,         /* of the last step: "name size sum" of each file */
    OBSERVED_FIELD = 64,         /* from here on: see observed_field() */
    OBSERVED_FIELDS = 64,        /* of a struct, at most */
    OBSERVED_BEHIND = 4096,      /* + step: bytes that a field was set to lead to */
};

/* Field `i` of the struct in a parameter's place, which the call has changed. */
static inline int observed_field(int place, unsigned i)
{
    return OBSERVED_FIELD + place * OBSERVED_FIELDS + (int)i;
}

/* The struct of the caller's that a call may change in a parameter's place; NULL: none. Of several
 * (records) number OBSERVED_PART * i + k is field k of the i-th, else it is the field's. */
const Type *observed_struct(const ApiPlace *p);
enum { OBSERVED_PART = 16 };
static inline unsigned observed_element(const ApiPlace *p, unsigned number)
{
    return p->role == ROLE_RECORD ? number / OBSERVED_PART : 0;
}
static inline unsigned observed_number(const ApiPlace *p, unsigned number)
{
    return p->role == ROLE_RECORD ? number % OBSERVED_PART : number;
}

typedef enum {
    OBSERVED_INTEGER,
    OBSERVED_FLOAT,
    OBSERVED_NULL,
    OBSERVED_STRING,
    OBSERVED_BYTES,
    OBSERVED_HANDLE,
    OBSERVED_SAME,
    OBSERVED_UNREADABLE,
    OBSERVED_LONG,
    OBSERVED_ERRNO_IS,
    OBSERVED_CALLBACKS_ARE,
} ObservedKind;

/* What came out of one place of one step. */
typedef struct Observation {
    unsigned step;
    int place;                   /* API_RETURNED, a parameter, OBSERVED_… */
    ObservedKind kind;
    uint64_t integer;            /* also errno, calls of callbacks */
    double real;
    const uint8_t *bytes;
    size_t n;
    unsigned same_step;          /* same: as what came out there */
    int same_place;
} Observation;

typedef struct Outcome {
    OutcomeState state;
    int signal;                  /* died */
    int status;                  /* exited */
    unsigned at;                 /* the last step that was begun */
    int64_t leaked;              /* bytes: with `twice`, or ExecThreads.leaks */
    const uint32_t *fresh;       /* points not known before; at most 24000 */
    size_t nfresh;
    const Observation *obs;
    size_t nobs;
    bool cut;                    /* more was seen than is kept */
} Outcome;

bool exec_run(Exec *e, Arena *a, const ExecJob *jobs, size_t n, Outcome *out, Err *err);
/* Another limit of a job, in place of the plan's. */
void exec_limit_cpu(Exec *e, unsigned ms);
/* These points are known from now on. */
void exec_know(Exec *e, const uint32_t *points, size_t n);
void exec_forget(Exec *e, const uint32_t *points, size_t n);
bool exec_knows(const Exec *e, uint32_t point);
/* Executes it once more, alone and watched. */
bool exec_failure(Exec *e, const ExecJob *job, Failure *out, Err *err);

/*
 * A test with threads, for who runs the player by itself (engine/schedule/): the
 * request goes into the memory that exec_shared() names, the player runs with it as
 * number exec_shared_as(), and the answers are read.
 *
 * The sequences of the threads and the epilogue begin with the same `prefix` steps.
 */
typedef enum {
    EXEC_AT_ONCE,                /* threads that are scheduled */
    EXEC_ONE_THREAD,             /* serial: all in one thread */
    EXEC_OWN_THREADS,            /* serial: each in its own thread */
    EXEC_NATIVE,                 /* threads that begin together and are not scheduled */
} ExecMode;
enum { EXEC_MOST_THREADS = 2 };

typedef struct ExecThreads {
    ExecMode mode;
    const uint8_t *order;        /* serial: the thread of each call … */
    size_t norder;               /* … which may be fewer than there are */
    unsigned prefix;
    const Seq *threads[EXEC_MOST_THREADS];
    const Seq *epilogue;         /* NULL: none */
    bool leaks;                  /* look for memory that nothing leads to at the end … */
    bool gives_back;             /* … and the epilogue ends all that the prefix has made */
} ExecThreads;
bool exec_put_threads(Exec *e, const ExecThreads *t, Err *err);
/* What the prefix and the epilogue gave, and each thread. */
void exec_take_threads(Exec *e, Arena *a, const ExecThreads *t, Outcome *around,
                       Outcome threads[EXEC_MOST_THREADS]);
int exec_shared(const Exec *e);
int exec_shared_as(void);
const char *exec_player(const Exec *e);          /* the program, … */
const char *exec_library(const Exec *e);         /* … its argument */

bool observation_equal(const Observation *a, const Observation *b);
/* The observation of a place; NULL: none. */
const Observation *outcome_at(const Outcome *o, unsigned step, int place);
/* Which handles came out as NULL, written into the steps. */
void outcome_note_nulls(const Outcome *o, Seq *s);
void observation_print(const Observation *o, Str *out);
#endif
