/*
 * tables - what a woven program knows about itself.
 *
 * The weave emits these tables as constants (src/weave/monitor/tables.c), one symbol
 * each, and a SundewTables that names them all; the runtime reads them. The
 * layouts are shared through this header, so it uses fixed-width members only.
 *
 * Numbers of types, functions and variables are those of the program standin:
 * Type.index + 1, Function.index + 1, the place in program_variables() + 1. 0 is "not
 * known". So a file written by the subject is read with the standin at hand, and
 * SundewTables.key, the content of the program, tells that it is the same one.
 */
#ifndef SUNDEW_TABLES_H
#define SUNDEW_TABLES_H
#include <stdint.h>

enum { SUNDEW_TABLES_VERSION = 1 };

/* ---- types: what is needed to copy an object and to follow its pointers */

enum SundewKind {
    SUNDEW_UNKNOWN,        /* void, incomplete: bytes whose meaning is not known */
    SUNDEW_DATA,           /* everything with a size; pointers are listed */
    SUNDEW_CHAR,           /* a character: a pointer to it may be a string */
    SUNDEW_CODE,           /* a function */
    SUNDEW_FOREIGN,        /* another library's object, never followed: FILE … */
};

/* types[number]; the row of number 0, "not known", is there too. */
typedef struct SundewType {
    uint32_t size;         /* in bytes; 0 if not known */
    uint8_t kind;
    uint8_t tail;          /* ends in a flexible array: may be longer than size */
    uint16_t npointers;    /* sundew_pointers[first …] */
    uint32_t first;
    uint32_t first_hidden; /* sundew_hidden[]: bytes that must not leave */
    uint32_t nhidden;
} SundewType;

/* `count` pointers to `type`, the first at `offset`, one every `stride`; count
 * 0: up to the object's end (a flexible array). Those of a type in rising order
 * of offsets. */
typedef struct SundewPointer {
    uint32_t offset, type;
    uint32_t count, stride;
    uint8_t unsure;        /* a union's member: perhaps no pointer now */
    uint8_t pad[7];
} SundewPointer;

typedef struct SundewHidden {
    uint32_t offset, size;
} SundewHidden;

/* ---- functions */

/* How to find an argument in the slots of a frame. */
typedef struct SundewParam {
    uint32_t type;
    uint16_t slot, nslots; /* 8 bytes each, as the IR arguments in order; an
                            * argument wider than 8 bytes has several */
    uint8_t by_copy;       /* the slot points to the callee's copy (byval) */
    uint8_t pad[7];
} SundewParam;

/*
 * What to copy when a function is entered, in order. A step reads a pointer:
 * that in `slot` if `parent` is SUNDEW_NO_STEP, or the address of a variable if
 * `slot` is SUNDEW_VARIABLE (then `at` is its number), else that which lies `at`
 * bytes into what the step `parent` points to. It copies `size` bytes from
 * `from` on; with size 0 the whole object as far as its extent is known, else
 * `type`'s size, at most the budget.
 */
enum { SUNDEW_NO_STEP = 0xffff, SUNDEW_VARIABLE = 0xffff };

typedef struct SundewStep {
    uint16_t parent, slot;
    uint32_t at, from, size, type;
} SundewStep;

/* A stack object of the function whose address leaves it; passed to the probe.
 * Only arrays, structs and unions; `type` is the element's. */
typedef struct SundewLocal {
    uint32_t type;         /* 0: not known */
    uint32_t size;
} SundewLocal;

typedef struct SundewFunction {
    uint64_t address;      /* relocated when the program is loaded; 0: there is
                            * no such function any more, it was inlined */
    const char *symbol;    /* unique in the program */
    uint32_t id;
    uint16_t nslots, nparams, nlocals, nsteps;
    uint32_t params, locals, steps;      /* the first of each, in its table */
    uint32_t uses, nuses;  /* sundew_uses[]: variables that it may read or write,
                            * callees included */
    uint32_t result;       /* type of what it returns; 0: nothing, or not known */
    uint32_t in_memory;    /* … and slot 0 is where it goes */
} SundewFunction;

typedef struct SundewGlobal {
    uint64_t address;      /* 0: thread-local, or optimised away */
    const char *symbol;
    uint32_t id, type;
    uint64_t size;
    uint8_t constant;
    uint8_t pad[7];
} SundewGlobal;

/* A function of another library whose address the program takes. */
typedef struct SundewExternal {
    uint64_t address;
    const char *symbol;
} SundewExternal;

/* One for each monitored function (a number of its own, its *row* in
 * functions[]), changed while the program runs. The probe at the entry tests
 * one byte of modes[]. */
enum SundewMode {
    SUNDEW_OFF,            /* runs as if it were not woven */
    SUNDEW_REFERENCE,      /* arguments as they are, nothing copied */
    SUNDEW_FULL,           /* with its steps */
};

typedef struct SundewTables {
    uint32_t version;      /* SUNDEW_TABLES_VERSION */
    uint32_t strategy;     /* enum SundewStrategy */
    const char *key;       /* of the program's content */
    const char *name;      /* of the program, for the crash file's name */
    const char *build;     /* the user's own version text; "" */
    const SundewType *types;
    const SundewPointer *pointers;
    const SundewHidden *hidden;
    const SundewFunction *functions;
    const SundewParam *params;
    const SundewLocal *locals;
    const SundewStep *steps;
    const uint32_t *uses;
    const SundewGlobal *globals;
    const SundewExternal *externals;
    uint8_t *modes;        /* one a row of functions[] */
    uint32_t ntypes, nfunctions, nglobals, nexternals;
    uint32_t overhead;     /* percent; 0: no limit */
    uint32_t second_chance;      /* start with all functions off */
    uint32_t variant;            /* 24 bits: which of the executables made of this
                                  * program; a crash file's addresses are its */
    uint32_t pad;
} SundewTables;

enum SundewStrategy {
    SUNDEW_COPY_REFERENCE,
    SUNDEW_COPY_SHALLOW,
    SUNDEW_COPY_USED,
    SUNDEW_COPY_DEEP,
    SUNDEW_COPY_STATE,           /* recording: what arguments point to, whole, and what the
                                  * pointers in there lead to; variables */
};

/* With SUNDEW_COPY_STATE memory that nobody wrote yet holds this byte. */
enum { SUNDEW_UNWRITTEN = 0xcb, SUNDEW_MOST_UNWRITTEN = 4096 };

extern const SundewTables sundew_tables;     /* emitted by the weave */
#endif
