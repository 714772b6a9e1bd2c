/*
 * concolic_int - what the files of the concolic runtime share.
 *
 *     sundew_region() ─▶ concolic_region.c    rows, one after the other
 *          │  values in registers ─▶ concolic.c          nodes and records of the log
 *          │  memory ─▶ concolic_shadow.c                labels of bytes, tags
 *          └─ symbolic addresses ─▶ concolic_address.c   objects, tables, pins, bugs
 *     standins, copies ─▶ concolic_standins.c
 *     malloc ─▶ concolic_alloc.c
 *
 * Everything here runs inside the subject, at any moment. It never calls the
 * subject's allocator and keeps errno. Entry points call sundew_concolic_enter() first, which
 * keeps threads apart and says no in a signal's handler that interrupted
 * the runtime itself: what the handler does is then concrete.
 */
#ifndef SUNDEW_CONCOLIC_INT_H
#define SUNDEW_CONCOLIC_INT_H
#include "runtime/heap/pages.h"
#include "runtime/concolic/concolic.h"
#include "runtime/concolic/alloc.h"
#include "runtime/format/concolic_log.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(hidden)

#define SUNDEW_HOT(x)  __builtin_expect(!!(x), 1)
#define SUNDEW_RARE(x) __builtin_expect(!!(x), 0)

typedef unsigned __int128 sundew_wide;

enum {
    SUNDEW_CACHE_BITS = 15,            /* of recent nodes, to find them again */
    SUNDEW_SITES = 1 << 22,            /* sites with a count of their own */
    SUNDEW_KEPT_TIMES = 8,             /* conjuncts of a site: so many budgets */
    SUNDEW_BUGS_PER_ROW = 8,
    SUNDEW_NOTES_PER_ROW = 1,          /* imprecisions */
    SUNDEW_TABLES_PER_ROW = 64,        /* different tables read */
    SUNDEW_TABLE_BYTES = 64 << 10,     /* a table that is read precisely */
    SUNDEW_CHOICES = 256,              /* … if elements are symbolic */
    SUNDEW_SHADOW_PAGES = 1 << 15,     /* most: 800 MiB */
};

/* ---- concolic.c: the log */

typedef struct SundewState {
    struct sundew_log *log;            /* NULL: no explorer, nothing is symbolic */
    struct sundew_node *nodes;
    struct sundew_record *records;
    uint8_t *bytes;
    uint32_t most_nodes, most_records, most_bytes, most_per_site, flags;
    uint32_t *cache;                   /* hash of a node ─▶ its number */
    uint64_t *held;                    /* a bit for each node: a conjunct already */
    uint32_t *sites;                   /* branches of each */
    uint8_t *rows;                     /* what each row has said, by a hash */
    bool ended, forked, no_bytes, told_thread, no_room;
    const void *owner;                 /* the thread that read the input first */
} SundewState;
extern SundewState sundew_state;

void sundew_concolic_open(void);       /* at start; does nothing without a log */
bool sundew_concolic_ready(void);      /* log, tags and tables are there */
bool sundew_concolic_enter(void);
void sundew_concolic_leave(void);

sundew_label sundew_const(unsigned bits, sundew_wide v);
/* A node as it is; found or added. 0: no room. */
sundew_label sundew_node(unsigned op, unsigned bits, unsigned k, uint32_t a, uint32_t b,
                         uint32_t c);
/* The same, simplified where that is cheap. May be a CONST. */
sundew_label sundew_extract(sundew_label a, unsigned low, unsigned bits);
sundew_label sundew_extend(unsigned op, sundew_label a, unsigned bits);
sundew_label sundew_concat(sundew_label high, sundew_label low);
sundew_label sundew_fit(sundew_label a, unsigned bits);      /* cut or zero-extended */

