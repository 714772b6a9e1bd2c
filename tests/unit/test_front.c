/* The search of explore, driven by front ends that are no C program: a lock and a machine with
 * states. Nothing is woven, built or run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/tempdir.h"
#include "engine/explore/explore.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a lock: a sum, and a word behind it */

enum { LOCK_BYTES = 8, LOCK_EDGES = 10 };

typedef struct Lock {
    bool opens_to_all;                 /* the correct twin: nothing fails */
    unsigned workers;                  /* open */
    unsigned words;
    FrontHost host;
} Lock;

typedef struct LockWorker {
    Lock *lock;
    uint8_t inputs[64][LOCK_BYTES];
    FrontRun runs[64];
    uint8_t counters[LOCK_EDGES], seen[LOCK_EDGES];
    size_t n;
    bool ran;
} LockWorker;

/* How many of the five conditions hold, one after the other. */
static unsigned passed(const uint8_t *b)
{
    if ((uint16_t)(b[0] + 256 * b[1]) * 7u % 65536 != 0x1234)
        return 0;
    unsigned n = 1;
    while (n < 5 && b[1 + n] == (uint8_t)"word"[n - 1])
        n++;
    return n;
}

static bool lock_begin(void *subject, const FrontHost *host, FrontFacts *out, Err *err)
{
    Lock *l = subject;
    (void)err;
    l->host = *host;
    host->word(host->arg, "xyz", 3);
    *out = (FrontFacts){ .counters = LOCK_EDGES, .branches = LOCK_EDGES, .fixed = LOCK_BYTES };
    return true;
}

static void *lock_open(void *subject, unsigned job, const FrontLimits *limits, Err *err)
{
    (void)job, (void)limits, (void)err;
    LockWorker *w = xcalloc(1, sizeof *w);
    w->lock = subject;
    w->lock->workers++;
    return w;
}

static void lock_close(void *worker)
{
    LockWorker *w = worker;
    if (w)
        w->lock->workers--;
    free(w);
}

static bool lock_add(void *worker, const uint8_t *bytes, size_t n)
{
    LockWorker *w = worker;
    if (w->ran)
        w->n = 0;
    w->ran = false;
    if (w->n == 64)
        return false;
    memset(w->inputs[w->n], 0, LOCK_BYTES);
    memcpy(w->inputs[w->n], bytes, n < LOCK_BYTES ? n : LOCK_BYTES);
    w->n++;
    return true;
}

static bool lock_run(void *worker, bool apart, FrontBatch *out, Err *err)
{
    LockWorker *w = worker;
    (void)apart, (void)err;
    size_t n = w->ran ? 0 : w->n;
    for (size_t i = 0; i < n; i++) {
        unsigned k = passed(w->inputs[i]);
        FrontRun *r = &w->runs[i];
        *r = (FrontRun){ .bytes = w->inputs[i],
                         .n = LOCK_BYTES,
                         .path = k + 1,
                         .micros = 1,
                         .died = k == 5 && !w->lock->opens_to_all };
        memset(w->counters, 0, sizeof w->counters);
        for (unsigned c = 0; c <= k && c < 5; c++)
            w->counters[2 * c + (c == k)] = 1;
        for (unsigned e = 0; e < LOCK_EDGES; e++) {
            r->news |= w->counters[e] && !w->seen[e];
            w->seen[e] |= w->counters[e];
        }
    }
    w->ran = true;
    if (n)
        *out = (FrontBatch){ w->runs, n, w->counters };
    return true;
}

static bool lock_trace(void *worker, Exprs *p, uint32_t in, const uint8_t *bytes, size_t n,
                       FrontTrace *out, Err *err)
{
    (void)worker, (void)err;
    uint8_t b[LOCK_BYTES] = { 0 };
    memcpy(b, bytes, n < LOCK_BYTES ? n : LOCK_BYTES);
    unsigned k = passed(b);
    Expr v = expr_binary(p, EXPR_CONCAT, expr_byte(p, in + 1), expr_byte(p, in));
    Expr sum = expr_binary(p, EXPR_MUL, v, expr_const(p, 16, 7));
    front_branch(out, p, expr_binary(p, EXPR_EQ, sum, expr_const(p, 16, 0x1234)), 0, k > 0);
    for (uint32_t c = 1; c <= k && c < 5; c++)
        front_branch(out, p,
                     expr_binary(p, EXPR_EQ, expr_byte(p, in + 1 + c),
                                 expr_const(p, 8, (uint8_t)"word"[c - 1])),
                     2 * c, k > c);
    return true;
}

static void lock_judge(void *worker, FrontJudge by, const uint8_t *bytes, size_t n,
                       FrontFailures *out)
{
    LockWorker *w = worker;
    uint8_t b[LOCK_BYTES] = { 0 };
    assert_int_equal(by, FRONT_PLAIN);
    memcpy(b, bytes, n < LOCK_BYTES ? n : LOCK_BYTES);
    if (passed(b) == 5 && !w->lock->opens_to_all)
        vec_push(out, ((Failure){ .kind = FAILURE_ABORT }));
}

