/*
 * interpose - functions that the library calls without knowing of a Playing:
 * the clock in place of the C library's, stubs for callbacks, registration.
 *
 * They are the only ones here with state outside of an argument. A thread of ours
 * says by interpose_enter() which Playing is its own. A thread that the library has
 * started has none; what it does counts for the one that was entered last.
 */
#include "engine/play/player/player_int.h"
#include "runtime/server/player.h"
#include <assert.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static _Thread_local Playing *mine;
static Playing *latest;
static Woven woven;              /* written by constructors, while the library is loaded */

static Playing *playing(void) { return mine ? mine : __atomic_load_n(&latest, __ATOMIC_ACQUIRE); }

void interpose_enter(Playing *p)
{
    assert(p->player && p->answer);
    mine = p;
    __atomic_store_n(&latest, p, __ATOMIC_RELEASE);
}

void interpose_leave(Playing *p)
{
    assert(mine == p);
    mine = NULL;
    __atomic_compare_exchange_n(&latest, &p, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

const Woven *interpose_woven(void) { return &woven; }

EXPORTED void sundew_player_register(uint32_t what, void *address, uint64_t n)
{
    if (what == SUNDEW_PLAYER_COVER) {
        woven.cover = address;
        woven.ncover = n;
    } else if (what == SUNDEW_PLAYER_REACHED) {
        woven.reached = address;
        woven.nreached = n;
    } else if (what == SUNDEW_PLAYER_MUTANT) {
        woven.mutant = address;
    } else if (what == SUNDEW_PLAYER_SCHEDULE && n == sizeof *woven.schedule) {
        woven.schedule = address;
    }
}

long interpose_stub(void)
{
    Playing *p = playing();
    if (p)
        __atomic_fetch_add(&p->callbacks, 1, __ATOMIC_RELAXED);
    return 0;
}

/* ---- the clock */

EXPORTED int clock_gettime(clockid_t id, struct timespec *t)
{
    const Playing *p = playing();
    int r = (int)syscall(SYS_clock_gettime, id, t);
    if (r == 0 && p)
        t->tv_sec += p->clock_ahead;
    return r;
}

EXPORTED int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

EXPORTED time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
