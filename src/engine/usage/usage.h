/*
 * usage - how an API was used in example runs, for a generator that wants to
 * use it alike but differently.
 *
 *     Usage *m = usage_infer(api, traces, n, &(UsagePlan){ .facts = facts }, err);
 *     const UsageType *t = usage_type(m, handle_type);
 *     const UsageEdge *e = usage_pick_edge(t, 0, rng);       how objects begin
 *     usage_pick_values(m, e, rng, 0.3, values);             its arguments
 *     node = e->to;                                          where the object is now
 *     …
 *     e = usage_toward_end(t, node)                          how it is closed
 *     usage_free(m);
 *
 * For each handle type there is a graph. A node stands for the histories that
 * lead to it, node 0 for an object that is not there yet; an edge is a call in
 * which the object stood in `places`. Each path from node 0 begins with a call
 * that makes the object (returned, put into an out-parameter, or initialised
 * in the caller's storage).
 *
 *     struct stmt
 *       0 -> 1  db_prepare(db, "insert …" | "select …", &self)     creates
 *       1 -> 2  stmt_step(self)
 *       2 -> 2  stmt_step(self)
 *       2 -> 3  stmt_finalize(self)                                ends
 *
 * A call moves every object in it: usage_step() says where to, for those that
 * the generator did not pick the edge for. USAGE_OUTSIDE means that the object
 * has left what was seen.
 *
 * How it is made (docs/usage.md has the rules): the calls of each object in
 * order with their nesting; calls that leave its state alone set aside as
 * observers; nested calls as another way between the same nodes; edges that are
 * not of the API removed; graphs of one type merged from their roots on.
 *
 * A Usage owns all it hands out. The Api must outlive it, the traces need not.
 */
#ifndef SUNDEW_SEQ_USAGE_H
#define SUNDEW_SEQ_USAGE_H
#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/record/trace.h"
#include "engine/api/api.h"
#include "engine/sequence/ownership.h"
#include "engine/sequence/sequence.h"
#include "engine/api/value.h"
#include "analysis/mutability/facts.h"
#include <jansson.h>

typedef struct Usage Usage;
typedef struct UsageEdge UsageEdge;

/* Places as a set: bit i is parameter i. Parameters from 30 on are not looked
 * at. */
typedef uint32_t Places;
enum { PLACE_RESULT = 31, PLACES_LIMIT = 30 };
static inline Places place_bit(int place)
{
    return place == API_RETURNED                ? (Places)1 << PLACE_RESULT
           : place >= 0 && place < PLACES_LIMIT ? (Places)1 << place
                                                : 0;
}

enum { USAGE_OUTSIDE = UINT32_MAX };

/* Who made a call. Only sequences made of VIA_EXAMPLE edges were really shown
 * to be legal for a caller. */
typedef enum {
    VIA_EXAMPLE,               /* the example, from outside the library */
    VIA_CALLBACK,              /* … in a callback, while the library was at work */
    VIA_LIBRARY,               /* the library itself, inside another call */
} UsageVia;
const char *usage_via_name(UsageVia v);        /* example, callback, library */

typedef struct UsageValues {
    SeqValue *values;          /* different ones, most frequent first */
    unsigned *counts;
    size_t n;
    unsigned total;            /* observations, also of those left out */
} UsageValues;

/* A field of a struct that the caller wrote since the call before, and that stands
 * in a call: stream.next_in = … */
typedef struct UsageStore {
    int place;                 /* of the struct */
    const Field *field;        /* its name may be a path: a.b */
    SeqValue value;
    int partner;               /* of bytes: the store that has their number; -1 */
    uint64_t address;          /* of a pointer: the example's; 0 */
} UsageStore;

/* One observed call: what stood in each place. Handles are VALUE_SELF where the
 * object stood, VALUE_NONE where another handle stood, VALUE_NULL. Rooms for
 * out-parameters are VALUE_ROOM. */
typedef struct UsageRow {
    SeqValue *values;          /* one a parameter */
    unsigned count;
    const UsageStore *stores;  /* what the caller set before it */
    size_t nstores;
    bool unknown;              /* a struct of the caller's held something that can't be said */
} UsageRow;

