/*
 * tags - who was written through: what the weave of tags (src/weave/tags.c) calls.
 *
 * While a function runs, each of its wanted pointer parameters is a tag. Every
 * pointer has a set of tags: those of the parameters it was derived from. A set
 * is a number, 0 being the empty one; the number of a pointer travels beside it:
 *
 *     in registers    a 32-bit value of the woven function
 *     in memory       an entry of a table, found by the address
 *     in calls        thread-local slots, good only if caller and callee agree
 *
 * A write tells the tags of its address. Nothing is swept at a return: a tag is
 * (thread, depth of the frame, parameter, level), a stored set carries the time
 * of the store, and a frame the time of its entry; a set that is loaded loses
 * the tags of frames that are gone or began later. Numbers in registers thus name
 * living frames only. Since a verdict doesn't depend on the call, a set holds a
 * parameter once for each level, that of the outermost call.
 *
 * Whatever does not fit (depth, size, memory, a torn entry) is dropped: a tag can
 * get lost, but never appears where it doesn't belong.
 *
 * Level: how many pointers were followed from the parameter, 3 for more.
 *
 * Environment:
 *     SUNDEW_TAGS=DIR         DIR/observed: "FUNCTION INDEX LEVEL LINE FILE\tSTACK"
 *                             for each parameter written; DIR/counts at the end:
 *                             "FUNCTION CALLS COVERED BLOCKS"; of an enforcing program
 *                             DIR/checked at the end: "FUNCTION INDEX" for each
 *                             parameter that had a tag, "= WRITES DROPPED" for how
 *                             many writes were looked at and how many sets of tags
 *                             did not fit
 *     SUNDEW_ENFORCE=log      an enforcing program goes on after a violation
 */
#ifndef SUNDEW_TAGS_H
#define SUNDEW_TAGS_H
#include <stddef.h>
#include <stdint.h>

enum {
    TAGS_ARGS = 16,
    TAGS_RESULTS = 4,
    TAGS_COPIES = 16,
    TAGS_STATES = 64,
    TAGS_LEVELS = 4,
    TAGS_MOST = 24,              /* in a set */
    TAGS_DEPTH = 0xffff,         /* frames that are told apart */
};

/* ---- tables, written by the weave */
typedef struct SundewTagParam {
    const char *function;        /* its symbol; odd bytes as %XX */
    const char *name;
    uint32_t index;
    uint32_t claim;              /* 0: to be observed, 1: claimed, 2: declared const */
} SundewTagParam;

typedef struct SundewTagSite {
    const char *file;
    const char *function;
    uint64_t line;
} SundewTagSite;

typedef struct SundewTagFunction {
    const char *function;
    uint32_t first_block, nblocks;
} SundewTagFunction;

typedef struct SundewTagTables {
    const SundewTagParam *params;
    const SundewTagSite *sites;
    const SundewTagFunction *functions;
    uint8_t *on;                 /* for each parameter: the levels of interest, and */
    uint64_t *calls;             /* for each function; NULL: not counted */
    uint8_t *blocks;
    uint64_t nparams, nfunctions;
} SundewTagTables;
enum { TAGS_ON = 0x0f, TAGS_USED = 0x80 };       /* … that it had a tag */
extern const SundewTagTables sundew_tag_tables;

/* ---- state that the small functions below use */
typedef struct SundewTagEntry {
    uint64_t word;               /* check of address, value, time; number of a set */
    uint64_t time;
} SundewTagEntry;

typedef struct SundewTagFrame {
    uint64_t start;
    uint64_t function;
} SundewTagFrame;

typedef struct SundewTagThread {
    uint64_t callee, from;       /* whom arg[] is for, whom result[] is from */
    uint32_t depth, limit, base;
    uint32_t arg[TAGS_ARGS];
    uint32_t result[TAGS_RESULTS];
    const void *copy[TAGS_COPIES];   /* structs that are passed: where they are */
    uint32_t copied[TAGS_COPIES];
    uint64_t clock;              /* even: nothing was stored since the last entry */
    uint64_t writes;             /* that were looked at */
    SundewTagFrame *frames;
    struct SundewTagState *state;
} SundewTagThread;
extern _Thread_local SundewTagThread sundew_tags __attribute__((tls_model("initial-exec")));
extern SundewTagEntry *sundew_tag_table;
extern uint64_t sundew_tag_mask;

/* ---- what is not inlined. pure: the same set whenever it is asked for, so a number that
 * nobody needs is not made. */
void sundew_tags_start(void);
uint32_t sundew_tags_enter_slow(uint32_t fn);
uint32_t sundew_tags_add(uint32_t set, uint32_t slot, uint32_t what) __attribute__((pure));
uint32_t sundew_tags_join_slow(uint32_t a, uint32_t b) __attribute__((pure));
uint32_t sundew_tags_load_slow(const void *at, uint32_t set, uint64_t value) __attribute__((pure));
void sundew_tags_store_slow(const void *at, uint64_t value, uint32_t set);
void sundew_tags_write_slow(uint32_t set, uint32_t site);
uint32_t sundew_tags_strip_slow(uint32_t set, uint32_t slot) __attribute__((pure));
uint32_t sundew_tags_deeper(uint32_t set) __attribute__((pure));

/* ---- what the weave calls */
/* A function begins: its slot, 0 if it is too deep. */
uint32_t sundew_tags_enter(uint32_t fn);
void sundew_tags_leave(uint32_t slot);
/* setjmp() returned, perhaps from far below. */
void sundew_tags_landed(uint32_t slot);
/* Are arg[] for this function, which has a number or an address? */
uint32_t sundew_tags_called(uint64_t number, uint64_t address);
uint32_t sundew_tags_arg(uint32_t called, uint32_t k);
/* A formal parameter's set: with its own tag. */
uint32_t sundew_tags_formal(uint32_t set, uint32_t slot, uint32_t param, uint32_t level);
void sundew_tags_copied(uint32_t called, uint32_t k, void *to, uint64_t n);
void sundew_tags_call(uint64_t callee);
void sundew_tags_pass(uint32_t k, uint32_t set);
void sundew_tags_pass_copy(uint32_t k, const void *from, uint32_t set);
void sundew_tags_return(uint64_t self, uint32_t slot, uint32_t k, uint32_t set);
uint32_t sundew_tags_result(uint64_t callee, uint32_t k);
uint32_t sundew_tags_load(const void *at, uint32_t set, uint64_t value);
void sundew_tags_store(const void *at, uint64_t value, uint32_t set);
void sundew_tags_write(uint32_t set, uint32_t site);
void sundew_tags_write_n(uint32_t set, uint64_t n, uint32_t site);
uint32_t sundew_tags_join(uint32_t a, uint32_t b);
/* Bytes were copied, pointers and all; `set` is that of `from`. */
void sundew_tags_move(void *to, const void *from, uint64_t n, uint32_t set);
/* A library function put a pointer there. */
void sundew_tags_out(void *at, uint32_t set);
/* … or remembers one: strtok(). */
void sundew_tags_keep(uint32_t state, uint32_t set);
uint32_t sundew_tags_kept(uint32_t state);
void sundew_tags_va_start(void *list, uint32_t *sets, uint32_t n);
void *sundew_tags_realloc(void *p, size_t n);
void *sundew_tags_reallocarray(void *p, size_t m, size_t n);

/* ---- for tests of the sets */
uint32_t sundew_tags_size(uint32_t set);
int sundew_tags_has(uint32_t set, uint32_t param, uint32_t level);
#endif
