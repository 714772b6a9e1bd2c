/*
 * What a woven program calls: keeps a map of live objects and writes what it
 * saw to $SUNDEW_REALITY at exit, each observation once:
 *
 *     call SITE F                the indirect call at SITE reached global F
 *     load SITE g F OFFSET       the load gave a pointer into global F
 *     load SITE s ALLOCA OFFSET  … into the stack object of that alloca
 *     load SITE h OFFSET CHAIN   … into a heap block; CHAIN: the sites active
 *                                when it was allocated, the innermost first
 *     dropped N                  there was no room for so many more
 *
 * An OFFSET of 4096 means: so far into it, or further.
 *
 * Heap blocks are found through a shadow of 4 bytes for 16; stack objects
 * through a stack per thread; variables by binary search.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHAIN 12
#define DEPTH (1u << 16)     /* of calls */
#define NEAR 4096            /* offsets further in are not told apart */
#define BLOCKS (1u << 24)
#define SEEN (1u << 22)

struct global { char *at; uint64_t size; };
extern struct global sundew_reality_globals[];
extern uint64_t sundew_reality_nglobals;

struct block { char *at; uint32_t size, chain; };
struct chain { uint32_t n, site[CHAIN]; };

static uint32_t *shadow;          /* index of the block + 1 */
static struct block *blocks;
static uint32_t nblocks;
static struct chain *chains;
static uint32_t nchains, *chain_index;
static uint32_t (*seen)[4];
static uint32_t nseen, dropped;
static struct global **sorted;
static char lock;
static char ready;

static __thread uint32_t depth;
static __thread uint32_t active[DEPTH];
static __thread struct local { char *at; uint64_t size; uint32_t site, depth; } *locals;
static __thread uint32_t nlocals;

static void enter(void)
{
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
        ;
}

static void leave(void)
{
    __atomic_clear(&lock, __ATOMIC_RELEASE);
}

static void *space(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("reality: mmap");
        _exit(99);
    }
    return p;
}

static int by_address(const void *x, const void *y)
{
    const struct global *a = *(struct global *const *)x, *b = *(struct global *const *)y;
    return (a->at > b->at) - (a->at < b->at);
}

static void finish(void);

static void start(void)
{
    if (ready)
        return;
    shadow = space((size_t)1 << 45);
    blocks = space(BLOCKS * sizeof *blocks);
    chains = space((1u << 20) * sizeof *chains);
    chain_index = space((1u << 21) * sizeof *chain_index);
    seen = space((size_t)SEEN * sizeof *seen);
    sorted = space((sundew_reality_nglobals + 1) * sizeof *sorted);
    for (uint64_t i = 0; i < sundew_reality_nglobals; i++)
        sorted[i] = &sundew_reality_globals[i];
    qsort(sorted, sundew_reality_nglobals, sizeof *sorted, by_address);
    ready = 1;
    atexit(finish);
}

__attribute__((constructor(101))) static void early(void)
{
    start();
}

/* ---- objects */

static uint32_t chain_number(uint32_t site)
{
    struct chain c = { .n = 1, .site = { site } };

    /* active[depth-1] is the allocating call itself, already at its site */
    for (uint32_t d = depth; d-- > 0 && c.n < CHAIN;)
        if (d < DEPTH)
            c.site[c.n++] = active[d];
    uint64_t h = 14695981039346656037u;
    for (uint32_t i = 0; i < c.n; i++)
        h = (h ^ c.site[i]) * 1099511628211u;
    for (uint32_t i = (uint32_t)(h >> 20) & ((1u << 21) - 1);; i = (i + 1) & ((1u << 21) - 1)) {
        if (!chain_index[i]) {
            if (nchains == (1u << 20) - 1)
                return 0;
            chains[++nchains] = c;
            chain_index[i] = nchains;
            return nchains;
        }
        if (!memcmp(&chains[chain_index[i]], &c, sizeof c))
            return chain_index[i];
    }
}

static uint32_t free_block;

void sundew_reality_alloc(char *p, uint32_t site);
void sundew_reality_alloc(char *p, uint32_t site)
{
    if (!p)
        return;
    start();
    size_t n = malloc_usable_size(p);
    enter();
    uint32_t k = free_block;
    if (k)
        free_block = blocks[k].chain;
    else if (nblocks < BLOCKS - 2)
        k = ++nblocks;
    if (k) {
        blocks[k] = (struct block){ p, (uint32_t)n, chain_number(site) };
        for (size_t i = 0; i < (n + 15) / 16; i++)
            shadow[((uintptr_t)p >> 4) + i] = k;
    }
    leave();
}

void sundew_reality_free(char *p);
void sundew_reality_free(char *p)
{
    start();
    enter();
    uint32_t k = p ? shadow[(uintptr_t)p >> 4] : 0;
    if (k && blocks[k].at == p) {
        for (size_t i = 0; i < ((size_t)blocks[k].size + 15) / 16; i++)
            shadow[((uintptr_t)p >> 4) + i] = 0;
        blocks[k].at = NULL;
        blocks[k].chain = free_block;
        free_block = k;
    }
    leave();
}

