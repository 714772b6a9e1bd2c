/*
 * program - the captured program as a model.
 *
 * All units of a program linked into one LLVM module, with its types, functions
 * and source locations. Reading a program again costs no second link: the
 * linked module is kept in the workspace, named by the content of its units.
 *
 *     Program *p = program_open(ws, captured, err);
 *     …
 *     program_close(p);
 *
 * What it hands out lives until program_close(). The LLVM module itself is for
 * this room and weave/ only: see program_llvm.h.
 */
#ifndef SUNDEW_PROGRAM_H
#define SUNDEW_PROGRAM_H
#include "base/err.h"
#include "capture/capture.h"

typedef struct Program Program;

Program *program_open(Workspace *ws, const CapturedProgram *captured, Err *err);
/* From bitcode files as they are, without a workspace and a cache. */
Program *program_open_bitcode(const char *const *files, size_t n, Err *err);
void program_close(Program *p);              /* NULL is fine */
#endif
