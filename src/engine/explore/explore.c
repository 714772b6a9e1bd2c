/*
 * The main line: folders, the front end, seeds, then jobs that take turns at
 * mutating and solving until the time is over.
 */
#include "engine/explore/explore_int.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "base/units.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_START = 30,             /* seconds for a first run */
    LEAST_START = 7,             /* … if the user has not so much time */
    STEADY_LIMIT = 2,            /* seconds of a run, where none may be measured */
};

/* ---- notes: only the caller of explore() is told them, in its own thread */

static void tell_notes(Explorer *x)
{
    Strings all;
    pthread_mutex_lock(&x->note_lock);
    all = x->notes;
    x->notes = (Strings){ 0 };
    pthread_mutex_unlock(&x->note_lock);
    for (size_t i = 0; i < all.len; i++)
        if (x->plan->note)
            x->plan->note(x->plan->arg, all.items[i]);
    strings_release(&all);
}

static void take_note(void *explorer, const char *text)
{
    Explorer *x = explorer;
    pthread_mutex_lock(&x->note_lock);
    strings_add(&x->notes, text);
    pthread_mutex_unlock(&x->note_lock);
    if (pthread_equal(pthread_self(), x->caller))
        tell_notes(x);
}

void explorer_note(Explorer *x, const char *fmt, ...)
{
    va_list list;
    char text[512];
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    take_note(x, text);
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

static void take_word(void *explorer, const void *bytes, size_t n)
{
    explorer_word(explorer, bytes, n);
}

bool job_over(Job *j) { return atomic_load(&j->x->stop); }

bool job_done(Job *j) { return j->spent || job_over(j); }

double explorer_age(const Explorer *x)
{
    return x->steady ? atomic_load(&x->work) : clock_seconds() - x->begun;
}

void explorer_worked(Explorer *x, double seconds)
{
    if (x->steady)
        atomic_store(&x->work, atomic_load(&x->work) + seconds);
}

/* Jobs get some at a time, so that all together they try as many as they may. */
bool job_may_try(Job *j)
{
    enum { SOME = 64 };
    Explorer *x = j->x;
    uint64_t most = x->plan->executions;
    if (!most)
        return true;
    if (!j->granted && !j->spent) {
        pthread_mutex_lock(&x->lock);
        j->granted = most - x->granted < SOME ? most - x->granted : SOME;
        x->granted += j->granted;
        pthread_mutex_unlock(&x->lock);
        j->spent = !j->granted;
    }
    if (j->spent)
        return false;
    j->granted--;
    return true;
}

/* The first reason counts. */
void explorer_stop(Explorer *x, const char *why)
{
    if (atomic_exchange(&x->stopping, true))
        return;
    x->ended = why;
    x->stopped = clock_seconds();
    atomic_store(&x->stop, true);
}

/* For runs: what is under way has a second to end by itself. */
static bool runs_are_cut(void *explorer)
{
    Explorer *x = explorer;
    if (!x->watched)
        explorer_look(x);
    return atomic_load(&x->stop) && clock_seconds() - x->stopped > 1;
}

bool job_restore(Job *j, uint32_t state)
{
    if (state == j->state)
        return true;
    assert(j->x->front->restore);
    if (!j->x->front->restore(j->worker, state, &j->err))
        return false;
    j->state = state;
    return true;
}

bool job_traces(Job *j)
{
    if (!j->tracer && atomic_load(&j->x->traces))
        j->tracer = tracer_new(j);
    return j->tracer != NULL;
}

FrontLimits explorer_limits(Explorer *x)
{
    pthread_mutex_lock(&x->lock);
    FrontLimits l = { .run = x->timeout,
                      .start = x->start,
                      .asked = x->plan->timeout,
                      .known = x->watched || x->plan->timeout > 0 };
    pthread_mutex_unlock(&x->lock);
    return l;
}

/* ---- set-up */

/* Held as long as the process lives: two explorations would overwrite each other's. */
static bool lock_folder(Explorer *x, const char *out, Err *err)
{
    bool busy;
    x->lock_fd = dir_lock(out, &busy);
    if (busy)
        return err_set(err, "%s: another exploration is at work there", x->plan->out);
    return x->lock_fd >= 0 || err_errno(err, "%s", out);
}

bool explorer_own_folder(const char *folder, Err *err)
{
    struct stat st;
    return dir_make(folder, err) && ((lstat(folder, &st) == 0 && S_ISDIR(st.st_mode)) ||
                                     err_set(err, "%s: a link, not a folder", folder));
}

static bool make_folders(Explorer *x, Err *err)
{
    const ExplorePlan *plan = x->plan;
    Strings names = { 0 };
    char *out = path_absolute(plan->out);
    x->queue_dir = path_join(out, "queue");
    x->failures_dir = path_join(out, "failures");
    bool ok = dir_make(out, err) && lock_folder(x, out, err);
    free(out);
    ok = ok && explorer_own_folder(x->queue_dir, err) &&
         explorer_own_folder(x->failures_dir, err) && dir_list(x->queue_dir, &names, err);
    if (ok && names.len && !plan->resume)
        ok = err_set(err,
                     "%s holds an earlier exploration: --resume goes on with it, or "
                     "name another folder",
                     plan->out);
    strings_release(&names);
    return ok;
}

static bool is_interrupted(void *explorer)
{
    const ExplorePlan *plan = ((Explorer *)explorer)->plan;
    return plan->interrupted && plan->interrupted(plan->arg);
}

static void tell_covered(void *explorer, uint8_t *edges, size_t n)
{
    Explorer *x = explorer;
    pthread_mutex_lock(&x->lock);
    for (uint32_t i = 0; x->queue && i < n; i++)
        edges[i] = queue_covers(x->queue, i);
    pthread_mutex_unlock(&x->lock);
}

static void trace_anew(void *explorer, size_t reachable)
{
    Explorer *x = explorer;
    pthread_mutex_lock(&x->lock);
    if (reachable)
        x->reachable = reachable;
    for (size_t i = 0; x->queue && i < queue_length(x->queue); i++)
        queue_at(x->queue, i)->traces = 0;
    x->idle = 0;
    pthread_mutex_unlock(&x->lock);
}

/* What only the strict judge has seen is to be judged by it again, and not by a worse one. */
static bool has_strict_failures(const Explorer *x)
{
    Strings names = { 0 };
    bool has = false;
    if (x->plan->resume && dir_list(x->failures_dir, &names, NULL))
        for (size_t i = 0; i < names.len; i++)
            has |= str_ends(names.items[i], failure_kind_name(FAILURE_SANITIZER));
    strings_release(&names);
    return has;
}

static void take_unjudged(const Explorer *x, ExploreResult *out)
{
    const char **all = arena_array(&out->arena, const char *, x->left_over.len + 1);
    for (size_t i = 0; i < x->left_over.len; i++)
        all[i] = arena_strdup(&out->arena, x->left_over.items[i]);
    out->unjudged = all;
    out->nunjudged = x->left_over.len;
}

static bool begin_front(Explorer *x, Err *err)
{
    const ExplorePlan *plan = x->plan;
    bool trace = !plan->no_concolic && !plan->replay;
    bool steps = plan->no_mutation || plan->systematic || x->steady;
    x->host =
        (FrontHost){ .seed = plan->seed,
                     .time = plan->time,
                     .longest = x->longest,
                     .trace = trace,
                     .trace_first = trace && steps,
                     .judge_first = steps || plan->replay || plan->stop == STOP_FIRST_FAILURE ||
                                    has_strict_failures(x),
                     .steady = x->steady,
                     .stop = runs_are_cut,
                     .over = is_interrupted,
                     .covered = tell_covered,
                     .anew = trace_anew,
                     .note = take_note,
                     .word = take_word,
                     .arg = x };
    if (!x->front->begin(plan->subject, &x->host, &x->facts, err))
        return false;
    assert(x->facts.branches <= x->facts.counters);
    x->reachable = x->facts.reachable ? x->facts.reachable : x->facts.branches;
    atomic_store(&x->strict, x->facts.strict);
    x->queue = queue_new(x->facts.counters, x->facts.branches);
    if (plan->oracle && !(x->folder = tempdir_new(NULL, err)))
        return false;
    return true;
}

/* May runs be traced by now? Jobs find out by themselves. */
static void look_for_traces(Explorer *x)
{
    bool now = !x->front->traces || x->front->traces(x->plan->subject) == FRONT_TRACE_NOW;
    if (x->host.trace && now)
        atomic_store(&x->traces, true);
    if (x->front->strict && !x->strict && x->front->strict(x->plan->subject))
        atomic_store(&x->strict, true);
}

/* ---- jobs */

static bool job_open(Job *j, Explorer *x, unsigned number, Err *err)
{
    *j = (Job){ .x = x, .number = number };
    Rng seed = rng_seeded(x->plan->seed + number * 0x9e3779b9u);
    FrontLimits limits = explorer_limits(x);
    j->rng = rng_fork(&seed);
    j->mutator = mutator_new(rng_next(&seed), x->longest);
    j->worker = x->front->open(x->plan->subject, number, &limits, err);
    return j->worker != NULL;
}

static void job_close(Job *j)
{
    tracer_free(j->tracer);
    failures_close(j);
    j->x->front->close(j->worker);
    mutator_free(j->mutator);
    map_release(&j->imported);
    systematic_close(j);
}

/* Neither is there, or solving not yet: others may bring inputs, else it is over. */
static void wait_for_work(Job *j)
{
    const ExplorePlan *plan = j->x->plan;
    if (plan->no_concolic && !(plan->sync && *plan->sync))
        explorer_stop(j->x, "nothing is left");
    else
        usleep(20000);
}

/* Mutation and solving take turns. */
static bool job_step(Job *j)
{
    double begun = explorer_age(j->x);
    bool trace = job_traces(j) && tracer_wanted(j), ok = true;
    if (trace)
        ok = tracer_step(j);
    else if (!j->x->plan->no_mutation)
        ok = stage_mutate(j);
    else
        wait_for_work(j);
    *(trace ? &j->tracing : &j->mutating) += explorer_age(j->x) - begun;
    if (ok)
        failures_later(j);
    return ok && corpus_sync(j);
}

static void *job_work(void *arg)
{
    Job *j = arg;
    bool ok = true;
    while (ok && !job_done(j))
        ok = j->x->plan->systematic ? systematic_step(j) : job_step(j);
    if (!ok)
        explorer_stop(j->x, "an error");
    pthread_mutex_lock(&j->x->lock);
    j->x->spent++;
    j->x->executions += j->untold;
    j->untold = 0;
    pthread_mutex_unlock(&j->x->lock);
    return NULL;
}

/* ---- the time */

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
        .seconds = now - x->begun,
        .executions = x->executions,
        .shortened = atomic_load(&x->shortened),
        .paths = queue_paths(x->queue),
        .covered = queue_covered(x->queue),
        .reachable = x->reachable,
        .queue = queue_length(x->queue),
        .failures = x->bugs.len - x->hangs - x->gone,
        .hangs = x->hangs,
        .last_new = explorer_age(x) - x->last_new,
        .traces = x->ntraces,
        .solved_new = x->solved_new,
        .checked = x->checked,
        .diverged = x->diverged,
        .checked_precise = x->checked_precise,
        .diverged_precise = x->diverged_precise,
    };
    for (unsigned i = 0; i < n; i++)
        add_stats(&s.solver, &jobs[i].solver);
    pthread_mutex_unlock(&x->lock);
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
    if (plan->stop == STOP_COVERAGE &&
        (s->covered >= s->reachable || s->last_new > (s->seconds > 120 ? s->seconds / 2 : 60)))
        return "coverage";
    return NULL;
}

