/*
 * One run under a schedule.
 *
 * The memory that is shared with the subject is sealed against shrinking. The
 * subject can write anything into it, so what is taken from it is copied first
 * and then looked at, and counts are cut to what there is room for.
 */
#include "engine/schedule/schedule_int.h"
#include "base/file.h"
#include "base/shared.h"
#include "build/lines.h"
#include <assert.h>
#include <string.h>

struct Scheduler {
    SchedulerPlan plan;
    Runner *runner;
    Shared memory;
    struct sundew_schedule *shared;  /* the same */
    Strings env;
    uint32_t points;                 /* of the longest run so far */
    bool (*stop)(void *arg);         /* of the run that a search makes; NULL */
    void *stop_arg;
    PlaceNames *names;               /* NULL: nobody has asked */
};

/* ----------------------------------------------------------------- open */

static bool make_shared(Scheduler *s, Err *err)
{
    if (!shared_new(&s->memory, "sundew-schedule", sizeof *s->shared, err))
        return false;
    s->shared = (struct sundew_schedule *)s->memory.at;
    return true;
}

extern char **environ;

static void make_environment(Scheduler *s)
{
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "SUNDEW_", 7) != 0 && strncmp(*e, "ASAN_OPTIONS=", 13) != 0 &&
            (!s->plan.player || strncmp(*e, "LD_PRELOAD=", 11) != 0))
            strings_add(&s->env, *e);
    const char *quick = s->plan.quick ? ":symbolize=0" : "";
    if (!s->plan.player) {
        strings_add(&s->env, SUNDEW_SCHEDULE_ENV "=1");
        strings_addf(&s->env,
                     "ASAN_OPTIONS=detect_leaks=0:handle_segv=1:handle_abort=1:"
                     "allow_user_segv_handler=1%s",
                     quick);
        return;
    }
    strings_add(&s->env, SUNDEW_SCHEDULE_ENV "=" SUNDEW_SCHEDULE_PLAYER);
    strings_addf(
        &s->env,
        "ASAN_OPTIONS=detect_leaks=0:handle_segv=1:exitcode=99:detect_stack_use_after_return=0:"
        "allocator_may_return_null=1:max_allocation_size_mb=256:detect_odr_violation=0:"
        "verify_asan_link_order=0:quarantine_size_mb=8%s",
        quick);
    if (s->plan.preload)
        strings_addf(&s->env, "LD_PRELOAD=%s", s->plan.preload);
    else
        strings_add(&s->env, RUN_COUNTS_MEMORY);
}

Scheduler *scheduler_open(const SchedulerPlan *plan, Err *err)
{
    Scheduler *s = xcalloc(1, sizeof *s);
    assert(plan->build && plan->argv && plan->argv[0]);
    s->plan = *plan;
    s->memory.fd = -1;
    char *folder = path_dir(plan->build->path);
    char *beside = path_dir(plan->player ? plan->player : plan->build->path);
    const char *readable[] = { folder, beside, plan->cwd, NULL };
    s->runner = runner_new(&(RunnerPlan){ .readable = readable, .words = plan->argv }, err);
    make_environment(s);
    bool ok = s->runner && make_shared(s, err);
    free(folder);
    free(beside);
    if (ok)
        return s;
    scheduler_close(s);
    return NULL;
}

void scheduler_close(Scheduler *s)
{
    if (!s)
        return;
    runner_free(s->runner);
    places_free(s->names);
    shared_free(&s->memory);
    strings_release(&s->env);
    free(s);
}

const ScheduleSite *scheduler_site(const Scheduler *s, uint32_t site)
{
    return site < s->plan.build->nsites ? &s->plan.build->sites[site] : NULL;
}

/* ---------------------------------------------------------------- stacks */

static bool find_places(Scheduler *s, const char *binary, const uint64_t *at, size_t n, Places *out)
{
    if (!s->names)
        s->names = places_new();
    return places_find(s->names, binary, at, n, out);
}

static bool is_ours(const Place *p) { return !p->function || !strncmp(p->function, "sundew_", 7); }

void schedule_callers(Scheduler *s, const struct sundew_side *side, ScheduleCallers *out)
{
    uint64_t at[SUNDEW_SCHEDULE_STACK];
    size_t n = 0;
    const ScheduleSite *site = scheduler_site(s, side->site);
    Places all = { 0 };
    while (n < SUNDEW_SCHEDULE_STACK && side->stack[n]) {
        at[n] = side->stack[n];
        n++;
    }
    bool first = !n || find_places(s, s->plan.build->path, at, n, &all);
    for (size_t i = 0; i < all.len; i++) {
        const Place *p = &all.items[i];
        if (is_ours(p) || !p->line)
            continue;
        if (!first || !site || strcmp(p->function, site->function) != 0)
            vec_push(out,
                     ((ScheduleSite){ .function = p->function, .file = p->file, .line = p->line }));
        first = false;
    }
    vec_release(&all);
}

typedef Vec(uint64_t) Addresses;

