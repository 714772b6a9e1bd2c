/* What the files of this technique share. */
#ifndef SUNDEW_REGRESS_INT_H
#define SUNDEW_REGRESS_INT_H
#include "engine/suite/suite.h"
#include "build/library.h"
#include "engine/suite/reduce.h"
#include "analysis/mutability/facts.h"
#include "session/session.h"

/* All that a run of the command holds. */
typedef struct Regress {
    Session *session;
    const Program *program, *example;  /* the library; who uses it, or NULL */
    const Calls *calls;
    MutFacts *facts;
    Api *api;
    Usage *usage;                /* NULL: universal */
    Pool *pool;
    Ownership *ownership;
    Library library;
    Exec *exec, *again, *strict, *mutants;
    GrowPlan grow;
    Settler settler;
    Suite suite;
    Reduced reduced;
    Reduced by_example;          /* coverage of the example alone; all_lines 0: not
                                  * asked for */
    size_t written, assertions;  /* tests, checks in them */
    size_t dropped;              /* tests that did not stand the trial */
    size_t untried;              /* tests for which there was no time to try them */
    double learning;             /* when it began; 0: not yet */
    double search_end;           /* the rest of the time is for the tests as C; 0: none */
    char *const *headers;
} Regress;

/* example.c: runs the example recorded and infers the usage. */
bool example_usage(Regress *r, Err *err);
/* The same: what of the library the example covers by itself. */
bool example_coverage(Regress *r, Err *err);
/* tests.c: writes the tests that were kept into a folder. */
bool tests_write(Regress *r, const char *folder, Err *err);
/* Our environment, and what makes tests look for leaks; for strings_release(). */
void tests_leak_environment(Strings *out);
/* diff.c: sundew regress --diff DIR LIBRARY */
bool diff_run(Session *s, const char *folder, Err *err);
#endif
