/*
 * monitor_int - what the files of the monitoring runtime share.
 *
 *     probes ─▶ stack (frames) ─▶ steps, walk (copies)     adapt: what may it cost
 *     wrappers ─▶ extents (which memory is allocated), signals (whose handlers)
 *     a failure ─▶ signals ─▶ dump ─▶ unwind, walk, streams ─▶ out (the file)
 *
 * Everything here runs inside the subject, at any moment, also in the middle
 * of its malloc or in a signal handler. So nothing takes a lock, calls malloc
 * or touches errno; memory comes from mmap; subject memory is read with
 * sundew_safe_copy() only.
 */
#ifndef SUNDEW_MONITOR_INT_H
#define SUNDEW_MONITOR_INT_H
#include "runtime/heap/pages.h"
#include "runtime/format/crashfile.h"
#include "runtime/monitor/monitor.h"
#include "runtime/format/tables.h"
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#pragma GCC visibility push(hidden)

#define SUNDEW_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SUNDEW_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SUNDEW_COLD        __attribute__((cold, noinline))

enum {
    SUNDEW_ARG_BUDGET = 4096,           /* bytes copied for one step */
    SUNDEW_FRAME_BUDGET = 64 << 10,     /* … for one frame at its entry */
    SUNDEW_STALE_MOST = 256,            /* frames kept after a longjmp */
    SUNDEW_LANES = 32,                  /* stacks that one thread runs on */
    SUNDEW_MAX_STEPS = 128,
    SUNDEW_STACK_DEPTH = 512,           /* return addresses in the file */
};

/* ---- safecopy: reading memory that may not be there */

/* Returns how many bytes, from the first on, could be read. */
size_t sundew_safe_copy(void *to, uint64_t from, size_t n);
/* The program counter stands in a copy: makes it return short instead. */
bool sundew_safe_copy_faulted(void *ucontext);
/* Our handlers are installed, so that a copy may fault. Else system calls read. */
extern volatile int sundew_may_fault;
uint64_t sundew_read_word(uint64_t address);          /* 0 if unreadable */

/* ---- extents: which memory is allocated, and was */

typedef struct SundewExtent {
    uint64_t start, size;
    bool freed;
} SundewExtent;

extern int sundew_tracking;            /* off: allocations are not noted */
extern int sundew_fills;                /* on: new memory says that nobody wrote it */
void sundew_extent_malloc(void *p, size_t n);
void sundew_extent_free(void *p);
/* What alloc.c tells; each runtime has its own: these two, and what it needs besides
 * (freed.c, record_alloc.c, concolic_alloc.c). */
void sundew_note_malloc(void *p, size_t n);
void sundew_note_free(void *p);
/* The heap object that an address lies in or ends before. */
bool sundew_extent_at(uint64_t address, SundewExtent *e);
/* The same, quickly: knows only objects that begin less than 1 KiB before. */
bool sundew_extent_near(uint64_t address, SundewExtent *e);
/* An object begins there: true at once, never for large ones. */
bool sundew_extent_starts(const void *p);
/* The object, of a size that is copied whole, that ends just before it. */
bool sundew_extent_behind(uint64_t address, SundewExtent *e);
/* The string of main()'s argv that it lies in, as long as that was at the start. */
bool sundew_argument_at(uint64_t address, SundewExtent *e);
/* The same for variables; the row in sundew_tables.globals. */
const SundewGlobal *sundew_global_at(uint64_t address);
const SundewGlobal *sundew_global_numbered(uint32_t number);   /* or NULL */
/* The row whose code an address lies in, as far as one can tell; -1. */
long sundew_row_at(uint64_t pc);

/* ---- stack: the frames of the functions that run */

/*
 * A frame as it lies in a lane's arena; its copies follow the slots and the
 * addresses of locals.
 */
