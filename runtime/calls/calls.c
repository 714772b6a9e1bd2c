/*
 * Calls of an API are written into a mapped file: see calls.h and callfile.h.
 *
 * The whole file is mapped at once; it is sparse, so only what is used takes
 * space. A call takes the next record with one atomic addition.
 */
#include "runtime/calls/calls.h"
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_CALLS = 4 << 20, PATH = 4400, ALTERNATE = 64 << 10 };

static struct {
    char folder[4200];
    uint64_t most;
    SundewCallsHeader *header;
    SundewCallRecord *records;
    uint64_t fits;             /* what the subject writes into the header counts not */
    bool failed;
    atomic_uint nthreads;
    unsigned nprocess;         /* programs of this process, and forks before it */
} state;

/* One failure of the environment, at the first call from a site. */
static struct {
    uint32_t site;
    enum { FAULT_NONE, FAULT_OPEN, FAULT_STREAM, FAULT_FOLDER, FAULT_DESCRIPTOR } kind;
    SundewCallRecord *during;  /* FAULT_OPEN: until this call returns */
    struct rlimit before;
} fault;

static __thread uint16_t own_thread;      /* from 1; 0: not known yet */
static char alternate[ALTERNATE];

/* ------------------------------------------------------------------- file */

static char *add_text(char *at, const char *end, const char *s)
{
    while (*s && at < end)
        *at++ = *s++;
    *at = 0;
    return at;
}

static char *add_number(char *at, const char *end, uint64_t x)
{
    char digits[24], *d = digits + sizeof digits - 1;
    *d = 0;
    do
        *--d = (char)('0' + x % 10);
    while ((x /= 10));
    return add_text(at, end, d);
}

/* FOLDER/PID.N.KIND */
static int open_file(const char *kind, int flags)
{
    char path[PATH], *end = path + sizeof path - 1, *at = add_text(path, end, state.folder);
    at = add_text(at, end, "/");
    at = add_number(at, end, (uint64_t)getpid());
    at = add_text(at, end, ".");
    at = add_number(at, end, state.nprocess);
    add_text(at, end, kind);
    return open(path, flags | O_CLOEXEC, 0600);
}

/* A process that becomes another program has the same number. */
static int open_new(void)
{
    int fd;
    while ((fd = open_file(".calls", O_RDWR | O_CREAT | O_EXCL)) < 0 && errno == EEXIST)
        state.nprocess++;
    return fd;
}

/* A file that grows over this limit brings a signal. */
static uint64_t fitting(uint64_t most)
{
    struct rlimit l;
    uint64_t bytes = SUNDEW_CALLS_HEADER + most * sizeof(SundewCallRecord);
    if (getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY && bytes > l.rlim_cur)
        bytes = l.rlim_cur;
    return bytes > SUNDEW_CALLS_HEADER ? (bytes - SUNDEW_CALLS_HEADER) / sizeof(SundewCallRecord)
                                       : 0;
}

static void begin_file(void)
{
    uint64_t fits = fitting(state.most);
    size_t bytes = SUNDEW_CALLS_HEADER + fits * sizeof(SundewCallRecord);
    int fd = fits ? open_new() : -1;
    uint8_t *at = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED) {
        state.failed = true;
        return;
    }
    SundewCallsHeader *h = (SundewCallsHeader *)at;
    h->version = SUNDEW_CALLS_VERSION;
    h->record = sizeof(SundewCallRecord);
    h->pid = (uint32_t)getpid();
    h->parent = (uint32_t)getppid();
    h->capacity = state.fits = fits;
    memcpy(h->magic, SUNDEW_CALLS_MAGIC, sizeof h->magic);
    state.records = (SundewCallRecord *)(at + SUNDEW_CALLS_HEADER);
    state.header = h;
}

/* The child writes its own file; the parent's pages stay mapped, unused. */
static void after_fork(void)
{
    int keep = errno;
    state.header = NULL;
    state.failed = false;
    begin_file();
    errno = keep;
}

/* ----------------------------------------------------------------- faults */

