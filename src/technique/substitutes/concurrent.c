/*
 * Two threads, one call each, on an object that a test has made; then calls that ask for its state.
 *
 * The prefix is a test that both sides end alike; the calls use its objects and make none.
 * If a serial order of the two fails or differs, the problem is not one of threads. Else the
 * candidate runs in many orders (engine/schedule/). If one fails or blocks, or gives an output that
 * no serial order gives, the candidate is searched again for the fewest preemptions that show it.
 * Then the reference runs in all orders with one more preemption. A failure of any kind there, the
 * same output, or orders that could not be run: nothing is reported.
 */
#include "base/escape.h"
#include "engine/schedule/schedule.h"
#include "technique/substitutes/substitutes_int.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TESTS_OF_PAIR = 2,
    TRIES = 12,
    REFERENCE_TIMES = 10,
    NOTHING_SHARED = 30,
    GUARANTEED = 2,              /* preemptions up to which a search can be complete */
};

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
    const Seq *looks;            /* the prefix and calls that ask for the state */
    Map serial;                  /* outputs of the serial orders */
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

static void repeat_step(Arena *a, Seq *s, const SeqStep *step)
{
    SeqStep *st = seq_call(a, s, step->f);
    memcpy(st->args, step->args, step->nargs * sizeof *st->args);
}

static bool answers(const ApiFunction *f)
{
    const Type *t = f->result.type ? type_plain(f->result.type) : NULL;
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].role != ROLE_HANDLE)
            return false;
    return t && t->kind != TYPE_VOID;
}

/* Calls that ask the prefix's objects what state they are in. */
static const Seq *with_looks(Threads *x, Arena *a, const Seq *prefix)
{
    enum { MOST = 4 };
    const Api *api = x->p->side[SIDE_CANDIDATE].api;
    Seq *out = seq_copy(a, prefix);
    for (size_t i = 0; i < api->nfunctions && out->n < prefix->n + MOST; i++) {
        const ApiFunction *f = &api->functions[i];
        const Seq *one = may_share(x->p, f) && answers(f) ? with_call(x, a, prefix, f) : NULL;
        if (one)
            repeat_step(a, out, &one->steps[prefix->n]);
    }
    return out;
}

static bool make_test(Threads *x, Arena *a, const ApiFunction *f, const ApiFunction *g, Test *out)
{
    Pair *p = x->p;
    for (int i = 0; i < TRIES && p->agreed.len; i++) {
        out->prefix = p->agreed.items[rng_below(&x->rng, p->agreed.len)];
        out->both[0] = with_call(x, a, out->prefix, f);
        out->both[1] = out->both[0] ? with_call(x, a, out->prefix, g) : NULL;
        if (out->both[1]) {
            out->looks = with_looks(x, a, out->prefix);
            return true;
        }
    }
    return false;
}

/* One thread after the other, in one sequence. */
static Seq *serial(Arena *a, const Test *t, int first)
{
    Seq *s = seq_copy(a, t->both[first]);
    repeat_step(a, s, &t->both[!first]->steps[t->prefix->n]);
    return s;
}

static Seq *serial_with_looks(Arena *a, const Test *t, int first)
{
    Seq *s = serial(a, t, first);
    for (unsigned i = t->prefix->n; i < t->looks->n; i++)
        repeat_step(a, s, &t->looks->steps[i]);
    return s;
}

/* ---- outputs */

static void add_value(const Observation *b, Str *out)
{
    switch (b->kind) {
    case OBSERVED_INTEGER:
    case OBSERVED_ERRNO_IS:
    case OBSERVED_CALLBACKS_ARE: str_addf(out, "%" PRId64, (int64_t)b->integer); break;
    case OBSERVED_FLOAT: str_addf(out, "%.9g", b->real); break;
    case OBSERVED_NULL: str_add(out, "NULL"); break;
    case OBSERVED_STRING:
    case OBSERVED_BYTES:
    case OBSERVED_LONG:
        str_addc(out, '"');
        escape_c_string(out, (const char *)b->bytes, b->n);
        str_addc(out, '"');
        break;
    case OBSERVED_HANDLE:
    case OBSERVED_SAME:
    case OBSERVED_UNREADABLE: str_add(out, "a pointer"); break;
    }
}

/* What came out of one call, in words; no addresses. */
static void add_output(const Pair *p, const char *who, const ApiFunction *f, const Outcome *o,
                       unsigned step, Str *out)
{
    const CallMap *c = &p->calls[f->index];
    for (size_t i = 0; i < o->nobs && c->common && !c->ignored; i++) {
        const Observation *b = &o->obs[i];
        if (b->step != step || (b->place < API_RETURNED && b->place != OBSERVED_CALLBACKS))
            continue;
        str_addf(out, "%s%s%s ", out->len ? ", " : "", who, c->name);
        if (b->place == API_RETURNED)
            str_add(out, "returns ");
        else
            str_addf(out, "gives at %d ", b->place);
        add_value(b, out);
    }
}

