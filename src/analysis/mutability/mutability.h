/*
 * mutability - which parameters a function never writes through.
 *
 * For each pointer parameter: can the callee use *that reference* to change what
 * it leads to? A reference is what the parameter holds, and all that was copied
 * or loaded from there during the call. A write through another pointer to the
 * same object does not count; that is the separate question `unchanged`.
 *
 *     Mutability *m = mutability_new(p, calls, &(MutabilityPlan){0});
 *     const MutParam *x = mutability_param(m, fn, 0);
 *     if (x->deep.verdict == MUT_IMMUTABLE && x->deep.sound) …
 *     mutability_free(m);
 *
 * Verdicts come from stages, of which each only refines what is unknown:
 *
 *     S    the function alone; all its parameters are settled, or none
 *     SH   the function alone, each parameter for itself
 *     P    through calls, bottom-up over the call graph
 *     M    through memory: where a reference was stored, points-to tells who may
 *          load it again during the call
 *     D    what a run showed (mutability_observe())
 *     L    likely: nothing writes, and what stands in the way seldom does; only
 *          on request, and never sound
 *
 * docs/mutability.md has the rules. All that is handed out lives until
 * mutability_free(), which must come before calls_close().
 */
#ifndef SUNDEW_MUTABILITY_H
#define SUNDEW_MUTABILITY_H
#include "base/err.h"
#include "base/str.h"
#include "analysis/pointsto/calls.h"
#include "program/program.h"

typedef struct Mutability Mutability;

typedef enum { MUT_UNKNOWN, MUT_IMMUTABLE, MUT_MUTABLE } MutVerdict;
const char *mut_verdict_name(MutVerdict v);     /* unknown, immutable, mutable */

typedef enum {
    MUT_BY_NONE = 0,
    MUT_BY_S = 1,
    MUT_BY_SH = 2,
    MUT_BY_P = 4,
    MUT_BY_M = 8,
    MUT_BY_D = 16,
    MUT_BY_L = 32,
} MutStage;
const char *mut_stage_name(MutStage s);         /* "", S, SH, P, M, D, L */
/* "S-P", "SH-P-M" …: the stages as a set, which always run in the order above.
 * False with `err` for anything else. */
bool mut_pipeline_read(const char *text, unsigned *stages, Err *err);

/* What stands in the way of an answer, or makes it a likely one. */
typedef enum {
    MUT_CALL,             /* passed on to a function whose parameter is unknown */
    MUT_INDIRECT,         /* … by a pointer to functions of which some write */
    MUT_GLOBAL_STORE,     /* stored in a global variable */
    MUT_HEAP_STORE,       /* stored in memory that others see */
    MUT_ALIAS_BLOCK,      /* … and may be loaded again and written through */
    MUT_KEPT,             /* the library keeps it */
    MUT_NO_BODY,          /* passed to a function without body and summary */
    MUT_NO_TARGET,        /* passed to a call of which no target is known */
    MUT_ASM,              /* passed to inline assembly */
    MUT_CAST,             /* becomes an integer that nobody can follow */
    MUT_VARARG,
    MUT_NOT_MATCHED,      /* source parameter and IR argument don't match */
    MUT_SHOWN,            /* passed to a call of which no target is known, as a pointer to
                           * const: only what lies deeper may be written */
    MUT_OFFERED,          /* … as a pointer to something that is not const */
    MUT_COMPARED,         /* a part of it decides something: it is compared, or an index */
    MUT_PRINTED,          /* stage L only: a literal format prints it with %s, and what
                           * is written is for other conversions */
    MUT_TABLE,            /* … what is written is by another function than the one a
                           * table has at this place from the beginning */
    MUT_MEMBER,           /* … another member of a union is written through */
    MUT_REPLACED,         /* … it was stored where something else is stored before
                           * that is written through */
    MUT_RETURNED,         /* … what a function without body returns is written, which
                           * it was given */
    MUT_DECLARED,         /* … a function that gets it as a pointer to const may write it */
} MutReasonKind;
const char *mut_reason_name(MutReasonKind k);   /* CALL, INDIRECT, … */

typedef struct MutReason {
    MutReasonKind kind;
    const char *file;     /* where; "" if not known */
    unsigned line, column;
    const char *callee;   /* who is called; "" if nobody */
    const char *path;     /* what of the parameter: "*p", "p->next" */
    unsigned level;       /* loads on the way there; 0: the object itself */
} MutReason;

