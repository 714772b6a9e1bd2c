/*
 * The main line: builds, seeds, then jobs that take turns at mutating and
 * solving until the time is over.
 */
#include "engine/explore/explore_int.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "program/constants.h"
#include "weave/weave.h"
#include <math.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LATE = 20,                   /* seconds for a build that is not ready at the end */
    MOST_START = 30,             /* … for a first run */
    LEAST_START = 15,            /* … if the user has not so much time */
};

/* ------------------------------------------------------------------ small */

void explorer_note(Explorer *x, const char *fmt, ...)
{
    va_list list;
    char text[512];
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    if (x->plan->note)
        x->plan->note(x->plan->arg, text);
}

void explorer_unsaved(Explorer *x, const char *path, int error)
{
    unlink(path);
    if (x->unsaved++ == 0)
        explorer_note(x, "%s: %s; what is found is lost from here on", path, strerror(error));
}

void explorer_word(Explorer *x, const void *bytes, size_t n)
{
    Keyword w = { .n = (uint8_t)n };
    if (!n || n > LONGEST_KEYWORD)
        return;
    pthread_mutex_lock(&x->lock);
    if (x->words.len < 4000 && !map_getn(&x->known_words, bytes, n)) {
        memcpy(w.bytes, bytes, n);
        vec_push(&x->words, w);
        map_putn(&x->known_words, bytes, n, x);
    }
    pthread_mutex_unlock(&x->lock);
}

bool job_over(Job *j)
{
    return atomic_load(&j->x->stop);
}

void explorer_stop(Explorer *x, const char *why)
{
    if (!x->ended) {
        x->ended = why;
        x->stopped = clock_seconds();
    }
    atomic_store(&x->stop, true);
}

bool job_cuts(void *job)
{
    Explorer *x = ((Job *)job)->x;
    if (!x->watched)
        explorer_look(x);
    return atomic_load(&x->stop) && clock_seconds() - x->stopped > 1;
}

/* ---------------------------------------------------------------- set-up */

static bool make_folders(Explorer *x, Err *err)
{
    const ExplorePlan *plan = x->plan;
    Strings names = {0};
    char *out = path_absolute(plan->out);
    x->queue_dir = path_join(out, "queue");
    x->failures_dir = path_join(out, "failures");
    free(out);
    bool ok = dir_make(x->queue_dir, err) && dir_make(x->failures_dir, err) &&
              dir_list(x->queue_dir, &names, err);
    if (ok && names.len && !plan->resume)
        ok = err_set(err, "%s holds an earlier exploration: --resume goes on with it, or "
                     "name another folder", plan->out);
    strings_release(&names);
    return ok;
}

/* Functions whose doings outlive a run in a process that goes on. */
static const char *const lasting[] = {
    "fork", "vfork", "clone", "system", "popen", "execve", "execv", "execvp", "execl", "execlp",
    "execle", "posix_spawn", "posix_spawnp", "daemon", "pthread_create", "thrd_create", "chdir",
    "fchdir", "chroot", "umask", "setrlimit", "alarm", "setitimer", "timer_create", "mmap", "mmap64",
    "shmat", "dlopen", "sigaltstack", "setuid", "setgid", "on_exit", "quick_exit", "sbrk", "brk",
    "dup2", "mallopt", "prctl", "ptrace", "setsid", NULL,
};

/* May runs share a process? Also what is not captured could do such things. */
static bool may_share(const Explorer *x)
{
    const CapturedProgram *c = program_captured(x->plan->program);
    if (!c || c->nfailed || c->nforeign || c->nmissing)
        return false;
    for (const char *const *name = lasting; *name; name++) {
        const Function *fn = program_function(x->plan->program, *name);
        if (fn && !fn->defined)
            return false;
    }
    return true;
}

/* How many bytes the slots of arguments and variables take. */
static size_t slots_of(const char *input)
{
    size_t sum = 0;
    for (CallPart part; call_part(&input, &part);)
        sum += part.size * part.count;
    return sum < 1 << 15 ? sum : 0;
}

static BuildsPlan builds_plan(const Explorer *x)
{
    const ExplorePlan *plan = x->plan;
    const char *parts = plan->call.input ? plan->call.input : "";
    return (BuildsPlan){ .program = plan->program, .calls = plan->calls, .edges = x->edges,
                         .folder = x->folder, .libexec = plan->libexec, .share = plan->share,
                         .function = plan->function, .argv = strstr(parts, "argv:") != NULL,
                         /* what it puts there itself comes back, too */
                         .env = strstr(parts, "env:") || program_function(plan->program, "setenv") ||
                                program_function(plan->program, "putenv") };
}

