/*
 * The file of evidence that watched programs share (runtime/watch/watch.h).
 *
 *     struct sundew_watch_file      who may write, and the processes that saw something
 *     struct sundew_watch_slot[n]   what was seen at each site
 *
 * All processes of a test suite map the same file, so evidence survives _exit(),
 * abort(), kill -9 and exec. Sundew makes the file; programs only add to it, with
 * atomic operations. There are numbers in it, and the command lines of processes
 * that saw something; no data of the program.
 *
 * A reader takes it for a stranger's: every number may be wrong.
 */
#ifndef SUNDEW_FORMAT_WATCH_H
#define SUNDEW_FORMAT_WATCH_H
#include <stdint.h>

#define SUNDEW_WATCH_MAGIC 0x0048435441570053ULL /* changes with the format */

enum {
    SUNDEW_WATCH_STACK = 8,
    SUNDEW_WATCH_PROCESSES = 64,
    SUNDEW_WATCH_WORDS = 248,
    SUNDEW_WATCH_KEY = 40,
    SUNDEW_WATCH_MOST = 1 << 20, /* slots */
};

/* Kinds of descriptors, for `bits`. */
enum {
    SUNDEW_FD_REGULAR = 1,
    SUNDEW_FD_PIPE = 2,
    SUNDEW_FD_SOCKET = 4,
    SUNDEW_FD_TERMINAL = 8,
    SUNDEW_FD_OTHER = 16,
    SUNDEW_FD_NONBLOCKING = 32,
};

/* Words of a command that the program had read, for `bits`. */
enum {
    SUNDEW_WORD_BARE = 1,    /* without quotes */
    SUNDEW_WORD_SPECIAL = 2, /* … and with a special character, or out of its quotes */
    SUNDEW_WORD_QUOTED = 4,
    SUNDEW_WORD_ESCAPED = 16, /* it had a quote, and the command has it escaped */
};

struct sundew_watch_slot {
    uint64_t n;              /* opportunities */
    uint64_t bad;            /* observations that speak for the warning */
    int64_t low, high;       /* of a value; low > high: none was seen */
    int64_t low2, high2;     /* of a second one */
    uint64_t bits;           /* classes that were seen, a bit each */
    uint64_t bad_bits;       /* … with a bad observation */
    int64_t value, value2;   /* of the first bad observation */
    uint32_t error;          /* … errno */
    uint32_t process;        /* … index + 1 in processes[]; 0: not known */
    uint64_t stack[SUNDEW_WATCH_STACK]; /* … as linked, innermost first; 0: end */
    uint64_t spare;
};

struct sundew_watch_process {
    uint32_t pid, length;
    char words[SUNDEW_WATCH_WORDS]; /* its arguments, each ends with NUL */
};

struct sundew_watch_file {
    uint64_t magic;
    uint32_t nslots;
    uint32_t nprocesses;     /* that wanted an entry; there is room for the first */
    char key[SUNDEW_WATCH_KEY]; /* of the woven program */
    struct sundew_watch_process processes[SUNDEW_WATCH_PROCESSES];
};
#endif
