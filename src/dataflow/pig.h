/*
 * pig - Pig Latin into a plan.
 *
 *     Plan *p = pig_read("script.pig", &(PigOptions){ .params = params }, err);
 *
 * Parameters are replaced in the text first (%declare, then `params`, then
 * `param_files`, then %default), macros and imports are expanded, and names are
 * resolved to positions. An error says where it is and what was expected:
 *
 *     script.pig:7:14: expected BY after the relation of FILTER, found "x"
 *
 * Commands of the shell (fs, rmf, set, …) and execution hints (PARALLEL, USING
 * 'replicated') are passed over. A parameter whose value is a shell command in
 * backquotes is refused: Sundew runs no commands of scripts.
 */
#ifndef SUNDEW_DATAFLOW_PIG_H
#define SUNDEW_DATAFLOW_PIG_H
#include "dataflow/plan.h"
#include "dataflow/udf.h"

typedef struct PigOptions {
    char *const *params;       /* "name=value", to NULL; or NULL */
    char *const *param_files;  /* to NULL; or NULL */
    const Udfs *udfs;          /* for the types of users' functions; or NULL */
} PigOptions;

Plan *pig_read(const char *path, const PigOptions *o, Err *err);
/* The same from memory; `name` stands in messages and is the place that
 * imports are looked up from. */
Plan *pig_parse(const char *text, size_t n, const char *name, const PigOptions *o, Err *err);
#endif
