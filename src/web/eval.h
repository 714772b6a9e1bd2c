/*
 * eval - what an expression of a trace is worth for another request.
 *
 * The functions of PHP's library that are known here are those of the table in
 * eval_call.c. Others give VALUE_UNKNOWN, and so does what depends on them.
 */
#ifndef SUNDEW_WEB_EVAL_H
#define SUNDEW_WEB_EVAL_H
#include "web/request.h"
#include "web/trace.h"

Value eval_node(Arena *a, const Trace *t, uint32_t node, const Request *r);
/* A library function on known values. */
Value eval_call(Arena *a, const char *name, const Value *args, size_t n);
bool eval_knows(const char *name);
Value eval_constant(const TraceNode *n);
#endif