typedef struct SundewFrame {
    uint64_t sp;
    uint32_t row;
    uint8_t flags;                     /* SUNDEW_FRAME_… */
    uint8_t offs;                      /* SundewRow.offs at the entry */
    uint16_t nstale;                   /* stale frames beneath */
    uint32_t prev;                     /* the frame beneath, stale or not; 0 */
    uint32_t below;                    /* the frame of the caller; 0 */
    uint32_t size;                     /* with slots and copies */
    uint32_t ncopies;
    uint32_t freed;                    /* objects that the thread had freed */
    uint32_t pad2;
    uint64_t slots[];
} SundewFrame;

typedef struct SundewCopy {
    uint64_t address;                  /* of the first byte here */
    uint32_t size;
    uint32_t type;
    uint32_t from;                     /* that byte's place in the type */
    uint32_t pad;
    uint8_t bytes[];                   /* padded to 8 */
} SundewCopy;

/* One stack that a thread runs on: its own, the alternate one, a coroutine's.
 * Frames lie one behind the other from base + 16 to base + top. */
typedef struct SundewLane {
    uint64_t lo, span;                 /* the stack's addresses */
    uint8_t *base;
    uint32_t cap, top;
    uint32_t last;                     /* the uppermost frame; 0 */
    uint32_t live;                     /* the uppermost that is not stale; 0 */
    uint32_t nstale;
    uint32_t used;                     /* of the thread's clock, to reuse the oldest */
} SundewLane;

/* The first bytes of a freed object, before the allocator has it. */
typedef struct SundewHead {
    uint64_t address;
    uint8_t bytes[16];
} SundewHead;
enum { SUNDEW_HEADS = 256 };           /* a power of two */

typedef struct SundewThread {
    SundewLane *lane;                  /* the one it ran on last */
    uint64_t busy;                     /* sp of the frame that is being filled; 0 */
    uint32_t events;                   /* entries, for sampling */
    uint32_t clock;
    int64_t tokens;                    /* adapt: ticks that it may still cost */
    uint64_t seen;                     /* adapt: when that was worked out */
    uint64_t earned;                   /* adapt: ticks it ran that no look has counted */
    struct SundewThread *next;
    volatile int taken;
    int tid;
    uint8_t blocked;                   /* signals that the program blocked */
    uint8_t own_stack;                 /* the alternate stack is ours */
    uint8_t in_dump;
    stack_t alternate;                 /* what the program set */
    void *stack;                       /* ours: SUNDEW_ALT_SIZE bytes */
    sigjmp_buf *guard;                 /* where a fault while dumping goes on */
    const char *said;                  /* text of a failed assertion */
    uint64_t told_pc, told_sp;         /* where a signal came that a file tells of; 0 */
    void *(*routine)(void *);
    void *arg;
    SundewLane lanes[SUNDEW_LANES];
    uint32_t nlanes;
    uint32_t nfreed;                   /* objects; the last are in heads[] */
    SundewHead heads[SUNDEW_HEADS];
} SundewThread;

enum { SUNDEW_ALT_SIZE = 128 << 10, SUNDEW_ALT_ENOUGH = 64 << 10 };

extern _Thread_local SundewThread *sundew_self __attribute__((tls_model("initial-exec")));
extern SundewThread *volatile sundew_threads;
SundewThread *sundew_thread(void);                    /* NULL: no memory */
SundewThread *sundew_thread_take(void);               /* one that nobody uses */
void sundew_thread_begin(SundewThread *t);            /* is this one now */
void sundew_thread_key(void);                         /* at start */
SundewLane *sundew_lane_at(SundewThread *t, uint64_t sp);   /* made if need be */

