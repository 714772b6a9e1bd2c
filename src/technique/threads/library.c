/*
 * A library: tests of its types from two threads that no serial order explains.
 *
 * In rounds (library_rounds.c), each type gets a prefix and some tests (library_tests.c). Each test is run
 * under many schedules; the oracle (library_oracle.c) sees each run. Pairs of functions
 * that touched the same memory in an earlier test are tested more. A test whose threads
 * never touch the same memory is left after a few runs.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/progress.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_EXPLAINED = 6,
    MOST_UNCLEAR = 4,            /* runs that wait for the system, or do not end */
    RACING = 4,                  /* a test with data races gets so many times the runs */
    FEW = 3,                     /* runs that show whether two threads meet at all */
    NATIVE = 6,                  /* runs without a scheduler, if they do not */
    MOST_AT_LOCKS = 40,
    DEFAULT_SECONDS = 60
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double lib_seconds(const Lib *l) { return now() - l->begun; }

bool lib_is_over(void *lib)
{
    Lib *l = lib;
    bool limited = session_time(l->s) > 0 || l->most;
    return session_interrupted(l->s) || (!limited && lib_seconds(l) > DEFAULT_SECONDS);
}

const char *contract_name(Contract c)
{
    static const char *const names[] = { "shared", "distinct", "const" };
    assert(c < NCONTRACTS);
    return names[c];
}

void lib_drop(Lib *l, const ApiFunction *f, const char *why)
{
    if (!lib_is_dropped(l, f))
        vec_push(&l->dropped, ((Dropped){ f, why }));
}

bool lib_is_dropped(const Lib *l, const ApiFunction *f)
{
    for (size_t i = 0; i < l->dropped.len; i++)
        if (l->dropped.items[i].function == f)
            return true;
    return false;
}

/* --------------------------------------------------------------- subjects */

/* Nothing that it is given is gone or exchanged afterwards. */
static bool may_share(const Lib *l, const ApiFunction *f)
{
    for (unsigned i = 0; i < f->nparams; i++) {
        ApiUse use = ownership_use(l->ownership, f, (int)i);
        if (use == USE_CONSUMES || use == USE_FINISHES || f->params[i].role == ROLE_STORAGE ||
            f->params[i].role == ROLE_HANDLE_INOUT)
            return false;
    }
    return !f->not_callable && !f->variadic;
}

static bool takes(const ApiFunction *f, const ApiType *t)
{
    bool any = false;
    for (unsigned i = 0; i < f->nparams; i++) {
        any |= f->params[i].role == ROLE_HANDLE;
        if (t && f->params[i].handle == t && f->params[i].role == ROLE_HANDLE)
            return true;
    }
    return !t && !any;
}

static bool is_asked(const Lib *l, const char *name)
{
    const char *type = session_option(l->s, "type");
    size_t n = type ? strlen(type) : 0, m = strlen(name);
    return !type || !strcmp(type, name) ||
           (m > n && !strcmp(name + m - n, type) && name[m - n - 1] == ' ');
}

/* Pairs of functions whose sets of fields and variables that they read and write do not
 * conflict are tested last. */
static void note_effects(Lib *l, Subject *t)
{
    size_t n = effects_variables(l->effects);
    t->hidden = arena_array(&l->arena, double, t->functions.len *n + 1);
    for (size_t i = 0; i < t->functions.len; i++)
        for (size_t k = 0; k < t->functions.len; k++) {
            const EffectSet *a = effects_of(l->effects, t->functions.items[i]->fn),
                            *b = effects_of(l->effects, t->functions.items[k]->fn);
            vec_push(&t->may_meet, effects_meet(a, b));
            effects_meet_apart(l->effects, a, b, t->hidden + i * n);
        }
}

static bool any_sets_up(const Lib *l, const Subject *t)
{
    for (size_t i = 0; i < t->functions.len; i++)
        if (lib_sets_up(l, t->functions.items[i]))
            return true;
    return false;
}

