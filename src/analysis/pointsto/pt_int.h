/*
 * pt_int - what the files of the points-to analysis share.
 *
 *     values.c    numbers for the module's values, the same on every reading
 *     pt_loc.c    objects, locations, arrays folded into one element
 *     pt_build.c  instructions -> constraints
 *     pt_call.c   a call meets a function: bodies, summaries, callbacks
 *     pt_wrap.c   functions that hand on fresh memory
 *     pt_flow.c   which functions a call may mean, by fields
 *     pt_solve.c  the solver
 *     pointsto.c  the answer: asked, kept in a file, read again
 *
 * A *node* is something that holds pointers: one 8-byte word of an SSA value,
 * of a parameter or a return value, or the memory at a location (its *cell*).
 * Each node has a set of locations. Constraints between nodes are
 *
 *     copy   a ⊇ b           an edge in the graph
 *     load   a ⊇ *(b+k)      hung at b, and met by every location that
 *     store  *(a+k) ⊇ b      comes into the set it hangs at; they
 *     step   a ⊇ b+k         make new edges or new members
 *     copyto *a ⊇ *b         (memcpy)
 *     call                   hung at the function pointer
 */
#ifndef SUNDEW_PT_INT_H
#define SUNDEW_PT_INT_H
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "analysis/pointsto/pointsto.h"
#include "analysis/pointsto/ptset.h"
#include <llvm-c/Target.h>

#define NONE UINT32_MAX
#define ANY  POINTSTO_ANY

/* ---- a hash table from 64-bit keys to 32-bit values */
typedef struct PtTable {
    uint64_t *keys;           /* 0 is free: keys are stored + 1 */
    uint32_t *values;
    size_t len, cap;
} PtTable;
uint32_t pttable_get(const PtTable *t, uint64_t key);          /* NONE: not there */
bool pttable_put(PtTable *t, uint64_t key, uint32_t value);    /* true: new */
void pttable_release(PtTable *t);

/*
 * The module's values in a fixed order: globals, then for each function its
 * parameters and instructions. A *slot* is a word of a value that can hold a
 * pointer; slots are numbered in the same walk.
 */
typedef struct PtFunction {
    LLVMValueRef fn;
    uint32_t first_param, nparams;   /* value numbers */
    uint32_t ret, nret;              /* slots */
    bool variadic;
} PtFunction;

typedef struct PtValues {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    PtTable number;                  /* LLVMValueRef -> number */
    LLVMValueRef *values;            /* by number */
    uint32_t *slot;                  /* by number; NONE */
    size_t n, cap;
    uint32_t nslots;
    Vec(PtFunction) functions;
    PtTable function_index;          /* LLVMValueRef -> index in functions */
} PtValues;
void ptvalues_init(PtValues *v, LLVMModuleRef m);
void ptvalues_release(PtValues *v);
enum { PT_MOST_WORDS = 8 };
/* Words of a value of this type that can hold pointers; 0: none. */
unsigned ptvalues_words(const PtValues *v, LLVMTypeRef t);
/* A string literal: they hold no pointers, and share one object. */
bool ptvalues_is_literal(LLVMValueRef g);
/* Variables of one section, and the linker's names for its ends (__start_SECTION): a program
 * with such a name walks over all of them, so they are one object, that of the name which
 * this returns. NULL: g is not of such a section. */
LLVMValueRef ptvalues_section(LLVMValueRef g);
uint32_t ptvalues_number(const PtValues *v, LLVMValueRef x);
const PtFunction *ptvalues_function(const PtValues *v, LLVMValueRef fn);

/* ---- objects and locations */

/* Elements of an array: offsets in [start, end) are the same modulo `stride`. */
typedef struct PtRegion {
    int64_t start, end, stride;
} PtRegion;

/* All that is in one object is also in another, `shift` bytes further. */
typedef struct PtMirror {
    uint32_t to;              /* object */
    int64_t from, shift, end; /* offsets in [from, end) of the source */
} PtMirror;

typedef struct PtObj {
    PtKind kind;
    LLVMValueRef site;
    int64_t size;             /* -1 */
    bool flat;                /* one cell for all offsets */
    bool constant;            /* never written */
    bool pooled;              /* part of the heap object `Pt.heap` */
    uint32_t any;             /* the location "somewhere in it", or NONE */
    uint32_t written;         /* node: what was stored somewhere in it; or NONE */
    uint32_t all;             /* node: what any cell holds; or NONE */
    Vec(PtRegion) regions;    /* larger ones first */
    Vec(uint32_t) locs;
    Vec(PtMirror) mirrors;
} PtObj;

typedef struct PtLocation {
    uint32_t object;
    uint32_t canon;           /* the location it was folded into; itself */
    uint32_t cell;            /* node */
    int64_t offset;           /* or ANY */
} PtLocation;

