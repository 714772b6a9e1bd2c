/*
 * Labels of memory.
 *
 * A page of shadow stands for 4 KiB of the program's memory and is made when the
 * first byte there gets a label. For each byte it has a node, which byte of that node
 * it is, and its witness: what the byte was when the label was given. A value of
 * four bytes that is stored makes no nodes, and is found again as it was:
 *
 *     *p = x        node  17 17 17 17       *p      17
 *                   k      0  1  2  3       p[1]    EXTRACT 17, 8 bits from bit 8
 *
 * If memory no longer has the witness's value when it is read, code that is not
 * woven has written there: the label is dropped, byte by byte, and counted.
 *
 * `live` has a bit for each byte with a label, a word for each granule of 64 bytes.
 * The granule's tag is set if its word is not 0, or one of the first 15 bits of the
 * next one's.
 */
#include "runtime/concolic/concolic_int.h"
#include <errno.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    GRANULE = 64,
    LOW_BITS = 18,
    TOP = 1 << (47 - 12 - LOW_BITS),
    LOW = 1 << LOW_BITS,
    SLAB = 64,                         /* pages made at once */
};
#define REACH ((1ull << SUNDEW_TAG_REACH) - 1)

typedef struct Page {
    uint64_t number;                   /* address >> 12 */
    uint64_t live[PAGE / GRANULE];
    uint32_t node[PAGE];
    uint8_t k[PAGE];
    uint8_t witness[PAGE];
} Page;

static Page ***top;                    /* [address >> 30][page] */
static Page *slabs[SUNDEW_SHADOW_PAGES / SLAB];
static unsigned npages;
static uint8_t *const tags = (uint8_t *)SUNDEW_TAGS;
static uint64_t last_number = UINT64_MAX;      /* the page that was asked for last */
static Page *last_page;

bool sundew_shadow_start(void)
{
    if (top)
        return true;
    int kept = errno;
    void *p = mmap((void *)SUNDEW_TAGS, 1ull << (47 - SUNDEW_TAG_SHIFT), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == (void *)SUNDEW_TAGS) {
        madvise(p, 1ull << (47 - SUNDEW_TAG_SHIFT), MADV_NOHUGEPAGE);
        madvise(p, 1ull << (47 - SUNDEW_TAG_SHIFT), MADV_DONTDUMP);
        top = sundew_pages(TOP * sizeof *top);
    }
    errno = kept;
    return top != NULL;
}

/* ---- pages and tags */

static Page *page_at(uint64_t at)
{
    uint64_t number = at >> 12;
    if (SUNDEW_HOT(number == last_number))
        return last_page;
    if (number >> 35 || !top[number >> LOW_BITS])
        return NULL;
    Page *p = top[number >> LOW_BITS][number & (LOW - 1)];
    if (p) {
        last_number = number;
        last_page = p;
    }
    return p;
}

static Page *new_page(uint64_t number)
{
    Page **slab = &slabs[npages / SLAB];
    if (npages >= SUNDEW_SHADOW_PAGES ||
        (!*slab && !(*slab = sundew_pages(SLAB * sizeof **slab)))) {
        if (!sundew_state.no_room) {
            sundew_state.no_room = true;
            sundew_imprecise(SUNDEW_WHY_MEMORY, NULL, NULL, 0);
        }
        return NULL;
    }
    Page *p = &(*slab)[npages++ % SLAB];
    p->number = number;
    return p;
}

static Page *made_page_at(uint64_t at)
{
    Page *p = page_at(at);
    uint64_t number = at >> 12;
    if (SUNDEW_HOT(p != NULL) || number >> 35)
        return p;
    Page ***low = &top[number >> LOW_BITS];
    if (!*low && !(*low = sundew_pages(LOW * sizeof **low)))
        return NULL;
    return (*low)[number & (LOW - 1)] = new_page(number);
}

void sundew_shadow_reset(void)
{
    for (unsigned i = 0; i < npages; i++) {
        Page *p = &slabs[i / SLAB][i % SLAB];
        uint64_t granule = p->number * (PAGE / GRANULE);
        memset(p->live, 0, sizeof p->live);
        memset(tags + granule, 0, PAGE / GRANULE);
        if (granule)
            tags[granule - 1] = 0;
    }
}

static uint64_t live_at(uint64_t granule)
{
    const Page *p = page_at(granule * GRANULE);
    return p ? p->live[granule % (PAGE / GRANULE)] : 0;
}

/* Bits [from, from + n) of a granule's word. */
static uint64_t span(unsigned from, unsigned n)
{
    return (n >= 64 ? ~0ull : (1ull << n) - 1) << from;
}

static void tag(uint64_t granule, uint64_t bits)
{
    tags[granule] = 1;
    if (bits & REACH && granule)
        tags[granule - 1] = 1;
}

/* A label went: are the tags still needed? */
static void untag(uint64_t granule, uint64_t left)
{
    if (!left && !(live_at(granule + 1) & REACH))
        tags[granule] = 0;
    if (granule && !(left & REACH) && !live_at(granule - 1))
        tags[granule - 1] = 0;
}

bool sundew_tagged(uint64_t at, uint64_t n)
{
    if (!n || at + n < at || at + n > 1ull << 47)
        return false;
    uint64_t from = at >> SUNDEW_TAG_SHIFT, to = (at + n - 1) >> SUNDEW_TAG_SHIFT;
    for (; from <= to && (from & 7); from++)
        if (tags[from])
            return true;
    for (uint64_t word; from + 7 <= to; from += 8) {
        memcpy(&word, tags + from, 8);
        if (word)
            return true;
    }
    for (; from <= to; from++)
        if (tags[from])
            return true;
    return false;
}

