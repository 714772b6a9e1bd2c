/*
 * front - what the search knows about the thing that it explores.
 *
 * The search (explore.h) owns the queue, the choice of inputs, the solver, the
 * list of failures and the files. A front end owns the subject: a C program in
 * three builds (program/c_front.h), a loop of events, a web application. A front
 * end is a struct of functions:
 *
 *     begin, finish          the subject as a whole, in the thread of the caller
 *     open, close            a worker: one thread's own way to run the subject
 *     restore                a state: every run begins in the one restored last
 *     add, run               execute quickly: many inputs, counted only
 *     trace                  execute one input and say which conditions it passed
 *     judge                  execute one input and say how it fails
 *     follow                 list what can follow an input, and in which state
 *
 * An input is a string of bytes that runs in a state. State 0 is the start. The
 * front end numbers the others; equal states have equal numbers, for all workers.
 * The conditions of a trace are expressions over the bytes of the input.
 *
 * A lock with three digits, explored with `systematic`, needs five functions:
 *
 *     static bool trace(void *w, Exprs *p, uint32_t in, const uint8_t *bytes,
 *                       size_t n, FrontTrace *out, Err *err)
 *     {
 *         for (uint32_t i = 0; i < 3; i++) {
 *             bool right = i < n && bytes[i] == digits[i];
 *             front_branch(out, p, expr_binary(p, EXPR_EQ, expr_byte(p, in + i),
 *                          expr_const(p, 8, digits[i])), 2 * i, right);
 *             if (!right)
 *                 break;
 *         }
 *         return true;
 *     }
 *     const ExploreFront lock_front = { .begin = begin, .open = open, .close = close,
 *                                       .trace = trace, .judge = judge };
 *     explore(&(ExplorePlan){ .front = &lock_front, .subject = &lock, … }, &r, err);
 *
 * tests/unit/test_front.c has it whole, and a machine with states.
 *
 * Functions that return bool fail only when no more runs are possible; then they
 * fill `err`, and the exploration ends. How the subject ends is never an error. A
 * worker belongs to one thread. Functions that are marked "may be NULL" may be.
 */
#ifndef SUNDEW_FRONT_H
#define SUNDEW_FRONT_H
#include "base/err.h"
#include "base/vec.h"
#include "engine/concolic/log.h"
#include "run/failure.h"

/* What the search offers. The functions may be called from any thread. */
typedef struct FrontHost {
    uint64_t seed;
    double time;                 /* seconds of the exploration; 0: no end */
    size_t longest;              /* input, in bytes */
    bool trace;                  /* runs will be traced */
    bool trace_first;            /* begin() returns when they can be */
    bool judge_first;            /* … when there is a strict judge, if there will be one */
    bool steady;                 /* nothing may depend on the clock: see explore.h */
    bool (*stop)(void *arg);     /* runs under way shall end now */
    bool (*over)(void *arg);     /* … the whole exploration; for the thread of the caller */
    /* Edges that inputs have reached, a byte each; from that thread too. */
    void (*covered)(void *arg, uint8_t *edges, size_t n);
    /* Traces tell more from now on, so inputs are worth another one. `reachable`: see
     * FrontFacts; 0: as before. */
    void (*anew)(void *arg, size_t reachable);
    void (*note)(void *arg, const char *text);
    /* The subject compares its input with this. */
    void (*word)(void *arg, const void *bytes, size_t n);
    void *arg;
} FrontHost;

/* What begin() tells. */
typedef struct FrontFacts {
    size_t counters;             /* of a run, one byte each */
    size_t branches;             /* the first so many of them are the subject's branches */
    size_t reachable;            /* of these; 0: all */
    size_t fixed;                /* bytes that are always there: shorter inputs end in zeros */
    bool zeros;                  /* behind every input are zeros */
    bool strict;                 /* judge() knows FRONT_STRICT; or see ExploreFront.strict */
    bool own;                    /* judge() knows FRONT_OWN */
    bool alone;                  /* quick runs share nothing with each other */
    bool by_state;               /* runs of one state, one after the other, cost less */
} FrontFacts;

/* How long runs may take, as far as it is known. */
typedef struct FrontLimits {
    double run;                  /* seconds of a quick run */
    double start;                /* … of the first run; 0: not known */
    double asked;                /* what the user asked for; 0: nothing */
    bool known;                  /* `run` was measured, and is no guess */
    bool quick_only;             /* other runs keep the limits they have */
} FrontLimits;

