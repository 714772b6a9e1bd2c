/*
 * solve - other inputs for a path: is there one that goes the other way?
 *
 * A solver takes a path (path.h), the number of a conjunct, and the input that
 * took the path. It looks for bytes for which all conjuncts before that one
 * hold and that one does not:
 *
 *     Solver *s = solver_new(p, &(SolverPlan){ .seed = 1 });
 *     Answer ans;
 *     if (solver_query(s, path, i, input, len, &ans) == SOLVE_SAT)
 *         for (size_t k = 0; k < ans.nchanges; k++)
 *             input[ans.changes[k].byte] = ans.changes[k].value;
 *     solver_free(s);
 *
 * Only conjuncts that share bytes with the question, directly or through
 * others, take part; all other bytes stay as they are. Cheap ways come first
 * and Z3 last (SolveTier has them in order). Every assignment, whoever found it, is
 * computed through before it is handed out, so SAT is never wrong. UNSAT comes
 * from complete search, interval reasoning, Z3, or from an earlier such answer.
 *
 * An optimistic answer satisfies the question but not everything before it: it
 * is given where the whole is UNSAT or UNKNOWN, and labelled.
 *
 * The same seed, pool and sequence of queries give the same answers, as long
 * as no query runs into the wall clock.
 *
 * A solver belongs to one thread; only solver_interrupt() may be called from
 * another, or from a signal handler.
 */
#ifndef SUNDEW_SOLVE_SOLVE_H
#define SUNDEW_SOLVE_SOLVE_H
#include "solve/expr.h"
#include "solve/path.h"

typedef enum SolveStatus {
    SOLVE_UNKNOWN,
    SOLVE_UNSAT,
    SOLVE_SAT,
    SOLVE_OPTIMISTIC,         /* the question holds, what precedes may not */
} SolveStatus;

/* Who answered, in the order of asking. */
typedef enum SolveTier {
    TIER_TRIVIAL,             /* constant, or contradicts a conjunct */
    TIER_REPEAT,              /* the same query before */
    TIER_CORE,                /* contains what was unsatisfiable before */
    TIER_BYTES,               /* conditions on single bytes */
    TIER_ASSIGNMENT,               /* an earlier assignment does it */
    TIER_INTERVAL,            /* ranges leave nothing */
    TIER_BACK,                /* local search, backwards from the question */
    TIER_COPY,                /* the compared value stands in the input */
    TIER_SMALL,               /* few candidates: all of them tried */
    TIER_NEWTON,              /* floats, as equations */
    TIER_DOWN,                /* local search, downhill; and the long search
                                 after Z3 */
    TIER_Z3,
    TIER_N
} SolveTier;

/* Why a query has no answer. */
typedef enum SolveReason {
    REASON_NONE,
    REASON_STEPS,             /* the resource limit */
    REASON_TIME,
    REASON_MEMORY,
    REASON_SIZE,              /* more nodes than Z3 is given */
    REASON_FLOAT,             /* too many float nodes, or no theory */
    REASON_INTERRUPTED,
    REASON_MODEL,             /* Z3's assignment does not hold under our meaning */
    REASON_OFF,               /* Z3 is switched off by the plan */
    REASON_OTHER,
    REASON_N
} SolveReason;

const char *solve_tier_name(SolveTier t);
const char *solve_reason_name(SolveReason r);

/* Knobs; 0 means the default. */
typedef struct SolverPlan {
    uint64_t seed;
    uint32_t z3_steps;        /* Z3's rlimit; 4,000,000, about a second */
    double z3_seconds;        /* CPU time for each query; 10. Four times that by the clock */
    uint32_t z3_memory;       /* MiB; 1024 */
    size_t z3_nodes;          /* largest query for Z3; 200,000 */
    size_t z3_float_nodes;    /* … if it has floats: of those; 64 */
    size_t search_steps;      /* node evaluations in local search; 2,000,000 */
    size_t cache_entries;     /* of each cache; 4096 */
    bool no_z3, no_quick, no_optimistic, no_cores;
} SolverPlan;

typedef struct ByteChange {
    uint32_t byte;
    uint8_t value;
} ByteChange;

typedef struct Answer {
    SolveStatus status;
    SolveTier tier;           /* who gave it; for UNKNOWN the last one asked */
    SolveReason reason;       /* of UNKNOWN, or why only optimistic */
    SolveStatus exact;        /* the status of the whole query, without the
                                 optimistic answer: UNSAT or UNKNOWN */
    double seconds;
    size_t conjuncts;         /* of the path that took part */
    const ByteChange *changes;   /* the solver's, until the next query */
    size_t nchanges;          /* bytes that differ from the parent */
} Answer;

typedef struct SolverStats {
    uint64_t queries;
    uint64_t sat, unsat, unknown;     /* of the whole query: their sum */
    uint64_t optimistic;              /* of the unsat and unknown ones */
    uint64_t reasons[REASON_N];       /* of the unknown ones */
    double seconds;
    struct {
        uint64_t asked, sat, unsat;
        double seconds;
    } tier[TIER_N];                   /* optimistic queries included */
} SolverStats;

typedef struct Solver Solver;

/* The pool outlives the solver. After exprs_reset() the caches empty
 * themselves. */
Solver *solver_new(Exprs *p, const SolverPlan *plan);
void solver_free(Solver *s);            /* NULL is fine */

/* Conjuncts before `index` hold, the one at `index` does not. Bytes of the
 * parent at or beyond `len` count as 0; changes never name such bytes. */
SolveStatus solver_query(Solver *s, const Path *path, size_t index, const uint8_t *parent,
                         size_t len, Answer *answer);
/* Conjuncts before `index` hold and so does `extra`: for conditions under
 * which a program fails. */
SolveStatus solver_query_extra(Solver *s, const Path *path, size_t index, Expr extra,
                               const uint8_t *parent, size_t len, Answer *answer);

/* The query under way, and all that follow, end soon with UNKNOWN, until
 * solver_resume(). */
void solver_interrupt(Solver *s);
void solver_resume(Solver *s);

SolverStats solver_stats(const Solver *s);
void solver_stats_print(const SolverStats *st, Str *out);
#endif
