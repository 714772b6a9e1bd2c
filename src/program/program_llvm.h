/*
 * program_llvm - the LLVM side of a Program, for src/program/ and src/weave/
 * only.
 *
 * The module is SSA (sroa, mem2reg), nothing is inlined. A Function and its
 * LLVM value name each other by symbol. Don't change the module: who wants to
 * rewrite it reads its own copy with program_module_copy().
 */
#ifndef SUNDEW_PROGRAM_LLVM_H
#define SUNDEW_PROGRAM_LLVM_H
#include "program/program.h"
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

/* Read on the first call, which ends the tool if the file vanished meanwhile;
 * program_load_module() is the same with an error. */
LLVMModuleRef program_module(const Program *p);
bool program_load_module(const Program *p, Err *err);
/* A second, private copy in a context of the caller's. NULL with `err`. */
LLVMModuleRef program_module_copy(const Program *p, LLVMContextRef ctx, Err *err);

LLVMValueRef program_function_value(const Program *p, const Function *fn);
const Function *program_function_of(const Program *p, LLVMValueRef fn);

/* Does the link make this function run when the program ends (-Wl,-fini=f)? */
bool program_runs_at_end(LLVMValueRef function);
/* Is a function used in another way than to call it, in the module as it is now? */
bool llvm_is_address_taken(LLVMValueRef fn);
/* How many bytes a GEP moves its pointer; false: not all of its indices are
 * constant, or it is more than 64 bits tell. */
bool llvm_gep_offset(LLVMTargetDataRef layout, LLVMValueRef gep, int64_t *offset);

/* ---- source locations and instructions */

typedef struct SourcePlace {
    const char *file;      /* absolute; "" if there is none */
    unsigned line, column; /* 0 if not known */
} SourcePlace;

/* Where an instruction comes from. */
SourcePlace program_place(const Program *p, LLVMValueRef instruction);
/* The instructions at a place, in the order of the module. `file` may be the
 * end of a path; column 0: any. The index is built at the first call. */
const LLVMValueRef *program_instructions_at(const Program *p, const char *file, unsigned line,
                                            unsigned column, size_t *n);
#endif
