/*
 * What the files of this folder share.
 *
 *     trace.c    traces -> calls and histories: who took part in which call
 *     graph.c    histories -> one graph a handle type
 *     memory.c   bytes that were recorded -> values without addresses
 *     stores.c   what callers wrote into structs between calls
 *     files.c    files that the example asks the library for
 *     replay.c   calls -> what the example itself did, as sequences
 *     facts.c    what holds between arguments and between objects
 *     rules.c    the user's file
 *     show.c     text, JSON, Graphviz
 *     usage.c    the main line, what a generator asks, and usage_check()
 */
#ifndef SUNDEW_SEQ_USAGE_INT_H
#define SUNDEW_SEQ_USAGE_INT_H
#include "base/vec.h"
#include "engine/usage/usage.h"

enum {
    MOST_HISTORY = 200000,     /* calls of an object that are looked at */
    MOST_INSIDE = 64,          /* calls inside a call that become another way */
    MOST_INNER = 400,          /* functions inside a library that are recorded */
    MOST_ROWS = 64,            /* kept on an edge */
    MOST_VALUES = 64,          /* different ones, of a parameter */
};

enum { NO_CALL = UINT32_MAX, NO_OBJECT = UINT32_MAX };

/* A call of the traces, in the order in which they began. */
typedef struct RawCall {
    const Function *fn;        /* of the traced program */
    const ApiFunction *api;    /* NULL: not of the API */
    uint32_t parent;           /* the call around it; NO_CALL */
    uint64_t begin, end;       /* event numbers; end UINT64_MAX: it never returned */
    UsageVia via;
    bool library;              /* its code is the library's */
    bool returned;
    SeqValue *values;          /* of the API only; one a parameter */
    SeqValue result;
    uint32_t *objects;         /* one a parameter, then the result; NO_OBJECT */
    uint64_t *rooms;           /* one a parameter: bytes behind the pointer; 0 */
    const uint8_t **found;     /* one a parameter: the caller's struct as it was; NULL */
    SeqValue *held;            /* one a parameter: what a room on the heap had in it; NONE */
    uint64_t *addresses;       /* one a parameter: pointers; 0 */
    unsigned nparams;
    UsageStore *stores;        /* what the caller set before it */
    size_t nstores;
    bool unknown;              /* … and something that can't be said */
} RawCall;

/* An object in a call. */
typedef struct Part {
    uint32_t call;
    Places places;
    bool creates;              /* it came out of the call, or was set up by it */
    bool ends, rebinds;
    bool dropped;              /* it leaves the state alone, or is internal */
    bool internal;             /* made by the library, in a call on something else */
    uint32_t node, next;       /* in the graph: before and after */
} Part;

/* What is known of one object. Memory that is set up or handed out again is
 * another one. */
typedef struct Object {
    const ApiType *type;
    uint64_t born, died;       /* event numbers; died UINT64_MAX: not seen */
    uint32_t maker;            /* the call that made it; NO_CALL: not seen */
    uint32_t killer;           /* the outermost API call during which it died */
    bool callers;              /* it lies in memory of the example */
    bool borrowed;             /* it was there already when the example got it */
    bool gone;                 /* no longer known under its address */
    const TraceObject *block;  /* while the trace is open; NULL: not on the heap */
    uint64_t offset;           /* in it */
    uint8_t *last;             /* its bytes when the last call on it returned; NULL */
    uint8_t *found;            /* its bytes when it was seen first, and not zeroed: the call
                                * that it was seen in may tell what they were; NULL */
    Vec(Part) parts;           /* in the order of their calls */
    bool cut;
} Object;

typedef struct RawUsage {
    const Api *api;
    Api *shapes;               /* the same, which gets those of variadic calls */
    Vec(RawCall) calls;
    Vec(Object) objects;
    Map texts;                 /* functions whose texts the example freed itself */
    uint64_t last;             /* event number */
} RawUsage;

struct Usage {
    Arena arena;
    const Api *api;
    UsageType *types;          /* those that objects were seen of */
    size_t ntypes;
    UsageFunction *functions;
    size_t nfunctions;
    uint32_t *function_of;     /* ApiFunction.index -> functions; UINT32_MAX */
    UsageBond *bonds;
    size_t nbonds;
    UsageValues **values;      /* by ApiFunction.index, then by parameter */
    Seq **replays;
    size_t nreplays;
    Vec(UsageLoss) losses;
    Vec(SeqFile) files;
    bool *gives_text;          /* by ApiFunction.index */
    Places *gives_handles;     /* likewise: new ones, which the example closed */
    bool *forbidden;           /* by ApiFunction.index; NULL: none */
    Strings notes;             /* what was left out, and rules without effect */
};

/* Appends what a trace shows; bytes are copied into the arena. False: it was stopped
 * before the end. */
bool raw_add_trace(RawUsage *raw, Arena *a, Trace *t, const UsagePlan *plan);
/* Says what goes on, if anybody asks. */
void usage_say(const UsagePlan *plan, const char *what);
void raw_release(RawUsage *raw);

/* Is `inner` inside `outer`, at any depth? */
bool raw_is_inside(const RawUsage *raw, uint32_t inner, uint32_t outer);

/* An object's part in a call; NULL: none. */
Part *raw_part(const Object *o, uint32_t call);

/* Bytes of a type, or of several, with what their pointers lead to. VALUE_NONE: something of
 * it is not known. */
SeqValue memory_of(Arena *a, const Event *e, const Type *type, const uint8_t *bytes, size_t n);
/* Are there words that look like addresses? */
bool memory_has_addresses(const uint8_t *bytes, size_t n);

/* Fills in Part.ends, rebinds, dropped; Object.killer. */
void facts_of_ends(RawUsage *raw, const MutFacts *facts);
/* Fates, relations, bonds. */
void facts_of_usage(Usage *m, const RawUsage *raw);

/* Appends to c->stores what was written into an object that stands in a place of
 * the call, since it was seen last. `first`: nothing was seen of it before. */
/* Has a call written over all that a struct of `n` bytes held, and did that look like a leftover? */
bool stores_fill(const uint8_t *was, const uint8_t *now, size_t n);
void stores_note(Arena *a, RawCall *c, Object *o, unsigned place, const Event *e, bool first);
/* What an object holds when a call on it returns. */
void stores_leave(Arena *a, RawCall *c, Object *o, const uint8_t *bytes, size_t n);
bool stores_equal(const UsageRow *row, const UsageStore *stores, size_t n);
/* Files whose names stand in calls; the names lose their folders. `root`: the project's
 * folder. */
void files_find(Usage *m, RawUsage *raw, const char *root);
void replays_make(Usage *m, const RawUsage *raw, const UsagePlan *plan);
void graphs_make(Usage *m, RawUsage *raw);
/* Numbers, sorts and measures what a graph has, after a change. */
void graph_measure(UsageType *t);
bool rules_apply(Usage *m, const char *path, Err *err);
bool row_equal(const SeqValue *a, const SeqValue *b, unsigned n);
void values_add(Arena *a, UsageValues *v, const SeqValue *x);
#endif
