/*
 * generate - few rows for each input that show every class of every operator.
 *
 *     Examples *e = examples_generate(plan, &(GeneratePlan){ .samples = samples }, err);
 *     e->inputs[op->id].rows[i], e->made[op->id][i], e->why[op->id][i]
 *     e->run, e->classes, e->metrics
 *     examples_free(e);
 *
 * Real rows come first: the sample is run, rows that show something are chosen
 * by their lineage, and all others are dropped. Classes that no real row shows
 * are solved for, one question each over all inputs; new rows take real values
 * where they can. Every new row is confirmed by running the plan: a class counts
 * as shown because the run shows it, never because the solver said so. At last
 * each row is left out in turn, and stays away if nothing is lost.
 *
 * The same seed gives the same rows. Everything stops at the time limit with
 * what there is.
 */
#ifndef SUNDEW_DATAFLOW_GENERATE_H
#define SUNDEW_DATAFLOW_GENERATE_H
#include "dataflow/classes.h"

typedef struct GeneratePlan {
    const Input *samples;      /* by op id; NULL: none */
    Udfs *udfs;                /* or NULL */
    int goals;                 /* GOALS_… beyond the basic ones */
    uint64_t seed;
    double seconds;            /* 0: 30 */
    double patience; /* for one question to the solver, in seconds of a usual machine; 0: a
                                * half */
    bool no_real_values; /* privacy: no value of the samples is copied */
    bool passive; /* users' functions are not called on new arguments */
    bool no_solver; /* only rows of the samples */
    bool (*stop)(void *arg); /* asked often: an end as if the time was over; NULL: never */
    void *stop_arg;
} GeneratePlan;

typedef struct Examples {
    Arena arena, rows_arena;
    const Plan *plan;
    Input *inputs; /* by op id */
    bool **made; /* by op id: the row was invented */
    const char ***why; /* by op id: what would not be shown without the row */
    Run *run; /* of `inputs`, with marks */
    Classes *classes;
    Metrics metrics;
    size_t queries; /* questions to the solver */
    double seconds;
    bool out_of_time;
} Examples;

Examples *examples_generate(const Plan *p, const GeneratePlan *gp, Err *err);
void examples_free(Examples *e); /* NULL is fine */

/* The LOAD that stands for all LOADs of the same path: the widest. */
const Op *load_master(const Plan *p, const Op *load);
#endif
