/*
 * record - a program that writes down what it does, and running it.
 *
 *     RecordPlan plan = { .libexec = …, .strategy = COPY_USED_FIELDS };
 *     record_weave(p, &plan, "prog.recorded", NULL, err);
 *     RecordRun run = { .original = program_captured(p), .woven = "prog.recorded",
 *                       .words = arguments, .nwords = n, .folder = folder };
 *     record_run(&run, &result, err);
 *     Trace *t = trace_open(folder, p, err);           engine/record/trace.h
 *
 * Of a library record_weave() makes a library, to be linked or loaded instead.
 *
 * The recorded program behaves like the plain one. If SUNDEW_TRACE names a
 * folder it leaves a trace there, also those that it forks and executes.
 * SUNDEW_TRACE_BUDGET limits the bytes that a process writes.
 *
 * record_run() also serves programs with other probes: each runtime finds its
 * own variable in the environment.
 *
 *     SUNDEW_TRACE      FOLDER           what was called
 *     SUNDEW_TAGS       FOLDER           what was written through which parameter
 *     SUNDEW_COVER      FOLDER/cover     what was reached
 *     SUNDEW_CRASH_DIR  FOLDER           crash files
 */
#ifndef SUNDEW_RECORD_ENGINE_H
#define SUNDEW_RECORD_ENGINE_H
#include "base/err.h"
#include "program/program.h"
#include "run/run.h"
#include "weave/weave.h"

typedef struct RecordPlan {
    const char *libexec;         /* where the runtime is */
    CopyStrategy strategy;       /* what is copied at calls and returns */
    char *const *only;           /* functions, NULL-terminated; NULL: all */
    bool as_is;                  /* COPY_STATE: memory that nobody wrote is left alone */
} RecordPlan;

/* `functions` gets how many are recorded; may be NULL. */
bool record_weave(const Program *p, const RecordPlan *plan, const char *out, size_t *functions,
                  Err *err);

typedef struct RecordRun {
    const CapturedProgram *original;
    const char *woven;           /* the same with probes */
    char *const *words;          /* its arguments; or a command, see `in_place` */
    size_t nwords;
    const char *folder;          /* where the probes write: exists */
    const char *root;            /* the project's folder, to be seen in the sandbox too;
                                  * NULL: not, and `in_place` is not possible */
    char *const *env;            /* more variables, "NAME=value", or others for ours;
                                  * NULL: none */
    uint64_t budget;             /* of each process's trace; 0: 256 MiB */
    double seconds;              /* wall clock and CPU; 0: 300 */
    bool (*stop)(void *arg);     /* asked ten times a second; NULL: never */
    void *arg;

    /* `words` are a command that runs the original, loads it or links with it
     * (make check): the woven one stands in its place meanwhile, in a private view
     * of the project (build/place.h). Its output goes to standard error. */
    bool in_place;

    /* Otherwise the woven program itself runs in the sandbox, in the current folder
     * and under the original's name. All may be left out. */
    char *const *writable;       /* more folders that it may write to */
    bool network, unprotected;
    const char *input_file;      /* standard input */
    const RunFile *files;        /* given: it runs in the scratch folder with these */
    size_t nfiles;
    size_t keep_output;          /* bytes of each stream; 0: 1 MiB */
    bool discard_output;
    void (*note)(void *arg, const char *text);   /* what the sandbox lacks */
} RecordRun;

/* False: it could not be started. How it ended is in `out`; of a command only
 * failure.kind, status and signal. */
bool record_run(const RecordRun *run, RunResult *out, Err *err);
#endif
