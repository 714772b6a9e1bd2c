/*
 * weave - put probes into a program.
 *
 *     Woven *w = weave_begin(p, err);                    a private copy of its IR
 *     if (!weave_monitor(w, &monitor_plan, err)) …       one call a kind of probe
 *     if (!woven_build(w, &(WovenBuild){ .out = "prog.monitored" }, err)) …  build/woven.h
 *     weave_end(w);
 *
 * A kind of probe only inserts straight-line calls of small functions; their
 * bodies are C in runtime/ (compiled to bitcode when Sundew is built, and linked
 * in by weave_runtime()) or small functions of a few blocks that the weave
 * writes. LLVM inlines and optimises the rest.
 *
 * A woven program behaves like the plain one: same output, exit status, errno.
 */
#ifndef SUNDEW_WEAVE_H
#define SUNDEW_WEAVE_H
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "analysis/pointsto/calls.h"
#include "analysis/symbolic/standins.h"
#include "program/program.h"
#include "analysis/symbolic/symbolic.h"
#include "weave/edges.h"

typedef struct Woven Woven;

Woven *weave_begin(const Program *p, Err *err);
void weave_end(Woven *w);                      /* NULL is fine */

/* ---- kinds of probes, each in its own file */

typedef enum {
    COPY_REFERENCE,
    COPY_SHALLOW,
    COPY_USED_FIELDS,
    COPY_DEEP,
    COPY_STATE,                                /* of recordings: for contracts */
} CopyStrategy;                                /* as enum SundewStrategy */
const char *copy_strategy_name(CopyStrategy c);  /* reference, shallow, … */
/* The value of an option --copy. */
bool copy_strategy_parse(const char *text, CopyStrategy *out, Err *err);

typedef struct MonitorPlan {
    const Calls *calls;          /* for mod/ref; NULL: assume all is written */
    CopyStrategy strategy;
    unsigned overhead;           /* percent; 0: no limit */
    bool second_chance;          /* start with all functions off */
    uint32_t variant;            /* crash_variant() of how it is made; see there */
    const char *build;           /* the user's version text; NULL */
    char *const *hidden;         /* TYPE.FIELD, NULL-terminated; NULL: none */
    char *const *only;           /* functions, which must exist; NULL: all that are not
                                  * trivial */
    bool as_is;                  /* COPY_STATE: stack objects are not filled */
} MonitorPlan;

bool weave_monitor(Woven *w, const MonitorPlan *plan, Err *err);
/* The same with the trace of runtime/record/record.h: calls and returns of all
 * functions that are wanted, trivial ones too. `calls` NULL copies also what
 * is not written. */
bool weave_record(Woven *w, const MonitorPlan *plan, Err *err);
/* How many functions it monitors, and left out as trivial. */
void weave_monitor_figures(const Woven *w, size_t *monitored, size_t *trivial);

/* What is kept of each function, as text: arguments, what is copied, which
 * variables it uses. */
void weave_monitor_dump(const Woven *w, Str *out);

/* Tags (runtime/tags/tags.h): which parameters are written through. With weave_runtime()
 * of "tags". `wanted` is asked for each pointer parameter of each function. */
enum {
    TAG_LEVELS = 15,             /* which levels are of interest, a bit each */
    TAG_CLAIMED = 16,            /* a write there is a violation: of a claim … */
    TAG_DECLARED = 32,           /* … of what the source declares */
};
typedef struct TagPlan {
    unsigned (*wanted)(const Function *fn, unsigned param, void *arg);
    void *arg;
    const Summaries *summaries;  /* of library functions; NULL: none */
    bool counts;                 /* calls and blocks of each function, too */
} TagPlan;
bool weave_tags(Woven *w, const TagPlan *plan, Err *err);
/* How many parameters and functions have tags. */
void weave_tags_figures(const Woven *w, size_t *params, size_t *functions);

/* ---- input and library functions (standins.c) */

/* The program's main() becomes sundew_program_main(), and that of runtime/input/input.h takes
 * its place. Behind all probes, before weave_runtime() of a fork server. */
