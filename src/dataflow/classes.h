/*
 * classes - what an operator can do, and whether given rows show it.
 *
 *     Classes *c = classes_new(plan, GOALS_NULLS);
 *     classes_measure(c, run);
 *     for (size_t i = 0; i < c->n; i++)
 *         if (!c->items[i].shown) …
 *     Metrics m = classes_metrics(c, run);
 *
 * Each operator has a few equivalence classes: a FILTER has rows that pass and
 * rows that fail, a GROUP has a group of two rows, an outer join has rows
 * without a partner. A class is shown if the run has its witness, a set of rows
 * at the operator.
 *
 * Classes of nulls, boundaries and single conditions (MC/DC) are `extra`: they
 * are made on demand and counted apart.
 */
#ifndef SUNDEW_DATAFLOW_CLASSES_H
#define SUNDEW_DATAFLOW_CLASSES_H
#include "dataflow/eval.h"

typedef enum ClassKind {
    CLASS_ROWS,                /* some row at the input */
    CLASS_PASS,
    CLASS_FAIL,
    CLASS_NULL,    /* the condition */
    CLASS_GROUP_OF_TWO,        /* a group with two rows of one input */
    CLASS_JOINED,
    CLASS_LEFT_ALONE,
    CLASS_RIGHT_ALONE,   /* outer joins */
    CLASS_FROM_INPUT,          /* UNION: a row of input `part` */
    CLASS_DUPLICATE,           /* DISTINCT: two equal rows */
    CLASS_TWO_EACH,            /* CROSS: two rows of each input */
    CLASS_TWO_DIFFERENT,       /* ORDER */
    CLASS_MORE_THAN_LIMIT,
    CLASS_IN_BOTH,
    CLASS_ONLY_LEFT,        /* INTERSECT, EXCEPT */
    CLASS_BOUNDARY,            /* both sides of the comparison `part` are equal */
    CLASS_ONE_DECIDES,         /* condition `part` decides, the others do not */
    CLASS_EMPTY_SIDE,          /* COGROUP: input `part` has no row for a key */
} ClassKind;

enum { GOALS_NULLS = 1, GOALS_BOUNDARIES = 2, GOALS_MCDC = 4, GOALS_EMPTY = 8 };

typedef enum { WHY_UNTRIED, WHY_UNSAT, WHY_UNKNOWN, WHY_TIME } WhyNot;

typedef struct Class {
    const Op *op;
    ClassKind kind;
    int part;
    Term *atom;                /* BOUNDARY, ONE_DECIDES: the comparison */
    bool extra;
    size_t needs;              /* rows at the operator that show it, at least */

    bool shown;
    Row **witness;             /* in the run's arena */
    size_t nwitness;

    WhyNot why;                /* if it is not shown */
    const char *reason;        /* for people; or NULL */
    const Op **conflict;       /* WHY_UNSAT: the ops that contradict */
    size_t nconflict;
} Class;

typedef struct Classes {
    Arena arena;
    const Plan *plan;
    Class *items;
    size_t n;
} Classes;

Classes *classes_new(const Plan *p, int goals);
void classes_free(Classes *c);
/* Fills in `shown` and the witnesses. */
void classes_measure(Classes *c, const Run *r);
/* More witnesses of one class, at most `most`: arrays of rows, NULL at the end. */
size_t class_witnesses(const Class *c, const Run *r, Arena *a, Row ***out, size_t most);
/* "passes", "no row on the right side" */
void class_print(const Class *c, Str *out);
const char *class_word(ClassKind k);               /* "pass", "left-alone" */

typedef struct Metrics {
    double completeness;       /* shown / all that are not proved impossible */
    double conciseness;
    double realism;
    size_t shown, all, impossible;                 /* basic classes */
    size_t extra_shown, extra_all, extra_impossible;
} Metrics;

/* `made[i]` of an input row: it was invented. By op id; NULL: none was. */
Metrics classes_metrics(const Classes *c, const Run *r, const Input *inputs, bool *const *made);
#endif
