/*
 * Threads, and the choice of the one that runs.
 *
 * A thread that stands at a point asks choose(). If another is chosen, it gives
 * that one its turn (`go`, a futex) and sleeps until somebody gives it back. So
 * one thread runs at a time, and the order is ours.
 *
 * A thread can be chosen if it is ready, or if it waits with a time limit: time
 * may always pass before others go on. Without a force the latter are chosen
 * only when nobody is ready; the virtual clock then goes to the earliest.
 */
#include "runtime/schedule/schedule_int.h"
#include "runtime/server/forkserver.h"
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    MOST_ALONE = 2000,
    MOST_QUIET = 200000,
    MOST_SAME = 6,                   /* the same value read at the same place: it spins */
    MOST_CALLS = 200,                /* the same call of a synchronisation function */
    MOST_SPUN = 1500,                /* nobody writes, and all spin for so long: a livelock */
    LOWERED = 1 << 20,               /* PCT's priorities: above at first, below who yielded */
};

struct sundew_schedule *sundew_plan;
SchedThread sundew_sched_threads[SUNDEW_SCHEDULE_THREADS];
unsigned sundew_nsched;
bool sundew_is_played;
_Thread_local SchedThread *sundew_sched_self __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t sundew_schedule_site __attribute__((tls_model("initial-exec")));
uint64_t sundew_sched_now;
int sundew_schedule_on;

static uint64_t random_state, order, yielded;
static uint64_t written;                         /* writes and synchronisation so far */
static uint32_t next_force;
static uint32_t changes[16];                     /* PCT: points with a change */

uint64_t sundew_random(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ------------------------------------------------------------ begin, end */

static void futex(int *at, int op, int value)
{
    syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void sundew_end(unsigned how)
{
    sundew_plan->ended = how;
    for (unsigned i = 0; i < sundew_nsched; i++) {
        const SchedThread *t = &sundew_sched_threads[i];
        bool waits = t->state == THREAD_WAITS;
        sundew_plan->waits[i] = (struct sundew_wait){ .object = waits ? t->object : 0,
                                                      .site = t->site,
                                                      .kind = waits ? t->kind : SUNDEW_AT_BEGIN,
                                                      .owner = t->owner,
                                                      .state = (uint8_t)t->state };
    }
    syscall(SYS_exit_group, 86);
    __builtin_unreachable();
}

static void priorities_begin(void)
{
    struct sundew_schedule *p = sundew_plan;
    uint32_t n = p->depth < 16 ? p->depth : 16;
    for (uint32_t i = 0; i + 1 < n; i++)
        changes[i] = 1 + (uint32_t)(sundew_random() % (p->length ? p->length : 1));
}

/* A new one, else that of a thread that is over and that nobody will join. */
static unsigned free_number(void)
{
    if (sundew_nsched < SUNDEW_SCHEDULE_THREADS)
        return sundew_nsched;
    for (unsigned i = 1; i < sundew_nsched; i++)
        if (sundew_sched_threads[i].state == THREAD_OVER && sundew_sched_threads[i].joined)
            return i;
    return NOBODY;
}

SchedThread *sundew_thread_new(void)
{
    unsigned n = free_number();
    if (n == NOBODY)
        return NULL;
    SchedThread *t = &sundew_sched_threads[n];
    uint32_t clock = n < sundew_nsched ? t->clock[n] : 0;
    memset(t, 0, sizeof *t);
    sundew_nsched += n == sundew_nsched;
    t->number = (uint8_t)n;
    t->state = THREAD_READY;
    t->owner = NOBODY;
    /* by_pos() draws from all numbers: one from a smaller range would stay behind for ever */
    uint64_t chance = sundew_random();
    bool pos = sundew_plan->strategy == SUNDEW_SCHEDULE_POS;
    t->priority = pos ? chance : 2 * LOWERED + chance % 1000000;
    t->clock[n] = clock + 1;
    sundew_plan->nthreads = sundew_nsched;
    return t;
}

void sundew_schedule_begin(void)
{
    if (!sundew_plan)
        return;
    random_state = sundew_plan->seed;
    yielded = LOWERED;
    next_force = 0;
    sundew_nsched = 0;
    sundew_sched_now = 0;
    priorities_begin();
    sundew_sched_self = sundew_thread_new();
    sundew_sched_self->tid = (int)syscall(SYS_gettid);
}

/* A child of the program has one thread and is not scheduled. */
static void in_child(void)
{
    sundew_schedule_on = 0;
    sundew_sched_self = NULL;
    sundew_plan = NULL;
}

void sundew_schedule_end(void)
{
    if (sundew_plan && sundew_plan->ended == SUNDEW_SCHEDULE_RUNNING)
        sundew_plan->ended = SUNDEW_SCHEDULE_ENDED;
    sundew_schedule_on = 0;
    sundew_sched_self = NULL;
}

/* A program begins here, before its own constructors. */
__attribute__((constructor(101))) static void start(int argc, char **argv, char **envp)
{
    (void)argc;
    (void)argv;
    sundew_stack_top = (uintptr_t)envp;
    const char *how = getenv(SUNDEW_SCHEDULE_ENV);
    if (!how)
        return;
    void *p =
        mmap(NULL, sizeof *sundew_plan, PROT_READ | PROT_WRITE, MAP_SHARED, SUNDEW_SCHEDULE_FD, 0);
    if (p == MAP_FAILED)
        return;
    sundew_plan = p;
    if (sundew_plan->magic != SUNDEW_SCHEDULE_MAGIC ||
        sundew_plan->version != SUNDEW_SCHEDULE_VERSION) {
        sundew_plan = NULL;
        return;
    }
    sundew_is_played = !strcmp(how, SUNDEW_SCHEDULE_PLAYER);
    if (sundew_is_played)
        return;
    sundew_forkserver_start();
    pthread_atfork(NULL, NULL, in_child);
    sundew_schedule_begin();
}

__attribute__((destructor)) static void over(void)
{
    if (sundew_sched_self)
        sundew_schedule_end();
}

/* ---------------------------------------------------------------- choice */

static uint64_t bit(unsigned n) { return (uint64_t)1 << n; }

static uint64_t ready(void)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (sundew_sched_threads[i].state == THREAD_READY)
            all |= bit(i);
    return all;
}

/* Those whose time may pass. */
static uint64_t timed(void)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (sundew_sched_threads[i].state == THREAD_WAITS && sundew_sched_threads[i].timed)
            all |= bit(i);
    return all;
}

