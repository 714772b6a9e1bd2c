/*
 * events - sequences of events that reach every branch a program with a loop can
 * reach with at most so many events.
 *
 *     EventsPlan plan = { .program = p, .loop = fn, .depth = 6, .prune = PRUNE_ALL, … };
 *     EventsResult r = {0};
 *     if (!events_search(&plan, &r, err)) …
 *     for (size_t i = 0; i < r.nfailures; i++) tell(&r.failures[i]);
 *     events_result_release(&r);
 *
 * A program that waits for an event, handles it and waits again has a state
 * between two events. The search goes level by level: from each state of a level
 * it finds all paths of one event (concolic execution; only the last event's conditions are
 * turned), and each path is a *trace* of the next level. Traces that can't lead
 * anywhere new are pruned:
 *
 *     read-only      the event changed nothing: its prefix was extended already
 *     state hash     the state is one that was extended already
 *     independent    the last two events commute, and their other order was kept
 *
 * What counts as a change is up to four more rules. A store of the value that was
 * there is none (silent). Neither is a store to a location that no event ever
 * read (never-read: found out by watching, and given up when it turns out wrong), or that no
 * code reads (dead).
 *
 * Branches that are covered with pruning are those that are covered without, if: all
 * writes are seen, the program is deterministic, the solver answers, paths are precise.
 * The result says which of these premises held.
 */
#ifndef SUNDEW_ENGINE_EVENTS_H
#define SUNDEW_ENGINE_EVENTS_H
#include "base/err.h"
#include "base/mem.h"
#include "build/events.h"
#include "engine/explore/explore.h"
#include "program/program.h"
#include "run/failure.h"

/* ---- rules that prune */

enum {
    PRUNE_READ_ONLY = 1,
    PRUNE_SILENT = 2,
    PRUNE_NEVER_READ = 4,
    PRUNE_DEAD = 8,
    PRUNE_HASH = 16,
    PRUNE_INDEPENDENT = 32,
    PRUNE_ALL = 63,
    PRUNE_NOTHING = 0,               /* CLASSIC */
    PRUNE_RULES = 6,
};
/* "read-only", "silent", …; NULL: no more. */
const char *prune_name(unsigned index);

/* Why a trace was not extended. */
typedef enum {
    END_EXTENDED,
    END_READ_ONLY,
    END_HASH,
    END_INDEPENDENT,
    END_PROGRAM,                     /* the program ended, or failed */
    END_LOST,                        /* it went another way than before */
    END_REASONS,
} TraceEnd;
const char *trace_end_name(TraceEnd e);

typedef struct EventsPlan {
    const Program *program;
    const char *libexec, *share;
    const Function *loop;            /* one call is an event; NULL: the program waits */
    EventLayout layout;              /* without a loop: what an event is; borrowed */
    char *const *argv;               /* argv[0] included */
    char *const *readable;           /* folders below /tmp that must be visible; NULL */
    unsigned depth;                  /* events */
    unsigned prune;                  /* PRUNE_… */
    unsigned jobs;
    uint64_t seed;
    uint64_t executions;             /* at most; 0: any number */
    double time;                     /* seconds; 0: any */
    double timeout;                  /* CPU seconds of one run; 0: 5 */
    bool no_sanitizers;
    const char *kept;                /* a file for the search, so that it can go on; NULL: none */
    bool resume;                     /* go on with it */
    bool cross; /* bytes of earlier events stay symbolic: what is kept now and
                                      * tested later can be solved for */
    const Function *const *summarised; /* of EventsBuildPlan */
    char *const *ignore; /* objects that count as never read; NULL */
    bool (*interrupted)(void *arg); /* may be NULL */
    void (*note)(void *arg, const char *text);
    void (*status)(const ExploreStatus *s, void *arg);
    void *arg;
} EventsPlan;

typedef struct EventsLevel {
    uint64_t explored, extended;
    uint64_t ends[END_REASONS];
    uint64_t left; /* not run, for lack of time */
} EventsLevel;

/* A trace: an event after the trace `parent`. Trace 0 is the start. */
typedef struct EventsTrace {
    uint32_t parent;
    uint32_t depth; /* events */
    TraceEnd end;
    uint64_t hash; /* of the state behind it */
    const uint8_t *bytes; /* of all its events */
    size_t news; /* branches that were not covered before */
} EventsTrace;

typedef struct EventsFailure {
    Failure failure;
    uint8_t *bytes; /* all events */
    unsigned nevents;
    unsigned seen; /* traces that fail in this way */
    bool again; /* a second run failed in the same way */
} EventsFailure;

/* What the guarantee stands on. */
typedef struct EventsPremise {
    const char *name; /* "writes", "deterministic", … */
    bool held;
    const char *why; /* for people; "" if it held */
} EventsPremise;

typedef struct EventsResult {
    EventsLevel *levels; /* levels[0] is of one event */
    size_t nlevels;
    EventsTrace *traces;
    size_t ntraces;
    size_t covered, branches;
    uint8_t *edges; /* 1: covered; `branches` of them */
    EventsFailure *failures;
    size_t nfailures;
    EventsPremise *premises;
    size_t npremises;
    const char **ignored; /* locations that no event reads */
    size_t nignored;
    uint64_t executions, restarts;
    uint64_t handled; /* events that were run for that */
    const char *ended;
    const EventLayout *layout;
    EventsBuild build;
    SolverStats solver;
    double seconds;
    Arena arena;
} EventsResult;

bool events_search(const EventsPlan *plan, EventsResult *out, Err *err);
void events_result_release(EventsResult *r);
/* The events of a trace, one after the other; the caller frees them. */
uint8_t *events_of_trace(const EventsResult *r, uint32_t trace, unsigned *n);

/* Runs one sequence on the build that watches; `out` says how it ended. */
bool events_replay(const EventsPlan *plan, const uint8_t *bytes, unsigned nevents, Failure *out,
                   Err *err);
#endif