static void add_addresses(const struct sundew_side *side, Addresses *to)
{
    for (size_t i = 0; i < SUNDEW_SCHEDULE_STACK && side->stack[i]; i++)
        vec_push(to, side->stack[i]);
}

void schedule_look_up(Scheduler *s, const struct sundew_race *races, size_t n)
{
    Addresses all = { 0 };
    Places ignored = { 0 };
    assert(races || !n);
    for (size_t i = 0; i < n; i++) {
        add_addresses(&races[i].first, &all);
        add_addresses(&races[i].second, &all);
    }
    if (all.len)
        find_places(s, s->plan.build->path, all.items, all.len, &ignored);
    vec_release(&ignored);
    vec_release(&all);
}

typedef Vec(FailureFrame) Frames;

/* The file to look into; NULL: none. The text of a report is the subject's, so only our build and
 * libraries of the system count. */
static const char *file_of(const Scheduler *s, const FailureFrame *f)
{
    const char *build = s->plan.build->path;
    if (f->file || !f->module)
        return NULL;
    if (strcmp(path_base(f->module), path_base(build)) == 0)
        return build;
    bool system = str_starts(f->module, "/usr/lib/") || str_starts(f->module, "/lib/");
    return system && !strstr(f->module, "/../") && !failure_is_foreign_module(f->module) ? f->module
                                                                                         : NULL;
}

/* The functions that stand at the frame's address, innermost first. */
static void add_named(Scheduler *s, const FailureFrame *at, Frames *out)
{
    Places all = { 0 };
    const char *file = file_of(s, at);
    if (file)
        find_places(s, file, &at->offset, 1, &all);
    for (size_t i = 0; i < all.len; i++) {
        const Place *p = &all.items[i];
        FailureFrame f = *at;
        f.function = strcmp(p->function, "??") != 0 ? p->function : NULL;
        f.file = *p->file ? p->file : NULL;
        f.line = p->line;
        vec_push(out, f);
    }
    if (!all.len)
        vec_push(out, *at);
    vec_release(&all);
}

/* A sanitizer that looks names up reads all debug information in each run that fails; here each
 * address is looked up once. */
static void name_frames(Scheduler *s, Failure *f)
{
    Frames out = { 0 };
    for (size_t i = 0; i < f->nframes; i++)
        add_named(s, &f->frames[i], &out);
    if (f->kind == FAILURE_SANITIZER || f->kind == FAILURE_STACK_OVERFLOW)
        failure_set_frames(f, out.items, out.len);
    vec_release(&out);
}

/* ------------------------------------------------------------------- run */

static void put_plan(Scheduler *s, const Schedule *schedule)
{
    struct sundew_schedule *p = s->shared;
    static const uint32_t strategies[] = { [SCHEDULE_FORCED] = SUNDEW_SCHEDULE_FORCED,
                                           [SCHEDULE_PCT] = SUNDEW_SCHEDULE_PCT,
                                           [SCHEDULE_POS] = SUNDEW_SCHEDULE_POS };
    memset(p, 0, offsetof(struct sundew_schedule, steps));
    p->magic = SUNDEW_SCHEDULE_MAGIC;
    p->version = SUNDEW_SCHEDULE_VERSION;
    p->strategy = strategies[schedule->strategy];
    p->flags = s->plan.racing ? SUNDEW_SCHEDULE_RACING : 0;
    p->seed = schedule->seed;
    p->depth = 3;
    p->length = s->points ? s->points : 200;
    p->most_points = s->plan.most_points ? s->plan.most_points : 200000;
    p->nforces = (uint32_t)(schedule->forces.len < SUNDEW_SCHEDULE_FORCES ? schedule->forces.len
                                                                          : SUNDEW_SCHEDULE_FORCES);
    if (p->nforces)
        memcpy(p->forces, schedule->forces.items, p->nforces * sizeof *p->forces);
    for (size_t i = 0; i < schedule->hot.len; i++) {
        uint32_t site = schedule->hot.items[i];
        if (site / 8 < SUNDEW_SCHEDULE_HOT)
            p->hot[site / 8] |= (uint8_t)(1 << site % 8);
    }
}

/* A row counts if the threads and sites that it names are there. */
static bool step_is_good(const struct sundew_step *e, uint32_t nthreads, size_t nsites)
{
    return e->thread < nthreads && e->chosen < nthreads && e->kind < SUNDEW_AT_KINDS &&
           e->usual < nthreads &&
           (e->site <= nsites || e->site == (uint32_t)SUNDEW_SCHEDULE_NOWHERE);
}

static uint32_t at_most(uint32_t n, uint32_t most) { return n < most ? n : most; }

static void take_heated(const struct sundew_schedule *p, size_t nsites, ScheduleRun *out)
{
    for (uint32_t i = 0; i < nsites && i / 8 < SUNDEW_SCHEDULE_HOT; i++) {
        uint8_t row = p->heated[i / 8];
        if (!row)
            i |= 7;
        else if (row >> i % 8 & 1)
            vec_push(&out->heated, i);
    }
}