uint32_t sundew_reality_mark(void);
uint32_t sundew_reality_mark(void)
{
    /* What is as deep as this function is of one that has returned, or was
     * jumped over. */
    while (nlocals && locals[nlocals - 1].depth >= depth)
        nlocals--;
    return depth;
}

void sundew_reality_site(uint32_t d, uint32_t site);
void sundew_reality_site(uint32_t d, uint32_t site)
{
    if (d < DEPTH)
        active[d] = site;
    depth = d + 1;
}

void sundew_reality_back(uint32_t d);
void sundew_reality_back(uint32_t d)
{
    depth = d;
}

void sundew_reality_push(char *p, uint64_t n, uint32_t site);
void sundew_reality_push(char *p, uint64_t n, uint32_t site)
{
    if (!locals)
        locals = space((1u << 20) * sizeof *locals);
    if (nlocals < 1u << 20)
        locals[nlocals++] = (struct local){ p, n, site, depth };
}

void sundew_reality_pop(uint32_t d);
void sundew_reality_pop(uint32_t d)
{
    while (nlocals && locals[nlocals - 1].depth >= d)
        nlocals--;
}

/* ---- observations */

static void note(uint32_t kind, uint32_t site, uint32_t a, uint32_t b)
{
    uint32_t row[4] = { kind + 1, site, a, b < NEAR ? b : NEAR };
    uint64_t h = ((uint64_t)site << 32 | a) * 0x9e3779b97f4a7c15u ^ ((uint64_t)row[3] << 8 | kind) * 0xff51afd7ed558ccdu;

    enter();
    for (uint32_t i = (uint32_t)(h >> 24) & (SEEN - 1);; i = (i + 1) & (SEEN - 1)) {
        if (!seen[i][0]) {
            if (nseen < SEEN / 4 * 3) {
                memcpy(seen[i], row, sizeof row);
                nseen++;
            } else {
                dropped++;
            }
            break;
        }
        if (!memcmp(seen[i], row, sizeof row))
            break;
    }
    leave();
}

static int find_global(char *p)
{
    uint64_t lo = 0, hi = sundew_reality_nglobals;

    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (sorted[mid]->at <= p)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || !sorted[lo - 1]->at)
        return -1;
    struct global *g = sorted[lo - 1];
    return p < g->at + g->size || p == g->at ? (int)(g - sundew_reality_globals) : -1;
}

void sundew_reality_load(uint32_t site, char *p);
void sundew_reality_load(uint32_t site, char *p)
{
    if ((uintptr_t)p < 4096 || (uintptr_t)p >> 47)
        return;
    start();
    uint32_t k = shadow[(uintptr_t)p >> 4];
    if (k && blocks[k].at && p >= blocks[k].at && p < blocks[k].at + blocks[k].size) {
        note(2, site, blocks[k].chain, (uint32_t)(p - blocks[k].at));
        return;
    }
    for (uint32_t i = nlocals; i-- > 0;)
        if (p >= locals[i].at && p < locals[i].at + locals[i].size) {
            note(1, site, locals[i].site, (uint32_t)(p - locals[i].at));
            return;
        }
    int g = find_global(p);
    if (g >= 0)
        note(0, site, (uint32_t)g, (uint32_t)(p - sundew_reality_globals[g].at));
}

void sundew_reality_call(uint32_t site, char *p);
void sundew_reality_call(uint32_t site, char *p)
{
    start();
    int g = find_global(p);
    if (g >= 0)
        note(3, site, (uint32_t)g, 0);
}

static void finish(void)
{
    const char *path = getenv("SUNDEW_REALITY");
    char name[4096];

    if (!path)
        return;
    snprintf(name, sizeof name, "%s.%d", path, (int)getpid());
    FILE *f = fopen(name, "w");
    if (!f)
        return;
    if (dropped)
        fprintf(f, "dropped %u\n", dropped);
    for (uint32_t i = 0; i < SEEN; i++) {
        uint32_t *r = seen[i];
        if (!r[0])
            continue;
        if (r[0] == 4)
            fprintf(f, "call %u %u\n", r[1], r[2]);
        else if (r[0] == 1)
            fprintf(f, "load %u g %u %u\n", r[1], r[2], r[3]);
        else if (r[0] == 2)
            fprintf(f, "load %u s %u %u\n", r[1], r[2], r[3]);
        else {
            fprintf(f, "load %u h %u", r[1], r[3]);
            for (uint32_t k = 0; k < chains[r[2]].n; k++)
                fprintf(f, " %u", chains[r[2]].site[k]);
            fputc('\n', f);
        }
    }
    fclose(f);
}
