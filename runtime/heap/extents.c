/*
 * extents - which memory is allocated, and was.
 *
 * A shadow of one byte for each 16 bytes of heap, written by the wrappers of
 * malloc. The byte of an object's first granule says that one starts here, how
 * many bytes of its last granule it doesn't use, and in how many of the
 * following bytes its length is written, in granules, seven bits each:
 *
 *     malloc(40)     40 bytes are 3 granules, the last with 8 unused
 *         [ 1 F dd ssss ] [ 3 ] [ 0 ]        F freed, dd digits, ssss slack
 *
 * The rest of the object's bytes are 0, so that from any address within the
 * scan back ends at the start. A freed object keeps its bytes, with F set, until
 * the memory is handed out again. Each byte belongs to one object and is
 * written by who allocates or frees it: threads need no lock.
 *
 * Objects of 1 MiB and more, and those over the edge of a leaf, are in a small
 * table, which bounds the scan.
 *
 * The shadow is a table of leaves, one for each 256 MiB of addresses.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

enum {
    LEAF_BITS = 28,
    LEAF_GRANULES = 1 << (LEAF_BITS - 4),
    LEAVES = 1 << (47 - LEAF_BITS),
    BIG_GRANULES = 1 << 16,
    NBIG = 256,
};
enum { START = 0x80, FREED = 0x40, DIGITS = 0x30, SLACK = 0x0f };

typedef struct Big {
    _Atomic uint64_t start;            /* 0: free row */
    _Atomic uint64_t size;
    _Atomic int freed;
} Big;

int sundew_tracking;
int sundew_fills;
static uint8_t *volatile leaves[LEAVES];
static Big bigs[NBIG];
static volatile int nbigs;             /* rows that were ever used */

