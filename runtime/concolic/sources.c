/* Labels of what is read; sources.h is the manual. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/concolic/sources.h"
#include "runtime/concolic/concolic.h"
#include "runtime/input/input.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what the program has written */

/* One byte of a file that has a label. */
struct kept {
    uint64_t file;             /* device and inode, mixed; 0: free */
    uint64_t offset;
    sundew_label label;        /* 0: it has none any more */
    uint8_t value;
};

/* How much went into a pipe and came out of it. */
struct flow {
    uint64_t file;
    uint64_t in, out;
};

/* The two ends of a socketpair(). */
struct pair {
    uint64_t a, b;
};

enum { KEPT = 1u << 20, FLOWS = 256, PROBES = 64, PAIRS = 64 };

/* Shared by all processes of a run. */
struct shared {
    atomic_uint busy;
    uint32_t used;
    struct flow flows[FLOWS];
    struct pair pairs[PAIRS];
    struct kept kept[KEPT];
};

static struct shared *shared;
static uint64_t outputs[2];    /* standard output and error at the start */

struct place {
    uint64_t file;             /* what is read here */
    uint64_t to; /* where it is read what is written here: of sockets, the other end */
    int is_input, is_regular, is_pipe;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
    return h ? h : 1;
}

static uint64_t name_of_address(const struct sockaddr_storage *a, socklen_t n)
{
    const uint8_t *byte = (const uint8_t *)a;
    uint64_t h = n;
    for (socklen_t i = 0; i < n && i < sizeof *a; i++)
        h = mix(h, byte[i]);
    return h;
}

/* A socket is a pipe for each way. On the network the ends are known by their addresses, the
 * ends of a pair by the call that made it. */
static void look_at_socket(int fd, struct place *p)
{
    struct sockaddr_storage own, peer;
    socklen_t n = sizeof own, k = sizeof peer;
    if (getsockname(fd, (struct sockaddr *)&own, &n) == 0 &&
        getpeername(fd, (struct sockaddr *)&peer, &k) == 0 &&
        (own.ss_family == AF_INET || own.ss_family == AF_INET6)) {
        uint64_t here = name_of_address(&own, n), there = name_of_address(&peer, k);
        p->file = mix(there, here);
        p->to = mix(here, there);
        p->is_pipe = 1;
    }
    for (unsigned i = 0; shared && i < PAIRS && shared->pairs[i].a; i++) {
        const struct pair *x = &shared->pairs[i];
        if (x->a == p->file || x->b == p->file) {
            p->to = x->a == p->file ? x->b : x->a;
            p->is_pipe = 1;
            break;
        }
    }
}

static int look(int fd, struct place *p)
{
    struct stat st;
    int saved = errno;
    if (fd == 0 && !sundew_input.is_file)
        sundew_input_late();
    int ok = fstat(fd, &st) == 0;
    errno = saved;
    if (!ok)
        return 0;
    p->file = p->to = mix(st.st_dev, st.st_ino);
    p->is_regular = S_ISREG(st.st_mode);
    p->is_pipe = S_ISFIFO(st.st_mode);
    p->is_input =
        sundew_input.is_file && st.st_dev == sundew_input.device && st.st_ino == sundew_input.inode;
    if (S_ISSOCK(st.st_mode))
        look_at_socket(fd, p);
    errno = saved;
    return 1;
}

void sundew_sources_start(void)
{
    struct place p;
    for (int i = 0; i < 2; i++)
        outputs[i] = look(i + 1, &p) ? p.file : 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        shared = NULL;
}

static void lock(void)
{
    for (unsigned tries = 0; atomic_exchange(&shared->busy, 1) && tries < 1u << 24; tries++)
        ;
}

static void unlock(void) { atomic_store(&shared->busy, 0); }

void sundew_was_paired(int a, int b)
{
    struct place x, y;
    if (!shared || !look(a, &x) || !look(b, &y))
        return;
    lock();
    for (unsigned i = 0; i < PAIRS; i++)
        if (!shared->pairs[i].a) {
            shared->pairs[i].b = y.file;
            shared->pairs[i].a = x.file;
            break;
        }
    unlock();
}

static struct kept *slot(uint64_t file, uint64_t offset, int make)
{
    uint64_t at = mix(file, offset);
    for (unsigned i = 0; i < PROBES; i++, at++) {
        struct kept *k = &shared->kept[at % KEPT];
        if (k->file == file && k->offset == offset)
            return k;
        if (!k->file) {
            if (!make || shared->used > KEPT / 2)
                return NULL;
            shared->used++;
            k->file = file;
            k->offset = offset;
            return k;
        }
    }
    return NULL;
}

/* Moves on in a pipe; the place where it was. */
static uint64_t flow(uint64_t file, uint64_t n, int in)
{
    uint64_t was = 0;
    lock();
    for (unsigned i = 0; i < FLOWS; i++) {
        struct flow *f = &shared->flows[(file + i) % FLOWS];
        if (f->file && f->file != file)
            continue;
        f->file = file;
        was = in ? f->in : f->out;
        *(in ? &f->in : &f->out) += n;
        break;
    }
    unlock();
    return was;
}

static void keep(uint64_t file, uint64_t offset, const uint8_t *from, uint64_t n)
{
    int some = sundew_is_symbolic(from, n);
    if (!some && !shared->used)
        return;
    lock();
    for (uint64_t i = 0; i < n; i++) {
        sundew_label l = some ? sundew_byte_label(from + i) : 0;
        struct kept *k = slot(file, offset + i, l != 0);
        if (k) {
            k->label = l;
            k->value = from[i];
        }
    }
    unlock();
}

