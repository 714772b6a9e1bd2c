/*
 * plan - a dataflow program: operators that turn tables into tables.
 *
 * A front end (pig.h, sql.h) reads a text and builds a Plan; the evaluator, the
 * classes and the solver know plans only. A plan is a graph of Ops. Each has
 * its inputs, which were made before it, and the schema of its output.
 *
 * How a front end builds a plan:
 *
 *     Plan *p = plan_new(LANG_SQL, "query.sql");
 *     Op *t = plan_op(p, OP_LOAD, at);            a table
 *     t->alias = "orders"; t->path = "orders"; t->schema = …;
 *     Op *f = plan_op(p, OP_FILTER, at);
 *     op_input(p, f, t);
 *     f->cond = term_binary(p, TERM_LT, term_field(p, 0, 2, at), …);
 *     op_finish(p, f, err)                        types, implicit casts, schema
 *     Op *s = plan_op(p, OP_STORE, at); op_input(p, s, f); op_finish(p, s, err);
 *
 * op_finish() must be called for each op after its fields are set; it checks
 * types, inserts implicit casts, and fills in `schema` (for LOAD the front end
 * sets it). A Term is finished by term_finish(), which op_finish() calls on
 * every expression of the op; so an Term gets its `type` there.
 * plan_finish() comes last: it adds a STORE below every dangling op.
 *
 * References to fields are positions, never names: TERM_FIELD has a `depth`
 * and an `index`. Depth 0 is the row that the operator looks at. Inside a
 * nested block or a subquery depth 1 is the row of the enclosing operator, 2
 * the one around that. For OP_JOIN with `cond` the row is the concatenation of
 * both inputs. Keys of input i of GROUP, JOIN see a row of input i.
 *
 * Nested blocks and subqueries are ops too, but outside of plan->ops: make them
 * with plan_nested(). A nested block begins with OP_BAG (a bag-valued
 * expression of the enclosing row as a table) or, for subqueries, with the ops
 * of the FROM clause (top-level LOADs may be inputs). TERM_NESTED gives the
 * output of such an op as a bag; TERM_EXISTS, TERM_IN_QUERY, TERM_SCALAR_QUERY
 * ask about it.
 *
 * SQL's GROUP BY is OP_GROUP followed by OP_FOREACH over ($0 = key, or a tuple
 * of keys; $1 = bag of the rows), with TERM_AGGREGATE in its items (argument
 * seen from a row in the bag: depth 0 is the bag's row, depth 1 the group's
 * row). HAVING is a FILTER between (its cond uses TERM_AGGREGATE likewise).
 * Aggregation without GROUP BY is OP_GROUP with `all` and `even_empty`. SELECT DISTINCT is
 * OP_DISTINCT, WITH is an op with several consumers, VALUES is OP_VALUES, set
 * operations are OP_UNION (+ OP_DISTINCT), OP_INTERSECT, OP_EXCEPT, window
 * functions OP_WINDOW, which appends one column each to its input.
 *
 * All memory of a plan is in its arena.
 */
#ifndef SUNDEW_DATAFLOW_PLAN_H
#define SUNDEW_DATAFLOW_PLAN_H
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "dataflow/datum.h"

typedef struct Op Op;
typedef struct Term Term;
typedef struct Plan Plan;

/* Where something stands in the text. `file` is the plan's. */
typedef struct SrcPos {
    const char *file;
    int line, column;          /* from 1; 0: unknown */
} SrcPos;

/* The meaning of nulls in CASE, of division by zero, of ORDER's nulls, and the
 * like depend on the language. */
typedef enum Lang { LANG_PIG, LANG_SQL } Lang;

/* ---- expressions */

typedef enum TermKind {
    TERM_CONST,                /* value */
    TERM_FIELD,                /* depth, index; index -1: the whole row as a tuple */
    TERM_PROJECT,              /* args[0] is a tuple or bag; columns[] of it. A tuple's single
                                * column is the value itself unless `wrap` */
    TERM_LOOKUP,               /* args[0] is a map, args[1] the key */
    TERM_NESTED, /* the output of `op` as a bag; `op` sees the row `depth` levels up */
    TERM_SCALAR, /* column `index` of the one row of the top-level `op` */

    TERM_NEG,
    TERM_ADD,
    TERM_SUB,
    TERM_MUL,
    TERM_DIV,
    TERM_MOD,
    TERM_EQ,
    TERM_NE,
    TERM_LT,
    TERM_LE,
    TERM_GT,
    TERM_GE,
    TERM_NOT_DISTINCT, /* SQL: IS NOT DISTINCT FROM: null equals null */
    TERM_AND,
    TERM_OR,
    TERM_NOT,
    TERM_IS_NULL, /* IS NOT NULL is TERM_NOT of it */
    TERM_MATCHES, /* args[1]: Java regular expression, the whole text */
    TERM_LIKE, /* args[1]: SQL pattern; fold: ILIKE; escape '\\' */

    TERM_COND, /* Pig's c ? a : b; null if c is null */
    TERM_CASE, /* SQL: c1, v1, c2, v2, …, [else]: first true wins */
    TERM_CAST, /* args[0] to type */
    TERM_CALL, /* function `name`, args */
    TERM_AGGREGATE, /* SQL: `name` over the rows of bag args[0]; see below */

    TERM_EXISTS, /* SQL: `op` has a row */
    TERM_IN_QUERY, /* SQL: args[0] equals column 0 of a row of `op`; three-valued */
    TERM_SCALAR_QUERY, /* SQL: column 0 of the one row of `op`, or null */
    TERM_QUANTIFIED, /* SQL: args[0] `compare` ANY/ALL of column 0 of `op` */
} TermKind;

