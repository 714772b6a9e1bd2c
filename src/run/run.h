/*
 * run - run a subject safely, and say exactly how it ended.
 *
 *     Runner *r = runner_new(&(RunnerPlan){0}, err);
 *     RunPlan plan = { .argv = argv, .input = bytes, .input_len = n };
 *     RunResult res = {0};
 *     if (!runner_run(r, &plan, &res, err)) …    could not be started
 *     if (failure_is(&res.failure)) …            see failure.h
 *     use(res.out.text, res.failure.status);
 *     run_result_release(&res);
 *     runner_free(r);
 *
 * A Runner is one sandbox with a worker process (sundew-run) inside, in which
 * any number of runs happen, one after the other. Making a sandbox costs some
 * ten times as much as a run, so keep the Runner. Several may be at work side by
 * side, each used by one thread at a time; make and free them in one thread.
 *
 *     Sundew ──socket──▶ worker ──▶ subject (and whatever it starts)
 *                        pid 1 of its own process, network, mount and user
 *                        namespace; Landlock and seccomp are set once, here
 *
 * What a subject can't do: write outside the scratch folder and what is named
 * in `writable`; reach the network (it has a loopback of its own); outlive its
 * run, whatever it forks or daemonises; signal or trace other processes; gain
 * privileges; leave a stray process when Sundew is killed. It can read what the
 * user can read, except that /tmp, /var/tmp, /dev/shm and /run are its own,
 * empty at the begin of each run; the folder that was current when the Runner
 * was made, and what `readable` or a word of `words` names, stay visible there. It protects from buggy
 * code, not from a determined attacker with a kernel exploit. docs/running.md
 * says more.
 *
 * Nothing here needs root or a sysctl, and root in a container will do. What
 * the kernel refuses is left out and runs go on without it; runner_protections()
 * tells, and runner_missing() gives the line to say once.
 *
 * How a run ends is a result, never an Err. An Err means that it did not begin
 * (no such program, no fork server in it, worker can't be started).
 */
#ifndef SUNDEW_RUN_H
#define SUNDEW_RUN_H
#include "base/err.h"
#include "base/str.h"
#include "run/failure.h"
#include <stddef.h>
#include <stdint.h>

/* With this in the environment the C library knows how much memory is in use (mallinfo2()): no
 * thread has a cache of freed memory, nor a part of the heap of its own. Without a sanitizer. */
#define RUN_COUNTS_MEMORY "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"

/* ---- sandbox */

/* {0} is the safe default. Borrowed for the call. */
typedef struct RunnerPlan {
    const char *scratch;        /* an existing folder; NULL: a temporary one,
                                   gone with the Runner */
    const char *const *readable;/* NULL-terminated: must be visible even though
                                   below /tmp, /var/tmp, /dev/shm or /run; the
                                   folder of each subject under /tmp, say. The
                                   current folder always is. */
    char *const *words;         /* argv of the runs, or NULL. A file or folder below these
                                   that a word behind the first names ("x", "-Ix",
                                   "--in=x") is visible, too; see words.c */
    const char *const *writable;/* NULL-terminated: may be written as well */
    const char *layered;        /* a folder, or NULL: what is written in it goes to a layer in
                                   memory, seen by all runs of this Runner and gone with it.
                                   Where the kernel refuses, the folder stays read-only */
    bool network;               /* the host's network may be used */
    bool unprotected;           /* no sandbox: limits and killing only */
    const char *const *without; /* protections to leave out, by name; for tests */
    const char *helper;         /* path of sundew-run; NULL: beside the running
                                   program, or installed in ../lib/sundew */
} RunnerPlan;

typedef struct Runner Runner;

Runner *runner_new(const RunnerPlan *plan, Err *err);   /* NULL plan: {0} */
void runner_free(Runner *r);                            /* NULL is fine */
const char *runner_scratch(const Runner *r);            /* absolute */
/* A folder that subjects may write to; where they have a /tmp of their own, its name is the same
 * for all runners. */
const char *runner_home(const Runner *r);

/* One line of defence. */
typedef struct Protection {
    const char *name;           /* "pid namespace" */
    bool granted;
    char why[80];               /* not granted: what the kernel said */
    const char *without;        /* what that means: "a subject may …" */
} Protection;

/* What this machine grants; the same rows in the same order everywhere. */
const Protection *runner_protections(const Runner *r, size_t *n);
/* One line to say once per command: "the kernel refuses Landlock (…): …".
 * NULL if nothing is missing. Owned by the Runner. */
const char *runner_missing(const Runner *r);

/* ---- run */

#define RUN_UNLIMITED UINT64_MAX

