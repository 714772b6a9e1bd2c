/*
 * record - write what the program does into a trace (tracefile.h).
 *
 * Each thread has a stream of its own, a file that is mapped a window at a
 * time; events are put together in the window, the tag last. Nothing is
 * locked: all that threads and processes share is the counter that orders the
 * events.
 *
 * The calls that a thread is in are kept on a stack with their stack pointers,
 * as the monitor does: a return takes off all at and below its own. With each
 * call its first slots are kept, so that what they point to can be copied once
 * more at the return.
 */
#include "runtime/record/record.h"
#include "runtime/monitor/monitor_int.h"
#include "runtime/format/tables.h"
#include "runtime/format/tracefile.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WINDOW = 1 << 20,            /* mapped at a time */
    MOST_EVENT = 1 << 17,        /* a longer one is cut */
    LAST_WORD = 64,
    MOST_COPY = 1 << 12,         /* of one object */
    MOST_STATE = 1 << 9,         /* … with SUNDEW_COPY_STATE */
    MOST_ALLOC_EVENTS = 1 << 20, /* of a process that is sampled */
    MOST_DEPTH = 1 << 14,        /* calls on a thread's stack */
    MOST_SLOTS = 256,            /* of a function */
    KEPT_SLOTS = 8,              /* with each call */
    MOST_STEPS = 256,
};

typedef struct OpenCall {
    uint64_t number;
    uintptr_t sp;
    uint32_t row, nslots;
    uint64_t slots[KEPT_SLOTS];
} OpenCall;

/* The variadic arguments of the call that comes next. */
typedef struct Rest {
    bool on;
    uint32_t row, n;
    const char *kinds;
    uint64_t values[SUNDEW_MOST_REST];
} Rest;

/* Of a thread. `at` is where the next event goes. The file is opened by its
 * name for each window: a descriptor that stays open would change the numbers
 * that the program gets, and one that the program closes may become a file of
 * its own. */
typedef struct Stream {
    bool open, off, busy;
    uint32_t thread;
    char name[48];
    uint8_t *window, *at;
    uint64_t offset;             /* of the window in the file */
    uint64_t last;               /* number of the event before */
    OpenCall *calls;
    uint32_t ncalls;
    uint64_t *slots;
    Rest rest;
} Stream;

static __thread Stream stream;

/* Of the process. `mark` lies in a page that is empty after a fork, however it
 * was done. */
static struct {
    bool on;
    char dir[4000];
    pid_t pid;
    uint64_t begun;              /* the order then */
    _Atomic uint64_t *order;
    _Atomic uint32_t threads;
    _Atomic uint64_t budget;     /* bytes that may still be written */
    _Atomic uint64_t allocs;     /* events of the heap that may still come */
    volatile uint32_t *mark;
    pthread_key_t key;
    /* Sampling: how many calls of each function there were, in a page that all
     * processes share, and how many of the first are recorded. NULL: all are. */
    uint64_t *calls;
    uint64_t sampled;
} process;

enum { MARK = 0x53554e44 };

SundewSettings sundew_settings;        /* of the monitor; none here */

/* ---- small text, without stdio */

static char *add_text(char *at, char *end, const char *s)
{
    while (*s && at < end)
        *at++ = *s++;
    *at = 0;
    return at;
}

static char *add_number(char *at, char *end, uint64_t x)
{
    char digits[24], *d = digits + sizeof digits - 1;

    *d = 0;
    do
        *--d = (char)('0' + x % 10);
    while ((x /= 10));
    return add_text(at, end, d);
}

static int open_in_folder(const char *name, int flags)
{
    char path[4400], *end = path + sizeof path - 1;
    char *at = add_text(path, end, process.dir);

    at = add_text(at, end, "/");
    add_text(at, end, name);
    return open(path, flags | O_CLOEXEC, 0600);
}

/* ---- the window */

static uint8_t *put_varint(uint8_t *at, uint64_t x)
{
    while (x >= 0x80) {
        *at++ = (uint8_t)(x | 0x80);
        x >>= 7;
    }
    *at++ = (uint8_t)x;
    return at;
}

static uint8_t *put_signed(uint8_t *at, int64_t x)
{
    return put_varint(at, ((uint64_t)x << 1) ^ (uint64_t)(x >> 63));
}

/* Disk space is reserved first: a page that can't be written would kill us. */
static void *map_part(int fd, uint64_t offset)
{
    int failed = posix_fallocate(fd, (off_t)offset, WINDOW);
    if (failed && failed != EOPNOTSUPP && failed != EINVAL)
        return MAP_FAILED;
    if (failed && ftruncate(fd, (off_t)(offset + WINDOW)))
        return MAP_FAILED;
    return mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
}