static void give_back(uint64_t file, uint64_t offset, uint8_t *to, uint64_t n)
{
    if (!shared->used)
        return;
    for (uint64_t i = 0; i < n; i++) {
        struct kept *k = slot(file, offset + i, 0);
        if (k && k->label && k->value == to[i])
            sundew_set_byte_label(to + i, k->label);
    }
}

/* ---- the input */

static void label_input(uint64_t offset, uint8_t *to, uint64_t n)
{
    uint64_t first = sundew_input.first + offset;
    for (uint64_t i = 0; i < n;) {
        uint64_t from = i;
        while (i < n && first + i < sundew_input.size && to[i] == sundew_input.bytes[first + i])
            i++;
        if (i > from)
            sundew_symbolic(to + from, i - from, first + from);
        else
            i++;
    }
}

static void came_in(const struct place *p, uint64_t offset, void *to, uint64_t n)
{
    sundew_forget(to, n);
    if (p->is_input)
        label_input(offset, to, n);
    if (shared && (p->is_regular || p->is_pipe))
        give_back(p->file, offset, to, n);
}

/* ---- descriptors */

void sundew_was_read(int fd, void *to, uint64_t n, int64_t offset)
{
    struct place p;
    int saved = errno;
    if (n && look(fd, &p)) {
        if (offset < 0 && p.is_pipe && shared)
            offset = (int64_t)flow(p.file, n, 0);
        else if (offset < 0)
            offset = lseek(fd, 0, SEEK_CUR) - (int64_t)n;
        if (offset >= 0)
            came_in(&p, (uint64_t)offset, to, n);
        else
            sundew_forget(to, n);
    }
    errno = saved;
}

static int worth_keeping(const struct place *p)
{
    return shared && (p->is_regular || p->is_pipe) && p->file != outputs[0] &&
           p->file != outputs[1];
}

int sundew_will_write(int fd, const void *from, uint64_t n)
{
    struct place p;
    if (!n || !look(fd, &p) || !p.is_pipe || !worth_keeping(&p))
        return 0;
    keep(p.to, flow(p.to, n, 1), from, n);
    return 1;
}

void sundew_was_not_written(int fd, uint64_t n)
{
    struct place p;
    if (n && look(fd, &p))
        flow(p.to, -n, 1);
}

void sundew_was_written(int fd, const void *from, uint64_t n, int64_t offset)
{
    struct place p;
    int saved = errno;
    if (n && look(fd, &p) && !p.is_pipe && worth_keeping(&p)) {
        if (offset < 0)
            offset = lseek(fd, 0, SEEK_CUR) - (int64_t)n;
        if (offset >= 0)
            keep(p.file, (uint64_t)offset, from, n);
    }
    errno = saved;
}

void sundew_was_mapped(int fd, void *at, uint64_t n, int64_t offset)
{
    struct place p;
    struct stat st;
    int saved = errno;
    if (look(fd, &p) && fstat(fd, &st) == 0 && offset >= 0 && offset < st.st_size) {
        uint64_t left = (uint64_t)(st.st_size - offset);
        came_in(&p, (uint64_t)offset, at, n < left ? n : left);
    }
    errno = saved;
}

/* ---- streams */

/* Asking which file a stream is, and where, are system calls; both are known of the stream
 * that was used last. Its position is as long as its buffer is the same: `behind` the
 * buffer's end. */
static struct {
    FILE *f;
    int known; /* `place` is the file's */
    struct place place;
    const char *base, *end;
    int64_t behind;
} last;

static int look_at(FILE *f, struct place *p)
{
    if (last.f != f || !last.known) {
        int fd = fileno(f);
        if (fd < 0 || !look(fd, p))
            return 0;
        if (last.f != f)
            last.base = last.end = NULL;
        last.f = f;
        last.known = 1;
        last.place = *p;
    }
    *p = last.place;
    return 1;
}

int sundew_reads_labels(FILE *f)
{
    struct place p;
    return look_at(f, &p) &&
           (p.is_input || (shared && shared->used && (p.is_regular || p.is_pipe)));
}

int sundew_keeps_labels(FILE *f)
{
    struct place p;
    return look_at(f, &p) && worth_keeping(&p);
}

int64_t sundew_place(FILE *f)
{
    int saved = errno;
    if (f == last.f && f->_IO_read_ptr < f->_IO_read_end && f->_IO_read_base == last.base &&
        f->_IO_read_end == last.end)
        return last.behind - (f->_IO_read_end - f->_IO_read_ptr);
    int64_t at = ftello(f);
    errno = saved;
    return at < 0 ? 0 : at; /* a pipe is counted by flow() */
}

/* Where the stream is now is known: place + n. */
static void remember(FILE *f, int64_t at)
{
    if (last.f != f)
        last.known = 0;
    last.f = f;
    last.base = f->_IO_read_base;
    last.end = f->_IO_read_end;
    last.behind = at + (f->_IO_read_end - f->_IO_read_ptr);
}

void sundew_was_moved(FILE *f)
{
    if (last.f == f)
        last.f = NULL;
}

void sundew_was_read_at(FILE *f, int64_t place, void *to, uint64_t n)
{
    struct place p;
    int saved = errno;
    if (place >= 0 && n && look_at(f, &p)) {
        if (p.is_pipe && shared)
            place = (int64_t)flow(p.file, n, 0);
        else
            remember(f, place + (int64_t)n);
        came_in(&p, (uint64_t)place, to, n);
    }
    errno = saved;
}

void sundew_was_written_at(FILE *f, int64_t place, const void *from, uint64_t n)
{
    struct place p;
    int saved = errno;
    if (place >= 0 && n && look_at(f, &p) && worth_keeping(&p)) {
        if (p.is_pipe)
            place = (int64_t)flow(p.to, n, 1);
        keep(p.to, (uint64_t)place, from, n);
    }
    errno = saved;
}
