/*
 * trial - run a test in the sandbox, see how it ends, compare with the crash.
 *
 *     Ending was = {0}, is = {0};
 *     ending_of_crash(names, crash, monitored, &was);
 *     trial_run(t, binary, &(TrialPlan){ .test = 3, .mask = mask }, &is, err);
 *     if (ending_same(&was, &is, SAME_SITE)) …
 *
 * The site is the innermost function of the program on the stack: if strlen()
 * fails, its caller is.
 */
#ifndef SUNDEW_TRIAL_H
#define SUNDEW_TRIAL_H
#include "run/run.h"
#include "session/session.h"
#include "engine/record/crash.h"
#include "build/lines.h"
#include "program/program.h"

typedef enum { SAME_KIND, SAME_SITE, SAME_STACK } Sameness;
bool sameness_parse(const char *text, Sameness *out);

typedef struct Ending {
    FailureKind kind;
    int signal;
    bool has_address;
    uint64_t address;          /* that was touched */
    bool nowhere;              /* …was outside of all addresses, and is not known */
    char text[256];            /* an assertion's, a report's kind, a reason */
    bool heap; /* the C library found a broken heap, at some time after the damage; of a trial that
                * goes on: at some time */
    char asserts[128]; /* the function that an assertion's text names; "": none */
    Places stack; /* functions of the program, innermost first */
    bool guessed; /* the line of the innermost: its code has none */
    Vec(uint64_t) trace; /* the same as addresses of the file */
    Vec(uint64_t) way; /* failures that were passed by (TrialPlan.way) */
    Vec(uint64_t) touched; /* …the address of each; 0: none, or not known */
} Ending;

void ending_release(Ending *e);
/* Functions that never return (die(), fatal()) only tell what their caller found: the stack begins
 * with that caller. */
void ending_of_crash(PlaceNames *names, const Program *p, const Crash *c, const char *monitored,
                     Ending *out);
/* "SIGSEGV", "assertion", …: kind for people and JSON. */
void ending_kind(const Ending *e, Str *out);
bool ending_same(const Ending *crash, const Ending *test, Sameness how);
/* Did two runs of one binary end at the same instruction, called the same way? */
bool ending_equal(const Ending *a, const Ending *b);
/* … the address, and how it failed, aside? */
bool ending_same_place(const Ending *a, const Ending *b);
/* Did both go the same way behind the failure, to the same end? */
bool ending_same_way(const Ending *a, const Ending *b);

typedef struct Trial Trial;
Trial *trial_new(Session *s, const char *folder, Err *err);
void trial_free(Trial *t); /* NULL is fine */

typedef struct TrialPlan {
    unsigned test; /* of a file with several */
    const char *state; /* path of the states, without their number */
    const bool *keep; /* steps; NULL: all */
    size_t nsteps;
    const RunFile *files; /* in the folder where it runs */
    size_t nfiles;
    const char *input; /* file for standard input; NULL: empty */
    double seconds; /* of CPU; 0: 10 */
    const char *way; /* "skip", "return": what if the failure were mended? see
                                * share/reproduce/trial.c */
    const char *poke; /* words that are other than they were: "OBJECT:OFFSET:VALUE,…" */
} TrialPlan;
/* Without ending.stack: see trial_name(). */
bool trial_run(Trial *t, const char *binary, const TrialPlan *plan, Ending *out, Err *err);
/* Names the functions on its stack. */
void trial_name(PlaceNames *names, const Program *p, const char *binary, Ending *e);
/* Did it abort in a function that never returns? */
bool is_reporter(const Ending *e, const Function *fn);
#endif