bool sundew_shadow_any(uint64_t at, uint64_t n)
{
    if (!sundew_tagged(at, n))
        return false;
    for (uint64_t end = at + n; at < end;) {
        unsigned from = at % GRANULE, some = GRANULE - from;
        some = some < end - at ? some : (unsigned)(end - at);
        if (live_at(at / GRANULE) & span(from, some))
            return true;
        at += some;
    }
    return false;
}

/* ---- bytes */

/* Code that is not woven wrote here. */
static void stale(uint64_t at, uint32_t site)
{
    sundew_state.log->stale++;
    const char *who = sundew_passing.external;
    sundew_imprecise(SUNDEW_WHY_WITNESS, who, who ? who : (const char *)"", site);
    sundew_shadow_clear(at, 1);
}

bool sundew_shadow_get(uint64_t at, uint8_t seen, sundew_label *l, uint8_t *k, uint32_t site)
{
    Page *p = page_at(at);
    unsigned i = at % PAGE;
    if (!p || !(p->live[i / GRANULE] >> i % GRANULE & 1))
        return false;
    if (SUNDEW_RARE(p->witness[i] != seen)) {
        stale(at, site);
        return false;
    }
    *l = p->node[i];
    *k = p->k[i];
    return true;
}

uint8_t sundew_shadow_witness(uint64_t at)
{
    const Page *p = page_at(at);
    return p ? p->witness[at % PAGE] : 0;
}

void sundew_shadow_set(uint64_t at, uint8_t witness, sundew_label l, uint8_t k)
{
    Page *p = made_page_at(at);
    if (!p)
        return;
    unsigned i = at % PAGE;
    p->node[i] = l;
    p->k[i] = k;
    p->witness[i] = witness;
    p->live[i / GRANULE] |= 1ull << i % GRANULE;
    tag(at / GRANULE, 1ull << i % GRANULE);
}

void sundew_shadow_clear(uint64_t at, uint64_t n)
{
    while (n > 0) {
        unsigned from = at % GRANULE;
        unsigned part = n < GRANULE - from ? (unsigned)n : GRANULE - from;
        Page *p = page_at(at);
        if (!p) {                      /* to the end of the page */
            uint64_t rest = PAGE - at % PAGE;
            rest = n < rest ? n : rest;
            at += rest;
            n -= rest;
            continue;
        }
        uint64_t *live = &p->live[at % PAGE / GRANULE];
        if (*live & span(from, part)) {
            *live &= ~span(from, part);
            untag(at / GRANULE, *live);
        }
        at += part;
        n -= part;
    }
}

/* ---- values */

/* Pieces, least significant first, as one value. */
static sundew_label joined(const sundew_label *pieces, unsigned n)
{
    sundew_label l = pieces[n - 1];
    while (l && n-- > 1)
        l = sundew_concat(l, pieces[n - 1]);
    return l;
}

static sundew_label gather(unsigned n, const sundew_label *node, const uint8_t *k,
                           const uint8_t *seen)
{
    sundew_label pieces[16];
    unsigned npieces = 0;
    for (unsigned i = 0, j; i < n; i = j) {
        sundew_label piece;
        if (node[i]) {
            for (j = i + 1; j < n && node[j] == node[i] && k[j] == k[i] + (j - i); j++)
                ;
            piece = sundew_extract(node[i], k[i] * 8u, (j - i) * 8);
        } else {
            uint64_t v = 0;
            for (j = i; j < n && j < i + 8 && !node[j]; j++)
                v |= (uint64_t)seen[j] << (j - i) * 8;
            piece = sundew_const((j - i) * 8, v);
        }
        if (!piece)
            return 0;
        pieces[npieces++] = piece;
    }
    return sundew_unless_const(joined(pieces, npieces));
}

/* The whole of one node, as it was stored. */
static bool whole(const Page *p, unsigned i, unsigned n, const uint8_t *seen)
{
    uint32_t node = p->node[i];
    for (unsigned j = 0; j < n; j++)
        if (p->node[i + j] != node || p->k[i + j] != j)
            return false;
    return sundew_bits(node) == n * 8 && memcmp(p->witness + i, seen, n) == 0;
}

sundew_label sundew_shadow_load(uint64_t at, unsigned n, const uint8_t *seen, uint32_t site)
{
    const Page *p = page_at(at);
    unsigned i = at % PAGE, g = i % GRANULE;
    if (SUNDEW_HOT(g + n <= GRANULE)) {
        if (!p)
            return 0;
        uint64_t mask = span(g, n), live = p->live[i / GRANULE] & mask;
        if (!live)
            return 0;
        if (live == mask && whole(p, i, n, seen))
            return sundew_unless_const(p->node[i]);
    }
    sundew_label node[16];
    uint8_t k[16];
    unsigned found = 0;
    for (unsigned j = 0; j < n; j++) {
        node[j] = 0;
        if (sundew_shadow_get(at + j, seen[j], &node[j], &k[j], site))
            found++;
    }
    return found ? gather(n, node, k, seen) : 0;
}

void sundew_shadow_store(uint64_t at, unsigned n, const uint8_t *stored, sundew_label l)
{
    l = sundew_unless_const(l);
    if (!l) {
        sundew_shadow_clear(at, n);
        return;
    }
    Page *p = made_page_at(at);
    unsigned i = at % PAGE, g = i % GRANULE;
    if (SUNDEW_RARE(!p || g + n > GRANULE)) {
        for (unsigned j = 0; j < n; j++)
            sundew_shadow_set(at + j, stored[j], l, (uint8_t)j);
        return;
    }
    for (unsigned j = 0; j < n; j++) {
        p->node[i + j] = l;
        p->k[i + j] = (uint8_t)j;
        p->witness[i + j] = stored[j];
    }
    p->live[i / GRANULE] |= span(g, n);
    tag(at / GRANULE, span(g, n));
}
