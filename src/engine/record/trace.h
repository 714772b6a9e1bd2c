/*
 * trace - read what one run of a subject did.
 *
 * A trace is a sequence of events, in the order in which they happened. Every
 * value carries the type it had at that point, so clients never guess what a
 * word means:
 *
 *     #17 T1 call    list_add(l = object 4, n = 3)
 *     #18 T1 return  list_add = 1                     [call #17]
 *
 * Object numbers are allocation ids: memory freed and handed out again gets a
 * new one. The bytes on disk are described in runtime/format/tracefile.h, and only
 * trace.c knows them.
 *
 *     Trace *t = trace_open(folder, p, err);
 *     for (const Event *e; (e = trace_next(t)); ) …
 *     trace_close(t);
 *
 * A Trace owns all it hands out; an event is valid until the next trace_next(),
 * objects until trace_close(). The program must outlive it.
 */
#ifndef SUNDEW_TRACE_H
#define SUNDEW_TRACE_H
#include "base/err.h"
#include "base/str.h"
#include "program/program.h"

typedef struct Trace Trace;
const Program *trace_program(const Trace *t);

typedef enum {
    EVENT_CALL,
    EVENT_RETURN,
    EVENT_ALLOC,
    EVENT_FREE,
    EVENT_END,
} EventKind;
const char *event_kind_name(EventKind k);        /* call, return, alloc, … */

/* A heap block or a variable. */
typedef struct TraceObject {
    uint32_t id;              /* from 1, in order of birth */
    uint64_t address, size;
    uint64_t born, died;      /* event numbers; died 0: still there at the end */
    enum { OBJECT_HEAP, OBJECT_VARIABLE } kind;
    const Variable *variable;
} TraceObject;

/* Bytes that were copied at an event. */
typedef struct TraceMemory {
    uint64_t address;
    uint64_t total;           /* size of the whole object, as the runtime knew it; 0 */
    const Type *type;         /* of an element; NULL: not known */
    const uint8_t *bytes;
    size_t n;
} TraceMemory;

/* A parameter or the result. */
typedef struct TraceValue {
    const char *name;         /* of the parameter; "" for the result */
    const Type *type;         /* NULL: not known */
    const uint8_t *bytes;     /* its value; NULL: not recorded */
    size_t n;
    /* of a pointer: */
    uint64_t address;
    const TraceObject *object;        /* NULL: in no object that is known */
    int64_t offset;                   /* in it */
    const Function *target;           /* of a pointer to a function of the program */
} TraceValue;

/* A variadic argument. */
typedef struct TraceRest {
    char kind;                /* SUNDEW_REST_…, of runtime/format/tracefile.h */
    uint64_t bits;            /* of the number; the address */
    const TraceObject *object;        /* that the address lies in; NULL */
} TraceRest;

typedef struct Event {
    EventKind kind;
    uint64_t number;          /* in the whole trace */
    unsigned process, thread; /* from 1, in order of appearance */
    unsigned depth;           /* recorded calls around it in its thread */
    const Function *fn;       /* call, return; NULL: not in the program */
    uint64_t call;            /* return: number of its call */
    int error;                /* return: errno then */
    const TraceValue *values; /* call: one a parameter; return: the result */
    size_t nvalues;
    const TraceRest *rest;    /* call: what was passed for "..." */
    size_t nrest;
    bool has_rest;            /* it is known; there may be none of it */
    const TraceMemory *memory;
    size_t nmemory;
    bool cut;                 /* a budget ended the copying */
    const TraceObject *object;        /* alloc, free */
    unsigned how;             /* end: enum SundewTraceEnd */
    int64_t value;            /* end: status or signal */
} Event;

Trace *trace_open(const char *folder, const Program *p, Err *err);
void trace_close(Trace *t);                      /* NULL is fine */
const Event *trace_next(Trace *t);               /* NULL at the end */
/* Asserts what always holds: of the streams that are merged, and of the event
 * that was read last. */
void trace_check(const Trace *t);
/* Streams whose process died without saying so; known at the end. */
size_t trace_cut_short(const Trace *t);
/* The object that an address lies in, at the last event, in its process; NULL. */
const TraceObject *trace_object_at(const Trace *t, const Event *e, uint64_t address);
/* Bytes at an address as recorded with an event; NULL: not recorded. */
const uint8_t *event_bytes(const Event *e, uint64_t address, size_t *n);
/* A value as a C programmer would write it, what it points to included. */
void event_print_value(const Event *e, const TraceValue *v, Str *out);
void event_print_rest(const Event *e, const TraceRest *r, Str *out);
void event_print(const Event *e, Str *out);      /* one line, hostile text escaped */
#endif