/* `at` has the outcome and the step of each thread's call; then the looks, from `first` on. */
static char *output_of(const Pair *p, const Test *t, const Outcome *const at[2],
                       const unsigned step[2], const Outcome *looks, unsigned first)
{
    Str out = { 0 };
    unsigned n = t->prefix->n;
    for (int i = 0; i < 2; i++)
        add_output(p, i ? "T2 " : "T1 ", t->both[i]->steps[n].f, at[i], step[i], &out);
    for (unsigned i = n; i < t->looks->n; i++)
        add_output(p, "then ", t->looks->steps[i].f, looks, first + i - n, &out);
    return str_take(&out);
}

/* Do both serial orders end, alike on both sides? */
static bool is_sound(Pair *p, Arena *a, Test *t, bool *out, Err *err)
{
    unsigned n = t->prefix->n;
    *out = true;
    for (int i = 0; i < 2 && *out; i++) {
        Outcome both[NSIDES] = { 0 };
        Divergence how;
        bool differs;
        if (!oracle_try(p, a, serial_with_looks(a, t, i), 0, 0, both, &differs, &how, err))
            return false;
        *out = !differs && both[0].state == OUTCOME_DONE && both[1].state == OUTCOME_DONE;
        if (*out) {
            const Outcome *o = &both[SIDE_CANDIDATE], *at[2] = { o, o };
            unsigned step[2] = { i ? n + 1 : n, i ? n : n + 1 };
            char *key = output_of(p, t, at, step, o, n + 2);
            map_put(&t->serial, key, NULL);
            free(key);
        }
    }
    return true;
}

/* ---- orders */

typedef enum { END_WELL, END_UNCLEAR, END_FAILS, END_BLOCKS, END_DIFFERS } End;