struct Term {
    TermKind kind;
    Type type; /* set by term_finish(); TERM_CAST: set by the maker */
    SrcPos at;
    Term **args;
    size_t nargs;
    Datum value; /* TERM_CONST */
    int depth, index; /* TERM_FIELD; index also TERM_SCALAR, depth TERM_NESTED */
    int *columns; /* TERM_PROJECT; -1 - k: k-th from an unknown schema */
    size_t ncolumns;
    bool wrap; /* TERM_PROJECT: a tuple even for one column */
    bool implicit; /* TERM_CAST: nobody wrote it */
    bool fold; /* TERM_LIKE: ignore case */
    bool java; /* TERM_MATCHES: the pattern is no constant, so Java's engine has it */
    bool distinct; /* TERM_AGGREGATE: over distinct values */
    bool all; /* TERM_QUANTIFIED: ALL */
    TermKind compare; /* TERM_QUANTIFIED: TERM_EQ, … */
    const char *name; /* TERM_CALL, TERM_AGGREGATE: as written */
    /* TERM_CALL: what DEFINE gave the function when it was made. */
    const char *const *ctor;
    size_t nctor;
    /* TERM_AGGREGATE: args[0] is the bag; args[1] the argument, seen from a row
     * of the bag (absent: COUNT(*)); `filter` likewise; or NULL. Names: count,
     * sum, avg, min, max, string_agg, array_agg, bool_and, bool_or, stddev,
     * variance; each in lower case. */
    Term *filter;
    Op *op; /* TERM_NESTED, TERM_SCALAR, the query kinds */
};

/* ---- operators */

typedef enum OpKind {
    OP_LOAD,
    OP_VALUES,
    OP_BAG,
    OP_STORE,
    OP_FILTER,
    OP_FOREACH,
    OP_GROUP,
    OP_JOIN,
    OP_CROSS,
    OP_UNION,
    OP_DISTINCT,
    OP_SPLIT, /* one branch: FILTER with siblings, see `split` */
    OP_ORDER,
    OP_LIMIT,
    OP_SAMPLE,
    OP_RANK,
    OP_CUBE,
    OP_ASSERT,
    OP_STREAM,
    OP_INTERSECT,
    OP_EXCEPT,
    OP_WINDOW,
} OpKind;
enum { OP_KINDS = OP_WINDOW + 1 };

typedef enum JoinKind { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT, JOIN_FULL } JoinKind;

/* One item of GENERATE, or one output column of SELECT. */
typedef struct Item {
    Term *expr;
    bool flatten;
    const Schema *as; /* names (and, if `typed`, types) given with AS; or NULL */
    bool typed;
} Item;

typedef struct SortKey {
    Term *expr;
    bool descending;
    bool nulls_first; /* Pig: ascending true, descending false */
    bool star; /* of `*`: also what has no order of its own */
} SortKey;

/* The keys of one input of GROUP or JOIN. */
typedef struct Keys {
    Term **exprs;
    size_t n;
    bool inner; /* COGROUP … INNER: drop groups without rows of this input */
} Keys;

/* A window function: `name` over partitions. */
typedef struct Window {
    const char *name; /* row_number, rank, dense_rank, lag, lead, first_value,
                                * last_value, ntile, percent_rank, cume_dist, or an aggregate */
    Term **args;
    size_t nargs;
    Term **partition;
    size_t npartition;
    SortKey *order;
    size_t norder;
    bool rows; /* frame in ROWS, else RANGE */
    bool frame; /* a frame was given; else: with ORDER up to the peers of
                                * the current row, without it the whole partition */
    int64_t from, to; /* ROWS frame, relative; INT64_MIN, INT64_MAX: unbounded */
    const char *column; /* name of the new column */
    SrcPos at;
} Window;

/* What a schema promises about a table. Column numbers are of the LOAD. */
typedef struct TableRules {
    bool *not_null; /* for each column */
    struct UniqueKey {
        int *columns;
        size_t n;
        bool primary;
    } *unique;
    size_t nunique;
    struct ForeignKey {
        int *columns;
        Op *table;
        int *others;
        size_t n;
    } *foreign;
    size_t nforeign;
    Term **checks; /* seen from a row; false forbids, null allows */
    size_t nchecks;
    int *max_length; /* of text columns; 0: none. Of numbers: bytes. May be NULL */
    int *decimals; /* of numeric columns; -1: any. May be NULL */
    bool *whole_days; /* of datetimes: dates. May be NULL */
    Datum *defaults; /* null: none. May be NULL */
} TableRules;

