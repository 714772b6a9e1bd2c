/*
 * What the files of this technique share.
 *
 *     substitutes.c   the command: options, which pairs, one after the other
 *     tables.c        pairs of implementations of a table of operations
 *     libraries.c     pairs of shared objects with the same header
 *     backends.c      pairs of back ends that a function chooses by an argument
 *     example.c       what an example does with the interface
 *     inputs.c        functions and values that are worth more than others
 *     mapping.c       how a call of the candidate is made on the reference
 *     oracle.c        both sides run a test; the first call that differs
 *     search.c        tests are grown on the candidate, and judged
 *     shrink.c        a difference is tried again, made small, and its cause found
 *     concurrent.c    one call a thread, both sides in all orders
 *     accepted.c      differences that the user has accepted
 *     normalise.c     small things that explain a difference
 *     tests.c         the test as C, in two variants
 *     report.c        findings, JSON, summary, matrix
 *
 * A test is a sequence of calls of the candidate's API. translate() makes the same of
 * the reference's: steps have the same numbers, functions and arguments are mapped.
 */
#ifndef SUNDEW_SUBSTITUTES_INT_H
#define SUNDEW_SUBSTITUTES_INT_H
#include "base/map.h"
#include "base/vec.h"
#include "build/library.h"
#include "engine/generate/generate.h"
#include "engine/play/exec.h"
#include "program/optables.h"
#include "session/session.h"

/* Where an argument of the reference's call comes from. */
typedef struct ArgFrom {
    int place;                   /* in the candidate's call; -1: `value` */
    SeqValue value;
} ArgFrom;

/* How a function of the candidate's API is called on the reference. */
typedef struct CallMap {
    const ApiFunction *to;       /* NULL: it is not called */
    ArgFrom *args;               /* one a parameter of `to` */
    const char *name;            /* of the slot, or of the function */
    bool common;                 /* a slot, or a function of both libraries: what
                                  * differences are about */
    const char *mapping;         /* "fast_new() -> tree_new(): equal parameters"; NULL:
                                  * it is common */
    bool ignored;                /* its result says nothing: hash, version … */
} CallMap;

typedef enum { SIDE_REFERENCE, SIDE_CANDIDATE, NSIDES } SideOf;

typedef struct Side {
    const char *name;
    const Program *program;
    Program *own;                /* of a library that was not captured; NULL */
    const OpImpl *impl;          /* of a table; NULL: a library */
    Api *api;
    char *library, *preload;     /* shared object; the sanitizer's library or NULL */
    Cover *points;               /* of a captured library; NULL */
    bool *changed;               /* by block of it: its function is another on the other side;
                                  * NULL: not known */
    Exec *exec;
} Side;

typedef enum {
    DIFFERENCE_CRASH,
    DIFFERENCE_REMOVED,          /* "not supported" where the reference works */
    DIFFERENCE_OUTPUT,
    DIFFERENCE_DEADLOCK,
} DifferenceKind;
const char *difference_kind_name(DifferenceKind k);

typedef enum {
    CAUSE_ARGUMENT,              /* stronger argument rule */
    CAUSE_STATE,                 /* stronger state rule */
    CAUSE_REMOVED,
    CAUSE_PROPAGATED,            /* another call differed before */
    CAUSE_SYNCHRONISATION,
    CAUSE_MEANING,
} DifferenceCause;
const char *difference_cause_name(DifferenceCause c);

/* The first call of a test that differs. */
typedef struct Divergence {
    DifferenceKind kind;
    unsigned step;
    int place;                   /* in the candidate's call; API_RETURNED, OBSERVED_… */
    int first;                   /* crash: the call whose output differed before; -1 */
    bool fails;                  /* output: the candidate gives an error, the reference
                                  * does not */
    bool weak;                   /* only errno differs */
    int signal;                  /* crash; 0: it exited */
} Divergence;

typedef struct Difference {
    Divergence how;
    unsigned function;           /* in the candidate's API */
    const Seq *seq;              /* its last step is the call */
    const Seq *spare[3];         /* others that showed it */
    unsigned nspare;
    size_t seen;
    uint64_t where;              /* which of the functions that changed ran; 0: not known */
    const char *same_as;         /* the same calls before it showed a difference of this function,
                                  * which is told; NULL */
    unsigned under;              /* normalisers that explain it in all tests, as bits */
    DifferenceCause cause;
    const char *from;            /* propagated: from which function */
    const char *reference_did, *candidate_did;
    const char *capability;      /* why it is set aside; NULL: it is not */
    const char *accepted;        /* the user's reason; NULL */
    const char *mapping;
    const char *folder;          /* of its test; NULL */
    bool threads;                /* concurrent: the last two calls, one a thread */
    bool bounded;                /* … not all orders of the reference were run */
    const char *interleaving;    /* … the run, a column for each thread */
    Failure failure;
    unsigned peers, peers_of;    /* of so many references so many differ */
} Difference;

/* A call that fails on the reference and not on the candidate: no difference, but good to know
 * of a new release. */
typedef struct Tolerance {
    unsigned function;           /* in the candidate's API */
    const Seq *seq;              /* its last step is the call */
    size_t seen;
    const char *reference_did, *candidate_did;
} Tolerance;

