/*
 * The log of a concolic run: nodes, each made once as far as a small cache of
 * recent ones can tell, and records.
 *
 * A node or record is written first and counted then, so that a run that is
 * killed leaves a log that can be read. Threads and children of fork() append under
 * the lock in the log's header; a process with one thread and no children takes
 * no lock.
 */
#include "runtime/concolic/concolic_int.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <unistd.h>

volatile uint8_t sundew_alive;
_Thread_local struct sundew_passing sundew_passing __attribute__((tls_model("initial-exec")));
SundewState sundew_state;

/* Who is inside, and where its stack was: a signal's handler comes from below. */
static _Thread_local struct {
    const char *frame;
    bool locked;
} self __attribute__((tls_model("initial-exec")));

enum { CACHE = 1 << SUNDEW_CACHE_BITS, ROWS = 1 << 16, LONG_WAIT = 20000 };

/* ---- start */

static bool fits(const struct sundew_log *l, uint64_t size)
{
    uint64_t need = sizeof *l + (uint64_t)l->most_nodes * sizeof(struct sundew_node) +
                    (uint64_t)l->most_records * sizeof(struct sundew_record) + l->most_bytes;
    return l->magic == SUNDEW_LOG_MAGIC && l->version == SUNDEW_LOG_VERSION && l->size <= size &&
           need <= l->size && l->most_nodes >= 2 && l->most_records >= 2;
}

static void open_log(void)
{
    struct stat st;
    if (fstat(SUNDEW_LOG_FD, &st) != 0 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size < sizeof(struct sundew_log))
        return;
    fcntl(SUNDEW_LOG_FD, F_SETFD, FD_CLOEXEC);
    size_t size = (size_t)st.st_size;
    struct sundew_log *l = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, SUNDEW_LOG_FD, 0);
    if (l == MAP_FAILED)
        return;
    if (!fits(l, size)) {
        munmap(l, size);
        return;
    }
    SundewState *s = &sundew_state;
    s->most_nodes = l->most_nodes;
    s->most_records = l->most_records;
    s->most_bytes = l->most_bytes;
    s->nodes = sundew_log_nodes(l);
    s->records = sundew_log_records(l);
    s->bytes = sundew_log_bytes(l);
    s->log = l;
}

/* What the last run of this process left behind, in persistent mode. */
static void forget_all(SundewState *s)
{
    memset(s->cache, 0, CACHE * sizeof *s->cache);
    memset(s->rows, 0, ROWS);
    sundew_pages_reset(s->held, ((size_t)s->most_nodes / 64 + 1) * 8);
    sundew_pages_reset(s->sites, SUNDEW_SITES * sizeof *s->sites);
    sundew_shadow_reset();
    sundew_address_reset();
}

static bool make_tables(SundewState *s)
{
    s->cache = sundew_pages(CACHE * sizeof *s->cache);
    s->held = sundew_pages(((size_t)s->most_nodes / 64 + 1) * 8);
    s->sites = sundew_pages(SUNDEW_SITES * sizeof *s->sites);
    s->rows = sundew_pages(ROWS);
    return s->cache && s->held && s->sites && s->rows && sundew_shadow_start();
}

bool sundew_concolic_ready(void)
{
    SundewState *s = &sundew_state;
    if (!s->log || s->ended)
        return false;
    if (SUNDEW_HOT(s->rows != NULL))
        return true;
    if (make_tables(s)) {
        s->owner = &self;
        return true;
    }
    s->log->nodes = s->log->nodes ? s->log->nodes : 1;
    sundew_record(SUNDEW_REC_IMPRECISE, SUNDEW_WHY_MEMORY, 0, 0, 0, 0);
    s->ended = true;
    return false;
}

