/* watch - memory that nobody has a pointer to, bytes that were not set. */
#include "runtime/watch/watch_int.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 16,
    STACK = 1 << 16,                 /* what calls may have left below a frame */
    MOST = 1 << 28,                  /* bytes that a search may read */
    BUDGET = 1 << 29,                /* bytes that a site may read */
};

typedef struct Search {
    uint64_t at, size;               /* the object */
    uint64_t frame;                  /* of the function that returns; below it nothing counts */
    uint64_t read;                   /* bytes, until now */
    char unknown;
} Search;

static char text[8192];              /* both guarded by `busy` */
static uint64_t words[CHUNK / 8];
static char busy;

static int is_ours(const Search *s, uint64_t at)
{
    uint64_t table, size, copy = (uint64_t)(uintptr_t)words;
    sundew_watch_table(&table, &size);
    if (at >= copy && at < copy + sizeof words)
        return 1;
    return (at >= s->at && at < s->at + s->size) || (at >= table && at < table + size) ||
           (at < s->frame && at >= s->frame - STACK);
}

static int is_in(Search *s, uint64_t from, uint64_t to)
{
    for (; from < to; from += CHUNK) {
        size_t n = to - from < CHUNK ? to - from : CHUNK;
        struct iovec here = { words, n }, there = { (void *)(uintptr_t)from, n };
        ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
        if (got < 0 && errno != EFAULT)
            s->unknown = 1;
        s->read += n;
        if (s->read > MOST)
            s->unknown = 1;
        if (s->unknown)
            return 0;
        for (size_t k = 0; got > 0 && k < (size_t)got / 8; k++)
            if (words[k] >= s->at && words[k] < s->at + s->size && !is_ours(s, from + 8 * k))
                return 1;
    }
    return 0;
}

/* A line of /proc/self/maps: memory that may be written, and is not shared. */
static int is_in_map(Search *s, const char *line)
{
    char *rest;
    uint64_t from = strtoull(line, &rest, 16);
    uint64_t to = *rest == '-' ? strtoull(rest + 1, &rest, 16) : 0;
    if (strlen(rest) < 5 || rest[1] != 'r' || rest[2] != 'w' || rest[4] != 'p')
        return 0;
    int stack = strstr(rest, "[stack]") != NULL;
    int mine = s->frame >= from && s->frame < to;
    if (mine && strstr(rest, "[heap]"))
        s->unknown = 1;              /* a stack of the program's own making */
    /* Streams are in a list of the C library, which is nobody's. */
    if (strstr(rest, "/libc.so") || strstr(rest, "/libc-") || strstr(rest, " /dev/"))
        return 0;
    int found = is_in(s, mine && stack ? s->frame : from, to);
    /* A caller's variable, or an old copy where nothing lives any more. */
    if (found && (mine || stack))
        s->unknown = 1;
    return found && !s->unknown;
}

static int has_holder(Search *s)
{
    size_t have = 0;
    int held = 0, fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    s->unknown = fd < 0;
    for (ssize_t n; fd >= 0 && !held && (n = read(fd, text + have, sizeof text - 1 - have)) > 0;) {
        have += (size_t)n;
        text[have] = 0;
        char *line = text, *end;
        while (!held && (end = strchr(line, '\n'))) {
            *end = 0;
            held = is_in_map(s, line);
            line = end + 1;
        }
        have = strlen(line);
        memmove(text, line, have + 1);
        if (have >= sizeof text / 2)
            break;
    }
    if (fd >= 0)
        close(fd);
    return held;
}

/* Is it still the object that the function made, and live? An older one is its caller's, who may
 * have the pointer in a register. */
static int is_same(const uint64_t *kept, uint64_t n, uint64_t k)
{
    uint64_t born = kept[n + 1 + k];
    return kept[k] && born > kept[2 * n + 1] &&
           sundew_watch_born((void *)(uintptr_t)kept[k]) == born;
}

/* The line of the warning: which of the `n` objects are live here? kept[n] says so, a bit each. */
void sundew_watch_passed(uint32_t slot, uint64_t *kept, uint64_t n)
{
    if (!sundew_watch_slot_of(slot))
        return;
    kept[n] = 0;
    for (uint64_t k = 0; k < n; k++)
        if (is_same(kept, n, k))
            kept[n] |= 1ULL << k;
}

void sundew_watch_lost(uint32_t slot, const uint64_t *kept, uint64_t n, void *frame, uint64_t given)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int error = errno;
    if (!s || !kept[n] || __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        return;
    int any = 0;
    for (uint64_t k = 0; k < n; k++) {
        Search search = { kept[k], sundew_watch_size((void *)(uintptr_t)kept[k]),
                          (uint64_t)(uintptr_t)frame, 0, 0 };
        if (!(kept[n] >> k & 1))
            continue;
        uint64_t size = is_same(kept, n, k) ? search.size : 0;
        if (size && (given < search.at || given >= search.at + size)) {
            if (__atomic_load_n(&s->spare, RELAXED) >= BUDGET)
                continue;
            int held = has_holder(&search);
            search.unknown &= !held;
            __atomic_fetch_add(&s->spare, search.read, RELAXED);
            if (!held && !search.unknown)
                sundew_watch_bad(s, 1, (int64_t)size, 0);
            any |= !search.unknown;
            if (search.unknown)
                __atomic_fetch_or(&s->bits, 1, RELAXED);
        } else {
            any = 1;
        }
    }
    if (any)
        sundew_watch_note(s);
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    errno = error;
}

/* ---- variables */

/* how: 1, these bytes are set; 2, somebody else may set them. */
void sundew_watch_mark(unsigned char *shadow, uint64_t size, uint64_t offset, uint64_t n,
                       uint32_t how)
{
    for (uint64_t k = offset; k < size && k - offset < n; k++)
        if (how == 1 || !shadow[k])
            shadow[k] = (unsigned char)how;
}

void sundew_watch_unset(uint32_t slot, const unsigned char *shadow, uint64_t size, uint64_t offset,
                        uint64_t n)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int unset = 0, unknown = 0;
    for (uint64_t k = offset; k < size && k - offset < n; k++) {
        unset |= shadow[k] == 0;
        unknown |= shadow[k] == 2;
    }
    if (!s || (unknown && !unset))
        return;
    sundew_watch_note(s);
    if (unset)
        sundew_watch_bad(s, 1, (int64_t)offset, 0);
}
