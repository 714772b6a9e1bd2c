/*
 * stack - the frames of the functions that run, for each thread.
 *
 * A thread has a lane for each stack that it runs on: its own, an alternate
 * one for signals, those of coroutines. A lane is an arena in which frames lie one behind
 * the other, the outermost first:
 *
 *     [ main ][ run ][ parse  STALE ][ recover ]
 *               ^        ^ left by longjmp   ^ live
 *
 * Machine stacks grow downwards, so a frame whose sp is below that of a
 * function just entered has been left without a word: it is stale. Stale
 * frames stay (they tell what went wrong before a failure was caught) until the
 * function beneath them returns; of more than 256 the oldest go.
 *
 * Functions that the compiler put into each other have the same sp. So frames
 * with an equal one may both be live, unless they are of the same function;
 * leaving takes off the uppermost of the function's own row. Small functions that
 * were inlined say no word when they are left; their frames (UNSURE) go when the
 * function is entered again at this place, or when the one around them is left. Nor do
 * functions that were turned off while they ran: most often those that are called most,
 * such as comparisons.
 *
 * A signal may come at any instruction here, and its handler may enter and
 * leave functions. While a frame is being made (`busy`) such entries are
 * left out; otherwise they put back what they found.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FIRST = SUNDEW_FIRST_FRAME,
    MAIN_CAP = 4 << 20,
    LANE_CAP = 1 << 20,
    COPIES_CAP = 1 << 20,              /* beyond, frames without copies */
};

_Thread_local SundewThread *sundew_self __attribute__((tls_model("initial-exec")));
SundewThread *volatile sundew_threads;
static pthread_key_t key;
static int have_key;

/* ---- threads */

/* A thread's state goes back when it ends; functions that run later still, in
 * destructors of others, take another one, which brings us here again. */
static void thread_ends(void *arg)
{
    SundewThread *t = arg;
    if (t->own_stack)                  /* a sanitizer takes its own back */
        sigaltstack(&t->alternate, NULL);
    sundew_self = NULL;
    __atomic_store_n(&t->taken, 0, __ATOMIC_RELEASE);
}

void sundew_thread_key(void) { have_key = pthread_key_create(&key, thread_ends) == 0; }

static void thread_reset(SundewThread *t)
{
    for (uint32_t i = 0; i < t->nlanes; i++) {
        SundewLane *l = &t->lanes[i];
        if (l->top > 64 << 10)
            madvise(l->base, l->cap, MADV_DONTNEED);
        l->top = FIRST;
        l->last = l->live = l->nstale = 0;
        l->lo = l->span = 0;
    }
    t->lane = NULL;
    t->busy = 0;
    t->tokens = 0;
    t->seen = t->earned = 0;
    t->tid = 0;
    t->blocked = t->own_stack = t->in_dump = 0;
    t->alternate = (stack_t){ .ss_flags = SS_DISABLE };
    t->guard = NULL;
    t->said = NULL;
    t->told_pc = t->told_sp = 0;
}

