/* One worker's programs: the one that watches, and the one that follows the last event. */
#include "engine/events/events_int.h"
#include "base/file.h"
#include "base/shared.h"
#include "base/units.h"
#include "runtime/input/input.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* A build in its sandbox. */
typedef struct Side {
    Runner *runner;
    Strings argv, env;
    Shared memory;
    struct sundew_events *shared;    /* the same */
    RunFd fds[2];
    RunPlan plan;
    bool starts;                     /* it has come to a boundary: its fork server will answer */
} Side;

struct Runs {
    const Events *e;
    Side watched, followed;
    Log *log;
    Solver *solver;
    Exprs *pool;                     /* of the solver */
};

/* ---- a side */

static bool make_shared(Side *s, const Events *e, bool counts, Err *err)
{
    size_t size = sundew_events_counters_at() + (counts ? e->counters : 0);
    if (!shared_new(&s->memory, "sundew-events", size, err))
        return false;
    s->shared = (struct sundew_events *)s->memory.at;
    *s->shared = (struct sundew_events){ .magic = SUNDEW_EVENTS_MAGIC,
                                         .version = SUNDEW_EVENTS_VERSION,
                                         .size = size,
                                         .event_size = e->layout->size,
                                         .loop = e->plan->loop != NULL,
                                         .line = e->layout->line,
                                         .mouse = e->layout->mouse,
                                         .counters = counts ? (uint32_t)e->counters : 0,
                                         .nkinds = e->layout->nkinds,
                                         .connections = e->layout->connections,
                                         .open = e->layout->open,
                                         .nkeys = (uint32_t)e->layout->keys.len };
    for (unsigned i = 0; i < 2; i++) {
        s->shared->lines[i] = e->layout->lines[i];
        s->shared->columns[i] = e->layout->columns[i];
    }
    if (!s->shared->lines[0]) {
        s->shared->lines[0] = 24;
        s->shared->columns[0] = 80;
    }
    for (unsigned i = 0; i < e->layout->nkinds; i++)
        s->shared->kinds[i] = e->layout->kinds[i];
    for (size_t i = 0; i < e->layout->keys.len && i < 512; i++)
        s->shared->keys[i] = e->layout->keys.items[i];
    return true;
}

/* Addresses on the stack depend on how long the arguments and variables above it are. These hold the
 * names of scratch folders, so the rest is filled up: all starts have the same addresses. */
static void pad_stack(Side *s)
{
    enum { ROUND = 4096 };
    size_t n = sizeof "SUNDEW_PAD=";
    for (size_t i = 0; i < s->argv.len; i++)
        n += strlen(s->argv.items[i]) + 1;
    for (size_t i = 0; i < s->env.len; i++)
        n += strlen(s->env.items[i]) + 1;
    strings_addf(&s->env, "SUNDEW_PAD=%0*d", (int)(ROUND - n % ROUND), 0);
}

static void make_environment(Side *s)
{
    for (char **v = environ; *v; v++)
        if (!str_starts(*v, "SUNDEW_") && !str_starts(*v, "HOME=") && !str_starts(*v, "TMPDIR=") &&
            !str_starts(*v, "ASAN_OPTIONS=") && !str_starts(*v, "TERM=") &&
            !str_starts(*v, "LINES=") && !str_starts(*v, "COLUMNS="))
            strings_add(&s->env, *v);
    strings_add(&s->env, "LD_BIND_NOW=1");
    strings_addf(&s->env, "HOME=%s", runner_home(s->runner));
    strings_addf(&s->env, "TMPDIR=%s", runner_home(s->runner));
    strings_add(&s->env, "TERM=xterm");
    strings_add(&s->env, "SDL_VIDEODRIVER=dummy");
    strings_add(&s->env, "SDL_AUDIODRIVER=dummy");
    strings_addf(&s->env, "LINES=%u", s->shared->lines[0]);
    strings_addf(&s->env, "COLUMNS=%u", s->shared->columns[0]);
    strings_add(&s->env, "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_abort=1");
    strings_add(&s->env, SUNDEW_INPUT_ENV "=stdin");
    strings_add(&s->env, SUNDEW_DEFER_ENV "=1");
    pad_stack(s);
}

/* Before the search there is nobody else who looks at the clock. */
static bool stop_early(void *arg)
{
    const Events *e = arg;
    return (e->until > 0 && clock_seconds() > e->until) ||
           (e->plan->interrupted && e->plan->interrupted(e->plan->arg));
}

