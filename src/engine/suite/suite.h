/*
 * suite - a regression suite: the judge of sequences that keeps what makes a test.
 *
 *     SuitePlan plan = { .settler = &settler, .seconds = 60, … };
 *     Suite suite = {0};
 *     if (!suite_make(&plan, &suite, err)) …
 *     for (size_t i = 0; i < suite.tests.len; i++) use(suite.tests.items[i]);
 *     suite_release(&suite);
 *
 * What the example itself did comes first: it is a test as it stands, and where it
 * got to is a good place to go on from. Then sequences are grown and executed
 * (generate.h). One that brings coverage becomes a test if it can be settled
 * (settle.h).
 */
#ifndef SUNDEW_SUITE_H
#define SUNDEW_SUITE_H
#include "engine/generate/generate.h"
#include "engine/suite/settle.h"

typedef struct SuitePlan {
    const Settler *settler;
    double seconds;              /* 0: no limit */
    uint64_t count;              /* sequences; 0: no limit */
    double universal_share, divergent_share;     /* as in SequencePlan */
    bool more;                   /* also tests without coverage of their own: they may
                                  * see faults that others don't */
    bool (*stop)(void *arg);     /* asked now and then; NULL: never */
    bool (*interrupted)(void *arg);      /* asked while the example is repeated, whatever time
                                  * that takes; NULL: never */
    void *arg;
} SuitePlan;

/* A sequence that died although nothing says that it may not be done. */
typedef struct Suspect {
    Seq *seq;
    Outcome how;
    bool follows;                /* the usage, throughout */
    bool strict;                 /* it was the sanitizers' run */
    unsigned count;              /* that died alike */
} Suspect;

typedef struct Suite {
    Arena arena;
    Vec(SeqTest *) tests;
    Vec(Suspect) suspects;       /* those that follow the usage */
    Generated ran;               /* what was executed */
    uint64_t illegal, open, leaks, empty, settled;     /* of those that brought coverage */
    uint64_t set_aside;          /* died, and did not follow the usage */
    size_t replays;              /* what the example did; of that, tests: */
    size_t replayed, shortened;  /* as it is; without some calls */
    size_t late;                 /* for which there was no time */
    Vec(UsageLoss) losses;       /* what was left out, and why; `calls` counts replays */
    size_t covered;              /* points that any sequence reached */
} Suite;

bool suite_make(const SuitePlan *plan, Suite *out, Err *err);
void suite_release(Suite *s);
/* Would somebody commit it? Not if it works by chance, or if memory that the machine has or
 * has not decides. */
bool test_is_sensible(const Settler *s, const SeqTest *t);
/* A copy that lives as long as the arena. */
SeqTest *test_copy(Arena *a, const SeqTest *t);
#endif
