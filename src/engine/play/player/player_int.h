/*
 * What the files of sundew-play share. They are in this program and in its unit
 * test, nowhere else.
 *
 *     main_play.c   main: loads the library
 *     server.c      requests: groups, prefixes, jobs side by side
 *     concurrent.c  a test with threads
 *     job.c         one job: its limits, its coverage, its leaks
 *     lost.c        memory that nothing leads to any more
 *     call.c        steps: libffi calls and fields that are set
 *     take.c        the bytes of a request, and arguments made of them
 *     look.c        what is seen after a call
 *     shield.c      a job can't kill or stop who runs it
 *     interpose.c   what the library finds in place of the C library's clock;
 *                   callbacks; all that can have no argument
 *
 * A Player is the loaded library and its functions; it does not change while
 * sequences run. A Playing is one sequence that is being executed. A thread that
 * executes one has a Playing of its own, so several threads of a process can
 * share a Player:
 *
 *     Playing p = { .player = &player, .answer = &answer };
 *     interpose_enter(&p);                the thread's callbacks and clock are p's
 *     call_steps(&p, &reader, nsteps, 0, 1);
 *     call_forget(&p);
 *     interpose_leave(&p);
 *
 * A Playing is about 250 KB: too much for most stacks.
 */
#ifndef SUNDEW_PLAYER_INT_H
#define SUNDEW_PLAYER_INT_H
#include "engine/play/wire.h"
#include <ffi.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_ARGS = 32, MOST_STEPS = 256, MOST_ALLOCATIONS = 1024, MOST_MEMBERS = 64 };

/* A function of the library. */
typedef struct Routine {
    const char *symbol, *signature, *look, *texts;
    void (*code)(void);          /* NULL: the library does not have it */
    ffi_cif cif;
    ffi_type *types[MOST_ARGS];
    ffi_type *result;
    unsigned nargs;
} Routine;

/* Bytes of the library that say where it went; see runtime/server/player.h. */
typedef struct Woven {
    uint8_t *cover, *reached;
    size_t ncover, nreached;
    uint32_t *mutant;
    const struct sundew_player_schedule *schedule;       /* NULL: it is not scheduled */
} Woven;

typedef struct Player {
    uint8_t *shared;             /* as in wire.h */
    struct WireHead *head;       /* its beginning */
    void *library;
    Routine *routines;
    unsigned nroutines;
    const Woven *woven;
    size_t (*asan_bytes)(void);  /* the heap's size, if a sanitizer counts; or NULL */
} Player;

/* One call that was made, or field that was set. */
typedef struct Done {
    uint16_t routine;
    uint64_t result[8];          /* a struct of up to 64 bytes by value */
    void *rooms[MOST_ARGS];      /* what pointer arguments lead to; NULL */
    uint32_t sizes[MOST_ARGS];
    unsigned nargs;
    void *own[MOST_ARGS];        /* the caller's storage that stood there, if it is to
                                  * be looked at */
    uint32_t own_sizes[MOST_ARGS];
    int out;                     /* a field: it leads to room for results … */
    uint64_t sum;                /* … which had this sum */
} Done;

/* A sequence that is being executed. {0} with a player and an answer is ready. */
typedef struct Playing {
    const Player *player;
    struct WireAnswer *answer;
    Done done[MOST_STEPS];
    unsigned ndone;
    void *allocations[MOST_ALLOCATIONS];         /* made for arguments */
    unsigned nallocations;
    uint8_t content[MOST_ARGS][WIRE_MOST_SEEN_BYTES];     /* of storage, before a call */
    uint8_t first_obs[WIRE_OBSERVATIONS];        /* of the first time, for leaks */
    uint32_t callbacks, callbacks_seen;
    int64_t clock_ahead;                         /* seconds */
    int writes;                                  /* standard output is a file of ours … */
    int64_t written;                             /* … of which so much was seen */
} Playing;

/* Bytes of a request that are still to be read. */
typedef struct Reader {
    const uint8_t *p, *end;
} Reader;

/* An argument as the request has it. */
typedef struct Taken {
    uint8_t kind;                /* SeqValueKind */
    uint64_t bits;               /* a number, or a pointer */
    double real;
    const uint8_t *bytes;        /* in the request */
    void *room;                  /* memory made for it */
    uint32_t n;
    uint8_t given;               /* the library frees it */
    Reader links;                /* pointers in the bytes … */
    uint32_t nlinks;
    uint32_t within;             /* the argument that it lies in; bits: where */
    void *own;                   /* storage of the caller's … */
    uint32_t own_size;
} Taken;

/* The library must not find these by name in place of its own functions. */
#pragma GCC visibility push(hidden)

/* ---- take.c; at the end of the bytes everything is 0 */
int take(Reader *r, void *to, size_t n);         /* 0: there are not so many */
uint32_t take32(Reader *r);
uint16_t take16(Reader *r);
void take_value(Playing *p, Reader *r, Taken *t);
/* Steps over steps without executing them. */
void take_no_steps(Reader *r, uint32_t n);
/* A pointer argument: memory for what it leads to is made here. */
void take_room(Playing *p, Taken *t);

/* ---- call.c */
/* Looks up a routine's symbol and reads its signature. 0: it can't be called. */
int call_prepare(Routine *r, void *library);
/* Executes steps; with `look` it notes what comes out. */
void call_steps(Playing *p, Reader *r, uint32_t n, uint32_t fill, int look);
/* Frees what arguments led to, and all steps are forgotten. */
void call_forget(Playing *p);

/* ---- look.c */
void look_at_call(Playing *p, unsigned step, int error);
/* Of the room that a field was set to. */
uint64_t look_sum(const Done *d);

/* An observation of a step. */
void look_note(Playing *p, unsigned step, int place, uint32_t kind, const void *bytes, uint32_t n);

/* ---- writes.c; each does nothing unless the head asks for it */
void writes_begin(Playing *p);
void writes_look_at_output(Playing *p, unsigned step);
void writes_look_at_files(Playing *p);

/* ---- interpose.c */
void interpose_enter(Playing *p);
void interpose_leave(Playing *p);
const Woven *interpose_woven(void);              /* what the library has registered */
long interpose_stub(void);                       /* a callback that only counts */

/* ---- job.c */
/* Limits, clock, memory and mutant as a job wants them; for this process. */
void job_set_up(Playing *p, const struct WireOptions *o);
void job_limit(const Player *player);
void job_run(Playing *p, Reader steps, const struct WireOptions *o, uint32_t nsteps);
uint64_t job_heap_bytes(const Player *player);

/* ---- lost.c */
void lost_watch(void);
void lost_rest(void);                            /* nobody will ask */
uint32_t lost_mark(void);
void lost_stack(void);                           /* this thread's is nothing at the end */
/* Of what was allocated since the mark, once, in the first thread; 0 if nobody watches. */
uint64_t lost_bytes(uint32_t since);

/* ---- shield.c */
/* What this process forks from now on can't signal it or its parent. Nor can itself. */
void shield_parents(void);

/* ---- concurrent.c */
/* The rest of a request for threads; does not return. */
void concurrent_run(const Player *player, Reader *r) __attribute__((noreturn));

/* ---- server.c */
/* All that the request has. */
void server_run(const Player *player);
/* The files that steps name, in the current folder. */
void server_give_files(const Player *player, const uint8_t *steps, const uint8_t *after);

#pragma GCC visibility pop
#endif
