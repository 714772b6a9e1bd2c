/* What the observer's files share: where the variables of a point lie. */
#ifndef SUNDEW_CONTRACT_OBSERVE_INT_H
#define SUNDEW_CONTRACT_OBSERVE_INT_H
#include "engine/contract/observe.h"

enum { MOST_HOPS = 3 };

typedef enum { BASE_PARAM, BASE_VARIABLE, BASE_RESULT, BASE_ERRNO } Base;

typedef enum {
    LOOK_VALUE,               /* a number, a pointer */
    LOOK_LENGTH,
    LOOK_TEXT,   /* strlen() of what a pointer or an array holds; itself */
    LOOK_PRINTABLE,           /* 1: only printable characters */
    LOOK_SIZE,                /* elements up to the object's end */
    LOOK_ELEMENT,             /* a[i] */
    LOOK_LEAST,
    LOOK_MOST,    /* of a[0 … i-1] */
    LOOK_ASCENDING,
    LOOK_DISTINCT,
    LOOK_NONNULL,
} Look;

/*
 * Where a value lies: `base` holds it at offset[0], or a pointer there, in what
 * that points to at offset[1], and so on. An array starts where the last hop ends.
 */
typedef struct Access {
    Base base;
    unsigned index;           /* parameter */
    const Variable *variable;
    unsigned nhops;
    uint64_t offset[MOST_HOPS];
    const Type *type;         /* plain; of the value, of an element of an array */
    uint64_t bit, width;      /* of a bit-field: width > 0, bit in its byte */
    Look look;
    uint64_t count;           /* of an array in a struct: elements; 0: by its extent */
    bool single;              /* unknown if it is the first of several */
    int with;                 /* LOOK_ELEMENT …: the variable that is i */
} Access;

typedef Vec(unsigned) Places;
typedef Vec(Var) Vars;
typedef Vec(Access) Accesses;

/* The variables of one function. Exit: first those of the entry (parameters as
 * they are, the rest as orig()), then as it is now, the result, errno. */
typedef struct Shape {
    const Function *fn;
    FunctionSamples *f;
    Vars entry;
    Places entry_places;      /* of units.h, one a variable */
    Accesses entry_at;
    Vars exit;
    Places exit_places;
    Accesses exit_at;         /* of those from nentry on */
    unsigned nentry;
    uint64_t left_out;
} Shape;

/* `globals` are those seen at its first call. */
Shape *shape_new(Arena *a, const Function *fn, const char *name, const ObservePlan *plan,
                 const Variable *const *globals, size_t nglobals, Samples *s);

/* The cell of a variable at an event; `row` has those before it. False: unknown. */
bool access_read(const Access *at, const Trace *t, const Event *e, const TraceValue *params,
                 unsigned nparams, const Cell *row, const uint8_t *known, Samples *s, Cell *out);
#endif