static void add_subject(Lib *l, const ApiType *type)
{
    Subject t = { .type = type, .name = type ? type->name : "the library" };
    if (!is_asked(l, t.name))
        return;
    for (size_t i = 0; i < l->api->nfunctions; i++) {
        const ApiFunction *f = &l->api->functions[i];
        if (!may_share(l, f) || !takes(f, type))
            continue;
        if (effects_installs(l->effects, f->fn))
            lib_drop(l, f, "it installs a function for the whole library");
        else
            vec_push(&t.functions, f);
    }
    if (!type && !t.functions.len)
        return;
    if (type && !type->ncreators)
        t.why_not = "no function makes one";
    else if (!t.functions.len)
        t.why_not = "no function uses one and leaves it alive";
    else if (!type && !l->contracts[CONTRACT_DISTINCT] &&
             !(l->contracts[CONTRACT_SHARED] && any_sets_up(l, &t)))
        t.why_not = "its functions take no handle, so only the contract distinct has tests of them";
    note_effects(l, &t);
    for (size_t i = 0; i < t.functions.len * t.functions.len; i++) {
        vec_push(&t.pairs, 0);
        vec_push(&t.conflicts, 0);
    }
    vec_push(&l->subjects, t);
}

static bool find_subjects(Lib *l, Err *err)
{
    for (size_t i = 0; i < l->api->ntypes; i++) {
        if (!lib_learn_destroyers(l, &l->api->types[i], err))
            return false;
        add_subject(l, &l->api->types[i]);
    }
    add_subject(l, NULL);
    size_t good = 0;
    for (size_t i = 0; i < l->subjects.len; i++)
        good += !l->subjects.items[i].why_not;
    if (good)
        return true;
    const char *type = session_option(l->s, "type");
    if (type && !l->subjects.len)
        return err_set(err, "--type %s: the header has no such type", type);
    if (l->subjects.len)
        return err_set(err, "%s can't be tested: %s", l->subjects.items[0].name,
                       l->subjects.items[0].why_not);
    return err_set(err, "the header has no function that can be called");
}

/* ------------------------------------------------------------------- tests */

/* One test under search. */
typedef struct Probe {
    Lib *l;
    Subject *subject;
    const Test *test;
    Arena *arena;
    Arena run;                   /* of one run */
    ExecThreads request;
    Serials serials;
    SearchResult result;
    size_t number;               /* in its unit, from 0 */
    unsigned explained, unclear, runs;
    size_t races;                /* seen in its runs */
    bool meet;                   /* both threads use a lock, or the like */
    bool locks;                  /* … two of them, or an atomic */
    bool over;                   /* a violation was found at locks, or nothing can be */
    bool shown;                  /* a violation was found */
    bool kinds[NVIOLATIONS];     /* of what kinds */
} Probe;

void lib_note_violation(Lib *l, const Test *t, Violation *v, const Schedule *schedule)
{
    v->test = *t;
    l->shown++;
    for (size_t i = 0; i < l->found.len; i++)
        if (violation_same(&l->found.items[i], v)) {
            l->found.items[i].seen++;
            violation_release(v);
            return;
        }
    v->test = lib_test_copy(&l->arena, t);
    v->folder = l->again ? xstrdup(l->again) : NULL;
    v->seen = 1;
    schedule_copy(&v->schedule, schedule);
    vec_push(&l->found, *v);
}

static bool same_line(const Lib *l, uint32_t a, uint32_t b)
{
    const ScheduleSite *x = scheduler_site(l->quick, a), *y = scheduler_site(l->quick, b);
    return x && y && x->line == y->line && !strcmp(x->file, y->file);
}

/* In a unit it is news; else it is told at once. */
static void note_violation(Probe *p, Violation *v, const Schedule *schedule)
{
    Lib *l = p->l;
    if (l->unit) {
        Hit h = { .test = p->number, .seconds = lib_seconds(l), .native = p->test->native };
        schedule_copy(&h.schedule, schedule);
        vec_push(&l->hits, h);
        violation_release(v);
        return;
    }
    v->test_number = l->tests;
    v->seconds = lib_seconds(l);
    lib_note_violation(l, p->test, v, schedule);
}

