/*
 * The search for schedules that matter.
 *
 * First some random runs show which sites are hot: memory that two threads
 * touch, one of them writing. From then on plain accesses are points at these
 * sites only, and the set stays as it is, so that decisions keep their numbers.
 *
 * Then two ways take turns. The systematic one runs all schedules with no
 * preemption, then with one, then with two: from each run, at each decision after
 * its last force, each other thread that could have run gives one more schedule.
 * The random one gives each pending access a random priority, and draws again
 * after accesses that conflict; it reaches bugs that need many preemptions.
 *
 *     forces []          T0 . . a . . b . .         decisions a, b
 *     forces [a:T1]      T0 . . T1 . c . .          one preemption
 *     forces [a:T1 c:T0] …                          two
 */
#include "engine/schedule/schedule_int.h"
#include <assert.h>
#include <string.h>

enum { WARM_UPS = 24, CALM = 4, MOST_QUEUED = 1 << 18 };

/* A schedule to be run. */
typedef struct Item {
    struct sundew_force *forces;     /* heap */
    uint32_t nforces;
    uint32_t from;                   /* the first decision that may be changed */
} Item;

typedef struct Search {
    Scheduler *s;
    const SearchPlan *plan;
    SearchJudge *judge;
    void *arg;
    SearchResult *out;
    Rng rng;
    Schedule now;                    /* being run; its hot sites hold for all */
    ScheduleRun run;
    Vec(Item) queue[8];              /* by number of preemptions */
    size_t next[8];
    size_t most;
    unsigned bound;
    bool stopped, overflowed;
} Search;

static bool is_over(Search *x)
{
    x->stopped = x->stopped || (x->plan->stop && x->plan->stop(x->plan->stop_arg));
    return x->stopped || x->out->runs >= x->most;
}

static void count(Search *x)
{
    SearchResult *o = x->out;
    o->runs++;
    o->points = x->run.npoints > o->points ? x->run.npoints : o->points;
    o->threads = x->run.nthreads > o->threads ? x->run.nthreads : o->threads;
    o->inconclusive += x->run.ended == SUNDEW_SCHEDULE_ENDLESS ||
                       x->run.ended == SUNDEW_SCHEDULE_DIVERGED ||
                       x->run.ended == SUNDEW_SCHEDULE_CROWDED ||
                       x->run.result.failure.kind == FAILURE_TIMEOUT ||
                       x->run.result.failure.kind == FAILURE_CPU_LIMIT;
}

static bool run_and_judge(Search *x, Err *err)
{
    if (!scheduler_run(x->s, &x->now, &x->run, err))
        return false;
    count(x);
    Schedule again = {0};
    schedule_of_run(&x->now, &x->run, &again);
    if (x->judge(&again, &x->run, x->arg) == SEARCH_STOP)
        x->stopped = true;
    schedule_release(&again);
    return true;
}

/* ------------------------------------------------------------ systematic */

/* Would the thread's turn end against its will? */
static bool preempts(const struct sundew_step *e, unsigned other)
{
    return e->enabled >> e->thread & 1 && !(e->flags & SUNDEW_STEP_YIELDS) && other != e->thread;
}

static void push(Search *x, unsigned cost, const struct sundew_step *e, unsigned thread)
{
    if (cost > x->bound)
        return;
    if (x->queue[cost].len >= MOST_QUEUED) {
        x->overflowed = true;
        return;
    }
    uint32_t n = (uint32_t)x->now.forces.len;
    struct sundew_force *forces = xcalloc(n + 1, sizeof *forces);
    if (n)
        memcpy(forces, x->now.forces.items, n * sizeof *forces);
    forces[n] = (struct sundew_force){ e->decision, thread };
    vec_push(&x->queue[cost], ((Item){ forces, n + 1, e->decision + 1 }));
}

/* All schedules that part from this run at one decision from `from` on. */
static void extend(Search *x, uint32_t from, unsigned cost)
{
    for (size_t i = 0; i < x->run.steps.len; i++) {
        const struct sundew_step *e = &x->run.steps.items[i];
        if (!(e->flags & SUNDEW_STEP_DECISION) || e->decision < from)
            continue;
        for (unsigned t = 0; t < x->run.nthreads; t++)
            if (e->enabled >> t & 1 && t != e->chosen)
                push(x, cost + preempts(e, t), e, t);
    }
    if (x->run.steps.len == SUNDEW_SCHEDULE_STEPS)
        x->overflowed = true;
}

static unsigned cheapest(const Search *x)
{
    unsigned c = 0;
    while (c <= x->bound && x->next[c] == x->queue[c].len)
        c++;
    return c;
}

