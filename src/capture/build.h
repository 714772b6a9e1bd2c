/*
 * build - run a build with the shims in front of its compilers, and say what
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
    Str nothing;               /* why nothing was captured, if so */
} BuildReport;

/* `wrapper` is the path of sundew-cc. With `quiet_stdout` what the build writes
 * to standard output goes to standard error. */
bool build_capture(Workspace *ws, char *const *argv, const char *wrapper, bool quiet_stdout,
                   BuildReport *r, Err *err);
void build_report_release(BuildReport *r);
json_t *build_report_json(const BuildReport *r);
#endif
