/* tags - see tags.h. What a woven program calls often stands first, and is
 * inlined there; then sets, threads, memory, and what is told. */
#include "runtime/heap/pages.h"
#include "runtime/tags/tags.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __clang__                 /* which compiles what is linked into programs */
#define INLINED __attribute__((always_inline))
#else
#define INLINED
#endif
#define COLD      __attribute__((noinline, cold))
#define OUT       __attribute__((noinline))
#define likely(x) __builtin_expect(!!(x), 1)

enum {
    TABLE_BITS = 24,
    NODE_BITS = 20,
    HEAD_BITS = 18,
    MEMO_BITS = 10,
    NODES = 1 << NODE_BITS,
    HEADS = 1 << HEAD_BITS,
    MEMOS = 1 << MEMO_BITS,
    THREADS = 0xffff,
};

/* A set: its innermost tag, and the rest. Each exists once. */
typedef struct Node {
    uint32_t slot, what;         /* thread and depth; parameter and level */
    uint32_t rest, next;         /* … of the hash chain */
    uint32_t deeper;             /* the same tags, a pointer further; memo */
    uint32_t size;
} Node;

typedef struct Memo {
    uint32_t a, b, c, out;
} Memo;

typedef struct Kept {
    uint32_t set;
    uint64_t time;
} Kept;

typedef struct SundewTagState {
    struct SundewTagState *next;     /* free ones */
    uint32_t base;
    uint64_t clock;
    Memo adds[MEMOS], joins[MEMOS];
    Kept kept[TAGS_STATES];
    SundewTagFrame frames[TAGS_DEPTH + 1];
} State;

static SundewTagEntry nowhere[1];
SundewTagEntry *sundew_tag_table = nowhere;
uint64_t sundew_tag_mask;
_Thread_local SundewTagThread sundew_tags __attribute__((tls_model("initial-exec")));

static Node *nodes;              /* [0] is the empty set */
static uint32_t *heads;
static uint32_t nnodes = 1;
static char lock;                /* of the sets and the states */
static State *idle;
static uint32_t nstates;
static pthread_key_t at_exit_of_thread;
static char folder[PATH_MAX];
static char only_logs;
static uint64_t writes;          /* of threads that ended */
static uint64_t dropped;         /* sets that a tag is missing in */

/* ---- small and inlined */

static inline INLINED SundewTagEntry *entry_of(const void *at)
{
    return &sundew_tag_table[((uintptr_t)at >> 3) & sundew_tag_mask];
}

INLINED uint32_t sundew_tags_enter(uint32_t fn)
{
    SundewTagThread *t = &sundew_tags;
    uint32_t d = t->depth + 1;
    if (!likely(d < t->limit))
        return sundew_tags_enter_slow(fn);
    t->depth = d;
    t->clock = (t->clock + 1) & ~1ULL;
    t->frames[d].start = t->clock;
    t->frames[d].function = fn;
    return t->base | d;
}

INLINED void sundew_tags_leave(uint32_t slot)
{
    if (likely(slot))
        sundew_tags.depth = (slot & TAGS_DEPTH) - 1;
}

INLINED void sundew_tags_landed(uint32_t slot)
{
    if (slot)
        sundew_tags.depth = slot & TAGS_DEPTH;
    sundew_tags.callee = 0;
}

INLINED uint32_t sundew_tags_called(uint64_t number, uint64_t address)
{
    uint64_t callee = sundew_tags.callee;
    sundew_tags.callee = 0;
    return callee == number || (address && callee == address);
}

INLINED uint32_t sundew_tags_arg(uint32_t called, uint32_t k)
{
    return called ? sundew_tags.arg[k] : 0;
}

INLINED uint32_t sundew_tags_formal(uint32_t set, uint32_t slot, uint32_t param, uint32_t level)
{
    uint8_t *on = &sundew_tag_tables.on[param];
    if (!slot || !(*on & TAGS_ON))
        return set;
    if (!likely(*on & TAGS_USED))
        *on |= TAGS_USED;
    return sundew_tags_add(set, slot, param << 2 | level);
}

INLINED void sundew_tags_copied(uint32_t called, uint32_t k, void *to, uint64_t n)
{
    if (called)
        sundew_tags_move(to, sundew_tags.copy[k], n, sundew_tags.copied[k]);
}

