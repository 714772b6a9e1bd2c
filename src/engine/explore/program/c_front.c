/* C programs as what is explored: see c_front.h. */
#include "engine/explore/program/c_front_int.h"
#include "base/tempdir.h"
#include "engine/concolic/log.h"
#include "engine/explore/program/fast.h"
#include "runtime/server/batch.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* One thread's. */
typedef struct CWorker {
    CFront *c;
    Fast *fast;
    bool ran;                    /* the batch is old: add() begins a new one */
    FrontRun runs[SUNDEW_BATCH_MOST];
    Subject *strict, *plain;     /* sanitized, or NULL; counting, looked at closely */
    Subject *own;                /* as the user built it; made when something fails */
    Subject *followed;           /* concolic; made by the first trace */
    const char *following;       /* … of this build */
    Log *log;
    PlaceNames *names;           /* of `plain`; made when something fails there */
    bool no_trace;               /* it could not be made, which was said */
    FrontLimits limits;          /* of all but quick runs */
} CWorker;

/* ---- whole */

CFront *c_front_new(const CPlan *plan)
{
    CFront *c = xcalloc(1, sizeof *c);
    c->plan = *plan;
    return c;
}

void c_front_free(CFront *c)
{
    if (!c)
        return;
    builder_free(c->builder);
    edges_free(c->edges);
    free(c->coverage);
    free(c->reached);
    strings_release(&c->paths);
    if (c->folder)
        tempdir_remove(c->folder);
    free(c);
}

bool c_front_was_lenient(const CFront *c) { return c->lenient; }

const char *c_front_was_late(const CFront *c) { return c->late; }

static bool begin(void *subject, const FrontHost *host, FrontFacts *out, Err *err)
{
    CFront *c = subject;
    c->host = *host;
    if (!c_builds_make(c, err) || !c_words_tell(c, err))
        return false;
    *out = (FrontFacts){ .counters = c->counters,
                         .branches = edges_count(c->edges),
                         .reachable = c->reachable,
                         .fixed = c->slots,
                         .zeros = c->asks,
                         .strict = c->sanitized != NULL,
                         .own = !c->plan.call.input && !c->plan.function,
                         .alone = !c->snapshot && !c->in_memory };
    return true;
}

static FrontTraces traces(void *subject)
{
    CFront *c = subject;
    c_builds_look(c);
    return c->traces;
}

static bool strict(void *subject) { return ((CFront *)subject)->sanitized != NULL; }

static void finish(void *subject)
{
    CFront *c = subject;
    c_builds_finish(c);
    if (c->left_processes)
        c_front_note(c, "runs left processes behind, which were killed: branches that "
                        "only they take may be missed");
}

static void place(void *subject, uint32_t at, const char **file, unsigned *line)
{
    const EdgeInfo *e = edges_at(((CFront *)subject)->edges, at);
    *file = e ? e->file : "";
    *line = e ? e->line : 0;
}

static char *in_words(void *subject, char *text) { return c_words_of(subject, text); }

/* ---- limits */

/* CPU seconds for a run of a build that is so many times slower than a quick one. Before the seeds
 * have run the limit of these is a guess, and a large one. */
static double allows(const CWorker *w, double times, double least)
{
    const FrontLimits *l = &w->limits;
    double time = w->c->host.time;
    double seconds = fmax(fmax(least, l->run * (l->known ? times : fmin(times, 4))), l->start * 3);
    return l->known || time <= 0 ? seconds : fmin(seconds, fmax(time, 2 * l->run + 3 * l->start));
}

/* Sanitizers are slow, and a machine may be busy. */
static RunLimits judge_limits(const CWorker *w)
{
    double seconds = allows(w, 10, 2);
    return (RunLimits){ .wall = seconds * 3,
                        .cpu = seconds,
                        .idle = fmax(10, fmax(w->limits.start * 3, w->limits.asked * 2)),
                        .memory = w->c->plan.memory,
                        .output = 64u << 20 };
}

static RunLimits trace_limits(const CWorker *w)
{
    double seconds = allows(w, 50, 5);
    return (RunLimits){ .wall = 3 * seconds, .cpu = seconds, .memory = RUN_UNLIMITED };
}

static void limits(void *worker, const FrontLimits *l)
{
    CWorker *w = worker;
    fast_limit(w->fast, l->run);
    if (l->quick_only)
        return;
    w->limits = *l;
    RunLimits judging = judge_limits(w), tracing = trace_limits(w);
    if (w->strict)
        subject_limits(w->strict, &judging);
    subject_limits(w->plain, &judging);
    if (w->followed)
        subject_limits(w->followed, &tracing);
}

