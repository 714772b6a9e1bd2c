/*
 * c_builder - a process that makes the builds of a program, one after the other, while the
 * exploration goes on.
 *
 *     Builder *b = builder_new(&plan, err);
 *     builder_ask(b, BUILD_COVERAGE, NULL);
 *     while (!builder_answer(b, &answer)) …       or wait: builder_fd()
 *     builder_free(b);                            ends what is in the making
 *
 * The process is forked before there are threads, so it may use all of Sundew. It has one question at a
 * time. What ends it leaves no half-made build behind (build/build.h).
 */
#ifndef SUNDEW_C_BUILDER_H
#define SUNDEW_C_BUILDER_H
#include "build/builds.h"

typedef enum { BUILD_NONE, BUILD_COVERAGE, BUILD_CALLS, BUILD_CONCOLIC, BUILD_SANITIZED } BuildKind;

typedef struct BuilderPlan {
    BuildsPlan builds;           /* as far as it is known before the process starts */
    /* Opens the call graph if builds.calls is NULL; may be NULL. Called in the process. */
    const Calls *(*calls)(void *arg, Err *err);
    void *arg;
    const char *entry;           /* the function that begins; NULL: any */
    unsigned jobs;               /* of builds that somebody waits for */
} BuilderPlan;

typedef struct BuildAnswer {
    BuildKind kind;
    char *path;                  /* the caller's; NULL: there is none, and … */
    Err why;                     /* … this is the reason */
    size_t reachable;            /* of BUILD_CALLS and BUILD_CONCOLIC: edges; 0: not known */
} BuildAnswer;

typedef struct Builder Builder;

Builder *builder_new(const BuilderPlan *plan, Err *err);
void builder_free(Builder *b);                   /* NULL is fine */

/* `reached`: see BuildsPlan. `waited`: somebody waits for it, so it may use all cores. */
void builder_ask(Builder *b, BuildKind kind, const uint8_t *reached, bool waited);
BuildKind builder_does(const Builder *b);        /* BUILD_NONE: nothing, ask on */
/* Waits up to `seconds`. False: it is not there yet. A process that died answers too. */
bool builder_answer(Builder *b, double seconds, BuildAnswer *out);
#endif