INLINED void sundew_tags_call(uint64_t callee) { sundew_tags.callee = callee; }

INLINED void sundew_tags_pass(uint32_t k, uint32_t set) { sundew_tags.arg[k] = set; }

INLINED void sundew_tags_pass_copy(uint32_t k, const void *from, uint32_t set)
{
    sundew_tags.copied[k] = set;
    sundew_tags.copy[k] = from;
}

INLINED void sundew_tags_return(uint64_t self, uint32_t slot, uint32_t k, uint32_t set)
{
    sundew_tags.from = self;
    sundew_tags.result[k] = likely(!set) || !slot ? set : sundew_tags_strip_slow(set, slot);
}

INLINED uint32_t sundew_tags_result(uint64_t callee, uint32_t k)
{
    return sundew_tags.from == callee ? sundew_tags.result[k] : 0;
}

INLINED uint32_t sundew_tags_load(const void *at, uint32_t set, uint64_t value)
{
    if (likely(!((uint32_t)entry_of(at)->word | set)))
        return 0;
    return sundew_tags_load_slow(at, set, value);
}

INLINED void sundew_tags_store(const void *at, uint64_t value, uint32_t set)
{
    if (!likely(!((uint32_t)entry_of(at)->word | set)))
        sundew_tags_store_slow(at, value, set);
}

INLINED void sundew_tags_write(uint32_t set, uint32_t site)
{
    sundew_tags.writes++;
    if (!likely(!set))
        sundew_tags_write_slow(set, site);
}

INLINED void sundew_tags_write_n(uint32_t set, uint64_t n, uint32_t site)
{
    sundew_tags.writes++;
    if (!likely(!set) && n)
        sundew_tags_write_slow(set, site);
}

INLINED uint32_t sundew_tags_join(uint32_t a, uint32_t b)
{
    if (likely(!b || a == b))
        return a;
    return a ? sundew_tags_join_slow(a, b) : b;
}

/* ---- sets */

