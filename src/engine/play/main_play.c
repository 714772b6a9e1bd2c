/*
 * sundew-play - loads a library and executes call sequences on it.
 *
 *     sundew-play LIBRARY          with shared memory at WIRE_FD, see wire.h
 *
 * A program of its own, small because it forks for every sequence. It runs in
 * a sandbox, under the fork server: the server has loaded the library; a run
 * reads a request and forks a child for each group, which executes the prefix
 * and forks a child for each job. What a job does wrong kills only itself.
 *
 * What tends to differ from run to run is under control: the clock (time() and
 * kin of the library are ours), what fresh and freed memory and the stack hold,
 * the current folder (empty, one for each job).
 */
#include "engine/api/value.h"
#include "engine/play/wire.h"
#include "runtime/server/forkserver.h"
#include "runtime/server/player.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ffi.h>
#include <ftw.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGS = 32, MOST_STEPS = 256, MOST_ALLOCATIONS = 1024, MOST_MEMBERS = 64 };

typedef struct Routine {
    const char *symbol, *signature, *look;
    void (*code)(void);
    ffi_cif cif;
    ffi_type *types[MOST_ARGS];
    ffi_type *result;
    unsigned nargs;
} Routine;

/* One call that was made, or field that was set. */
typedef struct Done {
    uint16_t routine;
    uint64_t result[8];          /* a struct of up to 64 bytes by value */
    void *rooms[MOST_ARGS];      /* what pointer arguments lead to; NULL */
    uint32_t sizes[MOST_ARGS];
    unsigned nargs;
    void *own[MOST_ARGS];        /* the caller's storage that stood there, if it is to
                                  * be looked at */
    uint32_t own_sizes[MOST_ARGS];
    int out;                     /* a field: it leads to room for results … */
    uint64_t sum;                /* … which had this sum */
} Done;

static uint8_t *shared;
static struct WireHead *head;
static Routine *routines;
static unsigned nroutines;
static void *library;

static uint8_t *cover, *reached;
static size_t ncover, nreached;
static uint32_t *mutant;

static Done done[MOST_STEPS];
static unsigned ndone;
static void *allocations[MOST_ALLOCATIONS];
static unsigned nallocations;
static uint32_t callbacks, callbacks_seen;
static int64_t clock_ahead;
static struct WireAnswer *answer;          /* of the job that runs; NULL */
static struct WireAnswer spare;            /* for a prefix */

void sundew_player_register(uint32_t what, void *address, uint64_t n)
{
    if (what == SUNDEW_PLAYER_COVER) {
        cover = address;
        ncover = n;
    } else if (what == SUNDEW_PLAYER_REACHED) {
        reached = address;
        nreached = n;
    } else if (what == SUNDEW_PLAYER_MUTANT) {
        mutant = address;
    }
}

/* -------------------------------------------------------------- the clock */

int clock_gettime(clockid_t id, struct timespec *t)
{
    int r = (int)syscall(SYS_clock_gettime, id, t);
    if (r == 0)
        t->tv_sec += clock_ahead;
    return r;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* ----------------------------------------------------------- reading safely */

static sigjmp_buf unreadable;
static volatile sig_atomic_t reading;

static void on_fault(int sig)
{
    if (reading)
        siglongjmp(unreadable, 1);
    signal(sig, SIG_DFL);
    raise(sig);
}

static struct sigaction old_segv, old_bus;

static void guard(void)
{
    struct sigaction a = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
    sigaction(SIGSEGV, &a, &old_segv);
    sigaction(SIGBUS, &a, &old_bus);
    reading = 1;
}

static void unguard(void)
{
    reading = 0;
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS, &old_bus, NULL);
}

/* Bytes of a string, at most `most`; -1: unreadable. */
__attribute__((no_sanitize("address")))
static long read_string(const char *from, char *to, long most)
{
    volatile long n = 0;
    guard();
    if (sigsetjmp(unreadable, 1) == 0) {
        while (n < most && from[n]) {
            to[n] = from[n];
            n++;
        }
    } else {
        n = -1;
    }
    unguard();
    return n;
}

