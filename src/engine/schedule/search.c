/*
 * The search for schedules that matter.
 *
 * First some random runs show which sites are hot: memory that two threads
 * touch, one of them writing. From then on plain accesses are points at these
 * sites only. The set stays as it is for the systematic part, so that decisions
 * keep their numbers; if random runs add to it, that part begins again.
 *
 * Then two ways take turns. The systematic one runs all schedules with no
 * preemption, then with one, then with two: from each run, at each decision after
 * its last force, each other thread that could have run gives one more schedule.
 * Schedules come first that delay an access before one that conflicts, in a run in
 * which some thread saw what it had not seen in an earlier run. With more than two
 * preemptions only these are run.
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

enum {
    WARM_UPS = 60,
    CALM = 10,
    MOST_QUEUED = 1 << 18,
    MOST_TIMEOUTS = 3,
    MOST_BOUND = 7,
    MOST_OFTEN = 12,
    GUARANTEED = 2
};

/* A schedule to be run. */
typedef struct Item {
    struct sundew_force *forces;     /* heap */
    uint32_t nforces;
    uint32_t from;                   /* the first decision that may be changed */
} Item;

typedef struct Queue {
    Vec(Item) items;
    size_t next;                     /* those before it have been run */
} Queue;

typedef struct Search {
    Scheduler *s;
    const SearchPlan *plan;
    SearchJudge *judge;
    void *arg;
    SearchResult *out;
    Rng rng;
    Schedule now;                    /* being run; its hot sites hold for the systematic part */
    Schedule wide;                   /* the hot sites that random runs have shown meanwhile */
    ScheduleRun run;
    Queue queue[MOST_BOUND + 1][2];  /* by number of preemptions; those that may matter first */
    Vec(uint64_t) known;             /* histories of systematic runs */
    size_t most;
    unsigned bound;
    unsigned calm;                   /* random runs since one made a site hot */
    bool stopped;
    bool lost;                       /* schedules that were to be run were not */
} Search;

static bool is_over(Search *x)
{
    x->stopped = x->stopped || (x->plan->stop && x->plan->stop(x->plan->stop_arg));
    return x->stopped || x->out->gave_up || x->out->runs >= x->most;
}

static void count(Search *x)
{
    SearchResult *o = x->out;
    o->runs++;
    o->points = x->run.npoints > o->points ? x->run.npoints : o->points;
    o->threads = x->run.nthreads > o->threads ? x->run.nthreads : o->threads;
    o->ends[x->run.ended]++;
    bool stopped = x->run.ended == SUNDEW_SCHEDULE_RUNNING &&
                   (x->run.result.failure.kind == FAILURE_TIMEOUT ||
                    x->run.result.failure.kind == FAILURE_CPU_LIMIT);
    o->timeouts += stopped;
    o->gave_up = o->timeouts >= MOST_TIMEOUTS && o->timeouts * 2 > o->runs;
    o->inconclusive += stopped || (x->run.ended != SUNDEW_SCHEDULE_RUNNING &&
                                   x->run.ended != SUNDEW_SCHEDULE_ENDED &&
                                   x->run.ended != SUNDEW_SCHEDULE_DEADLOCK);
}

/* Sites that the last run showed to be hot are added; how many were new. The run
 * holds them, because the judge may make runs of its own. */
static size_t add_heated(const ScheduleRun *run, Schedule *to)
{
    size_t n = 0, known = to->hot.len;
    for (size_t i = 0; i < run->heated.len; i++) {
        size_t k = 0;
        while (k < known && to->hot.items[k] != run->heated.items[i])
            k++;
        if (k < known)
            continue;
        vec_push(&to->hot, run->heated.items[i]);
        n++;
    }
    return n;
}

static bool run_and_judge(Search *x, const Schedule *now, Err *err)
{
    if (!scheduler_run_until(x->s, now, x->plan->stop, x->plan->stop_arg, &x->run, err))
        return false;
    if (x->run.result.stopped) {                 /* it says nothing */
        x->stopped = x->lost = true;
        return true;
    }
    count(x);
    Schedule again = { 0 };
    schedule_of_run(now, &x->run, &again);
    if (x->judge(&again, &x->run, x->arg) == SEARCH_STOP)
        x->stopped = true;
    schedule_release(&again);
    return true;
}

/* ------------------------------------------------------------ systematic */

/* Would the thread's turn end against its will, or go on although it yields? */
static bool preempts(const struct sundew_step *e, unsigned other)
{
    bool yields = e->flags & SUNDEW_STEP_YIELDS;
    return e->enabled >> e->thread & 1 && yields == (other == e->thread);
}

