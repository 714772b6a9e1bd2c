/*
 * function - the built-in functions of the language, one row each.
 *
 *     const Function *f = function_find("org.apache.pig.builtin.SUM");
 *     Type t = function_type(f, arg_types, n, a);
 *
 * A name that is not here is a user's function (udf.h). Names are
 * case-sensitive, as in Pig; a package in front of a known name is passed over
 * if it is Pig's own.
 */
#ifndef SUNDEW_DATAFLOW_FUNCTION_H
#define SUNDEW_DATAFLOW_FUNCTION_H
#include "base/err.h"
#include "base/rng.h"
#include "dataflow/datum.h"

/* What a call may use. */
typedef struct CallCtx {
    Arena *arena;
    Rng *rng;
    int64_t now;               /* CurrentTime: fixed for a run */
    int64_t unique;            /* UniqueID counts here */
    const char *const *ctor;   /* of the call */
    size_t nctor;
    size_t warnings;           /* values that became null */
    Err *err;                  /* a failed call sets it, and `failed` */
    bool failed;
} CallCtx;

typedef Datum FunctionCall(CallCtx *c, const Datum *args, size_t n);

/* How the result's type follows from the arguments. */
typedef enum TypeRule {
    TYPE_FIXED,                /* `result` */
    TYPE_SAME,                 /* as the first argument; untyped becomes double */
    TYPE_SUM,                  /* of a bag's first column: long or double */
    TYPE_MINMAX,               /* of a bag's first column: the same, untyped becomes double */
    TYPE_ROUND,                /* float: int; else long */
    TYPE_BAG_SAME,             /* the bag that was handed in */
    TYPE_TUPLE_OF,
    TYPE_BAG_OF,
    TYPE_MAP_OF,
    TYPE_TOP,                  /* the third argument's type */
} TypeRule;

typedef struct Function {
    const char *name;
    int min, max;              /* arguments; max -1: any number */
    TypeRule rule;
    DatumKind result;
    DatumKind want;            /* arguments of type bytearray are cast to it; DATUM_NULL: no */
    FunctionCall *call;
    bool sees_nulls;           /* else: null if an argument is null */
    bool aggregate;            /* its first argument is a bag of rows */
    bool random;               /* not the same twice */
} Function;

const Function *function_find(const char *name);
Type function_type(const Function *f, const Type *args, size_t n, Arena *a);
/* The tables, each ends with {0}; for function.c. */
extern const Function functions_text[], functions_number[], functions_bag[], functions_date[],
    functions_sql[];

int64_t text_units(const Datum *v);    /* length of a text in UTF-16 units */
bool call_fail(CallCtx *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