static unsigned earliest(uint64_t among)
{
    unsigned best = NOBODY;
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (among & bit(i) &&
            (best == NOBODY || sundew_sched_threads[i].until < sundew_sched_threads[best].until))
            best = i;
    return best;
}

/* The current one if it can and does not yield, else the next in cyclic order. */
static unsigned usual(const SchedThread *me, uint64_t can, bool yields)
{
    if (can & bit(me->number) && !yields)
        return me->number;
    for (unsigned i = 1; i <= sundew_nsched; i++) {
        unsigned n = (me->number + i) % sundew_nsched;
        if (can & bit(n))
            return n;
    }
    return NOBODY;
}

static unsigned highest(uint64_t can)
{
    unsigned best = NOBODY;
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (can & bit(i) && (best == NOBODY || sundew_sched_threads[i].priority >
                                                   sundew_sched_threads[best].priority))
            best = i;
    return best;
}

static unsigned by_pct(SchedThread *me, uint64_t can, bool yields)
{
    struct sundew_schedule *p = sundew_plan;
    for (uint32_t i = 0; i + 1 < p->depth && i < 16; i++)
        if (changes[i] == p->npoints)
            me->priority = LOWERED + i;
    if (yields)
        me->priority = yielded ? --yielded : 0;  /* below all others */
    return highest(can);
}

static bool conflicts(const SchedThread *a, const SchedThread *b)
{
    return a->object && a->object == b->object && (a->pending_writes || b->pending_writes);
}

static unsigned by_pos(SchedThread *me, uint64_t can, bool yields)
{
    me->priority = yields ? 0 : sundew_random();
    unsigned n = highest(can);
    if (n == NOBODY)
        return n;
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (i != n && conflicts(&sundew_sched_threads[i], &sundew_sched_threads[n]))
            sundew_sched_threads[i].priority = sundew_random();
    return n;
}

static bool is_forced(unsigned *thread)
{
    struct sundew_schedule *p = sundew_plan;
    if (next_force >= p->nforces || next_force >= SUNDEW_SCHEDULE_FORCES ||
        p->forces[next_force].decision != p->ndecisions)
        return false;
    *thread = p->forces[next_force++].thread;
    return true;
}

/* Among those that can run; more than one can. */
static unsigned decide(SchedThread *me, uint64_t can, uint64_t all, bool yields, unsigned standard)
{
    unsigned n;
    switch (sundew_plan->strategy) {
    case SUNDEW_SCHEDULE_PCT:
    case SUNDEW_SCHEDULE_POS:
        if (all != can && (!can || sundew_random() % 16 == 0))
            can = all;
        return sundew_plan->strategy == SUNDEW_SCHEDULE_PCT ? by_pct(me, can, yields)
                                                            : by_pos(me, can, yields);
    default:
        if (!is_forced(&n))
            return standard;
        if (n >= sundew_nsched || !(all & bit(n)))
            sundew_end(SUNDEW_SCHEDULE_DIVERGED);
        return n;
    }
}

