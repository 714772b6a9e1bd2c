/*
 * callfile - calls of an API, as a woven program writes them down.
 *
 * A process writes one file, FOLDER/PID.N.calls: a header of one page, then one record
 * for each call, in the order in which the calls began; all threads share the
 * order. A record is filled in two steps, before the call and after it. So a
 * call that never came back is one that has begun and not returned.
 *
 * The file is a shared mapping: what was written is there, however the process
 * ends. `count` may be larger than the number of records that fit: the rest was
 * not recorded.
 *
 * PID.N.maps holds /proc/self/maps as it was at a fatal signal.
 */
#ifndef SUNDEW_CALLFILE_H
#define SUNDEW_CALLFILE_H
#include <stdint.h>

#define SUNDEW_CALLS_MAGIC "SUNDEWAC"
enum {
    SUNDEW_CALLS_VERSION = 2,
    SUNDEW_CALLS_HEADER = 4096,
    SUNDEW_CALLS_INS = 3,      /* handles that go into a call, at most */
    SUNDEW_CALLS_OUTS = 2,     /* … and come out through pointers */
    SUNDEW_CALLS_FRAMES = 64,
    SUNDEW_CALLS_SAID = 256,
};

enum SundewCallState {
    SUNDEW_CALL_NONE,
    SUNDEW_CALL_BEGUN,
    SUNDEW_CALL_RETURNED,
    SUNDEW_CALL_LEFT,          /* no call: function `site` of the program returned */
};

typedef struct SundewCallRecord {
    uint32_t site;
    uint16_t thread;           /* from 0 */
    uint8_t state;             /* enum SundewCallState */
    uint8_t unused;
    int32_t error;             /* errno, if the call changed it; else 0 */
    uint32_t depth;            /* of the stack, in 16 bytes: larger is deeper */
    uint64_t in[SUNDEW_CALLS_INS];
    uint64_t result;
    uint64_t out[SUNDEW_CALLS_OUTS];
} SundewCallRecord;

enum SundewCallsEnd {
    SUNDEW_CALLS_RUNS,         /* … or was killed, or became another program */
    SUNDEW_CALLS_EXIT,
    SUNDEW_CALLS_SIGNAL,
};

typedef struct SundewCallsHeader {
    char magic[8];
    uint32_t version, record;  /* bytes of a record */
    uint32_t pid, parent;
    uint64_t capacity;         /* records that fit */
    uint64_t count;            /* records that were asked for */
    uint32_t how;              /* enum SundewCallsEnd */
    int32_t signal;
    uint64_t address;          /* that the signal is about */
    uint32_t thread, nframes;  /* where it happened */
    uint64_t fault; /* 1 + the site at which the environment was made to fail; 0: none */
    uint64_t frames[SUNDEW_CALLS_FRAMES]; /* return addresses, innermost first */
    char said[SUNDEW_CALLS_SAID]; /* the sanitizer's words */
} SundewCallsHeader;
#endif
