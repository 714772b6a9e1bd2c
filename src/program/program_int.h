/* What the files of src/program/ share among themselves. */
#ifndef SUNDEW_PROGRAM_INT_H
#define SUNDEW_PROGRAM_INT_H
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "program/program_llvm.h"

/* A unit to be linked. */
typedef struct LinkUnit {
    const char *bitcode;      /* path */
    const char *name;         /* for notes: its source */
    const char *excluded;     /* why it is left out; NULL: it is not */
} LinkUnit;

typedef Vec(ProgramNote) Notes;

/* What a building process tells its parent while it works: if it dies, the
 * parent knows over which unit. */
typedef struct BuildState {
    long unit;                /* index; -1: not at a unit */
    char said[1024];          /* by LLVM, before it gave up */
} BuildState;

/* link.c: all units in one module, SSA. NULL with `err` if there is none. */
LLVMModuleRef link_units(LLVMContextRef ctx, const LinkUnit *units, size_t n,
                         BuildState *state, Arena *a, Notes *notes, Err *err);

/* functions.c */
Function *functions_of_module(LLVMModuleRef m, Arena *a, size_t *n);

struct Types {
    Type **all;
    size_t n;
    Map by_name;
};

typedef Vec(LLVMValueRef) Values;

struct Program {
    Arena arena;
    bool cached;
    ProgramNote *notes;
    size_t nnotes;
    Function *functions;
    const Function **listed;  /* without intrinsics */
    size_t nfunctions, nlisted;
    Map by_symbol, by_source_name;
    Variable *variables;
    size_t nvariables;
    Types types;
    /* the module, loaded on demand */
    char *bitcode;            /* path */
    const char *scratch;      /* a temporary folder that goes with us, or NULL */
    char bitcode_id[33];      /* content of that file */
    LLVMContextRef ctx;
    LLVMModuleRef module;
    struct LocationIndex *locations;
};
#endif
