/*
 * What the files of src/weave/ share: the module that is being rewritten, and
 * the few ways of putting something into it.
 *
 * The C API can't split a block, so a probe with a condition is a small
 * always_inline function of its own, called in a straight line; LLVM's inliner
 * makes one piece of them. While the program is optimised such a function may be
 * only declared, so that it changes as little as possible; weave_at_last() is
 * the time to define it.
 */
#ifndef SUNDEW_WEAVE_INT_H
#define SUNDEW_WEAVE_INT_H
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "program/program_llvm.h"
#include "weave/weave.h"
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

typedef struct Monitoring Monitoring;

/* Done when the module has been optimised, in the process that writes the
 * object: what would hold the optimiser back, such as tables of addresses. */
typedef void WeaveLast(Woven *w, void *arg);
typedef struct WeaveTouch {
    WeaveLast *run;
    void *arg;
} WeaveTouch;

struct Woven {
    const Program *program;
    Arena arena;
    LLVMContextRef ctx;
    LLVMModuleRef module;      /* ours to change */
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    LLVMTypeRef void_, i1, i8, i32, i64, ptr;
    Vec(WeaveTouch) last, end;
    Str said;                  /* by LLVM */
    bool failed;               /* … and it was an error */
    bool asan;                 /* weave_asan() */
    Monitoring *monitoring;    /* monitor.c; NULL: not monitored */
    size_t ntagged, ntagging;  /* tags.c: parameters, functions */
    ConcolicFigures concolic;
};

void weave_at_last(Woven *w, WeaveLast *run, void *arg);
void weave_at_end(Woven *w, WeaveLast *run, void *arg);    /* in weave_end() */

/* ---- attributes */
void weave_set(Woven *w, LLVMValueRef fn, const char *attribute, uint64_t value);
void weave_set_call(Woven *w, LLVMValueRef call, const char *attribute);
bool weave_has(LLVMValueRef fn, const char *attribute);
void weave_drop(LLVMValueRef fn, const char *attribute);
/* To the program it only reads memory. (It may write what the program can't see.)
 * It keeps no pointer either, unless it `keeps` them for a later probe: then what
 * they lead to must be there when that one looks. */
void weave_set_reads_only(Woven *w, LLVMValueRef fn, bool keeps);

/* ---- functions */
/* An external function of that type, declared if it is not. */
LLVMValueRef weave_declare(Woven *w, const char *name, LLVMTypeRef type);
/* A declared function becomes an internal one with an empty first block, at which
 * the builder stands; it may be inlined where `like` may (NULL: somewhere). */
void weave_define(Woven *w, LLVMValueRef fn, LLVMValueRef like);
LLVMBasicBlockRef weave_block(Woven *w, LLVMValueRef fn, const char *name);
/* if (condition) likely goes to `no`. Ends the builder's block. */
void weave_branch_unlikely(Woven *w, LLVMValueRef condition, LLVMBasicBlockRef yes,
                           LLVMBasicBlockRef no);
LLVMValueRef weave_call(Woven *w, LLVMValueRef fn, LLVMValueRef *args, unsigned n);
/* The same; the inliner takes the caller for a function without this call. */
void weave_call_for_free(Woven *w, LLVMValueRef fn, LLVMValueRef *args, unsigned n);
/* The same, never inlined. */
LLVMValueRef weave_call_out(Woven *w, LLVMValueRef fn, LLVMValueRef *args, unsigned n);

/* ---- places; the builder goes there and takes over the source location */
/* That of the function itself; code with debug info may only call with one. */
LLVMMetadataRef weave_line_of(Woven *w, LLVMValueRef fn);
/* Behind the stack slots at the beginning of a function. */
void weave_go_to_entry(Woven *w, LLVMValueRef fn);
/* Before the function's next return; NULL: there is none after `block`. A
 * return that belongs to a musttail call is left out: nothing may stand
 * between them. */
LLVMBasicBlockRef weave_go_to_return(Woven *w, LLVMValueRef fn, LLVMBasicBlockRef after);
/* f(args) goes to g(args) instead, wherever `f` is named. */
void weave_redirect(Woven *w, const char *f, const char *g);
/* Links in the functions of this bitcode that are `needed`, and what these need. */
bool weave_link_only(Woven *w, const char *path, const Map *needed, Err *err);
/* Runs before all other constructors. */
void weave_add_first_constructor(Woven *w, LLVMValueRef fn);

/* ---- for programs that a player loads (cover.c) */
/* `n` bytes, which its loader is told of as `what` (runtime/server/player.h). */
LLVMValueRef weave_player_bytes(Woven *w, unsigned what, size_t n);
/* The n-th becomes 1 when the block runs; false: the block has no room for it. */
bool weave_player_at_block(Woven *w, LLVMBasicBlockRef b, LLVMValueRef bytes, size_t n);

/* The file of an instruction's source location: absolute where that is known. */
void weave_path_of(LLVMValueRef instruction, Str *out);

/* ---- constants */
LLVMValueRef weave_int(Woven *w, LLVMTypeRef type, uint64_t value);
/* A private, constant, NUL-terminated text. */
LLVMValueRef weave_text(Woven *w, const char *text);
/* The text that a constant variable is; NULL: it is another one. */
const char *weave_constant_text(LLVMValueRef v, size_t *n);

/* An error of LLVM as one of ours; frees it. True for none. */
bool weave_llvm_error(LLVMErrorRef e, Err *err);
#endif