enum { SUNDEW_FIRST_FRAME = 16 };      /* its offset in a lane */
static inline SundewFrame *sundew_frame_at(const SundewLane *l, uint32_t offset)
{
    return (SundewFrame *)(void *)(l->base + offset);
}
static inline SundewCopy *sundew_first_copy(const SundewFrame *f)
{
    const SundewFunction *fn = &sundew_tables.functions[f->row];
    return (SundewCopy *)(void *)(f->slots + fn->nslots + fn->nlocals);
}
static inline SundewCopy *sundew_next_copy(const SundewCopy *c)
{
    return (SundewCopy *)(void *)(c->bytes + ((c->size + 7) & ~7u));
}
/* Appends a copy to the frame on top; returns how many bytes there were, or 0. */
size_t sundew_add_copy(SundewLane *l, SundewFrame *f, uint64_t address, size_t n, uint32_t type,
                       uint32_t from);
/* The local of a frame of this lane that an address lies in: its extent. */
bool sundew_local_at(const SundewLane *l, uint64_t address, unsigned frames, SundewExtent *e,
                     uint32_t *type);

/* ---- steps, walk: what is copied and followed */

void sundew_copy_steps(SundewLane *l, SundewFrame *f);
void sundew_copy_deep(SundewLane *l, SundewFrame *f);

typedef struct SundewObject {
    uint64_t address, size;            /* the whole object */
    uint64_t offset, kept;             /* the part that is kept */
    uint64_t at;                       /* something of the type lies here */
    uint32_t place, type, variable;
} SundewObject;

/* ---- freed: what lay in objects when they were freed */

/* The object that was freed at the address last; NULL: too long ago. *number:
 * how many the thread had freed before it. */
const SundewHead *sundew_head_of(const SundewThread *t, uint64_t address, uint32_t *number);

typedef struct SundewItem {
    uint64_t address;
    uint32_t type;
    uint32_t sure;                     /* 0: perhaps no pointer */
} SundewItem;

typedef struct SundewWalk SundewWalk;
struct SundewWalk {
    SundewItem *queue;                 /* capacities are powers of two */
    uint32_t head, tail, nqueue;
    uint64_t *seen;
    uint32_t nseen, seen_count;
    uint64_t budget;                   /* bytes */
    bool cut;
    const SundewLane *lane;            /* whose locals are known */
    unsigned frames;                   /* how many frames to look at for them */
    bool at_dump;                      /* mappings are known, windows are kept */
    /* An object was met for the first time (with this type). Returns whether
     * to follow its pointers. */
    bool (*met)(SundewWalk *w, const SundewObject *o);
    /* Reads n bytes from `at` on in an object; NULL: as they lie there. */
    size_t (*read)(const SundewObject *o, uint64_t at, uint8_t *to, size_t n);
    void (*foreign)(SundewWalk *w, uint64_t address, uint32_t type);
    void *arg;
};

void sundew_walk_add(SundewWalk *w, uint64_t address, uint32_t type, bool sure);
/* Adds the pointers in `n` bytes at `bytes`, the first being `from` bytes into
 * an array of `type`. */
void sundew_walk_bytes(SundewWalk *w, const uint8_t *bytes, size_t n, uint32_t type, uint64_t from);
void sundew_walk_run(SundewWalk *w);
bool sundew_walk_first_time(SundewWalk *w, uint64_t address, uint32_t type);
void sundew_walk_frame(SundewWalk *w, const SundewFrame *f);   /* its arguments */
static inline const SundewType *sundew_type(uint32_t number)
{
    return number && number < sundew_tables.ntypes ? &sundew_tables.types[number] : NULL;
}

/* ---- maps: what the kernel says of the address space */

typedef struct SundewMap {
    uint64_t lo, hi;
    uint8_t readable, writable, executable, file;
} SundewMap;
bool sundew_map_at(uint64_t address, SundewMap *m);   /* reads /proc */
/* Calls `line` for each mapping, with its text. */
void sundew_maps(bool (*line)(const SundewMap *m, const char *text, size_t n, void *arg),
                 void *arg);
/* At a dump the table is read once, and asked from then on. */
bool sundew_maps_load(void);
const SundewMap *sundew_map_find(uint64_t address);

/* ---- unwind: the machine's stack */

