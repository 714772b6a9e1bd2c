/*
 * The smallest test and schedule that show a violation.
 *
 * Calls of the threads are left out, then steps of the prefix: a smaller test counts if a
 * short search finds the same kind of violation again. Then forces of the schedule are
 * left out, from the last on, and schedules with fewer preemptions are tried. What is left
 * is replayed, with names and lines.
 */
#include "technique/threads/library_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_RUNS = 80,
    MOST_TRIES = 24,
    SECONDS = 2,                 /* for one violation, after the search's time is over … */
    ALL_SECONDS = 6,             /* … and for all of them */
    REPLAYS = 5,
    MOST_SHORTENING = 40,
    MOST_FEWER = 300,
    MOST_MUCH_FEWER = 1500       /* more than two can't be shown by a C program */
};

typedef struct Shrinking {
    Lib *l;
    const Violation *like;
    const Test *test;
    Serials serials;
    Arena arena;                 /* of the test that is tried */
    ExecThreads request;
    Violation found;
    bool shown;
} Shrinking;

/* The kind, not the place: a smaller test may fail elsewhere in the same way. */
static bool is_alike(const Violation *a, const Violation *b)
{
    return a->kind == b->kind &&
           (a->kind != VIOLATION_FAILURE || a->failure.kind == b->failure.kind);
}

/* Runs the schedule; true: it shows the violation. */
static bool shows(Lib *l, Scheduler *s, const Violation *v, const Schedule *schedule,
                  Serials *serials, ScheduleRun *run, Violation *got)
{
    Arena a = { 0 };
    End end;
    assert(serials->known);
    bool same = oracle_run(l, s, &a, &v->test, schedule, run, &end, NULL) &&
                oracle_judge(l, &a, &v->test, serials, run, &end, got, NULL) && is_alike(got, v);
    if (!same)
        violation_release(got);
    end_release(&end);
    arena_release(&a);
    return same;
}

/* ----------------------------------------------------------- smaller tests */

static SearchVerdict look_again(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Shrinking *x = arg;
    Lib *l = x->l;
    End end = { 0 };
    Violation v = { 0 };
    bool found = false;
    oracle_take(l, &x->arena, x->test, &x->request, run, &end);
    if (oracle_judge(l, &x->arena, x->test, &x->serials, run, &end, &v, NULL) &&
        is_alike(&v, x->like)) {
        found = x->shown = true;
        schedule_copy(&v.schedule, schedule);
        x->found = v;
    } else {
        violation_release(&v);
    }
    end_release(&end);
    oracle_put(l, &x->arena, x->test, &x->request);
    return found ? SEARCH_STOP : SEARCH_GO_ON;
}

/* Counts end it, so that a seed gives the same tests everywhere; but if the search has
 * used up its time, little is left for this. */
static bool is_late(void *lib)
{
    Lib *l = lib;
    return lib_is_over(l) && lib_seconds(l) > l->shrink_until;
}

/* Does the search show it in this test? Then test and schedule take the place of the old
 * ones. */
static bool try_search(Lib *l, Violation *v, const Test *test, const SearchPlan *plan)
{
    Shrinking x = { .l = l, .like = v, .test = test };
    SearchResult result;
    bool found = oracle_put(l, &x.arena, test, &x.request) &&
                 schedule_search(l->quick, plan, look_again, &x, &result, NULL) && x.shown;
    if (found) {
        schedule_release(&v->schedule);
        v->schedule = x.found.schedule;
        x.found.schedule = (Schedule){ 0 };
        v->preemptions = x.found.preemptions;
        if (test != &v->test)
            v->test = lib_test_copy(&l->arena, test);
    }
    violation_release(&x.found);
    serials_release(&x.serials);
    arena_release(&x.arena);
    return found;
}

static bool try_test(Lib *l, Violation *v, const Test *smaller)
{
    SearchPlan plan = {
        .most = MOST_RUNS,
        .seed = session_seed(l->s),
        .stop = is_late,
        .stop_arg = l,
        .first_thread = 1,
    };
    return try_search(l, v, smaller, &plan);
}

/* Is it a lock with its unlock, a put with its get? One alone may not stand in a thread. */
static bool is_paired(const Lib *l, const Test *t, unsigned thread)
{
    Balanced pair;
    for (unsigned i = 0; i < t->ncalls[thread]; i++)
        for (unsigned k = i + 1; k < t->ncalls[thread]; k++)
            if (lib_partner(l, t->calls[thread][i].f, t->type, &pair) &&
                pair.second == t->calls[thread][k].f)
                return true;
    return false;
}

