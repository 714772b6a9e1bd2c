/*
 * patch - `const` in the sources, where it compiles.
 *
 * Takes the parameters that are never written through, closes each over what its
 * const would need elsewhere (program/qualifiers.h), and tries the result on the
 * captured units: with the changed files laid over the real ones, each unit is
 * compiled again, and discarded qualifiers and incompatible pointers are errors.
 * Sets that don't compile are taken out until the rest does.
 */
#ifndef SUNDEW_MUTABILITY_PATCH_H
#define SUNDEW_MUTABILITY_PATCH_H
#include "program/mutability.h"
#include "session/session.h"

typedef struct PatchPlan {
    Session *session;
    const Program *program;
    const Mutability *mutability;
    bool shallow;            /* const also where something deeper is written */
    bool abi_stable;         /* headers stay as they are */
} PatchPlan;

/* The patch as unified diff; what became of it in `note`, one line. */
bool patch_make(const PatchPlan *plan, Str *diff, Str *note, Err *err);
#endif