static double start(void *worker, double most, FrontFailures *out)
{
    CWorker *w = worker;
    RunLimits wide = { .wall = most,
                       .cpu = fmax(5, most / 3), /* who sleeps may take longer */
                       .memory = w->c->plan.memory,
                       .output = 1 << 20 };
    Subject *s = w->strict ? w->strict : w->plain;
    RunResult r = { 0 };
    Err ignored = { 0 };
    subject_limits(s, &wide);
    double seconds = 0;
    if (subject_run(s, "", 0, &r, &ignored) && !r.stopped) {
        bool late = failure_is_late(&r.failure);
        seconds = late ? 0 : r.seconds;
        if (late) {
            Failure f = { 0 };
            failure_copy(&f, &r.failure);
            vec_push(out, f);
        }
    }
    run_result_release(&r);
    return seconds;
}

/* ---- workers */

static bool open_fast(CWorker *w, unsigned job, const FrontLimits *l, Err *err)
{
    CFront *c = w->c;
    FastPlan plan = { .program = c->coverage,
                      .call = &c->plan.call,
                      .counters = (uint32_t)c->counters,
                      .longest = c->host.longest,
                      .seconds = l->run,
                      .usual = l->start > 1 ? l->start : 0,
                      .memory = c->plan.memory,
                      .stop = c->host.stop,
                      .stop_arg = c->host.arg,
                      .in_memory = c->in_memory,
                      .snapshot = c->snapshot,
                      .steady = c->host.steady };
    w->fast = fast_new(&plan, err);
    if (w->fast && job == 0 && fast_missing(w->fast))
        c_front_note(c, "%s", fast_missing(w->fast));
    return w->fast != NULL;
}

static SubjectPlan judge_plan(const CWorker *w, const char *program)
{
    CFront *c = w->c;
    return (SubjectPlan){ .program = program,
                          .call = &c->plan.call,
                          .limits = judge_limits(w),
                          .rounds = c->in_memory,
                          .stop = c->host.stop,
                          .stop_arg = c->host.arg };
}

/* As soon as there is a build for it. */
static bool open_strict(CWorker *w, Err *err)
{
    static char *env[] = {
        "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_abort=1",
        "UBSAN_OPTIONS=print_stacktrace=1",
        NULL,
    };
    SubjectPlan plan = judge_plan(w, w->c->sanitized);
    if (w->strict || !plan.program)
        return true;
    plan.env = env;
    plan.untraced = true;
    w->strict = subject_new(&plan, err);
    return w->strict != NULL;
}

/* The program as it was built, without a fork server. */
static void open_own(CWorker *w, Err *err)
{
    const CapturedProgram *c = program_captured(w->c->plan.program);
    SubjectPlan plan = judge_plan(w, c ? c->path : NULL);
    if (w->own || !plan.program)
        return;
    plan.plain = plan.untraced = true;
    w->own = subject_new(&plan, err);
}

static bool open_judges(CWorker *w, Err *err)
{
    SubjectPlan plan = judge_plan(w, w->c->coverage);
    w->plain = subject_new(&plan, err);
    return w->plain && open_strict(w, err);
}

static void close_worker(void *worker)
{
    CWorker *w = worker;
    if (!w)
        return;
    if (w->fast && fast_left_processes(w->fast))
        w->c->left_processes = true;
    subject_free(w->followed);
    log_free(w->log);
    places_free(w->names);
    subject_free(w->strict);
    subject_free(w->plain);
    subject_free(w->own);
    fast_free(w->fast);
    free(w);
}

static void *open_worker(void *subject, unsigned job, const FrontLimits *l, Err *err)
{
    CWorker *w = xcalloc(1, sizeof *w);
    w->c = subject;
    w->limits = *l;
    if (open_fast(w, job, l, err) && open_judges(w, err))
        return w;
    close_worker(w);
    return NULL;
}

/* ---- quick runs */

static bool add(void *worker, const uint8_t *bytes, size_t n)
{
    CWorker *w = worker;
    if (w->ran)
        fast_reset(w->fast);
    w->ran = false;
    return fast_add(w->fast, bytes, n);
}

static FrontRun run_at(const CWorker *w, unsigned i)
{
    const FastResult *r = fast_result(w->fast, i);
    FrontRun run = { .path = r->path,
                     .micros = w->c->host.steady ? r->edges : r->micros,
                     .news = r->news != 0,
                     .died = !WIFEXITED(r->status),
                     .late = fast_timed_out(w->fast, i),
                     .signal = WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0 };
    run.bytes = fast_input(w->fast, i, &run.n);
    return run;
}

