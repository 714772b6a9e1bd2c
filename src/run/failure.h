/*
 * failure - how exactly a run ended, and whether two runs ended alike.
 *
 *     FAILURE_SANITIZER  AddressSanitizer: heap-buffer-overflow, WRITE of size 4
 *                        in list_add list.c:31:12
 *     FAILURE_ASSERTION  n > 0, in crop crop.c:12
 *     FAILURE_SIGNAL     SIGSEGV, reading 0x10, in sort prog+0x1b20
 *
 * failure_read() decides from Facts, which is all that is known about the end
 * of a process: its wait status, what the kernel said about a fatal signal, the
 * limit that stopped it, and what it wrote to standard error. It is a pure
 * function; src/run/ gathers the facts of a run, and somebody who has an old
 * log and an exit status can ask as well.
 *
 * What is known about a fatal signal of a subject without a sanitizer (address,
 * access, program counter, stack pointer, return addresses) comes from the
 * worker, which traces the subject with ptrace and looks when the signal is
 * about to be delivered. That works for any executable, for threads and for
 * children, needs nothing in the subject, and costs nothing between signals.
 * The kernel doesn't say whether a fault was a read or a write, so the worker
 * decodes the instruction (x86-64; elsewhere FAILURE_ACCESS_UNKNOWN). Subjects
 * with ASan, LSan, TSan or MSan are not traced, because the leak check itself
 * traces; their report says all that. Where ptrace is refused, `has_address` is
 * false, and a stack overflow without a sanitizer looks like any SIGSEGV.
 *
 * All text here was written by the subject or comes out of its files: it is
 * hostile and leaves through base/escape.h or base/json.h only.
 *
 * A Failure of {0} says that nothing failed. It owns its text and frames until
 * failure_release().
 */
#ifndef SUNDEW_FAILURE_H
#define SUNDEW_FAILURE_H
#include "base/mem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum FailureKind {
    FAILURE_NONE,              /* exited with status 0 */
    FAILURE_EXIT,              /* exited with another status */
    FAILURE_SIGNAL,            /* killed by a signal */
    FAILURE_STACK_OVERFLOW,    /* with a sanitizer or without */
    FAILURE_ABORT,             /* abort() without more being known */
    FAILURE_ASSERTION,         /* assert(); `what` is its text */
    FAILURE_SANITIZER,         /* a report; `tool` and `what` say which */
    FAILURE_TIMEOUT,           /* wall clock; `what`: "busy" or "blocked" */
    FAILURE_CPU_LIMIT,         /* CPU time */
    FAILURE_HANG,              /* no CPU time used for limits.idle seconds */
    FAILURE_MEMORY_LIMIT,
    FAILURE_OUTPUT_LIMIT,
    FAILURE_FILE_LIMIT,        /* a file grew beyond limits.file_size */
    FAILURE_PROCESS_LIMIT,     /* more processes than limits.processes */
} FailureKind;

typedef enum FailureAccess {
    FAILURE_ACCESS_UNKNOWN,
    FAILURE_ACCESS_READ,
    FAILURE_ACCESS_WRITE,
    FAILURE_ACCESS_EXEC,       /* a jump to the address */
} FailureAccess;

/* One function on the stack. What is not known is NULL or 0. */
typedef struct FailureFrame {
    const char *function;
    const char *file;
    unsigned line, column;
    const char *module;        /* file name of the executable or library */
    uint64_t offset;           /* in the module's file image: stable under ASLR */
} FailureFrame;

typedef struct Failure {
    FailureKind kind;
    int status;                /* exit status, if it exited */
    int signal;                /* 0: it exited. SIGKILL after a limit */
    int code;                  /* si_code of the fatal signal; 0: not known */
    bool has_address;
    uint64_t address;          /* of the access that failed */
    FailureAccess access;
    unsigned size;             /* of the access, in bytes; 0: not known */
    const char *tool;          /* "AddressSanitizer", "runtime error" … or NULL */
    const char *what;          /* "heap-use-after-free", assertion's text, … */
    FailureFrame *frames;      /* innermost first */
    size_t nframes;
    size_t site;               /* frames[site]: first in user code; may be
                                  == nframes: not known */
    Arena arena;
} Failure;

/* The limit that made the worker kill the subject. */
typedef enum FailureStop {
    FAILURE_STOP_NONE,
    FAILURE_STOP_WALL,
    FAILURE_STOP_CPU,
    FAILURE_STOP_IDLE,
    FAILURE_STOP_MEMORY,
    FAILURE_STOP_OUTPUT,
    FAILURE_STOP_PROCESSES,
} FailureStop;

/* What failure_read() decides from. Borrowed; {0} is a run that exited 0. */
typedef struct Facts {
    int wait_status;           /* as waitpid() gives it */
    FailureStop stop;
    bool blocked;              /* with FAILURE_STOP_WALL: used no CPU lately */
    bool has_signal_info;      /* the next lines are known */
    int code;                  /* si_code */
    uint64_t address, sp;      /* si_addr, stack pointer */
    FailureAccess access;
    const FailureFrame *frames;
    size_t nframes;
    const char *err;           /* standard error */
    size_t err_len;
} Facts;

void failure_read(Failure *f, const Facts *facts);   /* `f` of {0} */
void failure_release(Failure *f);
void failure_copy(Failure *to, const Failure *from); /* `to` of {0} */
/* Is the file a part of the system rather than of the user's program? */
bool failure_is_foreign_module(const char *path);
/* Other frames in place of those that it has, for a report without names. Texts are copied. */
void failure_set_frames(Failure *f, const FailureFrame *frames, size_t n);

/* Is it worth telling? Everything but NONE and EXIT. */
bool failure_is(const Failure *f);
/* Did it run too long, or wait? */
bool failure_is_late(const Failure *f);

typedef enum FailureLevel {
    FAILURE_SAME_KIND,         /* kind, signal or report, access */
    FAILURE_SAME_SITE,         /* and where: function and line, or module offset;
                                  and an assertion's text */
    FAILURE_SAME_STACK,        /* and all functions on the stack, outermost ones
                                  that only one of the two knows apart */
} FailureLevel;
/* Did both fail in the same way? What neither knows is equal; what only one
 * knows is different. Two runs that didn't fail are the same. */
bool failure_same(const Failure *a, const Failure *b, FailureLevel level);

/* "sanitizer", "stack-overflow" …: the name in JSON and options. */
const char *failure_kind_name(FailureKind kind);
bool failure_kind_parse(const char *name, FailureKind *kind);
const char *failure_access_name(FailureAccess a);    /* "read"…; "" if unknown */
const char *failure_signal_name(int sig);            /* "SIGSEGV"; "signal 77" */
/* The frame of the site; NULL if it is not known. */
const FailureFrame *failure_site(const Failure *f);

/* One line for people, not escaped: "heap-buffer-overflow (AddressSanitizer),
 * writing 4 bytes, in list_add at list.c:31". */
void failure_describe(const Failure *f, Str *out);
/* The same, short: no address and no file, a long text cut. */
void failure_title(const Failure *f, Str *out);
/* Everything, line by line, for tests and for debugging. */
void failure_dump(const Failure *f, Str *out);
#endif