/* Another handle in a call. */
typedef struct UsageOther {
    int place;
    const ApiType *type;
    uint32_t *nodes;           /* where it was in the graph of its type; sorted */
    size_t nnodes;
    unsigned nulls, total;     /* how often it was NULL */
} UsageOther;

struct UsageEdge {
    const ApiFunction *function;
    Places places;             /* of the object */
    uint32_t from, to;
    UsageVia via;
    unsigned count;            /* observations */
    double weight;             /* > 0; a user's file may change it */
    bool creates;              /* the object was new; always so from node 0 */
    bool ends;                 /* it was gone afterwards, or the caller's no more */
    bool rebinds;              /* the returned handle takes the object's place */
    UsageRow *rows;            /* up to a limit, the first seen */
    size_t nrows;
    UsageValues *values;       /* one a parameter; empty for handles */
    UsageValues results;       /* scalars and strings returned; NULL */
    UsageOther *others;
    size_t nothers;
};

typedef struct UsageNode {
    UsageEdge **edges;         /* out of it */
    size_t nedges;
    unsigned ended;            /* objects whose last call led here */
    unsigned distance;         /* edges to the nearest end; UINT_MAX: none */
} UsageNode;

/* A call that leaves the object's state alone: good for looking at it. */
typedef struct UsageObserver {
    const ApiFunction *function;
    Places places;
    unsigned count;
    UsageRow *rows;
    size_t nrows;
} UsageObserver;

typedef struct UsageType {
    const ApiType *type;
    UsageNode *nodes;          /* 0 is the root */
    size_t nnodes, nedges;
    UsageObserver *observers;
    size_t nobservers;
    unsigned objects;          /* instances that it was learned from */
    unsigned cut;              /* … whose history was longer than is looked at */
} UsageType;

/* ---- what holds between the arguments of a call */

typedef enum {
    RELATION_LENGTH,           /* b is the number of bytes at a, at most */
    RELATION_LENGTH_EXACT,     /* … exactly the bytes there are */
    RELATION_LENGTH_TEXT,      /* … strlen(a) */
    RELATION_LENGTH_TEXT_NUL,  /* … strlen(a) + 1 */
    RELATION_MET,              /* handles that stood together in an earlier call */
    RELATION_SAME,             /* always the same object */
    RELATION_APART,            /* never the same object */
} UsageRelationKind;
const char *usage_relation_name(UsageRelationKind k);

typedef struct UsageRelation {
    UsageRelationKind kind;
    int a, b;                  /* places */
    unsigned seen;             /* calls; it held in all of them */
} UsageRelation;

/* What becomes of the handle in a place. */
typedef enum {
    FATE_STAYS,                /* it is used or closed later */
    FATE_DESTROYED,            /* freed in the call */
    FATE_TAKEN,                /* never touched again by the example, not freed
                                * here: somebody else owns it now */
    FATE_REBOUND,              /* gone, the returned one takes its place */
    FATE_VARIES,
} UsageFate;
const char *usage_fate_name(UsageFate f);

typedef struct UsageFunction {
    const ApiFunction *function;
    unsigned calls;            /* by the example */
    unsigned inner;            /* by the library or callbacks */
    UsageRow *rows;            /* of the example's calls, up to a limit; handles
                                * are VALUE_NONE. For functions without handles */
    size_t nrows;
    UsageFate *fates;          /* one a parameter */
    UsageRelation *relations;
    size_t nrelations;
} UsageFunction;

/* ---- what holds between objects */

typedef enum {
    ORDER_ANY,
    ORDER_CHILD_FIRST,         /* the child was always closed before the owner */
    ORDER_OWNER_FIRST,         /* … after it */
    ORDER_WITH_OWNER,          /* it dies when the owner is closed: nobody closes it */
} UsageOrder;
const char *usage_order_name(UsageOrder o);

/* A call that binds a child to an owner: it made the child out of the owner, or
 * gave it to the owner. The owner stayed while the child was used. */