/* May another thread have been chosen there? A spin loop has to let others run. */
static bool is_choice(const struct sundew_step *e, unsigned other)
{
    bool spins = e->flags & SUNDEW_STEP_YIELDS && e->kind != SUNDEW_AT_YIELD;
    return e->enabled >> other & 1 && other != e->chosen && !(spins && other == e->thread);
}

static void push(Search *x, unsigned cost, bool useful, const struct sundew_step *e,
                 unsigned thread)
{
    Queue *q = &x->queue[cost][useful ? 0 : 1];
    if (q->items.len >= MOST_QUEUED) {
        x->lost = true;
        return;
    }
    uint32_t n = (uint32_t)x->now.forces.len;
    struct sundew_force *forces = xcalloc(n + 1, sizeof *forces);
    if (n)
        memcpy(forces, x->now.forces.items, n * sizeof *forces);
    forces[n] = (struct sundew_force){ e->decision, thread };
    vec_push(&q->items, ((Item){ forces, n + 1, e->decision + 1 }));
}

/* Who touches an object later in the run: a bit a thread. Objects share rows. */
typedef struct Later {
    uint64_t reads, writes;
} Later;
enum { ROWS = 4096 };

static Later *row_of(Later *rows, uint64_t object)
{
    return &rows[(object * 0x9e3779b97f4a7c15u >> 40) % ROWS];
}

/* Does it matter that the step comes later? Only if another thread touches the
 * same object meanwhile and one of the two writes. */
static bool is_useful(Later *rows, const struct sundew_step *e)
{
    const Later *l = row_of(rows, e->object);
    uint64_t others = ~((uint64_t)1 << e->thread);
    return !e->object || (l->writes | (e->kind == SUNDEW_AT_READ ? 0 : l->reads)) & others;
}

static void note_later(Later *rows, const struct sundew_step *e)
{
    Later *l = row_of(rows, e->object);
    *(e->kind == SUNDEW_AT_READ ? &l->reads : &l->writes) |= (uint64_t)1 << e->thread;
}

/* Was there a run before in which each thread saw the same? */
static bool is_known(Search *x)
{
    for (size_t i = 0; i < x->known.len; i++)
        if (x->known.items[i] == x->run.history)
            return true;
    vec_push(&x->known, x->run.history);
    return false;
}

/* Steps of loops in a run without an end: those that came often before are not
 * parted from, or the search would stay in the loop. */
static bool *tired_steps(Search *x)
{
    const ScheduleRun *r = &x->run;
    bool *tired = xcalloc(r->steps.len + 1, sizeof *tired);
    if (r->ended == SUNDEW_SCHEDULE_ENDED || r->ended == SUNDEW_SCHEDULE_RUNNING)
        return tired;
    uint8_t *often = xcalloc(ROWS, 1);
    for (size_t i = 0; i < r->steps.len; i++) {
        const struct sundew_step *e = &r->steps.items[i];
        uint8_t *n = &often[(e->site * 64u + e->thread) * 0x9e3779b1u % ROWS];
        tired[i] = *n >= MOST_OFTEN;
        *n += !tired[i];
        x->lost |= tired[i];
    }
    free(often);
    return tired;
}

/* All schedules that part from this run at one decision from `from` on. With more
 * than GUARANTEED preemptions only those that can show something new. */
static void extend(Search *x, uint32_t from, unsigned cost)
{
    Later *rows = xcalloc(ROWS, sizeof *rows);
    bool known = is_known(x), *tired = tired_steps(x);
    for (size_t i = x->run.steps.len; i-- > 0;) {
        const struct sundew_step *e = &x->run.steps.items[i];
        bool useful = is_useful(rows, e);
        note_later(rows, e);
        if (!(e->flags & SUNDEW_STEP_DECISION) || e->decision < from || tired[i])
            continue;
        for (unsigned t = 0; t < x->run.nthreads; t++) {
            unsigned c = cost + preempts(e, t);
            if (c > cost && e->thread < x->plan->first_thread)
                continue;
            if (is_choice(e, t) && c <= x->bound && (c <= GUARANTEED || (useful && !known)))
                push(x, c, (useful || c == cost) && !known, e, t);
        }
    }
    free(rows);
    free(tired);
    if (x->run.steps.len == SUNDEW_SCHEDULE_STEPS)
        x->lost = true;
}

static size_t left_in(const Queue *q) { return q->items.len - q->next; }

static unsigned cheapest(const Search *x)
{
    unsigned c = 0;
    while (c <= x->bound && !left_in(&x->queue[c][0]) && !left_in(&x->queue[c][1]))
        c++;
    return c;
}