static void log_step(const SchedThread *me, uint64_t all, unsigned chosen, unsigned standard,
                     unsigned flags)
{
    struct sundew_schedule *p = sundew_plan;
    if (p->nsteps >= SUNDEW_SCHEDULE_STEPS)
        return;
    p->steps[p->nsteps++] = (struct sundew_step){ .object = me->object,
                                                  .enabled = all,
                                                  .site = me->site,
                                                  .decision = p->ndecisions,
                                                  .thread = me->number,
                                                  .chosen = (uint8_t)chosen,
                                                  .kind = me->kind,
                                                  .flags = (uint8_t)flags,
                                                  .usual = (uint8_t)standard };
}

static bool is_ours(int tid)
{
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (sundew_sched_threads[i].tid == tid)
            return true;
    return false;
}

/* Has the process threads that a library made without us? They may wake ours. */
static bool has_strangers(void)
{
    _Alignas(struct dirent64) char room[4096];
    bool found = false;
    long got;
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && !found && (got = syscall(SYS_getdents64, fd, room, sizeof room)) > 0)
        for (long at = 0; at < got && !found;) {
            const struct dirent64 *e = (const struct dirent64 *)(const void *)(room + at);
            found = e->d_name[0] != '.' && !is_ours(atoi(e->d_name));
            at += e->d_reclen;
        }
    if (fd >= 0)
        close(fd);
    return found;
}

/* The thread that runs next. Time passes if nobody is ready. */
static unsigned choose(SchedThread *me, bool yields)
{
    uint64_t can = ready(), all = can | timed();
    if (!all)
        sundew_end(has_strangers() ? SUNDEW_SCHEDULE_FOREIGN : SUNDEW_SCHEDULE_DEADLOCK);
    bool decision = __builtin_popcountll(all) > 1;
    unsigned standard = can ? usual(me, can, yields) : earliest(all);
    unsigned n = decision ? decide(me, can, all, yields, standard) : standard;
    unsigned flags =
        (decision ? SUNDEW_STEP_DECISION : 0) | (yields ? SUNDEW_STEP_YIELDS : 0) |
        (n != me->number && me->state == THREAD_READY && !yields ? SUNDEW_STEP_PREEMPTS : 0);
    bool plain = me->kind == SUNDEW_AT_READ || me->kind == SUNDEW_AT_WRITE;
    if (decision || n != me->number || !plain)
        log_step(me, all, n, standard, flags);
    sundew_plan->ndecisions += decision;
    SchedThread *t = &sundew_sched_threads[n];
    if (t->state == THREAD_WAITS) {              /* its time is over */
        if (t->until > sundew_sched_now)
            sundew_sched_now = t->until;
        t->state = THREAD_READY;
        t->woken = false;
    }
    return n;
}

/* Who is over frees memory on its way out. A destructor that waits for us would
 * never let it go: then it is left alone after a while. */
static void await_gone(int tid)
{
    for (unsigned tries = 0; tries < 20000; tries++) {
        if (syscall(SYS_tgkill, getpid(), tid, 0) != 0)
            return;
        if (tries < 20)
            sched_yield();
        else
            nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    }
}

static void sleep_until_chosen(SchedThread *me)
{
    while (!__atomic_load_n(&me->go, __ATOMIC_ACQUIRE))
        futex(&me->go, FUTEX_WAIT, 0);
    __atomic_store_n(&me->go, 0, __ATOMIC_RELAXED);
    if (me->leaving)
        await_gone(me->leaving);
    me->leaving = 0;
}

static void give_turn(const SchedThread *from, unsigned n)
{
    SchedThread *t = &sundew_sched_threads[n];
    bool leaves = from->state == THREAD_OVER && from->tid != getpid();
    t->leaving = leaves ? from->tid : 0;
    t->alone = t->quiet = 0;
    memset(t->turns, 0, sizeof t->turns);
    __atomic_store_n(&t->go, 1, __ATOMIC_RELEASE);
    futex(&t->go, FUTEX_WAKE, 1);
}

static void go_on(SchedThread *me, bool yields)
{
    unsigned n = choose(me, yields);
    bool over = me->state == THREAD_OVER;
    if (n == me->number)
        return;
    give_turn(me, n);
    if (!over)                                   /* else `me` may be another's by now */
        sleep_until_chosen(me);
}