/* One step on the way from a parameter to the store. */
typedef struct MutStep {
    const Function *function;
    const char *file;
    unsigned line, column;
    const char *callee;   /* the call made here; "" at the store itself */
    bool indirect;        /* the call goes through a pointer */
    const char *path;     /* what is written, seen from that function */
} MutStep;

typedef struct MutAnswer {
    MutVerdict verdict;
    MutStage stage;
    bool sound;           /* immutable: proven; mutable: along direct calls */
} MutAnswer;

typedef enum {
    MUT_UNTOUCHED,
    MUT_IN,
    MUT_OUT,
    MUT_INOUT,
    MUT_CONSUMED,
    MUT_DIRECTION_UNKNOWN,
} MutDirection;
const char *mut_direction_name(MutDirection d); /* untouched, in, out, … */

enum { MUT_LEVELS = 4 };   /* dereference levels that are told apart */

typedef struct MutParam {
    const Function *function;
    unsigned index;
    bool pointer;          /* it is one, or a struct that holds some: else all
                            * the rest says nothing */
    bool by_value;         /* a struct: its own bytes are a copy */
    MutAnswer deep;        /* everything reachable */
    MutAnswer own;         /* the object it points to */
    MutVerdict level[MUT_LEVELS];      /* [0] is own; the last: and deeper */
    MutDirection direction;
    bool returned;         /* the result may point into what it leads to */
    bool stored;           /* the reference outlives the call somewhere */
    bool const_able;       /* own-level immutable and goes only to places that
                            * are never written through */
    bool unchanged;        /* nobody changes it during the call, by whatever
                            * pointer: all that is reachable … */
    bool own_unchanged;    /* … the object itself */
    bool declared_const;   /* what it points to is const in the source */
    bool used;             /* the function does something with it, if only compare */
    MutReason *reasons;    /* of the deep verdict */
    size_t nreasons;
    MutStep *witness;      /* mutable: from the function to the store */
    size_t nwitness;
    MutStep *own_witness;  /* the same for the own level */
    size_t nown_witness;
} MutParam;

typedef enum { MUT_IMPURE, MUT_PURE, MUT_CONST } MutPurity;
const char *mut_purity_name(MutPurity p);       /* impure, pure, const */

typedef struct MutabilityPlan {
    unsigned stages;       /* MUT_BY_…; 0: S, SH, P and M */
    bool (*stop)(void *arg);   /* asked now and then; NULL: never */
    void *arg;
    /* Is a parameter of a function outside, which has so many, declared as a pointer to
     * const? Asked of functions without body and summary. NULL: not known */
    bool (*takes_const)(const char *function, unsigned nparams, unsigned param, void *declared);
    void *declared;
} MutabilityPlan;

Mutability *mutability_new(const Program *p, const Calls *c, const MutabilityPlan *plan);
void mutability_free(Mutability *m);            /* NULL is fine */
bool mutability_stopped(const Mutability *m);

/* NULL: no body, or no such parameter. */
const MutParam *mutability_param(const Mutability *m, const Function *fn, unsigned i);
MutPurity mutability_purity(const Mutability *m, const Function *fn);
/* The parameter that says how many elements (bytes, for void) parameter `i` points
 * to; -1: none is known. By loops up to it, and by calls that get both. */
int mutability_length(const Mutability *m, const Function *fn, unsigned i);
/* The function as a line of a summary file (docs/summaries.md). False: the format
 * can't express what it does; `why` says what. */
bool mutability_summary(const Mutability *m, const Function *fn, Str *out, const char **why);

/* A run wrote through the parameter (docs/mutability.md has the file of such
 * observations). Only unknown parameters change. */
typedef struct MutWrite {
    const char *file;      /* the store */
    unsigned line;
    unsigned level;        /* pointers that were followed from the parameter */
    Vec(const Function *) stack;   /* who was running, the parameter's function
                                    * first; may be empty */
} MutWrite;
void mutability_observe(Mutability *m, const Function *fn, unsigned i, const MutWrite *w);
/* Runs that covered the function showed no write: it is likely that there is
 * none. Only unknown parameters change; stage D, not sound. */
void mutability_presume(Mutability *m, const Function *fn, unsigned i);
#endif
