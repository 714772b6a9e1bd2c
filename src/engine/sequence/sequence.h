/*
 * sequence - a list of calls in which later ones use what earlier ones made.
 *
 *     Seq *s = seq_new(&a);
 *     SeqStep *open = seq_call(&a, s, db_open);         step 0
 *     open->args[0] = value_string(&a, "x");
 *     open->args[1] = value_room(8);                    struct db *out
 *     SeqStep *close = seq_call(&a, s, db_close);       step 1
 *     close->args[0] = value_stored(0, 1);              *out of step 0
 *
 *     r0 = db_open("x", room 8)
 *     r1 = db_close(r0.1)
 *
 * Sequences live in an arena and are copied before they are changed.
 *
 * This folder has the data alone: sequences, who owns their handles (ownership.h),
 * values for their arguments (pool.h). A usage says what an example did as
 * sequences, so the data is left of it; growing needs the usage, so it is in
 * engine/generate/.
 */
#ifndef SUNDEW_SEQUENCE_H
#define SUNDEW_SEQUENCE_H
#include "base/vec.h"
#include "engine/api/api.h"
#include "engine/api/value.h"

/*
 * A step is a call; or storage of the caller's for a struct, zeroed, which the
 * following steps name by value_storage(step, 0); or a field that is set:
 *
 *     r0 = storage struct z_stream_s
 *     r1 = deflateInit_(&r0.0, 9, …)
 *          r0.0->avail_in = 5
 */
typedef struct SeqStep {
    const ApiFunction *f;        /* NULL: a field is set, or storage made */
    SeqValue *args;              /* one a parameter; of a field: its value */
    unsigned nargs;
    SeqValue target;             /* field: of what … */
    const Field *field;          /* … and which; its name may be a path: a.b */
    const ApiType *storage;      /* made by this step */
    bool divergent;              /* not as the usage has it */
    bool prologue;               /* sets the library up */
    bool closing;                /* gives back what the sequence had made */
    bool looking;                /* at the end, at what the sequence has made */
    SeqValue expected;           /* what the example got here: a number, a text, NULL,
                                  * VALUE_SELF (a handle); VALUE_NONE: not known */
    uint64_t nulls;              /* handles that came out as NULL when it ran: bit
                                  * 0 the result, bit i + 1 parameter i */
} SeqStep;

/* A file that calls may ask for by its name, which has no folder. */
typedef struct SeqFile {
    const char *name;
    const uint8_t *bytes;
    size_t n;
} SeqFile;

typedef struct Seq {
    SeqStep *steps;
    unsigned n;
} Seq;

enum {
    SEQ_MOST_STEPS = 64,         /* that are grown */
    SEQ_LIMIT = 240,             /* with those that close; replays are longer, too */
};

Seq *seq_new(Arena *a);
Seq *seq_copy(Arena *a, const Seq *s);           /* also what its values point to */
/* The same with more room behind memory of which nobody says how long it is: an array without its
 * length, a text among the arguments behind "...". A recording has what it could see of it, and the
 * example may have had more. `results`: only where results go. NULL: there is none. */
Seq *seq_with_room(Arena *a, const Seq *s, bool results);
/* A call at the end, its arguments VALUE_NONE. Valid until the next one. */
SeqStep *seq_call(Arena *a, Seq *s, const ApiFunction *f);
SeqStep *seq_set(Arena *a, Seq *s, SeqValue target, const Field *field, SeqValue v);
SeqStep *seq_storage(Arena *a, Seq *s, const ApiType *t);
/* The steps of `more` at the end of `s`, numbers moved. */
void seq_append(Arena *a, Seq *s, const Seq *more);
/* Without a step and all that need it. NULL: nothing is left. */
Seq *seq_without(Arena *a, const Seq *s, unsigned step);
/* With `n` more steps before step `at`; they name steps before it only. NULL: too long. */
Seq *seq_with(Arena *a, const Seq *s, unsigned at, const SeqStep *more, unsigned n);
/* The first `n` steps. */
Seq *seq_prefix(Arena *a, const Seq *s, unsigned n);
bool seq_equal(const Seq *a, const Seq *b);

/* A handle that a sequence has made and not given back. */
typedef struct SeqHandle {
    SeqValue value;
    const ApiType *type;
    unsigned step;
    int place;
    bool owned;                  /* the sequence has to give it back */
} SeqHandle;
typedef Vec(SeqHandle) SeqHandles;

/* What experience adds to the roles; see ownership.h. */
typedef struct Ownership Ownership;

/* All that are alive at the end, in the order in which they were made. */
void seq_handles(const Seq *s, const Ownership *o, SeqHandles *out);

/* Are two functions of one table of operations? Those that are in none go with all. What one
 * table has made is not for another. */
bool seq_same_table(const Seq *s, const SeqValue *made, const ApiFunction *f);
/* Is it used as it may be: no table gets what another has made, and nothing is used that was
 * given back, or that somebody lent who was given back since? */
bool seq_is_proper(const Seq *s, const Ownership *o);

/* Asserts what always holds: a step is a call, a field or storage; a call has an
 * argument for each parameter; values name earlier steps and places that they have. */
void seq_check(const Seq *s);
/* One step a line, for people and tests. */
void seq_dump(const Seq *s, Str *out);
#endif