/* A file that grows over this limit brings a signal. */
static bool is_too_long(uint64_t size)
{
    struct rlimit l;
    return getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY && size > l.rlim_cur;
}

static bool window_map(uint64_t offset)
{
    uint64_t left = atomic_load(&process.budget);

    do {
        if (left < WINDOW)
            return false;
    } while (!atomic_compare_exchange_weak(&process.budget, &left, left - WINDOW));
    int fd = is_too_long(offset + WINDOW) ? -1 : open_in_folder(stream.name, O_RDWR);
    if (fd < 0)
        return false;
    uint8_t *w = map_part(fd, offset);
    close(fd);
    if (w == MAP_FAILED)
        return false;
    if (stream.window)
        munmap(stream.window, WINDOW);
    stream.window = w;
    stream.offset = offset;
    return true;
}

static uint64_t next_number(void)
{
    return atomic_fetch_add_explicit(process.order, 1, memory_order_relaxed) + 1;
}

static void event_end(enum SundewTraceTag tag, uint8_t *end, uint64_t number)
{
    uint32_t n = (uint32_t)(end - stream.at - 4);

    stream.at[1] = (uint8_t)(n | 0x80);
    stream.at[2] = (uint8_t)(n >> 7 | 0x80);
    stream.at[3] = (uint8_t)(n >> 14);
    atomic_signal_fence(memory_order_release);
    *(volatile uint8_t *)stream.at = (uint8_t)tag;
    stream.at = end;
    stream.last = number;
}

/* The next window, if the longest event would not fit into this one any more.
 * A few bytes are always left, to say that recording ended. */
static bool make_room(void)
{
    uint64_t at = stream.offset + (uint64_t)(stream.at - stream.window);
    uint64_t page = at & ~(uint64_t)0xfff;

    if (stream.at + MOST_EVENT + LAST_WORD <= stream.window + WINDOW)
        return true;
    if (!window_map(page))
        return false;
    stream.at = stream.window + (at - page);
    return true;
}

/*
 * An event is begun (its tag still 0), filled and ended. The length has always
 * three bytes. NULL: no room is to be had, the stream is off.
 */
static uint8_t *event_begin(uint64_t *number)
{
    bool room = make_room();

    *number = next_number();
    uint8_t *at = put_varint(stream.at + 4, *number - stream.last);
    if (room)
        return at;
    at = put_varint(at, SUNDEW_END_FULL);
    event_end(SUNDEW_TRACE_END, put_varint(at, 0), *number);
    stream.off = true;
    return NULL;
}

/* ---- streams */

static bool write_header(void)
{
    SundewStreamHeader h = { .version = SUNDEW_STREAM_VERSION };
    const char *key = sundew_tables.key, *name = sundew_tables.name;
    size_t nk = strlen(key), nn = strlen(name);
    uint8_t *at = stream.window;

    if (nk + nn > 4000)
        nn = 0;
    memcpy(h.magic, SUNDEW_STREAM_MAGIC, sizeof h.magic);
    h.textlen = (uint32_t)(nk + 1 + nn);
    h.bytes = (uint32_t)(sizeof h + h.textlen + 7) & ~7u;
    h.pid = (uint32_t)getpid();
    h.parent = (uint32_t)getppid();
    h.thread = stream.thread;
    h.begun = process.begun;
    h.slide = sundew_slide();
    h.born = stream.last = atomic_load(process.order);
    memcpy(at + sizeof h, key, nk);
    at[sizeof h + nk] = '\n';
    memcpy(at + sizeof h + nk + 1, name, nn);
    memcpy(at, &h, sizeof h);
    stream.at = at + h.bytes;
    return true;
}

enum {
    CALLS_ROOM = MOST_DEPTH * sizeof(OpenCall),
    SLOTS_ROOM = MOST_SLOTS * sizeof(uint64_t),
};

/* Gives back what the stream has of memory. */
static void stream_close(void)
{
    if (stream.window)
        munmap(stream.window, WINDOW);
    if (stream.calls)
        munmap(stream.calls, CALLS_ROOM + SLOTS_ROOM);
    stream.window = NULL;
    stream.calls = NULL;
}

/* What the thread did not use of its file is there for others. */
static void cut_file(void)
{
    if (!stream.window)
        return;
    size_t used = (size_t)(stream.at - stream.window);
    int fd = open_in_folder(stream.name, O_WRONLY);
    if (fd >= 0 && ftruncate(fd, (off_t)(stream.offset + used)) == 0)
        atomic_fetch_add(&process.budget, WINDOW - used);
    if (fd >= 0)
        close(fd);
}

static void thread_ends(void *arg)
{
    (void)arg;
    int keep = errno;
    sundew_record_end(SUNDEW_END_THREAD, 0);
    cut_file();
    stream_close();
    errno = keep;
}