static bool side_open(Side *s, const Events *e, const char *program, int log, Err *err)
{
    Vec(const char *) readable = { 0 };
    char *folder = path_dir(program), *cwd = path_absolute(".");
    vec_push(&readable, folder);
    vec_push(&readable, cwd);
    for (char *const *r = e->plan->readable; r && *r; r++)
        vec_push(&readable, *r);
    vec_push(&readable, NULL);
    s->memory.fd = -1;
    s->runner =
        runner_new(&(RunnerPlan){ .readable = readable.items, .words = e->plan->argv }, err);
    vec_release(&readable);
    free(folder);
    bool ok = s->runner && make_shared(s, e, log < 0, err);
    if (ok) {
        double seconds = e->plan->timeout > 0 ? e->plan->timeout : 5;
        strings_add(&s->argv, e->plan->argv[0] ? e->plan->argv[0] : program);
        for (char *const *a = e->plan->argv + 1; e->plan->argv[0] && *a; a++)
            strings_add(&s->argv, *a);
        make_environment(s);
        s->fds[0] = (RunFd){ s->memory.fd, SUNDEW_EVENTS_FD };
        s->fds[1] = (RunFd){ log, SUNDEW_LOG_FD };
        s->plan = (RunPlan){ .argv = strings_argv(&s->argv),
                             .file = arena_strdup((Arena *)&e->arena, program),
                             .env = strings_argv(&s->env),
                             .cwd = cwd,
                             .fds = s->fds,
                             .nfds = log < 0 ? 1 : 2,
                             .limits = { .wall = 60 + 10 * seconds, /* CPU time decides */
                                         .cpu = seconds,
                                         .idle = seconds > 2 ? seconds : 2,
                                         .memory = log < 0 ? 0 : RUN_UNLIMITED,
                                         .output = 64u << 20 },
                             .server = true,
                             .untraced = log >= 0,
                             .discard_output = true,
                             .fixed_addresses = true,
                             .keep_output = 64u << 10,
                             .stop = e->host ? e->host->stop : stop_early,
                             .stop_arg = e->host ? e->host->arg : (void *)e };
        s->plan.cwd = arena_strdup((Arena *)&e->arena, cwd);
    }
    free(cwd);
    return ok;
}

static void side_close(Side *s)
{
    runner_free(s->runner);
    shared_free(&s->memory);
    strings_release(&s->argv);
    strings_release(&s->env);
}

/* What it says of ignored locations is told before each run. */
static bool side_run(Side *s, const Events *e, const uint8_t *bytes, size_t n, bool shared,
                     RunResult *r, Err *err)
{
    struct sundew_events *h = s->shared;
    RunPlan plan = s->plan;
    assert(e->ignored.len <= SUNDEW_EVENTS_IGNORED);
    h->nignored = (uint32_t)e->ignored.len;
    if (e->ignored.len)
        memcpy(h->ignored, e->ignored.items, e->ignored.len * sizeof *h->ignored);
    h->shared = shared;
    h->stage = 0;
    h->nlocations = 0;
    h->hidden = 0;
    h->delivered = 0;
    h->file[0] = 0;
    plan.input = n ? (const void *)bytes : "";
    plan.input_len = n;
    plan.server = s->starts;
    return runner_run(s->runner, &plan, r, err);
}

/* The program may still write: each number is read once and checked. */
static void take_places(const struct sundew_events *h, Places *out)
{
    uint32_t n = *(const volatile uint32_t *)&h->nlocations;
    for (uint32_t i = 0; i < n && i < SUNDEW_EVENTS_LOCATIONS; i++) {
        Place p = h->locations[i];
        if (p.size && p.offset + p.size >= p.offset)
            vec_push(out, p);
    }
}

void events_take(const struct sundew_events *h, size_t n, Watched *out)
{
    uint32_t stage = *(const volatile uint32_t *)&h->stage;
    *out = (Watched){ .done = stage == SUNDEW_EVENTS_DONE,
                      .lost = n ? stage != SUNDEW_EVENTS_LAST && stage != SUNDEW_EVENTS_DONE
                                : stage != SUNDEW_EVENTS_DONE,
                      .before = h->before,
                      .after = h->after,
                      .hidden = h->hidden,
                      .counters = (const uint8_t *)h + sundew_events_counters_at() };
    take_places(h, &out->places);
    memcpy(out->file, h->file, sizeof out->file);
    out->file[sizeof out->file - 1] = 0;
}

/* ---- runs */

void runs_trust(Runs *r) { r->watched.starts = r->followed.starts = true; }

Runs *runs_new(const Events *e, bool follow, Err *err)
{
    Runs *r = xcalloc(1, sizeof *r);
    r->e = e;
    r->watched.memory.fd = r->followed.memory.fd = -1;
    bool ok = side_open(&r->watched, e, e->build.watched, -1, err);
    if (ok && follow) {
        LogPlan plan = { .nodes = 2u << 20, .records = 1u << 19, .per_site = 192 };
        r->log = log_new(&plan, err);
        ok = r->log && side_open(&r->followed, e, e->build.followed, log_fd(r->log), err);
    }
    if (ok)
        return r;
    runs_free(r);
    return NULL;
}

