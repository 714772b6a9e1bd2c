/*
 * lost - memory that nothing leads to any more.
 *
 * A library may keep memory for later calls, and after two calls at once it may keep more
 * than after one. So what is left on the heap says nothing; what can't be reached says that
 * it is lost. With the address sanitizer all blocks are known, and they are searched as a
 * collector of garbage does it: all memory that can be written, but for the heap and the
 * stacks of threads that are over, is read for addresses within blocks, then these blocks.
 *
 * What only looks like an address hides a lost block, so less may be found, never more.
 *
 *     lost_watch();                   before the library is loaded
 *     uint32_t since = lost_mark();
 *     …                               threads call lost_stack() at their begin
 *     lost_bytes(since)
 */
#include "engine/play/player/player_int.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MOST_BLOCKS = 1 << 17,
    ROOM = 2 * MOST_BLOCKS,
    MOST_UNREAD = 8,
    PAGE = 4096,
    PIECE = 4096,                /* pages that are asked for at once */
    SMALL = (1 << 17) - 2048,    /* larger blocks have pieces of memory of their own */
};

/* A larger piece of memory is the sanitizer's own. */
#define MOST_ROOTS ((uintptr_t)1 << 30)

/* All that the heap has given away since lost_watch(). */
typedef struct Block {
    uintptr_t at, n;
    uint32_t born;
    uint8_t live, found;
} Block;

typedef struct Range {
    uintptr_t from, to;
} Range;

static Block *blocks;            /* NULL: nobody watches */
static uint32_t *rows;           /* their numbers from 1, hashed by address */
static uint32_t nblocks, births;
static bool over;                /* it is full, or read */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static Range unread[MOST_UNREAD];       /* the table itself, and stacks of threads */
static unsigned nunread;

