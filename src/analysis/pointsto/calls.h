/*
 * calls - who calls whom, indirect calls included.
 *
 * Direct calls; calls through pointers, resolved by points-to (which keeps the
 * fields of ops tables apart) and by what fits the call's arguments; functions
 * that the library calls on behalf of a call site: thread entries, signal
 * handlers, atexit(), comparison functions. And the points-to answer itself, for
 * rooms that don't speak LLVM.
 *
 *     Calls *c = calls_open(p, &(CallsPlan){ .share = share }, err);
 *     size_t n;
 *     const CallSite *sites = calls_sites(c, fn, &n);
 *     …
 *     calls_close(c);
 *
 * All that is handed out lives until calls_close(), which must come before
 * program_close().
 */
#ifndef SUNDEW_CALLS_H
#define SUNDEW_CALLS_H
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "program/program.h"
#include "analysis/pointsto/summaries.h"

typedef struct Calls Calls;
typedef struct PointsTo PointsTo;

typedef struct CallsPlan {
    const char *share;           /* the folder with summaries/ */
    const char *root;            /* the project's: its sundew.summaries */
    char *const *summaries;      /* more files, NULL-terminated; NULL: none */
    bool kept;                   /* the points-to sets are kept beside the model */
    bool open_world;             /* every exported function is an entry */
} CallsPlan;

typedef struct CallSite {
    const Function *caller;
    const char *file;            /* "" if not known */
    unsigned line, column;
    bool indirect;               /* through a pointer */
    const Function *const *targets;     /* what it may call */
    size_t ntargets;
    const Function *const *callbacks;   /* what its target calls back */
    size_t ncallbacks;
} CallSite;

Calls *calls_open(const Program *p, const CallsPlan *plan, Err *err);
void calls_close(Calls *c);                    /* NULL is fine */

/* The call sites in a function, in its order; all of them with fn NULL. */
const CallSite *calls_sites(const Calls *c, const Function *fn, size_t *n);
/* Each once, in the order of program_functions(); callbacks included. */
const Function *const *calls_callees(const Calls *c, const Function *fn, size_t *n);
const Function *const *calls_callers(const Calls *c, const Function *fn, size_t *n);
/* May code outside the program call it, having its address? */
bool calls_from_outside(const Calls *c, const Function *fn);

/* Strongly connected components: numbers from 0, callees never above callers. */
size_t calls_component(const Calls *c, const Function *fn);
/* Does it call itself, directly or through others? */
bool calls_is_recursive(const Calls *c, const Function *fn);

const Summaries *calls_summaries(const Calls *c);
const PointsTo *calls_pointsto(const Calls *c);
/* Does it call functions that have neither a body nor a summary? */
bool calls_strangers(const Calls *c);

/* What the values of a function may point to, as text; for debugging. */
void calls_dump_pointsto(const Calls *c, const Function *fn, Str *out);
/* What makes the answer less sure, one line each. */
const Strings *calls_notes(const Calls *c);
#endif
