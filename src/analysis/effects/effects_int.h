/* What the files of this folder share. */
#ifndef SUNDEW_EFFECTS_INT_H
#define SUNDEW_EFFECTS_INT_H
#include "analysis/effects/effects.h"
#include "base/map.h"
#include "program/program_llvm.h"

typedef Vec(uint32_t) Ids;

struct Effects {
    const Program *program;
    const Calls *calls;
    Arena arena;
    Map names;                   /* name → its number + 1 */
    Ids variables;               /* names of global variables */
    Map own;                     /* symbol → Own * */
    Map known;                   /* symbol → EffectSet * */
    Map answers;                 /* symbol → 1: no, 2: yes */
};

/* The place's name, see effects.c. False: it is a local variable, or constant. */
bool effects_name_of(LLVMValueRef p, Str *out);
/* What the fields that a pointer leads to belong to. */
LLVMValueRef effects_base_of(LLVMValueRef p);
#endif
