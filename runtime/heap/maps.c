/*
 * maps - what the kernel says of the address space (/proc/self/maps), read
 * without the C library's streams.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { TABLE = 2048 };
static SundewMap table[TABLE];
static unsigned ntable;

static const char *hex(const char *s, const char *end, uint64_t *out)
{
    *out = 0;
    for (; s < end; s++) {
        unsigned d;
        if (*s >= '0' && *s <= '9')
            d = (unsigned)(*s - '0');
        else if (*s >= 'a' && *s <= 'f')
            d = (unsigned)(*s - 'a' + 10);
        else
            break;
        *out = *out << 4 | d;
    }
    return s;
}

/* lo-hi rwxp offset device inode   path */
static bool parse(const char *s, const char *end, SundewMap *m)
{
    s = hex(s, end, &m->lo);
    if (s >= end || *s++ != '-')
        return false;
    s = hex(s, end, &m->hi);
    if (end - s < 6)
        return false;
    m->readable = s[1] == 'r';
    m->writable = s[2] == 'w';
    m->executable = s[3] == 'x';
    m->file = end > s && memchr(s, '/', (size_t)(end - s)) != NULL;
    return true;
}

void sundew_maps(bool (*line)(const SundewMap *, const char *, size_t, void *), void *arg)
{
    int kept = errno;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char buffer[4096];
    size_t n = 0;
    ssize_t got;
    bool more = fd >= 0;
    while (more && (got = read(fd, buffer + n, sizeof buffer - n)) > 0) {
        n += (size_t)got;
        char *at = buffer, *nl;
        while (more && (nl = memchr(at, '\n', n - (size_t)(at - buffer)))) {
            SundewMap m;
            if (parse(at, nl, &m))
                more = line(&m, at, (size_t)(nl - at), arg);
            at = nl + 1;
        }
        n -= (size_t)(at - buffer);
        if (n == sizeof buffer)
            n = 0;                     /* a line longer than any path */
        memmove(buffer, at, n);
    }
    if (fd >= 0)
        close(fd);
    errno = kept;
}

typedef struct Wanted {
    uint64_t address;
    SundewMap *out;
    bool found;
} Wanted;

static bool is_wanted(const SundewMap *m, const char *text, size_t n, void *arg)
{
    (void)text, (void)n;
    Wanted *w = arg;
    if (w->address - m->lo >= m->hi - m->lo)
        return true;
    *w->out = *m;
    w->found = true;
    return false;
}

bool sundew_map_at(uint64_t address, SundewMap *m)
{
    Wanted w = { .address = address, .out = m };
    sundew_maps(is_wanted, &w);
    return w.found;
}

static bool keep(const SundewMap *m, const char *text, size_t n, void *arg)
{
    (void)text, (void)n, (void)arg;
    if (ntable < TABLE)
        table[ntable++] = *m;
    return true;
}

bool sundew_maps_load(void)
{
    ntable = 0;
    sundew_maps(keep, NULL);
    return ntable > 0;
}

const SundewMap *sundew_map_find(uint64_t address)
{
    unsigned lo = 0, hi = ntable;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (table[mid].lo <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && address < table[lo - 1].hi ? &table[lo - 1] : NULL;
}
