/* What the files of this analysis share: facts about arguments and results. */
#ifndef SUNDEW_HANDLES_INT_H
#define SUNDEW_HANDLES_INT_H
#include "analysis/handles/handles.h"
#include "base/map.h"
#include "base/mem.h"
#include "program/program_llvm.h"

typedef struct Fact {
    LLVMValueRef at;          /* the instruction that shows it; NULL: not so */
} Fact;

typedef struct ArgFacts {
    Fact freed, written, unknown, stores_fresh;
    Fact frees_inside, writes_inside;     /* what it points to points to */
} ArgFacts;

typedef struct FnFacts {
    LLVMValueRef value;
    ArgFacts *args;
    unsigned nargs;
    Fact fresh;               /* returns fresh memory */
} FnFacts;

typedef struct Seer {
    const Program *program;
    Arena *arena;
    const Function **functions;   /* by Function.index, intrinsics too */
    FnFacts *facts;               /* the same */
    size_t n;
    Map index;                    /* LLVMValueRef -> index + 1 */
    LLVMTargetDataRef layout;
    Map targets;                  /* field -> functions that the program puts there */
    bool changed;
} Seer;

/* `program` and `arena` are set; facts live in the arena. */
void facts_gather(Seer *s, LLVMModuleRef m);
void facts_release(Seer *s);
/* NULL: the value is no function. */
const Function *facts_function(const Seer *s, LLVMValueRef fn);
/* Is the first access to the object behind an argument, in the order of the
 * code, a write? */
bool facts_writes_first(const Seer *s, LLVMValueRef fn, unsigned arg, int depth);

/* Does a name hold one of the words as a part or at the beginning of one:
 * buf_free, bufFree, free_buf, lua_newstate; longer words also at the end,
 * buffree. */
bool facts_name_says(const char *name, const char *const *words);
/* Is one of the words the first or the last part of a name: free_buf, bufFree,
 * but not buf_free_list. */
bool facts_name_is(const char *name, const char *const *words);
#endif
