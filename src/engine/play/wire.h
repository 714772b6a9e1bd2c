/*
 * wire - what exec.c and the player (player/) say to each other, in memory
 * that they share.
 *
 *     head        one struct WireHead
 *     functions   written once, before the player starts: a number, then for
 *                 each function its symbol, the signature, what to look at, and
 *                 the texts in structs, each ending with a NUL
 *     files       likewise: u32 number { u32 n, name, u32 n, bytes }…; a job whose
 *                 request has the name finds the file in its folder
 *     seen        a byte a point of coverage: known already
 *     request     groups of jobs, see below
 *     response    one struct WireAnswer a job, WIRE_ANSWER bytes apart
 *
 * A request is a number of groups. A group is a prefix, which is executed once,
 * and jobs, each in a forked child that goes on from there:
 *
 *     u32 groups { u32 jobs, u32 steps, step…
 *                  { u32 answer, struct WireOptions, u32 steps, step… }… }…
 *     step:  u16 function, u16 arguments, value…
 *            u16 WIRE_SET, u16 size, u32 offset, value (target), value;
 *            size 0: nothing is set, the value is a room for storage
 *     value: u8 SeqValueKind, then
 *            integer u64; float double; room u8 given, u32;
 *            string, bytes u8 given, u32 n and bytes, u32 links { u32 offset, value }…;
 *            within u32 argument, u32 offset;
 *            result u32 step; stored, storage u32 step, u32 parameter;
 *            function u32 n and its symbol (0: a stub)
 *
 * A request for threads begins with WIRE_THREADS in place of the number of groups.
 * The steps of each thread and of the epilogue go on from the prefix:
 *
 *     u32 WIRE_THREADS, u32 mode, u32 leaks, u32 n, n bytes (order), u32 threads,
 *     u32 steps, step… (prefix), { u32 steps, step… (thread) }…,
 *     u32 steps, step… (epilogue)
 *
 * Its mode is WIRE_AT_ONCE, or one of the serial ones, in which `order` names the
 * thread of each call; `leaks` says whether lost memory is looked for. Answer 0 is that of
 * prefix and epilogue, the others are those of the threads.
 *
 * Signatures are those of engine/api/signature.h.
 *
 * What to look at, the result and then the parameters, a letter each: '-'
 * nothing; of the result i integer, f floating, z string, h handle, p pointer,
 * r struct; of what a parameter leads to b bytes, n a number, z a string's
 * pointer, h a handle, s a struct in the caller's storage.
 *
 * Texts in structs: "P,O,N;" for a pointer to a text, O bytes into what parameter P leads
 * to; the observation's place is OBS_PLACE_FIELD + P * OBS_FIELDS_OF_ONE + N.
 *
 * An observation is { u32 step, i32 place, u32 kind, u32 n, n bytes, padded to 4 }.
 */
#ifndef SUNDEW_SEQ_WIRE_H
#define SUNDEW_SEQ_WIRE_H
#include <stdint.h>

#define WIRE_MAGIC 0x53645771u
enum {
    WIRE_VERSION = 6,
    WIRE_FD = 9,
    WIRE_FUNCTIONS = 4096,
    WIRE_FILES = 1 << 20,
    WIRE_SEEN = 2 << 20,
    WIRE_REQUEST = 8 << 20,
    WIRE_RESPONSE = 24 << 20,
    WIRE_ANSWER = 128 << 10,
    WIRE_MOST_JOBS = 256,
    WIRE_SIZE = WIRE_RESPONSE + WIRE_ANSWER * WIRE_MOST_JOBS,
    WIRE_MOST_POINTS = WIRE_REQUEST - WIRE_SEEN,
    WIRE_SET = 0xffff,
    WIRE_MOST_THREADS = 4,
    WIRE_MOST_NEW = 24000,       /* points that an answer lists */
    WIRE_MOST_SEEN_BYTES = 256,  /* of one string or buffer */
    WIRE_OBSERVATIONS = 32 << 10,
};

#define WIRE_THREADS 0xfffffffeu
enum {
    WIRE_AT_ONCE,                /* threads that are scheduled */
    WIRE_ONE_THREAD,             /* all calls in one thread, in the order given */
    WIRE_OWN_THREADS,            /* each in its thread, one call after the other */
    WIRE_NATIVE,                 /* threads that begin together and are not scheduled */
};
enum {
    WIRE_NO_LEAKS,
    WIRE_LEAKS,                  /* what the prefix has made may stay */
    WIRE_LEAKS_ALL,              /* the epilogue gives all of it back */
};

struct WireHead {
    uint32_t magic, version;
    uint32_t npoints;            /* the player says: of coverage */
    uint32_t nreached;           /* … and blocks with mutants */
    uint32_t missing;            /* functions that the library does not have */
    uint32_t cpu_ms, wall_ms;    /* limits of a job */
    uint32_t slots;              /* jobs side by side; 0: 8 */
    uint32_t writes;             /* look at standard output and at files */
    uint32_t ready;              /* the player has loaded the library */
    char trouble[256];           /* why not */
};

struct WireOptions {
    uint32_t mutant;
    uint32_t fill;               /* byte for fresh and freed memory; 0: as it is */
    int64_t clock;               /* seconds that the clock is ahead */
    uint32_t twice;              /* run it twice in one process, for leaks */
    uint32_t reached;            /* list blocks with mutants instead of coverage */
    uint32_t direct;             /* without a child of its own: to see it die */
    uint32_t all;                /* list what is seen already, too */
};

enum {
    WIRE_NOT_RUN,
    WIRE_DONE,
    WIRE_DIED,
    WIRE_TIMEOUT,
    WIRE_PREFIX,
    WIRE_EXITED,
    WIRE_BEGUN,                  /* stays so if the player dies with it */
};

enum {
    OBS_INTEGER,
    OBS_FLOAT,
    OBS_NULL,
    OBS_STRING,
    OBS_BYTES,
    OBS_HANDLE,
    OBS_SAME,                    /* u32 step, i32 place: the same pointer */
    OBS_UNREADABLE,
    OBS_LONG,    /* a string longer than is kept */
    OBS_ERRNO,
    OBS_CALLBACKS,    /* how often stubs were called so far */
    OBS_FIELDS,                  /* a struct's bytes before the call, and after */
};
enum {
    OBS_PLACE_ERRNO = -3,
    OBS_PLACE_CALLBACKS = -4,
    OBS_PLACE_STDOUT = -5,       /* what a call wrote to standard output */
    OBS_PLACE_FILES = -6,        /* of the last call: what is in the folder, a line a file */
    OBS_PLACE_FIELD = 64,
    OBS_FIELDS_OF_ONE = 64,
    OBS_PLACE_BEHIND = 4096,     /* + step: the bytes that a field was set to */
};

struct WireAnswer {
    uint32_t state;
    int32_t status;              /* of wait */
    uint32_t at;                 /* step that was being executed */
    uint32_t nnew;
    int64_t leaked;              /* bytes: with `twice`, or as a test with threads asks */
    uint32_t nobs;               /* bytes of observations */
    uint32_t cut;                /* there were more */
    uint32_t fresh[WIRE_MOST_NEW];
    uint8_t obs[WIRE_OBSERVATIONS];
};
#endif
