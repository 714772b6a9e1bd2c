/* The LLVM side of a Program, for src/program/ and src/weave/ only. */
#ifndef SUNDEW_PROGRAM_LLVM_H
#define SUNDEW_PROGRAM_LLVM_H
#include "program/program.h"
#include <llvm-c/Core.h>

LLVMModuleRef program_module(const Program *p);
#endif