/* A program that is slow to start gets through with one input at least. */
void explorer_look(Explorer *x)
{
    double late = clock_seconds() - x->begun - x->plan->time;
    look_for_traces(x);
    if (x->plan->interrupted && x->plan->interrupted(x->plan->arg) &&
        !(x->plan->time_is_over && x->plan->time_is_over(x->plan->arg)))
        explorer_stop(x, "interrupted");
    if (x->plan->time > 0 && late >= 0 &&
        (queue_length(x->queue) || x->bugs.len || late > 2 * LEAST_START))
        explorer_stop(x, "time");
}

/* No job may try another input. */
static bool all_spent(Explorer *x, unsigned jobs)
{
    pthread_mutex_lock(&x->lock);
    bool all = x->spent == jobs;
    pthread_mutex_unlock(&x->lock);
    return all;
}

static void watch(Explorer *x, Job *jobs, unsigned n)
{
    while (!atomic_load(&x->stop)) {
        usleep(x->plan->systematic ? 5000 : 50000);
        look_for_traces(x);
        tell_notes(x);
        ExploreStatus s = status_of(x, jobs, n);
        const char *over = all_spent(x, n) ? "executions" : is_over(x, &s);
        if (over)
            explorer_stop(x, over);
        if (x->plan->status)
            x->plan->status(&s, x->plan->arg);
    }
}

