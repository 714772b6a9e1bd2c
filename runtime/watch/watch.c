/* watch - see watch.h: the evidence file, and observations that only count. */
#include "runtime/heap/pages.h"
#include "runtime/watch/watch_int.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

static struct sundew_watch_file *file;
static struct sundew_watch_slot *slots;
static uint32_t nslots;
static uint32_t my_process;          /* index + 1 */
static pid_t my_pid;
static int64_t injected = -1, injected_error;

/* ---- the file */

static size_t size_of(uint32_t n)
{
    return sizeof(struct sundew_watch_file) + n * sizeof(struct sundew_watch_slot);
}

/* Only the file that Sundew made for this very program. */
static void open_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0)
        return;
    size_t n = size_of(sundew_watch_nslots);
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= n) {
        void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        struct sundew_watch_file *f = p;
        if (p != MAP_FAILED && f->magic == SUNDEW_WATCH_MAGIC && f->nslots == sundew_watch_nslots &&
            !strncmp(f->key, sundew_watch_key, sizeof f->key)) {
            file = f;
            nslots = f->nslots;
            slots = (struct sundew_watch_slot *)(f + 1);
            sundew_watch_note(&slots[0]);        /* nobody's: the program ran */
        } else if (p != MAP_FAILED) {
            munmap(p, n);
        }
    }
    close(fd);
}

__attribute__((constructor(101))) static void start(void)
{
    int error = errno;
    const char *path = getenv("SUNDEW_WATCH"), *inject = getenv("SUNDEW_WATCH_INJECT");
    if (!path || !*path)
        path = sundew_watch_path;
    if (*path)
        open_file(path);
    if (inject) {
        char *end;
        injected = strtol(inject, &end, 10);
        injected_error = *end == ':' ? strtol(end + 1, NULL, 10) : 0;
    }
    errno = error;
}

struct sundew_watch_slot *sundew_watch_slot_of(uint32_t slot)
{
    return slot < nslots ? &slots[slot] : NULL;
}

uint64_t sundew_watch_note(struct sundew_watch_slot *s)
{
    uint64_t n = __atomic_load_n(&s->n, RELAXED);
    return n < SUNDEW_WATCH_ENOUGH ? __atomic_fetch_add(&s->n, 1, RELAXED) : n;
}

void sundew_watch_range(int64_t *low, int64_t *high, int64_t v)
{
    int64_t seen = __atomic_load_n(low, RELAXED);
    while (v < seen && !__atomic_compare_exchange_n(low, &seen, v, 1, RELAXED, RELAXED)) {
    }
    seen = __atomic_load_n(high, RELAXED);
    while (v > seen && !__atomic_compare_exchange_n(high, &seen, v, 1, RELAXED, RELAXED)) {
    }
}

/* ---- the first bad observation */

typedef struct Walk {
    uint64_t *out, slide;
    unsigned n;
} Walk;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    Walk *w = arg;
    uint64_t pc = _Unwind_GetIP(context);
    if (!pc || w->n == SUNDEW_WATCH_STACK)
        return _URC_END_OF_STACK;
    w->out[w->n++] = pc - 1 - w->slide;
    return _URC_NO_REASON;
}

static uint32_t process(void)
{
    if (my_process && my_pid == getpid())
        return my_process;
    uint32_t i = __atomic_fetch_add(&file->nprocesses, 1, RELAXED);
    my_pid = getpid();
    my_process = i + 1;
    if (i >= SUNDEW_WATCH_PROCESSES)
        return my_process;
    struct sundew_watch_process *p = &file->processes[i];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, p->words, sizeof p->words - 1);
    p->pid = (uint32_t)my_pid;
    p->length = n > 0 ? (uint32_t)n : 0;
    if (fd >= 0)
        close(fd);
    return my_process;
}

void sundew_watch_bad(struct sundew_watch_slot *s, uint64_t bits, int64_t v, int64_t v2)
{
    int error = errno;
    __atomic_fetch_or(&s->bad_bits, bits, RELAXED);
    if (__atomic_fetch_add(&s->bad, 1, RELAXED) == 0) {
        Walk w = { s->stack, sundew_slide(), 0 };
        s->value = v;
        s->value2 = v2;
        s->error = (uint32_t)error;
        s->process = process();
        _Unwind_Backtrace(step, &w);
    }
    errno = error;
}

