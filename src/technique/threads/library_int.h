/*
 * What the files of the library half share.
 *
 *     library.c          the main line: the API, the types, rounds of tests
 *     library_rounds.c   rounds of tests: on all cores, and again later
 *     library_roles.c    functions that wait, that set the library up; lock and unlock, ref and unref
 *     library_example.c  what an example does with the library
 *     library_tests.c    tests are made: a prefix, calls for two threads, an epilogue
 *     library_oracle.c   runs, serial orders, what no serial order explains
 *     library_shrink.c   the smallest test and schedule that show it
 *     library_write.c    a violation as a C program
 *     library_keep.c     tests that are run again: --replay, and the next time
 *     library_report.c   findings, JSON, summary
 */
#ifndef SUNDEW_THREADS_LIBRARY_INT_H
#define SUNDEW_THREADS_LIBRARY_INT_H
#include "analysis/effects/effects.h"
#include "base/map.h"
#include "engine/generate/grow.h"
#include "engine/play/exec.h"
#include "technique/threads/threads_int.h"

enum { TEST_MOST_CALLS = 2, TEST_MOST_MERGES = 6, TEST_MOST_SERIAL = 2 * TEST_MOST_MERGES };
enum { NATIVE_REPLAYS = 30 };
enum { UNIT_TESTS = 8, LIB_CPU_MS = 1000 };             /* of a run */

typedef enum {
    CONTRACT_SHARED,             /* one handle, or the library itself; several threads */
    CONTRACT_DISTINCT,           /* each thread has handles of its own */
    CONTRACT_CONST,              /* one handle, and only functions that look at it */
    NCONTRACTS,
} Contract;
const char *contract_name(Contract c);

/* The calls use what the prefix has made, nothing else, so their order is free. */
typedef struct Test {
    const ApiType *type;         /* NULL: functions without a handle */
    Contract contract;
    Seq *prefix;
    SeqStep calls[2][TEST_MOST_CALLS];
    unsigned ncalls[2];
    Seq *epilogue;               /* the prefix and what comes at the end */
    bool native;                 /* not scheduled: the threads begin together */
} Test;

/* How a run of a test ended. */
typedef enum {
    END_WELL,
    END_UNCLEAR,                 /* a limit of ours, another way than the schedule's */
    END_FAILURE,                 /* crash, sanitizer, abort, assertion, stack overflow */
    END_EXIT,                    /* the process was ended by the library */
    END_STUCK,                   /* nobody can run */
} EndKind;

typedef struct End {
    EndKind kind;
    Failure failure;
    unsigned done[2];            /* calls of each thread that returned */
    Outcome around, threads[2];  /* what came out */
} End;

/* One serial order and what it gave. */
typedef struct Serial {
    ExecMode mode;
    uint8_t order[2 * TEST_MOST_CALLS];
    unsigned n;
    End end;
} Serial;

typedef struct Serials {
    bool known;
    Serial rows[TEST_MOST_SERIAL];
    unsigned n;
    bool ran;                    /* at once, well; and it left … */
    int64_t left;                /* … so many bytes the first time */
} Serials;

typedef enum {
    VIOLATION_FAILURE,
    VIOLATION_EXIT,
    VIOLATION_DEADLOCK,
    VIOLATION_LEAK,
    VIOLATION_ERROR,             /* tier 2: an error that no serial order gives */
    VIOLATION_OUTPUT,            /* tier 3 */
    NVIOLATIONS,
} ViolationKind;

/* A thread runs until it is over or waits, or until its turn is taken. */
typedef struct Turn {
    uint8_t thread;              /* 0 or 1 */
    bool cut;
} Turn;
enum { MOST_TURNS = 16 };

typedef struct Violation {
    ViolationKind kind;
    Test test;                   /* in the arena of the library */
    Failure failure;
    uint32_t sites[2];           /* deadlock: where they wait; else where the turn was
                                  * taken first, and what ran then */
    unsigned nsites;
    struct sundew_side stopped, ran;             /* these, with the locks that were held */
    struct sundew_wait waits[3];
    const ApiFunction *function; /* tier 2 and 3: whose result it is */
    char *text;                  /* what it gave, or how much leaked; NULL */
    Schedule schedule;
    unsigned preemptions;
    Turn turns[MOST_TURNS];      /* of the run that is told */
    unsigned nturns;
    size_t seen, test_number;
    double seconds;              /* from the begin to the first time */
    unsigned again, tries;
    Str picture, serial_table;
    unsigned nserial;
    bool serial_well;            /* all of them end well */
    char *folder;                /* NULL: a new one */
} Violation;

