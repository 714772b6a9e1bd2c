/*
 * protocol - in which order the calls of an API may come, learned from runs.
 *
 *     ProtoApi *api = proto_api_new();
 *     proto_api_read(api, "share/protocols/stdio.txt", err);     functions and their handles
 *     ProtoRuns runs = {0};
 *     proto_runs_read(api, sites, nsites, folder, &runs, err);   what processes did
 *     Protocols *ps = protocols_new(api);
 *     for (each run that ended well) protocols_mine(ps, run);
 *     ProtoVerdict v = protocols_check(ps, run, call, &where);   was this call in order?
 *
 * An object is a handle with a generation: a FILE * that was closed and whose address
 * fopen() gives out again is another object. A protocol is a finite automaton over one to
 * three objects. A state is the pair (last two labels, objects that are bound). An object is
 * bound when a call returned it, wrote it through a pointer, or set up the caller's own
 * struct. A state in which all objects are bound is liable: a call that it does not
 * offer breaks the protocol. Other states are set-up: calls there say nothing.
 *
 *     [fopen] --fgets(f) > 0--> [fopen, fgets] --fclose(f)--> [fgets, fclose]
 *
 * A label is a function, the objects in its places, and the class of its result
 * (NULL; below, at or above 0; or a value that the table of the API names). What a
 * call may do is looked up without the result; where it leads, with it.
 *
 * All texts from programs are hostile.
 */
#ifndef SUNDEW_PROTOCOL_H
#define SUNDEW_PROTOCOL_H
#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include <stdint.h>

/* ---- the API */

typedef enum {
    PROTO_USES,
    PROTO_CREATES,             /* comes out, and is new */
    PROTO_INITIALISES,         /* the caller's own: its life begins here */
    PROTO_DESTROYS,
} ProtoUse;

enum {
    PROTO_RETURNED = -1,
    PROTO_HIDDEN = -2,         /* state that no argument names: strtok() */
    PROTO_MOST_PLACES = 6,
    PROTO_MOST_CODES = 8,
};

typedef struct ProtoPlace {
    int param;                 /* or PROTO_RETURNED, PROTO_HIDDEN */
    bool out;                  /* what the parameter points to comes out */
    ProtoUse use;
    unsigned type;             /* index of the handle's type */
} ProtoPlace;

typedef struct ProtoCode {
    const char *name;          /* "EBADF" */
    int value;
    bool is_errno;             /* in errno, after a result that says failure */
} ProtoCode;

typedef struct ProtoFunction {
    const char *name;
    ProtoPlace places[PROTO_MOST_PLACES];
    unsigned nplaces;
    ProtoCode misuse[PROTO_MOST_CODES];     /* results that say: you used me wrongly */
    unsigned nmisuse;
    int64_t values[PROTO_MOST_CODES];       /* results that are classes of their own */
    unsigned nvalues;
    bool pointer;              /* the result is one */
    bool no_result;
    bool known;                /* of a table, not guessed */
    bool foreign;              /* not of the API: for who cuts other traces */
    bool ubiquitous;           /* malloc and its like: says nothing */
    const char *family;        /* "stdio", or NULL */
} ProtoFunction;

typedef struct ProtoType {
    const char *name;          /* "FILE", "sqlite3_stmt" */
    const char *fault; /* how the environment fails it (runtime/calls/calls.h); NULL: not */
    const char *canonical; /* "struct _IO_FILE" */
    bool integer; /* negative is none */
    bool caller_owned; /* the caller's struct, told by its address */
} ProtoType;

typedef struct ProtoApi {
    Vec(ProtoFunction *) functions;
    Vec(ProtoType) types;
    Map by_name, by_type; /* → index + 1 */
    Arena arena;
} ProtoApi;

ProtoApi *proto_api_new(void);
void proto_api_free(ProtoApi *api); /* NULL is fine */
/* A table of functions; its form stands in share/protocols/README.md. */
bool proto_api_read(ProtoApi *api, const char *path, Err *err);
ProtoFunction *proto_api_function(const ProtoApi *api, const char *name); /* or NULL */
ProtoFunction *proto_api_add(ProtoApi *api, const char *name);
unsigned proto_api_index(const ProtoApi *api, const ProtoFunction *f);
/* The type with this name, or this canonical spelling; made if it is not there. */
unsigned proto_api_type(ProtoApi *api, const char *name);
void proto_api_place(ProtoApi *api, ProtoFunction *f, ProtoPlace p);
/* How the environment can make a call of it fail: "open", "stream" …; NULL: it can't. */
const char *proto_fault(const ProtoApi *api, const ProtoFunction *f);
/* What names say of functions that no table knows. */
bool proto_name_creates(const char *name);
bool proto_name_destroys(const char *name);

