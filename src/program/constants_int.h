/* constants_int - for changes.c: the constants of some functions, and of two versions of them. */
#ifndef SUNDEW_CONSTANTS_INT_H
#define SUNDEW_CONSTANTS_INT_H
#include "base/map.h"
#include "base/vec.h"
#include "program/constants.h"
#include <llvm-c/Core.h>

typedef struct ConstantsFinder {
    Map numbers, texts;
    Vec(int64_t) integers;
    Vec(const char *) strings;
    Arena *arena;
} ConstantsFinder;

void constants_begin(ConstantsFinder *f, Constants *out);
/* Also the numbers and texts that its calls get. */
void constants_of_function(ConstantsFinder *f, LLVMValueRef fn);
/* What only one of them has; if that is little, also what both have. Releases both. */
void constants_take_difference(ConstantsFinder *x, ConstantsFinder *y, Constants *out);
#endif
