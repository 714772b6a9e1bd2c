/*
 * patch - `const` in the sources, where it compiles.
 *
 * Takes the parameters that are never written through, closes each over what its
 * const would need elsewhere (program/qualifiers.h), and tries the result on the
 * captured units: with the changed files in place of the real ones, each unit is
 * compiled again, by clang and by the compiler of the build, and discarded
 * qualifiers and incompatible pointers are errors. Sets that don't compile are
 * taken out until the rest does.
 */
#ifndef SUNDEW_MUTABILITY_PATCH_H
#define SUNDEW_MUTABILITY_PATCH_H
#include "base/vec.h"
#include "analysis/mutability/mutability.h"
#include "session/session.h"

typedef struct PatchPlan {
    Session *session;
    const Program *program;
    const Mutability *mutability;
    bool shallow;            /* const also where something deeper is written */
    bool abi_stable;         /* headers stay as they are */
    bool likely;             /* what is not proven will do */
} PatchPlan;

/* Would the declarations accept const at a parameter, with what it needs elsewhere?
 * By the source alone: nothing is compiled. */
typedef struct Patch Patch;
Patch *patch_open(const PatchPlan *plan, Err *err);
bool patch_accepts(const Patch *p, const MutParam *param);
void patch_close(Patch *p);      /* NULL is fine */

typedef struct PatchResult {
    Str diff;                /* unified */
    size_t candidates;       /* parameters that are never written through: */
    size_t pinned;           /* … const is not accepted where they go */
    size_t refused;          /* … it did not compile */
    Vec(const MutParam *) offered;   /* … in the patch */
    size_t places, files;    /* that it changes */
    size_t unread;           /* units that could not be read */
    bool by_two;             /* compiled by clang and by the build's compiler */
} PatchResult;

bool patch_make(const PatchPlan *plan, PatchResult *result, Err *err);
void patch_result_release(PatchResult *r);
#endif
