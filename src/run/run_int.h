/*
 * run_int - what Sundew (run.c) and the worker inside the sandbox (worker.c)
 * say to each other, and what the worker's files share.
 *
 * A message is a header, a body of fixed struct and NUL-terminated texts, and
 * descriptors that travel with the header. Every header has the version, the number of
 * the message, and a secret that Sundew draws for each worker and tells it with SETUP,
 * before there is a subject. A subject can't read the worker's memory (guard.c), so it
 * can't write a message that is believed, whatever it does to the socket.
 *
 *     Sundew ─▶ worker   SETUP   SetupWire, then paths
 *     worker ─▶ Sundew   READY   one row per protection
 *     Sundew ─▶ worker   START   what to run: StartWire, argv, env, descriptors
 *     Sundew ─▶ worker   RUN     RunWire; descriptors 0, 1, 2
 *     Sundew ─▶ worker   STOP    the output limit is passed
 *     Sundew ─▶ worker   LEND    RunWire; descriptors 0, 1, 2: start the fork server, and
 *                                answer DONE with its socket
 *     Sundew ─▶ worker   TIDY    kill what the lent server's runs left; DONE
 *     worker ─▶ Sundew   DONE    DoneWire, then frames
 *     worker ─▶ Sundew   FAILED  why it did not begin
 *
 * START is sent only when it differs from the last one.
 */
#ifndef SUNDEW_RUN_INT_H
#define SUNDEW_RUN_INT_H
#include "base/str.h"
#include "base/vec.h"
#include "run/failure.h"
#include "run/locate.h"
#include "run/run.h"
#include <sys/resource.h>
#include <sys/types.h>

enum { WIRE_VERSION = 5, WIRE_MOST_FDS = 64 };
typedef enum WireKind {
    WIRE_SETUP,
    WIRE_READY,
    WIRE_START,
    WIRE_RUN,
    WIRE_STOP,
    WIRE_DONE,
    WIRE_FAILED,
    WIRE_LEND,
    WIRE_TIDY,
} WireKind;

/* ---- wire */

/* One end of the socket. */
typedef struct Wire {
    int fd;                    /* -1: closed */
    uint64_t secret[2];        /* 0: not told yet; the first message brings it */
    uint32_t sent, received;   /* messages so far */
} Wire;

/* Reading a body; `bad` once it was too short, and zeros from there on. */
typedef struct WireIn {
    const char *at, *end;
    bool bad;
} WireIn;

void wire_add(Str *body, const void *p, size_t n);
void wire_add_text(Str *body, const char *text);        /* not NULL */
void wire_get(WireIn *in, void *p, size_t n);
const char *wire_get_text(WireIn *in);                  /* inside the body */
void wire_draw_secret(Wire *w);
bool wire_send(Wire *w, WireKind kind, const Str *body, const int *fds, size_t nfds);
/* False at the end, with an error, or if it is not from the other end. fds[0..*nfds) are the caller's to close;
 * room for WIRE_MOST_FDS. */
bool wire_receive(Wire *w, WireKind *kind, Str *body, int *fds, size_t *nfds);

typedef struct SetupWire {
    uint32_t version, size; /* sizes of all structs, against a mixed build */
    uint32_t network, unprotected;
    uint32_t without; /* bit per protection */
    uint32_t nreadable, nwritable, nnamed; /* texts after scratch and layered: these paths */
} SetupWire;

typedef struct StartWire {
    uint32_t fixed_addresses, untraced, server, rounds;
    uint32_t nargs, nenv, nfds;
    int32_t as[WIRE_MOST_FDS];
} StartWire; /* texts: file, cwd, arguments, environment */

typedef struct RunWire {
    RunLimits limits; /* no defaults any more; 0 idle: none */
    uint32_t lend; /* nobody watches: the kernel keeps the limit on memory */
} RunWire;

typedef struct DoneWire {
    int32_t wait_status;
    uint32_t stop; /* FailureStop */
    uint32_t blocked, has_info, traced, left_processes, lost_server;
    int32_t code;
    uint32_t access; /* FailureAccess */
    uint64_t address, sp;
    double seconds, cpu_seconds;
    uint64_t max_rss;
    uint32_t nframes; /* texts: function, module; then the offset */
} DoneWire;

enum { WIRE_SIZE = sizeof(SetupWire) + sizeof(StartWire) + sizeof(RunWire) + sizeof(DoneWire) };

/* What DONE says; out->err holds the subject's standard error already. */
bool run_take_done(const Str *body, RunResult *out, Err *err);

/* ---- protections */

