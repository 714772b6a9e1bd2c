/*
 * eval - what an expression of a trace is worth for another request.
 *
 * The functions of PHP's library that are known here are those of the table in
 * eval_call.c. Others give PHP_UNKNOWN, and so does what depends on them.
 */
#ifndef SUNDEW_WEB_EVAL_H
#define SUNDEW_WEB_EVAL_H
#include "web/request.h"
#include "web/trace.h"

PhpValue eval_node(Arena *a, const Trace *t, uint32_t node, const Request *r);
/* A library function on known values. */
PhpValue eval_call(Arena *a, const char *name, const PhpValue *args, size_t n);
bool eval_knows(const char *name);
PhpValue eval_constant(const TraceNode *n);
#endif