/* Some programs take long to start. */
static void measure_start(Explorer *x, Job *j)
{
    double time = x->plan->time,
           most = time > 0 ? fmin(MOST_START, fmax(LEAST_START, time / 2)) : MOST_START;
    if (x->front->start)
        failures_at_start(j, most);
    if (x->never_ends && x->plan->timeout <= 0)
        x->timeout = 1;                        /* others will not end either */
    if (x->start > 2)
        explorer_note(x, "a run takes %.0f s: there will be few of them", x->start);
}

/* Seconds of a fast run, by what it took so far. */
static void set_limits(Explorer *x, Job *j, double seconds)
{
    if (x->plan->timeout <= 0)
        x->timeout = seconds + (x->start > 1 ? 2 * x->start : 0);
    FrontLimits limits = explorer_limits(x);
    if (x->front->limits)
        x->front->limits(j->worker, &limits);
}

/* The first job has read the seeds; now how long a run may take is known. */
static void set_timeout(Explorer *x, Job *j)
{
    double worst = 0;
    for (size_t i = 0; i < queue_length(x->queue); i++)
        if (queue_at(x->queue, i)->micros > worst)
            worst = queue_at(x->queue, i)->micros;
    set_limits(x, j, x->steady ? STEADY_LIMIT : fmax(0.2, worst * 10 / 1e6));
}

