/*
 * builds - the programs that an exploration runs: one that counts its edges, one that
 * says what it does to its input, one with sanitizers as a judge. They are kept
 * (build/build.h).
 */
#ifndef SUNDEW_BUILDS_H
#define SUNDEW_BUILDS_H
#include "analysis/pointsto/calls.h"
#include "program/program.h"
#include "weave/edges.h"

typedef struct BuildsPlan {
    const Program *program;
    const Calls *calls;          /* for the concolic build; NULL: all is woven */
    bool calls_later;            /* there will be some when it is made */
    const Edges *edges;
    const uint8_t *reached;      /* of ConcolicPlan; NULL: all functions */
    const char *folder;          /* for what is in the making; exists */
    const char *libexec, *share;
    const Function *function;    /* called with arguments from the input (driver.h); NULL */
    bool argv, env;              /* the command line, the environment are */
    bool everything;             /* weave all functions, for comparison */
    unsigned jobs;               /* units that are compiled at once; 0: one */
} BuildsPlan;

/* The paths are the caller's to free. */
char *build_coverage(const BuildsPlan *plan, Err *err);
char *build_concolic(const BuildsPlan *plan, Err *err);
bool build_concolic_is_kept(const BuildsPlan *plan);     /* then it takes no time */
char *build_sanitized(const BuildsPlan *plan, Err *err);
#endif
