/*
 * sql_int - what the parts of the SQL front end share: sql.c (texts,
 * statements), schema.c (CREATE TABLE), sql_select.c (SELECT), sql_from.c (FROM
 * and joins), sql_group.c (GROUP BY), sql_expr.c (expressions).
 *
 * The parser hands over a tree in JSON. Every node is an object with one key,
 * its kind, or (where only one kind can stand) the content without that key.
 */
#ifndef SUNDEW_DATAFLOW_SQL_INT_H
#define SUNDEW_DATAFLOW_SQL_INT_H
#include "base/json.h"
#include "dataflow/eval.h"
#include "dataflow/sql.h"

enum { SQL_MOST_DEPTH = 150 };

typedef struct SqlColumn {
    const char *table;         /* alias of its table; NULL: none */
    const char *name;          /* NULL: none */
    const Op *load;            /* where it comes from, unchanged; or NULL */
    int at;                    /* … and which column there */
    int item;                  /* of FROM */
    bool merged;               /* USING: the other side's column stands for both */
} SqlColumn;

/* A table while a query is built: an op and the names of its columns. */
typedef struct Rel {
    Op *op;
    SqlColumn *cols;
    size_t n;
} Rel;

/* What names mean at some place. A grouped scope sees rows (key, bag of rows of
 * `rel`), and after window functions one more column each. With several grouping
 * sets its rows are flat: a column for each key, then one for each of `flat`. */
typedef struct Names {
    Scope scope;               /* first: the types' view of the same */
    Rel rel;
    struct Names *up;
    bool grouped;
    json_t **keys;             /* GROUP BY */
    Term **key_terms;          /* … seen from a row of `rel` */
    size_t nkeys;
    json_t **flat;             /* aggregates and GROUPING()s that are columns now; or NULL */
    size_t nflat;
    json_t **windows;          /* nodes that are columns now */
    size_t nwindows;
    int window_at;             /* the first of these columns */
} Names;

/* One SELECT while it is built. */
typedef struct SqlSelect {
    json_t *s;
    json_t *targets;           /* nodes of the output columns, * spelled out */
    Rel rel;                   /* what there is so far */
    Names *names;              /* how expressions see it */
} SqlSelect;

typedef struct SqlCte {
    const char *name;
    Rel rel;
    struct SqlCte *next;
} SqlCte;

typedef struct SqlTable {
    const char *name;
    const Schema *schema;
    TableRules *rules;
    struct SqlForeign {
        const char *table;
        char **others;
        size_t nothers;
        SrcPos at;
    } *foreign;
    SrcPos at;
    Op *load;                  /* made when the query needs it */
    bool busy;
} SqlTable;

typedef struct SqlText {       /* a text, as the parser sees it */
    const char *file;
    char *text;                /* in the plan's arena */
    size_t n;
    size_t *lines;             /* where they begin */
    size_t nlines;
} SqlText;

typedef struct Sql {
    Plan *p;
    const SqlOptions *o;
    const SqlText *t;          /* what is being read */
    Err *err;
    bool failed;               /* err is set */
    Vec(SqlTable *) tables;
    SqlCte *ctes;
    Names *outer;              /* of the query around this one */
    int nest;                  /* > 0: inside a subquery of an expression */
    int depth;
} Sql;

/* ---- sql.c: the tree and places */
const char *sql_kind(const json_t *node);              /* "" if it is no node */
json_t *sql_body(const json_t *node);                  /* the content of a node */
const char *sql_text_of(const json_t *node);           /* of a String node, or "" */
SrcPos sql_at(const Sql *q, const json_t *node);       /* the first place inside */
const char *sql_source(Sql *q, const char *before, const json_t *node);
bool sql_fail(Sql *q, SrcPos at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool sql_same(const json_t *x, const json_t *y);       /* but for places */
size_t sql_count(const json_t *array);
Op *sql_op(Sql *q, OpKind kind, SrcPos at, const Rel *in, const char *alias);
bool sql_finish(Sql *q, Op *op);
SqlColumn *sql_columns(Sql *q, size_t n);
SqlTable *sql_find_table(const Sql *q, const char *name);
Op *sql_load(Sql *q, SqlTable *t);

/* ---- schema.c */
bool sql_create_table(Sql *q, const json_t *stmt);
bool sql_alter_table(Sql *q, const json_t *stmt);
bool sql_bind_rules(Sql *q);                           /* when all tables are known */
void sql_bind_loads(Sql *q);                           /* when all LOADs are there */
bool sql_type(Sql *q, const json_t *type_name, Type *out, bool *day, int *size, int *decimals);

/* ---- sql_select.c */
bool sql_select(Sql *q, json_t *s, Rel *out);

json_t *sql_target_value(const SqlSelect *sel, size_t i);

/* ---- sql_group.c */
bool sql_group(Sql *q, SqlSelect *sel);                /* GROUP BY; HAVING is the caller's */

/* ---- sql_from.c */
/* FROM, and the parts of WHERE that join; *rest has the other parts. */
bool sql_from(Sql *q, json_t *from, json_t *where, Rel *out, json_t *rest);
void sql_conjuncts(json_t *cond, json_t *out);

/* ---- sql_expr.c */
Term *sql_expr(Sql *q, json_t *node, Names *n);        /* typed; NULL: failed */
Term *sql_all_of(Sql *q, const json_t *conjuncts, Names *n);
bool sql_is_aggregate(const json_t *call);
bool sql_has_aggregate(const json_t *node);
/* The column of `r` with that name; -1 none, -2 several. */
int sql_find_column(const Rel *r, const char *table, const char *name);
bool sql_column_ref(const json_t *ref, const char **table, const char **name);
bool sql_sort_key(Sql *q, const json_t *sort_by, SortKey *out);     /* all but expr */
Names *sql_names(Sql *q, const Rel *r, Names *up);
bool sql_window(Sql *q, json_t *call, json_t *named, Names *n, Window *out);
#endif