static inline unsigned sundew_bits(sundew_label l) { return sundew_state.nodes[l].bits; }
static inline bool sundew_is_const(sundew_label l)
{
    return l && sundew_state.nodes[l].op == SUNDEW_NODE_CONST;
}
/* 0 if it is a constant: values with labels depend on the input. */
static inline sundew_label sundew_unless_const(sundew_label l)
{
    return sundew_is_const(l) ? 0 : l;
}
static inline uint64_t sundew_const_value(sundew_label l)
{
    return sundew_state.nodes[l].a | (uint64_t)sundew_state.nodes[l].b << 32;
}
static inline sundew_wide sundew_mask(unsigned bits)
{
    return bits >= 128 ? ~(sundew_wide)0 : ((sundew_wide)1 << bits) - 1;
}
/* Labels come through registers and memory of the program. */
static inline sundew_label sundew_valid(sundew_label l)
{
    return SUNDEW_HOT(l < sundew_state.log->nodes) ? l : 0;
}

void sundew_record(unsigned kind, unsigned k, unsigned value, uint32_t node, uint32_t at,
                   uint32_t other);
/* The condition held (or not): a conjunct, unless it is one already. `settled`: nobody
 * needs to ask for the opposite. */
void sundew_branch(sundew_label cond, bool value, uint32_t at, uint32_t other, uint32_t site,
                   bool settled);
bool sundew_is_held(sundew_label cond);
bool sundew_site_is_new(uint32_t site);        /* its budget is not used up */
void sundew_pin_label(sundew_label l, sundew_wide value, unsigned why, uint32_t site);
bool sundew_may_ask(const void *row);          /* its budget of bug records is not used up */
void sundew_bug(unsigned kind, sundew_label cond, const void *row, uint32_t site);
void sundew_imprecise(unsigned why, const char *name, const void *row, uint32_t site);
/* n bytes in the log; their offset, or 0 if there is no room. */
uint32_t sundew_log_put(const void *bytes, uint32_t n);
/* Counts for this row and kind: true the first `most` times. */
bool sundew_first_times(const void *row, unsigned kind, unsigned most);

/* ---- concolic_shadow.c: memory. `seen` are the concrete bytes; n is at most 16 */

bool sundew_shadow_start(void);
void sundew_shadow_reset(void);
bool sundew_tagged(uint64_t at, uint64_t n);
bool sundew_shadow_any(uint64_t at, uint64_t n);       /* exactly: has a byte a label? */
/* The label of n bytes: 0 if all are concrete. */
sundew_label sundew_shadow_load(uint64_t at, unsigned n, const uint8_t *seen, uint32_t site);
void sundew_shadow_store(uint64_t at, unsigned n, const uint8_t *stored, sundew_label l);
void sundew_shadow_clear(uint64_t at, uint64_t n);
/* Byte by byte: its node and which byte of that; false: concrete. */
bool sundew_shadow_get(uint64_t at, uint8_t seen, sundew_label *l, uint8_t *k, uint32_t site);
uint8_t sundew_shadow_witness(uint64_t at);
void sundew_shadow_set(uint64_t at, uint8_t witness, sundew_label l, uint8_t k);

/* ---- concolic_address.c: symbolic addresses */

typedef struct SundewAccess {
    const struct sundew_row *row;
    sundew_label label;                /* of the address */
    uint64_t at;                       /* the address */
    unsigned n;                        /* bytes */
} SundewAccess;

void sundew_address_reset(void);
/* dst = base + index * scale */
sundew_label sundew_address(sundew_label base, uint64_t vbase, sundew_label index, unsigned from,
                            uint64_t vindex, uint64_t scale);
/* The array that the address stays in, if the weave knows it. */
void sundew_address_known(sundew_label l, uint64_t start, uint64_t size);
/* Is nothing in [from, to) written after this access, before the runtime is asked? */
typedef bool SundewCalm(void *arg, uint64_t from, uint64_t to);
/* True: `result` is what is read, for all addresses in the object. False: the address is
 * pinned, and what lies there is read. */
bool sundew_address_read(const SundewAccess *a, const uint8_t *seen, SundewCalm *calm, void *arg,
                         sundew_label *result);
/* `value` has the width of the access, and may be a CONST. What lies at the concrete
 * address itself is the caller's. */
void sundew_address_written(const SundewAccess *a, sundew_label value, SundewCalm *calm, void *arg);
/* A symbolic length for memory at `at`. */
void sundew_length(const void *at, sundew_label n, uint64_t vn, uint32_t site);

#pragma GCC visibility pop
#endif
