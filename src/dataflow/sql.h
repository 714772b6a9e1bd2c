/*
 * sql - SQL into a plan.
 *
 *     Plan *p = sql_read("query.sql", &(SqlOptions){ .schemas = schemas }, err);
 *
 * The text is parsed with PostgreSQL's own grammar (libpg_query). A file holds
 * one SELECT, and may hold CREATE TABLE statements; others come from `schemas`.
 * What a schema promises (NOT NULL, keys, CHECK) is in the rules of the LOADs.
 *
 * Spellings of other dialects are turned into PostgreSQL's first: `name`
 * becomes "name", LIMIT a, b becomes LIMIT b OFFSET a, and dbt's
 * {{ ref('x') }} and {{ source('s', 'x') }} become x.
 *
 * An error says where it is and what is not understood:
 *
 *     query.sql:3:14: not supported: a recursive WITH
 *
 * Without libpg_query at build time sql_read() fails and says how to get it.
 */
#ifndef SUNDEW_DATAFLOW_SQL_H
#define SUNDEW_DATAFLOW_SQL_H
#include "dataflow/plan.h"

/* Databases differ in where ORDER BY puts nulls, and in the case of LIKE. */
typedef enum SqlDialect { SQL_POSTGRES, SQL_SQLITE } SqlDialect;

typedef struct SqlOptions {
    char *const *schemas;      /* files of CREATE TABLE, to NULL; or NULL */
    SqlDialect dialect;
} SqlOptions;

Plan *sql_read(const char *path, const SqlOptions *o, Err *err);
/* The same from memory: the texts of a query and of a schema (may be NULL). */
Plan *sql_parse(const char *query, const char *name, const char *schema, const SqlOptions *o,
                Err *err);
/* Was Sundew built with libpg_query? */
bool sql_available(void);

struct Input;
struct Examples;
/* Rows as INSERT statements; a table comes after those that it refers to. */
void sql_print_inserts(const Plan *p, const struct Input *inputs, Str *out);
/* A dbt unit test: the rows of each input, and what the query gives. */
void sql_print_dbt(const struct Examples *e, const char *model, Str *out);
/* A value as SQL writes it: 3, 'it''s', NULL. `day`: a date without a time. */
void sql_print_value(Str *out, const Datum *v, bool day);
#endif