void lib_note_race(Lib *l, const struct sundew_race *r, size_t seen)
{
    for (size_t i = 0; i < l->races.len; i++) {
        const struct sundew_race *old = &l->races.items[i].race;
        if ((same_line(l, old->first.site, r->first.site) &&
             same_line(l, old->second.site, r->second.site)) ||
            (same_line(l, old->first.site, r->second.site) &&
             same_line(l, old->second.site, r->first.site))) {
            l->races.items[i].seen += seen;
            return;
        }
    }
    vec_push(&l->races, ((RaceSeen){ *r, seen }));
}

/* Do both threads use the same locks? One alone can't make them wait for each other. */
static void note_locks(Probe *p, const ScheduleRun *run)
{
    uint64_t first = 0;
    for (size_t i = 0; i < run->steps.len; i++) {
        const struct sundew_step *x = &run->steps.items[i];
        if (x->thread != 1 || !x->object || x->kind < SUNDEW_AT_ATOMIC ||
            x->kind >= SUNDEW_AT_CREATE)
            continue;
        for (size_t k = 0; k < run->steps.len; k++) {
            const struct sundew_step *y = &run->steps.items[k];
            if (y->thread != 2 || y->object != x->object || y->kind < SUNDEW_AT_ATOMIC)
                continue;
            p->meet = true;
            if (x->kind == SUNDEW_AT_ATOMIC || (first && first != x->object)) {
                p->locks = true;
                return;
            }
            first = x->object;
        }
    }
}

static bool is_access(const struct sundew_step *e)
{
    return e->object && e->kind >= SUNDEW_AT_READ && e->kind < SUNDEW_AT_CREATE &&
           e->kind != SUNDEW_AT_UNLOCK;
}

/* Pairs of places at which the threads came to the same memory or lock, one after the other:
 * what was covered. */
static void note_met(Probe *p, const ScheduleRun *run)
{
    enum { MOST_STEPS = 2000 };
    for (size_t i = 1; i < run->steps.len && i < MOST_STEPS; i++) {
        const struct sundew_step *e = &run->steps.items[i], *last = e;
        for (size_t k = i; is_access(e) && k-- > 0 && last == e;)
            if (is_access(&run->steps.items[k]) && run->steps.items[k].object == e->object)
                last = &run->steps.items[k];
        if (last->thread == e->thread ||
            (last->kind == SUNDEW_AT_READ && e->kind == SUNDEW_AT_READ))
            continue;
        char key[64];
        snprintf(key, sizeof key, "%zu %u %u", (size_t)(p->subject - p->l->subjects.items),
                 last->site, e->site);
        map_put(&p->l->new_met, key, NULL);
    }
}

/* The threads do not touch the same memory, the test fails in serial orders, too, or it has no
 * end that could be judged. */
static bool is_hopeless(const Probe *p)
{
    return (p->result.systematic > 1 && !p->result.hot && !p->locks) ||
           p->explained > MOST_EXPLAINED || p->unclear > MOST_UNCLEAR;
}

/* Lost memory or a wrong result may come with a crash in another order, so the search goes on. */
static bool is_worst(const Violation *v)
{
    return v->kind == VIOLATION_FAILURE || v->kind == VIOLATION_EXIT ||
           v->kind == VIOLATION_DEADLOCK;
}