/* The jobs, of which the first one reads the seeds before the others are there. */
typedef struct Jobs {
    Job *all;
    pthread_t *threads;
    unsigned n, opened, started;
} Jobs;

static bool read_seeds(Explorer *x, Job *first, Err *err)
{
    measure_start(x, first);
    set_limits(x, first, x->timeout);
    if (!corpus_seeds(first, err))
        return false;
    bool interrupted = x->ended && strcmp(x->ended, "interrupted") == 0;
    if (!queue_length(x->queue) && !x->bugs.len && !x->plan->systematic && !interrupted)
        return err_set(err,
                       "no input gets through the program in %g s: it waits for something "
                       "that is not in its input, or is slow to start (--timeout 30s)",
                       x->timeout);
    if (x->plan->replay)
        explorer_stop(x, "all inputs were run");
    return true;
}

static bool start_jobs(Explorer *x, Jobs *jobs, Err *err)
{
    for (; jobs->opened < jobs->n; jobs->opened++)
        if (!job_open(&jobs->all[jobs->opened], x, jobs->opened, err)) {
            jobs->opened++;                    /* what there is of it is closed */
            return false;
        }
    for (; jobs->started < jobs->n; jobs->started++)
        if (pthread_create(&jobs->threads[jobs->started], NULL, job_work,
                           &jobs->all[jobs->started]) != 0)
            return err_set(err, "cannot start a thread");
    return true;
}

/* Why a job ended everything. */
static bool check_jobs(const Explorer *x, const Jobs *jobs, Err *err)
{
    for (unsigned i = 0; i < jobs->opened && strcmp(x->ended, "an error") == 0; i++)
        if (*jobs->all[i].err.msg)
            return err_set(err, "%s", jobs->all[i].err.msg);
    return true;
}

