/*
 * modref - which memory a function or a call may read and write.
 *
 * Closed over callees, whatever way they are called; a callee's own stack
 * objects are left out. What external functions do comes from their summaries;
 * one without a summary may touch all that it can reach.
 *
 *     ModRef *mr = modref_new(pt, summaries);
 *     PtSet w = modref_call(mr, call, MODREF_WRITE);
 *
 * Sets hold locations (pointsto.h). The answer for a call lives until the next
 * question about a call.
 */
#ifndef SUNDEW_MODREF_H
#define SUNDEW_MODREF_H
#include "analysis/pointsto/pointsto.h"
#include "analysis/pointsto/ptset.h"

typedef struct ModRef ModRef;
typedef enum { MODREF_READ, MODREF_WRITE } ModRefKind;

ModRef *modref_new(const PointsTo *pt, const Summaries *s);
void modref_free(ModRef *mr);              /* NULL is fine */
/* A function with a body, with all that it calls. */
PtSet modref_function(ModRef *mr, LLVMValueRef fn, ModRefKind kind);
const PtBits *modref_function_bits(const ModRef *mr, LLVMValueRef fn, ModRefKind kind);
PtSet modref_call(ModRef *mr, LLVMValueRef call, ModRefKind kind);
/* May the call write (read) one of these? */
bool modref_call_meets(const ModRef *mr, LLVMValueRef call, const PtBits *locs, ModRefKind kind);
/* What code outside gets at without being given anything: locations. */
const PtBits *modref_world(const ModRef *mr);
/* … the `n` bytes at p? n 0: any number. */
bool modref_call_touches(ModRef *mr, LLVMValueRef call, LLVMValueRef p, uint64_t n,
                         ModRefKind kind);
#endif