static SearchVerdict judge(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Probe *p = arg;
    Lib *l = p->l;
    End end;
    Violation v;
    l->runs++;
    p->subject->runs++;
    oracle_take(l, &p->run, p->test, &p->request, run, &end);
    bool found = oracle_judge(l, p->arena, p->test, &p->serials, run, &end, &v, NULL);
    p->runs++;
    p->races += run->races.len;
    if (!p->locks)
        note_locks(p, run);
    note_met(p, run);
    p->explained += !found && (end.kind == END_FAILURE || end.kind == END_STUCK);
    p->unclear += end.kind == END_UNCLEAR;
    p->subject->inconclusive += end.kind == END_UNCLEAR;
    p->shown |= found;
    bool worst = found && is_worst(&v), new = found && !p->kinds[v.kind];
    if (found)
        p->kinds[v.kind] = true;
    if (new)
        note_violation(p, &v, schedule);
    else
        violation_release(&v);
    for (size_t i = 0; i < run->races.len; i++)
        lib_note_race(l, &run->races.items[i], 1);
    end_release(&end);
    arena_release(&p->run);
    p->run = (Arena){ 0 };
    oracle_put(l, p->arena, p->test, &p->request);
    return worst || is_hopeless(p) ? SEARCH_STOP : SEARCH_GO_ON;
}

/* --- at locks first */

typedef Vec(Schedule) Schedules;

/* All schedules that take the turn away at one more decision of this run. */
static void branch(const Schedule *from, const ScheduleRun *run, Schedules *out)
{
    uint32_t first = from->forces.len ? from->forces.items[from->forces.len - 1].decision + 1 : 0;
    for (size_t i = 0; i < run->steps.len && out->len < MOST_AT_LOCKS; i++) {
        const struct sundew_step *e = &run->steps.items[i];
        for (unsigned t = 1; t < 3 && t < run->nthreads; t++) {
            if (!(e->flags & SUNDEW_STEP_DECISION) || e->decision < first || t == e->chosen ||
                !e->thread || !(e->enabled >> t & 1))
                continue;
            Schedule s = { 0 };
            schedule_copy(&s, from);
            vec_push(&s.forces, ((struct sundew_force){ e->decision, t }));
            vec_push(out, s);
        }
    }
}

/* Schedules in which only locks and the like are points: they are few, and most
 * calls that are not one step show there. */
static bool search_locks(Probe *p, Err *err)
{
    Schedules queue = { 0 };
    ScheduleRun run = { 0 };
    bool ok = true, stop = false;
    vec_push(&queue, (Schedule){ 0 });
    for (size_t i = 0; ok && !stop && i < queue.len && i < MOST_AT_LOCKS && (i < FEW || p->meet) &&
                       !lib_is_over(p->l);
         i++) {
        Schedule now = { 0 };
        schedule_copy(&now, &queue.items[i]);
        ok = scheduler_run(p->l->quick, &now, &run, err);
        stop = ok && judge(&now, &run, p) == SEARCH_STOP;
        if (ok && !stop)
            branch(&now, &run, &queue);
        schedule_release(&now);
    }
    p->over = stop;
    for (size_t i = 0; i < queue.len; i++)
        schedule_release(&queue.items[i]);
    vec_release(&queue);
    schedule_run_release(&run);
    return ok;
}

static void note_conflict(Subject *t, const Test *test)
{
    size_t n = t->functions.len, at[2] = { 0, 0 };
    for (unsigned k = 0; k < 2; k++)
        while (at[k] < n && t->functions.items[at[k]] != test->calls[k][0].f)
            at[k]++;
    assert(at[0] < n && at[1] < n);
    size_t i = at[0] < at[1] ? at[0] : at[1], j = at[0] < at[1] ? at[1] : at[0];
    t->conflicts.items[i * n + j]++;
}

/* Without a data race it is enough to take turns at locks: other schedules give nothing
 * new. One test in eight is searched all the same, as few orders were looked at. */
static bool is_settled(const Probe *p)
{
    return p->meet && !p->locks && !p->races && p->number % 8 != 7;
}

/* Memory that only assembly or uncaptured code touches, and locks that are none of pthread's,
 * are not seen. So threads that were not seen to meet run without a scheduler, too; a run
 * with a limit of ours ends it. */