/* Cheaper schedules first. Among those of one cost a random one, so that a
 * budget that ends early is spread over the whole run. */
static bool systematic(Search *x, Err *err)
{
    unsigned c = cheapest(x);
    assert(c <= x->bound);
    size_t left = x->queue[c].len - x->next[c], k = x->next[c] + rng_below(&x->rng, left);
    Item it = x->queue[c].items[k];
    x->queue[c].items[k] = x->queue[c].items[x->next[c]];
    x->queue[c].items[x->next[c]++] = it;
    x->now.strategy = SCHEDULE_FORCED;
    x->now.forces.len = 0;
    for (uint32_t i = 0; i < it.nforces; i++)
        vec_push(&x->now.forces, it.forces[i]);
    if (!run_and_judge(x, err))
        return false;
    x->out->systematic++;
    extend(x, it.from, c);
    return true;
}

/* ---------------------------------------------------------------- random */

static bool random_run(Search *x, Err *err)
{
    x->now.strategy = x->out->random % 4 == 3 ? SCHEDULE_PCT : SCHEDULE_POS;
    x->now.seed = rng_next(&x->rng);
    x->now.forces.len = 0;
    x->out->random++;
    return run_and_judge(x, err);
}

/* The schedule without preemptions, then random ones until no new site is hot. */
static bool warm_up(Search *x, Err *err)
{
    bool ok = run_and_judge(x, err);
    scheduler_heated(x->s, &x->now);
    for (unsigned i = 0, calm = 0; ok && i < WARM_UPS && calm < CALM && !is_over(x); i++) {
        ok = random_run(x, err);
        calm = scheduler_heated(x->s, &x->now) ? 0 : calm + 1;
    }
    x->out->hot = x->now.hot.len;
    return ok;
}

static bool first_run(Search *x, Err *err)
{
    x->now.strategy = SCHEDULE_FORCED;
    x->now.forces.len = 0;
    if (is_over(x))
        return true;
    bool ok = run_and_judge(x, err);
    extend(x, 0, 0);
    return ok;
}

static bool take_turns(Search *x, Err *err)
{
    bool ok = true;
    for (size_t turn = 0; ok && !is_over(x); turn++) {
        unsigned c = cheapest(x);
        bool done = c > x->bound;
        bool chance = done || (c == 0 ? turn % 4 == 3 : turn % 2);
        ok = chance ? random_run(x, err) : systematic(x, err);
        if (done && x->out->random > 200 && x->out->random > x->out->systematic)
            break;
    }
    x->out->complete = x->overflowed ? 0 : cheapest(x);
    return ok;
}

static void release(Search *x)
{
    for (unsigned c = 0; c < 8; c++) {
        for (size_t i = 0; i < x->queue[c].len; i++)
            free(x->queue[c].items[i].forces);
        vec_release(&x->queue[c]);
    }
    schedule_release(&x->now);
    schedule_run_release(&x->run);
}

bool schedule_search(Scheduler *s, const SearchPlan *plan, SearchJudge *judge, void *arg,
                     SearchResult *out, Err *err)
{
    *out = (SearchResult){0};
    Search x = { .s = s, .plan = plan, .judge = judge, .arg = arg, .out = out,
                 .rng = rng_seeded(plan->seed), .most = plan->most ? plan->most : 1000,
                 .bound = plan->bound ? plan->bound : 2 };
    assert(x.bound < 8);
    bool ok = warm_up(&x, err) && first_run(&x, err) && take_turns(&x, err);
    release(&x);
    return ok;
}

/* ------------------------------------------------------------- schedules */

void schedule_copy(Schedule *to, const Schedule *from)
{
    *to = (Schedule){ .strategy = from->strategy, .seed = from->seed };
    for (size_t i = 0; i < from->forces.len; i++)
        vec_push(&to->forces, from->forces.items[i]);
    for (size_t i = 0; i < from->hot.len; i++)
        vec_push(&to->hot, from->hot.items[i]);
}

void schedule_release(Schedule *s)
{
    vec_release(&s->forces);
    vec_release(&s->hot);
    *s = (Schedule){0};
}

void schedule_of_run(const Schedule *of, const ScheduleRun *run, Schedule *out)
{
    schedule_copy(out, of);
    out->strategy = SCHEDULE_FORCED;
    out->seed = 0;
    out->forces.len = 0;
    for (size_t i = 0; i < run->steps.len; i++) {
        const struct sundew_step *e = &run->steps.items[i];
        if (e->flags & SUNDEW_STEP_DECISION && e->chosen != e->usual)
            vec_push(&out->forces, ((struct sundew_force){ e->decision, e->chosen }));
    }
}
