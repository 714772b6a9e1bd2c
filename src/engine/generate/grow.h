/*
 * grow - one more call at the end of a sequence.
 *
 *     GrowPlan plan = { .api = api, .pool = pool, .usage = usage, … };
 *     Seq *longer = seq_copy(&a, base);
 *     if (grow_guided(&plan, &a, longer)) …      as the usage has it
 *     if (grow_universal(&plan, &a, longer, f))  any function, any argument
 *
 * What the call needs and the sequence does not have is made first, by more
 * calls. False: it can't be had; the sequence is then of no use.
 */
#ifndef SUNDEW_SEQ_GROW_H
#define SUNDEW_SEQ_GROW_H
#include "engine/usage/usage.h"
#include "engine/sequence/ownership.h"
#include "engine/sequence/pool.h"
#include "engine/sequence/sequence.h"

typedef struct GrowPlan {
    const Api *api;
    const Pool *pool;
    const Usage *usage;          /* NULL: none */
    const Ownership *ownership;
    Rng *rng;
    double null_share;           /* of handles that are NULL in universal calls */
    double reuse;                /* of numbers and texts in universal calls that stood in the
                                  * same kind of place before: a key that was put is asked for */
    double simple;               /* … that are small: 0, 1, -1, "", "a" */
    double start_share;          /* of guided calls that make a new object */
    double mix;                  /* of values from other calls of the function */
    double near;                 /* of guided calls with a value like the example's */
    const double *weights;       /* by function, 0 to 1: how gladly it is called; 0: never;
                                  * NULL: all alike */
    const ApiType *uses;         /* handles of this type have to be used; NULL: any */
    unsigned given;              /* … and only those that the first steps, so many, made;
                                  * 0: new ones as well */
} GrowPlan;

/* A choice by weight: is this function taken now? */
bool grow_accepts(const GrowPlan *g, const ApiFunction *f);
/* Is this one of the handles that have to be used? */
bool grow_is_given(const GrowPlan *g, const SeqHandle *h);

/* A call of `f`; NULL: of one that can be called. */
bool grow_universal(const GrowPlan *g, Arena *a, Seq *s, const ApiFunction *f);
bool grow_guided(const GrowPlan *g, Arena *a, Seq *s);
/* `n` calls of a function that needs no object, its numbers side by side. False: it needs one. */
bool grow_sweep(const GrowPlan *g, Arena *a, Seq *s, const ApiFunction *f, unsigned n);
/* The same calls with another value in one place; *at is its step. NULL: none has a value that
 * could be another. */
Seq *grow_varied(const GrowPlan *g, Arena *a, const Seq *s, unsigned *at);
/* A call that looks at a handle which is there. */
bool grow_observer(const GrowPlan *g, Arena *a, Seq *s);
/* Looks at all that is there, by calls that need nothing but the handle and rooms
 * for what they say, or as the example did. */
void grow_looks(const GrowPlan *g, Arena *a, Seq *s);
/* The same by all calls that only look, those of the example first, at most so many; numbers and texts that they want
 * besides are drawn. */
void grow_all_looks(const GrowPlan *g, Arena *a, Seq *s, unsigned most);
/* A copy that also looks at each handle before a call takes it away. */
Seq *grow_with_looks(const GrowPlan *g, Arena *a, const Seq *s);

/* Where each handle of a sequence is in the graph of its type: USAGE_OUTSIDE if it
 * has left it. */
uint32_t grow_node(const GrowPlan *g, const Seq *s, const SeqHandle *h);
/* Is what the example closed before its owner closed before it here, too? */
bool grow_keeps_order(const GrowPlan *g, const Seq *s);
/* Does it do what the example did, throughout? */
bool grow_follows(const GrowPlan *g, const Seq *s);
#endif