static bool run_native(Probe *p, Err *err)
{
    static const Schedule none;
    Test test = *p->test;
    ScheduleRun run = { 0 };
    bool ok = true, over = false;
    test.native = true;
    p->test = &test;
    for (unsigned i = 0; ok && !over && i < NATIVE && !lib_is_over(p->l); i++) {
        End end = { 0 };
        Violation v = { 0 };
        ok = oracle_run(p->l, p->l->quick, p->arena, &test, &none, &run, &end, err);
        bool found = ok && oracle_judge(p->l, p->arena, &test, &p->serials, &run, &end, &v, err);
        over = found || end.kind == END_UNCLEAR;
        if (found)
            note_violation(p, &v, &none);
        else
            violation_release(&v);
        end_release(&end);
    }
    schedule_run_release(&run);
    return ok;
}

bool lib_test_run(Lib *l, Subject *t, Arena *a, const Test *test, size_t number, size_t most,
                  Err *err)
{
    Probe p = { .l = l, .subject = t, .test = test, .arena = a, .number = number };
    SearchPlan plan = {
        .most = most,
        .seed = rng_next(&l->rng),
        .stop = lib_is_over,
        .stop_arg = l,
        .first_thread = 1,               /* T0 is the player */
    };
    l->tests++;
    t->tests++;
    t->of_contract[test->contract]++;
    bool ok = oracle_put(l, a, test, &p.request) && search_locks(&p, err);
    plan.most *= p.races ? RACING : 1;
    ok = ok &&
         (p.over || is_settled(&p) || schedule_search(l->quick, &plan, judge, &p, &p.result, err));
    if (ok && !p.over && !p.shown && !p.meet && !p.result.hot)
        ok = run_native(&p, err);
    if (session_verbose(l->s)) {
        Str text = { 0 };
        lib_test_print(test, &text);
        session_note(l->s, "test %zu: %u runs, %zu sites, %u explained, %u serial\n%s", l->tests,
                     p.runs, p.result.hot, p.explained, p.serials.n, str_c(&text));
        str_release(&text);
    }
    if (l->unit && (p.result.hot || p.meet))
        note_conflict(t, test);
    serials_release(&p.serials);
    return ok;
}

/* --------------------------------------------------------------- promises */

void lib_flatten(const char *text, size_t n, Str *out)
{
    for (const char *end = text + n; text < end; text++) {
        bool blank = *text == '*' || isspace((unsigned char)*text);
        if (!blank || (out->len && out->data[out->len - 1] != ' '))
            str_addc(out, blank ? ' ' : (char)tolower((unsigned char)*text));
    }
}

/* "Not" stands right before it. */
static bool is_denied(const char *text, const char *at)
{
    size_t before = (size_t)(at - text);
    char part[16];
    snprintf(part, sizeof part, "%.*s", (int)(before < 12 ? before : 12),
             before < 12 ? text : at - 12);
    return strstr(part, "not ") || strstr(part, "n't");
}

/* Does a text promise that threads may use the library, and that they may share a handle? "Thread-safe"
 * alone does; many headers say it, and then that each object belongs to one thread. */
static void read_text(Lib *l, const char *text)
{
    static const char *const words[] = { "thread-safe",     "thread safe",     "threadsafe",
                                         "mt-safe",         "several threads", "any thread",
                                         "multiple threads" };
    static const char *const but[] = { "single thread",   "one thread at a time", "never share",
                                       "not share",       "not be shared",        "n't share",
                                       "must synchronize" };
    Str low = { 0 };
    bool found = false;
    lib_flatten(text, strlen(text), &low);
    for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++) {
        const char *at = strstr(str_c(&low), words[i]);
        found = at && !is_denied(str_c(&low), at);
    }
    l->library_promised |= found;
    for (size_t i = 0; i < sizeof but / sizeof *but && found; i++)
        found = !strstr(str_c(&low), but[i]);
    l->promised |= found;
    str_release(&low);
}

static void read_promise(Lib *l, const char *path)
{
    Str text = { 0 };
    if (file_read(path, &text, NULL))
        read_text(l, str_c(&text));
    str_release(&text);
}