/* A handle type under test. */
typedef struct Subject {
    const ApiType *type;         /* NULL: the library */
    const char *name;
    Vec(const ApiFunction *) functions;  /* that may stand in a thread */
    Vec(unsigned) pairs;         /* by i * n + j, i <= j: tests of two functions */
    Vec(unsigned) conflicts;     /* likewise: tests in which they touched the same memory */
    Vec(bool) may_meet;          /* by i * n + j: may one write what the other touches? … */
    double *hidden;              /* of each function: how near it is to variables in which it may
                                  * meet another one without a common handle, by their numbers */
    size_t tests, runs, inconclusive, rejected;
    size_t turns;                /* units of the search that were about it */
    size_t of_contract[NCONTRACTS];      /* of the tests */
    const char *why_not;         /* it can't be tested; NULL */
} Subject;

/* Two functions of which the second undoes the first, with the handle in one place. */
typedef struct Balanced {
    const ApiFunction *first, *second;
    unsigned place;
} Balanced;

typedef struct Dropped {
    const ApiFunction *function;
    const char *why;
} Dropped;

/* A test of a unit that showed something. */
typedef struct Hit {
    size_t test;                 /* its number in the unit */
    double seconds;
    bool native;
    Schedule schedule;
} Hit;

typedef struct Piece Piece;      /* a unit of the search: library_rounds.c */

typedef struct Lib {
    Session *s;
    const Program *program;
    Api *api;
    Pool *pool;
    Ownership *ownership;
    GrowPlan grow;
    Usage *usage;                /* of the example; NULL */
    const SeqFile *files;        /* of the example: calls may ask for them */
    size_t nfiles;
    bool *waits, *gives_up;      /* by the number of a function */
    bool *sets_up;               /* likewise: all it can change is the library */
    bool *denied;                /* likewise: its comment says that threads may not call it */
    Effects *effects;            /* what each function reads and writes */
    double *tests_of_variable;   /* by its number there: tests whose calls may meet in it; the
                                  * farther it is away, the less a test counts */
    ScheduleBuild build;
    char *preload;
    char *argv[3];               /* of the player */
    Exec *exec;
    Exec *moved;                 /* the same at other addresses, to compare */
    Scheduler *quick, *watched;  /* without and with names in reports */
    Arena arena;
    Rng rng;
    char *out;                   /* -o */
    bool outputs;                /* tier 3 too */
    bool contracts[NCONTRACTS];
    bool promised;               /* the header speaks of thread safety … */
    bool library_promised;       /* … perhaps not of one handle in several threads */
    double begun;
    double told_from;            /* seconds from the begin: when the search had ended */
    double shrink_until;         /* likewise */
    Vec(Subject) subjects;
    Vec(Violation) found;
    Vec(Dropped) dropped;
    RacesSeen races;
    json_t *violations;          /* as told */
    size_t most;                 /* --tests; 0: not given */
    size_t tests, runs, serial_runs;
    bool exhausted;              /* no other test could be made */
    Map tried;                   /* tests that were made, with the runs that each got */
    size_t most_runs;            /* of a test of the unit */
    Piece *unit;                 /* that is run; NULL: none. What it finds out is … */
    Map new_tried, new_disturbed, new_met;       /* … here … */
    Vec(Hit) hits;               /* … and here */
    bool replays;                /* nothing is written */
    const char *again;           /* the folder of the kept test that is run; NULL */
    size_t shown;                /* tests that showed a violation */
    size_t kept, kept_shown;     /* tests of an earlier run; those that still show it */
    Map met;                     /* "SUBJECT SITE SITE": the second came next to the same
                                  * memory or lock, from the other thread */
    Map disturbed;               /* by the numbers of three functions: see library_tests.c */
} Lib;

/* library.c */
Subject *lib_subject(Lib *l, const ApiType *type);       /* NULL: it is not tested */
bool whole_library(Session *s, Err *err);
bool lib_open_player(Lib *l, Err *err);  /* what runs tests: exec, moved, quick, watched */
void lib_close_player(Lib *l);
/* A violation is noted, or merged with an old one; `v` is taken. */
void lib_note_violation(Lib *l, const Test *t, Violation *v, const Schedule *schedule);
void lib_note_race(Lib *l, const struct sundew_race *r, size_t seen);
bool lib_is_over(void *lib);
double lib_seconds(const Lib *l);
void lib_drop(Lib *l, const ApiFunction *f, const char *why);
bool lib_is_dropped(const Lib *l, const ApiFunction *f);