static void drop_calls(Lib *l, Violation *v, unsigned *tries)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = v->test.ncalls[k]; c-- > 0 && v->test.ncalls[k] > 1 && *tries &&
                                             !is_late(l) && !is_paired(l, &v->test, k);) {
            Test t = v->test;
            memmove(&t.calls[k][c], &t.calls[k][c + 1], (t.ncalls[k] - c - 1) * sizeof *t.calls[k]);
            t.ncalls[k]--;
            --*tries;
            if (lib_classify(l, &t))     /* the contract of the calls that are left */
                try_test(l, v, &t);
        }
}

/* Prefix and calls as one sequence, so that what needs a step goes with it. */
static bool without_step(Lib *l, Arena *a, const Test *t, unsigned step, Test *out)
{
    unsigned calls = t->ncalls[0] + t->ncalls[1];
    Seq all = { arena_array(a, SeqStep, t->prefix->n + calls + 1), t->prefix->n + calls };
    memcpy(all.steps, t->prefix->steps, t->prefix->n * sizeof *all.steps);
    memcpy(all.steps + t->prefix->n, t->calls[0], t->ncalls[0] * sizeof *all.steps);
    memcpy(all.steps + t->prefix->n + t->ncalls[0], t->calls[1], t->ncalls[1] * sizeof *all.steps);
    Seq *less = seq_without(a, &all, step);
    if (!less || less->n < calls)
        return false;
    *out = *t;
    out->prefix = seq_prefix(a, less, less->n - calls);
    for (unsigned i = 0; i < calls; i++) {
        const SeqStep *st = &less->steps[less->n - calls + i];
        if (st->f != all.steps[all.n - calls + i].f)
            return false;                /* a call went too */
        unsigned k = i >= t->ncalls[0];
        out->calls[k][k ? i - t->ncalls[0] : i] = *st;
    }
    out->epilogue = lib_test_close(l, a, out->prefix);
    return true;
}

static void drop_prefix(Lib *l, Violation *v, unsigned *tries)
{
    for (unsigned i = v->test.prefix->n; i-- > 0 && *tries && !is_late(l);) {
        Arena a = { 0 };
        Test t;
        if (i < v->test.prefix->n && without_step(l, &a, &v->test, i, &t)) {
            --*tries;
            try_test(l, v, &t);
        }
        arena_release(&a);
    }
}

/* --------------------------------------------------------------- schedule */

static void drop_forces(Lib *l, Violation *v, Serials *serials)
{
    ScheduleRun run = { 0 };
    unsigned tries = 0;
    for (size_t i = v->schedule.forces.len; i-- > 0 && tries < MOST_SHORTENING && !is_late(l);
         tries++) {
        Schedule less = { 0 }, again = { 0 };
        Violation got = { 0 };
        schedule_copy(&less, &v->schedule);
        memmove(&less.forces.items[i], &less.forces.items[i + 1],
                (less.forces.len - i - 1) * sizeof *less.forces.items);
        less.forces.len--;
        if (shows(l, l->quick, v, &less, serials, &run, &got)) {
            schedule_of_run(&less, &run, &again);
            if (again.forces.len < v->schedule.forces.len) {
                schedule_release(&v->schedule);
                v->schedule = again;
                v->preemptions = run.preemptions;
                again = (Schedule){ 0 };
                i = i < v->schedule.forces.len ? i : v->schedule.forces.len;
            }
        }
        violation_release(&got);
        schedule_release(&less);
        schedule_release(&again);
    }
    schedule_run_release(&run);
}

/* All schedules with fewer preemptions come first, so what is found has the fewest. */
static void fewer_preemptions(Lib *l, Violation *v)
{
    Schedule points = { 0 };
    schedule_copy(&points, &v->schedule);
    SearchPlan plan = { .most = v->preemptions > 2 ? MOST_MUCH_FEWER : MOST_FEWER,
                        .bound = v->preemptions > 8 ? 7 : v->preemptions - 1,
                        .seed = session_seed(l->s),
                        .stop = is_late,
                        .stop_arg = l,
                        .points_of = &points,
                        .first_thread = 1 };
    try_search(l, v, &v->test, &plan);
    schedule_release(&points);
}