bool weave_input(Woven *w, const char *libexec, Err *err);
/* Sleeps and clocks in virtual time (runtime/clock/clock.h). Behind all probes. */
bool weave_clock(Woven *w, const char *libexec, Err *err);
/* Before all probes: the program begins with sundew_program_main() of this bitcode, which calls
 * the function with that symbol. */
bool weave_driver(Woven *w, const char *symbol, const char *bitcode, Err *err);
/* Library functions that have a standin (share/standins) are redirected to it, and the
 * standins that are needed are linked in, as functions of the program whose names begin
 * with sundew_standin_. Before the probes that shall be in them too. */
bool weave_standins(Woven *w, const Standins *standins, const char *libexec, Err *err);

/* Concolic execution (runtime/concolic/concolic.h, docs/concolic.md). Standins of library functions
 * are linked in before, the runtime "concolic" after it. What is in the module
 * and not in the program is a standin: woven as a whole. */
typedef struct ConcolicPlan {
    const Symbolic *symbolic; /* what may be symbolic; NULL: all */
    const Edges *edges;
    const Standins *standins; /* `pin` and `ignore` of functions outside; NULL: none */
    bool full; /* all is woven, and what `symbolic` calls impossible is
                                  * reported when it happens: the self-check */
    /* By Function.index: only these are woven, the rest is outside and compiled in a hurry; NULL:
     * all are. */
    const uint8_t *reached;
} ConcolicPlan;
bool weave_concolic(Woven *w, const ConcolicPlan *plan, Err *err);
typedef struct ConcolicFigures {
    size_t functions, woven; /* with a body; of them, with a second one */
    size_t instructions, seen; /* of the program; of them, in regions */
    size_t left_out; /* functions that should be woven and can't */
} ConcolicFigures;
ConcolicFigures weave_concolic_figures(const Woven *w);

/* Scheduling (runtime/schedule/schedule.h): calls of synchronisation functions go to
 * the scheduler, and accesses that threads may share ask it first. With
 * weave_runtime() of "schedule" and, for programs, "forkserver". `sites` gets a line
 * for each site, in order: function, file, line, and what stands there. `calls`, of this
 * program, tells which memory belongs to one thread; NULL: only what is plain to see. */
typedef struct ScheduleFigures {
    size_t accesses; /* loads, stores and their kin */
    size_t escaping; /* of them, not to locals whose address goes nowhere and the like */
    size_t probed; /* of these, with a probe: points-to does not show them private */
} ScheduleFigures;
bool weave_schedule(Woven *w, const Calls *calls, json_t *sites, ScheduleFigures *figures,
                    Err *err);

/* Calls of an API (runtime/calls/calls.h) from the program's own code. With weave_runtime()
 * of "calls". `sites`, an object, gets two arrays: "sites" of [function, file, line, column,
 * index of the callee, is the result unused?], and "functions" that make handles. False:
 * there is no such call. */
typedef struct ApiCallee {
    const char *name;
    int in[3], out[2]; /* parameters: handles; pointers to where handles
                                  * come out. -1: none */
    bool makes; /* handles come out of it, or it sets up the caller's */
    bool mutex; /* its first argument is a mutex that shall check */
} ApiCallee;
typedef struct ApiCallsPlan {
    const ApiCallee *callees;
    size_t n;
    bool (*skips)(const Function *caller, void *arg); /* it is not the program's own code */
    void *arg;
} ApiCallsPlan;
bool weave_calls(Woven *w, const ApiCallsPlan *plan, json_t *sites, Err *err);
/* Events (runtime/events/events.h). Before all other probes: calls that wait for an event go to
 * adapters, and functions that wait tell of their variables. `loop` is the symbol of a
 * function whose call is an event; NULL: the program's own boundaries. `objects` gets a row
 * for each object of the state: name, size, and whether it is a `value` that a waiting function
 * keeps, or `dead`: no code reads it. With weave_runtime() of "events" or "watched". */
typedef struct EventsFigures {
    size_t boundaries; /* calls that wait */
    size_t lost; /* variables of waiting functions that can't be told */
    bool thread_local_; /* there are variables of threads: not in the state */
} EventsFigures;
bool weave_events(Woven *w, const char *loop, const char *libexec, json_t *objects,
                  EventsFigures *figures, Err *err);