/* ---------------------------------------------------------------- points */

SchedThread *sundew_enter(void)
{
    SchedThread *me = sundew_sched_self;
    if (!me || me->inside)
        return NULL;
    me->inside = true;
    me->site = sundew_schedule_site;
    return me;
}

void sundew_leave(SchedThread *me) { me->inside = false; }

static void stand_at(SchedThread *me, unsigned kind, const volatile void *object)
{
    me->kind = (uint8_t)kind;
    me->object = (uint64_t)(uintptr_t)object;
    me->pending_writes = kind != SUNDEW_AT_READ;
    if (++sundew_plan->npoints > sundew_plan->most_points)
        sundew_end(SUNDEW_SCHEDULE_ENDLESS);
}

/* What it will read or overwrite. It was there before, so the memory is. */
static uint64_t value_at(const SchedThread *me)
{
    uint64_t v = 0;
    memcpy(&v, (const void *)(uintptr_t)me->object, me->width);
    return v;
}

/* Does it come back to the same place again and again, and nothing changes? */
static bool spins(SchedThread *me)
{
    for (unsigned i = 0; i < 4; i++) {
        if (me->turns[i].site != me->site || me->turns[i].object != me->object || !me->object)
            continue;
        uint64_t now = me->width ? value_at(me) : 0;
        if (me->turns[i].count && me->turns[i].value != now) {
            memset(me->turns, 0, sizeof me->turns);      /* it gets on */
            return false;
        }
        me->turns[i].value = now;
        return ++me->turns[i].count > (me->width ? MOST_SAME : MOST_CALLS);
    }
    me->turns[me->oldest].site = me->site;
    me->turns[me->oldest].object = me->object;
    me->turns[me->oldest].count = 0;
    me->oldest = (uint8_t)((me->oldest + 1) % 4);
    return false;
}

/* All that can run only look, for long, at what nobody writes: they wait for ever. */
static void end_if_livelock(SchedThread *me)
{
    if (me->spun_at != written)
        me->spun = 0;
    me->spun_at = written;
    if (++me->spun < MOST_SPUN || timed())
        return;
    for (unsigned i = 0; i < sundew_nsched; i++) {
        const SchedThread *t = &sundew_sched_threads[i];
        if (t->state == THREAD_READY && (t->spun_at != written || t->spun < MOST_SPUN))
            return;
    }
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (sundew_sched_threads[i].state == THREAD_READY)
            sundew_sched_threads[i].state = THREAD_WAITS;
    sundew_end(has_strangers() ? SUNDEW_SCHEDULE_FOREIGN : SUNDEW_SCHEDULE_DEADLOCK);
}

void sundew_point(SchedThread *me, unsigned kind, const volatile void *object)
{
    stand_at(me, kind, object);
    written += kind != SUNDEW_AT_READ && kind != SUNDEW_AT_ATOMIC;
    bool spinning = spins(me), stuck = ++me->alone > MOST_ALONE || spinning;
    if (spinning && me->width)
        end_if_livelock(me);
    if (stuck) {
        me->alone = 0;
        memset(me->turns, 0, sizeof me->turns);
    }
    go_on(me, stuck);
}

void sundew_yield(SchedThread *me, unsigned kind)
{
    stand_at(me, kind, NULL);
    go_on(me, true);
}

bool sundew_wait(SchedThread *me, unsigned kind, const volatile void *object, unsigned owner,
                 const uint64_t *until)
{
    stand_at(me, kind, object);
    me->state = THREAD_WAITS;
    me->owner = (uint8_t)owner;
    me->timed = until != NULL;
    me->until = until ? *until : 0;
    me->since = ++order;
    me->woken = false;
    go_on(me, false);
    me->timed = false;
    me->owner = NOBODY;
    return me->woken;
}

void sundew_wake(const volatile void *object, unsigned kind, unsigned other)
{
    for (unsigned i = 0; i < sundew_nsched; i++) {
        SchedThread *t = &sundew_sched_threads[i];
        if (t->state == THREAD_WAITS && t->object == (uint64_t)(uintptr_t)object &&
            (t->kind == kind || t->kind == other)) {
            t->state = THREAD_READY;
            t->woken = true;
        }
    }
}

