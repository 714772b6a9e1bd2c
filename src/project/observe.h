/*
 * observe - run a command and write down how it starts the project's programs.
 *
 *     ObservePlan plan = { .argv = argv, .root = "/p", .log = "runs.json",
 *                          .seeds = "seeds" };
 *     observe_run(&plan, &result, err);
 *
 * The command, such as `make check`, is traced (ptrace) for the calls of execve only. When a
 * process has become a program below `root`, its arguments, folder and standard input are noted, and
 * the file that an argument names, or that is its standard input, is copied: a test's file is
 * often gone a moment later. Nothing is put in the place of a program, and statically linked
 * ones are seen too.
 *
 * The log is one JSON object a line, so that a command that is killed leaves what it showed:
 *
 *     {"run": 3, "program": "/p/larder", "cwd": "/p", "args": ["data/a.ldg", "stock"], "file": 0,
 *      "input": "none", "seed": "0f3a…"}
 *     {"run": 3, "status": 0, "asked": false}
 *
 * What comes through a pipe is known later: {"run": 4, "seed": "77ab…"}.
 *
 * What a project's tests pass is hostile text like any other: read it with observe_read().
 */
#ifndef SUNDEW_OBSERVE_H
#define SUNDEW_OBSERVE_H
#include "base/err.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/vec.h"

typedef enum {
    INPUT_NONE,                /* /dev/null, or what the command itself had */
    INPUT_FILE,
    INPUT_PIPE,                /* another process wrote it */
} ObservedInput;

typedef struct ObservedRun {
    char *program, *cwd;       /* absolute */
    Strings args;              /* without the program's name */
    int file;                  /* the argument that names a file that is there; -1: none */
    ObservedInput input;       /* standard input */
    int status;                /* exit status; 128 + signal; -1: it did not end */
    bool asked;                /* it got a signal that asks programs to end */
    char *seed;                /* the copy of that file, or else of the input; "" */
} ObservedRun;
typedef Vec(ObservedRun) ObservedRuns;

enum {
    OBSERVE_MOST_RUNS = 5000,
    OBSERVE_MOST_SEED = 1 << 20,         /* bytes of a copy */
    OBSERVE_MOST_SEEDS = 2000,
    OBSERVE_MOST_STOPS = 20000,          /* at system calls, of a process that reads a pipe */
};

typedef struct ObservePlan {
    char *const *argv;
    const char *root;          /* the project's folder: programs below it are noted */
    const Map *besides; /* paths of programs elsewhere that are noted too, and, wherever they are,
                         * copies of these, by the path of the original; NULL */
    const char *tools; /* programs below this one are not: stand-ins for compilers; NULL */
    const char *log;
    const char *seeds; /* a folder; made if need be */
} ObservePlan;

/* False: it could not be started. The command's standard input is /dev/null. */
bool observe_run(const ObservePlan *plan, ProcResult *r, Err *err);

/* Lines that make no sense are left out. No log: no runs. */
void observe_read(const char *log, ObservedRuns *out);
void observed_release(ObservedRuns *runs);
#endif