/* ---- runs */

typedef struct ProtoCall {
    uint32_t function, site;
    uint32_t objects[3]; /* the receiver first; 0: none */
    uint32_t made[2]; /* what it gave; 0: none */
    uint32_t thread;
    int32_t result; /* cut to 32 bits; of a pointer 0 or 1 */
    int16_t error; /* errno */
    bool returned;
} ProtoCall;

typedef struct ProtoObject {
    uint32_t type;
    uint32_t maker, ender; /* calls, from 1; 0: none seen */
    bool none; /* NULL or -1 that a maker returned */
    bool found; /* the caller's: it was there before the call that named it first */
} ProtoObject;

/* A function of the program returned, before call number `at`. */
typedef struct ProtoLeft {
    uint32_t function, at, thread;
} ProtoLeft;

typedef enum { PROTO_ENDED, PROTO_DIED, PROTO_CUT_SHORT } ProtoEnd;

typedef struct ProtoFrame {
    char *module, *function; /* NULL: not known */
} ProtoFrame;

/* What one process did. */
typedef struct ProtoRun {
    Vec(ProtoCall) calls;
    Vec(ProtoObject) objects; /* number - 1 */
    Vec(ProtoLeft) left;
    uint32_t *first, *uses; /* uses[first[o - 1]] … are the calls that name object o */
    ProtoEnd end;
    int signal;
    uint64_t address;
    uint32_t thread; /* that died */
    char *said; /* by a sanitizer; "" */
    Vec(ProtoFrame) frames; /* innermost first */
    uint64_t lost; /* calls beyond what is recorded */
    uint32_t fault; /* 1 + the site at which the environment was made to fail; 0: none */
    char *name; /* of the file */
} ProtoRun;
typedef Vec(ProtoRun *) ProtoRuns;

ProtoRun *proto_run_new(void);
void proto_run_free(ProtoRun *r); /* NULL is fine */
void proto_runs_release(ProtoRuns *runs);
/* For who fills a run by hand: object and call numbers. */
uint32_t proto_run_object(ProtoRun *r, unsigned type);
ProtoCall *proto_run_call(ProtoRun *r, unsigned function);
void proto_run_index(ProtoRun *r); /* when all calls are there */
/* Files of a folder, each a process. What is no such file is left out, and counted. */
typedef struct ProtoReading {
    const ProtoApi *api;
    const uint32_t *callee; /* of each site: index of its function in the API */
    size_t nsites, nleft; /* sites; functions that say when they return */
    const char *original, *woven; /* frames in the first are looked up in the second */
    size_t damaged; /* files that were not understood */
} ProtoReading;
bool proto_runs_read(ProtoReading *how, const char *folder, ProtoRuns *out, Err *err);
/* The call that the thread died in: the last that began and did not return; -1. */
long proto_run_fatal(const ProtoRun *r);
/* Which misuse a call's result tells; NULL: none. */
const ProtoCode *proto_misuse(const ProtoApi *api, const ProtoCall *c);

/* ---- cuts: the part of a run that one object sees */

typedef struct ProtoCut {
    uint32_t core;
    Vec(uint32_t) calls; /* in order */
    bool alone; /* only the core's own calls, other objects left out */
} ProtoCut;

enum { PROTO_MOST_RECEIVERS = 3, PROTO_LEAST_FUNCTIONS = 2 };

/* All calls on the object; the maker of each object that it was given and the calls on that
 * before; calls on what its calls gave. */
void proto_cut(const ProtoRun *r, uint32_t core, ProtoCut *out);
void proto_cut_alone(const ProtoRun *r, uint32_t core, ProtoCut *out);
/* The six filters in order: clones, size, types, API, ubiquitous, minimum. `keep` are
 * objects that are no clones. False: nothing is left. */
bool proto_filter(const ProtoApi *api, const ProtoRun *r, ProtoCut *c, const uint32_t *keep,
                  size_t nkeep);
void proto_cut_release(ProtoCut *c);

/* ---- protocols */

typedef struct Protocols Protocols;

