/*
 * trace - what one request did, as its log tells it (php/log.h).
 *
 * Node numbers are the log's; 0 is none, operands are smaller than what uses
 * them. Everything is the trace's, and stays until trace_free(). The log was
 * written by a process under test: a record that makes no sense is passed over.
 */
#ifndef SUNDEW_WEB_TRACE_H
#define SUNDEW_WEB_TRACE_H
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "php/log.h"
#include <stdbool.h>

typedef struct TraceNode {
    uint32_t op;               /* enum sundew_web_op */
    uint32_t nargs;
    const uint32_t *args;
    const char *text;          /* terminated */
    size_t n;
    uint32_t depth, weight;    /* of the expression, as a tree */
} TraceNode;

typedef struct Branch {
    uint32_t site, node;
    bool taken;
    const char *file;          /* may be NULL */
    uint32_t line;
} Branch;

typedef struct TraceFrame {
    const char *function, *file;
    uint32_t line;
} TraceFrame;

typedef struct Message {
    uint32_t type;             /* PHP's E_… */
    bool masked;               /* by @ or error_reporting() */
    const char *file;
    uint32_t line;
    const char *text;
    const TraceFrame *stack;   /* innermost first */
    size_t nstack;
} Message;

/* Bytes of the page and the statement that wrote them. */
typedef struct Written {
    const char *file;
    uint32_t line;
    size_t bytes;
    const char *text;          /* fragments into buffers; else NULL */
    size_t at;                 /* … where it is in the page, once aligned */
} Written;

typedef struct Sink {
    uint32_t kind, node;
    const char *file;
    uint32_t line;
    const char *text;
    size_t n;
} Sink;

typedef struct TraceLine {
    const char *file;
    uint32_t line;
} TraceLine;
typedef struct TraceNamed {
    uint32_t node;
    const char *name;
} TraceNamed;

typedef struct Trace {
    Arena arena;
    TraceNode *nodes;          /* 0: nothing is known of it */
    size_t nnodes;
    Vec(Branch) branches;
    Vec(Message) messages;
    Vec(Written) output;       /* in order: their sum is the page */
    Vec(Written) fragments;
    Vec(Sink) sinks;
    Vec(TraceLine) hits;       /* statements executed */
    Vec(TraceLine) lines;      /* statements that there are */
    Vec(TraceNamed) lost;      /* natives from which nothing came back */
    Vec(TraceNamed) session;   /* labelled values stored under a key */
    TraceLine exit;            /* of exit or die; file NULL: none */
    bool begun, ended, full;
    bool aligned;              /* judge.c: fragments know their place */
    uint32_t stale, handled;
} Trace;

/* Reads a channel of SUNDEW_WEB_SIZE bytes. Never fails: what can't be read is
 * not there. */
Trace *trace_read(const void *channel);
void trace_free(Trace *t);                /* NULL is fine */

/* Never NULL. Its first three arguments may be asked for even if it has fewer: those are 0. */
const TraceNode *trace_node(const Trace *t, uint32_t node);
/* As a person reads it: (int)GET[n] * 2 < 10. */
void trace_print(const Trace *t, uint32_t node, bool wanted, Str *out);
/* Is the input something that an earlier request kept, in the session or the database? */
bool trace_is_kept(const char *path);
/* The paths of the inputs below a node, each once. */
void trace_inputs(const Trace *t, uint32_t node, Strings *out);
#endif