/* ---------------------------------------------------------------- watching */

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void leave(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

/* Where the block's number stands, or would stand. */
static uint32_t *row_of(uintptr_t at)
{
    size_t i = (size_t)((at >> 4) * 0x9e3779b97f4a7c15u >> 40);
    while (rows[i % ROOM] && blocks[rows[i % ROOM] - 1].at != at)
        i++;
    return &rows[i % ROOM];
}

static void note_new(const volatile void *p, size_t n)
{
    enter();
    if (p && !over) {
        uint32_t *row = row_of((uintptr_t)p);
        if (!*row)
            *row = ++nblocks;
        blocks[*row - 1] = (Block){ .at = (uintptr_t)p, .n = n, .born = births, .live = 1 };
        over = nblocks == MOST_BLOCKS;
    }
    leave();
}

static void note_gone(const volatile void *p)
{
    enter();
    const uint32_t *row = p && !over ? row_of((uintptr_t)p) : NULL;
    if (row && *row)
        blocks[*row - 1].live = 0;
    leave();
}

static void leave_out(uintptr_t at, size_t n)
{
    if (nunread < MOST_UNREAD)
        unread[nunread++] = (Range){ at, at + n };
}

static void *pages(size_t n, int how)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void lost_watch(void)
{
    int (*install)(void (*)(const volatile void *, size_t), void (*)(const volatile void *));
    void *f = dlsym(RTLD_DEFAULT, "__sanitizer_install_malloc_and_free_hooks");
    memcpy(&install, &f, sizeof install);
    if (!f)
        return;
    blocks = pages(MOST_BLOCKS * sizeof *blocks, MAP_PRIVATE);
    rows = pages(ROOM * sizeof *rows, MAP_PRIVATE);
    if (!blocks || !rows || !install(note_new, note_gone))
        blocks = NULL;
    else
        leave_out((uintptr_t)blocks, MOST_BLOCKS * sizeof *blocks);
}

void lost_rest(void) { over = true; }

uint32_t lost_mark(void)
{
    enter();
    uint32_t mark = ++births;
    leave();
    return mark;
}

void lost_stack(void)
{
    pthread_attr_t a;
    void *at;
    size_t n;
    if (!blocks || pthread_getattr_np(pthread_self(), &a) != 0)
        return;
    pthread_attr_getstack(&a, &at, &n);
    pthread_attr_destroy(&a);
    enter();
    leave_out((uintptr_t)at, n);
    leave();
}

/* ---------------------------------------------------------------- search */

typedef struct Search {
    Block *all;                  /* by address */
    size_t n;
    size_t *next;                /* found, not yet read */
    size_t nnext;
} Search;

static int by_address(const void *a, const void *b)
{
    const Block *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The number of blocks that begin at or before an address. */
static size_t count_until(const Search *s, uintptr_t at)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->all[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void read_word(Search *s, uintptr_t word)
{
    if (!s->n || word < s->all[0].at)
        return;
    size_t i = count_until(s, word) - 1;
    Block *b = &s->all[i];
    if (b->found || !b->live || word - b->at >= (b->n ? b->n : 1))
        return;
    b->found = 1;
    s->next[s->nnext++] = i;
}

static void read_words(Search *s, uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = (from + 7) & ~(uintptr_t)7; at + 8 <= to; at += 8)
        read_word(s, *(const uintptr_t *)at);
}

/* Is a page in a large block, which is read if something leads to it? */
static bool is_in_large(const Search *s, uintptr_t page)
{
    size_t i = count_until(s, page + PAGE - 1);
    return i && s->all[i - 1].n > SMALL && page < s->all[i - 1].at + s->all[i - 1].n;
}

static bool is_unread(uintptr_t at)
{
    for (unsigned i = 0; i < nunread; i++)
        if (at >= unread[i].from && at < unread[i].to)
            return true;
    return false;
}

/* Pages that were never touched hold nothing, and would be made by reading them. */
static void read_pages(Search *s, uintptr_t from, uintptr_t to)
{
    static unsigned char there[PIECE];
    for (uintptr_t at = from; at < to; at += (uintptr_t)PIECE * PAGE) {
        uintptr_t n = (to - at) / PAGE < PIECE ? (to - at) / PAGE : PIECE;
        if (mincore((void *)at, n * PAGE, there) != 0)
            continue;
        for (uintptr_t i = 0; i < n; i++)
            if (there[i] & 1 && !is_unread(at + i * PAGE) && !is_in_large(s, at + i * PAGE))
                read_words(s, at + i * PAGE, at + (i + 1) * PAGE);
    }
}

/* Is it a part of the heap? A large block may stand beside other memory. */
static bool is_heap(const Search *s, uintptr_t from, uintptr_t to)
{
    for (size_t i = count_until(s, from); i < s->n && s->all[i].at < to; i++)
        if (s->all[i].n <= SMALL)
            return true;
    return false;
}

/* A line of /proc/self/maps: "from-to rw-p …". */
static void read_line(Search *s, const char *line)
{
    char *end;
    uintptr_t from = strtoul(line, &end, 16), to = *end ? strtoul(end + 1, &end, 16) : 0;
    if (strncmp(end, " rw-p", 5) == 0 && !strstr(end, "[stack]") && to - from <= MOST_ROOTS &&
        !is_heap(s, from, to))
        read_pages(s, from, to);
}

/* All of /proc/self/maps, as text; NULL: it can't be had, or is too long. */
static char *read_maps(void)
{
    enum { MOST = 1 << 20 };
    char *text = pages(MOST, MAP_SHARED);
    size_t n = 0;
    ssize_t got = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (!text || fd < 0)
        return NULL;
    while (n < MOST - 1 && (got = read(fd, text + n, MOST - 1 - n)) > 0)
        n += (size_t)got;
    close(fd);
    return got == 0 && n ? text : NULL;
}

/* Finds all that can be reached. */
static void search(Search *s, char *maps)
{
    memcpy(s->all, blocks, nblocks * sizeof *blocks);
    s->n = nblocks;
    qsort(s->all, s->n, sizeof *s->all, by_address);
    for (char *line = strtok(maps, "\n"); line; line = strtok(NULL, "\n"))
        read_line(s, line);
    while (s->nnext) {
        const Block *b = &s->all[s->next[--s->nnext]];
        read_words(s, b->at, b->at + b->n);
    }
}

uint64_t lost_bytes(uint32_t since)
{
    uint64_t n = 0;
    if (!blocks || over)
        return 0;
    over = true;
    /* The tables of the search must not lead to blocks: shared memory is not read. */
    Search s = { .all = pages(nblocks * sizeof *s.all + 1, MAP_SHARED),
                 .next = pages(nblocks * sizeof *s.next + 1, MAP_SHARED) };
    char *maps = read_maps();
    if (!s.all || !s.next || !maps)
        return 0;
    search(&s, maps);
    for (size_t i = 0; i < s.n; i++)
        if (s.all[i].live && !s.all[i].found && s.all[i].born >= since)
            n += s.all[i].n;
    return n;
}
