/*
 * fast - thousands of runs a second: batches of inputs for a program that counts
 * its edges (runtime/server/batch.h).
 *
 *     Fast *f = fast_new(&plan, err);
 *     fast_add(f, bytes, n);                        as often as there is room
 *     if (!fast_run(f, err)) …
 *     for (unsigned i = 0; i < fast_count(f); i++)
 *         look(fast_result(f, i), fast_input(f, i, &n));
 *     fast_reset(f);
 *
 * fast_counters() are those of the last input of the batch. A Fast belongs to one
 * thread.
 */
#ifndef SUNDEW_FAST_H
#define SUNDEW_FAST_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Fast Fast;
typedef struct sundew_slot FastResult;           /* runtime/server/batch.h */

typedef struct FastPlan {
    const char *program;         /* the coverage build */
    const struct Call *call;     /* subject.h */
    uint32_t counters;           /* as weave_coverage() said */
    size_t longest;              /* input */
    double seconds;              /* a run may take; see fast_limit() */
    double usual;                /* what a run takes, if that is known */
    uint64_t memory;             /* of one process */
    bool in_memory;              /* inputs are asked for, not read from a file */
    bool (*stop)(void *arg);     /* asked ten times a second: is the batch to end? */
    void *stop_arg;
    bool steady;                 /* how many fit into a batch does not depend on the clock */
    bool snapshot;               /* runs may share a process: runtime/server/snapshot.c */
} FastPlan;

Fast *fast_new(const FastPlan *plan, Err *err);
void fast_free(Fast *f);                         /* NULL is fine */
void fast_limit(Fast *f, double seconds);

/* False: the batch is full. When `stop` ended a batch, fast_count() is of the inputs that
 * were run. */
bool fast_add(Fast *f, const void *bytes, size_t n);
bool fast_run(Fast *f, Err *err);
/* The same, each in a process of its own whatever the plan says. */
bool fast_run_apart(Fast *f, Err *err);
void fast_reset(Fast *f);
unsigned fast_count(const Fast *f);
const FastResult *fast_result(const Fast *f, unsigned i);
const uint8_t *fast_input(const Fast *f, unsigned i, size_t *n);
bool fast_timed_out(const Fast *f, unsigned i);

/* Bits for counts, one byte an edge. */
const uint8_t *fast_counters(const Fast *f);
/* Did runs leave processes behind? */
bool fast_left_processes(const Fast *f);
/* A result that the subject wrote, checked; `to` keeps place and length. */
void fast_take(const FastResult *from, uint32_t counters, FastResult *to);
const char *fast_missing(const Fast *f);         /* runner_missing() */
#endif