/* ---- counting */

void sundew_watch_hit(uint32_t slot)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (s)
        sundew_watch_note(s);
}

void sundew_watch_value(uint32_t slot, int64_t v, uint32_t bad)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s)
        return;
    sundew_watch_note(s);
    sundew_watch_range(&s->low, &s->high, v);
    if (bad)
        sundew_watch_bad(s, 1, v, 0);
}

void sundew_watch_pair(uint32_t slot, int64_t a, int64_t b)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s)
        return;
    sundew_watch_note(s);
    sundew_watch_range(&s->low, &s->high, a);
    sundew_watch_range(&s->low2, &s->high2, b);
}

/* ---- transfers */

static uint64_t kind_of(int fd)
{
    struct stat st;
    uint64_t bits = 0;
    if (fstat(fd, &st))
        return 0;
    int flags = fcntl(fd, F_GETFL);
    bits = S_ISREG(st.st_mode)                 ? SUNDEW_FD_REGULAR
           : S_ISFIFO(st.st_mode)              ? SUNDEW_FD_PIPE
           : S_ISSOCK(st.st_mode)              ? SUNDEW_FD_SOCKET
           : S_ISCHR(st.st_mode) && isatty(fd) ? SUNDEW_FD_TERMINAL
                                               : SUNDEW_FD_OTHER;
    if (flags >= 0 && (flags & O_NONBLOCK) && bits != SUNDEW_FD_REGULAR)
        bits |= SUNDEW_FD_NONBLOCKING;
    return bits;
}

static void transfer(struct sundew_watch_slot *s, int fd, int64_t want, int64_t got)
{
    int error = errno;
    uint64_t bits = 0;
    int is_short = got >= 0 && got < want;
    if (sundew_watch_note(s) < SUNDEW_WATCH_LOOKS || is_short)
        bits = fd >= 0 ? kind_of(fd) : SUNDEW_FD_OTHER;
    __atomic_fetch_or(&s->bits, bits, RELAXED);
    sundew_watch_range(&s->low, &s->high, want);
    errno = error;
    if (is_short && got > 0)
        sundew_watch_bad(s, bits, got, want);
    else if (is_short)               /* the end: bad for who ignores it */
        sundew_watch_range(&s->low2, &s->high2, want);
    errno = error;
}

void sundew_watch_count(uint32_t slot, int64_t fd, int64_t want, int64_t got)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (s)
        transfer(s, (int)fd, want, got);
}

void sundew_watch_stream(uint32_t slot, void *stream, int64_t want, int64_t got)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (s)
        transfer(s, stream ? fileno_unlocked(stream) : -1, want, got);
}

void sundew_watch_vector(uint32_t slot, int64_t fd, const struct iovec *v, int64_t n, int64_t got)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int64_t want = 0;
    for (int64_t i = 0; s && got >= 0 && i < n; i++)
        want += (int64_t)v[i].iov_len;
    if (s)
        transfer(s, (int)fd, want, got);
}

/* ---- texts */

int64_t sundew_watch_text(uint32_t slot, const char *text)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int64_t n = text ? (int64_t)strlen(text) : 6;
    if (s)
        sundew_watch_range(&s->low, &s->high, n);
    return n;
}

void sundew_watch_print(uint32_t slot, int64_t got, int64_t size, int64_t texts)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s || got < 0)
        return;
    sundew_watch_note(s);
    if (size <= 0)                   /* asks for the length */
        return;
    sundew_watch_range(&s->low, &s->high, got - texts);
    sundew_watch_range(&s->low2, &s->high2, size);
    if (got >= size)
        sundew_watch_bad(s, 1, got, size);
}

void sundew_watch_copy_text(uint32_t slot, const char *from, uint64_t n)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s || !n)
        return;
    int64_t length = (int64_t)strnlen(from, n);
    sundew_watch_note(s);
    sundew_watch_range(&s->low, &s->high, length);
    if ((uint64_t)length == n)
        sundew_watch_bad(s, 1, length, (int64_t)n);
}

