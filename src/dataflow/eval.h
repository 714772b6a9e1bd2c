/*
 * eval - runs a plan on small tables, and remembers where each row came from.
 *
 *     Run *r = run_plan(plan, &(RunPlan){ .inputs = inputs }, err);
 *     const Table *t = run_table(r, op);
 *     for (size_t i = 0; i < t->n; i++) use(t->rows[i]->tuple);
 *     run_free(r);
 *
 * `inputs` has one table for each OP_LOAD, found by op->id. Every row points to
 * the rows it was made from, down to the inputs.
 *
 * What kills a real job (x % 0, a scalar of two rows, text in SUM, ASSERT) is a
 * Fault: the value is null, the run goes on, and the list says where. A run has
 * a limit on rows; reaching it is an error.
 */
#ifndef SUNDEW_DATAFLOW_EVAL_H
#define SUNDEW_DATAFLOW_EVAL_H
#include "dataflow/plan.h"
#include "dataflow/udf.h"

typedef struct Row Row;
struct Row {
    const Tuple *tuple;
    Row **from;                /* rows of the inputs */
    uint32_t nfrom;
    uint32_t index;            /* in its table */
    int op;                    /* whose output it is in */
    int base;                  /* of a LOAD: number of the input row; else -1 */
};

typedef struct Table {
    Row **rows;
    size_t n;
} Table;

/* The rows of one LOAD. */
typedef struct Input {
    const Tuple **rows;
    size_t n;
} Input;

typedef struct Fault {
    SrcPos at;
    const char *text;
    const Op *op;
} Fault;

typedef enum { OUTCOME_FALSE, OUTCOME_TRUE, OUTCOME_NULL } Outcome;

typedef struct RunPlan {
    const Input *inputs;       /* by op->id */
    Udfs *udfs;                /* or NULL */
    uint64_t seed;             /* of RANDOM and SAMPLE */
    size_t max_rows;           /* of one table; 0: a million */
    double seconds;            /* 0: no limit */
    bool marks;                /* carry `made` through computations (costs time) */
} RunPlan;

typedef struct Run Run;

Run *run_plan(const Plan *p, const RunPlan *rp, Err *err);
void run_free(Run *r);                                   /* NULL is fine */
const Table *run_table(const Run *r, const Op *op);
/* FILTER, SPLIT, ASSERT: what the condition said about row i of the input. */
Outcome run_outcome(const Run *r, const Op *op, size_t i);
size_t run_faults(const Run *r, const Fault **out);
/* Values that became null because a cast, a division or a function failed: a
 * real job writes a warning and goes on. */
size_t run_warnings(const Run *r);
/* A function that was called and that nobody brought: its results were null. NULL:
 * none. */
const char *run_missing(const Run *r);
Arena *run_arena(Run *r);

/* The input rows below a row, each once: *out is (op id, row number) pairs in
 * order. Grows the vector. */
typedef struct BaseRow {
    int op;
    int row;
} BaseRow;
typedef Vec(BaseRow) BaseRows;
void row_lineage(const Row *row, BaseRows *out);

/* One expression on one row, for the solver and tests. */
typedef struct Evaluator Evaluator;
Evaluator *evaluator_new(const Plan *p, Udfs *udfs);
/* One that sees the tables of a run. */
Evaluator *run_evaluator(const Run *r);
void evaluator_free(Evaluator *e);
/* The value lives until evaluator_free(). *fault: it would have killed the job. */
Datum evaluator_value(Evaluator *e, const Term *t, const Tuple *row, bool *fault);

/* Conversions, as casts do them; false: null with a warning. */
bool datum_cast(Arena *a, const Datum *v, Type to, Datum *out);
/* The text of a tuple, bag or map: "(a,{(1)},[k#v])". */
bool datum_parse(Arena *a, const char *s, size_t n, Type to, Datum *out);
#endif
