/*
 * program - the captured program as a model.
 *
 * All units of a program linked into one LLVM module, with its types, functions
 * and source locations. Reading a program again costs no second link: the
 * linked module and the tables derived from it are kept in the workspace, named
 * by the content of the units (docs/program.md has the formats).
 *
 *     Program *p = program_open(ws, captured, err);
 *     size_t n;
 *     const Function *const *fns = program_functions(p, &n);
 *     …
 *     program_close(p);
 *
 * What it hands out lives until program_close(). The LLVM module itself is for
 * this room and weave/ only: see program_llvm.h. It is read when it is first
 * asked for; everything in this header comes from the tables alone.
 */
#ifndef SUNDEW_PROGRAM_H
#define SUNDEW_PROGRAM_H
#include "base/err.h"
#include "capture/capture.h"
#include "program/types.h"
#include <stdint.h>

typedef struct Program Program;

Program *program_open(Workspace *ws, const CapturedProgram *captured, Err *err);
/* From bitcode files as they are, without a workspace and a cache. */
Program *program_open_bitcode(const char *const *files, size_t n, Err *err);
void program_close(Program *p);              /* NULL is fine */
/* Did it come from the workspace, without a link? */
bool program_was_cached(const Program *p);
/* What it was opened from; NULL if that was bitcode. */
Workspace *program_workspace(const Program *p);
const CapturedProgram *program_captured(const Program *p);
/* Names the program's content: the same units give the same key. */
const char *program_key(const Program *p);
/* A file of its own beside the model, for what others derive from the program;
 * its name depends on the content. The caller frees it. */
char *program_cache_path(const Program *p, const char *what);

/* Something that could not be taken over as it is. `unit` is the unit's source,
 * else its bitcode file; "" if it is about the whole program. */
typedef struct ProgramNote {
    const char *unit;
    const char *text;
    bool left_out;        /* the unit is not in the module */
} ProgramNote;
const ProgramNote *program_notes(const Program *p, size_t *n);

/* ---- functions */

/* How a source parameter arrives in the IR. */
typedef enum {
    PASSED_DIRECTLY,      /* one IR argument: the value, or the struct coerced
                           * into one register (then the IR type differs) */
    PASSED_SPLIT,         /* several IR arguments, up to a word of it each */
    PASSED_BY_COPY,       /* one pointer to the callee's own copy (byval) */
    PASSED_NOT_AT_ALL,    /* no IR argument: an empty struct */
    PASSED_UNKNOWN,       /* source and IR could not be matched */
} Passing;

typedef struct Param {
    const char *name;     /* "" if it has none */
    const Type *type;     /* NULL: not known (a function without debug info) */
    Passing passing;
    unsigned first_arg;   /* index of its first IR argument */
    unsigned nargs;       /* how many */
} Param;

typedef enum {
    LINKAGE_EXTERNAL,     /* one definition, seen by all units */
    LINKAGE_INTERNAL,     /* static */
    LINKAGE_WEAK,         /* weak definition or reference */
    LINKAGE_COMMON,       /* tentative definition (-fcommon) */
    LINKAGE_INLINE,       /* C99/GNU inline whose external body is elsewhere */
    LINKAGE_OTHER,
} Linkage;
const char *linkage_name(Linkage l);         /* external, internal, weak, … */

typedef struct Function Function;
struct Function {
    const char *name;     /* as in the source */
    const char *symbol;   /* in the module, where it is unique: a second static
                           * `hash` is hash.12 there */
    const char *file;     /* absolute; "" if not known */
    unsigned line;        /* 0 if not known */
    unsigned column;      /* of its name; 0 if not known */
    Linkage linkage;
    bool defined;         /* has a body here */
    bool prototyped;      /* false: K&R definition */
    bool variadic;
    bool noreturn;
    bool address_taken;   /* used other than as the target of a direct call */
    bool returns_in_memory;    /* IR argument 0 is where the result goes (sret) */
    bool intrinsic;       /* llvm.*: not a function of the source */
    const Type *type;     /* TYPE_FUNCTION; NULL: not known */
    const Type *returns;  /* NULL: void if `type` is known, else not known */
    Param *params;
    unsigned nparams;
    const char *signature;     /* as C text; IR types where C's are unknown */
    const Function **callers, **callees;   /* direct, each once, in the order of
                                            * the module */
    unsigned ncallers, ncallees;
    unsigned ncalls;      /* direct call sites that call it */
    unsigned index;       /* for tables by function: its own, below
                           * program_index_limit() */
};

/* All but the intrinsics, in the order of the module: definitions as linked. */
const Function *const *program_functions(const Program *p, size_t *n);
/* One more than the largest index: the compiler's intrinsics, which are not in
 * program_functions(), have one too. */
size_t program_index_limit(const Program *p);
/* By its symbol, else by its source name, else as "file.c:name" where the path
 * ends so. NULL: none or, for a source name, several. */
const Function *program_function(const Program *p, const char *name);

/* ---- types: see types.h */
const Types *program_types(const Program *p);

/* ---- global variables */
typedef struct Variable {
    const char *name;     /* as in the source; of a function's static too */
    const char *symbol;
    const char *file;
    unsigned line;
    Linkage linkage;
    bool defined, constant, thread_local_;
    const Type *type;     /* NULL: not known (a string literal, external) */
    uint64_t size;        /* in bytes; 0 if not known */
} Variable;
const Variable *program_variables(const Program *p, size_t *n);

/* Asserts what always holds of a program: places in the tables, callers and
 * callees that mirror each other, types that have what their kind promises. */
void program_check(const Program *p);
#endif