static void no_concolic(Explorer *x, ExploreResult *out, const char *why)
{
    out->concolic_off = xstrdup(why);
    explorer_note(x, "%s; inputs are only mutated", why);
}

/* The concolic build takes longest. If it is not kept, a process of its own makes
 * it while inputs are mutated already. */
static void begin_concolic(Explorer *x, ExploreResult *out)
{
    BuildsPlan b = builds_plan(x);
    Err why = {0};
    if (x->plan->no_concolic || x->plan->replay)
        return;
    if (x->plan->no_mutation || build_concolic_is_kept(&b)) {
        if (!(x->concolic = build_concolic(&b, &why)))
            no_concolic(x, out, why.msg);
        return;
    }
    x->building_err = path_join(x->folder, "concolic.err");
    fflush(NULL);
    x->building = fork();
    if (x->building != 0)
        return;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char *path = build_concolic(&b, &why);
    if (!path)
        file_write(x->building_err, why.msg, strlen(why.msg), NULL);
    _exit(path ? 0 : 1);
}

/* Is it there now? Then the jobs get what they need for it. */
static void look_for_concolic(Explorer *x, Job *jobs, unsigned n, ExploreResult *out)
{
    int status;
    Err why = {0};
    BuildsPlan b = builds_plan(x);
    if (x->building <= 0 || waitpid(x->building, &status, WNOHANG) != x->building)
        return;
    x->building = 0;
    Str text = {0};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        x->concolic = build_concolic(&b, &why);
    else if (file_read(x->building_err, &text, NULL))
        err_set(&why, "%s", str_c(&text));
    else
        err_set(&why, "the build that follows its input died");
    str_release(&text);
    for (unsigned i = 0; x->concolic && i < n; i++)
        atomic_store(&jobs[i].tracer, tracer_new(&jobs[i], &why));
    if (*why.msg)
        no_concolic(x, out, why.msg);
}

/* The time is over before the build is: it is finished all the same, because the next run can
 * begin with it. Only a person, or a build that takes too long, ends it. */
static void finish_building(Explorer *x, ExploreResult *out)
{
    const ExplorePlan *plan = x->plan;
    bool by_time = !plan->interrupted || !plan->interrupted(plan->arg) ||
                   (plan->time_is_over && plan->time_is_over(plan->arg));
    double until = clock_seconds() + fmax(LATE, plan->time);
    out->concolic_late = true;
    by_time &= !(plan->stop == STOP_FIRST_FAILURE && x->bugs.len);
    if (by_time)
        explorer_note(x, "finishing the build that follows the input, for the next time");
    while (by_time && clock_seconds() < until) {
        int status;
        if (waitpid(x->building, &status, WNOHANG) == x->building) {
            x->building = 0;
            out->concolic_kept = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            break;
        }
        usleep(50000);
    }
    no_concolic(x, out, "the build that follows its input was not ready before the end");
}

static void end_building(Explorer *x)
{
    if (x->building <= 0)
        return;
    kill(-x->building, SIGKILL);
    kill(x->building, SIGKILL);
    waitpid(x->building, NULL, 0);
    x->building = 0;
}

static bool make_builds(Explorer *x, ExploreResult *out, Err *err)
{
    const ExplorePlan *plan = x->plan;
    Err why = {0};
    x->edges = edges_new(plan->program, err);
    x->folder = x->edges ? tempdir_new(NULL, err) : NULL;
    if (!x->folder)
        return false;
    BuildsPlan b = builds_plan(x);
    x->counters = weave_coverage_size(x->edges);
    x->coverage = build_coverage(&b, err);
    if (!x->coverage)
        return false;
    if (!plan->no_sanitizers && !(x->sanitized = build_sanitized(&b, &why))) {
        out->sanitizers_off = xstrdup(why.msg);
        explorer_note(x, "%s; failures are seen as signals only", why.msg);
    }
    bool target = plan->call.input && strcmp(plan->call.input, "call") == 0;
    x->in_memory = target && !plan->function && program_function(plan->program, "LLVMFuzzerTestOneInput");
    x->asks = target && !x->in_memory;
    x->slots = slots_of(x->plan->call.input);
    const char *entry = plan->function ? plan->function->symbol
                        : x->in_memory ? "LLVMFuzzerTestOneInput" : "main";
    x->reachable = plan->calls ? edges_reachable(x->edges, plan->calls, entry)
                               : edges_count(x->edges);
    x->snapshot = !x->in_memory && may_share(x);
    x->queue = queue_new(x->counters, edges_count(x->edges));
    begin_concolic(x, out);
    return true;
}