/* ---- constraints */
typedef enum {
    C_LOAD,                   /* other ⊇ *(node + offset) */
    C_STORE,                  /* *(node + offset) ⊇ other */
    C_STEP,                   /* other ⊇ node + steps */
    C_COPY_TO,                /* *node ⊇ *other, at most `offset` bytes (0: all) */
    C_COPY_FROM,              /* *other ⊇ *node */
    C_CALL,                   /* `other` is the call */
    C_ESCAPE,                 /* what node points to is seen from outside */
    C_NARROW,                 /* other ⊇ node, offsets lost (integer arithmetic) */
} PtConstraintKind;

typedef struct PtConstraint {
    PtConstraintKind kind;
    uint32_t other;
    int64_t offset;
    uint32_t steps, nsteps;   /* C_STEP */
} PtConstraint;

/* One index of a getelementptr. */
typedef struct PtStep {
    int64_t add;              /* constant part, or the stride of an array */
    int64_t count;            /* elements of the array; 0: not known */
    enum {
        STEP_ADD,             /* to a field */
        STEP_BYTES,           /* by bytes: any field, or along an array */
        STEP_NEXT,            /* to the next element */
        STEP_INDEX,           /* to some element */
        STEP_ALIGN,           /* down to a multiple */
        STEP_ANY,
    } kind;
} PtStep;

typedef struct PtArg {
    uint32_t node;            /* first word; NONE: nothing of interest */
    uint32_t words;
    bool byval;               /* a pointer to what is copied */
    bool floating, narrow;    /* for the comparison of signatures */
} PtArg;

/* A place from which functions are called: an instruction, a callback. */
typedef struct PtCall {
    LLVMValueRef inst;        /* NULL: from outside */
    LLVMTypeRef type;         /* of the function that it means to call; NULL */
    PtArg *args;
    uint32_t nargs;
    uint32_t result, nresult; /* words; NONE */
    bool direct;              /* names the function */
    bool loose;               /* no prototype: argument counts say nothing */
    bool callback;            /* inst hands the function to an external one */
    uint32_t pool;            /* wrapper that hands on the result, or NONE */
    int64_t inner;            /* then: offset in the fresh object it counts on */
    Vec(uint32_t) rejected;   /* arrived, but of another type */
    Vec(LLVMValueRef) targets;
} PtCall;

typedef struct PtHandsOn {
    LLVMValueRef call;
    int64_t inner;            /* offset of the call's result in the object */
} PtHandsOn;

/* A function that returns the memory it has just allocated. */
typedef struct PtWrapper {
    LLVMValueRef fn;
    int64_t offset;           /* of the returned pointer in the fresh object */
    int realloc_param;        /* whose content moves along; -1 */
    uint32_t params;          /* bit i: parameter i may be returned as it is */
    uint32_t pool;            /* node: all objects it hands on */
    uint32_t extra;           /* node: what it hands on that isn't fresh */
    bool out;                 /* hands on through a parameter, not the result */
    Vec(PtHandsOn) calls;     /* the calls in it whose memory it hands on */
} PtWrapper;

typedef struct PtNode {
    uint32_t rep;             /* union-find parent; itself */
    bool queued;
    PtBits pts, fresh, todo;  /* all; not yet propagated; not yet met by constraints */
    Vec(uint32_t) succs;
    Vec(uint32_t) constraints;
} PtNode;

typedef struct Pt {
    PtValues *v;
    const Summaries *summaries;
    const PointsToPlan *plan;
    PtStats stats;
    Strings notes;
    Arena arena;

    Vec(PtNode) nodes;        /* the first v->nslots are the slots */
    Vec(PtObj) objects;
    Vec(PtLocation) locs;
    Vec(PtConstraint) constraints;
    Vec(PtStep) steps;
    Vec(PtCall) calls;
    PtTable edges;            /* from << 32 | to */
    PtTable loc_index;        /* object, offset -> location */
    PtTable object_of;        /* site (and kind) -> object */
    PtTable const_node;       /* constant -> node */
    PtTable vararg_node;      /* function -> object */
    PtTable connected;        /* call, function */
    PtTable call_of;          /* instruction -> call */
    Map named;                /* "static:f", … -> object or node + 1 */
    uint32_t *state;          /* node of each tag */

    uint32_t external;        /* the object of all that is outside */
    uint32_t world;           /* its cell */
    uint32_t integers;        /* node: what was cut to a narrow integer */
    uint32_t outside_call;
    uint32_t literals;        /* the object of all string literals */
    uint32_t heap;            /* the object that pooled ones became; NONE */
    uint32_t swamp;           /* node: the cell of objects without fields; NONE */

    bool *address_taken;      /* by index of the function */
    Vec(PtWrapper) wrappers;
    PtTable wrapper_of;       /* function -> index */
    PtTable hands_on;         /* call instruction -> wrapper's index */
    PtTable hands_inner;      /* call instruction -> inner */
    PtTable flow_known;       /* number of a call instruction: pt_flow.c knows of it */
    PtTable flow_seen;        /* call << 32 | function: arrives there, by its fields */
    PtTable flow_met;         /* call << 32 | function: and may be called */

    Vec(uint32_t) changed;    /* nodes with something in `fresh` */
    bool grown;               /* an edge or a member was added */
} Pt;

