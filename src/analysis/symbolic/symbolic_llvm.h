/* symbolic_llvm - questions about single values, for src/program/ and src/weave/. */
#ifndef SUNDEW_SYMBOLIC_LLVM_H
#define SUNDEW_SYMBOLIC_LLVM_H
#include "analysis/symbolic/symbolic.h"
#include <llvm-c/Core.h>

/* May the value be symbolic: that of an instruction, or of a parameter? */
bool symbolic_value(const Symbolic *s, LLVMValueRef v);
/* May an instruction see something symbolic: an operand, or for loads and
 * stores what is in memory there? */
bool symbolic_instruction(const Symbolic *s, LLVMValueRef inst);
/* May bytes be symbolic that the pointer points to; size 0: of the whole object? */
bool symbolic_memory(const Symbolic *s, LLVMValueRef pointer, uint64_t size);
#endif
