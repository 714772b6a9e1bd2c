/*
 * engine/play/player/: sequences on several threads of one process.
 *
 * The functions that are called are below, in this program itself. Requests are
 * written by hand, as wire.h has them.
 */
#include "engine/play/player/player_int.h"
#include "engine/api/value.h"
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* ---- the library */

struct counter {
    int n;
};
struct counter *counter_new(int n);
int counter_add(struct counter *c, int by);
void counter_free(struct counter *c);
int meet(int n);
const char *nowhere(int n);
int call_back(int n, int (*f)(void));
long clock_now(int n);

static pthread_barrier_t both;

struct counter *counter_new(int n)
{
    struct counter *c = malloc(sizeof *c);
    c->n = n;
    return c;
}

int counter_add(struct counter *c, int by) { return c->n += by; }
void counter_free(struct counter *c) { free(c); }

/* Returns when two threads are in it. */
int meet(int n)
{
    pthread_barrier_wait(&both);
    return n;
}

const char *nowhere(int n) { return (const char *)(uintptr_t)(8 + n); }

int call_back(int n, int (*f)(void))
{
    for (int i = 0; i < n; i++)
        f();
    return n;
}

long clock_now(int n) { return (long)time(NULL) + n; }

enum { NEW, ADD, FREE, MEET, NOWHERE, CALL_BACK, CLOCK, NROUTINES };

/* clang-format off */
static Routine routines[NROUTINES] = {
    [NEW]       = { .symbol = "counter_new",  .signature = "pi",  .look = "h-", .texts = "" },
    [ADD]       = { .symbol = "counter_add",  .signature = "ipi", .look = "i--", .texts = "" },
    [FREE]      = { .symbol = "counter_free", .signature = "vp",  .look = "--", .texts = "" },
    [MEET]      = { .symbol = "meet",         .signature = "ii",  .look = "i-", .texts = "" },
    [NOWHERE]   = { .symbol = "nowhere",      .signature = "pi",  .look = "z-", .texts = "" },
    [CALL_BACK] = { .symbol = "call_back",    .signature = "iip", .look = "i--", .texts = "" },
    [CLOCK]     = { .symbol = "clock_now",    .signature = "li",  .look = "i-", .texts = "" },
};
/* clang-format on */

static Player player = { .routines = routines, .nroutines = NROUTINES };

static int load(void **state)
{
    (void)state;
    player.library = dlopen(NULL, RTLD_NOW);
    player.woven = interpose_woven();
    for (unsigned i = 0; i < NROUTINES; i++)
        if (!call_prepare(&routines[i], player.library))
            return -1;
    return pthread_barrier_init(&both, NULL, 2);
}

/* ---- a sequence */

typedef struct Track {
    uint8_t bytes[8192];
    size_t n;
    uint32_t nsteps;
    Playing playing;
    struct WireAnswer answer;
} Track;

static void put(Track *t, const void *bytes, size_t n)
{
    assert_true(t->n + n <= sizeof t->bytes);
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
}

static void put_call(Track *t, uint16_t routine, uint16_t nargs)
{
    put(t, &routine, 2);
    put(t, &nargs, 2);
    t->nsteps++;
}

static void put_integer(Track *t, uint64_t v)
{
    put(t, &(uint8_t){ VALUE_INTEGER }, 1);
    put(t, &v, 8);
}

static void put_result(Track *t, uint32_t step)
{
    put(t, &(uint8_t){ VALUE_RESULT }, 1);
    put(t, &step, 4);
}

static void put_stub(Track *t)
{
    put(t, &(uint8_t){ VALUE_FUNCTION }, 1);
    put(t, &(uint32_t){ 0 }, 4);
}

static void *play(void *arg)
{
    Track *t = arg;
    Reader r = { t->bytes, t->bytes + t->n };
    interpose_enter(&t->playing);
    call_steps(&t->playing, &r, t->nsteps, 0, 1);
    call_forget(&t->playing);
    interpose_leave(&t->playing);
    return NULL;
}

static Track *track_new(void)
{
    Track *t = calloc(1, sizeof *t);
    t->playing.player = &player;
    t->playing.answer = &t->answer;
    return t;
}