static const ExploreFront lock_front = {
    .begin = lock_begin,
    .open = lock_open,
    .close = lock_close,
    .add = lock_add,
    .run = lock_run,
    .trace = lock_trace,
    .judge = lock_judge,
};

/* ---- how they are explored */

static void count_note(void *arg, const char *text)
{
    (void)text;
    ++*(unsigned *)arg;
}

static void explore_in(ExplorePlan *plan, ExploreResult *r)
{
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    unsigned notes = 0;
    assert_non_null(dir);
    char *out = path_join(dir, "out");
    plan->out = out;
    plan->note = count_note;
    plan->arg = &notes;
    plan->time = plan->time > 0 ? plan->time : 60;
    bool ok = explore(plan, r, &err);
    assert_string_equal(err.msg, "");
    assert_true(ok);
    free(out);
    plan->out = NULL;
    tempdir_remove(dir);
}

static void the_search_opens_a_lock(void **state)
{
    (void)state;
    Lock lock = { 0 };
    ExplorePlan plan = {
        .front = &lock_front, .subject = &lock, .seed = 1, .stop = STOP_FIRST_FAILURE
    };
    ExploreResult r = { 0 };
    explore_in(&plan, &r);
    assert_int_equal(r.nfailures, 1);
    assert_int_equal(passed(r.failures[0].small), 5);
    assert_string_equal(r.ended, "first failure");
    assert_true(r.status.solved_new > 0);
    assert_int_equal(r.status.covered, LOCK_EDGES - 1);   /* the last ends in the failure */
    assert_int_equal(lock.workers, 0);
    explore_result_release(&r);
}

static void two_jobs_do_too(void **state)
{
    (void)state;
    Lock lock = { 0 };
    ExplorePlan plan = {
        .front = &lock_front, .subject = &lock, .seed = 2, .jobs = 2, .stop = STOP_FIRST_FAILURE
    };
    ExploreResult r = { 0 };
    explore_in(&plan, &r);
    assert_int_equal(r.nfailures, 1);
    assert_int_equal(lock.workers, 0);
    explore_result_release(&r);
}

static void a_systematic_search_asks_each_condition_once(void **state)
{
    (void)state;
    Lock lock = { 0 };
    ExplorePlan plan = { .front = &lock_front, .subject = &lock, .seed = 1, .systematic = true };
    ExploreResult r = { 0 };
    explore_in(&plan, &r);
    assert_int_equal(r.nfailures, 1);
    assert_int_equal(passed(r.failures[0].small), 5);
    assert_string_equal(r.ended, "nothing is left");
    assert_int_equal(r.status.executions, 6);             /* 0 to 5 conditions hold */
    assert_int_equal(r.nlevels, 1);
    assert_int_equal(r.levels[0].explored, 6);
    assert_int_equal(r.levels[0].repeated, 0);
    assert_int_equal(r.status.covered, LOCK_EDGES);
    explore_result_release(&r);
}

static void a_lock_that_opens_to_all_has_no_failure(void **state)
{
    (void)state;
    Lock lock = { .opens_to_all = true };
    ExplorePlan plan = { .front = &lock_front, .subject = &lock, .systematic = true };
    ExploreResult r = { 0 };
    explore_in(&plan, &r);
    assert_int_equal(r.nfailures, 0);
    assert_int_equal(r.status.covered, LOCK_EDGES);
    explore_result_release(&r);
}

/* ---- a player: stopped, playing or skipping; an event is a byte */

typedef struct Player {
    bool match;                        /* equal states get equal numbers */
    uint8_t broken_at;                 /* state whose stop event fails; 0: none */
    uint8_t mode[4096];                /* of each state */
    uint32_t states;
} Player;

typedef struct PlayerWorker {
    Player *player;
    uint32_t state;
    uint8_t mode, after;               /* of the last run: before and behind it */
} PlayerWorker;

enum { STOPPED, PLAYING, SKIPPING };

static bool player_begin(void *subject, const FrontHost *host, FrontFacts *out, Err *err)
{
    (void)host, (void)err;
    ((Player *)subject)->states = 1;
    *out = (FrontFacts){ .counters = 8, .branches = 8 };
    return true;
}

static void *player_open(void *subject, unsigned job, const FrontLimits *limits, Err *err)
{
    (void)job, (void)limits, (void)err;
    PlayerWorker *w = xcalloc(1, sizeof *w);
    w->player = subject;
    return w;
}

static void player_close(void *worker) { free(worker); }