/* Those that wait for a condition, and who of them waits longest. */
static uint64_t waiting_for(const volatile void *condition, unsigned *longest)
{
    uint64_t all = 0;
    *longest = NOBODY;
    for (unsigned i = 0; i < sundew_nsched; i++) {
        const SchedThread *t = &sundew_sched_threads[i];
        if (t->state != THREAD_WAITS || t->kind != SUNDEW_AT_WAIT ||
            t->object != (uint64_t)(uintptr_t)condition)
            continue;
        all |= bit(i);
        if (*longest == NOBODY || t->since < sundew_sched_threads[*longest].since)
            *longest = i;
    }
    return all;
}

/* By chance: each is as likely as the other. */
static unsigned any(uint64_t among)
{
    for (uint64_t k = sundew_random() % (uint64_t)__builtin_popcountll(among); k; k--)
        among &= among - 1;
    return (unsigned)__builtin_ctzll(among);
}

void sundew_wake_one(SchedThread *me, const volatile void *condition)
{
    unsigned longest, n;
    uint64_t all = waiting_for(condition, &longest);
    if (!all)
        return;
    n = longest;
    if (__builtin_popcountll(all) > 1) {
        if (sundew_plan->strategy != SUNDEW_SCHEDULE_FORCED)
            n = any(all);
        else if (is_forced(&n) && (n >= sundew_nsched || !(all & bit(n))))
            sundew_end(SUNDEW_SCHEDULE_DIVERGED);
        log_step(me, all, n, longest, SUNDEW_STEP_DECISION | SUNDEW_STEP_WAKES);
        sundew_plan->ndecisions++;
    }
    sundew_sched_threads[n].state = THREAD_READY;
    sundew_sched_threads[n].woken = true;
}

void sundew_look_for_cancel(SchedThread *me)
{
    if (!me->cancelled)
        return;
    me->cancelled = false;
    me->inside = false;
    pthread_testcancel();
    me->inside = true;
}

void sundew_note(SchedThread *me, unsigned kind, const volatile void *object)
{
    me->kind = (uint8_t)kind;
    me->object = (uint64_t)(uintptr_t)object;
    log_step(me, bit(me->number), me->number, me->number, 0);
}

int sundew_refused(const SchedThread *me, int r)
{
    if (sundew_plan && (r == EBUSY || r == ETIMEDOUT))
        __atomic_fetch_or(&sundew_plan->refused, me ? bit(me->number) : ~(uint64_t)0,
                          __ATOMIC_RELAXED);
    return r;
}

void sundew_thread_over(SchedThread *me)
{
    me->state = THREAD_OVER;
    written++;
    stand_at(me, SUNDEW_AT_EXIT, NULL);
    sundew_wake(me, SUNDEW_AT_JOIN, SUNDEW_AT_JOIN);
    bool others = false;
    for (unsigned i = 0; i < sundew_nsched; i++)
        others |= sundew_sched_threads[i].state != THREAD_OVER;
    if (others)
        go_on(me, false);
    else
        sundew_plan->ended = SUNDEW_SCHEDULE_ENDED;
}

void sundew_thread_await(SchedThread *me)
{
    sundew_sched_self = me;
    me->tid = (int)syscall(SYS_gettid);
    __atomic_store_n(&me->arrived, 1, __ATOMIC_RELEASE);
    futex(&me->arrived, FUTEX_WAKE, 1);
    sleep_until_chosen(me);
}

void sundew_thread_arrived(SchedThread *t)
{
    while (!__atomic_load_n(&t->arrived, __ATOMIC_ACQUIRE))
        futex(&t->arrived, FUTEX_WAIT, 0);
}

__attribute__((noinline)) void sundew_schedule_point(const void *at, uint32_t what, uint32_t site)
{
    SchedThread *me = sundew_sched_self;
    if (!me || me->inside || !at)                /* a call may be given nothing */
        return;
    int kept = errno;
    me->inside = true;
    me->site = site;
    me->width = (uint8_t)((what & SUNDEW_ACCESS_SIZE) < 8 ? what & SUNDEW_ACCESS_SIZE : 8);
    bool write = what & SUNDEW_ACCESS_WRITE, atomic = what & SUNDEW_ACCESS_ATOMIC;
    written += write;
    if (atomic || what & SUNDEW_ACCESS_POINT || sundew_site_is_hot(site)) {
        sundew_point(me, atomic ? SUNDEW_AT_ATOMIC : write ? SUNDEW_AT_WRITE : SUNDEW_AT_READ, at);
    } else if (++me->quiet > MOST_QUIET) {
        me->quiet = 0;
        sundew_yield(me, SUNDEW_AT_YIELD);
    }
    me->width = 0;
    me->frame = __builtin_frame_address(0);
    sundew_track(me, at, what, site);
    me->frame = NULL;
    me->inside = false;
    errno = kept;
}