static void replace(int fd, const char *path, int flags)
{
    int other = fd < 0 ? -1 : open(path, flags | O_CLOEXEC);
    if (other >= 0) {
        dup3(other, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
        close(other);
    }
}

static bool is_only_read(int fd)
{
    int how = fcntl(fd, F_GETFL);
    return how >= 0 && (how & O_ACCMODE) == O_RDONLY;
}

/* From now on the descriptor can't be read (it is a folder), or has no space left. */
static void break_descriptor(int fd)
{
    if (is_only_read(fd))
        replace(fd, "/", O_RDONLY | O_DIRECTORY);
    else
        replace(fd, "/dev/full", O_WRONLY);
}

/* A buffer would hide it until the stream is closed. */
static void break_stream(FILE *f)
{
    bool reads = is_only_read(fileno(f));
    break_descriptor(fileno(f));
    if (!reads)
        setvbuf(f, NULL, _IONBF, 0);
}

static void break_here(SundewCallRecord *r)
{
    int keep = errno;
    struct rlimit none;
    switch (fault.kind) {
    case FAULT_OPEN:
        if (getrlimit(RLIMIT_NOFILE, &fault.before) == 0) {
            none = (struct rlimit){ 0, fault.before.rlim_max };
            fault.during = setrlimit(RLIMIT_NOFILE, &none) == 0 ? r : NULL;
        }
        break;
    case FAULT_STREAM: break_stream((FILE *)(uintptr_t)r->in[0]); break;
    case FAULT_FOLDER: replace(dirfd((DIR *)(uintptr_t)r->in[0]), "/dev/full", O_WRONLY); break;
    default: break_descriptor((int)r->in[0]); break;
    }
    state.header->fault = r->site + 1u;
    fault.kind = FAULT_NONE;           /* once in a process */
    errno = keep;
}

static void mend(void)
{
    if (fault.during) {
        int keep = errno;
        setrlimit(RLIMIT_NOFILE, &fault.before);
        fault.during = NULL;
        errno = keep;
    }
}

/* "17 stream" */
static void read_fault(const char *text)
{
    static const char *const kinds[] = { "", "open", "stream", "folder", "descriptor" };
    char *end;
    fault.site = (uint32_t)strtoul(text, &end, 10);
    for (unsigned i = 1; *end == ' ' && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(end + 1, kinds[i]))
            fault.kind = i;
}

/* ---------------------------------------------------------------- records */

static SundewCallRecord *next_record(void)
{
    SundewCallsHeader *h = state.header;
    if (!h || state.failed)
        return NULL;
    if (!own_thread)
        own_thread = (uint16_t)(atomic_fetch_add(&state.nthreads, 1) + 1);
    uint64_t n = atomic_fetch_add_explicit((_Atomic uint64_t *)&h->count, 1, memory_order_relaxed);
    return n < state.fits ? &state.records[n] : NULL;
}

SundewCallRecord *sundew_call_begin(uint32_t site, uint64_t a, uint64_t b, uint64_t c, void **x,
                                    void **y)
{
    SundewCallRecord *r = next_record();
    if (!r)
        return NULL;
    *r = (SundewCallRecord){ .site = site,
                             .thread = (uint16_t)(own_thread - 1),
                             .depth = (uint32_t)(-(uintptr_t)__builtin_frame_address(0) >> 4),
                             .error = errno,
                             .in = { a, b, c },
                             .out = { (uintptr_t)x, (uintptr_t)y } };
    atomic_signal_fence(memory_order_release);
    *(volatile uint8_t *)&r->state = SUNDEW_CALL_BEGUN;
    if (fault.kind && site == fault.site && (a || fault.kind == FAULT_OPEN))
        break_here(r);
    return r;
}

/* The call has written there, or left it alone: then it is as readable as before. */
static uint64_t look(uint64_t address)
{
    return address ? (uint64_t)(uintptr_t)*(void *volatile *)(uintptr_t)address : 0;
}

void sundew_call_end(SundewCallRecord *r, uint64_t result)
{
    if (!r)
        return;
    if (r == fault.during)
        mend();
    r->error = errno == r->error ? 0 : errno;      /* old news says nothing */
    r->result = result;
    for (unsigned i = 0; i < SUNDEW_CALLS_OUTS; i++)
        r->out[i] = look(r->out[i]);
    atomic_signal_fence(memory_order_release);
    *(volatile uint8_t *)&r->state = SUNDEW_CALL_RETURNED;
}

void sundew_call_left(uint32_t function)
{
    SundewCallRecord *r = next_record();
    if (!r)
        return;
    *r = (SundewCallRecord){ .site = function,
                             .thread = (uint16_t)(own_thread - 1),
                             .depth = (uint32_t)(-(uintptr_t)__builtin_frame_address(0) >> 4) };
    *(volatile uint8_t *)&r->state = SUNDEW_CALL_LEFT;
}

void sundew_call_mutex(pthread_mutex_t *m)
{
    if (state.header && m && !m->__data.__kind && !m->__data.__owner && !m->__data.__lock &&
        !m->__data.__nusers)
        m->__data.__kind = PTHREAD_MUTEX_ERRORCHECK_NP;
}

/* -------------------------------------------------------------------- end */

int __asan_report_present(void) __attribute__((weak));
const char *__asan_get_report_description(void) __attribute__((weak));

static void copy_maps(void)
{
    char buffer[4096];
    int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    int to = open_file(".maps", O_WRONLY | O_CREAT | O_TRUNC);
    ssize_t n;
    while (from >= 0 && to >= 0 && (n = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)n) < 0)
            break;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}