/* In the headers, or in a comment of sundew.handles. */
static void read_promises(Lib *l)
{
    char *handles = path_join(session_root(l->s), "sundew.handles");
    for (char **h = session_option_all(l->s, "headers"); h && *h; h++)
        read_promise(l, *h);
    read_promise(l, handles);
    free(handles);
}

/* -------------------------------------------------------------------- open */

static bool read_contracts(Lib *l, Err *err)
{
    char **asked = session_option_all(l->s, "contract");
    for (unsigned c = 0; c < NCONTRACTS; c++)
        l->contracts[c] = !asked || !*asked;
    for (; asked && *asked; asked++) {
        unsigned c = 0;
        while (c < NCONTRACTS && strcmp(*asked, contract_name((Contract)c)) != 0)
            c++;
        if (c == NCONTRACTS)
            return err_set(err, "--contract %s: shared, distinct or const", *asked);
        l->contracts[c] = true;
    }
    return true;
}

/* A header that needs another one before it is common, so the search goes on with what clang
 * made of it. */
static void check_headers(const Lib *l)
{
    Err why = { 0 };
    if (!api_headers_parse(session_option_all(l->s, "headers"), session_option_all(l->s, "cflags"),
                           &why))
        session_note(l->s, "%s; functions that it names are tested all the same", why.msg);
}

static bool open_api(Lib *l, Err *err)
{
    if (!session_need(l->s, NEEDS_API, err))
        return false;
    check_headers(l);
    l->program = session_program(l->s);
    l->api = session_api(l->s);
    if (!program_captured(l->program))
        return err_set(err, "the library has no captured code");
    if (!l->replays && !lib_learn_example(l, err))
        return false;
    l->pool = pool_new(l->api, err);
    l->ownership = l->pool ? ownership_new(l->api) : NULL;
    l->grow =
        (GrowPlan){ .api = l->api, .pool = l->pool, .ownership = l->ownership, .rng = &l->rng };
    if (l->pool)
        lib_use_example(l);
    lib_read_comments(l);
    return l->pool != NULL;
}

static bool open_schedulers(Lib *l, Err *err)
{
    l->argv[0] = (char *)exec_player(l->exec);
    l->argv[1] = (char *)exec_library(l->exec);
    SchedulerPlan plan = { .build = &l->build,
                           .argv = l->argv,
                           .player = exec_player(l->exec),
                           .fd = { exec_shared(l->exec), exec_shared_as() },
                           .preload = l->preload,
                           .racing = true,
                           .quick = true,
                           .idle = 0.5,
                           .most_points = 50000 };
    l->quick = scheduler_open(&plan, err);
    plan.quick = false;
    l->watched = l->quick ? scheduler_open(&plan, err) : NULL;
    return l->watched != NULL;
}

static bool open_library(Lib *l, Err *err)
{
    bool strict = !session_flag(l->s, "no-sanitizers");
    if (!build_schedule_library(l->program, session_calls(l->s), session_libexec(l->s), strict,
                                session_option_all(l->s, "link"), &l->build, &l->preload, err))
        return false;
    if (!l->preload && strict)
        session_note(l->s, "without the address sanitizer: clang's is not installed");
    return lib_open_player(l, err);
}

bool lib_open_player(Lib *l, Err *err)
{
    ExecPlan plan = { .api = l->api,
                      .library = l->build.path,
                      .libexec = session_libexec(l->s),
                      .preload = l->preload,
                      .fixed_addresses = true,
                      .files = l->files,
                      .nfiles = l->nfiles,
                      .cpu_ms = LIB_CPU_MS,
                      .wall_ms = 5000 };
    l->exec = exec_open(&plan, err);
    plan.fixed_addresses = false;
    l->moved = l->exec ? exec_open(&plan, err) : NULL;
    return l->moved && open_schedulers(l, err);
}

void lib_close_player(Lib *l)
{
    scheduler_close(l->quick);
    scheduler_close(l->watched);
    exec_close(l->exec);
    exec_close(l->moved);
}

