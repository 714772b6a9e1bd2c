/*
 * adapt - keep the cost of monitoring within what was allowed.
 *
 * Each thread has tokens: they grow with the time that passes (the allowed
 * percentage of it) and shrink with each entry of a monitored function, by what it cost: copying
 * is measured on every 16th entry, the rest is a constant. When they are used
 * up, the functions that cost most are turned down until the others fit: first
 * to reference (nothing copied), then off. After a while, each time a longer one,
 * a function gets another chance.
 *
 * Functions that run rarely stay as they are, and those are the ones near the bottom of the
 * stack, whose tests tell most.
 */
#include "monitor_int.h"
#include <time.h>

enum {
    EACH_LOOK = 64,                    /* entries between two looks */
    DEMOTE_MOST = 8,                   /* functions at one look */
};

SundewRow *sundew_rows;
uint8_t sundew_on = SUNDEW_FULL;
static uint64_t per_ms = 2000000;      /* ticks */
static volatile int looking;
static uint64_t next_promotion, next_check;

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
    sundew_rows = sundew_pages((size_t)sundew_tables.nfunctions *
                               sizeof *sundew_rows);
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

static void turn_down(uint32_t row, uint64_t now)
{
    SundewRow *r = &sundew_rows[row];
    /* Copying is most of the cost: do without it. */
    if (sundew_modes[row] == SUNDEW_FULL && r->each > 150) {
        sundew_modes[row] = SUNDEW_REFERENCE;
        r->each = 0;
    } else {
        sundew_modes[row] = SUNDEW_OFF;
        r->epoch++;
    }
    if (r->backoff < 8)
        r->backoff++;
    r->until = now + ((uint64_t)per_ms * 25 << r->backoff);
}

/* Turns the costliest down until what is left of `spent` fits. */
static void demote(uint64_t spent, uint64_t allowed, uint64_t now)
{
    for (unsigned k = 0; k < DEMOTE_MOST && spent > allowed; k++) {
        uint32_t most = 0, row = 0;
        for (uint32_t i = 0; i < sundew_tables.nfunctions; i++)
            if (sundew_rows[i].cost > most) {
                most = sundew_rows[i].cost;
                row = i;
            }
        if (!most)
            break;
        spent = spent > most ? spent - most : 0;
        sundew_rows[row].cost = 0;
        turn_down(row, now);
    }
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

void sundew_adapt_tick(SundewThread *t)
{
    uint64_t now = sundew_ticks();
    int none = 0;
    if (!t->seen)
        t->seen = now;
    uint64_t passed = now - t->seen;
    uint64_t allowed = sundew_tables.overhead
                           ? passed * sundew_tables.overhead / 100
                           : UINT64_MAX / 4;
    int64_t most = (int64_t)per_ms;    /* saved up: a millisecond's worth */
    t->tokens = t->tokens + (int64_t)allowed > most
                    ? most
                    : t->tokens + (int64_t)allowed;
    t->seen = now;
    if (!__atomic_compare_exchange_n(&looking, &none, 1, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return;
    if (t->tokens < 0) {
        uint64_t spent = 0;
        for (uint32_t i = 0; i < sundew_tables.nfunctions; i++)
            spent += sundew_rows[i].cost;
        demote(spent, spent / 4, now);
        for (uint32_t i = 0; i < sundew_tables.nfunctions; i++)
            sundew_rows[i].cost = 0;
        t->tokens = 0;
    }
    if (now >= next_promotion) {
        measure(now);
        promote(now);
        next_promotion = now + per_ms * 20;
    }
    if (now >= next_check) {
        sundew_signals_check();
        next_check = now + per_ms * 50;
    }
    __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
}