static void sundew_on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    SundewCallsHeader *h = state.header;
    signal(number, SIG_DFL);
    mend();                            /* files are written below */
    if (h && h->how == SUNDEW_CALLS_RUNS) {
        void *frames[SUNDEW_CALLS_FRAMES];
        h->how = SUNDEW_CALLS_SIGNAL;
        h->signal = number;
        h->address = (uintptr_t)info->si_addr;
        h->thread = own_thread ? own_thread - 1u : 0;
        copy_maps();
        if (__asan_report_present && __asan_report_present()) {
            const char *text = __asan_get_report_description();
            add_text(h->said, h->said + sizeof h->said - 1, text ? text : "a report");
        }
        int n = backtrace(frames, SUNDEW_CALLS_FRAMES);
        for (int i = 0; i < n; i++)
            h->frames[i] = (uintptr_t)frames[i];
        h->nframes = (uint32_t)n;
    }
    raise(number);
}

static void catch_signals(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    stack_t old, own = { .ss_sp = alternate, .ss_size = sizeof alternate };
    void *frames[4];
    backtrace(frames, 4);              /* loads what it needs now, not in a handler */
    if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE)
        sigaltstack(&own, NULL);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before, ours = { .sa_sigaction = sundew_on_signal,
                                          .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    }
}

static void at_exit(void)
{
    if (state.header && state.header->how == SUNDEW_CALLS_RUNS)
        state.header->how = SUNDEW_CALLS_EXIT;
}

void sundew__exit(int status)
{
    at_exit();
    _exit(status);
}

void sundew__Exit(int status)
{
    at_exit();
    _Exit(status);
}

__attribute__((destructor)) static void ends(void) { at_exit(); }

void sundew_calls_start(void)
{
    const char *folder = getenv("SUNDEW_CALLS"), *most = getenv("SUNDEW_CALLS_MOST");
    const char *fails = getenv("SUNDEW_CALLS_FAULT");
    if (!folder || !*folder || strlen(folder) >= sizeof state.folder || state.header)
        return;
    int keep = errno;
    strcpy(state.folder, folder);
    state.most = most ? strtoull(most, NULL, 10) : MOST_CALLS;
    if (fails)
        read_fault(fails);
    begin_file();
    if (state.header) {
        pthread_atfork(NULL, NULL, after_fork);
        catch_signals();
    }
    errno = keep;
}
