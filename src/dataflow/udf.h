/*
 * udf - functions that users bring: C shared objects, processes that speak
 * JSON lines, recorded tables.
 *
 * A file of JSON lists them (--udf FILE), or options do:
 *
 *     { "HASH": { "library": "./hash.so", "type": "int" },
 *       "geo.Country": { "command": ["./country.py"], "type": "chararray" },
 *       "Score": { "table": "score.jsonl", "type": "double" } }
 *
 * A library exports, for each function,
 *
 *     const char *NAME(const char *args);    args and result as JSON text
 *
 * It runs in a process of its own, like a command: a crash or a hang is the
 * function's, not ours. A command reads lines {"f":NAME,"args":[…]} and answers
 * each with {"value":…} or {"error":"…"}. A table holds lines
 * {"args":[…],"value":…}.
 *
 * Each distinct call is made once and remembered. The first calls of each
 * function are made twice: an answer that differs marks it as not
 * deterministic. A call has a time limit; after a hang or a crash the function
 * gets a new process, and after three it is given up.
 *
 * A function that nobody brought is opaque: its calls give null, and classes
 * that depend on it are reported as not known.
 */
#ifndef SUNDEW_DATAFLOW_UDF_H
#define SUNDEW_DATAFLOW_UDF_H
#include "base/err.h"
#include "dataflow/plan.h"

typedef struct Udfs Udfs;

Udfs *udfs_new(void);
void udfs_free(Udfs *u);                       /* NULL is fine; ends the processes */
/* Reads a list; relative paths are seen from its folder. `self` is the program
 * that hosts libraries. */
bool udfs_read(Udfs *u, const char *path, Err *err);
void udfs_limit(Udfs *u, double seconds);      /* of a call; 2 */

bool udf_known(const Udfs *u, const char *name);
/* The value of a call. False: no value (not brought, or it failed). */
bool udf_call(Udfs *u, Arena *a, const char *name, Type type, const Datum *args, size_t n,
              Datum *out);

/* Calls seen so far, of one function or (NULL) all. */
typedef struct UdfCall {
    const char *name;
    const Datum *args;
    size_t nargs;
    Datum result;
} UdfCall;
size_t udf_calls(const Udfs *u, const UdfCall **out);

/* What went wrong: "HASH: no answer in 2s". */
size_t udf_complaints(const Udfs *u, char *const **out);

/* The type that the list gives a function; bytearray if none. The plan keeps
 * types of its functions by plan_udfs(). */
Type udf_type(const Plan *p, const Term *call);
DatumKind udf_declared(const Udfs *u, const char *name);
#endif