/* library_rounds.c */
bool lib_search(Lib *l, Err *err);

/* library_roles.c */
void lib_find_waiters(Lib *l);
bool lib_waits(const Lib *l, const ApiFunction *f);
/* What comments say of single functions. */
void lib_read_comments(Lib *l);
/* All it can change is the library: it has no handle, and gives nothing that is made of
 * what it is given. */
void lib_find_setups(Lib *l);
bool lib_sets_up(const Lib *l, const ApiFunction *f);
bool lib_is_denied(const Lib *l, const Test *t);
/* A comment's text in small letters, and as one line. */
void lib_flatten(const char *text, size_t n, Str *out);
bool lib_gives_up(const Lib *l, const ApiFunction *f);
/* False: it has no partner. */
bool lib_partner(const Lib *l, const ApiFunction *f, const ApiType *t, Balanced *out);

/* library_example.c */
bool lib_learn_example(Lib *l, Err *err);
void lib_use_example(Lib *l);
Seq *lib_example_prefix(Lib *l, Arena *a, const ApiType *type, unsigned most);

/* library_tests.c: some tests that were not made before; all in the arena. Which ones
 * depends on the random numbers and on what is known so far. */
typedef Vec(Test) Tests;
bool lib_tests_make(Lib *l, Subject *t, Arena *a, Tests *out, Err *err);
/* What only seems to end a handle is learned by trying. */
bool lib_learn_destroyers(Lib *l, const ApiType *t, Err *err);
/* Leaves out functions that wait for ever, or end the process, when they are called alone. */
bool lib_try_alone(Lib *l, const Subject *t, Err *err);
/* Sets the contract. False: something that is not under test is shared and changed. */
bool lib_classify(const Lib *l, Test *t);
Seq *lib_test_thread(Arena *a, const Test *t, unsigned thread);
Seq *lib_test_close(Lib *l, Arena *a, const Seq *prefix);
Test lib_test_copy(Arena *a, const Test *t);
void lib_test_print(const Test *t, Str *out);

bool lib_open(Lib *l, Session *s, Err *err);     /* the session's library */
void lib_close(Lib *l);
/* Runs one test under many schedules. */
bool lib_test_run(Lib *l, Subject *t, Arena *a, const Test *test, size_t number, size_t most,
                  Err *err);

/* library_keep.c */
bool keep_write(Lib *l, const Violation *v, Err *err);
/* Tests that earlier runs have kept in l->out, once more. */
bool keep_run_all(Lib *l, Err *err);
bool keep_is_library(const char *folder);        /* is there a test of a library? */
bool keep_replay(Session *s, const char *folder, Err *err);

/* library_oracle.c */
/* Runs the test under one schedule; `steps` may be NULL. */
bool oracle_run(Lib *l, Scheduler *s, Arena *a, const Test *t, const Schedule *schedule,
                ScheduleRun *run, End *end, Err *err);
bool oracle_serial(Lib *l, Arena *a, const Test *t, Serials *out, Err *err);
/* For a search: the request of a test, and how a run of it ended. */
bool oracle_put(Lib *l, Arena *a, const Test *t, ExecThreads *x);
void oracle_take(Lib *l, Arena *a, const Test *t, const ExecThreads *x, const ScheduleRun *run,
                 End *end);
/* What is wrong with a run that no serial order explains; false: nothing. */
bool oracle_judge(Lib *l, Arena *a, const Test *t, Serials *serials, const ScheduleRun *run,
                  const End *end, Violation *out, Err *err);
/* Does the epilogue end all that the prefix has made? */
bool oracle_gives_back(const Lib *l, const Test *t);
/* Did the call at this step return an error? */
bool oracle_is_error(const SeqStep *st, const Outcome *o, unsigned step);
bool violation_same(const Violation *a, const Violation *b);
const char *violation_name(const Violation *v);
unsigned violation_tier(const Violation *v);
void violation_release(Violation *v);
void serials_release(Serials *s);
void end_release(End *e);

/* library_shrink.c */
bool lib_shrink(Lib *l, Violation *v, Err *err);
bool lib_tabulate(Lib *l, Violation *v, Err *err);       /* its serial orders */

/* library_write.c: nothing is added if it can't be shown so. */
bool lib_write(Lib *l, const Violation *v, const char *message, Str *out, Err *err);

/* library_report.c */
bool lib_report(Lib *l, Violation *v, Err *err);
bool lib_report_races(Lib *l, Err *err);
void lib_violations_json(Lib *l);
void lib_summary(Lib *l);
#endif