/* What a function gave, over all tests. */
typedef struct Habit {
    size_t calls[NSIDES];
    bool varies[NSIDES];
    bool has[NSIDES];
    Observation first[NSIDES];
    size_t died;                 /* calls of the candidate that ended it */
    unsigned blocked;            /* calls that did not return in time */
} Habit;

typedef struct Pair {
    struct Substitutes *all;
    Side side[NSIDES];
    bool backend;                /* the same program; an argument chooses */
    CallMap *calls;              /* by function of the candidate's API */
    size_t ncommon;              /* of libraries: functions that both have */
    const char *why_not;         /* it can't be compared; NULL */
    Arena arena;
    Usage *usage;                /* of the example; NULL */
    Usage *client;               /* … with the reference's functions; NULL */
    Pool *pool;
    Ownership *ownership;
    GrowPlan grow;
    double *worth;               /* by function: how gladly it is called; NULL: all alike */
    Rng rng;
    Habit *habits;               /* by function */
    size_t *after;               /* by pair of common functions: tests with both */
    Vec(Difference) found;
    Vec(Tolerance) tolerant;
    Vec(const Seq *) agreed;     /* tests that both sides ended alike; some of them */
    Strings unused;              /* "db_stat: missing in the candidate" */
    Strings notes;
    size_t tests, inconclusive, reference_fails, unstable, concurrent, bounded;
    double seconds, first;       /* of the search; to the first difference */
    uint64_t runs[NSIDES];
} Pair;

typedef struct Substitutes {
    Session *s;
    Arena arena;
    OpTables tables;
    const OpTable *table;        /* NULL: libraries */
    Library library[NSIDES];
    Vec(Pair *) pairs;
    Map accepted;                /* "CANDIDATE FUNCTION KIND" -> reason */
    Strings mapping_lines;
    bool crash_only;
    char *out;                   /* -o */
    size_t written;
} Substitutes;

/* tables.c */
bool tables_list(Substitutes *x, Err *err);
bool tables_pairs(Substitutes *x, Err *err);

/* libraries.c */
bool libraries_pairs(Substitutes *x, Err *err);

/* backends.c */
bool backends_pairs(Substitutes *x, Err *err);

/* example.c */
bool pair_learn_example(Pair *p, Err *err);
void pair_use_example(Pair *p);

/* inputs.c */
bool pair_prefer(Pair *p, Err *err);
/* Which of the functions that changed run in a test: tests that differ in this differ for another
 * reason. 0: not known. */
bool pair_where(Pair *p, const Seq *s, uint64_t *out, Err *err);

/* mapping.c */
typedef struct MappingRow {
    const char *from, *to;       /* functions */
    ArgFrom *args;
    unsigned nargs;
    const char *text;            /* the line */
} MappingRow;
typedef Vec(MappingRow) Mapping;
bool mapping_read(const char *path, Arena *a, Mapping *out, Err *err);
/* A row for each creator of the candidate that equals one of the reference. False: it has
 * none. */
bool mapping_guess(Arena *a, const ApiFunction *f, const ApiFunction *const *creators, size_t n,
                   CallMap *out);
bool mapping_apply(const MappingRow *row, const ApiFunction *to, Arena *a, CallMap *out);
void mapping_identity(Arena *a, const ApiFunction *to, CallMap *out);

/* oracle.c */
/* NULL: a call has no counterpart. */
Seq *translate(const Pair *p, Arena *a, const Seq *s);
/* Does the candidate differ? Both ended, or the candidate failed and the reference did
 * not. */
bool oracle_compare(const Pair *p, const Seq *s, const Outcome *reference, const Outcome *candidate,
                    Divergence *out);
bool oracle_same(const Divergence *a, const Divergence *b);
/* One test, on both sides; *differs says whether. */
bool oracle_try(Pair *p, Arena *a, const Seq *s, unsigned fill, int64_t clock, Outcome out[NSIDES],
                bool *differs, Divergence *how, Err *err);
void oracle_say(const Pair *p, const Seq *s, const Outcome *o, SideOf side, const Divergence *d,
                Str *out);
/* What both gave in the place of a divergence. */
const Observation *oracle_at(const Pair *p, const Seq *s, const Outcome *o, SideOf side,
                             const Divergence *d);
bool outcome_failed(const Outcome *o);

/* search.c */
bool pair_open(Pair *p, Err *err);
bool pair_search(Pair *p, Err *err);
void pair_free(Pair *p);
bool pair_note(Pair *p, const Seq *s, const Divergence *d, const Outcome *reference,
               const Outcome *candidate, Err *err);
const char *pair_mapping(const Pair *p, const Seq *s);
/* The functions that can be compared. */
bool pair_calls(const Pair *p, const ApiFunction *f);
void pair_learn_ends(Pair *p);

/* shrink.c */
bool pair_settle(Pair *p, Err *err);

/* concurrent.c */
bool pair_concurrent(Pair *p, Err *err);

/* accepted.c */
bool accepted_read(Substitutes *x, const char *path, Err *err);
const char *accepted_reason(const Substitutes *x, const Pair *p, const Difference *d);

/* normalise.c */
const char *const *normaliser_names(void);
const char *normaliser_of(unsigned under);       /* the first; NULL: none */
/* Those under which the two are the same, as bits. */
unsigned normalisers(const Observation *reference, const Observation *candidate);

/* tests.c */
bool test_write(Pair *p, Difference *d, Err *err);

/* report.c */
bool report_pairs(Substitutes *x, Err *err);
#endif
