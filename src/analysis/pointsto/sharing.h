/*
 * sharing - which memory more than one thread may use.
 *
 * An object is shared if a pointer leads to it from a variable that is no thread's own, from
 * outside of the program, or from what is handed to a library function that keeps it:
 * pthread_create() and its kin among them. What nobody else has a way to belongs to the thread
 * that made it: a buffer on the stack that is handed to a callee, a list that is built and
 * freed in one call.
 *
 *     Sharing *s = sharing_new(pt, summaries, module);
 *     if (sharing_may_be(s, LLVMGetOperand(load, 0))) …
 *     sharing_free(s);
 */
#ifndef SUNDEW_SHARING_H
#define SUNDEW_SHARING_H
#include "analysis/pointsto/pointsto.h"

typedef struct Sharing Sharing;

/* `pt` must outlive it. */
Sharing *sharing_new(const PointsTo *pt, const Summaries *summaries, LLVMModuleRef m);
void sharing_free(Sharing *s);                   /* NULL is fine */
/* May the address lead to memory that is shared? Of an address that points-to knows
 * nothing about: yes. */
bool sharing_may_be(const Sharing *s, LLVMValueRef address);
#endif