void runs_free(Runs *r)
{
    if (!r)
        return;
    side_close(&r->watched);
    side_close(&r->followed);
    log_free(r->log);
    solver_free(r->solver);
    free(r);
}

/* The last line that is not empty, cut. */
static void last_line(const Str *text, char *out, size_t room)
{
    const char *t = str_c(text);
    size_t end = text->len, from;
    while (end && (t[end - 1] == '\n' || t[end - 1] == '\r'))
        end--;
    for (from = end; from && t[from - 1] != '\n';)
        from--;
    size_t n = end - from < room ? end - from : room - 1;
    memcpy(out, t + from, n);
    out[n] = 0;
}

bool runs_watch(Runs *r, const uint8_t *bytes, size_t n, bool shared, Watched *out, Err *err)
{
    RunResult res = { 0 };
    const struct sundew_events *h = r->watched.shared;
    uint64_t handled = h->handled;
    if (!side_run(&r->watched, r->e, bytes, n, shared, &res, err))
        return false;
    events_take(h, n, out);
    out->handled = h->handled - handled;
    last_line(&res.err.text, out->said, sizeof out->said);
    out->stopped = res.stopped;
    if (!res.stopped && !res.lost_server)
        failure_copy(&out->failure, &res.failure);
    run_result_release(&res);
    return true;
}

void watched_release(Watched *w)
{
    failure_release(&w->failure);
    vec_release(&w->places);
    *w = (Watched){ 0 };
}

/* Conditions of earlier events are part of the path; they were asked about on their own level. */
static void settle_before(Trail *t, uint32_t first)
{
    size_t others = 0, bugs = 0;
    for (size_t i = 0; i < t->steps.len && i < first; i++)
        t->steps.items[i].ask = false;
    for (size_t i = 0; i < t->others.len; i++)
        if (t->others.items[i].index >= first)
            t->others.items[others++] = t->others.items[i];
    for (size_t i = 0; i < t->bugs.len; i++)
        if (t->bugs.items[i].index >= first)
            t->bugs.items[bugs++] = t->bugs.items[i];
    t->others.len = others;
    t->bugs.len = bugs;
}

/* Places whose value may be another one on this path; these questions leave the trail. */
static void ask_state(Runs *r, Trail *t, const uint8_t *bytes, size_t n, Exprs *pool,
                      Places *symbolic, bool *sure)
{
    const struct sundew_events *h = r->followed.shared;
    size_t kept = 0;
    uint32_t first = 0;
    if (!r->solver || r->pool != pool) {
        solver_free(r->solver);
        r->solver = solver_new(pool, &(SolverPlan){ .seed = r->e->plan->seed });
        r->pool = pool;
    }
    for (size_t i = 0; i < t->bugs.len; i++) {
        Chance c = t->bugs.items[i];
        Answer a = { 0 };
        if (c.kind != SUNDEW_BUG_STATE) {
            t->bugs.items[kept++] = c;
            continue;
        }
        if (c.at == UINT32_MAX) {
            first = c.index;
            continue;
        }
        SolveStatus s = solver_query_extra(r->solver, t->path, c.index, c.cond, bytes, n, &a);
        if (s == SOLVE_UNSAT || (s == SOLVE_OPTIMISTIC && a.exact == SOLVE_UNSAT))
            continue;
        *sure = *sure && s == SOLVE_SAT;
        Place p = c.at < SUNDEW_EVENTS_LOCATIONS ? h->locations[c.at] : (Place){ 0 };
        p.how = SUNDEW_EVENT_SYMBOLIC;
        vec_push(symbolic, p);
    }
    t->bugs.len = kept;
    settle_before(t, first);
}

bool runs_follow(Runs *r, const uint8_t *bytes, size_t n, bool shared, Exprs *pool, uint32_t in,
                 Trail *out, Places *symbolic, bool *sure, Err *err)
{
    RunResult res = { 0 };
    size_t size = r->e->layout->size, from = r->e->plan->cross ? 0 : n - size;
    assert(n >= size && size);
    log_reset(r->log, (uint32_t)from, (uint32_t)n);
    bool ran = side_run(&r->followed, r->e, bytes, n, shared, &res, err);
    run_result_release(&res);
    if (!ran)
        return false;
    *sure = true;
    Err why = { 0 };
    if (!log_read(r->log, pool, in - (uint32_t)from, out, &why)) {
        if (r->e->plan->note)
            r->e->plan->note(r->e->plan->arg, why.msg);
        *sure = false;
        return true;
    }
    out->in = in;
    if (out->ended || (r->followed.shared->hidden & SUNDEW_EVENT_NO_LABELS))
        *sure = false;
    ask_state(r, out, bytes + from, n - from, pool, symbolic, sure);
    return true;
}