/* The same text again: is the number a word? More words may follow. */
void sundew_watch_number(uint32_t slot, const char *text, int64_t base)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int error = errno;
    if (!s || sundew_watch_note(s) >= SUNDEW_WATCH_DUAL)
        return;
    char *end;
    strtoull(text, &end, (int)base);
    int none = end == text;
    errno = error;
    if (none || !strchr(" \t\r\n", *end))
        sundew_watch_bad(s, 1, !none, 0);
}

/* Is the address in memory that may be written? From /proc, so only now and then. */
static int is_writable(const void *p)
{
    static char buffer[4096];        /* guarded by `busy` */
    static char busy;
    int result = 0, fd;
    if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        return 0;
    fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t have = 0;
    for (ssize_t n; fd >= 0 && (n = read(fd, buffer + have, sizeof buffer - 1 - have)) > 0;) {
        have += (size_t)n;
        buffer[have] = 0;
        char *line = buffer, *end;
        while ((end = strchr(line, '\n'))) {
            char *rest;
            uintptr_t from = strtoul(line, &rest, 16);
            uintptr_t to = *rest == '-' ? strtoul(rest + 1, &rest, 16) : 0;
            if ((uintptr_t)p >= from && (uintptr_t)p < to && rest + 2 < end)
                result = rest[2] == 'w';
            line = end + 1;
        }
        have = strlen(line);
        if (have >= sizeof buffer / 2)
            break;
        memmove(buffer, line, have);
    }
    if (fd >= 0)
        close(fd);
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    return result;
}

void sundew_watch_format(uint32_t slot, const char *format)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int error = errno;
    if (s && sundew_watch_note(s) < SUNDEW_WATCH_LOOKS && is_writable(format))
        sundew_watch_bad(s, 1, strchr(format, '%') != NULL, 0);
    errno = error;
}

/* Its folder may be written by others, without the sticky bit. */
static int others_may_change(const char *path)
{
    char folder[1024];
    struct stat st;
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof folder - 1)
        return 0;
    memcpy(folder, slash ? path : ".", slash ? n : 1);
    folder[slash ? n : 1] = 0;
    if (stat(*folder ? folder : "/", &st))
        return 0;
    return (st.st_mode & S_IWOTH) != 0 && !(st.st_mode & S_ISVTX);
}

void sundew_watch_path_use(uint32_t slot, const char *path)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    int error = errno;
    if (s && path && sundew_watch_note(s) < SUNDEW_WATCH_LOOKS && others_may_change(path))
        sundew_watch_bad(s, 1, 0, 0);
    errno = error;
}

/* ---- regions */

static _Thread_local uint32_t region __attribute__((tls_model("initial-exec")));  /* slot + 1 */

void sundew_watch_region(uint32_t slot, uint32_t left_decides)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s)
        return;
    sundew_watch_note(s);
    region = left_decides ? slot + 1 : 0;
}

void sundew_watch_effect(void)
{
    struct sundew_watch_slot *s = region ? sundew_watch_slot_of(region - 1) : NULL;
    if (s)
        sundew_watch_bad(s, 1, 0, 0);
}

void sundew_watch_region_end(uint32_t slot)
{
    if (region == slot + 1)
        region = 0;
}

/* ---- injection: once in a process */

static int is_injected(uint32_t slot)
{
    static char done;
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (injected != slot || !s || __atomic_test_and_set(&done, RELAXED))
        return 0;
    __atomic_fetch_or(&s->bits, 1ULL << 62, RELAXED);
    return 1;
}

void *sundew_watch_inject_null(uint32_t slot, void *result)
{
    if (!is_injected(slot))
        return result;
    errno = ENOMEM;
    return NULL;
}

static _Thread_local char failing __attribute__((tls_model("initial-exec")));

int64_t sundew_watch_inject_short(uint32_t slot, int64_t want)
{
    if (want <= 1 || !is_injected(slot))
        return want;
    failing = injected_error != 0;
    return failing ? 0 : want / 2;
}

int64_t sundew_watch_inject_failure(uint32_t slot, int64_t result)
{
    if (!failing || injected != slot)
        return result;
    failing = 0;
    errno = (int)injected_error;
    return -1;
}
