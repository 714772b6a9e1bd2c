/* What the files of units share. */
#ifndef SUNDEW_UNITS_INT_H
#define SUNDEW_UNITS_INT_H
#include "analysis/units/units.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "program/program_llvm.h"

typedef struct Puts Puts;

struct Units {
    const Program *p;
    LLVMTargetDataRef layout;
    Map values;               /* LLVM value -> node + 1 */
    Map places;               /* "struct.foo@8", "@global", "f()" -> node + 1 */
    Vec(uint32_t) parent;
    Map related;              /* of two nodes that are places */
    Map compared;             /* … in one comparison */
    Map indexing;             /* of an array's node and that of an index */
    Map tested;               /* node: the program looks whether it is 0 */
    Map indices;              /* array's node -> node + 1 of what it is indexed with */
    Vec(uint64_t) storers;    /* node -> puts_storers() */
    Puts *puts;               /* puts.c */
};

/* "struct.foo@8": the innermost struct that a GEP goes into, and where in it. NULL:
 * none. */
char *units_gep_key(LLVMTargetDataRef layout, LLVMValueRef gep);
/* … of the i-th element of a struct. */
char *units_struct_key(LLVMTargetDataRef layout, LLVMTypeRef type, unsigned i);
/* "struct.foo@8" of a field as debug information has it; NULL: the struct has no name. */
char *units_field_key(const Type *record, uint64_t offset);

/* A comparison with 0 or NULL after which the program goes on if it is. */
bool units_goes_on_if_zero(LLVMValueRef cmp);

/* A number for the set of functions that store to a place: equal sets, equal numbers. 0:
 * none does. */
uint64_t puts_storers(const Puts *puts, const char *key);

Puts *puts_new(const Program *p);
void puts_free(Puts *puts);
#endif