static bool run(void *worker, bool apart, FrontBatch *out, Err *err)
{
    CWorker *w = worker;
    unsigned n = w->ran ? 0 : fast_count(w->fast);
    if (!n)
        return true;
    assert(n <= SUNDEW_BATCH_MOST);
    if (!(apart ? fast_run_apart(w->fast, err) : fast_run(w->fast, err)))
        return false;
    w->ran = true;
    n = fast_count(w->fast);
    for (unsigned i = 0; i < n; i++)
        w->runs[i] = run_at(w, i);
    *out = (FrontBatch){ .runs = w->runs, .n = n, .counters = fast_counters(w->fast) };
    return true;
}

/* ---- traces */

static bool open_trace(CWorker *w, Err *err)
{
    CFront *c = w->c;
    w->following = c->concolic;
    c->traced = true;
    assert(w->following);
    if (!w->log)
        w->log =
            log_new(&(LogPlan){ .nodes = 2u << 20, .records = 1u << 19, .per_site = 192 }, err);
    if (!w->log)
        return false;
    RunFd fd = { log_fd(w->log), SUNDEW_LOG_FD };
    SubjectPlan plan = { .program = w->following,
                         .call = &c->plan.call,
                         .fds = &fd,
                         .nfds = 1,
                         .untraced = true,
                         .rounds = c->in_memory,
                         .limits = trace_limits(w),
                         .stop = c->host.stop,
                         .stop_arg = c->host.arg };
    w->followed = subject_new(&plan, err);
    return w->followed != NULL;
}

static bool trace(void *worker, Exprs *pool, uint32_t in, const uint8_t *bytes, size_t n,
                  FrontTrace *out, Err *err)
{
    CWorker *w = worker;
    RunResult r = { 0 };
    Err why = { 0 };
    if (w->followed && w->following != w->c->concolic) {         /* there is a better build */
        subject_free(w->followed);
        w->followed = NULL;
    }
    if (!w->followed && !w->no_trace && !open_trace(w, &why)) {
        w->no_trace = true;
        c_front_note(w->c, "%s; inputs are only mutated", why.msg);
    }
    if (w->no_trace)
        return true;
    log_reset(w->log, 0, (uint32_t)n);
    bool ran = subject_run(w->followed, bytes, n, &r, err);
    run_result_release(&r);
    if (ran && !log_read(w->log, pool, in, &out->trail, &why))
        c_front_note(w->c, "a trace can't be read: %s", why.msg);
    if (out->trail.numbers.len && !log_read_numbers(w->log, pool, in, &out->numbers, &why))
        c_front_note(w->c, "a trace can't be read: %s", why.msg);
    if (ran && w->following == w->c->concolic) {
        w->c->ntraced += n > 0;
        if (out->trail.steps.len)
            w->c->depends = true;
    }
    return ran;
}

/* ---- judge */

/* Is it in a list such as "3,64-78"? */
static bool status_is_in(const char *list, int status)
{
    while (list && *list) {
        char *end;
        long from = strtol(list, &end, 10), to = from;
        if (*end == '-')
            to = strtol(end + 1, &end, 10);
        if (status >= from && status <= to)
            return true;
        if (*end != ',' || end == list)
            return false;
        list = end + 1;
    }
    return false;
}

static bool counts(const CFront *c, const Failure *f)
{
    if (f->kind == FAILURE_EXIT)
        return status_is_in(c->plan.bad_status, f->status);
    return failure_is(f);
}

static void name_frames(CWorker *w, Failure *f)
{
    if (!w->names)
        w->names = places_new();
    c_frames_name(w->names, w->c->coverage, f);
}

static void judge(void *worker, FrontJudge by, const uint8_t *bytes, size_t n, FrontFailures *out)
{
    CWorker *w = worker;
    RunResult r = { 0 };
    Err ignored = { 0 };
    if (by == FRONT_STRICT)
        open_strict(w, &ignored);
    if (by == FRONT_OWN)
        open_own(w, &ignored);
    Subject *s = by == FRONT_STRICT ? w->strict : by == FRONT_OWN ? w->own : w->plain;
    if (!s || !subject_run(s, bytes, n, &r, &ignored))
        return;
    if (!r.stopped && !r.lost_server && counts(w->c, &r.failure)) {
        Failure f = { 0 };
        failure_copy(&f, &r.failure);
        if (by == FRONT_PLAIN)
            name_frames(w, &f);
        vec_push(out, f);
    }
    run_result_release(&r);
}

const ExploreFront c_front = {
    .begin = begin,
    .traces = traces,
    .strict = strict,
    .finish = finish,
    .open = open_worker,
    .close = close_worker,
    .limits = limits,
    .start = start,
    .add = add,
    .run = run,
    .trace = trace,
    .judge = judge,
    .place = place,
    .in_words = in_words,
};
