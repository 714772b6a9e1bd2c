/*
 * proc - run another program, with limits.
 *
 *     Proc p = { .argv = argv, .seconds = 10, .capture = true };
 *     ProcResult r = {0};
 *     if (!proc_run(&p, &r, err)) …           could not be started
 *     if (r.timed_out) … else if (r.signal) … else use r.status
 *     proc_result_release(&r);
 *
 * The child leads its own process group if it has a time limit; when the time
 * is over the whole group is killed. This is for tools that Sundew calls
 * (compilers, dot, a test's chromium); subjects are run by src/run/.
 */
#ifndef SUNDEW_PROC_H
#define SUNDEW_PROC_H
#include "base/err.h"
#include "base/str.h"
#include <stdint.h>
#include <sys/types.h>

typedef struct Proc {
    char *const *argv;        /* argv[0] is searched in $PATH */
    const char *file;         /* what to execute, if not argv[0] */
    char *const *env;         /* NULL: inherited */
    const char *cwd;          /* NULL: inherited */
    const char *in;           /* file for standard input; NULL: inherited */
    const char *out;          /* file that gets standard output */
    const char *err_out;      /* file that gets standard error */
    bool out_to_err;          /* standard output goes where standard error does */
    bool (*enter)(void *arg); /* called in the child before it executes; false, with
                               * errno set: it is not started. NULL: nothing */
    void *enter_arg;
    int death_signal;         /* what it gets when we die; 0: nothing, of proc_run() SIGKILL */
    bool capture;             /* keep both outputs in the result */
    double seconds;           /* wall clock; 0: no limit */
    bool (*stop)(void *arg); /* with `seconds` and `capture`: asked ten times a second whether its
                               * time is over; NULL: never */
    void *stop_arg;
    uint64_t memory; /* address space in bytes; 0: no limit */
    uint64_t most_output; /* of each captured stream; 0: 64 MiB */
} Proc;

typedef struct ProcResult {
    int status; /* exit status; 128 + signal if it died so */
    int signal; /* 0: it exited */
    bool timed_out;
    bool output_cut; /* more than most_output was written */
    double seconds;
    Str out, err;
} ProcResult;

bool proc_run(const Proc *p, ProcResult *r, Err *err);
void proc_result_release(ProcResult *r);

/* In two steps, without capture and time limit, to have several at once. */
pid_t proc_start(const Proc *p, Err *err); /* -1: could not */
void proc_wait(pid_t pid, ProcResult *r);
/* At the longest until `deadline` (of clock_seconds(); 0: none). False: it is
 * still running. */
bool proc_wait_until(pid_t pid, double deadline, ProcResult *r);

/* fork() for work of our own: the child ends when this thread does, however that ends, and so
 * does not go on for nobody, with our locks held. */
pid_t proc_fork(void);
#endif
