/*
 * batch - many runs for one message: shared memory between an explorer and the
 * fork server of a program that counts its branches.
 *
 *     header | slots | counters | seen | seen_bad | bytes of inputs
 *
 * The explorer makes it (memfd), fills in the header, some slots and their
 * bytes, and sends BATCH over the fork server's socket. The server runs one
 * input after the other, each in a process of its own (or, in persistent mode,
 * many in one), and notes for each how it ended and whether it went where none
 * went before; then it answers BATCHED. Nothing is said in between: `at` tells
 * how far it is, so that the explorer can have a run killed that takes too long.
 *
 * Counters: one byte for each edge (src/weave/edges.h), cleared before a run and
 * turned into a bit for "1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more times"
 * after it. `seen` has a bit for all that was ever there; `seen_bad` the same of
 * runs that died. Behind those of the edges are counters of how far strings agreed (compared.c).
 *
 * Each input is written to descriptor SUNDEW_BATCH_INPUT_FD, which is standard input or the
 * file that the program opens; unless SUNDEW_BATCH_MEMORY is set, when the program asks
 * sundew_batch_input().
 */
#ifndef SUNDEW_BATCH_H
#define SUNDEW_BATCH_H
#include <stdint.h>

enum {
    SUNDEW_BATCH_FD = 200,
    SUNDEW_BATCH_INPUT_FD = 201,
    SUNDEW_BATCH_MAGIC = 0x68436453,           /* "SdCh" */
    SUNDEW_BATCH_VERSION = 1,
    SUNDEW_BATCH_MOST = 256,                   /* slots */
    SUNDEW_BATCH_PAGE = 4096,
};

enum {
    SUNDEW_BATCH_MEMORY = 1,                   /* flags: inputs are not written to a file */
    SUNDEW_BATCH_SNAPSHOT = 2,                 /* runs share a process: see snapshot.c */
};

/* For compared.c: up to the end of strings; letters of either case are alike. */
enum { SUNDEW_COMPARED_TEXT = 1, SUNDEW_COMPARED_FOLD = 2 };
void sundew_compared(uint8_t *counters, const uint8_t *a, const uint8_t *b, uint64_t most,
                     uint32_t how);

enum { SUNDEW_NEWS_NONE, SUNDEW_NEWS_COUNT, SUNDEW_NEWS_EDGE };

struct sundew_slot {
    uint32_t at, len;                          /* its bytes */
    int32_t status;                            /* wait status */
    uint32_t micros;                           /* CPU time */
    uint64_t path;                             /* names the set of edges and counts */
    uint32_t news;                             /* SUNDEW_NEWS_… */
    uint32_t edges;                            /* how many it touched */
};

struct sundew_batch {
    uint32_t magic, version;
    uint64_t size;                             /* of all */
    uint32_t counters;                         /* how many, a multiple of the page */
    uint32_t room;                             /* for bytes of inputs */
    uint32_t flags;
    uint32_t rounds;                           /* of one process; 0: as it likes */
    volatile uint32_t n;                       /* slots of this batch */
    volatile uint32_t at;                      /* the one under way; n: over */
    volatile uint32_t started;                 /* runs begun, ever */
    uint32_t unused[5];
    struct sundew_slot slots[SUNDEW_BATCH_MOST];
};

enum {
    SUNDEW_BATCH_HEADER =
        (sizeof(struct sundew_batch) + SUNDEW_BATCH_PAGE - 1) & ~(SUNDEW_BATCH_PAGE - 1),
};

static inline uint8_t *sundew_batch_counters(struct sundew_batch *b)
{
    return (uint8_t *)b + SUNDEW_BATCH_HEADER;
}

static inline uint8_t *sundew_batch_seen(struct sundew_batch *b, int bad)
{
    return sundew_batch_counters(b) + (uint64_t)b->counters * (bad ? 2 : 1);
}

static inline uint8_t *sundew_batch_bytes(struct sundew_batch *b)
{
    return sundew_batch_counters(b) + (uint64_t)b->counters * 3;
}

/* ---- the program's side (runtime/server/batch.c) */

/* The weave's: the counters, on pages of their own, and how many pages. */
extern uint8_t sundew_counters[];
extern const uint64_t sundew_counters_size;

/* Maps the shared memory, and the counters into it. NULL: there is none. */
struct sundew_batch *sundew_batch_open(void);
/* The input that is to be run now. */
const void *sundew_batch_input(uint64_t *len);
/* Before and after a run. */
void sundew_batch_prepare(struct sundew_batch *b);
void sundew_batch_judge(struct sundew_batch *b, int status, uint64_t micros);
/* The program, for one input or (snapshot.c) for many. */
int sundew_snapshot_run(int (*program)(void *), void *arg);
#endif
