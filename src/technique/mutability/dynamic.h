/*
 * dynamic - what a run shows of mutability, and builds that hold a program to it.
 *
 * Both weave tags (weave/weave.h) into the program. To observe, the woven program
 * stands in the place of the original while a command runs (weave/place.h).
 */
#ifndef SUNDEW_MUTABILITY_DYNAMIC_H
#define SUNDEW_MUTABILITY_DYNAMIC_H
#include "analysis/pointsto/calls.h"
#include "analysis/mutability/mutability.h"
#include "session/session.h"

typedef struct DynamicPlan {
    Session *session;
    const Program *program;
    const Calls *calls;
    Mutability *mutability;
    bool absence;                /* heuristic A … */
    unsigned calls_needed, coverage;   /* … from so many calls and percent on */
    bool only_proven;            /* enforce: not what is only declared const */
} DynamicPlan;

/* Runs the words after "--"; what they show settles what is unknown. */
bool dynamic_observe(const DynamicPlan *plan, Err *err);
/* Makes `out`, which stops at a write through a parameter that is proven immutable
 * or declared to point to const. */
bool dynamic_enforce(const DynamicPlan *plan, const char *out, Err *err);
#endif
