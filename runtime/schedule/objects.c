/* What is known of each lock, condition, barrier and once: owners and clocks. */
#include "runtime/schedule/schedule_int.h"
#include <string.h>

enum { ROOM = 1 << 12 };                         /* a power of two */

static SchedObject *table;
static uint32_t used;

SchedObject *sundew_object(const volatile void *at)
{
    if (!table)
        table = sundew_pages(ROOM * sizeof *table);
    if (!table)
        return NULL;
    uint64_t address = (uint64_t)(uintptr_t)at;
    for (uint32_t i = (uint32_t)((address >> 3) * 0x9e3779b1u) & (ROOM - 1);;
         i = (i + 1) & (ROOM - 1)) {
        if (table[i].address == address)
            return &table[i];
        if (!table[i].address) {
            if (used >= ROOM / 2)
                return NULL;
            used++;
            table[i].address = address;
            table[i].owner = NOBODY;
            return &table[i];
        }
    }
}

static void join(uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i < SUNDEW_SCHEDULE_THREADS; i++)
        if (to[i] < from[i])
            to[i] = from[i];
}

void sundew_seen(SchedThread *me, uint64_t what)
{
    uint64_t *h = &sundew_plan->histories[me->number];
    for (unsigned i = 0; i < 4; i++)
        if (me->seen[i] == what)                 /* a loop that reads it again */
            return;
    me->seen[me->nseen++ % 4] = what;
    *h = (*h ^ what) * 0x9e3779b97f4a7c15u;
    *h ^= *h >> 29;
}

void sundew_acquire(SchedThread *me, SchedObject *o)
{
    if (!o)
        return;
    join(me->clock, o->clock);
    uint64_t all = o->address;
    for (unsigned i = 0; i < sundew_nsched; i++)
        if (i != me->number)
            all = (all ^ me->clock[i]) * 0x9e3779b97f4a7c15u;
    sundew_seen(me, all);
}

void sundew_release(SchedThread *me, SchedObject *o)
{
    if (!o)
        return;
    join(o->clock, me->clock);
    me->clock[me->number]++;
}

void sundew_hold(SchedThread *me, const volatile void *lock)
{
    if (me->nheld < MOST_HELD) {
        me->held_at[me->nheld] = me->site;
        me->held[me->nheld++] = (uint64_t)(uintptr_t)lock;
    }
}

void sundew_let_go(SchedThread *me, const volatile void *lock)
{
    for (uint32_t i = me->nheld; i-- > 0;)
        if (me->held[i] == (uint64_t)(uintptr_t)lock) {
            memmove(&me->held[i], &me->held[i + 1], (me->nheld - i - 1) * sizeof *me->held);
            memmove(&me->held_at[i], &me->held_at[i + 1],
                    (me->nheld - i - 1) * sizeof *me->held_at);
            me->nheld--;
            return;
        }
}
