/*
 * Two threads, one call each, on an object that a test has made.
 *
 * The prefix is a test that both sides end alike; the calls use its objects and make none.
 * If a serial order of the two fails or differs, the problem is not one of threads. Else the
 * candidate runs in many orders (engine/schedule/). If one fails or blocks, the reference
 * runs in all orders with one more preemption than that needed: a failure of any kind there,
 * or orders that could not be run, and nothing is reported.
 */
#include "engine/schedule/schedule.h"
#include "technique/substitutes/substitutes_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TESTS_OF_PAIR = 2, TRIES = 12, REFERENCE_TIMES = 10, NOTHING_SHARED = 30 };

/* A side made ready for scheduling. */
typedef struct Stage {
    ScheduleBuild build;
    char *preload;
    char *argv[3];
    Exec *exec;
    Scheduler *scheduler;
} Stage;

typedef struct Threads {
    Pair *p;
    Stage side[NSIDES];
    Rng rng;
    GrowPlan grow;
    size_t most;                 /* orders of a test */
} Threads;

/* One call each after a prefix. */
typedef struct Test {
    const Seq *prefix;
    const Seq *both[2];          /* the prefix and the call of a thread */
} Test;

/* ---- open */

static bool open_stage(Threads *x, SideOf which, Err *err)
{
    Stage *st = &x->side[which];
    Side *side = &x->p->side[which];
    Session *s = x->p->all->s;
    if (!build_schedule_exposed(side->program, session_libexec(s), session_option_all(s, "link"),
                                &st->build, &st->preload, err))
        return false;
    ExecPlan plan = { .api = side->api,
                      .library = st->build.path,
                      .libexec = session_libexec(s),
                      .preload = st->preload,
                      .cpu_ms = 2000,
                      .wall_ms = 4000 };
    st->exec = exec_open(&plan, err);
    if (!st->exec)
        return false;
    st->argv[0] = (char *)exec_player(st->exec);
    st->argv[1] = (char *)exec_library(st->exec);
    SchedulerPlan how = { .build = &st->build,
                          .argv = st->argv,
                          .player = exec_player(st->exec),
                          .fd = { exec_shared(st->exec), exec_shared_as() },
                          .preload = st->preload,
                          .quick = true,
                          .most_points = 20000 };
    st->scheduler = scheduler_open(&how, err);
    return st->scheduler != NULL;
}

static void close_stage(Stage *st)
{
    scheduler_close(st->scheduler);
    exec_close(st->exec);
    schedule_build_release(&st->build);
    free(st->preload);
}

/* ---- tests */

/* May it run while another call uses the same object? */
static bool may_share(const Pair *p, const ApiFunction *f)
{
    if (!pair_calls(p, f) || !p->calls[f->index].common || !f->takes_handle)
        return false;
    for (unsigned i = 0; i < f->nparams; i++) {
        ApiUse use = ownership_use(p->ownership, f, (int)i);
        if (use == USE_CONSUMES || use == USE_FINISHES || use == USE_CREATES)
            return false;
    }
    return f->result.use != USE_CREATES;
}

static const ApiType *type_of(const ApiFunction *f)
{
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].role == ROLE_HANDLE)
            return f->params[i].handle;
    return NULL;
}

static const Seq *with_call(Threads *x, Arena *a, const Seq *prefix, const ApiFunction *f)
{
    GrowPlan grow = x->grow;
    grow.uses = type_of(f);
    grow.given = prefix->n;
    for (int i = 0; i < TRIES; i++) {
        Seq *s = seq_copy(a, prefix);
        if (grow_universal(&grow, a, s, f) && s->n == prefix->n + 1)
            return s;
    }
    return NULL;
}

static bool make_test(Threads *x, Arena *a, const ApiFunction *f, const ApiFunction *g, Test *out)
{
    Pair *p = x->p;
    for (int i = 0; i < TRIES && p->agreed.len; i++) {
        out->prefix = p->agreed.items[rng_below(&x->rng, p->agreed.len)];
        out->both[0] = with_call(x, a, out->prefix, f);
        out->both[1] = out->both[0] ? with_call(x, a, out->prefix, g) : NULL;
        if (out->both[1])
            return true;
    }
    return false;
}