void lib_close(Lib *l)
{
    lib_close_player(l);
    schedule_build_release(&l->build);
    for (size_t i = 0; i < l->found.len; i++)
        violation_release(&l->found.items[i]);
    for (size_t i = 0; i < l->subjects.len; i++) {
        vec_release(&l->subjects.items[i].functions);
        vec_release(&l->subjects.items[i].pairs);
        vec_release(&l->subjects.items[i].conflicts);
        vec_release(&l->subjects.items[i].may_meet);
    }
    vec_release(&l->found);
    vec_release(&l->subjects);
    vec_release(&l->dropped);
    vec_release(&l->races);
    effects_free(l->effects);
    map_release(&l->tried);
    map_release(&l->disturbed);
    map_release(&l->met);
    map_release(&l->new_met);
    usage_free(l->usage);
    ownership_free(l->ownership);
    pool_free(l->pool);
    arena_release(&l->arena);
    json_decref(l->violations);
    free(l->preload);
    free(l->out);
}

/* --------------------------------------------------------------------- run */

/* The next number that no kept test has. */
static char *free_folder(const Lib *l)
{
    for (size_t n = 1;; n++) {
        char *folder = xprintf("%s/%zu", l->out, n);
        if (!file_exists(folder))
            return folder;
        free(folder);
    }
}

/* Tests that were different may be the same one when they are as small as can be. */
static bool is_told(const Lib *l, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (l->found.items[k].again && violation_same(&l->found.items[k], &l->found.items[i]))
            return true;
    return false;
}

static bool tell(Lib *l, size_t i, Err *err)
{
    Violation *v = &l->found.items[i];
    if (!lib_shrink(l, v, err))
        return false;
    if (!v->folder && is_told(l, i))
        return true;
    if (!v->folder)
        v->folder = free_folder(l);
    return lib_report(l, v, err);
}

static bool report_all(Lib *l, Err *err)
{
    bool ok = session_begin(l->s, program_captured(l->program)->name, err);
    races_look_up(l->quick, &l->races);
    l->told_from = lib_seconds(l);
    for (size_t i = 0; ok && i < l->found.len; i++)
        ok = tell(l, i, err);
    ok = ok && lib_report_races(l, err);
    if (ok)
        lib_summary(l);
    return ok;
}

bool lib_open(Lib *l, Session *s, Err *err)
{
    size_t nargs;
    char **args = session_args(s, &nargs);
    assert(nargs == 1);
    l->s = s;
    l->rng = rng_seeded(session_seed(s));
    l->outputs = session_flag(s, "outputs");
    l->out = session_option(s, "output") ? xstrdup(session_option(s, "output"))
                                         : xprintf("%s.threads", path_base(args[0]));
    read_promises(l);
    bool ok = session_claim(s, l->out, err) && read_contracts(l, err) &&
              threads_number(s, "tests", &l->most, err) && open_api(l, err) && open_library(l, err);
    l->begun = now();
    return ok;
}

Subject *lib_subject(Lib *l, const ApiType *type)
{
    for (size_t i = 0; i < l->subjects.len; i++)
        if (l->subjects.items[i].type == type)
            return &l->subjects.items[i];
    return NULL;
}

bool whole_library(Session *s, Err *err)
{
    Lib l = { 0 };
    bool ok = lib_open(&l, s, err);
    if (ok) {
        lib_find_waiters(&l);
        l.effects = effects_new(l.program, session_calls(s));
        lib_find_setups(&l);
        l.tests_of_variable = arena_array(&l.arena, double, effects_variables(l.effects) + 1);
    }
    ok = ok && find_subjects(&l, err);
    for (size_t i = 0; ok && i < l.subjects.len; i++)
        ok = l.subjects.items[i].why_not || lib_try_alone(&l, &l.subjects.items[i], err);
    l.begun = now();
    ok = ok && keep_run_all(&l, err) && lib_search(&l, err) && report_all(&l, err);
    lib_close(&l);
    return ok;
}
