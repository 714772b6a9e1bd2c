/* edges_llvm - the numbers as a weave meets them, for src/weave/. */
#ifndef SUNDEW_EDGES_LLVM_H
#define SUNDEW_EDGES_LLVM_H
#include "weave/edges.h"
#include <llvm-c/Core.h>

enum { NO_EDGE = ~0u };

/* How many edges leave it: 2 for a conditional branch, cases and default of a
 * switch, else 0. */
uint32_t edges_leaving(LLVMValueRef terminator);
/* The entry of the function with this symbol; its branches follow, in the order
 * of its blocks. NO_EDGE: it is not of the program, or has no body. */
uint32_t edges_entry(const Edges *e, const char *symbol);
/* The site of its first instruction; the others follow in order. */
uint32_t edges_first_site(const Edges *e, const char *symbol);
#endif