/* One thread after the other, in one sequence. */
static Seq *serial(Arena *a, const Test *t, int first)
{
    Seq *s = seq_copy(a, t->both[first]);
    const SeqStep *last = &t->both[!first]->steps[t->prefix->n];
    SeqStep *st = seq_call(a, s, last->f);
    memcpy(st->args, last->args, last->nargs * sizeof *st->args);
    return s;
}

/* Do both serial orders end, alike on both sides? */
static bool is_sound(Pair *p, Arena *a, const Test *t, bool *out, Err *err)
{
    *out = true;
    for (int i = 0; i < 2 && *out; i++) {
        Outcome both[NSIDES] = { 0 };
        Divergence how;
        bool differs;
        if (!oracle_try(p, a, serial(a, t, i), 0, 0, both, &differs, &how, err))
            return false;
        *out = !differs && both[0].state == OUTCOME_DONE && both[1].state == OUTCOME_DONE;
    }
    return true;
}

/* ---- orders */

typedef enum { END_WELL, END_UNCLEAR, END_FAILS, END_BLOCKS } End;

typedef struct Probe {
    Stage *stage;
    Arena arena;
    ExecThreads request;
    End end;                     /* the first that is not good */
    Failure failure;
    Schedule schedule;
    unsigned preemptions;
    SearchResult result;
} Probe;

static End end_of(const ScheduleRun *run)
{
    const Failure *f = &run->result.failure;
    if (run->ended == SUNDEW_SCHEDULE_DEADLOCK)
        return END_BLOCKS;
    if (run->ended != SUNDEW_SCHEDULE_RUNNING && run->ended != SUNDEW_SCHEDULE_ENDED)
        return END_UNCLEAR;
    if (f->kind == FAILURE_SIGNAL || f->kind == FAILURE_STACK_OVERFLOW ||
        f->kind == FAILURE_ABORT || f->kind == FAILURE_ASSERTION || f->kind == FAILURE_SANITIZER)
        return END_FAILS;
    return failure_is(f) ? END_UNCLEAR : END_WELL;
}

static SearchVerdict judge(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Probe *p = arg;
    End end = end_of(run);
    if (end == END_FAILS || end == END_BLOCKS) {
        p->end = end;
        p->preemptions = run->preemptions;
        failure_copy(&p->failure, &run->result.failure);
        schedule_copy(&p->schedule, schedule);
        return SEARCH_STOP;
    }
    exec_put_threads(p->stage->exec, &p->request, NULL);
    bool nothing = p->result.systematic > NOTHING_SHARED && !p->result.hot;
    return nothing ? SEARCH_STOP : SEARCH_GO_ON;
}

static void probe_release(Probe *p)
{
    failure_release(&p->failure);
    schedule_release(&p->schedule);
    arena_release(&p->arena);
}

static bool explore(Threads *x, SideOf which, const Test *t, size_t most, unsigned bound,
                    Probe *out, Err *err)
{
    *out = (Probe){ .stage = &x->side[which] };
    ExecThreads *r = &out->request;
    *r = (ExecThreads){ .mode = EXEC_AT_ONCE, .prefix = t->prefix->n };
    for (int i = 0; i < 2; i++) {
        r->threads[i] =
            which == SIDE_CANDIDATE ? t->both[i] : translate(x->p, &out->arena, t->both[i]);
        if (!r->threads[i])
            return err_set(err, "a call without a counterpart");
    }
    SearchPlan plan = { .most = most, .bound = bound, .seed = rng_next(&x->rng) };
    return exec_put_threads(out->stage->exec, r, err) &&
           schedule_search(out->stage->scheduler, &plan, judge, out, &out->result, err);
}

/* ---- differences */

static bool is_known(const Pair *p, const Difference *d)
{
    for (size_t i = 0; i < p->found.len; i++) {
        const Difference *o = &p->found.items[i];
        if (o->threads && o->how.kind == d->how.kind &&
            (o->function == d->function ||
             o->seq->steps[o->seq->n - 2].f == d->seq->steps[d->seq->n - 2].f))
            return true;
    }
    return false;
}

static const char *draw(Threads *x, const Probe *bad)
{
    ScheduleRun run = { 0 };
    Str text = { 0 };
    exec_put_threads(bad->stage->exec, &bad->request, NULL);
    if (scheduler_run(bad->stage->scheduler, &bad->schedule, &run, NULL))
        schedule_draw(bad->stage->scheduler, &run, 60, &text);
    schedule_run_release(&run);
    const char *out = arena_strdup(&x->p->arena, str_c(&text));
    str_release(&text);
    return out;
}

