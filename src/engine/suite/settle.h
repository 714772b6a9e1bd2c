/*
 * settle - from a sequence that went well once to a test.
 *
 *     closed      what it made is given back, by the way that the usage has or by
 *                 the destructor of the type
 *     strict      it is legal: the sanitizers are silent, nothing leaks
 *     stable      it is executed again with other content of fresh memory and of
 *                 the stack, another clock, another address space; what differs is
 *                 not asserted
 *
 * Before it is closed, what it made is looked at (grow_looks()), unless that does
 * harm; texts that are the caller's are freed. If closing fails or leaks, experiments with one closing call less, more or
 * different show who owns what; that is remembered in Ownership.
 */
#ifndef SUNDEW_SEQ_SETTLE_H
#define SUNDEW_SEQ_SETTLE_H
#include "engine/play/exec.h"
#include "engine/generate/grow.h"

typedef enum {
    SETTLED,
    SETTLED_ILLEGAL,             /* it died, or the sanitizers complained */
    SETTLED_OPEN,                /* it could not be closed */
    SETTLED_LEAKS,
    SETTLED_EMPTY,               /* nothing is stable enough to be asserted */
    SETTLED_NOT_RUN,             /* all was stopped before (ExecPlan.stop) */
} SettledKind;

typedef struct SeqTest {
    Seq *seq;                    /* closed */
    Outcome out;
    bool *stable;                /* one an observation */
    bool follows;                /* it does what the usage has, throughout */
    bool example;                /* it does what the example itself did: always kept */
    enum {
        TEST_UNTRIED,
        TEST_PASSED,             /* beside others that did not, and are gone */
        TEST_TRIED,              /* the file that it is in passed */
    } tried;                     /* as C */
    bool refined;                /* the following are known */
    unsigned about;              /* the step that it is about */
    int effect;                  /* an Effect: whether it checks what that call did */
    bool idle;                   /* several sequences; what their calls do can't be seen */
    const char *instead;         /* what the first look gives without that call, in words; NULL:
                                  * nothing to tell */
    uint64_t matters;            /* arguments of that call, by bits: with another value it does
                                  * something else */
    unsigned *killed;            /* mutants that only this one kills, so far */
    size_t nkilled;
} SeqTest;

typedef struct Settled {
    SettledKind kind;
    SeqTest test;                /* SETTLED */
    Outcome how;                 /* illegal: how it ended … */
    Seq *seq;                    /* … and what was executed */
} Settled;

typedef struct Settler {
    const GrowPlan *grow;
    Ownership *ownership;
    Exec *exec;                  /* with coverage */
    Exec *again;                 /* the same in another address space */
    Exec *strict;                /* with sanitizers; NULL: none */
} Settler;

/* `out` has one entry a sequence; all in the arena. */
bool settle(const Settler *s, Arena *a, Seq *const *bodies, size_t n, Settled *out, Err *err);
/* The same without looks. */
bool settle_bare(const Settler *s, Arena *a, Seq *const *bodies, size_t n, Settled *out, Err *err);
/* A sequence with what gives back all that it made. */
Seq *settle_close(const Settler *s, Arena *a, const Seq *body);
/* The same for sequences that are closed already; no experiments. */
bool settle_closed(const Settler *s, Arena *a, Seq *const *closed, size_t n, Settled *out,
                   Err *err);
/* Does a test see that a run of its sequence was another? */
bool settle_sees(const SeqTest *t, const Outcome *o);
/* Which observations differ among outcomes of the same sequence. */
void settle_compare(const Outcome *base, const Outcome *other, bool *stable);
#endif