/* A new file for this thread. A program that was executed by another one finds
 * names of that taken: it is the same process. */
static bool make_file(void)
{
    char *end = stream.name + sizeof stream.name - 1;
    int fd;

    do {
        stream.thread = atomic_fetch_add(&process.threads, 1);
        char *at = add_number(stream.name, end, (uint64_t)process.pid);
        at = add_text(at, end, ".");
        at = add_number(at, end, stream.thread);
        add_text(at, end, ".stream");
        fd = open_in_folder(stream.name, O_RDWR | O_CREAT | O_EXCL);
    } while (fd < 0 && errno == EEXIST);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool stream_open(void)
{
    stream.open = true;
    stream.off = true;
    uint8_t *m = mmap(NULL, CALLS_ROOM + SLOTS_ROOM, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        return false;
    stream.calls = (OpenCall *)m;
    stream.slots = (uint64_t *)(m + CALLS_ROOM);
    stream.ncalls = 0;
    stream.window = NULL;
    if (!make_file() || !window_map(0) || !write_header()) {
        stream_close();
        return false;
    }
    pthread_setspecific(process.key, &stream);
    stream.off = false;
    return true;
}

/* After a fork the streams are the parent's: this process begins its own. */
static void process_begins(void)
{
    *process.mark = MARK;
    process.pid = getpid();
    process.begun = atomic_load(process.order);
    atomic_store(&process.threads, 0);
    if (stream.open) {
        stream_close();
        memset(&stream, 0, sizeof stream);
    }
}

/* A child of vfork() runs in the memory of its parent, whose stream goes on. */
static bool is_borrowed(void)
{
    return process.on && *process.mark == MARK && process.pid != getpid();
}

/* May this thread write an event now? Then it is ours until stream_done(). */
static bool stream_ready(void)
{
    if (!process.on || stream.busy)
        return false;
    stream.busy = true;
    if (*process.mark != MARK) {
        process_begins();
        stream.busy = true;
    }
    if ((stream.open || stream_open()) && !stream.off)
        return true;
    stream.busy = false;
    return false;
}

static void stream_done(void) { stream.busy = false; }

/* ---- memory */

typedef struct Copier {
    uint8_t *at, *end, *count;   /* count: where the number of pieces stands */
    uint64_t last;               /* address of the piece before */
    unsigned n;
    bool cut;
} Copier;

static bool copies_state(void) { return sundew_tables.strategy == SUNDEW_COPY_STATE; }

/* Memory that was given back holds nothing of interest. */
static bool is_freed(uint64_t address)
{
    SundewExtent e;
    return sundew_extent_at(address, &e) && e.freed && address < e.start + e.size;
}

/* To the end of the heap object or variable; 0: not known. */
static uint64_t bytes_behind(uint64_t address)
{
    SundewExtent e;
    const SundewGlobal *g;

    if (sundew_extent_at(address, &e))
        return e.freed ? 0 : e.start + e.size - address;
    g = sundew_global_at(address);
    return g ? g->address + g->size - address : 0;
}

static bool copy_piece(Copier *c, uint64_t address, size_t size, uint32_t type)
{
    if (c->n >= 127 || c->at + 40 + MOST_COPY > c->end) {
        c->cut = true;
        return false;
    }
    const SundewType *t = sundew_type(type);
    uint64_t rest = bytes_behind(address);
    if (size == 0)
        size = rest ? rest : t ? t->size : 0;
    else if (rest && size > rest)
        size = rest;
    if (copies_state() && size > MOST_STATE)
        size = MOST_STATE;
    if (size > MOST_COPY) {
        size = MOST_COPY;
        c->cut = true;
    }
    if (size == 0 || (copies_state() && is_freed(address)))
        return false;
    uint8_t head[40], *h = head;
    h = put_signed(h, (int64_t)(address - c->last));
    h = put_varint(h, rest);
    h = put_varint(h, type);
    h = put_varint(h, size);
    memcpy(c->at, head, (size_t)(h - head));
    if (sundew_safe_copy(c->at + (h - head), address, size) != size)
        return false;
    c->at += (h - head) + size;
    c->last = address;
    c->n++;
    return true;
}

/* A string whose end is not known from its object. */
static size_t length_of_text(uint64_t address)
{
    char text[256];

    if (bytes_behind(address))
        return 0;
    size_t n = sundew_safe_copy(text, address, sizeof text);
    char *zero = memchr(text, 0, n);
    return zero ? (size_t)(zero - text) + 1 : n;
}

/* How many bytes an argument beside a pointer says there are, where the object's
 * end is not known (an array on the stack): f(p, n), f(n, p). 0: none says so. */
static size_t length_beside(const SundewStep *s, const uint64_t *slots, uint32_t nslots,
                            uint64_t address)
{
    const SundewType *t = sundew_type(s->type);
    size_t one = t && t->kind == SUNDEW_DATA ? t->size : 1;

    if (s->parent != SUNDEW_NO_STEP || s->slot == SUNDEW_VARIABLE || s->from || one == 0 ||
        one > 8 || bytes_behind(address))
        return 0;
    for (int d = 1; d >= -1; d -= 2) {
        uint32_t at = (uint32_t)(s->slot + d);
        if (at < nslots && slots[at] > 0 && slots[at] <= MOST_COPY / one)
            return slots[at] * one;
    }
    return 0;
}

/* Wide characters up to a zero, in bytes: texts whose characters have two or four. 0: it is
 * no such text, or its object's end is known. */
static size_t length_of_wide_text(const SundewStep *s, uint64_t address)
{
    enum { MOST_CHARACTERS = 64, LAST_CHARACTER = 0x10ffff };
    const SundewType *t = sundew_type(s->type);
    size_t one = t && t->kind == SUNDEW_DATA && !t->npointers ? t->size : 0;
    uint8_t text[MOST_CHARACTERS * 4];

    if ((one != 2 && one != 4) || s->parent != SUNDEW_NO_STEP || s->slot == SUNDEW_VARIABLE ||
        s->from || bytes_behind(address))
        return 0;
    size_t n = sundew_safe_copy(text, address, MOST_CHARACTERS * one);
    for (size_t at = 0; at + one <= n; at += one) {
        uint32_t c = 0;
        memcpy(&c, text + at, one);
        if (c == 0)
            return at + one;
        if (c > LAST_CHARACTER)
            break;
    }
    return 0;
}

/*
 * What lists and tables of texts lead to, beyond the steps:
 *
 *     struct item { const char *name; struct item *next; }     each item, each name
 *     const char *const *words                                 each word
 *
 * Only small structs are followed: larger ones are a library's own objects, and nobody
 * makes these anew.
 */
enum { SMALL_NODE = 64, MOST_NODES = 48, MOST_LINKED = 1 << 12, DEEPEST_NODE = 8 };

static const SundewType *node_type(uint32_t type)
{
    const SundewType *t = sundew_type(type);
    return t && t->kind == SUNDEW_DATA && t->npointers && t->size && t->size <= SMALL_NODE ? t
                                                                                           : NULL;
}

/* How many lie there. Texts whose number nobody knows end with NULL. */
static size_t count_nodes(const SundewType *t, uint64_t address, size_t beside)
{
    uint64_t rest = bytes_behind(address), p;
    char c;
    size_t n = 0;

    if (rest || beside)
        return (rest ? rest : beside) / t->size;
    if (t->size != 8)
        return 1;
    while (n < MOST_NODES && sundew_safe_copy(&p, address + n * 8, 8) == 8 && p &&
           sundew_safe_copy(&c, p, 1) == 1)
        n++;
    return n + 1;
}

static void copy_nodes(Copier *c, uint64_t address, uint32_t type, size_t n, const uint8_t *limit,
                       unsigned depth)
{
    const SundewType *t = node_type(type);

    for (size_t i = 0; t && i < n * t->npointers; i++) {
        const SundewPointer *q = &sundew_tables.pointers[t->first + i % t->npointers];
        const SundewType *to = sundew_type(q->type);
        uint64_t p;
        if (c->n > MOST_NODES || c->at > limit)
            return;
        if (q->unsure || !to ||
            sundew_safe_copy(&p, address + i / t->npointers * t->size + q->offset, 8) != 8 || !p)
            continue;
        if (to->kind == SUNDEW_CHAR)
            copy_piece(c, p, length_of_text(p), q->type);
        else if (node_type(q->type) && depth < DEEPEST_NODE && copy_piece(c, p, 0, q->type))
            copy_nodes(c, p, q->type, 1, limit, depth + 1);
    }
}

static void copy_links(Copier *c, const SundewFunction *f, const uint64_t *slots, uint32_t nslots)
{
    const SundewParam *p = sundew_tables.params + f->params;

    for (unsigned i = 0; i < f->nparams; i++, p++) {
        const SundewType *t = sundew_type(p->type);
        uint64_t address = p->slot < nslots && !p->by_copy ? slots[p->slot] : 0;
        if (!t || t->npointers != 1 || t->size != 8 || !address)
            continue;
        uint32_t to = sundew_tables.pointers[t->first].type;
        const SundewType *node = node_type(to);
        if (!node)
            continue;
        SundewStep s = { .parent = SUNDEW_NO_STEP, .slot = p->slot, .type = to };
        size_t beside = length_beside(&s, slots, nslots, address);
        size_t n = count_nodes(node, address, beside);
        n = n < MOST_NODES ? n : MOST_NODES;
        if (!beside && n > 1 && !bytes_behind(address))
            copy_piece(c, address, n * node->size, to);
        copy_nodes(c, address, to, n, c->at + MOST_LINKED, 0);
    }
}

static uint64_t step_pointer(const SundewStep *s, const uint64_t *pointers, const uint64_t *slots,
                             uint32_t nslots)
{
    uint64_t p = 0;

    if (s->parent != SUNDEW_NO_STEP) {
        uint64_t from = pointers[s->parent];
        return from && sundew_safe_copy(&p, from + s->at, 8) == 8 ? p : 0;
    }
    if (s->slot == SUNDEW_VARIABLE) {
        const SundewGlobal *g = sundew_global_numbered(s->at);
        return g ? g->address : 0;
    }
    return s->slot < nslots ? slots[s->slot] : 0;
}

static void copy_steps(Copier *c, const SundewFunction *f, const uint64_t *slots, uint32_t nslots)
{
    uint64_t pointers[MOST_STEPS];
    const SundewStep *steps = sundew_tables.steps + f->steps;

    for (unsigned i = 0; i < f->nsteps && i < MOST_STEPS; i++) {
        const SundewStep *s = &steps[i];
        uint64_t p = pointers[i] = step_pointer(s, pointers, slots, nslots);
        if (!p)
            continue;
        size_t size = s->size;
        const SundewType *t = sundew_type(s->type);
        size_t beside = length_beside(s, slots, nslots, p), wide = length_of_wide_text(s, p);
        beside = wide > beside ? wide : beside;
        if (!size && t && t->kind == SUNDEW_CHAR)
            size = length_of_text(p + s->from);
        if (beside <= size || !copy_piece(c, p, beside, s->type))
            copy_piece(c, p + s->from, size, s->from ? 0 : s->type);
    }
}

/* All that can be reached, each object once (walk.c). */
static bool met(SundewWalk *w, const SundewObject *o)
{
    copy_piece(w->arg, o->address + o->offset, o->kept, o->offset ? 0 : o->type);
    return true;
}

/* Recording knows nothing of stack objects. */
bool sundew_local_at(const SundewLane *l, uint64_t address, unsigned frames, SundewExtent *e,
                     uint32_t *type)
{
    (void)l, (void)address, (void)frames, (void)e, (void)type;
    return false;
}

static void copy_deep(Copier *c, const SundewFunction *f, const uint64_t *slots, uint32_t nslots,
                      const uint64_t *result, uint32_t nresult)
{
    enum { QUEUE = 512, SEEN = 1024 };
    SundewItem queue[QUEUE];
    uint64_t seen[SEEN];
    const SundewParam *p = sundew_tables.params + f->params;
    memset(seen, 0, sizeof seen);
    SundewWalk w = { .queue = queue,
                     .nqueue = QUEUE,
                     .seen = seen,
                     .nseen = SEEN,
                     .budget = MOST_EVENT / 2,
                     .met = met,
                     .arg = c };

    for (unsigned i = 0; i < f->nparams; i++, p++) {
        if ((uint32_t)p->slot + p->nslots > nslots)
            continue;
        if (p->by_copy)
            sundew_walk_add(&w, slots[p->slot], p->type, true);
        else
            sundew_walk_bytes(&w, (const uint8_t *)(slots + p->slot), p->nslots * 8u, p->type, 0);
    }
    if (nresult)
        sundew_walk_bytes(&w, (const uint8_t *)result, nresult * 8u, f->result, 0);
    sundew_walk_run(&w);
    c->cut |= w.cut;
}

/* What the function returns a pointer to, or has written for its caller. */
static void copy_result(Copier *c, const SundewFunction *f, const uint64_t *result)
{
    const SundewType *t = sundew_type(f->result);

    if (f->in_memory) {
        copy_piece(c, result[0], t ? t->size : 0, f->result);
    } else if (t && t->npointers == 1 && t->size == 8) {
        uint32_t to = sundew_tables.pointers[t->first].type;
        const SundewType *target = sundew_type(to);
        size_t size = target && target->kind == SUNDEW_CHAR ? length_of_text(result[0]) : 0;
        if (target && target->kind != SUNDEW_FOREIGN && target->kind != SUNDEW_CODE)
            copy_piece(c, result[0], size, to);
    }
}

/* What the pointers in a returned struct lead to. */
static void copy_result_state(Copier *c, const SundewFunction *f, const uint64_t *result)
{
    const SundewType *t = sundew_type(f->result), *target;
    uint64_t p;

    if (f->in_memory || !t || t->npointers != 1 || t->size != 8 || is_freed(result[0]))
        return;
    target = sundew_type(sundew_tables.pointers[t->first].type);
    for (unsigned i = 0; target && target->kind == SUNDEW_DATA && i < target->npointers && i < 8;
         i++) {
        const SundewPointer *q = &sundew_tables.pointers[target->first + i];
        const SundewType *to = sundew_type(q->type);
        if (q->unsure || !to || to->kind == SUNDEW_FOREIGN || to->kind == SUNDEW_CODE ||
            sundew_safe_copy(&p, result[0] + q->offset, 8) != 8 || !p)
            continue;
        copy_piece(c, p, to->kind == SUNDEW_CHAR ? length_of_text(p) : 0, q->type);
    }
}

static void copy_rest(Copier *c, const Rest *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->kinds[i] == SUNDEW_REST_TEXT && r->values[i]) {
            size_t size = length_of_text(r->values[i]);
            copy_piece(c, r->values[i], size, 0);
        }
}

static uint8_t *put_memory(uint8_t *at, const SundewFunction *f, const uint64_t *slots,
                           uint32_t nslots, const uint64_t *result, uint32_t nresult, bool *cut)
{
    Copier c = { .at = at + 1, .count = at, .end = stream.at + MOST_EVENT - 16 };

    if (nresult && sundew_tables.strategy != SUNDEW_COPY_REFERENCE)
        copy_result(&c, f, result);
    if (nresult && copies_state())
        copy_result_state(&c, f, result);
    if (stream.rest.on && sundew_tables.strategy != SUNDEW_COPY_REFERENCE)
        copy_rest(&c, &stream.rest);
    if (sundew_tables.strategy == SUNDEW_COPY_DEEP)
        copy_deep(&c, f, slots, nslots, result, nresult);
    else
        copy_steps(&c, f, slots, nslots);
    if (sundew_tables.strategy == SUNDEW_COPY_SHALLOW)
        copy_links(&c, f, slots, nslots);
    *c.count = (uint8_t)c.n;
    *cut = c.cut;
    return c.at;
}

/* ---- probes */

/* How many calls are open up to the innermost of `row` with this stack pointer;
 * 0: none is. Functions that the compiler put into each other have the same. */
static uint32_t open_call(uint32_t row, uintptr_t sp)
{
    for (uint32_t n = stream.ncalls; n && stream.calls[n - 1].sp == sp; n--)
        if (stream.calls[n - 1].row == row)
            return n;
    return 0;
}

/* Calls further in were left without a return. */
static void drop_below(uintptr_t sp)
{
    while (stream.ncalls && stream.calls[stream.ncalls - 1].sp < sp)
        stream.ncalls--;
}

void sundew_rest(uint32_t row, const char *kinds, ...)
{
    Rest *r = &stream.rest;
    va_list list;
    double d;

    r->on = false;
    r->row = row;
    r->kinds = kinds;
    va_start(list, kinds);
    for (r->n = 0; kinds[r->n] && r->n < SUNDEW_MOST_REST; r->n++) {
        uint64_t *x = &r->values[r->n];
        switch (kinds[r->n]) {
        case SUNDEW_REST_INT: *x = va_arg(list, uint32_t); break;
        case SUNDEW_REST_DOUBLE:
            d = va_arg(list, double);
            memcpy(x, &d, sizeof d);
            break;
        default: *x = va_arg(list, uint64_t);
        }
    }
    va_end(list);
    r->on = true;
}

static uint8_t *put_rest(uint8_t *at, const Rest *r)
{
    at = put_varint(at, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        *at++ = (uint8_t)r->kinds[i];
        at = put_varint(at, r->values[i]);
    }
    return at;
}

/*
 * Is this call one of those that are recorded? The first ones of each function
 * are, then a quarter as many each time the number of calls has doubled, spread at
 * random. Threads may lose a count; nothing depends on it.
 */
static bool is_sampled(uint32_t row)
{
    uint64_t n = process.calls[row]++;

    if (n < process.sampled)
        return true;
    unsigned doubled = 63u - (unsigned)__builtin_clzll(n / process.sampled);
    uint64_t step = (uint64_t)4 << doubled;
    return ((n * 0x9e3779b97f4a7c15u) >> 24 & (step - 1)) == 0;
}

uint64_t *sundew_enter(uint32_t row, void *sp)
{
    if (process.calls && !is_sampled(row)) {
        stream.rest.on = false;
        return NULL;
    }
    int keep = errno;

    stream.rest.on = stream.rest.on && stream.rest.row == row;
    if (!stream_ready()) {
        stream.rest.on = false;
        errno = keep;
        return NULL;
    }
    drop_below((uintptr_t)sp);
    for (uint32_t n; (n = open_call(row, (uintptr_t)sp)) > 0;)
        stream.ncalls = n - 1;         /* it was left, with all that it called */
    if (stream.ncalls == MOST_DEPTH ||
        sundew_tables.functions[row].nslots + sundew_tables.functions[row].nlocals > MOST_SLOTS) {
        stream.rest.on = false;
        stream_done();
        errno = keep;
        return NULL;
    }
    OpenCall *c = &stream.calls[stream.ncalls++];
    c->sp = (uintptr_t)sp;
    c->row = row;
    c->number = 0;
    errno = keep;
    return stream.slots;
}

void sundew_entered(uint32_t row, uint64_t *slots)
{
    const SundewFunction *f = &sundew_tables.functions[row];
    OpenCall *c = &stream.calls[stream.ncalls - 1];
    int keep = errno;
    uint64_t number;
    bool cut;
    uint8_t *at = event_begin(&number);

    if (at) {
        at = put_varint(at, f->id);
        uint8_t *flags = at++;
        at = put_varint(at, f->nslots);
        for (unsigned i = 0; i < f->nslots; i++)
            at = put_varint(at, slots[i]);
        if (stream.rest.on)
            at = put_rest(at, &stream.rest);
        at = put_memory(at, f, slots, f->nslots, NULL, 0, &cut);
        *flags = (uint8_t)((cut ? SUNDEW_CALL_CUT : 0) | (stream.rest.on ? SUNDEW_CALL_REST : 0));
        event_end(SUNDEW_TRACE_CALL, at, number);
        c->number = number;
        c->nslots = f->nslots < KEPT_SLOTS ? f->nslots : KEPT_SLOTS;
        memcpy(c->slots, slots, c->nslots * sizeof *slots);
    }
    stream.rest.on = false;
    stream_done();
    errno = keep;
}

uint64_t *sundew_result(uint32_t row, void *sp)
{
    if (process.calls && (!stream.ncalls || stream.calls[stream.ncalls - 1].sp > (uintptr_t)sp))
        return NULL;                   /* its call was not recorded */
    int keep = errno;
    uint64_t *slots = NULL;

    if (!stream_ready()) {
        errno = keep;
        return NULL;
    }
    drop_below((uintptr_t)sp);
    uint32_t n = open_call(row, (uintptr_t)sp);
    if (n) {
        stream.ncalls = n;
        slots = stream.slots;
    } else {
        stream_done();
    }
    errno = keep;
    return slots;
}

void sundew_returned(uint32_t row, uint64_t *slots, uint32_t nslots)
{
    const SundewFunction *f = &sundew_tables.functions[row];
    OpenCall *c = &stream.calls[--stream.ncalls];
    int keep = errno;
    uint64_t number;
    bool cut;
    uint8_t *at = c->number ? event_begin(&number) : NULL;

    if (at) {
        at = put_varint(at, number - c->number);
        at = put_varint(at, (uint32_t)keep);
        at = put_varint(at, nslots);
        for (unsigned i = 0; i < nslots; i++)
            at = put_varint(at, slots[i]);
        at = put_memory(at, f, c->slots, c->nslots, slots, nslots, &cut);
        event_end(SUNDEW_TRACE_RETURN, at, number);
    }
    stream_done();
    errno = keep;
}

static void short_event(enum SundewTraceTag tag, const uint64_t *numbers, unsigned n)
{
    int keep = errno;
    uint64_t number;

    if (stream_ready()) {
        uint8_t *at = event_begin(&number);
        for (unsigned i = 0; at && i < n; i++)
            at = put_varint(at, numbers[i]);
        if (at)
            event_end(tag, at, number);
        stream_done();
    }
    errno = keep;
}

/* Of a sampled process not all: a trace would be nothing else. */
static bool notes_heap(void)
{
    if (!process.calls)
        return true;
    uint64_t left = atomic_load_explicit(&process.allocs, memory_order_relaxed);
    if (left)
        atomic_store_explicit(&process.allocs, left - 1, memory_order_relaxed);
    return left > 0;
}

void sundew_record_alloc(void *p, size_t size)
{
    if (!notes_heap())
        return;
    short_event(SUNDEW_TRACE_ALLOC, (uint64_t[]){ (uintptr_t)p, size }, 2);
}

void sundew_record_free(void *p)
{
    if (!notes_heap())
        return;
    short_event(SUNDEW_TRACE_FREE, (uint64_t[]){ (uintptr_t)p }, 1);
}

void sundew_record_end(unsigned how, int64_t value)
{
    short_event(SUNDEW_TRACE_END, (uint64_t[]){ how, (uint64_t)value }, 2);
    stream.off = stream.open;
}

void sundew__exit(int status)
{
    if (!is_borrowed())
        sundew_record_end(SUNDEW_END_EXIT, status & 0xff);
    _exit(status);
}

void sundew__Exit(int status) { sundew__exit(status); }

/* If it fails the process goes on, and so does its stream. */
static void exec_begins(void)
{
    if (!is_borrowed())
        short_event(SUNDEW_TRACE_END, (uint64_t[]){ SUNDEW_END_EXEC, 0 }, 2);
}

int sundew_execv(const char *path, char *const argv[])
{
    exec_begins();
    return execv(path, argv);
}

int sundew_execve(const char *path, char *const argv[], char *const env[])
{
    exec_begins();
    return execve(path, argv, env);
}

int sundew_execvp(const char *file, char *const argv[])
{
    exec_begins();
    return execvp(file, argv);
}

/* ---- beginning */

static void exits(int status, void *arg)
{
    (void)arg;
    sundew_record_end(SUNDEW_END_EXIT, status & 0xff);
    if (process.calls)
        cut_file();
}

/* Once for each program, by whoever is first. */
static void write_symbols(void)
{
    const SundewTables *t = &sundew_tables;
    char name[256];
    SundewSymbol s[64];
    unsigned n = 0;

    add_text(add_text(name, name + 200, t->key), name + sizeof name - 1, ".symbols");
    int fd = open_in_folder(name, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return;
    for (uint32_t i = 0; i < t->nglobals + t->nfunctions; i++) {
        bool variable = i < t->nglobals;
        if (variable)
            s[n] = (SundewSymbol){ .variable = t->globals[i].id,
                                   .address = t->globals[i].address,
                                   .size = t->globals[i].size };
        else
            s[n] = (SundewSymbol){ .function = t->functions[i - t->nglobals].id,
                                   .address = t->functions[i - t->nglobals].address };
        if (s[n].address) {
            s[n].address -= sundew_slide();
            n++;
        }
        if (n == 64 && write(fd, s, sizeof s) != sizeof s)
            break;
        n %= 64;
    }
    if (n && write(fd, s, n * sizeof *s) < 0)
        n = 0;
    close(fd);
}

static bool map_order(void)
{
    int fd = open_in_folder("order", O_RDWR | O_CREAT);

    if (fd < 0)
        return false;
    void *p = ftruncate(fd, 4096) ? MAP_FAILED
                                  : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return false;
    process.order = p;
    return true;
}

/* The counters of a sampled program. What can't be had is done without. */
static void map_calls(void)
{
    const char *sampled = getenv("SUNDEW_TRACE_CALLS");
    uint64_t n = sampled ? strtoull(sampled, NULL, 10) : 0;
    size_t size = ((size_t)sundew_tables.nfunctions * 8 + 4095) & ~(size_t)4095;
    char name[256];

    if (!n)
        return;
    add_text(add_text(name, name + 200, sundew_tables.key), name + sizeof name - 1, ".calls");
    int fd = open_in_folder(name, O_RDWR | O_CREAT);
    if (fd < 0)
        return;
    void *p = ftruncate(fd, (off_t)size)
                  ? MAP_FAILED
                  : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return;
    process.sampled = n;
    process.calls = p;
    atomic_store(&process.allocs, MOST_ALLOC_EVENTS);
}

/* By its full name: the program may go to another folder. */
static bool name_folder(const char *dir)
{
    char *at = process.dir, *end = at + sizeof process.dir - 1;

    if (*dir != '/') {
        if (!getcwd(process.dir, sizeof process.dir))
            return false;
        at = add_text(at + strlen(at), end, "/");
    }
    if (strlen(dir) >= (size_t)(end - at))
        return false;
    add_text(at, end, dir);
    return true;
}

void sundew_record_start(void)
{
    int keep = errno;
    const char *dir = secure_getenv("SUNDEW_TRACE");
    const char *budget = getenv("SUNDEW_TRACE_BUDGET");
    void *page;

    if (!dir || !*dir || is_too_long(WINDOW) || !name_folder(dir)) {
        memset(sundew_tables.modes, SUNDEW_OFF, sundew_tables.nfunctions);
        errno = keep;
        return;
    }
    atomic_store(&process.budget, budget ? strtoull(budget, NULL, 10) : 1ull << 30);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) || !map_order() ||
        pthread_key_create(&process.key, thread_ends)) {
        memset(sundew_tables.modes, SUNDEW_OFF, sundew_tables.nfunctions);
        errno = keep;
        return;
    }
    process.mark = page;
    map_calls();
    process_begins();
    sundew_tracking = 1;
    sundew_fills = copies_state() && !getenv("SUNDEW_TRACE_AS_IS");
    on_exit(exits, NULL);
    write_symbols();
    process.on = true;
    errno = keep;
}