/* A number that is no character and no small count, in both byte orders. */
static void take_number(Explorer *x, int64_t v)
{
    if (v >= INT8_MIN && v <= UINT8_MAX)
        return;
    size_t size = v > 0 && v <= UINT16_MAX ? 2 : v >= INT32_MIN && v <= UINT32_MAX ? 4 : 8;
    uint8_t le[8], be[8];
    for (size_t i = 0; i < size; i++)
        be[size - 1 - i] = le[i] = (uint8_t)((uint64_t)v >> (8 * i));
    explorer_word(x, le, size);
    explorer_word(x, be, size);
}

static bool take_constants(Explorer *x, Err *err)
{
    Constants c = {0};
    if (!program_constants(x->plan->program, &c, err))
        return false;
    for (size_t i = 0; i < c.nstrings; i++)
        explorer_word(x, c.strings[i], strlen(c.strings[i]));
    for (size_t i = 0; i < c.nintegers; i++)
        take_number(x, c.integers[i]);
    constants_release(&c);
    return true;
}

/* ------------------------------------------------------------------- jobs */

static bool job_open(Job *j, Explorer *x, unsigned number, Err *err)
{
    *j = (Job){ .x = x, .number = number };
    Rng seed = rng_seeded(x->plan->seed + number * 0x9e3779b9u);
    FastPlan fast = { .program = x->coverage, .call = &x->plan->call,
                      .counters = x->counters, .longest = x->longest,
                      .seconds = x->timeout, .usual = x->start > 1 ? x->start : 0,
                      .memory = x->plan->memory,
                      .in_memory = x->in_memory, .snapshot = x->snapshot };
    j->rng = rng_fork(&seed);
    j->mutator = mutator_new(rng_next(&seed), x->longest);
    j->fast = fast_new(&fast, err);
    Err why = {0};
    if (j->fast && x->concolic && !(j->tracer = tracer_new(j, &why)))
        explorer_note(x, "%s; inputs are only mutated", why.msg);
    return j->fast && failures_open(j, err);
}

static void job_close(Job *j)
{
    Explorer *x = j->x;
    if (j->fast)
        x->left_processes |= fast_left_processes(j->fast);
    tracer_free(j->tracer);
    failures_close(j);
    fast_free(j->fast);
    mutator_free(j->mutator);
    map_release(&j->imported);
}

/* Mutation and solving take turns. */
static void *job_work(void *arg)
{
    Job *j = arg;
    bool ok = true;
    while (ok && !job_over(j)) {
        double begun = clock_seconds();
        bool trace = j->tracer && tracer_wanted(j);
        if (trace)
            ok = tracer_step(j);
        else if (!j->x->plan->no_mutation)
            ok = stage_mutate(j);
        else
            usleep(20000);
        *(trace ? &j->tracing : &j->mutating) += clock_seconds() - begun;
        ok = ok && corpus_sync(j);
    }
    if (!ok)
        explorer_stop(j->x, "an error");
    return NULL;
}

/* --------------------------------------------------------------- the time */

static void add_stats(SolverStats *to, const SolverStats *s)
{
    to->queries += s->queries;
    to->sat += s->sat;
    to->unsat += s->unsat;
    to->unknown += s->unknown;
    to->optimistic += s->optimistic;
    to->seconds += s->seconds;
}

static ExploreStatus status_of(Explorer *x, Job *jobs, unsigned n)
{
    double now = clock_seconds();
    pthread_mutex_lock(&x->lock);
    ExploreStatus s = {
        .seconds = now - x->begun, .executions = x->executions,
        .paths = queue_paths(x->queue), .covered = queue_covered(x->queue),
        .reachable = x->reachable, .queue = queue_length(x->queue),
        .failures = x->bugs.len - x->hangs, .hangs = x->hangs,
        .last_new = now - x->last_new, .traces = x->traces,
        .solved_new = x->solved_new, .checked = x->checked, .diverged = x->diverged,
        .checked_precise = x->checked_precise, .diverged_precise = x->diverged_precise,
        .solver = x->solver,
    };
    pthread_mutex_unlock(&x->lock);
    for (unsigned i = 0; i < n; i++)
        if (jobs[i].tracer) {
            SolverStats one = tracer_stats(jobs[i].tracer);
            add_stats(&s.solver, &one);
        }
    return s;
}