/* A random one, so that a budget that ends early is spread over the whole run. */
static Item take(Search *x, Queue *q)
{
    size_t k = q->next + rng_below(&x->rng, left_in(q));
    Item it = q->items.items[k];
    q->items.items[k] = q->items.items[q->next];
    q->items.items[q->next++] = it;
    return it;
}

/* Cheaper schedules first; among those of one cost the ones that reverse a conflict. */
static bool systematic(Search *x, Err *err)
{
    unsigned c = cheapest(x);
    assert(c <= x->bound);
    Item it = take(x, &x->queue[c][left_in(&x->queue[c][0]) ? 0 : 1]);
    x->now.strategy = SCHEDULE_FORCED;
    x->now.forces.len = 0;
    for (uint32_t i = 0; i < it.nforces; i++)
        vec_push(&x->now.forces, it.forces[i]);
    if (!run_and_judge(x, &x->now, err))
        return false;
    x->out->systematic++;
    extend(x, it.from, c);
    return true;
}

/* ---------------------------------------------------------------- random */

static bool random_run(Search *x, Err *err)
{
    Schedule *w = &x->wide;
    w->strategy = x->out->random % 4 == 3 ? SCHEDULE_PCT : SCHEDULE_POS;
    w->seed = rng_next(&x->rng);
    x->out->random++;
    bool ok = run_and_judge(x, w, err);
    x->calm = ok && add_heated(&x->run, w) ? 0 : x->calm + 1;
    x->out->hot = w->hot.len;
    return ok;
}

static void drop_queues(Search *x)
{
    for (unsigned c = 0; c < 2 * (MOST_BOUND + 1); c++) {
        Queue *q = &x->queue[c / 2][c % 2];
        for (size_t i = 0; i < q->items.len; i++)
            free(q->items.items[i].forces);
        vec_release(&q->items);
        q->next = 0;
    }
    vec_release(&x->known);
}

/* The schedule without preemptions, then random ones until no new site is hot. */
static bool warm_up(Search *x, Err *err)
{
    if (x->plan->points_of) {
        schedule_copy(&x->wide, x->plan->points_of);
        x->wide.forces.len = 0;
        return true;
    }
    bool ok = run_and_judge(x, &x->wide, err);
    if (ok)
        add_heated(&x->run, &x->wide);
    for (unsigned i = 0; ok && i < WARM_UPS && x->calm < CALM && !is_over(x); i++)
        ok = random_run(x, err);
    return ok;
}

/* The systematic part begins, with all sites that are hot by now. */
static bool first_run(Search *x, Err *err)
{
    x->lost = is_over(x);
    if (x->lost)
        return true;
    drop_queues(x);
    schedule_release(&x->now);
    schedule_copy(&x->now, &x->wide);
    x->now.strategy = SCHEDULE_FORCED;
    bool ok = run_and_judge(x, &x->now, err);
    x->out->systematic++;
    extend(x, 0, 0);
    return ok;
}

static bool take_turns(Search *x, Err *err)
{
    bool ok = true;
    for (size_t turn = 0; ok && !is_over(x); turn++) {
        unsigned c = cheapest(x);
        bool done = c > x->bound;
        if (done && x->wide.hot.len > x->now.hot.len) {
            ok = first_run(x, err);
            continue;
        }
        if (done && x->plan->points_of)
            break;
        bool chance = !x->plan->points_of && (done || (c == 0 ? turn % 4 == 3 : turn % 2));
        ok = chance ? random_run(x, err) : systematic(x, err);
        if (done && !x->plan->spends && x->out->random > 200 && x->out->random > x->out->systematic)
            break;
    }
    unsigned complete = x->lost || x->wide.hot.len > x->now.hot.len ? 0 : cheapest(x);
    x->out->complete = complete <= GUARANTEED + 1 ? complete : GUARANTEED + 1;
    return ok;
}

static void release(Search *x)
{
    drop_queues(x);
    schedule_release(&x->now);
    schedule_release(&x->wide);
    schedule_run_release(&x->run);
}

bool schedule_search(Scheduler *s, const SearchPlan *plan, SearchJudge *judge, void *arg,
                     SearchResult *out, Err *err)
{
    *out = (SearchResult){ 0 };
    Search x = { .s = s,
                 .plan = plan,
                 .judge = judge,
                 .arg = arg,
                 .out = out,
                 .rng = rng_seeded(plan->seed),
                 .most = plan->most ? plan->most : 1000,
                 .bound = plan->bound ? plan->bound : MOST_BOUND };
    assert(x.bound <= MOST_BOUND);
    scheduler_forget(s);                 /* so that a search does not depend on earlier ones */
    bool ok = warm_up(&x, err);
    if (out->threads > 1 || plan->points_of)
        ok = ok && first_run(&x, err) && take_turns(&x, err);
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
    *s = (Schedule){ 0 };
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