/* Limits may differ from run to run under a fork server; places may not. */
void sundew_concolic_begin(void)
{
    SundewState *s = &sundew_state;
    struct sundew_log *l = s->log;
    if (!l)
        return;
    s->most_per_site = l->most_per_site;
    s->flags = l->flags;
    s->ended = s->forked = s->no_bytes = s->told_thread = s->no_room = false;
    if (!l->nodes)
        l->nodes = 1;
    if (l->bytes < 8)
        l->bytes = 8;                  /* offset 0 says "none" */
    l->lock = 0;
    l->started = 1;
    if (s->rows)
        forget_all(s);
    sundew_alive = l->from < l->to && sundew_concolic_ready();
}

__attribute__((constructor(101))) void sundew_concolic_open(void)
{
    int kept = errno;
    if (!sundew_state.log)
        open_log();
    if (sundew_state.log) {
        sundew_alloc_start();
        sundew_concolic_begin();
    }
    errno = kept;
}

/* ---- who is inside */

static void lock(struct sundew_log *l)
{
    for (unsigned i = 0; __atomic_exchange_n(&l->lock, 1, __ATOMIC_ACQUIRE); i++) {
        if (i > LONG_WAIT)
            return;                    /* who had it was killed */
        if (i > 100)
            sched_yield();
        __builtin_ia32_pause();
    }
}

bool sundew_concolic_enter(void)
{
    SundewState *s = &sundew_state;
    const char *frame = __builtin_frame_address(0);
    if (SUNDEW_RARE(!s->rows || s->ended))
        return false;
    if (SUNDEW_RARE(self.frame != NULL)) {
        if (frame < self.frame)
            return false;
        sundew_concolic_leave();                /* left by longjmp() from a handler */
    }
    self.frame = frame;
    if (SUNDEW_RARE(!__libc_single_threaded || s->forked)) {
        lock(s->log);
        self.locked = true;
    }
    return true;
}

void sundew_concolic_leave(void)
{
    if (SUNDEW_RARE(self.locked)) {
        self.locked = false;
        __atomic_store_n(&sundew_state.log->lock, 0, __ATOMIC_RELEASE);
    }
    self.frame = NULL;
}

int sundew_fork(void)
{
    sundew_state.forked = true;
    return fork();
}

/* ---- records */

/* A budget of the whole run is used up: from here on the program runs as it is. */
static void end(unsigned k)
{
    SundewState *s = &sundew_state;
    s->ended = true;
    sundew_alive = 0;
    uint32_t i = s->log->records;
    if (i >= s->most_records)
        return;
    s->records[i] = (struct sundew_record){ .kind = SUNDEW_REC_END, .k = (uint8_t)k };
    __atomic_store_n(&s->log->records, i + 1, __ATOMIC_RELEASE);
}

void sundew_record(unsigned kind, unsigned k, unsigned value, uint32_t node, uint32_t at,
                   uint32_t other)
{
    SundewState *s = &sundew_state;
    uint32_t i = s->log->records;
    if (s->ended)
        return;
    if (i + 1 >= s->most_records) {    /* the last is for the end */
        end(SUNDEW_END_RECORDS);
        return;
    }
    s->records[i] = (struct sundew_record){ .kind = (uint8_t)kind,
                                            .k = (uint8_t)k,
                                            .value = (uint8_t)value,
                                            .node = node,
                                            .at = at,
                                            .other = other };
    __atomic_store_n(&s->log->records, i + 1, __ATOMIC_RELEASE);
    if (SUNDEW_RARE(s->owner != &self && !s->told_thread && s->owner)) {
        s->told_thread = true;
        sundew_record(SUNDEW_REC_IMPRECISE, SUNDEW_WHY_THREAD, 0, 0, at, 0);
    }
}

/* True if it was no conjunct yet. */
static bool hold(sundew_label cond)
{
    uint64_t *word = &sundew_state.held[cond / 64], bit = 1ull << (cond & 63);
    if (*word & bit)
        return false;
    *word |= bit;
    return true;
}

bool sundew_is_held(sundew_label cond) { return sundew_state.held[cond / 64] >> (cond & 63) & 1; }

