/*
 * Plain accesses: which sites are hot, and which pairs race.
 *
 * For each eight bytes the last writes and reads are kept, several of them, as texts are
 * written byte by byte: thread, site and the thread's clock. An access conflicts with a
 * kept one if another thread made it, the bytes overlap and one of the two writes: both
 * sites become hot. If no chain of synchronisation orders the two, and not both are
 * atomic, it is a data race. Memory that is freed counts as written; who touches it
 * later may be a new owner, so that pair is hot but no race.
 */
#include "runtime/schedule/schedule_int.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16, KEPT = 3, PROBES = 64, MOST_CELLS = 512, FREES = 1 << 26 };

typedef struct Past {
    uint32_t site, clock;
    uint8_t thread, bytes;                       /* bytes: a bit each; 0: none */
    uint8_t atomic, freed, nheld;
    uint64_t held[SUNDEW_SCHEDULE_HELD];
    uint32_t held_at[SUNDEW_SCHEDULE_HELD], stack[SUNDEW_SCHEDULE_STACK];
} Past;

/* The last of one kind. */
typedef struct Pasts {
    Past last[KEPT];
    uint8_t next;                                /* to be overwritten */
} Pasts;

typedef struct Cell {
    Pasts writes, reads;
} Cell;

/* The keys lie by themselves: a search in a crowded table looks at many of them. */
static uint64_t *keys;                           /* address / 8 + 1; 0: free */
static Cell *cells;

static uint32_t slot(uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) & (ROOM - 1);
}

static Cell *cell(uint64_t key, bool make)
{
    if (!cells && (!(cells = sundew_pages(ROOM * sizeof *cells)) ||
                   !(keys = sundew_pages(ROOM * sizeof *keys))))
        return NULL;
    for (uint32_t i = slot(key), n = 0; n < PROBES; i = (i + 1) & (ROOM - 1), n++) {
        if (keys[i] == key)
            return &cells[i];
        if (!keys[i]) {
            if (!make)
                return NULL;
            keys[i] = key;
            return &cells[i];
        }
    }
    return NULL;                                 /* a crowded place is not tracked */
}

bool sundew_site_is_hot(uint32_t site)
{
    return sundew_plan->flags & SUNDEW_SCHEDULE_ALL_HOT || site / 8 >= SUNDEW_SCHEDULE_HOT ||
           sundew_plan->hot[site / 8] >> site % 8 & 1;
}

static void heat(uint32_t site)
{
    if (site / 8 < SUNDEW_SCHEDULE_HOT)
        sundew_plan->heated[site / 8] |= (uint8_t)(1 << site % 8);
}

static struct sundew_side side(const Past *p, bool write)
{
    struct sundew_side s = {
        .site = p->site, .thread = p->thread, .write = write, .nheld = p->nheld
    };
    memcpy(s.held, p->held, sizeof s.held);
    memcpy(s.held_at, p->held_at, sizeof s.held_at);
    memcpy(s.stack, p->stack, sizeof s.stack);
    return s;
}

static void tell_race(uint64_t address, const Past *a, bool a_writes, const Past *b, bool b_writes)
{
    struct sundew_schedule *p = sundew_plan;
    for (uint32_t i = 0; i < p->nraces; i++)
        if (p->races[i].first.site == a->site && p->races[i].second.site == b->site)
            return;
    if (p->nraces < SUNDEW_SCHEDULE_RACES)
        p->races[p->nraces++] =
            (struct sundew_race){ address, side(a, a_writes), side(b, b_writes) };
}

static void compare(const SchedThread *me, uint64_t key, const Past *old, bool old_writes,
                    const Past *new, bool new_writes)
{
    if (!(old->bytes & new->bytes) || old->thread == new->thread || !(old_writes || new_writes))
        return;
    heat(old->site);
    heat(new->site);
    if (sundew_plan->flags & SUNDEW_SCHEDULE_RACING && !(old->atomic && new->atomic) &&
        !old->freed && old->clock > me->clock[old->thread])
        tell_race((key - 1) * 8 + (uint64_t)__builtin_ctz(old->bytes & new->bytes), old, old_writes,
                  new, new_writes);
}

static bool same_access(const Past *a, const Past *b)
{
    return a->thread == b->thread && a->clock == b->clock && a->site == b->site &&
           a->atomic == b->atomic;
}

static void keep(Pasts *all, const Past *p)
{
    unsigned at = KEPT;
    for (unsigned i = 0; i < KEPT; i++) {
        if (all->last[i].bytes && same_access(&all->last[i], p)) {
            all->last[i].bytes |= p->bytes;      /* a loop over a text */
            return;
        }
        bool gone = !all->last[i].bytes ||
                    (all->last[i].thread == p->thread && !(all->last[i].bytes & ~p->bytes));
        at = gone && at == KEPT ? i : at;
    }
    if (at == KEPT) {
        at = all->next;
        all->next = (uint8_t)((all->next + 1) % KEPT);
    }
    all->last[at] = *p;
}