typedef struct ProtoLabel {
    const char *text; /* "f = fopen()", "fgets(f) = NULL" */
    const char *function;
    char args[4], made[3]; /* parameters, from 1; 0: none */
    const char *result; /* class; "" */
} ProtoLabel;

typedef struct ProtoEdge {
    unsigned label, to;
    uint64_t count;
} ProtoEdge;

typedef struct ProtoState {
    int labels[2]; /* the last ones, older first; -1: none */
    unsigned bound; /* a bit for each parameter */
    uint64_t ends; /* lives that ended here */
    Vec(ProtoEdge) edges;
} ProtoState;

typedef struct Protocol {
    const char *types; /* "FILE", "sqlite3 sqlite3_stmt" */
    const char **params; /* names */
    unsigned nparams;
    Vec(ProtoLabel) labels;
    Vec(ProtoState) states; /* the first one is the start */
    Map label_ids, state_ids; /* → index + 1 */
    uint64_t lives; /* subtraces it was learned from */
    uint64_t runs; /* processes */
} Protocol;

Protocols *protocols_new(const ProtoApi *api);
void protocols_free(Protocols *ps); /* NULL is fine */
Protocol *const *protocols_all(const Protocols *ps, size_t *n);
/* A run that went well. */
void protocols_mine(Protocols *ps, const ProtoRun *r);
/* One cut alone; for tests. */
void protocols_mine_cut(Protocols *ps, const ProtoRun *r, const ProtoCut *c);
bool protocol_is_liable(const Protocol *p, const ProtoState *s);

typedef enum {
    PROTO_NOT_KNOWN, /* no protocol speaks of it */
    PROTO_SETUP,
    PROTO_NOVEL, /* no run that went well came to such a state at all */
    PROTO_ALLOWED,
    PROTO_BROKEN,
} ProtoVerdict;

typedef struct ProtoBreach {
    const Protocol *protocol;
    int state; /* in which the call came; -1: one of several, see `last` */
    int last; /* label before it; -1: none */
    uint32_t object; /* the core */
    const char *after; /* text of the last label; "" */
} ProtoBreach;

/* Was call number `at` in order? All protocols of the objects in it are asked. */
ProtoVerdict protocols_check(const Protocols *ps, const ProtoRun *r, uint32_t at, ProtoBreach *out);

/* What users say: lines of
 *     pin    FILE: fclose -> fopen       is in order, seen or not
 *     delete FILE: fgets -> fgets        forget what was seen; it may be seen again
 *     forbid FILE: fclose -> fclose      is out of order, seen or not
 * for "the second function on an object whose last call was the first". */
bool protocols_edges(Protocols *ps, const char *path, Err *err);

/* Kept as JSON, and merged with what is there. */
json_t *protocols_json(const Protocols *ps);
bool protocols_merge(Protocols *ps, const json_t *kept, Err *err);
void protocols_text(const Protocols *ps, Str *out);
/* Graphviz; with a breach: the missing edge is red. */
void protocol_dot(const Protocol *p, const ProtoBreach *b, const char *missing, Str *out);

/* ---- lives that nobody ended */

/* What became of the lives that begin at a site. */
typedef struct ProtoLives {
    uint64_t here; /* ended in the function that has the site, before it returned */
    uint64_t elsewhere;
    uint64_t open; /* the function returned, and at the end it was alive */
    int ender; /* function of the API that ended one; -1: none */
} ProtoLives;

typedef struct ProtoUnfinished {
    uint32_t run, object; /* index of the run; the object */
    uint32_t site; /* of its maker */
    uint64_t finished; /* lives that begin there and were ended */
    uint32_t ender; /* the function that ends them */
} ProtoUnfinished;
typedef Vec(ProtoUnfinished) ProtoUnfinisheds;

/* Where calls stand: `same[s]` numbers the function of site s; `left_of[n]` is that number for
 * function n of ProtoLeft. */
typedef struct ProtoPlaces {
    const uint32_t *same, *left_of;
    size_t nsites;
} ProtoPlaces;

/* `out` has an entry for each site. */
void proto_lives(const ProtoRuns *runs, const ProtoPlaces *at, ProtoLives *out);
/* An object that the function which makes it always ends, but not this time; or that earlier
 * runs ended somewhere, and these never do. `before` is what
 * earlier runs have shown, `now` these. */
void proto_unfinished(const ProtoRuns *runs, const ProtoPlaces *at, const ProtoLives *before,
                      const ProtoLives *now, ProtoUnfinisheds *out);
#endif