/* pt_solve.c */
uint32_t pt_node_new(Pt *pt);
uint32_t pt_find(Pt *pt, uint32_t node);
void pt_changed(Pt *pt, uint32_t node);    /* it has something in fresh or todo */
void pt_edge(Pt *pt, uint32_t from, uint32_t to);
void pt_member(Pt *pt, uint32_t node, uint32_t loc);
void pt_constrain(Pt *pt, uint32_t node, PtConstraint c);
uint32_t pt_merge(Pt *pt, uint32_t a, uint32_t b);
void pt_solve(Pt *pt);

/* pt_loc.c */
uint32_t pt_object_new(Pt *pt, PtKind kind, LLVMValueRef site, int64_t size);
uint32_t pt_object_flat(Pt *pt, PtKind kind, LLVMValueRef site);
/* The object for a site, made at the first call. */
uint32_t pt_object_at(Pt *pt, PtKind kind, LLVMValueRef site, int64_t size);
void pt_object_shape(Pt *pt, uint32_t object, LLVMTypeRef type);
uint32_t pt_loc(Pt *pt, uint32_t object, int64_t offset);
uint32_t pt_canon(Pt *pt, uint32_t loc);
uint32_t pt_shift(Pt *pt, uint32_t loc, int64_t by);
/* NONE: no such field, the object is too small. */
uint32_t pt_step(Pt *pt, uint32_t loc, const PtStep *steps, uint32_t n);
/* Is there room for a pointer? Else no access of that size reaches it. */
bool pt_has_room(Pt *pt, uint32_t loc, int64_t by);
/* The nodes to read from and to write to for a location; NONE: a function. */
uint32_t pt_read_node(Pt *pt, uint32_t loc);
uint32_t pt_write_node(Pt *pt, uint32_t loc);
void pt_mirror(Pt *pt, uint32_t to_loc, uint32_t from_loc, int64_t bytes);
/* The offset with arrays folded. */
int64_t pt_fold(const PtRegion *r, size_t n, int64_t offset);

/* `pools`: makes those of these that are in the heap one flat object; otherwise
 * makes each of them flat, with one cell for all. Sets are renamed. */
void pt_give_up_fields(Pt *pt, const uint32_t *objects, size_t n, bool pools);

/* pt_build.c */
void pt_build(Pt *pt);
/* First word of a value; NONE if it can't hold a pointer. */
uint32_t pt_value_node(Pt *pt, LLVMValueRef v);
uint32_t pt_world_call(Pt *pt);
void pt_note(Pt *pt, LLVMValueRef inst, const char *what);

/* The function behind casts and aliases, or NULL. */
LLVMValueRef pt_direct_target(LLVMValueRef callee);
bool pt_is_exported(const PointsToPlan *plan, LLVMValueRef g);
/* A weak definition of a library: the program that is linked with it may have another. */
bool pt_is_replaceable(const PointsToPlan *plan, LLVMValueRef g);
/* No function is visible: a library that is linked statically. */
bool pt_hides_all(LLVMModuleRef m);

/* pt_flow.c: fills flow_known, flow_seen, flow_met. */
void pt_flow(Pt *pt);

/* pt_call.c */
/* A call as far as its type goes; in the arena. */
PtCall pt_call_form(Pt *pt, LLVMValueRef inst);
bool pt_call_may_lack_prototype(const PtCall *c);
/* Is the function of the type that the call means to call? */
bool pt_call_fits(const PtCall *c, LLVMValueRef fn);
/* Could a call of this form reach the function and work? */
bool pt_call_could_work(const PtCall *c, LLVMValueRef fn);
PtArg pt_arg(Pt *pt, LLVMValueRef call, unsigned i);
void pt_call_direct(Pt *pt, uint32_t call, LLVMValueRef fn);
/* The function arrives at an indirect call; checked against its type. */
void pt_call_meets(Pt *pt, uint32_t call, LLVMValueRef fn);
bool pt_call_last_resort(Pt *pt);
uint32_t pt_global_object(Pt *pt, LLVMValueRef g);
uint32_t pt_library_object(Pt *pt, const char *name, LLVMValueRef fn);

bool pt_is_intrinsic(const char *name);

/* pt_wrap.c */
void pt_find_wrappers(Pt *pt);
#endif