/* Return addresses, pc first, and the stack pointer in each of these frames.
 * `context` is NULL for the frames above `sp` of our own stack. *sure is false
 * if the stack could not be unwound and was searched. */
typedef struct SundewCall {
    uint64_t pc, sp;
} SundewCall;
unsigned sundew_unwind(SundewThread *t, void *context, uint64_t sp, SundewCall *out, unsigned most,
                       bool *sure);
/* Where a signal came. */
SundewCall sundew_unwind_from(const void *context);
void sundew_unwind_prime(void);

/* ---- out: the file */

typedef struct SundewOut {
    int fd;
    bool broken;
    uint64_t size, limit;
    uint32_t open;                     /* bytes that the record still takes */
    uint32_t pad;
    uint32_t n;
    char path[1200], part[1210];
    uint8_t buffer[8192];
} SundewOut;

bool sundew_out_open(SundewOut *o);
/* A record of exactly `length` bytes; false if the file can't take it. */
bool sundew_out_record(SundewOut *o, uint32_t tag, size_t length);
void sundew_out_bytes(SundewOut *o, const void *bytes, size_t n);
void sundew_out_flush(SundewOut *o);
void sundew_out_close(SundewOut *o);   /* renames it into place */
char *sundew_text_number(char *to, uint64_t n);       /* returns its end */

/* ---- dump, signals */

typedef struct SundewCause {
    uint32_t kind;
    int signal;
    siginfo_t *info;                   /* or NULL */
    void *context;                     /* ucontext_t, or NULL */
    const char *text;                  /* or NULL */
    uint64_t sp;                       /* if there is no context */
} SundewCause;

void sundew_dump_failure(const SundewCause *cause);
void sundew_signals_start(void);
/* Puts our handlers back if others stand in their place; did any? */
bool sundew_signals_check(void);
void sundew_signals_thread(SundewThread *t);          /* alternate stack */

/* ---- streams: FILE objects */

bool sundew_is_stream(uint64_t address);
void sundew_out_stream(SundewOut *o, uint64_t address);

/* ---- adapt: what may it cost */

typedef struct SundewRow {
    uint32_t entries;                  /* since the last look */
    uint32_t copying;                  /* ticks, estimated from samples */
    uint8_t backoff;
    uint8_t early;                     /* entries with all variables copied; it stops counting */
    uint8_t offs;                      /* how often it was turned off; begins anew */
    uint64_t until;                    /* when it gets another chance; 0 */
} SundewRow;

extern SundewRow *sundew_rows;         /* one a row; NULL: no limit */
extern uint8_t sundew_on;              /* the mode that a row has when it is on */
uint64_t sundew_ticks(void);
/* Was its function turned off since the entry? Then it was left without a word (see monitor.h). */
bool sundew_turned_off(const SundewFrame *f);
void sundew_adapt_start(void);
void sundew_adapt_tick(SundewThread *t);
enum {
    SUNDEW_SAMPLE = 16,                /* every so many entries are measured */
    SUNDEW_ENTRY_TICKS = 90,           /* of an entry and its end, without copies */
};

/* ---- chance, start */

void sundew_chance_load(void);
/* Adds the functions of a stack to the list. */
void sundew_chance_add(const SundewCall *stack, unsigned n);

typedef struct SundewSettings {
    bool started, off, verbose;
    uint32_t size;                     /* MiB of memory in a file, a power of 2 */
    char dir[1024];                    /* SUNDEW_CRASH_DIR; "" */
    char tmp[1024];                    /* TMPDIR; "" */
    char chance[1024];                 /* the list; "": none */
    uint64_t argv, nargv;              /* where main()'s argv lies, and its bytes */
    uint64_t text, ntext;              /* its strings, one behind the other */
    const char *text_before;           /* …as they were: a program may cut them up */
} SundewSettings;
extern SundewSettings sundew_settings;

#pragma GCC visibility pop
#endif