SundewThread *sundew_thread_take(void)
{
    for (SundewThread *t = sundew_threads; t; t = t->next) {
        int none = 0;
        if (!t->taken && __atomic_compare_exchange_n(&t->taken, &none, 1, 0, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_ACQUIRE)) {
            thread_reset(t);
            return t;
        }
    }
    SundewThread *t = sundew_pages(sizeof *t);
    if (!t)
        return NULL;
    t->taken = 1;
    thread_reset(t);
    t->next = sundew_threads;
    while (!__atomic_compare_exchange_n(&sundew_threads, &t->next, t, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    return t;
}

void sundew_thread_begin(SundewThread *t)
{
    t->tid = (int)syscall(SYS_gettid);
    sundew_self = t;
    if (have_key)
        pthread_setspecific(key, t);
    sundew_signals_thread(t);
}

SundewThread *sundew_thread(void)
{
    if (SUNDEW_LIKELY(sundew_self != NULL))
        return sundew_self;
    if (!sundew_settings.started)
        return NULL;
    int kept = errno;
    SundewThread *t = sundew_thread_take();
    if (t)
        sundew_thread_begin(t);
    errno = kept;
    return t;
}

/* ---- lanes */

/* The stack that an address lies in: a heap object (a coroutine's), or what
 * the kernel has mapped there. The main thread's grows. */
static void bounds(uint64_t sp, uint64_t *lo, uint64_t *hi)
{
    SundewExtent e;
    SundewMap m;
    *lo = (sp & ~(uint64_t)0xfffff) - 0x100000;
    *hi = *lo + 0x200000;
    if (sundew_extent_at(sp, &e) && !e.freed && e.size >= 4096) {
        *lo = e.start;
        *hi = e.start + e.size;
    } else if (sundew_map_at(sp, &m)) {
        *lo = m.lo;
        *hi = m.hi;
        struct rlimit limit;
        uint64_t grow = 64 << 20;
        if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < grow)
            grow = limit.rlim_cur;
        uint64_t here = (uintptr_t)__builtin_frame_address(0);
        if (getpid() == (int)syscall(SYS_gettid) && here - *lo < *hi - *lo && *hi > grow &&
            *hi - grow < *lo)
            *lo = *hi - grow;
    }
}

static SUNDEW_COLD SundewLane *new_lane(SundewThread *t, uint64_t sp)
{
    int kept = errno;
    SundewLane *l = NULL;
    for (uint32_t i = 0; i < t->nlanes && !l; i++)
        if (t->lanes[i].span == 0)
            l = &t->lanes[i];
    if (!l && t->nlanes < SUNDEW_LANES) {
        l = &t->lanes[t->nlanes];
        l->cap = t->nlanes ? LANE_CAP : MAIN_CAP;
        l->base = sundew_pages(l->cap);
        if (l->base)
            t->nlanes++;
        else
            l = NULL;
    }
    /* The one that was used least lately; never the thread's own. */
    for (uint32_t i = 1; i < t->nlanes && t->nlanes == SUNDEW_LANES; i++)
        if (!l || (l != &t->lanes[0] && l->span && t->lanes[i].used < l->used))
            l = &t->lanes[i];
    if (l) {
        uint64_t hi;
        l->top = FIRST;
        l->last = l->live = l->nstale = 0;
        bounds(sp, &l->lo, &hi);
        l->span = hi - l->lo;
    }
    errno = kept;
    return l;
}

SundewLane *sundew_lane_at(SundewThread *t, uint64_t sp)
{
    for (uint32_t i = 0; i < t->nlanes; i++)
        if (sp - t->lanes[i].lo < t->lanes[i].span) {
            t->lanes[i].used = ++t->clock;
            return &t->lanes[i];
        }
    return new_lane(t, sp);
}

/* ---- stale frames */

/* Takes the `n` oldest stale frames out and moves the others together. */
static SUNDEW_COLD void drop_oldest(SundewLane *l, unsigned n)
{
    uint32_t to = FIRST, last = 0, live = 0;
    uint16_t kept = 0;
    for (uint32_t from = FIRST, size; from < l->top; from += size) {
        SundewFrame *f = sundew_frame_at(l, from);
        size = f->size;
        bool stale = f->flags & SUNDEW_FRAME_STALE;
        if (stale && n > 0) {
            n--;
            continue;
        }
        f->prev = last;
        f->below = live;
        f->nstale = kept;
        memmove(l->base + to, f, size);
        last = to;
        if (stale)
            kept++;
        else
            live = to;
        to += size;
    }
    l->top = to;
    l->last = last;
    l->live = live;
    l->nstale = kept;
}

static inline void take_off(SundewLane *l, const SundewFrame *f)
{
    uint32_t prev = f->prev, below = f->below, nstale = f->nstale;
    uint32_t top = (uint32_t)((const uint8_t *)f - l->base);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    l->live = below;
    l->last = prev;
    l->nstale = nstale;
    l->top = top;
}

/* Frames below `sp` were left without a word, and so was one at `sp` of the
 * same row, with all above it. */
static SUNDEW_COLD void shed(SundewLane *l, uint64_t sp, uint32_t row)
{
    uint32_t upto = 0;                 /* the outermost that is stale */
    for (uint32_t i = l->live; i;) {
        const SundewFrame *f = sundew_frame_at(l, i);
        if (f->sp > sp)
            break;
        if (f->sp < sp || f->row == row)
            upto = i;
        i = f->below;
    }
    while (upto && l->live >= upto) {
        SundewFrame *f = sundew_frame_at(l, l->live);
        bool silent =
            (f->flags & SUNDEW_FRAME_UNSURE || sundew_turned_off(f)) && l->live == l->last;
        if (sundew_tables.second_chance || silent) {     /* it has returned */
            take_off(l, f);
            continue;
        }
        f->flags |= SUNDEW_FRAME_STALE;
        l->live = f->below;
        l->nstale++;
    }
    if (l->nstale > SUNDEW_STALE_MOST)
        drop_oldest(l, l->nstale - SUNDEW_STALE_MOST / 2);
}

/* ---- the probes */

/* Before main(), on a stack not seen before, or inside another entry. */
static SUNDEW_COLD SundewThread *settle(uint64_t sp)
{
    SundewThread *t = sundew_thread();
    if (!t)
        return NULL;
    if (t->busy) {
        /* A signal came while a frame was being made. If that frame's function
         * is gone, its making will never end. */
        if (!t->lane || sp - t->lane->lo >= t->lane->span || sp <= t->busy)
            return NULL;
        t->busy = 0;
    }
    SundewLane *l = sundew_lane_at(t, sp);
    if (!l)
        return NULL;
    t->lane = l;
    return t;
}

static SUNDEW_COLD bool make_room(SundewLane *l, uint32_t need)
{
    if (l->nstale)
        drop_oldest(l, l->nstale);
    return l->top + need <= l->cap;
}

uint64_t *sundew_enter(uint32_t probe, void *stack_pointer)
{
    uint32_t row = probe & ~SUNDEW_COPY;
    SundewThread *t = sundew_self;
    uint64_t sp = (uintptr_t)stack_pointer;
    if (SUNDEW_UNLIKELY(!t || !t->lane || t->busy || sp - t->lane->lo >= t->lane->span) &&
        !(t = settle(sp)))
        return NULL;
    t->busy = sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    SundewLane *l = t->lane;
    if (l->live && SUNDEW_UNLIKELY(sundew_frame_at(l, l->live)->sp <= sp))
        shed(l, sp, row);

    const SundewFunction *fn = &sundew_tables.functions[row];
    uint32_t need = (uint32_t)sizeof(SundewFrame) + (fn->nslots + fn->nlocals) * 8u;
    if (SUNDEW_UNLIKELY(l->top + need > l->cap) && !make_room(l, need)) {
        t->busy = 0;
        return NULL;
    }
    SundewFrame *f = sundew_frame_at(l, l->top);
    f->sp = sp;
    f->row = row;
    f->flags = SUNDEW_FRAME_REFERENCE | (probe & SUNDEW_COPY ? SUNDEW_FRAME_UNSURE : 0);
    f->offs = sundew_rows ? sundew_rows[row].offs : 0;
    f->nstale = (uint16_t)l->nstale;
    f->prev = l->last;
    f->below = l->live;
    f->size = need;
    f->ncopies = 0;
    f->freed = t->nfreed;
    l->last = l->live = l->top;
    l->top += need;
    return f->slots;
}

void sundew_entered(uint32_t row, uint64_t *slots)
{
    SundewThread *t = sundew_self;
    SundewLane *l = t->lane;
    SundewFrame *f = (SundewFrame *)(void *)((uint8_t *)slots - offsetof(SundewFrame, slots));
    bool sample = ++t->events % SUNDEW_SAMPLE == 0;
    SundewRow *r = sundew_rows ? &sundew_rows[row] : NULL;
    if (sundew_modes[row] == SUNDEW_FULL && l->top < COPIES_CAP) {
        uint64_t before = SUNDEW_UNLIKELY(sample) ? sundew_ticks() : 0;
        if (sundew_tables.strategy == SUNDEW_COPY_DEEP)
            sundew_copy_deep(l, f);
        else
            sundew_copy_steps(l, f);
        f->flags &= (uint8_t)~SUNDEW_FRAME_REFERENCE;
        if (SUNDEW_UNLIKELY(sample) && r) {
            /* It stands for those between two samples. An interrupt in it
             * would stand for as many, so very long ones are cut. */
            uint64_t took = sundew_ticks() - before;
            took = (took < 200000 ? took : 200000) * SUNDEW_SAMPLE;
            r->copying += (uint32_t)took;
            t->tokens -= (int64_t)took;
        }
    }
    if (SUNDEW_LIKELY(r != NULL)) {
        r->entries++;
        t->tokens -= SUNDEW_ENTRY_TICKS;
        if (SUNDEW_UNLIKELY(sample))
            sundew_adapt_tick(t);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

static SUNDEW_COLD void leave_slowly(uint32_t row, uint64_t sp)
{
    SundewThread *t = sundew_self;
    if (!t || !t->lane || t->busy)
        return;
    SundewLane *l = t->lane;
    if (sp - l->lo >= l->span) {
        l = NULL;
        for (uint32_t i = 0; i < t->nlanes && !l; i++)
            if (sp - t->lanes[i].lo < t->lanes[i].span)
                l = &t->lanes[i];
        if (!l)
            return;
        t->lane = l;
    }
    while (l->live && sundew_frame_at(l, l->live)->sp < sp)
        take_off(l, sundew_frame_at(l, l->live));
    for (uint32_t i = l->live; i; i = sundew_frame_at(l, i)->below) {
        const SundewFrame *f = sundew_frame_at(l, i);
        if (f->sp != sp)
            return;
        if (f->row == row) {
            take_off(l, f);
            return;
        }
    }
}

void sundew_leave(uint32_t row, void *stack_pointer)
{
    SundewThread *t = sundew_self;
    uint64_t sp = (uintptr_t)stack_pointer;
    if (SUNDEW_LIKELY(t && t->lane && sp - t->lane->lo < t->lane->span)) {
        SundewLane *l = t->lane;
        if (!l->live)
            return;
        const SundewFrame *f = sundew_frame_at(l, l->live);
        if (f->sp > sp)
            return;
        if (SUNDEW_LIKELY(f->sp == sp && f->row == row && !t->busy)) {
            take_off(l, f);
            return;
        }
    }
    leave_slowly(row, sp);
}

/* ---- copies */

size_t sundew_add_copy(SundewLane *l, SundewFrame *f, uint64_t address, size_t n, uint32_t type,
                       uint32_t from)
{
    uint32_t need = (uint32_t)(sizeof(SundewCopy) + ((n + 7) & ~(size_t)7));
    if (f->size + need > SUNDEW_FRAME_BUDGET || l->top + need > l->cap) {
        f->flags |= SUNDEW_FRAME_CUT;
        return 0;
    }
    SundewCopy *c = (SundewCopy *)(void *)(l->base + l->top);
    size_t got = sundew_safe_copy(c->bytes, address, n);
    if (got == 0)
        return 0;
    c->address = address;
    c->size = (uint32_t)got;
    c->type = type;
    c->from = from;
    need = (uint32_t)(sizeof(SundewCopy) + ((got + 7) & ~(size_t)7));
    l->top += need;
    f->size += need;
    f->ncopies++;
    return got;
}

bool sundew_local_at(const SundewLane *l, uint64_t address, unsigned frames, SundewExtent *e,
                     uint32_t *type)
{
    if (!l || address - l->lo >= l->span)
        return false;
    for (uint32_t i = l->live; i && frames > 0; frames--) {
        const SundewFrame *f = sundew_frame_at(l, i);
        const SundewFunction *fn = &sundew_tables.functions[f->row];
        const SundewLocal *locals = sundew_tables.locals + fn->locals;
        for (unsigned k = 0; k < fn->nlocals; k++) {
            uint64_t at = f->slots[fn->nslots + k];
            if (at && address - at < locals[k].size) {
                *e = (SundewExtent){ at, locals[k].size, false };
                *type = locals[k].type;
                return true;
            }
        }
        i = f->below;
    }
    return false;
}