/* Why it is time to end; NULL: it is not. */
static const char *is_over(const Explorer *x, const ExploreStatus *s)
{
    const ExplorePlan *plan = x->plan;
    if (plan->interrupted && plan->interrupted(plan->arg))
        return "interrupted";
    if (plan->time > 0 && s->seconds >= plan->time)
        return "time";
    if (plan->executions && s->executions >= plan->executions)
        return "executions";
    if (plan->stop == STOP_COVERAGE &&
        (s->covered >= s->reachable || s->last_new > (s->seconds > 120 ? s->seconds / 2 : 60)))
        return "coverage";
    return NULL;
}

/* Before the seeds have run the timeout is a guess, and a large one. */
double explorer_allows(const Explorer *x, double times, double least)
{
    double seconds = fmax(fmax(least, x->timeout * (x->watched ? times : fmin(times, 4))), x->start * 3);
    return x->watched || x->plan->time <= 0
               ? seconds : fmin(seconds, fmax(x->plan->time, 2 * x->timeout + 3 * x->start));
}

/* A program that is slow to start gets through with one input at least. */
void explorer_look(Explorer *x)
{
    double late = clock_seconds() - x->begun - x->plan->time;
    if (x->plan->interrupted && x->plan->interrupted(x->plan->arg) &&
        !(x->plan->time_is_over && x->plan->time_is_over(x->plan->arg)))
        explorer_stop(x, "interrupted");
    if (x->plan->time > 0 && late >= 0 &&
        (queue_length(x->queue) || x->bugs.len || late > 2 * LEAST_START))
        explorer_stop(x, "time");
}

static void watch(Explorer *x, Job *jobs, unsigned n, ExploreResult *out)
{
    while (!atomic_load(&x->stop)) {
        usleep(50000);
        look_for_concolic(x, jobs, n, out);
        ExploreStatus s = status_of(x, jobs, n);
        const char *over = is_over(x, &s);
        if (over)
            explorer_stop(x, over);
        if (x->plan->status)
            x->plan->status(&s, x->plan->arg);
    }
}

/* Some programs take long to start. */
static void measure_start(Explorer *x, Job *j)
{
    double time = x->plan->time, most = time > 0 ? fmin(MOST_START, fmax(LEAST_START, time)) : MOST_START;
    RunLimits limits = { .wall = most, .cpu = most, .memory = x->plan->memory, .output = 1 << 20 };
    Subject *s = j->judge ? j->judge : j->plain;
    RunResult r = {0};
    Err ignored = {0};
    subject_limits(s, &limits);
    if (subject_run(s, "", 0, &r, &ignored) && !r.stopped && r.seconds < most)
        x->start = r.seconds;
    run_result_release(&r);
    if (x->start > 2)
        explorer_note(x, "a run takes %.0f s: there will be few of them", x->start);
}

/* Seconds of a fast run, by what it took so far. */
static void set_limits(Explorer *x, Job *j, double seconds)
{
    if (x->plan->timeout <= 0)
        x->timeout = seconds + (x->start > 1 ? 2 * x->start : 0);
    fast_limit(j->fast, x->timeout);
    failures_limits(j);
    if (j->tracer)
        tracer_limits(j);
}

/* The first job has read the seeds; now how long a run may take is known. */
static void set_timeout(Explorer *x, Job *j)
{
    double worst = 0;
    for (size_t i = 0; i < queue_length(x->queue); i++)
        if (queue_at(x->queue, i)->micros > worst)
            worst = queue_at(x->queue, i)->micros;
    set_limits(x, j, fmax(0.2, worst * 10 / 1e6));
}

