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
    const CapturedProgram *library;   /* that it is part of; NULL: the program itself */
    const Strings *link;      /* the command that linked it; NULL: not known */
} LinkUnit;

/* link.c: pairs of symbols, the second of which is meant where units say the first:
 * "-Wl,--wrap=f", "-Wl,--defsym=a=b". Behind an empty one: a function that runs at the end,
 * "-Wl,-fini=f". */
void link_renamed(const Strings *command, Strings *out);

typedef Vec(ProgramNote) Notes;

/* What a building process tells its parent while it works: if it dies, the
 * parent knows over which unit. */
typedef struct BuildState {
    bool careful;             /* told by the parent: try each unit alone */
    bool finished;            /* it came to an end, good or bad */
    long unit;                /* index; -1: not at a unit */
    char said[1024];          /* by LLVM, before it gave up */
} BuildState;

/* link.c: all units in one module, SSA. NULL with `err` if there is none. */
LLVMModuleRef link_units(LLVMContextRef ctx, const LinkUnit *units, size_t n, BuildState *state,
                         Arena *a, Notes *notes, Err *err);

/* functions.c */
Function *functions_of_module(LLVMModuleRef m, Arena *a, size_t *n);
Variable *variables_of_module(LLVMModuleRef m, Arena *a, size_t *n);

/* types_build.c: all types of a module, and which type a debug node is. */
typedef struct DebugInfo DebugInfo;
typedef struct TypeOfNode {
    const Type **type;        /* NULL: the node is no type */
    size_t n;
    const Type *void_type;
} TypeOfNode;
void types_build(DebugInfo *d, Arena *a, Types *out, TypeOfNode *of);
/* void for no node. */
const Type *type_of_debug(const TypeOfNode *of, uint32_t node);

/* describe.c */
void describe(DebugInfo *d, const TypeOfNode *of, LLVMModuleRef m, Arena *a, Function *fns,
              size_t nfns, Variable *vars, size_t nvars);

struct Types {
    Type **all;
    size_t n;
    Map by_name;              /* "struct foo" -> a list; made when asked for */
    bool indexed;
};

void types_release(Types *ts);

typedef Vec(LLVMValueRef) Values;

struct Program {
    Arena arena;
    bool cached;
    Workspace *workspace;
    const CapturedProgram *captured;
    const char *key;
    ProgramNote *notes;
    size_t nnotes;
    Function *functions;
    const Function **listed;  /* without intrinsics */
    size_t nfunctions, nlisted;
    Map by_symbol, by_source_name;
    Variable *variables;
    size_t nvariables;
    Types types;
    Str tables;               /* the tables file; texts above point into it */
    /* the module, loaded on demand */
    char *bitcode;            /* path */
    const char *scratch;      /* a temporary folder that goes with us, or NULL */
    LLVMContextRef ctx;
    LLVMModuleRef module;
    struct LocationIndex *locations;
};

/* program.c: what always holds, of tables that may be anybody's. */
bool program_holds(const Program *p);

/* locations.c */
void locations_free(struct LocationIndex *x);           /* NULL is fine */
bool path_ends_with(const char *path, const char *end); /* by whole names */

/* tables.c: the tables of a program as one file.
 *
 * Writes what `p` holds, with the checksum of the bitcode it goes with. */
bool tables_write(const Program *p, const char *path, uint64_t bitcode_sum, Err *err);
/* Fills an empty `p`. False: not there, damaged, of another version, or not of
 * that bitcode. */
bool tables_read(Program *p, const char *path, uint64_t bitcode_sum, Err *err);
uint64_t tables_checksum(const void *data, size_t n);
#endif