typedef enum Protect {
    PROTECT_USER,
    PROTECT_PID,
    PROTECT_NET,
    PROTECT_MOUNT,
    PROTECT_PROC,
    PROTECT_LANDLOCK,
    PROTECT_SECCOMP,
    PROTECT_TRACE,
    PROTECT_COUNT,
} Protect;
extern const Protection protection_rows[PROTECT_COUNT]; /* none granted */

/* What sandbox_enter() needs; paths are absolute and real. */
typedef struct Sandbox {
    SetupWire setup;
    const char *scratch;
    const char *layered; /* "": nothing is */
    char **readable, **writable;
    char **named; /* by words of the command: only files and folders, and not resolved */
    Protection rows[PROTECT_COUNT];
    bool private_tmp[4]; /* which of sandbox_private[] are our own */
    bool has_layer; /* a layer in memory lies over `layered` */
    bool own_ipc; /* System V's objects are our own */
    unsigned user_tasks; /* threads of the user outside, at the start */
} Sandbox;
extern const char *const sandbox_private[4];
bool sandbox_hides(const char *path); /* it is in, or is, a folder that is private */

/* The paths that the words of a command, but its first, name in private folders: `named` is to be visible. Returns
 * a line about those that stay hidden, with the reason; NULL: none do. */
char *words_named(char *const *words, Strings *named);

/* Puts the worker into the sandbox: returns in a child of the caller, which
 * stays outside as its guard. Never fails: what is refused is noted. */
void sandbox_enter(Sandbox *s, int control);
bool seccomp_enter(const Sandbox *s, char *why, size_t size);
bool landlock_enter(const Sandbox *s, char *why, size_t size);

/* Removes all of System V's objects; for a namespace of our own. */
void ipc_empty(void);

_Noreturn void worker_main(int control);

/* ------------------------------------------------------------------ guard */

/* Keeps the subjects' hands off the worker. guard_worker(): its memory and descriptors
 * can't be seen from now on, and the rules for subjects are made. guard_child(): in a
 * fresh child, so that the worker may trace it. guard_subject(): right before the
 * subject is executed. */
void guard_worker(bool own_pids);
void guard_child(void);
void guard_subject(void);

/* ---- trace */

/* What a fatal signal looked like when it was about to be delivered. */
enum { TRACE_FRAMES = 64 };
typedef struct TraceSignal {
    int signal; /* 0: none seen */
    int code;
    uint64_t address, sp, pc;
    FailureAccess access;
    FailureFrame frames[TRACE_FRAMES]; /* text in `arena` */
    size_t nframes;
    Arena arena;
} TraceSignal;

/* Whether an executable has a sanitizer in it, remembered by its identity. */
typedef struct TraceSeen {
    uint64_t device, inode;
    int64_t changed;
    bool sanitizer;
} TraceSeen;

typedef struct Trace {
    TraceSeen seen[16];
    size_t nseen;
    pid_t server; /* 0: none. What it forks is main */
    pid_t main; /* whose death counts */
    bool let_go; /* it has a sanitizer in it */
    unsigned looked; /* signals examined in this run */
    TraceSignal fault; /* the first that the kernel raised for a fault */
    TraceSignal last; /* the last fatal one */
} Trace;

void trace_reset(Trace *t, pid_t main);
/* Does the kernel let us trace a child? */
bool trace_works(char *why, size_t size);
bool trace_seize(pid_t pid); /* with all that it starts */
/* A stop that waitpid() told of; lets the process go on. */
void trace_stop(Trace *t, pid_t pid, int status);
/* The record that explains death by `signal`, or NULL. */
const TraceSignal *trace_explain(const Trace *t, int signal);

/* Is a sanitizer in the file that can't work under ptrace? */
bool elf_has_sanitizer(const char *path);
/* How the instruction at `code` (x86-64) uses memory. */
FailureAccess decode_access(const uint8_t *code, size_t n);

/* Registers of a stopped thread. */
typedef struct Registers {
    uint64_t pc, sp, fp;
    uint64_t source, target; /* of a string instruction; 0: has none */
} Registers;
bool registers_get(pid_t pid, Registers *r);

/* ---- watch */

/* What all processes of a run use at this moment. */
typedef struct Usage {
    unsigned tasks; /* threads of living processes */
    uint64_t memory; /* resident; exact: shared pages count once */
    double cpu; /* seconds, waited-for children included */
    bool runnable; /* something is running or wants to */
} Usage;

/* All living processes below the caller but `except` (0: none). */
Usage watch_usage(pid_t except, bool exact_memory);
/* Sends them SIGKILL; gives their number. */
size_t watch_kill(pid_t except);
/* Threads of all processes of the user, wherever they are. */
unsigned watch_user_tasks(void);
/* The name of our process `pid` below /proc, which may be that of an outer
 * namespace; 0: not found. */
pid_t watch_proc_number(pid_t pid);
#endif
