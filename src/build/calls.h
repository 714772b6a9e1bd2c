/*
 * calls - programs that write down which functions of an API they call.
 *
 *     CallsBuild b;
 *     if (!build_calls(p, libexec, &plan, key, true, &b, err)) …
 *     b.path                          in the place of the program
 *     b.sites[record.site].function   who called
 *     calls_build_release(&b);
 */
#ifndef SUNDEW_CALLS_BUILD_H
#define SUNDEW_CALLS_BUILD_H
#include "base/mem.h"
#include "weave/weave.h"

typedef struct ApiSite {
    const char *function, *file; /* the symbol; hostile */
    unsigned line, column;
    unsigned callee;             /* index in the plan */
    bool unused;                 /* nobody looks at the result */
} ApiSite;

typedef struct CallsBuild {
    char *path;
    ApiSite *sites;
    size_t nsites;
    const char **functions;      /* that make handles */
    size_t nfunctions;
    Arena arena;
} CallsBuild;

/* What decides how it comes out beside the program: the plan as text. */
typedef struct CallsKind {
    const ApiCallsPlan *plan;
    const char *key;
    bool strict;                 /* with the address sanitizer */
    bool library;                /* a shared object with coverage, for a player */
    char *const *link;           /* more words for the linker; NULL: none */
} CallsKind;

bool build_calls(const Program *p, const char *libexec, const CallsKind *kind, CallsBuild *out,
                 Err *err);
void calls_build_release(CallsBuild *b);
#endif