/* ------------------------------------------------------------ observations */

static void observe(unsigned step, int place, uint32_t kind, const void *bytes, uint32_t n)
{
    struct { uint32_t step; int32_t place; uint32_t kind, n; } row = { step, place, kind, n };
    uint32_t padded = (n + 3u) & ~3u;
    if (answer->nobs + sizeof row + padded > WIRE_OBSERVATIONS) {
        answer->cut = 1;
        return;
    }
    memcpy(answer->obs + answer->nobs, &row, sizeof row);
    if (n)
        memcpy(answer->obs + answer->nobs + sizeof row, bytes, n);
    answer->nobs += (uint32_t)sizeof row + padded;
}

static void observe_string(unsigned step, int place, const char *s)
{
    char copy[WIRE_MOST_SEEN_BYTES];
    if (!s) {
        observe(step, place, OBS_NULL, NULL, 0);
        return;
    }
    long n = read_string(s, copy, sizeof copy);
    if (n < 0)
        observe(step, place, OBS_UNREADABLE, NULL, 0);
    else
        observe(step, place, n == sizeof copy ? OBS_LONG : OBS_STRING, copy, (uint32_t)n);
}

/* Where else this pointer came up; false: nowhere. */
static int known_pointer(const void *p, unsigned before, uint32_t at[2])
{
    for (unsigned s = 0; s < before; s++) {
        const Done *d = &done[s];
        const Routine *r = d->routine == WIRE_SET ? NULL : &routines[d->routine];
        if (r && r->look[0] == 'h' && (void *)d->result[0] == p) {
            at[0] = s;
            at[1] = (uint32_t)-1;
            return 1;
        }
        for (unsigned i = 0; r && i < d->nargs; i++)
            if (d->rooms[i] && (d->rooms[i] == p ||
                (r->look[i + 1] == 'h' && d->sizes[i] >= 8 &&
                 memcmp(d->rooms[i], &p, sizeof p) == 0))) {
                at[0] = s;
                at[1] = i;
                return 1;
            }
    }
    return 0;
}

static void observe_handle(unsigned step, int place, const void *p)
{
    uint32_t at[2];
    if (!p)
        observe(step, place, OBS_NULL, NULL, 0);
    else if (known_pointer(p, step, at))
        observe(step, place, OBS_SAME, at, sizeof at);
    else
        observe(step, place, OBS_HANDLE, NULL, 0);
}

static uint64_t widen(uint64_t v, char letter)
{
    switch (letter) {
    case 'c': return (uint64_t)(int64_t)(int8_t)v;
    case 'C': return (uint8_t)v;
    case 's': return (uint64_t)(int64_t)(int16_t)v;
    case 'S': return (uint16_t)v;
    case 'i': return (uint64_t)(int64_t)(int32_t)v;
    case 'I': return (uint32_t)v;
    default: return v;
    }
}

static void observe_result(unsigned step, const Routine *r, const Done *d)
{
    uint64_t v;
    double x;
    float f;
    switch (r->look[0]) {
    case 'i':
        v = widen(d->result[0], r->signature[0]);
        observe(step, -1, OBS_INTEGER, &v, sizeof v);
        break;
    case 'f':
        memcpy(&f, d->result, sizeof f);
        memcpy(&x, d->result, sizeof x);
        if (r->signature[0] == 'f')
            x = (double)f;
        observe(step, -1, OBS_FLOAT, &x, sizeof x);
        break;
    case 'z':
        observe_string(step, -1, (const char *)d->result[0]);
        break;
    case 'h':
        observe_handle(step, -1, (const void *)d->result[0]);
        break;
    case 'p':
        observe(step, -1, d->result[0] ? OBS_HANDLE : OBS_NULL, NULL, 0);
        break;
    case 'r':
        observe(step, -1, OBS_BYTES, d->result,
                (uint32_t)(r->result->size > 64 ? 64 : r->result->size));
        break;
    }
}