struct Op {
    OpKind kind;
    int id; /* position in plan->ops; nested ones from 100000 on */
    const char *alias; /* name of the result; NULL: none */
    const char *text; /* the statement, short, for people; may be NULL */
    SrcPos at;
    Op **in;
    size_t nin;
    size_t nout; /* how many ops read it */
    const Schema *schema; /* of the output; NULL: unknown */
    bool hidden; /* no line of the source: not shown, no classes of its own */

    const char *path; /* LOAD, STORE: what; STREAM: the command */
    const char *loader; /* LOAD, STORE: function, or NULL for PigStorage */
    const char **loader_args;
    size_t nloader_args;
    bool typed; /* LOAD: AS had types; each field is cast on loading */
    TableRules *rules; /* LOAD; or NULL */

    Term *cond; /* FILTER, SPLIT, ASSERT; JOIN … ON (SQL) */
    Term *source; /* BAG */
    Item *items; /* FOREACH */
    size_t nitems;
    Op **block; /* FOREACH: nested ops, in order (for display) */
    size_t nblock;
    Keys *keys; /* GROUP, JOIN: one for each input; CUBE: keys[0] */
    bool all; /* GROUP ALL; INTERSECT ALL, EXCEPT ALL */
    bool even_empty; /* GROUP ALL: a group also of no rows (SQL) */
    JoinKind join;
    bool by_name; /* UNION ONSCHEMA */
    SortKey *order; /* ORDER, RANK */
    size_t norder;
    bool dense; /* RANK … DENSE */
    Term *count; /* LIMIT: how many, may be NULL (SQL); SAMPLE: the fraction */
    Term *offset; /* LIMIT (SQL); or NULL */
    Op *split; /* SPLIT: first branch of the statement (itself for the first) */
    bool otherwise; /* SPLIT: cond was made from the others */
    size_t rollup; /* CUBE: how many leading keys are a ROLLUP; the rest CUBE */
    Tuple **rows; /* VALUES */
    size_t nrows;
    Window *windows; /* WINDOW */
    size_t nwindows;
    const char *message; /* ASSERT; or NULL */
};

typedef struct PlanNote { /* what a front end skipped or doubts */
    SrcPos at;
    char *text;
} PlanNote;

struct Plan {
    Arena arena;
    Lang lang;
    bool postgres; /* x / 0 ends the query, a date and a number are days */
    const char *file;
    Vec(Op *) ops; /* inputs stand before their users */
    Vec(PlanNote) notes;
    int nnested;
    const struct Udfs *udfs; /* types of users' functions; or NULL */
};

Plan *plan_new(Lang lang, const char *file);
void plan_free(Plan *p); /* NULL is fine */
Op *plan_op(Plan *p, OpKind kind, SrcPos at);
Op *plan_nested(Plan *p, OpKind kind, SrcPos at);
void op_input(Plan *p, Op *op, Op *input);
void plan_note(Plan *p, SrcPos at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Types, implicit casts, output schema. Errors carry "file:line:column: ". */
bool op_finish(Plan *p, Op *op, Err *err);
/* A STORE below every op that nobody reads. */
bool plan_finish(Plan *p, Err *err);
void plan_check(const Plan *p); /* asserts what always holds */
const char *op_kind_name(OpKind k); /* "FILTER" */
/* "line 7"; of another file than `file` "macros.pig line 7". */
void src_print_line(Str *out, SrcPos at, const char *file);
/* The last top-level op with this alias, or NULL. */
Op *plan_find(const Plan *p, const char *alias);

Term *term_new(Plan *p, TermKind kind, SrcPos at);
Term *term_const(Plan *p, Datum v, SrcPos at);
Term *term_field(Plan *p, int depth, int index, SrcPos at);
Term *term_unary(Plan *p, TermKind kind, Term *x);
Term *term_binary(Plan *p, TermKind kind, Term *x, Term *y);
Term *term_call(Plan *p, const char *name, Term **args, size_t n, SrcPos at);
Term *term_cast(Plan *p, Term *x, Type to, bool implicit);
void term_arg(Plan *p, Term *e, Term *arg); /* one more argument */
/* Does TERM_EQ, TERM_LT … hold where a comparison gave `c`? */
bool term_sign_holds(TermKind sign, int c);
void term_print(const Term *e, Str *out);
/* Calls `see` for e and everything inside it, but not in nested ops. */
void term_walk(Term *e, void (*see)(Term *e, void *arg), void *arg);

/* The rows that an expression sees: `row` at depth 0, `up` at depth 1. A NULL
 * schema is unknown. */
typedef struct Scope {
    const Schema *row;
    const struct Scope *up;
} Scope;

/* Checks and types `*e`, which may be replaced (by a cast of itself). */
bool term_finish(Plan *p, Term **e, const Scope *scope, Err *err);
/* For ops in nested blocks and subqueries: their rows are seen from `up`. */
bool op_finish_in(Plan *p, Op *op, const Scope *up, Err *err);
#endif
