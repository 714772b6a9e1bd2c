/*
 * build - run a build with stand-ins for its compilers, and say what
 * was captured of it.
 */
#ifndef SUNDEW_BUILD_H
#define SUNDEW_BUILD_H
#include "base/json.h"
#include "capture/capture.h"

typedef struct BuildReport {
    int status;                /* the build's own exit status */
    size_t calls;              /* of compilers, linkers, archivers */
    size_t checks;             /* of these, by configure scripts and CMake */
    size_t compiled;           /* C units compiled and captured in this build */
    size_t failed;             /* C units compiled without bitcode */
    size_t foreign;            /* assembler, C++ … */
    size_t programs;           /* linked or archived in this build */
    size_t linked;             /* C units in these programs, missing included */
    size_t linked_captured;    /* of these, captured */
    Strings problems;          /* a line each: what is not captured, and why */
    Strings notes;             /* foreign units, dropped flags */
    Strings refused;           /* sources and links on which the build's own tool failed */
    Strings depends;           /* what of the user's tree names a file of the workspace */
    Str by_name;               /* why compilers are seen by name only; "": by any path */
    Str nothing;               /* why nothing was captured, if so */
} BuildReport;

typedef struct BuildPlan {
    char *const *argv;
    const char *wrapper;       /* the path of sundew-cc */
    bool quiet_stdout;         /* the build's standard output goes to standard error */
    bool by_name;              /* no mounts: stand-ins on the PATH only */
} BuildPlan;

bool build_capture(Workspace *ws, const BuildPlan *plan, BuildReport *r, Err *err);
void build_report_release(BuildReport *r);
json_t *build_report_json(const BuildReport *r);
#endif