typedef struct Probe {
    Threads *x;
    const Test *test;
    Stage *stage;
    Arena arena;
    ExecThreads request;
    End wanted;                  /* only this end counts; END_WELL: any that is not good */
    const char *output;          /* … END_DIFFERS: only this one; of the first that was found */
    bool all;                    /* outputs are collected and none of them is bad */
    Map outputs;
    bool puzzling;               /* without a preemption it gave what no serial order gives */
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

/* What a run that went well gave. */
static char *output_of_run(Probe *p)
{
    Arena a = { 0 };
    unsigned n = p->test->prefix->n;
    Outcome around = { 0 }, threads[EXEC_MOST_THREADS] = { 0 };
    exec_take_threads(p->stage->exec, &a, &p->request, &around, threads);
    bool done = around.state == OUTCOME_DONE && threads[0].state == OUTCOME_DONE &&
                threads[1].state == OUTCOME_DONE;
    char *key = done ? output_of(p->x->p, p->test, (const Outcome *[]){ &threads[0], &threads[1] },
                                 (unsigned[]){ n, n }, &around, n)
                     : NULL;
    arena_release(&a);
    return key;
}

/* An output that no serial order gives? */
static End end_with_output(Probe *p, const ScheduleRun *run)
{
    char *key = p->x->p->all->crash_only ? NULL : output_of_run(p);
    bool odd = key && !map_has(&p->test->serial, key);
    if (odd && p->all)
        map_put(&p->outputs, key, NULL);
    if (odd && !run->preemptions && !p->all)
        p->puzzling = true;
    odd = odd && !p->all && !p->puzzling && (!p->output || strcmp(p->output, key) == 0);
    if (odd && !p->output)
        p->output = arena_strdup(&p->arena, key);
    free(key);
    return odd ? END_DIFFERS : END_WELL;
}

static SearchVerdict judge(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Probe *p = arg;
    End end = end_of(run);
    if (end == END_WELL)
        end = end_with_output(p, run);
    if (end > END_UNCLEAR && (p->wanted == END_WELL || p->wanted == end)) {
        p->end = end;
        p->preemptions = run->preemptions;
        failure_copy(&p->failure, &run->result.failure);
        schedule_copy(&p->schedule, schedule);
        return SEARCH_STOP;
    }
    exec_put_threads(p->stage->exec, &p->request, NULL);
    bool nothing = p->result.systematic > NOTHING_SHARED && !p->result.hot;
    return nothing || p->puzzling ? SEARCH_STOP : SEARCH_GO_ON;
}

static void probe_release(Probe *p)
{
    failure_release(&p->failure);
    schedule_release(&p->schedule);
    map_release(&p->outputs);
    arena_release(&p->arena);
}

/* `out` says what is looked for. */
static bool explore(Threads *x, SideOf which, const Test *t, const SearchPlan *plan, Probe *out,
                    Err *err)
{
    out->x = x;
    out->test = t;
    out->stage = &x->side[which];
    ExecThreads *r = &out->request;
    *r = (ExecThreads){ .mode = EXEC_AT_ONCE, .prefix = t->prefix->n };
    for (int i = 0; i < 2; i++) {
        r->threads[i] =
            which == SIDE_CANDIDATE ? t->both[i] : translate(x->p, &out->arena, t->both[i]);
        if (!r->threads[i])
            return err_set(err, "a call without a counterpart");
    }
    r->epilogue = which == SIDE_CANDIDATE ? t->looks : translate(x->p, &out->arena, t->looks);
    return r->epilogue
               ? exec_put_threads(out->stage->exec, r, err) &&
                     schedule_search(out->stage->scheduler, plan, judge, out, &out->result, err)
               : err_set(err, "a call without a counterpart");
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
    bool blocks = bad->end == END_BLOCKS, differs = bad->end == END_DIFFERS;
    Seq *s = serial(&p->arena, t, 0);
    Difference d = { .function = s->steps[s->n - 1].f->index,
                     .seq = s,
                     .seen = 1,
                     .threads = true,
                     .bounded = true,
                     .cause = CAUSE_SYNCHRONISATION };
    d.how = (Divergence){ .kind = blocks    ? DIFFERENCE_DEADLOCK
                                  : differs ? DIFFERENCE_OUTPUT
                                            : DIFFERENCE_CRASH,
                          .step = s->n - 1,
                          .place = API_RETURNED,
                          .first = -1 };
    if (is_known(p, &d))
        return;
    Str text = { 0 };
    failure_describe(&bad->failure, &text);
    unsigned most = bad->preemptions + 1 < GUARANTEED ? bad->preemptions + 1 : GUARANTEED;
    d.reference_did = arena_printf(&p->arena,
                                   differs ? "gives that in no order with up to %u preemptions"
                                           : "ends in all orders with up to %u preemptions",
                                   most);
    d.candidate_did =
        differs  ? arena_printf(&p->arena, "together with %s, as in no serial order: %s",
                                p->calls[s->steps[s->n - 2].f->index].name, bad->output)
        : blocks ? arena_printf(&p->arena, "blocks together with %s",
                                p->calls[s->steps[s->n - 2].f->index].name)
                 : arena_printf(&p->arena, "fails together with %s: %s",
                                p->calls[s->steps[s->n - 2].f->index].name, str_c(&text));
    d.mapping = pair_mapping(p, s);
    d.accepted = accepted_reason(p->all, p, &d);
    d.interleaving = draw(x, bad);
    vec_push(&p->found, d);
    str_release(&text);
}

/* A random run has many preemptions: which are needed? */
static bool find_fewest(Threads *x, const Test *t, Probe *bad, Err *err)
{
    Probe again = { .wanted = bad->end, .output = bad->output };
    SearchPlan plan = { .most = REFERENCE_TIMES * x->most,
                        .bound = GUARANTEED,
                        .seed = rng_next(&x->rng),
                        .points_of = &bad->schedule };
    bool ok = explore(x, SIDE_CANDIDATE, t, &plan, &again, err);
    if (ok && again.end == bad->end) {
        bad->preemptions = again.preemptions;
        schedule_release(&bad->schedule);
        schedule_copy(&bad->schedule, &again.schedule);
    }
    probe_release(&again);
    return ok;
}

/* The reference: one preemption more, all orders, no failure of any kind, not that output. */
static bool judge_reference(Threads *x, const Test *t, const Probe *bad, Err *err)
{
    Pair *p = x->p;
    unsigned need = bad->preemptions + 1 < GUARANTEED ? bad->preemptions + 1 : GUARANTEED;
    Probe good = { .all = true };
    SearchPlan plan = { .most = REFERENCE_TIMES * x->most,
                        .bound = need,
                        .seed = rng_next(&x->rng) };
    bool ok = explore(x, SIDE_REFERENCE, t, &plan, &good, err);
    bool complete = ok && !good.end && !good.result.inconclusive && good.result.complete > need &&
                    bad->preemptions <= GUARANTEED;
    bool same = bad->end == END_DIFFERS && map_has(&good.outputs, bad->output);
    if (complete && !same)
        note(x, t, bad);
    else if (ok && !good.end && !same)
        p->inconclusive++;
    p->bounded += complete && !same;
    probe_release(&good);
    return ok;
}

static bool run_test(Threads *x, Arena *a, Test *t, Err *err)
{
    Pair *p = x->p;
    bool sound;
    if (!is_sound(p, a, t, &sound, err) || !sound)
        return err ? !*err->msg : true;
    p->concurrent++;
    Probe bad = { 0 };
    SearchPlan plan = { .most = x->most, .seed = rng_next(&x->rng) };
    bool ok = explore(x, SIDE_CANDIDATE, t, &plan, &bad, err);
    if (ok && bad.end)
        ok = (bad.preemptions < GUARANTEED || find_fewest(x, t, &bad, err)) &&
             judge_reference(x, t, &bad, err);
    p->inconclusive += ok && (bad.result.inconclusive > 0 || bad.puzzling);
    probe_release(&bad);
    return ok;
}

static bool run_functions(Threads *x, const ApiFunction *f, const ApiFunction *g, Err *err)
{
    bool ok = true;
    for (int i = 0; ok && i < TESTS_OF_PAIR && !session_interrupted(x->p->all->s); i++) {
        Arena a = { 0 };
        Test t = { 0 };
        if (make_test(x, &a, f, g, &t))
            ok = run_test(x, &a, &t, err);
        map_release(&t.serial);
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
