/*
 * record - a program that writes down what it does.
 *
 *     RecordPlan plan = { .libexec = …, .strategy = COPY_USED_FIELDS };
 *     record_weave(p, &plan, "prog.recorded", err);
 *
 * Of a library it is a library, to be linked or loaded instead.
 *
 * The recorded program behaves like the plain one. If SUNDEW_TRACE names a
 * folder it leaves a trace there, also those that it forks and executes;
 * engine/record/trace.h reads it. SUNDEW_TRACE_BUDGET limits the bytes that a
 * process writes.
 */
#ifndef SUNDEW_RECORD_ENGINE_H
#define SUNDEW_RECORD_ENGINE_H
#include "base/err.h"
#include "program/program.h"
#include "weave/weave.h"

typedef struct RecordPlan {
    const char *libexec;         /* where the runtime is */
    CopyStrategy strategy;       /* what is copied at calls and returns */
    char *const *only;           /* functions, NULL-terminated; NULL: all */
} RecordPlan;

/* `functions` gets how many are recorded; may be NULL. */
bool record_weave(const Program *p, const RecordPlan *plan, const char *out,
                  size_t *functions, Err *err);
#endif
