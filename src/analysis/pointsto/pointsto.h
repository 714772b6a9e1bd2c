/*
 * pointsto - which objects a pointer may point to.
 *
 * Inclusion-based (Andersen), over the whole program, insensitive to flow and
 * context. An *object* is a variable, a function, a stack slot or an allocation
 * site; a *location* is an object and a byte offset, or "somewhere in the
 * object" (POINTSTO_ANY). Elements of an array share one location. Calls and
 * points-to are solved together, so the targets of indirect calls come out of
 * the same answer. docs/points-to.md tells the rules and the limits.
 *
 *     PointsTo *pt = pointsto_new(module, summaries, &(PointsToPlan){0});
 *     PtSet s = pointsto_value(pt, load, 0);
 *     for (size_t i = 0; i < s.n; i++) {
 *         PtLoc l = pointsto_location(pt, s.locs[i]);
 *         const PtObject *o = pointsto_object(pt, l.object);
 *         …
 *     }
 *     pointsto_free(pt);
 *
 * The module must not change while the answer is in use. Sets live as long as
 * the PointsTo. An empty set means: no pointer ever gets there.
 */
#ifndef SUNDEW_POINTSTO_H
#define SUNDEW_POINTSTO_H
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "analysis/pointsto/summaries.h"
#include <llvm-c/Core.h>

typedef struct PointsTo PointsTo;

typedef struct PointsToPlan {
    /* May code that we don't see call every exported function? Otherwise only
     * main() is an entry. Without a main() it is always so. */
    bool open_world;
    bool hidden_too;          /* hidden functions are exported too; always so if all are
                               * hidden, as in a library that is linked statically */
    bool no_clones;           /* heap objects by malloc call alone, to compare */
    const char *cache;        /* file to keep the answer in; NULL: none */
    const char *key;          /* what the cached answer depends on: a digest */
} PointsToPlan;

typedef enum PtKind {
    PT_STACK,                 /* site: the alloca */
    PT_GLOBAL,                /* site: the variable; NULL: all string literals */
    PT_FUNCTION,              /* site: the function */
    PT_HEAP,                  /* site: the call that allocates, see below */
    PT_BYVAL,                 /* site: the parameter that is a copy of a struct */
    PT_VARARGS,               /* site: the function with the "..." */
    PT_LIBRARY,               /* memory of an external function; site: the function */
    PT_ARGV,                  /* argv[], envp[] and their strings; no site */
    PT_EXTERNAL,              /* everything that the program doesn't see; no site */
} PtKind;

/*
 * A heap object is named by the call that allocates. Where that call stands in
 * a function which only hands on fresh memory (a *wrapper*, say xmalloc), the
 * call of the wrapper names the object instead, and so on outwards.
 */
typedef struct PtObject {
    PtKind kind;
    LLVMValueRef site;        /* NULL: none */
    int64_t size;             /* in bytes; -1: unknown */
} PtObject;

#define POINTSTO_ANY INT64_MIN

typedef struct PtLoc {
    uint32_t object;
    int64_t offset;           /* or POINTSTO_ANY */
} PtLoc;

typedef struct PtSet {
    const uint32_t *locs;     /* sorted */
    size_t n;
} PtSet;

/* Never fails; a cache that can't be written is a note. */
PointsTo *pointsto_new(LLVMModuleRef m, const Summaries *s, const PointsToPlan *plan);
void pointsto_free(PointsTo *pt);            /* NULL is fine */
/* Asserts what always holds of an answer: indices, sorted orders. */
void pointsto_check(const PointsTo *pt);

/* ---- objects and locations */
size_t pointsto_nobjects(const PointsTo *pt);
const PtObject *pointsto_object(const PointsTo *pt, uint32_t object);
PtLoc pointsto_location(const PointsTo *pt, uint32_t loc);
/* Heap objects that can't be told apart (a free list gives one for another) are
 * one object, with no site. The object itself, or the one it is part of. */
uint32_t pointsto_part_of(const PointsTo *pt, uint32_t object);
/* The object of a global variable or function; UINT32_MAX: nobody uses it. */
uint32_t pointsto_variable(const PointsTo *pt, LLVMValueRef g);
/* The location of a byte of an object, arrays folded; -1: none was needed. */
int64_t pointsto_locate(const PointsTo *pt, uint32_t object, int64_t offset);
void pointsto_describe_object(const PointsTo *pt, uint32_t object, Str *out);
/* "f.buf+8 (a.c:12)", "heap in f (a.c:14)", "&g" …; hostile text escaped. */
void pointsto_describe(const PointsTo *pt, uint32_t loc, Str *out);

/* ---- questions */
/* What the pointer in the value, `byte` bytes into it, may point to. `byte` is
 * 0 but for structs and vectors in registers. */
PtSet pointsto_value(const PointsTo *pt, LLVMValueRef v, unsigned byte);
/* What a pointer stored at the location may point to. */
PtSet pointsto_content(const PointsTo *pt, uint32_t loc);
/* May `na` bytes at a and `nb` bytes at b overlap? 0: unknown size. */
bool pointsto_may_alias(const PointsTo *pt, LLVMValueRef a, uint64_t na, LLVMValueRef b,
                        uint64_t nb);
/* The functions that a call instruction may call, defined or not. */
const LLVMValueRef *pointsto_targets(const PointsTo *pt, LLVMValueRef call, size_t *n);
/* May it call a function of which nothing is known, besides those? */
bool pointsto_calls_outside(const PointsTo *pt, LLVMValueRef call);
/* Functions that a call hands to an external function, which calls them: for
 * qsort(), pthread_create(), signal() … */
const LLVMValueRef *pointsto_callbacks(const PointsTo *pt, LLVMValueRef call, size_t *n);
/* May code of which nothing is known run during the call: called by the program, or by the library,
 * which got it here (a function that qsort() compares with) or before (a handler of signals)? */
bool pointsto_runs_outside(const PointsTo *pt, const Summaries *s, LLVMValueRef call);
/* … because the call hands it to the library? */
bool pointsto_hands_outside(const PointsTo *pt, const Summaries *s, LLVMValueRef call);
/* Functions that code outside the program may call: it has their address. */
bool pointsto_called_from_outside(const PointsTo *pt, LLVMValueRef fn);
/* A weak function of a library: code outside may have another in its place. */
bool pointsto_is_replaceable(const PointsTo *pt, LLVMValueRef fn);
/* Is this call inside a wrapper the one whose memory the wrapper hands on? */
bool pointsto_hands_on(const PointsTo *pt, LLVMValueRef call);

/* Is all known that a call of an intrinsic (llvm.…) does? */
bool pt_is_known_intrinsic(LLVMValueRef call);

/* ---- how it went */
typedef struct PtStats {
    double seconds; /* 0: came from the cache */
    bool cached;
    size_t nodes, constraints, edges, waves, merged;
    size_t objects, locations, wrappers;
    size_t inttoptr; /* casts from integers to pointers */
    size_t inttoptr_unknown; /* of them: the integer's origin is not known */
    size_t unknown_externals; /* call sites of external functions without summary */
} PtStats;
const PtStats *pointsto_stats(const PointsTo *pt);

/* What makes the answer less sure, one line each ("f (a.c:3): …"). */
const Strings *pointsto_notes(const PointsTo *pt);
#endif
