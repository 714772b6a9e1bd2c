/*
 * eval_int - what the parts of the evaluator share: eval.c (the run), eval_op.c
 * and eval_join.c (operators), eval_term.c (expressions), eval_sql.c
 * (aggregates and windows of SQL).
 */
#ifndef SUNDEW_DATAFLOW_EVAL_INT_H
#define SUNDEW_DATAFLOW_EVAL_INT_H
#include "base/map.h"
#include "base/rng.h"
#include "dataflow/eval.h"
#include "dataflow/function.h"
#include "dataflow/regex.h"

/* The rows that an expression sees. */
typedef struct Env {
    const Tuple *row;
    const struct Env *up;
} Env;

typedef struct Eval {
    const Plan *plan;
    Arena *a;
    const Table *tables;       /* of top-level ops; NULL in an Evaluator */
    Udfs *udfs;
    CallCtx call;
    Err call_err;
    Rng rng;
    Map regexes;               /* kind and pattern -> Regex, or NULL if it is wrong */
    Arena regex_arena;
    Vec(Fault) faults;
    const Op *op;              /* the one that is running */
    size_t max_rows, warnings;
    const char *missing;       /* a function that nobody brought was called; or NULL */
    double deadline;
    bool marks;
    bool stopped;              /* a limit was reached; `err` says which */
    Err err;
} Eval;

struct Evaluator {
    Arena arena;
    Eval ev;
};

void eval_init(Eval *ev, const Plan *p, Arena *a, Udfs *udfs, uint64_t seed);
void eval_release(Eval *ev);
void eval_fault(Eval *ev, SrcPos at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool eval_stop(Eval *ev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

Datum eval_term(Eval *ev, const Term *t, const Env *env);
bool eval_is_made(Eval *ev, const Term *t, const Env *env);
Outcome eval_cond(Eval *ev, const Term *t, const Env *env);
Datum eval_aggregate(Eval *ev, const Term *t, const Env *env);
/* -1, 0, 1; SQL compares doubles as numbers, Pig as Java does. */
int eval_compare(const Eval *ev, const Datum *x, const Datum *y);

/* Rows under construction. */
typedef struct Rows {
    Row **items;
    size_t len, cap;
} Rows;
Row *eval_row(Eval *ev, Rows *out, const Tuple *t, Row *const *from, size_t nfrom);
Tuple *eval_concat(Eval *ev, const Tuple *x, const Tuple *y);

/* `ins` has one table for each input. `outcomes`, if not NULL, gets one for
 * each input row of FILTER, SPLIT, ASSERT. */
bool eval_op(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out,
             uint8_t *outcomes);
bool eval_join(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out);
bool eval_group(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out);
bool eval_cube(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out);
bool eval_windows(Eval *ev, const Op *op, const Table *ins, const Env *env, Rows *out);
bool eval_nested(Eval *ev, const Op *op, const Env *env, Rows *out);
/* Sorted by the keys, equal ones in the order they had. */
void eval_sort(Eval *ev, const SortKey *keys, size_t n, const Env *env, Row **rows, size_t nrows);
/* < 0, 0, > 0 of two rows. */
int eval_sort_compare(Eval *ev, const SortKey *keys, size_t n, const Datum *x, const Datum *y);
/* Bytes that are equal exactly if the values are. */
void eval_key(Str *out, const Datum *v);
bool eval_has_null(const Datum *v);        /* or, of a tuple, some field is */
#endif