static void observe_room(unsigned step, unsigned i, char look, const Done *d)
{
    uint32_t n = d->sizes[i];
    uint64_t v = 0;
    void *p = NULL;
    if (look == 'n') {
        memcpy(&v, d->rooms[i], n > 8 ? 8 : n);
        observe(step, (int)i, OBS_INTEGER, &v, sizeof v);
    } else if (look == 'b') {
        observe(step, (int)i, OBS_BYTES, d->rooms[i],
                n > WIRE_MOST_SEEN_BYTES ? WIRE_MOST_SEEN_BYTES : n);
    } else if (n >= sizeof p) {
        memcpy(&p, d->rooms[i], sizeof p);
        if (look == 'z')
            observe_string(step, (int)i, p);
        else
            observe_handle(step, (int)i, p);
    }
}

static uint8_t content[MOST_ARGS][WIRE_MOST_SEEN_BYTES];     /* of storage, before */

/* Structs in the caller's storage that the call has changed. */
static void observe_storage(unsigned step, unsigned i)
{
    const Done *d = &done[step];
    uint32_t n = d->own_sizes[i];
    uint8_t both[2 * WIRE_MOST_SEEN_BYTES];
    if (!d->own[i] || memcmp(content[i], d->own[i], n) == 0)
        return;
    memcpy(both, content[i], n);
    memcpy(both + n, d->own[i], n);
    observe(step, (int)i, OBS_FIELDS, both, 2 * n);
}

static uint64_t sum_of(const Done *d)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < d->sizes[0]; i++)
        h = (h ^ ((const uint8_t *)d->rooms[0])[i]) * 0x100000001b3u;
    return h;
}

/* What was written where a field led to. */
static void observe_behind(unsigned step)
{
    for (unsigned s = 0; s < step; s++) {
        Done *d = &done[s];
        uint64_t sum = d->out ? sum_of(d) : 0;
        if (!d->out || sum == d->sum)
            continue;
        d->sum = sum;
        observe(step, OBS_PLACE_BEHIND + (int)s, OBS_BYTES, d->rooms[0],
                d->sizes[0] > WIRE_MOST_SEEN_BYTES ? WIRE_MOST_SEEN_BYTES : d->sizes[0]);
    }
}

static void observe_call(unsigned step, int error)
{
    const Done *d = &done[step];
    const Routine *r = &routines[d->routine];
    observe_result(step, r, d);
    for (unsigned i = 0; i < d->nargs; i++)
        if (d->rooms[i] && strchr("bnzh", r->look[i + 1]))
            observe_room(step, i, r->look[i + 1], d);
    for (unsigned i = 0; i < d->nargs; i++)
        observe_storage(step, i);
    observe_behind(step);
    if (error)
        observe(step, OBS_PLACE_ERRNO, OBS_ERRNO, &error, sizeof error);
    if (callbacks != callbacks_seen)
        observe(step, OBS_PLACE_CALLBACKS, OBS_CALLBACKS, &callbacks, sizeof callbacks);
    callbacks_seen = callbacks;
}

/* --------------------------------------------------------------- arguments */

typedef struct Reader {
    const uint8_t *p, *end;
} Reader;

static int take(Reader *r, void *to, size_t n)
{
    if ((size_t)(r->end - r->p) < n) {
        memset(to, 0, n);
        r->p = r->end;
        return 0;
    }
    memcpy(to, r->p, n);
    r->p += n;
    return 1;
}

static uint32_t take32(Reader *r)
{
    uint32_t v;
    take(r, &v, sizeof v);
    return v;
}

static uint16_t take16(Reader *r)
{
    uint16_t v;
    take(r, &v, sizeof v);
    return v;
}

static long stub(void)
{
    callbacks++;
    return 0;
}

