/*
 * adapt - keep the cost of monitoring within what was allowed.
 *
 * Each thread has tokens: they grow with the time that passes (a share of it)
 * and shrink with each entry of a monitored function, by what it cost. Copying
 * is measured on every 16th entry; the rest is a constant. When they are used
 * up, the functions that cost most are turned down until the others fit: those
 * whose copies cost most of it to reference (nothing copied), others off. After
 * a while, each time a longer one, a function gets another chance.
 *
 * The time is that of the clock, since asking for a thread's own takes a system call. So a
 * stretch without entries counts for a millisecond at most: the thread was off the processor,
 * on a busy machine for most of the time.
 *
 * Functions that run rarely stay as they are, and those are the ones near the
 * bottom of the stack, whose tests tell most.
 *
 * Two fifths of what is allowed are given away here. The rest is for what can't
 * be seen from here: the tests of functions that are off, registers that
 * are saved, caches.
 */
#include "runtime/monitor/monitor_int.h"
#include <time.h>

enum { DEMOTE_MOST = 16 };             /* functions at one look */

SundewRow *sundew_rows;
uint8_t sundew_on = SUNDEW_FULL;
static uint64_t per_ms = 2000000;      /* ticks */
static volatile int looking;
static uint64_t earned;                /* ticks that all threads ran since the last look */
static uint64_t next_promotion, next_check, check_wait = 50;

uint64_t sundew_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t start_ticks, start_ns;

void sundew_adapt_start(void)
{
    sundew_rows = sundew_pages((size_t)sundew_tables.nfunctions * sizeof *sundew_rows);
    start_ticks = sundew_ticks();
    start_ns = nanoseconds();
}

/* How fast the ticks go is known ever better. */
static void measure(uint64_t now)
{
    uint64_t ns = nanoseconds() - start_ns;
    if (ns > 200000)
        per_ms = (uint64_t)((double)(now - start_ticks) * 1e6 / (double)ns);
    if (per_ms == 0)
        per_ms = 1;
}

static uint64_t cost(const SundewRow *r)
{
    return r->copying + (uint64_t)r->entries * SUNDEW_ENTRY_TICKS;
}

static void turn_down(uint32_t row, uint64_t now)
{
    SundewRow *r = &sundew_rows[row];
    uint64_t fixed = (uint64_t)r->entries * SUNDEW_ENTRY_TICKS;
    bool copies = sundew_modes[row] == SUNDEW_FULL && r->copying > 2 * fixed;
    sundew_modes[row] = copies ? SUNDEW_REFERENCE : SUNDEW_OFF;
    r->offs += !copies;
    if (r->backoff < 8)
        r->backoff++;
    r->until = now + ((uint64_t)per_ms * 25 << r->backoff);
}

bool sundew_turned_off(const SundewFrame *f)
{
    return sundew_rows && sundew_rows[f->row].offs != f->offs;
}

/* Turns the costliest down until what is left fits. */
static void demote(uint64_t allowed, uint64_t now)
{
    uint64_t spent = 0;
    uint32_t n = sundew_tables.nfunctions;
    for (uint32_t i = 0; i < n; i++)
        spent += cost(&sundew_rows[i]);
    for (unsigned k = 0; k < DEMOTE_MOST && spent > allowed; k++) {
        uint64_t most = 0;
        uint32_t row = 0;
        for (uint32_t i = 0; i < n; i++)
            if (cost(&sundew_rows[i]) > most) {
                most = cost(&sundew_rows[i]);
                row = i;
            }
        if (!most)
            break;
        spent -= most;
        turn_down(row, now);
        sundew_rows[row].entries = sundew_rows[row].copying = 0;
    }
}

static void forget_costs(void)
{
    for (uint32_t i = 0; i < sundew_tables.nfunctions; i++)
        sundew_rows[i].entries = sundew_rows[i].copying = 0;
    earned = 0;
}

static void promote(uint64_t now)
{
    for (uint32_t i = 0; i < sundew_tables.nfunctions; i++) {
        SundewRow *r = &sundew_rows[i];
        if (r->until && r->until <= now) {
            r->until = 0;
            sundew_modes[i] = sundew_on;
        }
    }
}

/* Ticks that may be spent in a time. */
static uint64_t share(uint64_t passed)
{
    return sundew_tables.overhead ? passed / 250 * sundew_tables.overhead : UINT64_MAX / 4;
}

void sundew_adapt_tick(SundewThread *t)
{
    uint64_t now = sundew_ticks();
    int none = 0;
    if (!t->seen)
        t->seen = now;
    uint64_t passed = now - t->seen < per_ms ? now - t->seen : per_ms;
    int64_t most = (int64_t)per_ms / 2;      /* saved up: half a millisecond's */
    int64_t tokens = t->tokens + (int64_t)share(passed);
    t->tokens = tokens < most ? tokens : most;
    t->seen = now;
    t->earned += passed;
    if (t->tokens >= 0 && t->events % (SUNDEW_SAMPLE * 16) != 0)
        return;
    if (!__atomic_compare_exchange_n(&looking, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    earned += t->earned;
    t->earned = 0;
    if (t->tokens < 0) {
        demote(share(earned), now);
        forget_costs();
        t->tokens = 0;
    } else if (earned > per_ms * 100) {
        forget_costs();
    }
    if (now >= next_promotion) {
        measure(now);
        promote(now);
        next_promotion = now + per_ms * 20;
    }
    /* Our handlers: soon again after they were out of their place, ever more
     * rarely otherwise. */
    if (now >= next_check || !sundew_may_fault) {
        check_wait = sundew_signals_check() ? 50 : check_wait * 2;
        next_check = now + per_ms * check_wait;
    }
    __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
}
