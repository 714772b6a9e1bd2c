/* What monitor.c, plan.c, rest.c and tables.c share: one row a monitored function. */
#ifndef SUNDEW_WEAVE_MONITOR_INT_H
#define SUNDEW_WEAVE_MONITOR_INT_H
#include "runtime/format/tables.h"
#include "weave/weave_int.h"

/* A stack object whose address leaves the function. */
typedef struct RowLocal {
    LLVMValueRef slot;           /* the alloca; good until the module is optimised */
    SundewLocal local;
} RowLocal;

typedef struct Row {
    const Function *fn;
    LLVMValueRef value;          /* in the woven module, as above */
    LLVMTypeRef type;            /* … its type */
    unsigned ninstructions;
    bool late;                   /* its probes come when all has been optimised */
    bool copied;                 /* f.enter goes along where it is inlined, f.leave does not */
    LLVMValueRef enter, leave;   /* the probes' functions */
    LLVMValueRef copy;           /* … f.enter where it was inlined; NULL: nowhere */
    bool moves;                  /* its stack pointer does, while it runs */
    unsigned nslots;
    unsigned *slot_of;           /* of each IR argument */
    Vec(SundewParam) params;
    Vec(RowLocal) locals;
    Vec(SundewStep) steps;
    Vec(uint32_t) uses;          /* numbers of variables, sorted */
} Row;

struct Monitoring {
    MonitorPlan plan;
    bool recording;              /* runtime/record/record.h: results too, trivial ones too */
    Vec(Row) rows;
    size_t trivial;
};

enum {
    MOST_LOCALS = 32,            /* stack objects of a frame that are noted */
    MOST_SLOTS = 512,            /* a function with more arguments is left alone */
    MOST_STEPS = 24,             /* copies at one entry */
    MOST_USES = 4096,
};

/* plan.c: what is copied at the entry of each function, and which variables it
 * uses. */
void monitor_plan_copies(Woven *w, Monitoring *m);

/* state.c: the same for COPY_STATE, from types alone; and new stack objects say that
 * nobody wrote them (SUNDEW_UNWRITTEN). */
void monitor_plan_state(Woven *w, Row *row);
void monitor_fill_locals(Woven *w);

/* rest.c: before each call of a variadic function that is recorded. */
void monitor_put_rests(Woven *w, const Monitoring *m);

/* The model's type for that of a stack slot: structs and unions by name, characters,
 * arrays as their elements; NULL: not known. */
const Type *monitor_slot_type(const Woven *w, LLVMTypeRef t);

/* tables.c: the tables, when the module has been optimised. */
WeaveLast monitor_write_tables;
/* The number of a type in the tables; 0: not known. */
uint32_t monitor_type_number(const Type *t);
#endif