static bool player_restore(void *worker, uint32_t state, Err *err)
{
    PlayerWorker *w = worker;
    (void)err;
    assert_true(state < w->player->states);
    w->state = state;
    w->mode = w->player->mode[state];
    return true;
}

static bool player_trace(void *worker, Exprs *p, uint32_t in, const uint8_t *bytes, size_t n,
                         FrontTrace *out, Err *err)
{
    PlayerWorker *w = worker;
    (void)err;
    assert_int_equal(n, 1);
    static uint8_t counters[8];
    memset(counters, 0, sizeof counters);
    out->counters = counters;
    w->after = w->mode;
    counters[w->mode == STOPPED ? 0 : 1] = 1;             /* depends on the state only */
    out->trail.path = path_new(p);
    for (uint8_t e = w->mode == STOPPED ? 1 : 0; e < (w->mode == STOPPED ? 3 : 1); e++) {
        Expr is = expr_binary(p, EXPR_EQ, expr_byte(p, in), expr_const(p, 8, e));
        uint32_t at = w->mode == STOPPED ? 2u * e : 6;
        front_branch(out, p, is, at, *bytes == e);
        counters[*bytes == e ? at : at + 1] = 1;
        if (*bytes == e) {
            w->after = e;
            break;
        }
    }
    return true;
}

static void player_judge(void *worker, FrontJudge by, const uint8_t *bytes, size_t n,
                         FrontFailures *out)
{
    PlayerWorker *w = worker;
    (void)by;
    uint8_t broken = w->player->broken_at;
    if (n == 1 && broken && w->mode == broken && *bytes == 0)
        vec_push(out, ((Failure){ .kind = FAILURE_ABORT }));
}

/* Any event may follow; the search turns it into the others. */
static bool player_follow(void *worker, const uint8_t *bytes, size_t n, FrontInputs *out, Err *err)
{
    PlayerWorker *w = worker;
    Player *p = w->player;
    (void)n, (void)err;
    uint32_t state = p->states;
    if (!bytes)
        state = 0;
    for (uint32_t s = 0; bytes && p->match && s < p->states; s++)
        if (p->mode[s] == w->after)
            state = s;
    assert_true(state < sizeof p->mode);
    if (state == p->states)
        p->mode[p->states++] = w->after;
    vec_push(out, ((FrontInput){ .state = state, .bytes = xmemdup("\x09", 1), .n = 1 }));
    return true;
}

static const ExploreFront player_front = {
    .begin = player_begin,
    .open = player_open,
    .close = player_close,
    .restore = player_restore,
    .trace = player_trace,
    .judge = player_judge,
    .follow = player_follow,
};

static void all_sequences_of_events_are_found(void **state)
{
    (void)state;
    static const uint64_t want[] = { 3, 7, 17, 41, 99, 239 };
    Player player = { 0 };
    ExplorePlan plan = {
        .front = &player_front, .subject = &player, .systematic = true, .depth = 6
    };
    ExploreResult r = { 0 };
    explore_in(&plan, &r);
    assert_int_equal(r.nlevels, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(r.levels[i].explored, want[i]);
        assert_int_equal(r.levels[i].repeated, 0);
        assert_int_equal(r.levels[i].left, 0);
    }
    assert_int_equal(r.status.covered, 8);
    explore_result_release(&r);
}

static void equal_states_end_the_search(void **state)
{
    (void)state;
    Player player = { .match = true };
    ExplorePlan plan = { .front = &player_front, .subject = &player, .systematic = true };
    ExploreResult r = { 0 };
    explore_in(&plan, &r);
    assert_string_equal(r.ended, "nothing is left");
    assert_int_equal(r.nlevels, 2);
    assert_int_equal(r.levels[0].explored, 3);
    assert_int_equal(r.levels[1].explored, 4);
    assert_int_equal(r.status.executions, 7);
    assert_int_equal(r.status.covered, 8);
    assert_int_equal(player.states, 3);
    explore_result_release(&r);
}

static void a_failure_knows_its_state(void **state)
{
    (void)state;
    Player player = { .match = true, .broken_at = SKIPPING };
    ExplorePlan plan = { .front = &player_front, .subject = &player, .systematic = true };
    ExploreResult r = { 0 };
    explore_in(&plan, &r);
    assert_int_equal(r.nfailures, 1);
    assert_int_equal(player.mode[r.failures[0].state], SKIPPING);
    assert_int_equal(r.failures[0].nsmall, 1);
    assert_int_equal(r.failures[0].small[0], 0);
    explore_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_opens_a_lock),
        cmocka_unit_test(two_jobs_do_too),
        cmocka_unit_test(a_systematic_search_asks_each_condition_once),
        cmocka_unit_test(a_lock_that_opens_to_all_has_no_failure),
        cmocka_unit_test(all_sequences_of_events_are_found),
        cmocka_unit_test(equal_states_end_the_search),
        cmocka_unit_test(a_failure_knows_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