static void *room_of(const uint8_t *bytes, size_t have, size_t n)
{
    void *p = nallocations < MOST_ALLOCATIONS ? malloc(n ? n : 1) : NULL;
    if (!p)
        return NULL;
    allocations[nallocations++] = p;
    memset(p, 0, n);
    if (have)
        memcpy(p, bytes, have);
    return p;
}

typedef struct Taken {
    uint8_t kind;
    uint64_t bits;               /* a number, or a pointer */
    double real;
    const uint8_t *bytes;        /* in the request */
    void *room;                  /* memory made for it */
    uint32_t n;
    void *own;                   /* storage of the caller's … */
    uint32_t own_size;
} Taken;

static void take_symbol(Reader *r, Taken *t)
{
    char name[256] = "";
    uint32_t n = take32(r);
    void (*code)(void) = (void (*)(void))stub;
    if (n && n < sizeof name && take(r, name, n)) {
        void *p = dlsym(library, name);
        if (!p)
            p = dlsym(RTLD_DEFAULT, name);
        memcpy(&code, &p, sizeof p);
    }
    memcpy(&t->bits, &code, sizeof code);
}

static void take_made(Reader *r, Taken *t)
{
    uint32_t step = take32(r), param = t->kind == VALUE_RESULT ? 0 : take32(r);
    if (step >= ndone || param >= MOST_ARGS)
        return;
    const Done *d = &done[step];
    if (t->kind == VALUE_RESULT)
        t->bits = d->result[0];
    else if (t->kind == VALUE_STORAGE) {
        t->bits = (uint64_t)(uintptr_t)d->rooms[param];
        t->own = d->rooms[param];
        t->own_size = d->sizes[param];
    }
    else if (d->rooms[param] && d->sizes[param] >= 8)
        memcpy(&t->bits, d->rooms[param], 8);
}

static void take_value(Reader *r, Taken *t)
{
    memset(t, 0, sizeof *t);
    take(r, &t->kind, 1);
    switch (t->kind) {
    case VALUE_INTEGER:
        take(r, &t->bits, 8);
        break;
    case VALUE_FLOAT:
        take(r, &t->real, 8);
        break;
    case VALUE_STRING: case VALUE_BYTES:
        t->n = take32(r);
        t->bytes = r->p;
        if ((size_t)(r->end - r->p) < t->n)
            t->n = 0;
        r->p += t->n;
        break;
    case VALUE_ROOM:
        t->n = take32(r);
        break;
    case VALUE_RESULT: case VALUE_STORED: case VALUE_STORAGE:
        take_made(r, t);
        break;
    case VALUE_FUNCTION:
        take_symbol(r, t);
        break;
    }
}

/* A pointer argument: what it leads to is made here. */
static void point(Taken *t)
{
    if (t->kind == VALUE_STRING)
        t->room = room_of(t->bytes, t->n, t->n + 1);
    else if (t->kind == VALUE_BYTES)
        t->room = room_of(t->bytes, t->n, t->n);
    else if (t->kind == VALUE_ROOM) {
        t->own = t->room = room_of(NULL, 0, t->n);
        t->own_size = t->n;
    }
    if (t->room)
        t->bits = (uint64_t)(uintptr_t)t->room;
}

/* ------------------------------------------------------------------- steps */

__attribute__((noinline)) static void dirty_stack(uint32_t fill)
{
    volatile uint8_t waste[16384];
    if (fill)
        memset((void *)waste, (int)fill, sizeof waste);
    __asm__ volatile("" : : "r"(waste) : "memory");
}

static void set_field(Reader *r, Done *d)
{
    uint16_t size = take16(r);
    uint32_t offset = take32(r);
    Taken target, v;
    take_value(r, &target);
    take_value(r, &v);
    d->routine = WIRE_SET;
    point(&v);
    if (v.kind == VALUE_FLOAT)
        memcpy(&v.bits, &v.real, 8);
    d->rooms[0] = v.room;
    d->sizes[0] = v.n;
    d->nargs = 1;
    d->out = size && v.kind == VALUE_ROOM && v.room;
    if (d->out)
        d->sum = sum_of(d);
    if (target.bits && size <= 8)
        memcpy((char *)(uintptr_t)target.bits + offset, &v.bits, size);
}