void sundew_branch(sundew_label cond, bool value, uint32_t at, uint32_t other, uint32_t site,
                   bool settled)
{
    SundewState *s = &sundew_state;
    if (!cond || sundew_is_const(cond) || !hold(cond))
        return;
    uint32_t *count = &s->sites[site < SUNDEW_SITES ? site : SUNDEW_SITES - 1];
    uint64_t most = s->most_per_site, n = *count;
    if (n < UINT32_MAX)
        ++*count;
    if (!most || n < most * SUNDEW_KEPT_TIMES)
        sundew_record(SUNDEW_REC_BRANCH, settled || (most && n >= most), value, cond, at, other);
    else if (n == most * SUNDEW_KEPT_TIMES)
        sundew_record(SUNDEW_REC_END, SUNDEW_END_SITE, 0, 0, site, 0);
}

bool sundew_site_is_new(uint32_t site)
{
    SundewState *s = &sundew_state;
    return !s->most_per_site ||
           s->sites[site < SUNDEW_SITES ? site : SUNDEW_SITES - 1] < s->most_per_site;
}

void sundew_pin_label(sundew_label l, sundew_wide value, unsigned why, uint32_t site)
{
    l = sundew_unless_const(l);
    if (!l)
        return;
    unsigned bits = sundew_bits(l);
    sundew_label c = sundew_const(bits, value);
    sundew_label same = bits == 1 ? l : sundew_node(SUNDEW_NODE_EQ, 1, 0, l, c, 0);
    if (same && hold(same))
        sundew_record(SUNDEW_REC_PIN, why, 0, l, site, c);
}

static uint8_t *row_count(const void *row, unsigned kind)
{
    uint64_t h = ((uintptr_t)row ^ (uint64_t)kind << 56) * 0x9E3779B97F4A7C15u;
    return &sundew_state.rows[h >> 48];
}

bool sundew_first_times(const void *row, unsigned kind, unsigned most)
{
    uint8_t *n = row_count(row, kind);
    return *n < most && ++*n;
}

bool sundew_may_ask(const void *row)
{
    return !(sundew_state.flags & SUNDEW_LOG_NO_BUGS) && *row_count(row, 0) < SUNDEW_BUGS_PER_ROW;
}

void sundew_bug(unsigned kind, sundew_label cond, const void *row, uint32_t site)
{
    if (cond && !sundew_is_const(cond) && !(sundew_state.flags & SUNDEW_LOG_NO_BUGS) &&
        sundew_first_times(row, 0, SUNDEW_BUGS_PER_ROW))
        sundew_record(SUNDEW_REC_BUG, kind, 0, cond, site, 0);
}

void sundew_imprecise(unsigned why, const char *name, const void *row, uint32_t site)
{
    if (!sundew_first_times(row, 128 + why, SUNDEW_NOTES_PER_ROW))
        return;
    uint32_t text = name ? sundew_log_put(name, (uint32_t)strnlen(name, 255) + 1) : 0;
    sundew_record(SUNDEW_REC_IMPRECISE, why, 0, text, site, 0);
}

uint32_t sundew_log_put(const void *bytes, uint32_t n)
{
    SundewState *s = &sundew_state;
    uint32_t at = (s->log->bytes + 7) & ~7u;
    if (s->no_bytes || at >= s->most_bytes || n > s->most_bytes - at) {
        if (!s->no_bytes) {
            s->no_bytes = true;
            sundew_record(SUNDEW_REC_END, SUNDEW_END_BYTES, 0, 0, 0, 0);
        }
        return 0;
    }
    memcpy(s->bytes + at, bytes, n);
    __atomic_store_n(&s->log->bytes, at + n, __ATOMIC_RELEASE);
    return at;
}

/* ---- nodes */

static uint32_t hash(const struct sundew_node *n)
{
    uint64_t w[2];
    memcpy(w, n, sizeof w);
    uint64_t h = (w[0] ^ (w[1] << 31 | w[1] >> 33)) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9u;
    return (uint32_t)(h >> (64 - SUNDEW_CACHE_BITS));
}

