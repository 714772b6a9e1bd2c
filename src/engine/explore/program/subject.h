/*
 * subject - one build of the program that is explored, run on one input after
 * the other with all that src/run/ can tell about a run.
 *
 *     Subject *s = subject_new(&plan, err);
 *     RunResult r = {0};
 *     if (!subject_run(s, bytes, n, &r, err)) …
 *     run_result_release(&r);
 *     subject_free(s);
 *
 * For thousands of runs a second that are only counted see fast.h.
 */
#ifndef SUNDEW_SUBJECT_H
#define SUNDEW_SUBJECT_H
#include "base/vec.h"
#include "run/run.h"

typedef struct Subject Subject;

/* How the program is called; shared by all builds. Borrowed for as long as there are
 * subjects. */
typedef struct Call {
    char *const *argv;           /* argv[0] included; @@ stands for the input file */
    char *const *env;            /* NULL: ours */
    const char *input;           /* argv and environment parts of SUNDEW_INPUT, and "call" or
                                  * "stdin"; NULL: stdin, or the file if there is @@ */
    char *const *readable;       /* see RunnerPlan; NULL: none */
    bool network, unprotected;
} Call;

/* A part of Call.input, "argv:2/16,env:MODE/32,stdin": `count` strings of `size` bytes each, or of any
 * size if that is 0. `*at` moves on; false: it is at the end. */
typedef struct CallPart {
    enum { PART_ARGUMENTS, PART_VARIABLE, PART_STDIN, PART_OTHER } kind;
    size_t count, size;
    const char *name; /* of a variable, not terminated */
    int name_len;
} CallPart;
bool call_part(const char **at, CallPart *out);

typedef struct SubjectPlan {
    const char *program; /* the build */
    const Call *call;
    RunLimits limits;
    const RunFd *fds;
    size_t nfds;
    bool untraced, plain; /* plain: no fork server in it */
    bool rounds; /* of RunPlan */
    char *const *env; /* set besides: NAME=VALUE, NULL-terminated */
    bool (*stop)(void *arg); /* of RunPlan */
    void *stop_arg;
} SubjectPlan;

Subject *subject_new(const SubjectPlan *plan, Err *err);
void subject_free(Subject *s); /* NULL is fine */
void subject_limits(Subject *s, const RunLimits *limits);
bool subject_run(Subject *s, const void *bytes, size_t n, RunResult *out, Err *err);

/* ---- shared with fast.c */
Runner *call_runner(const Call *c, const char *program, Err *err);
/* argv and environment for a build; the input file's path, or NULL, is the caller's
 * to free. */
char *call_arguments(const Call *c, const char *program, const Runner *r, Strings *argv);
void call_environment(const Call *c, const char *file, const Runner *r, Strings *env);
#endif