static void call(Reader *r, uint16_t number, Done *d, uint32_t fill)
{
    const Routine *f = &routines[number];
    uint64_t slots[MOST_ARGS][8];
    void *args[MOST_ARGS];
    unsigned n = take16(r);
    d->routine = number;
    d->nargs = n > MOST_ARGS ? MOST_ARGS : n;
    memset(slots, 0, sizeof slots);
    for (unsigned i = 0; i < n; i++) {
        Taken t;
        take_value(r, &t);
        if (i >= f->nargs || i >= MOST_ARGS)
            continue;
        const ffi_type *type = f->types[i];
        args[i] = slots[i];
        if (type->type == FFI_TYPE_STRUCT) {
            memcpy(slots[i], t.bytes, t.bytes && t.n <= 64 ? t.n : 0);
        } else if (type == &ffi_type_double) {
            memcpy(slots[i], &t.real, 8);
        } else if (type == &ffi_type_float) {
            float x = (float)t.real;
            memcpy(slots[i], &x, sizeof x);
        } else {
            if (type == &ffi_type_pointer)
                point(&t);
            memcpy(slots[i], &t.bits, 8);
        }
        d->rooms[i] = t.room;
        d->sizes[i] = t.kind == VALUE_STRING ? t.n + 1 : t.n;
        if (f->look[i + 1] == 's' && t.own && t.own_size <= WIRE_MOST_SEEN_BYTES) {
            d->own[i] = t.own;
            d->own_sizes[i] = t.own_size;
            memcpy(content[i], t.own, t.own_size);
        }
    }
    for (unsigned i = n; i < f->nargs && i < MOST_ARGS; i++)
        args[i] = slots[i];
    if (!f->code)
        _exit(77);
    dirty_stack(fill);
    errno = 0;
    ffi_call((ffi_cif *)&f->cif, f->code, d->result, args);
}

static void run_steps(Reader *r, uint32_t n, uint32_t fill, int look)
{
    for (uint32_t i = 0; i < n && ndone < MOST_STEPS; i++) {
        Done *d = &done[ndone];
        memset(d, 0, sizeof *d);
        answer->at = ndone;
        uint16_t number = take16(r);
        int error = 0;
        if (number == WIRE_SET) {
            set_field(r, d);
        } else if (number < nroutines) {
            call(r, number, d, fill);
            error = errno;
        } else {
            _exit(78);
        }
        ndone++;
        if (look && number != WIRE_SET)
            observe_call(ndone - 1, error);
    }
}

/* Steps over values without executing them. */
static void skip_steps(Reader *r, uint32_t n)
{
    Taken t;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t number = take16(r), m = take16(r);
        if (number == WIRE_SET) {
            take32(r);
            m = 2;
        }
        for (unsigned k = 0; k < m; k++)
            take_value(r, &t);
    }
}

static void forget_all(void)
{
    for (unsigned i = 0; i < nallocations; i++)
        free(allocations[i]);
    nallocations = 0;
    ndone = 0;
    callbacks = callbacks_seen = 0;
}

/* -------------------------------------------------------------------- jobs */

