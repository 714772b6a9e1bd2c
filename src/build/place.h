/*
 * place - a woven program in the place of the user's, while a command runs: a
 * test suite, say, that runs the program, loads it or links with it.
 *
 *     place_build(w, p, woven, err);            a file of the same kind
 *     PlacePlan plan = { .argv = argv, .program = program_captured(p),
 *                        .woven = woven, .root = root, .results = folder };
 *     place_run(&plan, &result, err);
 *
 * The user's files are never replaced, not for a moment. The command runs in a
 * mount namespace of its own, where a layer in memory lies over the project:
 *
 *     the command ──▶ layer      the woven program, and all that is written
 *                     project    read through the layer, never written
 *
 * If the command links the program anew, the woven one gets its place again (keep.h).
 *
 * The layer is gone with the last process of the command, also after kill -9:
 * what the command built or wrote in the project's folder is gone, too. Outside
 * of that folder it writes as always. `results` is not covered by the layer.
 *
 * That needs no root where user namespaces are allowed. Where overlays are not
 * possible, the woven file is mounted over the program's path alone; not for an
 * archive, because programs that are linked with it would stay behind. Where
 * nothing can be mounted the error says so.
 */
#ifndef SUNDEW_PLACE_H
#define SUNDEW_PLACE_H
#include "base/proc.h"
#include "weave/weave.h"

/* Of an executable or shared library one that is linked alike, of an archive an
 * archive, of an object an object. */
bool place_build(Woven *w, const Program *p, const char *out, Err *err);
/* The same, not optimised: each function has a frame of its own. */
bool place_build_plain(Woven *w, const Program *p, const char *out, Err *err);

typedef struct PlacePlan {
    char *const *argv;               /* the command, run in the current folder */
    char *const *env;                /* NULL: ours */
    const CapturedProgram *program;  /* what `woven` stands in for */
    const char *woven;
    const char *root;                /* the project's folder */
    const char *results;             /* a folder; what is written there stays */
    double seconds;                  /* wall clock; 0: no limit */
    bool (*stop)(void *arg);         /* asked ten times a second; NULL: never */
    void *arg;
    bool without_overlay;            /* as if the kernel had none; for tests */
} PlacePlan;

/* The command's standard output goes where standard error does. False: it could
 * not be started. To make, the woven program is as old as the original, but an
 * archive is new: what is linked with it is linked anew. `timed_out` also if
 * plan->stop() ended it. */
bool place_run(const PlacePlan *plan, ProcResult *r, Err *err);
#endif