typedef struct UsageBond {
    const ApiFunction *by;
    int child, owner;          /* places in it */
    const ApiType *child_type, *owner_type;
    bool creates;              /* it made the child */
    UsageOrder order;
    unsigned seen;
} UsageBond;

/* Calls of the example that no replay repeats. */
typedef struct UsageLoss {
    const ApiFunction *function;
    const char *why;
    unsigned calls;
} UsageLoss;

/* ---- making one */

/* The functions of an example that have to be recorded (RecordPlan.only): the
 * API's, the example's own, and those inside the library that handles go
 * through, unless there are so many that the trace would hold little else. */
void usage_functions_to_record(const Api *api, const Program *example, Strings *out);

typedef struct UsagePlan {
    const MutFacts *facts;     /* of the API's program; NULL: every call changes */
    const char *rules;         /* a user's file; NULL: none. See docs/usage.md */
    const char *root;          /* the project's folder, in which files are looked for; NULL: the
                                * current one */
    bool (*stop)(void *arg);   /* asked now and then: what was not looked at is left out;
                                * NULL: never */
    void (*progress)(void *arg, const char *what);       /* NULL: nobody asks */
    void *arg;
} UsagePlan;

/* The API gets a function for each shape of variadic calls that the example made. The traces
 * are read to their ends. Functions are matched by name, so that they
 * may come from another program than the API: one that uses the library. */
Usage *usage_infer(Api *api, Trace *const *traces, size_t ntraces, const UsagePlan *plan, Err *err);
void usage_free(Usage *m);                     /* NULL is fine */

/* ---- asking */

const UsageType *usage_types(const Usage *m, size_t *n);
const UsageType *usage_type(const Usage *m, const ApiType *t);       /* or NULL */
const UsageFunction *usage_functions(const Usage *m, size_t *n);     /* those called */
const UsageFunction *usage_function(const Usage *m, const ApiFunction *f);
/* The bonds that a function makes for the handle in a place. */
const UsageBond *usage_bond(const Usage *m, const ApiFunction *f, int child);

/* Where an object goes by a call; USAGE_OUTSIDE: nowhere that was seen. A call
 * that only observes leads back to the same node. */
uint32_t usage_step(const UsageType *t, uint32_t node, const ApiFunction *f, Places places);
/* An edge out of a node by weight; NULL: there is none. */
const UsageEdge *usage_pick_edge(const UsageType *t, uint32_t node, Rng *r);
/* The first edge of a shortest way to an end; NULL: none, or already there. */
const UsageEdge *usage_toward_end(const UsageType *t, uint32_t node);
/* Arguments for an edge, one a parameter: an observed row, or with probability
 * `mix` each from any row or from other edges of the same function, lengths
 * kept with their buffers. Handles as in UsageRow. Returns the row that it began
 * with; NULL: none. */
const UsageRow *usage_pick_values(const Usage *m, const UsageEdge *e, Rng *r, double mix,
                                  SeqValue *out);
/* What the example showed: handles that it gave away or had to close, texts that it
 * freed. */
void usage_teach_ownership(const Usage *m, Ownership *o);
/* What the example itself did, as sequences: objects that had to do with each other
 * in one, up to a length; callbacks are stubs. */
Seq *const *usage_replays(const Usage *m, size_t *n);
const UsageLoss *usage_losses(const Usage *m, size_t *n);
const SeqFile *usage_files(const Usage *m, size_t *n);
/* All observed values of a parameter, over all edges; NULL: none. */
const UsageValues *usage_values(const Usage *m, const ApiFunction *f, unsigned param);

/* Has the user forbidden a function altogether? */
bool usage_forbids(const Usage *m, const ApiFunction *f);
/* What the usage leaves out or could not do: rules without effect. */
char *const *usage_notes(const Usage *m, size_t *n);

/* ---- showing, checking */

/* Asserts what always holds: graphs are closed and reachable through their edges,
 * weights are positive, rows and values have a place for each parameter, replays are
 * sequences. */
void usage_check(const Usage *m);
void usage_dump(const Usage *m, Str *out);     /* text */
json_t *usage_json(const Usage *m);
void usage_dot(const Usage *m, Str *out);      /* Graphviz */
#endif