/* What was written there before is no more. */
static void overwrite(Pasts *all, uint8_t bytes)
{
    for (unsigned i = 0; i < KEPT; i++)
        all->last[i].bytes &= (uint8_t)~bytes;
}

static void track_cell(SchedThread *me, uint64_t key, Past *now, bool write)
{
    Cell *c = cell(key, true);
    if (!c)
        return;
    for (unsigned i = 0; i < KEPT; i++) {
        const Past *w = &c->writes.last[i];
        if (w->bytes && w->thread != me->number)
            sundew_seen(me, (uint64_t)w->clock << 32 | w->site << 6 | w->thread);
        compare(me, key, w, true, now, write);
        if (write)
            compare(me, key, &c->reads.last[i], false, now, true);
    }
    if (now->freed)
        memset(&c->reads, 0, sizeof c->reads);
    if (write)
        overwrite(&c->writes, now->bytes);
    keep(write ? &c->writes : &c->reads, now);
}

void sundew_track(SchedThread *me, const void *at, uint32_t what, uint32_t site)
{
    uint64_t from = (uint64_t)(uintptr_t)at, to = from + (what & SUNDEW_ACCESS_SIZE);
    bool atomic = what & SUNDEW_ACCESS_ATOMIC;
    if (to - from > MOST_CELLS * 8)
        to = from + MOST_CELLS * 8;
    SchedObject *o = atomic ? sundew_object(at) : NULL;
    sundew_acquire(me, o);
    Past now = { .site = site,
                 .clock = me->clock[me->number],
                 .thread = me->number,
                 .atomic = atomic,
                 .freed = (what & FREES) != 0 };
    now.nheld = (uint8_t)(me->nheld < SUNDEW_SCHEDULE_HELD ? me->nheld : SUNDEW_SCHEDULE_HELD);
    memcpy(now.held, me->held, now.nheld * sizeof *now.held);
    memcpy(now.held_at, me->held_at, now.nheld * sizeof *now.held_at);
    if (sundew_plan->flags & SUNDEW_SCHEDULE_RACING)
        sundew_stack(me, now.stack);
    for (uint64_t a = from & ~(uint64_t)7; a < to; a += 8) {
        unsigned lo = a < from ? (unsigned)(from - a) : 0, hi = to - a < 8 ? (unsigned)(to - a) : 8;
        now.bytes = (uint8_t)((0xff << lo) & (0xff >> (8 - hi)));
        track_cell(me, a / 8 + 1, &now, what & SUNDEW_ACCESS_WRITE);
    }
    if (what & SUNDEW_ACCESS_WRITE)
        sundew_release(me, o);
}

/* The address sanitizer's, if it is there. */
int __sanitizer_get_ownership(const volatile void *p) __attribute__((weak));

/* What was freed already is for the sanitizer to tell. */
static bool is_allocated(const void *p)
{
    return !__sanitizer_get_ownership || __sanitizer_get_ownership(p);
}

/* Nothing is known of these bytes any more: they go, and others will come. */
static void forget(const void *p, size_t n)
{
    uint64_t from = (uint64_t)(uintptr_t)p / 8 + 1, to = from + n / 8;
    for (size_t i = 0; cells && i < ROOM; i++)
        if (keys[i] >= from && keys[i] < to) {
            cells[i] = (Cell){ 0 };
        }
}

/* Memory that goes is written: who uses it afterwards is in conflict. */
static void gone(void *p, const void *frame)
{
    SchedThread *me = p && sundew_schedule_on ? sundew_enter() : NULL;
    if (!me)
        return;
    if (sundew_site_is_hot(me->site))
        sundew_point(me, SUNDEW_AT_FREE, p);
    me->frame = frame;
    size_t n = is_allocated(p) ? malloc_usable_size(p) : 0;
    if (n > MOST_CELLS * 8)
        forget(p, n);
    sundew_track(me, p,
                 (uint32_t)(n < MOST_CELLS * 8 ? n : MOST_CELLS * 8) | SUNDEW_ACCESS_WRITE | FREES,
                 me->site);
    me->frame = NULL;
    sundew_leave(me);
}

void sundew_sched_free(void *p);
__attribute__((noinline)) void sundew_sched_free(void *p)
{
    int kept = errno;
    gone(p, __builtin_frame_address(0));
    errno = kept;
    free(p);
}

void *sundew_sched_realloc(void *p, size_t n);
__attribute__((noinline)) void *sundew_sched_realloc(void *p, size_t n)
{
    int kept = errno;
    gone(p, __builtin_frame_address(0));
    errno = kept;
    return realloc(p, n);
}