static void play_both(Track *x, Track *y)
{
    pthread_t a, b;
    assert_int_equal(pthread_create(&a, NULL, play, x), 0);
    assert_int_equal(pthread_create(&b, NULL, play, y), 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* What was seen of a place: its kind, or -1; the first eight bytes in *v. */
static int seen(const Track *t, uint32_t step, int32_t place, uint64_t *v)
{
    struct {
        uint32_t step;
        int32_t place;
        uint32_t kind, n;
    } row;
    for (uint32_t at = 0; at + sizeof row <= t->answer.nobs; at += (row.n + 3u) & ~3u) {
        memcpy(&row, t->answer.obs + at, sizeof row);
        at += (uint32_t)sizeof row;
        if (row.step != step || row.place != place)
            continue;
        *v = 0;
        memcpy(v, t->answer.obs + at, row.n < 8 ? row.n : 8);
        return (int)row.kind;
    }
    return -1;
}

static void assert_integer(const Track *t, uint32_t step, uint64_t expected)
{
    uint64_t v;
    assert_int_equal(seen(t, step, -1, &v), OBS_INTEGER);
    assert_int_equal(v, expected);
}

/* ---- tests */

/* r0 = counter_new(n), r1 = meet, r2 = counter_add(r0, 1), … */
static Track *counting(uint64_t n)
{
    Track *t = track_new();
    put_call(t, NEW, 1);
    put_integer(t, n);
    for (uint32_t i = 0; i < 20; i++) {
        put_call(t, MEET, 1);
        put_integer(t, i);
        put_call(t, ADD, 2);
        put_result(t, 0);
        put_integer(t, 1);
    }
    put_call(t, FREE, 1);
    put_result(t, 0);
    return t;
}

static void two_threads_play_two_sequences_step_by_step(void **state)
{
    (void)state;
    Track *x = counting(100), *y = counting(200);
    play_both(x, y);
    for (uint32_t i = 0; i < 20; i++) {
        assert_integer(x, 2 + 2 * i, 101 + i);
        assert_integer(y, 2 + 2 * i, 201 + i);
    }
    assert_int_equal(x->answer.at, 41);
    assert_int_equal(y->answer.at, 41);
    free(x);
    free(y);
}

/* Both read from addresses where nothing is, at about the same time, many times. */
static void a_bad_address_harms_no_thread(void **state)
{
    (void)state;
    Track *t[2] = { track_new(), track_new() };
    uint64_t v;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < 40; i++) {
            put_call(t[k], MEET, 1);
            put_integer(t[k], i);
            put_call(t[k], NOWHERE, 1);
            put_integer(t[k], i);
        }
    play_both(t[0], t[1]);
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < 40; i++)
            assert_int_equal(seen(t[k], 1 + 2 * i, -1, &v), OBS_UNREADABLE);
        free(t[k]);
    }
}

static void callbacks_and_clock_are_the_sequence_s_own(void **state)
{
    (void)state;
    Track *t[2] = { track_new(), track_new() };
    uint64_t v, now[2];
    for (int k = 0; k < 2; k++) {
        t[k]->playing.clock_ahead = k * 1000000;
        put_call(t[k], MEET, 1);
        put_integer(t[k], 0);
        put_call(t[k], CALL_BACK, 2);
        put_integer(t[k], (uint64_t)(1000 * (k + 1)));
        put_stub(t[k]);
        put_call(t[k], CLOCK, 1);
        put_integer(t[k], 0);
    }
    play_both(t[0], t[1]);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(seen(t[k], 1, OBS_PLACE_CALLBACKS, &v), OBS_CALLBACKS);
        assert_int_equal(v, 1000 * (k + 1));
        assert_int_equal(seen(t[k], 2, -1, &now[k]), OBS_INTEGER);
    }
    assert_true(now[1] - now[0] > 500000);
    free(t[0]);
    free(t[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_play_two_sequences_step_by_step),
        cmocka_unit_test(a_bad_address_harms_no_thread),
        cmocka_unit_test(callbacks_and_clock_are_the_sequence_s_own),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