static uint64_t mix(uint64_t x)
{
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

static int take_lock(void)
{
    for (int i = 0; i < 10000; i++)
        if (!__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
            return 1;
    return 0;                    /* a signal's handler, or a child of fork() */
}

static void give_lock(void) { __atomic_clear(&lock, __ATOMIC_RELEASE); }

static uint32_t find(uint32_t head, uint32_t slot, uint32_t what, uint32_t rest)
{
    for (uint32_t i = __atomic_load_n(&heads[head], __ATOMIC_ACQUIRE); i; i = nodes[i].next)
        if (nodes[i].slot == slot && nodes[i].what == what && nodes[i].rest == rest)
            return i;
    return 0;
}

/* The set of `rest` and this tag, which is further in than all of them. */
static uint32_t node(uint32_t slot, uint32_t what, uint32_t rest)
{
    if (!nodes)
        return 0;
    uint32_t head = mix(((uint64_t)slot << 32 | what) ^ mix(rest)) >> 20 & (HEADS - 1);
    uint32_t i = find(head, slot, what, rest);
    if (i)
        return i;
    if (nodes[rest].size >= TAGS_MOST || !take_lock()) {
        __atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
        return rest;
    }
    i = find(head, slot, what, rest);
    if (!i && nnodes < NODES) {
        i = nnodes++;
        nodes[i] = (Node){ .slot = slot,
                           .what = what,
                           .rest = rest,
                           .next = heads[head],
                           .size = nodes[rest].size + 1 };
        __atomic_store_n(&heads[head], i, __ATOMIC_RELEASE);
    }
    dropped += !i;
    give_lock();
    return i ? i : rest;
}

static int has_what(uint32_t set, uint32_t what)
{
    for (; set; set = nodes[set].rest)
        if (nodes[set].what == what)
            return 1;
    return 0;
}

static Memo *memo_of(Memo *memos, uint32_t a, uint32_t b, uint32_t c)
{
    return &memos[mix((uint64_t)a << 32 ^ (uint64_t)b << 16 ^ c) >> 24 & (MEMOS - 1)];
}

static COLD uint32_t add_slow(Memo *m, uint32_t set, uint32_t slot, uint32_t what)
{
    uint32_t out = has_what(set, what) ? set : node(slot, what, set);
    *m = (Memo){ set, slot, what, out };
    return out;
}

OUT uint32_t sundew_tags_add(uint32_t set, uint32_t slot, uint32_t what)
{
    State *s = sundew_tags.state;
    if (!s)
        return set;
    Memo *m = memo_of(s->adds, set, slot, what);
    if (likely(m->a == set && m->b == slot && m->c == what))
        return m->out;
    return add_slow(m, set, slot, what);
}

/* Innermost first; in a frame, the greater number first. */
static int is_before(const Node *a, const Node *b)
{
    return a->slot != b->slot ? a->slot > b->slot : a->what > b->what;
}

static uint32_t merge(uint32_t a, uint32_t b)
{
    uint32_t slots[2 * TAGS_MOST], whats[2 * TAGS_MOST], n = 0, out = 0;
    while (a || b) {
        const Node *t = !b || (a && is_before(&nodes[a], &nodes[b])) ? &nodes[a] : &nodes[b];
        if (t == &nodes[a])
            a = t->rest;
        else
            b = t->rest;
        if (n < 2 * TAGS_MOST)
            slots[n] = t->slot, whats[n++] = t->what;
    }
    while (n--)
        if (!has_what(out, whats[n]))
            out = node(slots[n], whats[n], out);
    return out;
}

OUT uint32_t sundew_tags_join_slow(uint32_t a, uint32_t b)
{
    if (a > b) {
        uint32_t c = a;
        a = b;
        b = c;
    }
    if (!a || a == b)
        return b;
    State *s = sundew_tags.state;
    if (!s)
        return 0;
    Memo *m = memo_of(s->joins, a, b, 0);
    if (m->a == a && m->b == b)
        return m->out;
    uint32_t out = merge(a, b);
    *m = (Memo){ a, b, 0, out };
    return out;
}

/* One pointer further. What nobody asks about any more is left out. */
static uint32_t make_deeper(uint32_t set)
{
    uint32_t slots[TAGS_MOST], whats[TAGS_MOST], n = 0, out = 0;
    for (uint32_t i = set; i; i = nodes[i].rest) {
        uint32_t what = nodes[i].what;
        if (!(sundew_tag_tables.on[what >> 2] & TAGS_ON & ~1u))
            continue;
        slots[n] = nodes[i].slot;
        whats[n++] = (what & 3) == 3 ? what : what + 1;
    }
    while (n--)
        if (!has_what(out, whats[n]))
            out = node(slots[n], whats[n], out);
    return out;
}

uint32_t sundew_tags_deeper(uint32_t set)
{
    uint32_t d = nodes[set].deeper;
    if (!d && set) {
        d = make_deeper(set);
        nodes[set].deeper = d + 1;
        return d;
    }
    return set ? d - 1 : 0;
}

OUT uint32_t sundew_tags_strip_slow(uint32_t set, uint32_t slot)
{
    while (set && nodes[set].slot >= slot)
        set = nodes[set].rest;
    return set;
}

uint32_t sundew_tags_size(uint32_t set) { return nodes ? nodes[set].size : 0; }

int sundew_tags_has(uint32_t set, uint32_t param, uint32_t level)
{
    return has_what(set, param << 2 | level);
}

/* ---- threads */

/* The clock of a thread goes on in the next thread that gets its state: no tag
 * that is still in memory seems alive there. */
static void thread_ends(void *arg)
{
    State *s = arg;
    SundewTagThread *t = &sundew_tags;
    s->clock = (t->clock + 2) | 1;
    __atomic_fetch_add(&writes, t->writes, __ATOMIC_RELAXED);
    t->writes = 0;
    t->limit = t->depth = 0;
    t->frames = NULL;
    t->state = NULL;
    if (take_lock()) {
        s->next = idle;
        idle = s;
        give_lock();
    }
}

static State *new_state(void)
{
    State *s = NULL;
    uint32_t number = 0;
    if (!nodes || !take_lock())
        return NULL;
    if (idle) {
        s = idle;
        idle = s->next;
    } else if (nstates < THREADS) {
        number = ++nstates;
    }
    give_lock();
    if (!s && number && (s = sundew_pages(sizeof *s))) {
        s->base = number << 16;
        s->clock = 2;
    }
    return s;
}

COLD uint32_t sundew_tags_enter_slow(uint32_t fn)
{
    SundewTagThread *t = &sundew_tags;
    if (t->limit)
        return 0;                /* too deep */
    int kept = errno;
    State *s = new_state();
    if (s) {
        t->state = s;
        t->frames = s->frames;
        t->base = s->base;
        t->clock = s->clock;
        t->depth = 0;
        t->limit = TAGS_DEPTH;
        pthread_setspecific(at_exit_of_thread, s);
    }
    errno = kept;
    return s ? sundew_tags_enter(fn) : 0;
}

/* ---- memory */

static uint64_t check_of(const void *at, uint64_t value, uint64_t time)
{
    return mix((uintptr_t)at + mix(value + mix(time))) & ~0xffffffffULL;
}

/* What of a stored set is alive: a frame's tags are if it began before. Of the
 * frames that are alive the outer ones began earlier, so the first one settles it. */
static uint32_t living(uint32_t set, uint64_t time)
{
    const SundewTagThread *t = &sundew_tags;
    for (; set; set = nodes[set].rest) {
        uint32_t slot = nodes[set].slot, d = slot & TAGS_DEPTH;
        if ((slot & ~(uint32_t)TAGS_DEPTH) != t->base || !t->frames)
            return 0;
        if (d <= t->depth && t->frames[d].start <= time)
            return set;
    }
    return 0;
}

static uint32_t set_at(const void *at, uint64_t value, uint64_t *time)
{
    const SundewTagEntry *e = entry_of(at);
    uint64_t word = e->word, t = e->time;
    if (!(uint32_t)word || (word & ~0xffffffffULL) != check_of(at, value, t))
        return 0;
    *time = t;
    return (uint32_t)word;
}

OUT uint32_t sundew_tags_load_slow(const void *at, uint32_t set, uint64_t value)
{
    uint64_t time = 0;
    uint32_t stored = set_at(at, value, &time);
    if (stored)
        stored = living(stored, time);
    if (set)
        set = sundew_tags_deeper(set);
    if (!set || !stored || set == stored)
        return set ? set : stored;
    return sundew_tags_join_slow(set, stored);
}

static void put(const void *at, uint64_t value, uint32_t set, uint64_t time)
{
    SundewTagEntry *e = entry_of(at);
    e->word = 0;
    if (set) {
        e->time = time;
        e->word = check_of(at, value, time) | set;
    }
}

OUT void sundew_tags_store_slow(const void *at, uint64_t value, uint32_t set)
{
    if (set)
        sundew_tags.clock |= 1;
    put(at, value, set, sundew_tags.clock);
}

/* Could it be a pointer? No text is. */
static int is_address(uint64_t value) { return value >= 4096 && value >> 47 == 0; }

/* One word of it. Numbers in the table keep their time: the frames that they name
 * are the same; with those of `set`, which live now, it is now. */
static void move_word(char *to, const char *from, uint32_t set)
{
    uint64_t value, time = 0;
    memcpy(&value, to, 8);       /* the bytes are there already */
    uint32_t stored = set_at(from, value, &time);
    if (set && is_address(value))
        sundew_tags_store_slow(to, value, sundew_tags_join_slow(set, living(stored, time)));
    else
        put(to, value, stored, time);
}

OUT void sundew_tags_move(void *to, const void *from, uint64_t n, uint32_t set)
{
    uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (a == b || ((a ^ b) & 7) || n < 8 || !sundew_tag_mask)
        return;
    uint64_t skip = -a & 7, count = n < skip ? 0 : (n - skip) / 8;
    char *d = (char *)to + skip;
    const char *s = (const char *)from + skip;
    int backwards = a > b && a < b + n;
    if (set)
        set = sundew_tags_deeper(set);
    for (uint64_t k = 0; k < count; k++) {
        uint64_t i = 8 * (backwards ? count - 1 - k : k);
        if (!likely(!((uint32_t)entry_of(d + i)->word | (uint32_t)entry_of(s + i)->word | set)))
            move_word(d + i, s + i, set);
    }
}

void sundew_tags_out(void *at, uint32_t set)
{
    uint64_t value;
    if (!at)
        return;
    memcpy(&value, at, 8);
    sundew_tags_store(at, value, set);
}

void sundew_tags_keep(uint32_t state, uint32_t set)
{
    State *s = sundew_tags.state;
    if (!s || state >= TAGS_STATES)
        return;
    sundew_tags.clock |= 1;
    s->kept[state] = (Kept){ set, sundew_tags.clock };
}

uint32_t sundew_tags_kept(uint32_t state)
{
    State *s = sundew_tags.state;
    if (!s || state >= TAGS_STATES || !s->kept[state].set)
        return 0;
    return living(s->kept[state].set, s->kept[state].time);
}

/* The variadic arguments of the integer kind, in order: first in the area where
 * the registers were saved, then on the stack. */
void sundew_tags_va_start(void *list, uint32_t *sets, uint32_t n)
{
#ifdef __x86_64__
    struct {
        uint32_t gp, fp;
        char *stack, *saved;
    } *l = list;
    uint32_t at = l->gp;
    char *stack = l->stack;
    for (uint32_t i = 0; i < n; i++) {
        char *place = at < 48 ? l->saved + at : stack;
        if (at < 48)
            at += 8;
        else
            stack += 8;
        if (sets[i])
            sundew_tags_out(place, sets[i]);
    }
#else
    (void)list, (void)sets, (void)n;
#endif
}

static void *moved(void *to, uintptr_t from, size_t old, size_t n)
{
    if (to && from && (uintptr_t)to != from)
        sundew_tags_move(to, (const void *)from, old < n ? old : n, 0);
    return to;
}

void *sundew_tags_realloc(void *p, size_t n)
{
    volatile uintptr_t from = (uintptr_t)p;      /* as a number: it may be gone */
    size_t old = p ? malloc_usable_size(p) : 0;
    return moved(realloc(p, n), from, old, n);
}

void *sundew_tags_reallocarray(void *p, size_t m, size_t n)
{
    volatile uintptr_t from = (uintptr_t)p;      /* as a number: it may be gone */
    size_t old = p ? malloc_usable_size(p) : 0;
    return moved(reallocarray(p, m, n), from, old, m * n);
}

/* ---- what is told */

static void append(const char *name, const char *text, size_t n)
{
    char path[PATH_MAX + 16];
    int kept = errno;
    if (!*folder)
        return;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0) {
        ssize_t done = write(fd, text, n);
        (void)done;
        close(fd);
    }
    errno = kept;
}

typedef struct Text {
    char at[2048];
    size_t len;
} Text;

static void add(Text *t, const char *s)
{
    while (*s && t->len < sizeof t->at - 2)
        t->at[t->len++] = *s++;
}

static void add_number(Text *t, uint64_t n)
{
    char digits[24], *p = digits + sizeof digits - 1;
    *p = 0;
    do
        *--p = '0' + n % 10;
    while (n /= 10);
    add(t, p);
}

/* Functions from that frame on, the outermost first. */
static void add_stack(Text *t, uint32_t depth)
{
    for (uint32_t d = depth; d <= sundew_tags.depth && t->len < 1800; d++) {
        if (d > depth)
            add(t, " ");
        add(t, sundew_tag_tables.functions[sundew_tags.frames[d].function].function);
    }
}

static void tell_observed(const Node *n, const SundewTagParam *p, const SundewTagSite *s)
{
    Text t = { .len = 0 };
    add(&t, p->function);
    add(&t, " ");
    add_number(&t, p->index);
    add(&t, " ");
    add_number(&t, n->what & 3);
    add(&t, " ");
    add_number(&t, s->line);
    add(&t, " ");
    add(&t, s->file);
    add(&t, "\t");
    add_stack(&t, n->slot & TAGS_DEPTH);
    add(&t, " ");
    add(&t, s->function);
    t.at[t.len++] = '\n';
    append("observed", t.at, t.len);
}

static void tell_violation(const Node *n, const SundewTagParam *p, const SundewTagSite *s)
{
    static const char *const stars[] = { "", ", a pointer further", ", two pointers further",
                                         ", three pointers further or more" };
    Text t = { .len = 0 };
    add(&t, "sundew: ");
    add(&t, p->function);
    add(&t, ": parameter ");
    add_number(&t, p->index + 1);
    if (*p->name) {
        add(&t, ", ");
        add(&t, p->name);
    }
    add(&t, p->claim == 2 ? ", declared const, is written through at "
                          : ", claimed immutable, is written through at ");
    add(&t, s->file);
    add(&t, ":");
    add_number(&t, s->line);
    add(&t, stars[n->what & 3]);
    add(&t, "; calls: ");
    add_stack(&t, n->slot & TAGS_DEPTH);
    t.at[t.len++] = '\n';
    append("violations", t.at, t.len);
    if (!*folder || !only_logs) {
        ssize_t done = write(2, t.at, t.len);
        (void)done;
    }
    if (!only_logs)
        abort();
}

/* A write through these. What has been told is of no interest any more. */
OUT void sundew_tags_write_slow(uint32_t set, uint32_t site)
{
    const SundewTagTables *tables = &sundew_tag_tables;
    for (; set; set = nodes[set].rest) {
        const Node *n = &nodes[set];
        uint32_t param = n->what >> 2, level = n->what & 3;
        uint8_t *on = &tables->on[param];
        if (!(*on >> level & 1))
            continue;
        const SundewTagParam *p = &tables->params[param];
        if (p->claim) {
            *on &= ~(1u << level);
            tell_violation(n, p, &tables->sites[site]);
        } else {
            *on &= level ? TAGS_USED | 1 : TAGS_USED;
            tell_observed(n, p, &tables->sites[site]);
        }
    }
}

/* ---- start, end */

static void tell_counts(void)
{
    const SundewTagTables *tables = &sundew_tag_tables;
    if (!tables->calls || !*folder)
        return;
    for (uint64_t i = 0; i < tables->nfunctions; i++) {
        const SundewTagFunction *f = &tables->functions[i];
        uint64_t covered = 0;
        if (!tables->calls[i])
            continue;
        for (uint32_t b = 0; b < f->nblocks; b++)
            covered += tables->blocks[f->first_block + b];
        Text t = { .len = 0 };
        add(&t, f->function);
        add(&t, " ");
        add_number(&t, tables->calls[i]);
        add(&t, " ");
        add_number(&t, covered);
        add(&t, " ");
        add_number(&t, f->nblocks);
        t.at[t.len++] = '\n';
        append("counts", t.at, t.len);
    }
}

/* What an enforcing program has looked at. */
static void tell_checked(void)
{
    const SundewTagTables *tables = &sundew_tag_tables;
    Text t = { .len = 0 };
    for (uint64_t i = 0; i < tables->nparams; i++) {
        const SundewTagParam *p = &tables->params[i];
        if (!p->claim || !(tables->on[i] & TAGS_USED))
            continue;
        add(&t, p->function);
        add(&t, " ");
        add_number(&t, p->index);
        t.at[t.len++] = '\n';
        if (t.len > sizeof t.at / 2) {
            append("checked", t.at, t.len);
            t.len = 0;
        }
    }
    if (!tables->calls) {
        add(&t, "= ");
        add_number(&t, writes + sundew_tags.writes);
        add(&t, " ");
        add_number(&t, dropped);
        t.at[t.len++] = '\n';
        append("checked", t.at, t.len);
    }
}

static void tell(void)
{
    tell_counts();
    tell_checked();
}

static void find_folder(void)
{
    const char *dir = getenv("SUNDEW_TAGS");
    if (dir && *dir && !realpath(dir, folder))
        folder[0] = 0;
    const char *enforce = getenv("SUNDEW_ENFORCE");
    only_logs = enforce && !strcmp(enforce, "log");
}

void sundew_tags_start(void)
{
    if (nodes)
        return;
    int kept = errno;
    find_folder();
    uint64_t bits = TABLE_BITS;
    SundewTagEntry *table = NULL;
    while (bits >= 16 && !(table = sundew_pages(sizeof *table << bits)))
        bits--;
    heads = sundew_pages(HEADS * sizeof *heads);
    Node *all = sundew_pages(NODES * sizeof *all);
    if (table && heads && all && !pthread_key_create(&at_exit_of_thread, thread_ends)) {
        sundew_tag_table = table;
        sundew_tag_mask = (1ULL << bits) - 1;
        nodes = all;
        atexit(tell);
    }
    errno = kept;
}
