/*
 * woven - a program made of a woven module.
 *
 *     Woven *w = weave_begin(p, err);
 *     …                                          probes: weave/weave.h
 *     if (!woven_build(w, &(WovenBuild){ .out = "prog.monitored" }, err)) …
 *     weave_end(w);
 *
 * It is linked with the build's own command (libraries, objects that were not
 * captured, flags), the captured units replaced. Without a kind of probe it is the
 * plain program, to compare with.
 */
#ifndef SUNDEW_WOVEN_H
#define SUNDEW_WOVEN_H
#include "weave/weave.h"

typedef struct WovenBuild {
    const char *out;
    unsigned level;              /* of optimisation, 0 to 3; default 2 with 0 … */
    bool unoptimised;            /* … unless this is set */
    const char *rename_main;     /* main() becomes this, to link a test; or NULL */
    char *const *more;           /* more arguments for the linker; or NULL */
    bool object_only;            /* `out` is an object file, nothing is linked */
    bool lines_only;             /* of debug information: who needs no variables */
    bool visible;                /* hidden functions become visible, to be called by
                                  * who loads the result */
} WovenBuild;
bool woven_build(Woven *w, const WovenBuild *plan, Err *err);
#endif