static bool run_jobs(Explorer *x, ExploreResult *out, Err *err)
{
    unsigned n = x->plan->jobs ? x->plan->jobs : 1, opened = 0, started = 0;
    Job *jobs = xcalloc(n, sizeof *jobs);
    pthread_t *threads = xcalloc(n, sizeof *threads);
    bool ok = job_open(&jobs[0], x, 0, err);
    opened = 1;
    if (ok && fast_missing(jobs[0].fast))
        explorer_note(x, "%s", fast_missing(jobs[0].fast));
    x->begun = x->last_new = clock_seconds();
    if (ok) {
        measure_start(x, &jobs[0]);
        set_limits(x, &jobs[0], x->timeout);
        ok = corpus_seeds(&jobs[0], err);
    }
    if (ok && !queue_length(x->queue) && !x->bugs.len &&
        !(x->ended && strcmp(x->ended, "interrupted") == 0))
        ok = err_set(err, "no input gets through the program in %g s: it waits for something "
                     "that is not in its input, or is slow to start (--timeout 30s)", x->timeout);
    if (ok && x->plan->replay)
        explorer_stop(x, "all inputs were run");
    x->watched = true;
    if (ok)
        set_timeout(x, &jobs[0]);
    for (; ok && opened < n; opened++)
        ok = job_open(&jobs[opened], x, opened, err);
    for (; ok && started < n; started++)
        if (pthread_create(&threads[started], NULL, job_work, &jobs[started]) != 0)
            ok = err_set(err, "cannot start a thread");
    if (ok)
        watch(x, jobs, n, out);
    explorer_stop(x, "an error");
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (ok && x->building > 0)
        finish_building(x, out);
    end_building(x);
    if (ok)
        out->status = status_of(x, jobs, n);
    for (unsigned i = 0; i < opened; i++) {
        if (ok && strcmp(x->ended, "an error") == 0 && *jobs[i].err.msg)
            ok = err_set(err, "%s", jobs[i].err.msg);
        job_close(&jobs[i]);
    }
    free(jobs);
    free(threads);
    return ok;
}

/* -------------------------------------------------------------------- main */

static void take_imprecise(Explorer *x, ExploreResult *out)
{
    out->nimprecise = x->imprecise.len;
    out->imprecise = arena_array(&out->arena, ExploreImprecise, x->imprecise.len + 1);
    for (size_t i = 0; i < x->imprecise.len; i++) {
        const ExploreImprecise *m = x->imprecise.entries[i].value;
        out->imprecise[i] = *m;
        out->imprecise[i].name = arena_strdup(&out->arena, m->name);
        out->imprecise[i].file = arena_strdup(&out->arena, m->file);
    }
}

static void explorer_release(Explorer *x)
{
    queue_free(x->queue);
    edges_free(x->edges);
    free(x->coverage);
    free(x->concolic);
    free(x->building_err);
    free(x->sanitized);
    free(x->queue_dir);
    free(x->failures_dir);
    vec_release(&x->words);
    map_release(&x->known_words);
    map_release(&x->bad_paths);
    map_release(&x->imprecise);
    arena_release(&x->arena);
    pthread_mutex_destroy(&x->lock);
    if (x->folder)
        tempdir_remove(x->folder);
}

bool explore(const ExplorePlan *plan, ExploreResult *out, Err *err)
{
    Explorer x = { .plan = plan, .timeout = plan->timeout > 0 ? plan->timeout : 5,
                   .longest = plan->longest ? plan->longest : 1u << 20 };
    pthread_mutex_init(&x.lock, NULL);
    bool ok = make_folders(&x, err) && make_builds(&x, out, err) &&
              take_constants(&x, err) && run_jobs(&x, out, err);
    end_building(&x);
    failures_finish(&x, out);
    take_imprecise(&x, out);
    out->ended = x.ended ? x.ended : "";
    out->unsaved = x.unsaved;
    if (x.left_processes)
        explorer_note(&x, "runs left processes behind, which were killed: branches that "
                      "only they take may be missed");
    if (ok && x.traces && !out->status.solver.queries)
        explorer_note(&x, "no branch depends on the input: is it read from elsewhere (a file: @@, "
                      "arguments: --argv, the environment: --env), or is a terminal wanted, which "
                      "runs don't have?");
    explorer_release(&x);
    return ok;
}

void explore_result_release(ExploreResult *r)
{
    for (size_t i = 0; i < r->nfailures; i++) {
        ExploreFailure *f = &r->failures[i];
        failure_release(&f->failure);
        free(f->file);
        free(f->small_file);
        free(f->small);
        free(f->condition);
    }
    free(r->failures);
    free(r->concolic_off);
    free(r->sanitizers_off);
    arena_release(&r->arena);
    *r = (ExploreResult){0};
}
