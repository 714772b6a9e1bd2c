/*
 * example - record what an example does with a library, for a usage.
 *
 *     UsageExample x = { .api = api, .library = p, .words = words, .nwords = n, … };
 *     Trace *t = usage_record(&x, &result, err);      NULL: it could not be done
 *     Usage *m = usage_infer(api, &t, 1, &plan, err);
 *
 * A captured program that the library is linked into (`program`) is woven itself, and runs
 * in the sandbox with the words after the first. Any other command (make check, a program that
 * loads a shared library) runs as it is, with a recording library in the place of the library.
 */
#ifndef SUNDEW_USAGE_EXAMPLE_H
#define SUNDEW_USAGE_EXAMPLE_H
#include "engine/record/record.h"
#include "engine/sequence/pool.h"
#include "engine/usage/usage.h"

typedef struct UsageExample {
    const Api *api;
    const Program *library;
    const Program *program;      /* NULL: a command that loads the library */
    char *const *words;          /* after "--" */
    size_t nwords;
    const char *corpus; /* a folder: the example runs with each of its files, at most 16, in the
                                  * place of the word @@; NULL: none */
    const char *libexec, *root; /* see RecordPlan, RecordRun */
    const char *scratch; /* a folder for the woven program and the trace; usage_learn()
                                  * makes its own */
    bool (*stop)(void *arg);
    void *arg;
} UsageExample;

/* Is the library linked into this program? */
bool usage_is_linked_into(const Api *api, const Program *program);
/* How the example ended is in `how`. */
Trace *usage_record(const UsageExample *x, RunResult *how, Err *err);
/* Records and infers in one go, for an API whose functions have the names of x->api's. If the
 * example failed, `*end` says how, for a terminal: free it. */
Usage *usage_learn(UsageExample *x, Api *api, char **end, Err *err);
/* What a function was called with is good for `to`, too. */
void usage_give_values(const Usage *m, const ApiFunction *of, const ApiFunction *to, Pool *pool);
/* The woven program or library at `woven`, run as the example; probes write to `folder`. */
bool usage_run_example(const UsageExample *x, const char *woven, const char *folder, RunResult *how,
                       Err *err);
#endif
