/*
 * effect - does a test check something that its call has done?
 *
 *     list_push(list, 3);
 *     CHECK_INT(list_count(list), 1);        without the call it would be 0
 *
 * A test that an empty function would pass tests nothing. So the sequence is executed a
 * second time without the call; checks that come out otherwise are its effect. The result of
 * a call is one, too, unless an empty function would give the same.
 */
#ifndef SUNDEW_SUITE_EFFECT_H
#define SUNDEW_SUITE_EFFECT_H
#include "engine/suite/settle.h"

typedef enum {
    EFFECT_NONE,                 /* nothing is checked that the call has done */
    EFFECT_RESULT,               /* what it gives is checked, but 0, NULL or some object
                                  * says little */
    EFFECT_SEEN,                 /* a check fails if the call does nothing */
} Effect;

/* What functions give when they only say that all is well: learned from the example. */
typedef struct Successes Successes;
Successes *successes_new(const Usage *usage);            /* NULL: no example */
void successes_free(Successes *s);                       /* NULL is fine */
/* Does the number only say that the call was successful? */
bool successes_has(const Successes *s, const ApiFunction *f, uint64_t result);

/* Of what the call itself gives: its result, and what it writes for its caller. `checked` says
 * which observations count. */
Effect effect_own(const Successes *s, const Seq *seq, const Outcome *o, const bool *checked,
                  unsigned step);

/* A sequence without a call and all that needs what it made. */
typedef struct Omission {
    Seq *seq;                    /* NULL: nothing is left */
    int number[SEQ_LIMIT];       /* of each step there; -1: it is gone */
} Omission;
void effect_omit(Arena *a, const Seq *s, unsigned step, Omission *out);

/* Does observation `i` of a later step come out otherwise, or not at all, without the call? */
bool effect_at(const Seq *s, const Outcome *o, size_t i, unsigned step, const Omission *less,
               const Outcome *without);
#endif