/* 0 means the default that stands beside it. */
typedef struct RunLimits {
    double wall;                /* seconds; 10. A guard: take cpu for verdicts */
    double cpu;                 /* seconds of all its processes; as wall */
    double idle;                /* seconds without any use of CPU; none */
    uint64_t memory;            /* resident bytes of all its processes; 2 GiB.
                                   Watched, not RLIMIT_AS, so that it holds for
                                   ASan too; may be passed for some ms */
    uint64_t output;            /* bytes written to one stream; 256 MiB */
    uint64_t file_size;         /* of each file written; 256 MiB */
    unsigned processes;         /* at once, threads included; 256 */
} RunLimits;

/* A file put into the scratch folder before the run. */
typedef struct RunFile {
    const char *name;           /* relative, without .. */
    const void *data;
    size_t len;
} RunFile;

/* A descriptor that the subject inherits, say shared memory. */
typedef struct RunFd {
    int fd;                     /* ours */
    int as;                     /* its number in the subject: from 3 to below
                                   RUN_MOST_FD, but 198 */
} RunFd;
enum { RUN_MOST_FD = 512 };

typedef struct RunPlan {
    char *const *argv;          /* argv[0] is searched in $PATH, and seen from
                                   our current folder */
    const char *file;           /* run this, whatever argv[0] says; NULL: that */
    char *const *env;           /* NULL: ours, with TMPDIR and HOME the scratch
                                   folder, and with UBSAN_OPTIONS asking for
                                   stacks unless it is set */
    const char *cwd;            /* NULL: the scratch folder */
    const void *input;          /* standard input, a regular file for it; */
    size_t input_len;           /*   NULL and no input_file: empty */
    const char *input_file;     /* standard input is this file */
    const RunFile *files;
    size_t nfiles;
    const RunFd *fds;
    size_t nfds;
    RunLimits limits;
    bool (*stop)(void *arg);    /* asked ten times a second: is the run to end
                                   now? NULL: never */
    void *stop_arg;
    size_t keep_output;         /* bytes kept of each stream; 0: 1 MiB */
    bool discard_output;        /* standard output is /dev/null; standard error
                                   is still read, for reports */
    bool keep_scratch;          /* don't empty the scratch folder before */
    bool fixed_addresses;       /* no ASLR, where the kernel lets us */
    bool untraced;              /* no fault address, for subjects that mind
                                   being traced */
    bool server;                /* the subject has Sundew's fork server in it
                                   (runtime/server/forkserver.h): start it once, fork
                                   it for this run. argv, env, cwd, fds and
                                   fixed_addresses are those of the start; when
                                   they differ from those of the last run, or
                                   limits.file_size or processes do, it is
                                   started anew. */
    bool rounds;                /* with `server`: a process may do several runs and says
                                   itself when one is over (persistent mode). Otherwise
                                   only the server is believed */
} RunPlan;

/* One captured stream. When more than keep_output was written, `text` is the
 * first half and the last half of what may be kept, with one line between that
 * says how much is missing. */
typedef struct RunStream {
    Str text;
    uint64_t total;             /* bytes written; at least, after a limit */
    bool truncated;
} RunStream;

typedef struct RunResult {
    Failure failure;            /* also exit status and signal */
    RunStream out, err;
    double seconds;             /* wall clock */
    double cpu_seconds;         /* user and system, waited-for children too */
    uint64_t max_rss;           /* bytes, of the largest process */
    bool traced;                /* fault addresses would have been seen */
    bool stopped;               /* ended because plan->stop said so: `failure`
                                   means nothing */
    bool lost_server;           /* the run killed its own fork server: `failure` says
                                   SIGKILL, and nobody saw what became of the run */
    bool left_processes;        /* something was still running at the end and
                                   was killed: it forked, or daemonised */
} RunResult;

bool runner_run(Runner *r, const RunPlan *plan, RunResult *out, Err *err);

/*
 * For thousands of runs a second: start the subject's fork server and give its
 * socket (runtime/server/forkserver.h, runtime/server/batch.h), over which the caller then
 * asks for runs itself. Standard input is `input`, the other two are /dev/null.
 * Nobody watches such runs: limits.memory is of each process's address space, time is
 * the caller's to watch. -1 with `err`. The socket is the caller's to close; the
 * server lives until the next runner_lend(), runner_run() or runner_free().
 */
int runner_lend(Runner *r, const RunPlan *plan, int input, Err *err);
/* Kills the lent server's runs and what they left, empties the private folders. *left: was there
 * something besides? (May be NULL.) */
bool runner_tidy(Runner *r, bool *left, Err *err);
/* Empties it; use it before the RunResult is used again. */
void run_result_release(RunResult *r);
#endif
