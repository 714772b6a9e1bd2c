/*
 * observe - the samples of a recorded run.
 *
 *     Samples *s = samples_new(seed);
 *     observe(trace, &(ObservePlan){0}, s, &figures);
 *
 * The trace was recorded with COPY_STATE. Variables come from the types: the
 * parameters, fields behind pointers two far, arrays as summaries, strings,
 * globals that the function or a callee names, the result, errno. A value that
 * lies in memory that nobody wrote, that was freed or that is not inside its object
 * is unknown.
 */
#ifndef SUNDEW_CONTRACT_OBSERVE_H
#define SUNDEW_CONTRACT_OBSERVE_H
#include "analysis/units/units.h"
#include "engine/contract/sample.h"
#include "engine/record/trace.h"

typedef struct ObservePlan {
    unsigned most_vars;       /* of an entry; 0 is 48 */
    const Units *units;       /* what may be compared; NULL: anything */
    bool (*stop)(void *arg);  /* NULL: never */
    void *stop_arg;
} ObservePlan;

typedef struct ObserveFigures {
    uint64_t calls, returns;  /* in the trace */
    uint64_t left_out;        /* variables beyond most_vars */
    size_t full;              /* streams that ended at the budget */
    size_t cut_short;         /* streams */
    bool stopped;
} ObserveFigures;

void observe(Trace *t, const ObservePlan *plan, Samples *s, ObserveFigures *out);
#endif