/* The subject may still write: numbers that lead somewhere are read once. */
void schedule_take(const struct sundew_schedule *p, size_t nsites, ScheduleRun *out)
{
    uint32_t ended = *(const volatile uint32_t *)&p->ended;
    out->ended = ended < SUNDEW_SCHEDULE_ENDS ? ended : SUNDEW_SCHEDULE_RUNNING;
    out->nthreads = at_most(p->nthreads, SUNDEW_SCHEDULE_THREADS);
    out->ndecisions = p->ndecisions;
    out->refused = p->refused;
    out->npoints = at_most(p->npoints, p->most_points);
    for (uint32_t i = 0; i < out->nthreads; i++)
        out->history = (out->history ^ p->histories[i]) * 0x9e3779b97f4a7c15u + i;
    uint32_t nsteps = at_most(p->nsteps, SUNDEW_SCHEDULE_STEPS);
    for (uint32_t i = 0; i < nsteps; i++) {
        struct sundew_step e = p->steps[i];
        if (!step_is_good(&e, out->nthreads, nsites))
            continue;
        vec_push(&out->steps, e);
        out->preemptions += (e.flags & SUNDEW_STEP_PREEMPTS) != 0;
    }
    uint32_t nraces = at_most(p->nraces, SUNDEW_SCHEDULE_RACES);
    for (uint32_t i = 0; i < nraces; i++) {
        struct sundew_race r = p->races[i];
        r.first.nheld = (uint8_t)at_most(r.first.nheld, SUNDEW_SCHEDULE_HELD);
        r.second.nheld = (uint8_t)at_most(r.second.nheld, SUNDEW_SCHEDULE_HELD);
        if (r.first.site < nsites && r.second.site < nsites)
            vec_push(&out->races, r);
    }
    for (uint32_t i = 0; i < out->nthreads && out->ended == SUNDEW_SCHEDULE_DEADLOCK; i++) {
        struct sundew_wait wait = p->waits[i];
        if (wait.kind >= SUNDEW_AT_KINDS)
            wait = (struct sundew_wait){ .owner = 255 };
        vec_push(&out->waits, wait);
    }
    take_heated(p, nsites, out);
}

bool scheduler_run(Scheduler *s, const Schedule *schedule, ScheduleRun *out, Err *err)
{
    RunFd fds[] = { { s->memory.fd, SUNDEW_SCHEDULE_FD }, s->plan.fd };
    double seconds = s->plan.seconds > 0 ? s->plan.seconds : 5;
    RunPlan plan = { .argv = s->plan.argv,
                     .file = s->plan.player ? s->plan.player : s->plan.build->path,
                     .env = strings_argv(&s->env),
                     .cwd = s->plan.cwd,
                     .input_file = s->plan.input_file,
                     .fds = fds,
                     .nfds = s->plan.player ? 2 : 1,
                     .limits = { .wall = seconds, .cpu = seconds, .idle = s->plan.idle },
                     .fixed_addresses = true,
                     .untraced = s->plan.preload != NULL,
                     .server = true,
                     .stop = s->stop,
                     .stop_arg = s->stop_arg,
                     .keep_output = 1 << 16 };
    schedule_run_release(out);
    put_plan(s, schedule);
    if (!runner_run(s->runner, &plan, &out->result, err))
        return err_ctx(err, "%s", s->plan.argv[0]);
    if (s->plan.look_up)
        name_frames(s, &out->result.failure);
    schedule_take(s->shared, s->plan.build->nsites, out);
    s->points = out->npoints > s->points ? out->npoints : s->points;
    return true;
}

bool scheduler_run_until(Scheduler *s, const Schedule *schedule, bool (*stop)(void *arg), void *arg,
                         ScheduleRun *out, Err *err)
{
    assert(!s->stop);
    s->stop = stop;
    s->stop_arg = arg;
    bool ok = scheduler_run(s, schedule, out, err);
    s->stop = NULL;
    return ok;
}

void scheduler_forget(Scheduler *s) { s->points = 0; }

void schedule_run_release(ScheduleRun *r)
{
    run_result_release(&r->result);
    vec_release(&r->steps);
    vec_release(&r->races);
    vec_release(&r->waits);
    vec_release(&r->heated);
    *r = (ScheduleRun){ 0 };
}

static bool is_limit(const Failure *f)
{
    return f->kind == FAILURE_TIMEOUT || f->kind == FAILURE_CPU_LIMIT || f->kind == FAILURE_HANG;
}

ScheduleVerdict schedule_verdict(const ScheduleRun *run)
{
    const Failure *f = &run->result.failure;
    if (run->ended == SUNDEW_SCHEDULE_DEADLOCK)
        return SCHEDULE_DEADLOCKS;
    bool whole = run->ended == SUNDEW_SCHEDULE_RUNNING || run->ended == SUNDEW_SCHEDULE_ENDED;
    return whole && failure_is(f) && !is_limit(f) ? SCHEDULE_FAILS : SCHEDULE_FINE;
}