/* The turns of the two threads; those of the player in between do not count. */
static void take_turns(const ScheduleRun *run, Violation *v)
{
    v->nturns = 0;
    for (size_t i = 0; i < run->steps.len && v->nturns < MOST_TURNS; i++) {
        const struct sundew_step *e = &run->steps.items[i];
        if (e->chosen == e->thread || e->flags & SUNDEW_STEP_WAKES || !e->thread || e->thread > 2)
            continue;
        Turn now = { (uint8_t)(e->thread - 1), schedule_takes_turn(e) };
        if (v->nturns && v->turns[v->nturns - 1].thread == now.thread)
            v->nturns--;
        v->turns[v->nturns++] = now;
    }
}

/* How often a thread lost its turn to the other. */
static unsigned taken_turns(const ScheduleRun *run)
{
    unsigned n = 0;
    for (size_t i = 0; i < run->steps.len; i++)
        n += schedule_takes_turn(&run->steps.items[i]);
    return n;
}

/* What is told of it comes from the last replay, with names and lines. */
static void replay(Lib *l, Violation *v, Serials *serials)
{
    ScheduleRun run = { 0 };
    unsigned most = v->test.native ? NATIVE_REPLAYS : REPLAYS;
    for (v->tries = 0, v->again = 0; v->tries < most; v->tries++) {
        Violation got = { 0 };
        if (!shows(l, v->tries + 1 < most ? l->quick : l->watched, v, &v->schedule, serials, &run,
                   &got))
            continue;
        v->again++;
        failure_release(&v->failure);
        v->failure = got.failure;
        got.failure = (Failure){ 0 };
        memcpy(v->sites, got.sites, sizeof v->sites);
        memcpy(v->waits, got.waits, sizeof v->waits);
        v->nsites = got.nsites;
        v->stopped = got.stopped;
        v->ran = got.ran;
        v->function = got.function;
        free(v->text);
        v->text = got.text;
        got.text = NULL;
        take_turns(&run, v);
        v->preemptions = taken_turns(&run);
        violation_release(&got);
    }
    str_reset(&v->picture);
    schedule_draw(l->quick, &run, 60, &v->picture);
    schedule_run_release(&run);
}

/* "T1 pot_put, T2 pot_copy (one thread): ends well", a line for each. */
static void tabulate(Violation *v, const Serials *s)
{
    static const char *const ends[] = { [END_WELL] = "ends well",
                                        [END_UNCLEAR] = "no clear end",
                                        [END_EXIT] = "ends the process",
                                        [END_STUCK] = "blocks" };
    str_reset(&v->serial_table);
    v->nserial = s->n;
    v->serial_well = true;
    for (unsigned i = 0; i < s->n; i++) {
        const Serial *row = &s->rows[i];
        v->serial_well &= row->end.kind == END_WELL;
        for (unsigned k = 0, at[2] = { 0, 0 }; k < row->n; k++) {
            const SeqStep *st = &v->test.calls[row->order[k]][at[row->order[k]]++];
            str_addf(&v->serial_table, "%sT%u %s", k ? ", " : "", row->order[k] + 1u, st->f->name);
        }
        str_addf(&v->serial_table,
                 " (%s): ", row->mode == EXEC_ONE_THREAD ? "one thread" : "own threads");
        if (row->end.kind == END_FAILURE)
            failure_describe(&row->end.failure, &v->serial_table);
        else
            str_add(&v->serial_table, ends[row->end.kind]);
        str_addc(&v->serial_table, '\n');
    }
}

bool lib_tabulate(Lib *l, Violation *v, Err *err)
{
    Arena a = { 0 };
    Serials s = { 0 };
    bool ok = oracle_serial(l, &a, &v->test, &s, err);
    if (ok)
        tabulate(v, &s);
    serials_release(&s);
    arena_release(&a);
    return ok;
}

bool lib_shrink(Lib *l, Violation *v, Err *err)
{
    unsigned tries = MOST_TRIES;
    Arena a = { 0 };
    Serials serials = { 0 };
    assert(v->test.ncalls[0] && v->test.ncalls[1]);
    double now = lib_seconds(l), last = l->told_from + ALL_SECONDS;
    l->shrink_until = now + SECONDS < last ? now + SECONDS : last;
    if (!v->test.native) {
        drop_calls(l, v, &tries);
        drop_prefix(l, v, &tries);
    }
    bool ok = oracle_serial(l, &a, &v->test, &serials, err);
    if (ok) {
        drop_forces(l, v, &serials);
        if (v->preemptions > 1)
            fewer_preemptions(l, v);
        replay(l, v, &serials);
        tabulate(v, &serials);
    }
    serials_release(&serials);
    arena_release(&a);
    return ok;
}