/* A probe before each access to memory that events may share. With "watched". */
void weave_event_accesses(Woven *w);
/* A pure function becomes one expression without branches. Before all probes. */
bool weave_summarise(Woven *w, const char *symbol, Err *err);
/* Calls of the malloc family go to functions that keep books (runtime/heap/alloc.c). */
void weave_heap_books(Woven *w);
/* A static function can be called by what is linked in. */
bool weave_make_visible(Woven *w, const char *symbol, Err *err);

/* Coverage (runtime/server/batch.h): a counter for each edge of edges.h. With weave_runtime() of
 * "coverage". The array of counters has weave_coverage_size() bytes. */
bool weave_coverage(Woven *w, const Edges *edges, Err *err);
uint32_t weave_coverage_size(const Edges *edges);

/* With the address sanitizer: what is in the program now is watched by it, not
 * what comes later (the runtime). So this stands before weave_runtime(). */
void weave_asan(Woven *w);
/* Static functions and variables get external linkage under their symbols in the module
 * (Function.symbol), to be found by who loads the result. Before all probes. */
void weave_expose(Woven *w);

/* Coverage, for programs that src/engine/sequence/ loads (runtime/server/player.h): a
 * byte for each block, then one for each way that a branch can go. */
typedef struct Cover Cover;
typedef struct CoverLine {
    const char *file;
    unsigned line;
    size_t block; /* that has code of this line */
} CoverLine;
Cover *weave_cover(Woven *w, Err *err);
void cover_free(Cover *c); /* NULL is fine */
size_t cover_nblocks(const Cover *c);
size_t cover_nbranches(const Cover *c); /* ways, not branches */
const char *cover_function(const Cover *c, size_t block); /* its symbol */
const CoverLine *cover_lines(const Cover *c, size_t *n); /* by block */
size_t cover_block_of(const Cover *c, size_t way); /* that it leaves */

/* Mutants: small faults, of which a number from 1 switches one on. */
typedef enum {
    MUTANT_RELATIONAL,
    MUTANT_ARITHMETIC,
    MUTANT_CONSTANT,
    MUTANT_CALL,
} MutantKind;
typedef struct Mutants Mutants;
typedef struct Mutant {
    MutantKind kind;
    const char *file, *function;
    unsigned line;
    const char *what; /* is changed, in a few words: "< is <=" */
    bool compares; /* it is a comparison with a number … */
    int64_t with; /* … this one */
    size_t block; /* of the bytes that tell what was reached */
} Mutant;
/* At most so many, evenly spread; 0: 4000. */
Mutants *weave_mutants(Woven *w, size_t most);
void mutants_free(Mutants *m); /* NULL is fine */
const Mutant *mutants_all(const Mutants *m, size_t *n); /* number - 1 */

/* The module becomes a shared object, whatever its units were compiled for. */
bool weave_share(Woven *w, Err *err);

/* ---- runtimes */

/* Links runtime/NAME.bc of `libexec` in; its functions may be inlined. */
bool weave_runtime(Woven *w, const char *libexec, const char *name, Err *err);
/* The same for any file of bitcode. */
bool weave_link(Woven *w, const char *path, Err *err);

/* ---- the module as an object file; build/woven.h makes a program of it */

typedef struct WeaveObject {
    unsigned level; /* of optimisation, 0 to 3; default 2 with 0 … */
    bool unoptimised; /* … unless this is set */
    const char *rename_main; /* main() becomes this, to link a test; or NULL */
    bool visible; /* hidden functions become visible, to be called by
                                  * who loads the result */
    bool fixed; /* not position-independent */
    bool lines_only; /* of debug information: half of the compiler's work */
} WeaveObject;
bool weave_object(Woven *w, const WeaveObject *how, const char *out, Err *err);

const Program *weave_program(const Woven *w);
/* What its link must know: does it need the sanitizer's library, is main() in it? */
bool weave_has_asan(const Woven *w);
bool weave_has_main(const Woven *w);
#endif
