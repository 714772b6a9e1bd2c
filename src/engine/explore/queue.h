/*
 * queue - the inputs worth keeping, and which to work on next.
 *
 * An input is kept because it went where none went before. For each edge the
 * queue knows the cheapest input that reaches it; inputs that are the cheapest
 * for something are *favoured*. How often an input is chosen depends on that, on
 * its speed, on how much it covers, and on how rare its path is.
 *
 *     Queue *q = queue_new(counters, edges);
 *     Entry *e = queue_add(q, bytes, n, counters, &run);      copies
 *     e = queue_choose(q, rng);
 *     queue_free(q);
 *
 * Not locked: the caller sees to that. Entries stay where they are until queue_free(), and are
 * never changed in what they are, only in what is noted about them.
 */
#ifndef SUNDEW_QUEUE_H
#define SUNDEW_QUEUE_H
#include "base/rng.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an input came from. */
typedef enum { FROM_SEED, FROM_MUTATION, FROM_SOLVER, FROM_OTHERS, FROM_FRONT } Origin;

typedef struct Entry {
    uint32_t id;
    uint8_t *bytes;
    size_t n;
    Origin origin;
    uint32_t state;            /* it runs in: see front.h */
    uint32_t parent;           /* id; UINT32_MAX: none */
    uint32_t depth;            /* from a seed */
    double micros;             /* CPU time of a run */
    uint64_t path;             /* names its counts */
    uint32_t *edges;           /* that it touches, ascending */
    size_t nedges;
    bool favoured;
    bool new_edge;             /* it was the first on some edge */
    bool done;                 /* mutated at all */
    bool judged;               /* strictly, or that comes next */
    unsigned chosen;           /* times */
    unsigned found;            /* entries made from it */
    double when;               /* seconds after the start */
    /* of the concolic stage */
    unsigned traces;           /* how often */
} Entry;

typedef struct QueueRun {
    Origin origin;
    uint32_t state, parent;
    uint64_t path;
    double micros, when;
    bool new_edge;
} QueueRun;

typedef struct Queue Queue;

/* `edges` of the counters are branches of the program: they come first. */
Queue *queue_new(size_t counters, size_t edges);
void queue_free(Queue *q);                       /* NULL is fine */

/* What is new in these counts (bits, see runtime/server/batch.h): SUNDEW_NEWS_…. With `take`
 * they are no longer new afterwards. */
unsigned queue_news(Queue *q, const uint8_t *counters, bool take);
Entry *queue_add(Queue *q, const uint8_t *bytes, size_t n, const uint8_t *counters,
                 const QueueRun *run);

size_t queue_length(const Queue *q);
Entry *queue_at(const Queue *q, size_t i);
/* NULL: it is empty. */
Entry *queue_choose(Queue *q, Rng *rng);
/* How many mutations one choice of it is worth. */
unsigned queue_energy(const Queue *q, const Entry *e);
/* A run took this path; gives how many have. */
uint64_t queue_saw_path(Queue *q, uint64_t path);
uint64_t queue_paths(const Queue *q);

bool queue_covers(const Queue *q, uint32_t edge);
size_t queue_branches(const Queue *q);           /* of the program; they come first */
size_t queue_covered(const Queue *q);

/* Asserts what always holds. */
void queue_check(const Queue *q);
#endif
