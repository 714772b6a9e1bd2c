/*
 * sample - the values that a function's variables had at its entry and exit.
 *
 * A point is the entry or the exit of one function. It has variables, named as
 * C names them there ("s->top", "return", "orig(s->top)"), and rows: one value
 * for each variable, or none where the value means nothing (a field behind a
 * null pointer, memory that was never written):
 *
 *     pop:::EXIT   s->top  orig(s->top)  return     count
 *                       3             4      17         2
 *                      -1             0      17         1
 *
 * Equal rows are kept once, with a count. Up to `rows_kept` different rows are
 * kept of a point; beyond, a row replaces another at random (a reservoir), but
 * one with a new smallest or largest value is always kept. So memory does not
 * grow with the length of the runs.
 *
 * `key` is the variable's name in the vocabulary that all functions share:
 * "(struct stack)->top" for a field of the one parameter of that type, "arg2"
 * for the second parameter, "return", "::limit" for a global. Two functions'
 * variables match if their keys are equal (docs/contracts.md).
 */
#ifndef SUNDEW_CONTRACT_SAMPLE_H
#define SUNDEW_CONTRACT_SAMPLE_H
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum {
    VAR_INT,                  /* integers, enums, characters, truth values */
    VAR_FLOAT,
    VAR_POINTER,              /* the number of the object, 0 for NULL */
    VAR_STRING,               /* the number of a text, see samples_text() */
    VAR_FACT,                 /* 1 if what the name says is true, else 0 */
} VarKind;

typedef enum {
    ROLE_PARAM,               /* a parameter, as the caller passed it */
    ROLE_MEMORY,              /* reached through a parameter or the result */
    ROLE_RESULT,
    ROLE_GLOBAL,
    ROLE_ERRNO,
} VarRole;

enum { VAR_PUTS = 8 };

typedef struct VarValue {     /* an enumerator */
    int64_t value;
    const char *name;
} VarValue;

typedef struct Var {
    const char *name, *key;
    const char *type;         /* in C; "" if there is none */
    VarKind kind;
    VarRole role;
    bool orig;                /* the value at entry of what may change */
    bool is_unsigned, is_bool, is_flags;
    unsigned bits;            /* of an integer's type; 0: not known */
    int param;                /* from 0: the parameter it hangs on; else -1 */
    int twin;                 /* exit: x of orig(x), orig(x) of x; else -1 */
    unsigned unit;            /* variables of different units are not compared;
                               * 0: not known */
    unsigned depth;           /* pointers that lead to it */
    unsigned parent;          /* fields of one struct have the same; 0: no field */
    const VarValue *values;   /* of an enum */
    unsigned nvalues;
    /* What the source itself puts there, if it was looked at; see units.h. */
    bool is_looked_up;
    bool takes_null;          /* the function looks whether it is NULL, and goes on */
    bool is_put, is_put_other;           /* something; something that is no constant */
    bool is_partial;          /* a pointer to what is looked at in part */
    bool is_stored;           /* exit: by the function or what it calls */
    bool is_always_stored;    /* … on every way to a return */
    bool is_tested;           /* the program looks whether it is 0 or NULL */
    unsigned nputs;
    int64_t puts[VAR_PUTS];   /* constants */
} Var;

/* Can the function have changed it? Only then it belongs to a postcondition. */
bool var_is_after(const Var *v);

/* Computed from an array: an element, the least of some, … */
bool var_is_derived(const Var *v);

/* An integer, the bits of a double, or a number: see VarKind. */
typedef union Cell {
    int64_t i;
    double d;
} Cell;

/* A pointer's number has this bit if it leads to no object of the heap. */
#define POINTER_ELSEWHERE ((uint64_t)1 << 62)

enum { ORIGIN_OWN = -1 };     /* else the number of the constraint */

typedef struct Row {
    Cell *cells;              /* one a variable */
    uint8_t *known;           /* 1: the cell means something */
    uint64_t count;
    int origin;
} Row;

typedef Vec(Row) Rows;

typedef struct Point {
    bool is_exit;
    Var *vars;
    unsigned nvars;
    uint8_t *related;         /* nvars * nvars Relations; NULL: none is known */
    Rows rows;
    uint64_t total;           /* samples seen, each time counted */
    Map seen;                 /* row -> its number + 1 */
    int64_t *least, *most;    /* of each integer variable so far */
} Point;

typedef struct FunctionSamples {
    const char *name;         /* unique: "file.c:name" if two have it */
    const char *file;         /* absolute; "" if not known */
    const char *signature;
    unsigned line;
    unsigned nparams;
    bool is_public;           /* not static */
    const char *handle;       /* "struct stack": type of the object it works on; "" */
    uint64_t calls;           /* all, those that were not sampled too */
    uint64_t left;            /* calls that never returned: longjmp, exit */
    Point entry, exit;
} FunctionSamples;

typedef struct Samples {
    Arena arena;              /* owns names and cells */
    Vec(FunctionSamples *) functions;
    Map by_name;
    Strings texts;            /* of VAR_STRING, from 1 */
    Map text_numbers;
    Rng rng;
    size_t rows_kept;         /* at a point; 0 is 4096 */
} Samples;

Samples *samples_new(uint64_t seed);
void samples_free(Samples *s);                 /* NULL is fine */
FunctionSamples *samples_function(Samples *s, const char *name);   /* made if new */
const FunctionSamples *samples_find(const Samples *s, const char *name);
int64_t samples_text_number(Samples *s, const char *text);
const char *samples_text(const Samples *s, int64_t number);

/* The variables of a point; copied. Once, before the first row. */
void point_vars(Samples *s, Point *p, const Var *vars, unsigned n);
/* One sample; copied. */
void point_add(Samples *s, Point *p, const Cell *cells, const uint8_t *known);
void point_add_times(Samples *s, Point *p, const Cell *cells, const uint8_t *known, uint64_t times);
/* The program brings the two together; it compares them. */
typedef enum {
    NOT_RELATED,
    RELATED,
    COMPARED,
    APART = 4,                /* a bit more: some function stores one of the two alone */
} Relation;
void point_relate(Samples *s, Point *p, unsigned a, unsigned b, Relation r);
bool point_related(const Point *p, int a, int b);
bool point_compared(const Point *p, int a, int b);
bool point_apart(const Point *p, int a, int b);
int point_var(const Point *p, const char *name);       /* -1: none */
int point_key(const Point *p, const char *key);        /* -1: none */
void samples_check(const Samples *s);          /* asserts what always holds */

/* As a file of the workspace. */
bool samples_write(const Samples *s, const char *path, Err *err);
Samples *samples_read(const char *path, uint64_t seed, Err *err);
#endif