static uint64_t heap_bytes(void)
{
    static size_t (*asan)(void);
    static int asked;
    if (!asked) {
        void *p = dlsym(RTLD_DEFAULT, "__sanitizer_get_current_allocated_bytes");
        memcpy(&asan, &p, sizeof p);
        asked = 1;
    }
    if (asan)
        return asan();
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void list_new(const struct WireOptions *o)
{
    const uint8_t *seen = shared + WIRE_SEEN, *bytes = o->reached ? reached : cover;
    size_t n = o->reached ? nreached : ncover;
    for (size_t i = 0; bytes && i < n && answer->nnew < WIRE_MOST_NEW; i++) {
        if (i % 8 == 0) {
            uint64_t word;
            while (i + 8 <= n && (memcpy(&word, bytes + i, 8), !word))
                i += 8;
            if (i >= n)
                break;
        }
        if (bytes[i] && (o->reached || o->all || !seen[i]))
            answer->fresh[answer->nnew++] = (uint32_t)i;
    }
}

static void limit(void)
{
    struct itimerval cpu = { .it_value = { head->cpu_ms / 1000, head->cpu_ms % 1000 * 1000 } };
    struct itimerval wall = { .it_value = { head->wall_ms / 1000, head->wall_ms % 1000 * 1000 } };
    signal(SIGPROF, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_PROF, &cpu, NULL);
    setitimer(ITIMER_REAL, &wall, NULL);
}

/* Standard error is another file from time to time: a library that gets number 2 may
 * ask where it stands. */
static void change_error_output(void)
{
    int fd = open("/dev/null", O_RDWR);
    if (fd >= 0) {
        dup2(fd, 2);
        close(fd);
    }
}

static void set_up(const struct WireOptions *o)
{
    limit();
    clock_ahead = o->clock;
    if (o->fill)
        change_error_output();
    if (o->fill)
        mallopt(M_PERTURB, (int)o->fill);
    if (mutant)
        *mutant = o->mutant;
}

/* A first time, to see what stays behind: what a second time adds is a leak. If the
 * second time goes another way (the first has changed the library), what the
 * first left counts. */
static uint8_t first_obs[WIRE_OBSERVATIONS];

static void run_twice(Reader r, const struct WireOptions *o, uint32_t nsteps)
{
    uint64_t begin = heap_bytes();
    Reader again = r;
    run_steps(&again, nsteps, o->fill, 1);
    forget_all();
    uint64_t between = heap_bytes();
    uint32_t nfirst = answer->nobs;
    memcpy(first_obs, answer->obs, nfirst);
    answer->nobs = 0;
    run_steps(&r, nsteps, o->fill, 1);
    forget_all();
    int64_t left = (int64_t)(between - begin);
    answer->leaked = (int64_t)(heap_bytes() - between);
    if (left > 0 && (nfirst != answer->nobs || memcmp(first_obs, answer->obs, nfirst) != 0))
        answer->leaked = left;
}

static void run_job(Reader r, const struct WireOptions *o, uint32_t nsteps)
{
    if (o->twice)
        run_twice(r, o, nsteps);
    else
        run_steps(&r, nsteps, o->fill, 1);
    list_new(o);
    answer->state = WIRE_DONE;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    if (where->level > 0)
        remove(path);
    return 0;
}

static void clean_folder(void)
{
    nftw(".", remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void judge(struct WireAnswer *w, int status)
{
    w->status = status;
    if (w->state == WIRE_DONE)
        return;
    if (WIFSIGNALED(status))
        w->state = WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM
            ? WIRE_TIMEOUT : WIRE_DIED;
    else
        w->state = WIRE_EXITED;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Jobs that run side by side, each in a folder of its own. */
enum { MOST_SLOTS = 8 };
static struct Slot {
    pid_t pid;                   /* 0: free */
    struct WireAnswer *answer;
} slots[MOST_SLOTS];

static void go_to_slot(int i)
{
    char name[16];
    snprintf(name, sizeof name, "s%d", i);
    if (chdir(name) != 0) {
        mkdir(name, 0777);
        if (chdir(name) != 0)
            _exit(80);
    }
}

/* Waits until a job has ended; whether one was there. */
static int end_one(void)
{
    int status, busy = 0;
    for (int i = 0; i < MOST_SLOTS; i++)
        busy += slots[i].pid != 0;
    if (!busy)
        return 0;
    pid_t pid = waitpid(-1, &status, 0);
    for (int i = 0; i < MOST_SLOTS; i++)
        if (pid > 0 && slots[i].pid == pid) {
            judge(slots[i].answer, status);
            slots[i].pid = 0;
            go_to_slot(i);
            clean_folder();
            if (chdir("..") != 0)
                _exit(80);
        }
    return pid > 0 || errno == EINTR;
}

static int free_slot(void)
{
    int most = head->slots && head->slots < MOST_SLOTS ? (int)head->slots : MOST_SLOTS;
    for (;;) {
        for (int i = 0; i < most; i++)
            if (!slots[i].pid)
                return i;
        if (!end_one())
            return 0;
    }
}

static void start_job(Reader steps, const struct WireOptions *o, uint32_t nsteps)
{
    int i = free_slot();
    pid_t pid = fork();
    if (pid == 0) {
        go_to_slot(i);
        set_up(o);
        run_job(steps, o, nsteps);
        _exit(0);
    }
    if (pid > 0)
        slots[i] = (struct Slot){ pid, answer };
}

/* Jobs of a group; in the group's process, after the prefix. */
static void run_jobs(Reader *r, uint32_t njobs, uint32_t nprefix)
{
    struct WireAnswer *prefix = answer;
    for (uint32_t i = 0; i < njobs; i++) {
        struct WireOptions o;
        uint32_t number = take32(r);
        take(r, &o, sizeof o);
        uint32_t nsteps = take32(r);
        Reader steps = *r;
        skip_steps(r, nsteps);
        if (number >= WIRE_MOST_JOBS)
            _exit(79);
        answer = (struct WireAnswer *)(shared + WIRE_RESPONSE + (size_t)number * WIRE_ANSWER);
        answer->nobs = prefix->nobs;
        memcpy(answer->obs, prefix->obs, prefix->nobs);
        answer->at = nprefix;
        if (o.direct) {
            set_up(&o);
            run_job(steps, &o, nsteps);
            return;
        }
        start_job(steps, &o, nsteps);
        answer = prefix;
    }
    while (end_one())
        ;
}

static int is_direct(Reader r)
{
    struct WireOptions o;
    take32(&r);
    take(&r, &o, sizeof o);
    return o.direct != 0;
}

/* The prefix died: so would all its jobs. */
static void mark_jobs(Reader *r, uint32_t njobs, int status)
{
    for (uint32_t i = 0; i < njobs; i++) {
        struct WireOptions o;
        uint32_t number = take32(r);
        take(r, &o, sizeof o);
        skip_steps(r, take32(r));
        if (number >= WIRE_MOST_JOBS)
            return;
        answer = (struct WireAnswer *)(shared + WIRE_RESPONSE + (size_t)number * WIRE_ANSWER);
        if (answer->state == WIRE_NOT_RUN) {
            answer->state = WIRE_PREFIX;
            answer->status = status;
        }
    }
}

static void run_request(void)
{
    Reader r = { shared + WIRE_REQUEST, shared + WIRE_RESPONSE };
    uint32_t ngroups = take32(&r);
    for (uint32_t g = 0; g < ngroups; g++) {
        uint32_t njobs = take32(&r), nprefix = take32(&r);
        Reader prefix = r, jobs;
        skip_steps(&r, nprefix);
        jobs = r;
        memset(&spare, 0, sizeof spare);
        answer = &spare;
        if (njobs && !nprefix && is_direct(jobs)) {
            run_jobs(&jobs, njobs, 0);
            return;
        }
        pid_t pid = nprefix ? fork() : 0;
        if (pid == 0) {
            if (nprefix) {
                limit();
                run_steps(&prefix, nprefix, 0, 1);
                struct itimerval off = {0};
                setitimer(ITIMER_PROF, &off, NULL);
                setitimer(ITIMER_REAL, &off, NULL);
            }
            run_jobs(&jobs, njobs, nprefix);
            if (nprefix)
                _exit(0);
        } else {
            int status = pid > 0 ? wait_for(pid) : -1;
            if (status != 0) {
                Reader again = jobs;
                mark_jobs(&again, njobs, status);
            }
        }
        struct WireOptions o;
        for (uint32_t i = 0; i < njobs; i++) {
            take32(&r);
            take(&r, &o, sizeof o);
            skip_steps(&r, take32(&r));
        }
    }
}

/* ------------------------------------------------------------------- start */

static ffi_type *scalar_type(char c)
{
    switch (c) {
    case 'v': return &ffi_type_void;
    case 'c': return &ffi_type_sint8;
    case 'C': return &ffi_type_uint8;
    case 's': return &ffi_type_sint16;
    case 'S': return &ffi_type_uint16;
    case 'i': return &ffi_type_sint32;
    case 'I': return &ffi_type_uint32;
    case 'l': return &ffi_type_sint64;
    case 'L': return &ffi_type_uint64;
    case 'f': return &ffi_type_float;
    case 'd': return &ffi_type_double;
    default: return &ffi_type_pointer;
    }
}

static ffi_type *parse_type(const char **s)
{
    if (**s != '{')
        return scalar_type(*(*s)++);
    ++*s;
    ffi_type *t = calloc(1, sizeof *t);
    t->type = FFI_TYPE_STRUCT;
    t->elements = calloc(MOST_MEMBERS + 1, sizeof *t->elements);
    for (unsigned n = 0; **s && **s != '}'; )
        if (n < MOST_MEMBERS)
            t->elements[n++] = parse_type(s);
        else
            ++*s;
    if (**s)
        ++*s;
    return t;
}

static int prepare(Routine *r)
{
    const char *s = r->signature;
    int fixed = -1;
    void *code = dlsym(library, r->symbol);
    memcpy(&r->code, &code, sizeof code);
    r->result = parse_type(&s);
    while (*s && r->nargs < MOST_ARGS) {
        if (*s == '.') {
            fixed = (int)r->nargs;
            s++;
            continue;
        }
        r->types[r->nargs++] = parse_type(&s);
    }
    ffi_status st = fixed >= 0
        ? ffi_prep_cif_var(&r->cif, FFI_DEFAULT_ABI, (unsigned)fixed, r->nargs, r->result, r->types)
        : ffi_prep_cif(&r->cif, FFI_DEFAULT_ABI, r->nargs, r->result, r->types);
    if (st != FFI_OK)
        r->code = NULL;
    return r->code != NULL;
}

static const char *next_text(const char **p)
{
    const char *s = *p;
    *p += strlen(s) + 1;
    return s;
}

static void load_functions(void)
{
    uint32_t n;
    memcpy(&n, shared + WIRE_FUNCTIONS, sizeof n);
    const char *p = (const char *)shared + WIRE_FUNCTIONS + sizeof n;
    nroutines = n;
    routines = calloc(n + 1, sizeof *routines);
    for (uint32_t i = 0; i < n; i++) {
        routines[i].symbol = next_text(&p);
        routines[i].signature = next_text(&p);
        routines[i].look = next_text(&p);
        if (!prepare(&routines[i]))
            head->missing++;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "sundew-play is started by sundew\n");
        return 2;
    }
    shared = mmap(NULL, WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, WIRE_FD, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "sundew-play is started by sundew\n");
        return 2;
    }
    close(WIRE_FD);              /* the library must not find it */
    head = (struct WireHead *)shared;
    if (head->magic != WIRE_MAGIC || head->version != WIRE_VERSION)
        return 2;
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(head->trouble, sizeof head->trouble, "%s", dlerror());
        return 3;
    }
    load_functions();
    head->npoints = (uint32_t)ncover;
    head->nreached = (uint32_t)nreached;
    heap_bytes();                /* it asks the linker the first time, which allocates */
    head->ready = 1;
    sundew_forkserver_start();
    run_request();
    return 0;
}