static void note(Threads *x, const Test *t, const Probe *bad)
{
    Pair *p = x->p;
    bool blocks = bad->end == END_BLOCKS;
    Seq *s = serial(&p->arena, t, 0);
    Difference d = { .function = s->steps[s->n - 1].f->index,
                     .seq = s,
                     .seen = 1,
                     .threads = true,
                     .bounded = true,
                     .cause = CAUSE_SYNCHRONISATION };
    d.how = (Divergence){ .kind = blocks ? DIFFERENCE_DEADLOCK : DIFFERENCE_CRASH,
                          .step = s->n - 1,
                          .place = API_RETURNED,
                          .first = -1 };
    if (is_known(p, &d))
        return;
    Str text = { 0 };
    failure_describe(&bad->failure, &text);
    d.reference_did = arena_printf(&p->arena, "ends in all orders with up to %u preemptions",
                                   bad->preemptions + 1);
    d.candidate_did = blocks
                          ? arena_printf(&p->arena, "blocks together with %s",
                                         p->calls[s->steps[s->n - 2].f->index].name)
                          : arena_printf(&p->arena, "fails together with %s: %s",
                                         p->calls[s->steps[s->n - 2].f->index].name, str_c(&text));
    d.mapping = pair_mapping(p, s);
    d.accepted = accepted_reason(p->all, p, &d);
    d.interleaving = draw(x, bad);
    vec_push(&p->found, d);
    str_release(&text);
}

static bool run_test(Threads *x, Arena *a, const Test *t, Err *err)
{
    Pair *p = x->p;
    Probe bad, good;
    bool sound;
    if (!is_sound(p, a, t, &sound, err) || !sound)
        return err ? !*err->msg : true;
    p->concurrent++;
    bool ok = explore(x, SIDE_CANDIDATE, t, x->most, 0, &bad, err);
    if (ok && bad.end) {
        /* the reference: one preemption more, and no failure of any kind */
        ok = explore(x, SIDE_REFERENCE, t, REFERENCE_TIMES * x->most, bad.preemptions + 1, &good,
                     err);
        bool complete = ok && !good.end && !good.result.inconclusive &&
                        good.result.complete >= bad.preemptions + 1;
        if (complete)
            note(x, t, &bad);
        else if (ok && !good.end)
            p->inconclusive++;
        p->bounded += complete;
        probe_release(&good);
    }
    p->inconclusive += ok && bad.result.inconclusive > 0;
    probe_release(&bad);
    return ok;
}

static bool run_functions(Threads *x, const ApiFunction *f, const ApiFunction *g, Err *err)
{
    bool ok = true;
    for (int i = 0; ok && i < TESTS_OF_PAIR && !session_interrupted(x->p->all->s); i++) {
        Arena a = { 0 };
        Test t;
        if (make_test(x, &a, f, g, &t))
            ok = run_test(x, &a, &t, err);
        arena_release(&a);
    }
    return ok;
}

static bool run_all(Threads *x, Err *err)
{
    const Api *api = x->p->side[SIDE_CANDIDATE].api;
    bool ok = true;
    for (size_t i = 0; ok && i < api->nfunctions; i++)
        for (size_t k = i; ok && k < api->nfunctions; k++)
            if (may_share(x->p, &api->functions[i]) && may_share(x->p, &api->functions[k]))
                ok = run_functions(x, &api->functions[i], &api->functions[k], err);
    return ok;
}

bool pair_concurrent(Pair *p, Err *err)
{
    Threads x = { .p = p, .rng = rng_seeded(rng_next(&p->rng)), .grow = p->grow };
    Err why = { 0 };
    bool ok = true;
    x.grow.rng = &x.rng;
    x.most = strtoul(session_option(p->all->s, "schedules"), NULL, 10);
    if (p->side[0].own || p->side[1].own)
        strings_addf(&p->notes, "not from two threads: a library was not captured");
    else if (open_stage(&x, SIDE_REFERENCE, &why) && open_stage(&x, SIDE_CANDIDATE, &why))
        ok = run_all(&x, err);
    else
        strings_addf(&p->notes, "not from two threads: %s", why.msg);
    for (int i = 0; i < NSIDES; i++)
        close_stage(&x.side[i]);
    return ok;
}
