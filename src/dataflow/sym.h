/*
 * sym - values that are not known yet: expressions of a plan over rows whose
 * cells are variables of the solver.
 *
 * A Sym has the type of a Datum. A number is a term of the solver, a text is a
 * list of alternatives (know.h), a tuple has fields, a bag has items that are
 * each present or not. Every Sym may be null.
 *
 * A function that the solver does not know is tabulated: its arguments run
 * through their alternatives, the evaluator (or the user's function) computes
 * each, and the result has the computed values as its alternatives. This is
 * exact, but for the restriction of the arguments; `inexact` is set then, and
 * "no solution" is no proof.
 *
 * A question may be `relaxed`: it then has all solutions that exist, and some
 * more. Two texts of one class are equal or not (`which`) and come in any order,
 * numbers that overflow may be anything, doubles are rounded. So "no solution" of
 * a relaxed question that is not `inexact` is a proof.
 */
#ifndef SUNDEW_DATAFLOW_SYM_H
#define SUNDEW_DATAFLOW_SYM_H
#include "base/map.h"
#include "dataflow/classes.h"
#include "dataflow/eval_int.h"
#include "dataflow/know.h"
#include "solve/arith.h"

typedef struct Sym Sym;

typedef struct Alt {
    Truth when;                /* and not null */
    Datum value;
    int class;                 /* of a text (know.h); 0: unknown */
} Alt;

struct Sym {
    DatumKind kind;
    Truth null;
    Num num;                   /* numbers, datetimes */
    Truth truth;               /* booleans */
    Alt *alts;                 /* text and bytes; of others, if they are known */
    size_t nalts;
    Num which;                 /* relaxed: which text of its class; equal texts, equal numbers */
    Sym *fields;               /* tuple: fields; map: values */
    const char **keys;         /* map */
    Sym *items;                /* bag: tuples */
    Truth *present;            /* bag: for each item */
    size_t n;                  /* fields or items */
    bool open;                 /* bag, relaxed: there may be more items */
    bool *used;                /* a cell of an input: somebody looked at it */
    const Column *column;      /* … and what is known about it */
};

/* The rows that a term sees. */
typedef struct SymEnv {
    const Sym *row;            /* a tuple */
    const struct SymEnv *up;
} SymEnv;

/* One demanded row of an input. */
typedef struct Slot {
    const Op *load;
    Sym row;
    bool *used;                /* for each column */
    Truth present;             /* may be left out (a row that a foreign key may need) */
    bool partner;              /* the row of a LEFT JOIN's right side, if it is present */
    bool aside;                /* a subquery's, no part of the row that is demanded */
    bool ruled;                /* the schema's rules were asserted */
} Slot;

/* How many and which rows a demand takes where there is a choice. */
typedef struct Shape {
    int group;                 /* rows in a group */
    int uneven;                /* the next group of the same op has one row more */
    int empty;                 /* COGROUP: inputs without rows, as bits */
    int outer;                 /* outer JOIN: 0 joined, 1 left alone, 2 right alone, or */
                               /* OUTER_AS_ASKED: alone if a FILTER asks for it */
    int side;                  /* UNION: which input, or SIDE_BY_TURNS */
    int null_key;              /* the key of a GROUP is null */
    int window;                /* another row of a partition: 0 none, 1 before, 2 behind */
} Shape;

enum { SIDE_BY_TURNS = -1, OUTER_AS_ASKED = 3 };

/* EXISTS of a subquery that looks through one table, or the other rows that a
 * subquery of one row must not have. */
typedef struct Absent {
    const Op *op, *load;
    const SymEnv *env;
    const Sym *x;              /* IN: what is compared; NULL: nothing */
    size_t own;                /* the slot of the one row; SIZE_MAX: none */
    TermKind compare;
    Truth there, guard;
    int tag;
} Absent;

typedef struct Sought {
    Arena *a;
    Arith *z;
    const Plan *plan;
    Know *know;
    const Run *run;            /* what the examples give so far */
    Udfs *udfs;
    bool passive;              /* users' functions: only calls that were seen */
    Evaluator *ev;
    Vec(Slot) slots;
    Vec(Truth) strangers;      /* a demanded row meets no old row by its key */
    Vec(Absent) absents;       /* subqueries that may have to be empty */
    Truth guard;               /* assertions hold under it */
    int tag;
    bool relaxed;
    Map opened;                /* relaxed: comparisons of two texts, each decided once */
    bool simple;               /* of two unknown factors one is small */
    bool products;             /* there are such */
    bool inexact;
    bool stuck;                /* a demand cannot be met at all */
    const char *why;           /* … because */
    const char *missing;       /* a function that nobody brought */
    Shape shape;
    bool one_group;            /* there is one GROUP of one input on the way */
    const Op *filled;          /* this GROUP must have two rows */
    size_t turn;               /* rows of unions so far */
    int aside;                 /* within so many subqueries */
    int lazy;                  /* within so many terms that may not be computed */
    int shared;                /* two rows that are demanded may be made of one row */
    double deadline;           /* of making the demand; 0: none */
    bool (*stop)(void *arg);   /* likewise; NULL: never */
    void *stop_arg;
    struct Made {
        const Op *op;
        const Sym *row;
    } *made;   /* rows of GROUP, DISTINCT, LIMIT */
    size_t nmade, cap_made;
    const Op *scalar_ops[32];  /* EXPR_SCALAR: one row each */
    Sym scalar_rows[32];
    size_t nscalars;
    const SymEnv *outer;       /* for rows of subqueries */
} Sought;

enum { TAG_FRESH, TAG_DOMAIN, TAG_RANGE, TAG_RULES, TAG_OPS };   /* op ids from TAG_OPS on */

void sought_assert(Sought *s, Truth t);
void sought_assert_as(Sought *s, Truth t, int tag);

Sym sym_const(Sought *s, const Datum *d);
Sym sym_null(Sought *s, DatumKind kind);
/* A free value of a type; `column` may be NULL. */
Sym sym_leaf(Sought *s, Type type, const Column *column, bool *used);
Sym sym_term(Sought *s, const Term *t, const SymEnv *env);
Truth sym_true(Sought *s, const Sym *b);           /* a boolean is true */
Truth sym_false(Sought *s, const Sym *b);
Truth sym_equal(Sought *s, const Sym *x, const Sym *y);       /* neither is null */
Truth sym_alike(Sought *s, const Sym *x, const Sym *y);       /* null is like null */
Truth sym_rows_alike(Sought *s, const Sym *x, const Sym *y);  /* all fields */
Sym sym_tuple(Sought *s, size_t n);
void sym_look(const Sym *row);                     /* somebody looks at all its cells */
Sym sym_choose(Sought *s, Truth c, const Sym *x, const Sym *y);   /* c ? x : y of any type */
/* The value in the solver's model. */
Datum sym_value(Sought *s, const Sym *x, Type type, Arena *a);

/* A bag as a symbolic table. */
Sym sym_nested(Sought *s, const Op *op, const SymEnv *env);

/* ---- demand.c */
/* A row in the output of an op. */
Sym demand_row(Sought *s, const Op *op);
/* Rows that show a class. False: it cannot be demanded (s->why). */
bool demand_class(Sought *s, const Class *c);
/* Rules of the schema for all slots, and the rows that they need. */
void demand_rules(Sought *s);
/* EXISTS and its like: a row of the op that makes `same` true; the result says
 * whether it is there. */
Truth demand_exists(Sought *s, const Op *op, const SymEnv *env, const Sym *equal_to,
                    TermKind compare);
Sym demand_scalar(Sought *s, const Op *op, const SymEnv *env, int column);
#endif