/* A quick run. */
typedef struct FrontRun {
    const uint8_t *bytes;        /* the input: the worker's, until the next add() */
    size_t n;
    uint64_t path;               /* names where it went */
    double micros;               /* CPU time; steady: a measure of its length */
    bool news;                   /* no run of this worker has counted so before */
    bool died, late;
    int signal;                  /* it died of; 0: not known */
} FrontRun;

typedef struct FrontBatch {
    const FrontRun *runs;
    size_t n;
    const uint8_t *counters;     /* of the last run, as bits: see runtime/server/batch.h */
} FrontBatch;

/* A run with its conditions. `trail` of {0} stays so if there is nothing to read. */
typedef struct FrontTrace {
    Trail trail;
    Trail numbers;               /* the same as of log_read_numbers(); {0}: there are none */
    const uint8_t *counters;     /* as of a batch; NULL: not counted */
    double micros;
    bool died;
} FrontTrace;

void front_trace_release(FrontTrace *t); /* {0} is fine */

/* May runs be traced? */
typedef enum { FRONT_TRACE_NEVER, FRONT_TRACE_LATER, FRONT_TRACE_NOW } FrontTraces;

/* Who judges: the front end with all that it can find (sanitizers, say); one that changes
 * nothing in the subject and sees what quick runs died of; or the subject as the user made it. */
typedef enum { FRONT_STRICT, FRONT_PLAIN, FRONT_OWN } FrontJudge;
typedef Vec(Failure) FrontFailures;

/* An input that can follow; the search frees its bytes. */
typedef struct FrontInput {
    uint32_t state;
    uint8_t *bytes;
    size_t n;
    uint32_t depth; /* at the beginning: inputs before it, in a search that goes on */
} FrontInput;
typedef Vec(FrontInput) FrontInputs;

typedef struct ExploreFront {
    bool (*begin)(void *subject, const FrontHost *host, FrontFacts *out, Err *err);
    /* Asked now and then while jobs are at work. May be NULL: always FRONT_TRACE_NOW. */
    FrontTraces (*traces)(void *subject);
    /* Does judge() know FRONT_STRICT by now? Asked as traces() is. May be NULL: as the facts say. */
    bool (*strict)(void *subject);
    /* The search is over, and no error ended it. May be NULL. */
    void (*finish)(void *subject);

    void *(*open)(void *subject, unsigned job, const FrontLimits *limits, Err *err);
    void (*close)(void *worker); /* NULL is fine */
    void (*limits)(void *worker, const FrontLimits *limits); /* may be NULL */
    /* Seconds of a first run, with an empty input, which may take `most`; 0: not known. `out`
     * gets how it failed to end. May be NULL. */
    double (*start)(void *worker, double most, FrontFailures *out);

    /* May be NULL: then there is one state only. */
    bool (*restore)(void *worker, uint32_t state, Err *err);

    /* Adds a copy of the input to the batch, which begins anew after a run. False: it is full.
     * NULL in front ends that are only explored systematically. */
    bool (*add)(void *worker, const uint8_t *bytes, size_t n);
    /* `apart`: nothing of an earlier run is left in the subject. An empty batch is fine. */
    bool (*run)(void *worker, bool apart, FrontBatch *out, Err *err);

    /* The input's bytes are in, in + 1, … of the pool. */
    bool (*trace)(void *worker, Exprs *pool, uint32_t in, const uint8_t *bytes, size_t n,
                  FrontTrace *out, Err *err);
    /* Adds how this input fails; nothing: it does not, or it could not be run. Often called
     * right after run() or trace() of the same input. */
    void (*judge)(void *worker, FrontJudge by, const uint8_t *bytes, size_t n, FrontFailures *out);
    /* May be NULL: nothing follows. Called right after trace() of the same input; with bytes of
     * NULL: what a systematic exploration begins with, where there are no seeds. */
    bool (*follow)(void *worker, const uint8_t *bytes, size_t n, FrontInputs *out, Err *err);
    /* Nothing more will be run in this state. With FrontFacts.by_state only; may be NULL. */
    void (*done)(void *worker, uint32_t state);

    /* For people, may be NULL: where site or edge `at` is; and a condition's text, in which
     * bytes are called input[N] or input[N..M], in the subject's words (takes text, gives it or
     * another). */
    void (*place)(void *subject, uint32_t at, const char **file, unsigned *line);
    char *(*in_words)(void *subject, char *text);
} ExploreFront;

/* Adds a branch to a trace: `cond` was or was not `taken` there. Edge `at` is that of a
 * condition that held, at + 1 the other. */
void front_branch(FrontTrace *t, Exprs *p, Expr cond, uint32_t at, bool taken);
#endif