static void close_jobs(Jobs *jobs)
{
    for (unsigned i = 0; i < jobs->opened; i++)
        job_close(&jobs->all[i]);
    free(jobs->all);
    free(jobs->threads);
}

static bool run_jobs(Explorer *x, ExploreResult *out, Err *err)
{
    unsigned n = x->plan->jobs ? x->plan->jobs : 1;
    Jobs jobs = { xcalloc(n, sizeof *jobs.all), xcalloc(n, sizeof *jobs.threads), n, 1, 0 };
    bool ok = job_open(&jobs.all[0], x, 0, err);
    x->begun = clock_seconds();
    look_for_traces(x);
    ok = ok && read_seeds(x, &jobs.all[0], err);
    x->watched = true;
    if (ok)
        set_timeout(x, &jobs.all[0]);
    ok = ok && start_jobs(x, &jobs, err);
    if (ok)
        watch(x, jobs.all, n);
    explorer_stop(x, "an error");
    for (unsigned i = 0; i < jobs.started; i++)
        pthread_join(jobs.threads[i], NULL);
    tell_notes(x);
    if (ok) {
        out->status = status_of(x, jobs.all, n);
        ok = check_jobs(x, &jobs, err) && (!x->plan->lcov || lcov_write(x, x->plan->lcov, err));
    }
    close_jobs(&jobs);
    return ok;
}

/* ---- main */

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
    free(x->queue_dir);
    free(x->failures_dir);
    vec_release(&x->words);
    map_release(&x->known_words);
    map_release(&x->bad_paths);
    map_release(&x->imprecise);
    arena_release(&x->arena);
    strings_release(&x->notes);
    strings_release(&x->left_over);
    pthread_mutex_destroy(&x->lock);
    if (x->lock_fd >= 0)
        close(x->lock_fd);
    pthread_mutex_destroy(&x->note_lock);
    if (x->folder)
        tempdir_remove(x->folder);
}

/* Has an input led somewhere that the first one had not? Its length or its end can do so, on which no
 * solver is asked. */
static bool leads_on(const Queue *q)
{
    for (size_t i = 1; i < queue_length(q); i++)
        if (queue_at(q, i)->new_edge)
            return true;
    return false;
}

bool explore(const ExplorePlan *plan, ExploreResult *out, Err *err)
{
    Explorer x = { .plan = plan,
                   .front = plan->front,
                   .caller = pthread_self(),
                   .lock_fd = -1,
                   .steady = plan->executions && plan->jobs <= 1,
                   .timeout = plan->timeout > 0 ? plan->timeout : 5,
                   .longest = plan->longest ? plan->longest : 1u << 20 };
    assert(plan->systematic || (x.front->add && x.front->run));
    pthread_mutex_init(&x.lock, NULL);
    pthread_mutex_init(&x.note_lock, NULL);
    bool ok = make_folders(&x, err), begun = ok && begin_front(&x, err);
    if (begun) {
        ok = run_jobs(&x, out, err);
    } else if (ok) {
        ok = is_interrupted(&x); /* before anything could be run */
        x.ended = "interrupted";
    }
    if (ok && x.front->finish)
        x.front->finish(plan->subject);
    failures_finish(&x, out);
    take_imprecise(&x, out);
    take_unjudged(&x, out);
    systematic_finish(&x, out);
    out->ended = x.ended ? x.ended : "";
    out->unsaved = x.unsaved;
    out->untouched = ok && x.ntraces && !x.ndepending && (x.nfollowed || plan->no_mutation) &&
                     !leads_on(x.queue);
    if (out->untouched)
        explorer_note(&x,
                      "no branch depends on the input: is it read from elsewhere (a file: @@, "
                      "arguments: --argv, the environment: --env), or is a terminal wanted, which "
                      "runs don't have?");
    if (ok && x.once)
        explorer_note(&x, "%zu run%s died that did not die again in %u more; %s not reported",
                      x.once, x.once == 1 ? "" : "s", FAILURES_REPEATS,
                      x.once == 1 ? "it is" : "they are");
    tell_notes(&x);
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
    arena_release(&r->arena);
    *r = (ExploreResult){ 0 };
}
