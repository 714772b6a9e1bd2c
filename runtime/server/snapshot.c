/*
 * Many runs of an ordinary program in one process: after each, memory is put
 * back to what it was before the first.
 *
 * A fork costs some hundred microseconds, putting back a small program's
 * memory some ten. What is put back: all private writable memory that was
 * there at the begin, but the stack (the program's variables, those of the C library, the
 * heap); where the heap ends; descriptors. Pages that never changed are not
 * touched, except now and then to see whether that still holds. exit() comes back
 * here instead of ending the process.
 *
 * What is not put back: memory mapped by the program, threads, children, signal
 * handlers, the current folder. Programs that call for these are not run so (src/engine/concolic/
 * decides), and what a run seems to have found is confirmed in a process of its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/server/batch.h"
#include "runtime/server/forkserver.h"
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    MOST_REGIONS = 128,
    MOST_HANDLERS = 32,
    LEARN = 24,
    EVERY = 64,
    MOST_BYTES = 16 << 20,
    HEAP = 512 << 10,
};

struct region {
    uint8_t *at, *copy;
    uint32_t first, pages;     /* in `changes` */
};

/* Not private memory, so that it is not put back itself. */
struct control {
    jmp_buf back;
    int inside, status;
    int null, input;           /* descriptors to put back; -1 */
    void *heap_end;
    uint64_t rounds;
    uint32_t nregions, npages, nhandlers;
    void (*handlers[MOST_HANDLERS])(void);
    struct region regions[MOST_REGIONS];
    uint8_t *changes;          /* a byte a page: it has changed in some run */
};

static struct control *control;

static void *shared_pages(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static uint64_t hex(const char **p)
{
    uint64_t v = 0;
    for (;; (*p)++) {
        int c = **p, d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0)
            return v;
        v = v * 16 + (uint64_t)d;
    }
}

/* "7f12a000-7f12b000 rw-p … [stack]" */
static int read_line(struct control *c, const char *line)
{
    uint64_t from = hex(&line);
    line++;
    uint64_t to = hex(&line);
    if (strncmp(line, " rw", 3) != 0 || line[4] != 'p' || strstr(line, "[stack]"))
        return 1;
    if (c->nregions == MOST_REGIONS || to - from > MOST_BYTES)
        return 0;
    c->regions[c->nregions++] = (struct region){ .at = (uint8_t *)from,
                                                 .first = c->npages,
                                                 .pages = (uint32_t)((to - from) / PAGE) };
    c->npages += (uint32_t)((to - from) / PAGE);
    return c->npages <= MOST_BYTES / PAGE;
}

static int read_maps(struct control *c)
{
    static char text[1 << 16];
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t got;
    while (fd >= 0 && n < sizeof text - 1 && (got = read(fd, text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    if (!n || n == sizeof text - 1)
        return 0;
    text[n] = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (!read_line(c, line))
            return 0;
    }
    return 1;
}

/* 0: there is too much to keep. */
static int take(void)
{
    /* Small objects come from a heap that is there already. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    free(malloc(HEAP));
    struct control *c = shared_pages(sizeof *c);
    if (!c)
        return 0;
    control = c;
    c->null = open("/dev/null", O_RDWR);
    c->null = c->null < 0 ? -1 : fcntl(c->null, F_DUPFD_CLOEXEC, 210);
    c->input = fcntl(0, F_DUPFD_CLOEXEC, 210);
    c->heap_end = (void *)syscall(SYS_brk, 0);
    if (!read_maps(c))
        return 0;
    uint8_t *copy = shared_pages((size_t)c->npages * PAGE);
    c->changes = shared_pages(c->npages + 1);
    if (!copy || !c->changes)
        return 0;
    for (uint32_t i = 0; i < c->nregions; i++) {
        struct region *r = &c->regions[i];
        r->copy = copy + (size_t)r->first * PAGE;
        memcpy(r->copy, r->at, (size_t)r->pages * PAGE);
    }
    return 1;
}

static void put_back_memory(struct control *c, int look)
{
    for (uint32_t i = 0; i < c->nregions; i++) {
        const struct region *r = &c->regions[i];
        for (uint32_t k = 0; k < r->pages; k++) {
            uint8_t *at = r->at + (size_t)k * PAGE, *copy = r->copy + (size_t)k * PAGE;
            if (look && !c->changes[r->first + k])
                c->changes[r->first + k] = memcmp(at, copy, PAGE) != 0;
            if (c->changes[r->first + k])
                memcpy(at, copy, PAGE);
        }
    }
}

static void put_back(struct control *c)
{
    c->rounds++;
    put_back_memory(c, c->rounds < LEARN || c->rounds % EVERY == 0);
    if ((void *)syscall(SYS_brk, 0) != c->heap_end)
        syscall(SYS_brk, c->heap_end);
    syscall(SYS_close_range, 3, 197, 0);
    if (c->input >= 0)
        dup2(c->input, 0);
    if (c->null >= 0) {
        dup2(c->null, 1);
        dup2(c->null, 2);
    }
}

static void run_handlers(struct control *c)
{
    while (c->nhandlers)
        c->handlers[--c->nhandlers]();
}

/* Runs it again and again, as long as there are inputs. Returns its status for
 * the last one, of which the process is to end. */
int sundew_snapshot_run(int (*program)(void *), void *arg)
{
    struct sundew_batch *b = sundew_batch_open();
    if (!b || !(b->flags & SUNDEW_BATCH_SNAPSHOT) || b->rounds == 1 || !take())
        return program(arg);
    struct control *c = control;
    do {
        c->nhandlers = 0;
        c->inside = 1;
        if (_setjmp(c->back) == 0)
            c->status = program(arg);
        if (c->inside)
            run_handlers(c);
        c->inside = 0;
        put_back(c);
    } while (sundew_forkserver_go_on(20000, (c->status & 255) << 8));
    _exit(c->status);
}

/* ---- what the program calls in place of the library's */

_Noreturn void sundew_exit(int status);
_Noreturn void sundew_exit_now(int status);
int sundew_atexit(void (*fn)(void));

_Noreturn void sundew_exit(int status)
{
    if (!control || !control->inside)
        exit(status);
    control->status = status;
    run_handlers(control);
    control->inside = 0;
    _longjmp(control->back, 1);
}

_Noreturn void sundew_exit_now(int status)
{
    if (!control || !control->inside)
        _exit(status);
    control->status = status;
    control->inside = 0;
    _longjmp(control->back, 1);
}

int sundew_atexit(void (*fn)(void))
{
    if (!control || !control->inside)
        return atexit(fn);
    if (control->nhandlers == MOST_HANDLERS)
        return -1;
    control->handlers[control->nhandlers++] = fn;
    return 0;
}
