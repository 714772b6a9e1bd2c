/*
 * explore - find inputs that reach new branches, and inputs that make a program
 * fail.
 *
 *     CFront *c = c_front_new(&(CPlan){ .program = p, … });
 *     ExplorePlan plan = { .front = &c_front, .subject = c, .out = "out", … };
 *     ExploreResult r = {0};
 *     if (!explore(&plan, &r, err)) …
 *     for (size_t i = 0; i < r.nfailures; i++) tell(&r.failures[i]);
 *     explore_result_release(&r);
 *
 * What is explored is known to a front end only (front.h); program/c_front.h is the
 * one for C programs.
 *
 * Two stages work on one queue of inputs (queue.h). Mutation makes thousands of
 * small random changes a second and keeps what goes somewhere new. The concolic stage takes an
 * input, follows it through the program, and asks a solver for inputs that
 * take the other way at branches whose other way nobody has gone. All that is
 * kept also runs on a build with sanitizers, which is the judge.
 *
 *     seeds ─▶ queue ─▶ mutation  ─▶ runs on the counting build ─▶ new? ─▶ queue
 *                └────▶ trace, solve ─▶ (same)                      └─▶ sanitizers ─▶ failures
 *
 * With `systematic` every input runs once, traced, and every condition that it passed
 * is turned, level by level, until nothing is left (systematic.c). Such an
 * exploration also goes from state to state.
 *
 * With `executions` and one job the search is steady: the same seed gives the same result. No
 * choice looks at the clock then; work is measured in runs, traces and questions.
 *
 * `out` gets queue/ (one file an input, as AFL++ and libFuzzer read them) and
 * failures/. docs/explore.md tells more.
 */
#ifndef SUNDEW_EXPLORE_H
#define SUNDEW_EXPLORE_H
#include "base/mem.h"
#include "engine/explore/front.h"
#include "run/failure.h"
#include "solve/solve.h"

typedef enum { STOP_NEVER, STOP_FIRST_FAILURE, STOP_COVERAGE } ExploreStop;

typedef struct ExploreStatus {
    double seconds;
    uint64_t executions, paths;
    uint64_t shortened;          /* runs beside these that made new inputs shorter */
    size_t covered, reachable;   /* branches: edges */
    size_t queue, failures, hangs;
    double last_new;             /* seconds since a new branch */
    uint64_t traces;             /* concolic runs */
    uint64_t solved_new;         /* inputs of the solver that were new */
    SolverStats solver;
    uint64_t checked, diverged;  /* predictions tested, and of them wrong */
    uint64_t diverged_precise;   /* … though nothing imprecise was noted */
    uint64_t checked_precise;
} ExploreStatus;

typedef struct ExplorePlan {
    const ExploreFront *front;
    void *subject;               /* the front end's */
    const char *out;             /* a folder; made */
    char *const *seeds;          /* files and folders, NULL-terminated; NULL: none */
    char *const *sync;           /* folders of others who look at the same program */
    bool resume;                 /* go on with what is in `out` */
    const char *lcov;            /* file for the branches that were reached; NULL: none */
    bool replay;                 /* only run the seeds, and say which fail */
    uint64_t seed;
    unsigned jobs;               /* 0: one */
    double time;                 /* seconds; 0: until interrupted */
    uint64_t executions;         /* inputs that are tried, at most; 0: any number */
    double timeout;              /* of one run, in seconds; 0: from the seeds */
    size_t longest;              /* input; 0: 1 MiB */
    ExploreStop stop;
    char *const *oracle; /* command that judges an input, whose file's name is added; NULL */
    bool no_mutation, no_concolic;
    bool systematic; /* every input once, every condition turned, in all states */
    unsigned depth; /* … so many inputs after one another; 0: any number */
    /* Called in the thread of the caller, some times a second. May be NULL. */
    bool (*interrupted)(void *arg);
    bool (*time_is_over)(void *arg); /* … because the time is over, not by a person */
    void (*status)(const ExploreStatus *s, void *arg);
    void (*note)(void *arg, const char *text);
    void *arg;
} ExplorePlan;

typedef struct ExploreFailure {
    Failure failure;
    uint32_t state; /* in which the input was run */
    char *file, *small_file; /* in `out`; small_file NULL: not made smaller */
    uint8_t *small; /* the smaller input, else the input itself */
    size_t nsmall;
    char *condition; /* on the input, readable; "" if not known */
    unsigned seen; /* inputs that failed alike */
    double when;
    bool by_command; /* the user's command says so */
    bool hang;
    double limit; /* seconds of a run then */
    unsigned runs, failed; /* the input was run so often, and failed so; fewer: it is flaky */
    bool ours_only; /* the program as the user built it does not fail */
} ExploreFailure;

/* Something that makes predictions unsure. */
typedef struct ExploreImprecise {
    const char *why, *name; /* "external", "qsort" */
    const char *file;
    unsigned line;
    uint64_t count;
    uint64_t diverged; /* predictions that were wrong, and this was the last before them */
} ExploreImprecise;

/* Of a systematic exploration: inputs with as many before them. */
typedef struct ExploreLevel {
    uint64_t explored; /* went a way that is new in their state */
    uint64_t repeated; /* went a known way */
    uint64_t extended; /* of the explored: something followed */
    uint64_t left; /* not run, for lack of time */
} ExploreLevel;

typedef struct ExploreResult {
    ExploreStatus status;
    ExploreLevel *levels;
    size_t nlevels;
    ExploreFailure *failures;
    size_t nfailures;
    ExploreImprecise *imprecise;
    size_t nimprecise;
    bool stopped; /* before its time, by the user */
    bool untouched; /* no branch depends on the input */
    const char *ended; /* "time", "interrupted", "first failure" … */
    size_t unsaved; /* files that could not be written */
    const char *const *unjudged; /* files of earlier failures that no time was left for */
    size_t nunjudged;
    Arena arena;
} ExploreResult;

bool explore(const ExplorePlan *plan, ExploreResult *out, Err *err);
void explore_result_release(ExploreResult *r);
#endif
