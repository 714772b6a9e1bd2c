/*
 * generate - grow and run call sequences until the budget is spent.
 *
 *     GeneratePlan plan = { .settler = &settler, .seconds = 60, … };
 *     Suite suite = {0};
 *     if (!generate(&plan, &suite, err)) …
 *     for (size_t i = 0; i < suite.tests.len; i++) use(suite.tests.items[i]);
 *     suite_release(&suite);
 *
 * What the example itself did comes first: it is a test as it stands, and where it
 * got to is a good place to go on from. Then two phases. In the first any function is called with any argument (the
 * universal usage); in the second calls follow the inferred usage, with a share
 * of divergent ones. Sequences that went well are extended further; one that
 * brings coverage becomes a test if it can be settled (settle.h).
 *
 * The same seed and number of sequences give the same suite; with a limit in
 * seconds only the number differs.
 */
#ifndef SUNDEW_SEQ_GENERATE_H
#define SUNDEW_SEQ_GENERATE_H
#include "engine/suite/settle.h"

typedef struct GeneratePlan {
    const Settler *settler;
    double seconds;              /* 0: no limit */
    uint64_t count;              /* sequences; 0: no limit */
    double universal_share;      /* of the budget, for the first phase; 1 without
                                  * a usage */
    double divergent_share;      /* of the calls in the second */
    bool more;                   /* also tests without coverage of their own: they may
                                  * see faults that others don't */
    bool (*stop)(void *arg);     /* asked now and then; NULL: never */
    void (*progress)(double done, size_t tests, void *arg);      /* NULL */
    void *arg;
} GeneratePlan;

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
    uint64_t sequences;          /* executed */
    uint64_t done, died, timeouts, exited;
    uint64_t illegal, open, leaks, empty, settled;     /* of those that brought coverage */
    uint64_t set_aside;          /* died, and did not follow the usage */
    size_t replays, replayed;    /* what the example did; of that, tests */
    double seconds;
    size_t covered;              /* points that any sequence reached */
} Suite;

bool generate(const GeneratePlan *plan, Suite *out, Err *err);
void suite_release(Suite *s);
/* A copy that lives as long as the arena. */
SeqTest *test_copy(Arena *a, const SeqTest *t);
#endif