static SUNDEW_COLD uint8_t *make_leaf(uint64_t number)
{
    int kept = errno;
    uint8_t *leaf = sundew_pages(LEAF_GRANULES);
    uint8_t *other = NULL;
    if (leaf && !__atomic_compare_exchange_n(&leaves[number], &other, leaf, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {
        sundew_pages_free(leaf, LEAF_GRANULES);
        leaf = other;
    }
    errno = kept;
    return leaf;
}

static inline uint8_t *shadow_of(uint64_t address)
{
    uint64_t number = address >> LEAF_BITS;
    if (SUNDEW_UNLIKELY(number >= LEAVES))
        return NULL;
    uint8_t *leaf = leaves[number];
    if (SUNDEW_UNLIKELY(!leaf) && !(leaf = make_leaf(number)))
        return NULL;
    return leaf + ((address >> 4) & (LEAF_GRANULES - 1));
}

static void clear(uint8_t *from, size_t n)
{
    uintptr_t lo = ((uintptr_t)from + 4095) & ~(uintptr_t)4095;
    uintptr_t hi = ((uintptr_t)from + n) & ~(uintptr_t)4095;
    if (n < 65536 || hi <= lo) {
        memset(from, 0, n);
        return;
    }
    memset(from, 0, lo - (uintptr_t)from);
    if (madvise((void *)lo, hi - lo, MADV_DONTNEED) != 0)
        memset((void *)lo, 0, hi - lo);
    memset((void *)hi, 0, (uintptr_t)from + n - hi);
}

/* Clears the shadow of a span that may lie in several leaves. */
static void clear_span(uint64_t address, uint64_t granules)
{
    while (granules > 0) {
        uint64_t left = LEAF_GRANULES - ((address >> 4) & (LEAF_GRANULES - 1));
        uint64_t n = granules < left ? granules : left;
        uint8_t *s = shadow_of(address);
        if (s)
            clear(s, n);
        address += n << 4;
        granules -= n;
    }
}

/* Takes a row whose start is `was`; it is nobody else's then. */
static bool take_row(int i, uint64_t was)
{
    return __atomic_compare_exchange_n((uint64_t *)&bigs[i].start, &was, 1, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static SUNDEW_COLD void note_big(uint64_t address, uint64_t size)
{
    int kept = errno, row = -1, oldest = -1;
    clear_span(address, (size + 15) >> 4);
    for (int i = 0; i < nbigs; i++) {
        uint64_t was = bigs[i].start;
        if (was <= 1 || !bigs[i].freed)
            continue;
        /* What lay here is no more. */
        if (was < address + size && address < was + bigs[i].size && take_row(i, was))
            bigs[i].start = 0;
        else
            oldest = i;
    }
    for (int i = 0; i < NBIG && row < 0; i++)
        if (!bigs[i].start && take_row(i, 0))
            row = i;
    if (row < 0 && oldest >= 0 && take_row(oldest, bigs[oldest].start))
        row = oldest;
    if (row >= 0) {
        bigs[row].size = size;
        bigs[row].freed = 0;
        bigs[row].start = address;
        if (row >= nbigs)
            nbigs = row + 1;
    }
    errno = kept;
}

static SUNDEW_COLD bool free_big(uint64_t address)
{
    for (int i = 0; i < nbigs; i++)
        if (bigs[i].start == address && !bigs[i].freed) {
            bigs[i].freed = 1;
            return true;
        }
    return false;
}

static SUNDEW_COLD void note_empty(void *p)
{
    uint8_t *s = shadow_of((uintptr_t)p);
    if (s && malloc_usable_size(p) > 16) {
        s[1] = 0;
        s[0] = START | 1 << 4;
    }
}

void sundew_extent_malloc(void *p, size_t n)
{
    uint64_t address = (uintptr_t)p;
    uint64_t granules = ((uint64_t)n + 15) >> 4;
    if (SUNDEW_UNLIKELY(granules - 1 >= BIG_GRANULES - 1 || (address & 15))) {
        if (n == 0)
            note_empty(p);
        else if (!(address & 15))
            note_big(address, n);
        return;
    }
    uint8_t *s = shadow_of(address);
    if (SUNDEW_UNLIKELY(!s))
        return;
    uint8_t head = START | (uint8_t)(-n & 15);
    uint64_t room = LEAF_GRANULES - ((address >> 4) & (LEAF_GRANULES - 1));
    if (SUNDEW_UNLIKELY(granules > room)) {
        note_big(address, n);          /* over the edge of a leaf */
        return;
    }
    if (granules > 1) {
        if (granules <= 9) {
            for (uint64_t i = 2; i < granules; i++)
                s[i] = 0;
        } else {
            memset(s + 1, 0, granules - 1);
        }
        s[1] = granules & 127;
        head |= 1 << 4;
        if (granules > 127) {
            s[2] = (granules >> 7) & 127;
            s[3] = (uint8_t)(granules >> 14);
            head += 1 << 4;
        }
    }
    s[0] = head;
}

void sundew_extent_free(void *p)
{
    uint64_t address = (uintptr_t)p, number = address >> LEAF_BITS;
    if (number >= LEAVES || !leaves[number])
        return;
    uint8_t *s = leaves[number] + ((address >> 4) & (LEAF_GRANULES - 1));
    if (SUNDEW_LIKELY(*s & START))
        *s |= FREED;
    else if (nbigs)
        free_big(address);
}

/* ---- asking */

/* The nearest start at or before a granule; NULL if there is none in reach. */
static const uint8_t *scan_back(const uint8_t *leaf, const uint8_t *s, ptrdiff_t reach)
{
    const uint8_t *end = s - leaf > reach ? s - reach : leaf;
    while (s > end && ((uintptr_t)s & 7) != 7) {
        if (*s & START)
            return s;
        s--;
    }
    while (s - 8 >= end) {
        uint64_t word;
        memcpy(&word, s - 7, 8);
        if (word & 0x8080808080808080u)
            break;
        s -= 8;
    }
    for (; s >= end; s--)
        if (*s & START)
            return s;
    return NULL;
}

static bool small_at(uint64_t address, ptrdiff_t reach, SundewExtent *e)
{
    uint64_t number = address >> LEAF_BITS;
    if (number >= LEAVES || !leaves[number])
        return false;
    const uint8_t *leaf = leaves[number];
    const uint8_t *s = leaf + ((address >> 4) & (LEAF_GRANULES - 1));
    if (!(s = scan_back(leaf, s, reach)))
        return false;
    uint64_t granules = 1;
    if ((*s & DIGITS) == 1 << 4)
        granules = s[1];
    else if (*s & DIGITS)
        granules = s[1] | (uint64_t)s[2] << 7 | (uint64_t)s[3] << 14;
    e->start = number << LEAF_BITS | (uint64_t)(s - leaf) << 4;
    e->size = granules ? granules * 16 - (*s & SLACK) : 0;
    e->freed = *s & FREED;
    return true;
}

static bool in_extent(const SundewExtent *e, uint64_t address)
{
    return address - e->start <= e->size;
}

/* A live one before a freed one: the head of a freed object may still stand
 * where a large one took the rest. */
static bool big_at(uint64_t address, SundewExtent *e)
{
    bool found = false;
    for (int i = 0; i < nbigs; i++) {
        SundewExtent b = { bigs[i].start, bigs[i].size, bigs[i].freed };
        if (b.start <= 1 || !in_extent(&b, address))
            continue;
        *e = b;
        found = true;
        if (!b.freed)
            break;
    }
    return found;
}

bool sundew_extent_at(uint64_t address, SundewExtent *e)
{
    SundewExtent big;
    bool found = small_at(address, BIG_GRANULES, e) && in_extent(e, address);
    /* Just behind an object, and no other begins there. */
    if (!found && !(address & 15))
        found = small_at(address - 1, BIG_GRANULES, e) && in_extent(e, address);
    if (found && !e->freed)
        return true;
    /* Both were freed: what begins later was made when the other was gone. */
    if (!big_at(address, &big) || (found && big.freed && big.start <= e->start))
        return found;
    *e = big;
    return true;
}

bool sundew_extent_near(uint64_t address, SundewExtent *e)
{
    return small_at(address, 64, e) && in_extent(e, address);
}

bool sundew_extent_starts(const void *p)
{
    uint64_t address = (uintptr_t)p, number = address >> LEAF_BITS;
    return number < LEAVES && leaves[number] &&
           leaves[number][(address >> 4) & (LEAF_GRANULES - 1)] & START;
}

bool sundew_extent_behind(uint64_t address, SundewExtent *e)
{
    return small_at(address - 1, SUNDEW_ARG_BUDGET / 16, e) && e->start + e->size == address;
}

/* ---- variables and functions, by address */

typedef struct Sorted {
    uint32_t *order;
    uint32_t n;
    volatile int state;                /* 0 not yet, 1 being made, 2 ready, 3 can't */
} Sorted;

static Sorted globals_sorted, rows_sorted;

static uint64_t global_address(uint32_t i) { return sundew_tables.globals[i].address; }

static uint64_t row_address(uint32_t i) { return sundew_tables.functions[i].address; }

static void sift(uint32_t *a, uint32_t from, uint32_t n, uint64_t (*key)(uint32_t))
{
    for (uint32_t child; (child = 2 * from + 1) < n; from = child) {
        if (child + 1 < n && key(a[child]) < key(a[child + 1]))
            child++;
        if (key(a[from]) >= key(a[child]))
            return;
        uint32_t t = a[from];
        a[from] = a[child];
        a[child] = t;
    }
}

static const uint32_t *sorted(Sorted *s, uint32_t n, uint64_t (*key)(uint32_t))
{
    if (SUNDEW_LIKELY(s->state == 2))
        return s->order;
    int none = 0;
    if (n == 0 ||
        !__atomic_compare_exchange_n(&s->state, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return NULL;
    uint32_t *a = sundew_pages((size_t)n * sizeof *a);
    if (!a) {
        s->state = 3;
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        a[i] = i;
    for (uint32_t i = n / 2; i-- > 0;)
        sift(a, i, n, key);
    for (uint32_t end = n; end-- > 1;) {
        uint32_t t = a[0];
        a[0] = a[end];
        a[end] = t;
        sift(a, 0, end, key);
    }
    s->order = a;
    s->n = n;
    __atomic_store_n(&s->state, 2, __ATOMIC_RELEASE);
    return a;
}

/* The last whose address is not above; -1. */
static long find(Sorted *s, uint32_t n, uint64_t (*key)(uint32_t), uint64_t address)
{
    const uint32_t *a = sorted(s, n, key);
    if (!a)
        return -1;
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (key(a[mid]) <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? (long)a[lo - 1] : -1;
}

const SundewGlobal *sundew_global_at(uint64_t address)
{
    long i = find(&globals_sorted, sundew_tables.nglobals, global_address, address);
    if (i < 0)
        return NULL;
    const SundewGlobal *g = &sundew_tables.globals[i];
    return g->address && address - g->address < (g->size ? g->size : 1) ? g : NULL;
}

/* Rows by number, plus 1; made when it is first asked for. Who comes while it
 * is being made searches. */
static uint32_t *volatile rows_by_number;
static uint32_t numbers;
static volatile int numbering;

static SUNDEW_COLD void number_globals(void)
{
    const SundewGlobal *g = sundew_tables.globals;
    uint32_t n = sundew_tables.nglobals;
    int none = 0;
    if (!n ||
        !__atomic_compare_exchange_n(&numbering, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    uint32_t most = g[n - 1].id;       /* they rise */
    uint32_t *rows = sundew_pages(((size_t)most + 1) * sizeof *rows);
    if (!rows)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (g[i].id <= most)
            rows[g[i].id] = i + 1;
    numbers = most + 1;
    __atomic_store_n(&rows_by_number, rows, __ATOMIC_RELEASE);
}

const SundewGlobal *sundew_global_numbered(uint32_t number)
{
    const SundewGlobal *g = sundew_tables.globals;
    if (SUNDEW_UNLIKELY(!rows_by_number))
        number_globals();
    const uint32_t *rows = rows_by_number;
    if (SUNDEW_LIKELY(rows != NULL))
        return number < numbers && rows[number] ? &g[rows[number] - 1] : NULL;
    for (uint32_t i = 0; i < sundew_tables.nglobals; i++)
        if (g[i].id == number)
            return &g[i];
    return NULL;
}

long sundew_row_at(uint64_t pc)
{
    return find(&rows_sorted, sundew_tables.nfunctions, row_address, pc);
}