sundew_label sundew_node(unsigned op, unsigned bits, unsigned k, uint32_t a, uint32_t b, uint32_t c)
{
    SundewState *s = &sundew_state;
    struct sundew_node n = { (uint8_t)op, (uint8_t)bits, (uint16_t)k, a, b, c };
    uint32_t *slot = &s->cache[hash(&n)], i = *slot;
    if (i && memcmp(&s->nodes[i], &n, sizeof n) == 0)
        return i;
    i = s->log->nodes;
    if (SUNDEW_RARE(i >= s->most_nodes)) {
        if (!s->ended)
            end(SUNDEW_END_NODES);
        return 0;
    }
    s->nodes[i] = n;
    __atomic_store_n(&s->log->nodes, i + 1, __ATOMIC_RELEASE);
    return *slot = i;
}

sundew_label sundew_const(unsigned bits, sundew_wide v)
{
    v &= sundew_mask(bits);
    if (bits > 64) {
        sundew_label high = sundew_const(bits - 64, v >> 64), low = sundew_const(64, v);
        return high && low ? sundew_node(SUNDEW_NODE_CONCAT, bits, 0, high, low, 0) : 0;
    }
    return sundew_node(SUNDEW_NODE_CONST, bits, 0, (uint32_t)v, (uint32_t)(v >> 32), 0);
}

sundew_label sundew_extract(sundew_label a, unsigned low, unsigned bits)
{
    while (a) {
        const struct sundew_node *n = &sundew_state.nodes[a];
        if (low == 0 && bits == n->bits)
            return a;
        if (n->op == SUNDEW_NODE_EXTRACT) {
            low += n->k;
            a = n->a;
        } else if (n->op == SUNDEW_NODE_CONCAT && low + bits <= sundew_bits(n->b)) {
            a = n->b;
        } else if (n->op == SUNDEW_NODE_CONCAT && low >= sundew_bits(n->b)) {
            low -= sundew_bits(n->b);
            a = n->a;
        } else if (n->op == SUNDEW_NODE_ZEXT && low >= sundew_bits(n->a)) {
            return sundew_const(bits, 0);
        } else if ((n->op == SUNDEW_NODE_ZEXT || n->op == SUNDEW_NODE_SEXT) &&
                   low + bits <= sundew_bits(n->a)) {
            a = n->a;
        } else if (n->op == SUNDEW_NODE_CONST) {
            return sundew_const(bits, sundew_const_value(a) >> low);
        } else {
            return sundew_node(SUNDEW_NODE_EXTRACT, bits, low, a, 0, 0);
        }
    }
    return 0;
}

sundew_label sundew_extend(unsigned op, sundew_label a, unsigned bits)
{
    if (!a || sundew_bits(a) == bits)
        return a;
    if (sundew_state.nodes[a].op == SUNDEW_NODE_ZEXT) {
        op = SUNDEW_NODE_ZEXT;         /* of a zero sign */
        a = sundew_state.nodes[a].a;
    }
    return sundew_node(op, bits, 0, a, 0, 0);
}

sundew_label sundew_concat(sundew_label high, sundew_label low)
{
    if (!high || !low)
        return 0;
    const struct sundew_node *h = &sundew_state.nodes[high], *l = &sundew_state.nodes[low];
    unsigned bits = h->bits + l->bits;
    if (h->op == SUNDEW_NODE_CONST && l->op == SUNDEW_NODE_CONST && bits <= 64)
        return sundew_const(bits, (sundew_wide)sundew_const_value(high) << l->bits |
                                      sundew_const_value(low));
    if (h->op == SUNDEW_NODE_EXTRACT && l->op == SUNDEW_NODE_EXTRACT && h->a == l->a &&
        h->k == l->k + l->bits)
        return sundew_extract(h->a, l->k, bits);
    return sundew_node(SUNDEW_NODE_CONCAT, bits, 0, high, low, 0);
}

sundew_label sundew_fit(sundew_label a, unsigned bits)
{
    if (!a || sundew_bits(a) == bits)
        return a;
    return sundew_bits(a) > bits ? sundew_extract(a, 0, bits)
                                 : sundew_extend(SUNDEW_NODE_ZEXT, a, bits);
}
