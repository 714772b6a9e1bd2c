/*
 * generate - grow and run call sequences until the budget is spent or a judge says
 * stop.
 *
 *     static SequenceVerdict judge(Generator *g, Seq *seq, const Outcome *out, void *arg)
 *     {
 *         return out->state == OUTCOME_DIED ? SEQUENCE_STOP : SEQUENCE_KEEP;
 *     }
 *
 *     GrowPlan grow = { .api = api, .pool = pool, .rng = rng };
 *     SequencePlan plan = { .grow = &grow, .exec = exec, .count = 1000 };
 *     if (!generate_sequences(&plan, judge, NULL, NULL, err)) …
 *
 * The loop is here; what is worth keeping is the judge's question. A round takes
 * some sequences that were kept, grows each in several ways, and executes all of
 * them in one go; each runs in a process of its own. What it did, crash included,
 * is its Outcome. A sequence that the judge keeps is grown further.
 *
 * There are two phases. In the first any function is called with any argument; in
 * the second calls follow the usage, with a share of divergent ones.
 *
 * Clients: a regression suite keeps what covers or sees something new
 * (engine/suite/). Tests of threads grow a prefix that leaves a handle alive
 * (`makes`), then suffixes on it (`prefix`, `uses`). A comparison of libraries
 * executes what was kept on another Exec, in `round_ends`. A miner of protocols
 * opens the API without headers and steers by `weight`.
 *
 * The same seed and number of sequences give the same result; with a limit in
 * seconds only the number differs.
 */
#ifndef SUNDEW_GENERATE_H
#define SUNDEW_GENERATE_H
#include "engine/generate/grow.h"
#include "engine/play/exec.h"

/* One run of the loop, for its judge. */
typedef struct Generator Generator;

typedef enum {
    SEQUENCE_DROP,
    SEQUENCE_KEEP,               /* others begin with it */
    SEQUENCE_STOP,               /* no further round; the rest of this one is not judged */
} SequenceVerdict;

/* Sees each sequence that was executed. `out->fresh` has the points of coverage that
 * no sequence had before; the loop marks them as known. Both live until the end of
 * the round. */
typedef SequenceVerdict SequenceJudge(Generator *g, Seq *seq, const Outcome *out, void *arg);

/* {0} means a sensible default, but for `grow`, `exec` and one limit. */
typedef struct SequencePlan {
    const GrowPlan *grow;        /* the API, values, usage, random numbers */
    Exec *exec;

    /* Which sequences. */
    const Seq *prefix;           /* each begins with these steps; NULL: with nothing */
    const ApiType *makes;        /* a handle of this type is alive at the end */
    const ApiType *uses;         /* each call that is added has a handle of this type;
                                  * with a prefix, one of the prefix's */
    unsigned most_steps;         /* 0: as many as a sequence can have */
    unsigned calls;              /* that a way adds, at most; 0: one to five, mostly one */
    bool uniform;                /* functions are picked by weight alone; else those that were
                                  * called least come first */
    double (*weight)(const ApiFunction *f, void *arg);   /* how gladly it is called; 0:
                                  * never; NULL: all alike */
    double universal_share;      /* of the budget, for the first phase; all without
                                  * a usage */
    double divergent_share;      /* of the calls in the second phase, at least */
    double varied_share;         /* of sequences: one that was kept, with another value in it */

    /* The budget: what comes first ends it. */
    double seconds;              /* 0: no limit */
    uint64_t count;              /* sequences; 0: no limit */
    bool (*stop)(void *arg);     /* asked between rounds; NULL: never */

    /* What a judge does beside judging; NULL: nothing. */
    bool (*begins)(Generator *g, void *arg, Err *err);   /* before the first round */
    bool (*round_ends)(Generator *g, void *arg, Err *err);
} SequencePlan;

/* What the loop did. */
typedef struct Generated {
    uint64_t sequences;          /* executed; a round that grew none counts as one */
    uint64_t done, died, timeouts, exited;
    double seconds;
} Generated;

/* `arg` goes to all functions of the plan; `out` may be NULL. */
bool generate_sequences(const SequencePlan *plan, SequenceJudge *judge, void *arg, Generated *out,
                        Err *err);

/* For judges: others begin with this one, too. It is copied. */
void generate_keep(Generator *g, const Seq *s);
#endif
