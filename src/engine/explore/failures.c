/*
 * Inputs that make the subject fail. The strict judge of the front end runs
 * them; one that died in a quick run but passes there is judged once more as
 * it was. The user's command has the last word. Failures are the same if kind and
 * site are. The first input of each is made smaller at once.
 */
#include "engine/explore/explore_int.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/units.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often an input is run to make it smaller. */
enum { REPEATS = 6, REPEATS_FLAKY = FAILURES_REPEATS };     /* how often a failure is run again */
enum { SMALLER_TESTS = 400, WAITING_MOST = 512, WAITING_LONGEST = 1 << 16 };

/* ---- verdicts */

/* The user's command, with the input's file as last word: does it object? */
static bool command_objects(Job *j, const uint8_t *bytes, size_t n)
{
    Strings argv = { 0 };
    char *path = xprintf("%s/judged.%u", j->x->folder, j->number);
    bool bad = false;
    for (char *const *w = j->x->plan->oracle; *w; w++)
        strings_add(&argv, *w);
    strings_add(&argv, path);
    ProcResult r = { 0 };
    Proc p = { .argv = strings_argv(&argv), .capture = true, .seconds = 10, .in = path };
    if (file_write(path, bytes, n, NULL) && proc_run(&p, &r, NULL))
        bad = r.status != 0;
    proc_result_release(&r);
    strings_release(&argv);
    free(path);
    return bad;
}

static void release_all(FrontFailures *all)
{
    for (size_t i = 0; i < all->len; i++)
        failure_release(&all->items[i]);
    vec_release(all);
}

/* How this input fails; nothing: it does not. */
static void run(Job *j, FrontJudge by, const Input *in, FrontFailures *out)
{
    explorer_worked(j->x, 5e-3);
    if (job_restore(j, in->state))
        j->x->front->judge(j->worker, by, in->bytes, in->n, out);
}

/* One that is the same as `f`; NULL: none is. */
static Failure *like(FrontFailures *all, const Failure *f)
{
    for (size_t i = 0; i < all->len; i++)
        if (failure_same(&all->items[i], f, FAILURE_SAME_SITE))
            return &all->items[i];
    return NULL;
}

bool failures_alike(Job *j, FrontJudge by, const Input *in, const Failure *f)
{
    FrontFailures all = { 0 };
    run(j, by, in, &all);
    bool same = like(&all, f) != NULL;
    release_all(&all);
    return same;
}

/* ---- making smaller */

typedef struct Shrink {
    Job *job;
    const Bug *bug;
    unsigned tests;
    double until;
} Shrink;

static bool still_fails(Shrink *k, const uint8_t *bytes, size_t n)
{
    if (!k->tests || explorer_age(k->job->x) > k->until || job_over(k->job))
        return false;
    k->tests--;
    if (k->bug->f.by_command)
        return command_objects(k->job, bytes, n);
    Input in = { k->bug->f.state, bytes, n, UINT32_MAX };
    return failures_alike(k->job, k->bug->by, &in, &k->bug->f.failure);
}

static size_t leave_out(Shrink *k, uint8_t *bytes, size_t n)
{
    uint8_t *room = xmalloc(n + 1);
    for (size_t size = n / 2 ? n / 2 : 1; size; size /= 2)
        for (size_t at = 0; at + size <= n && k->tests;) {
            memcpy(room, bytes, at);
            memcpy(room + at, bytes + at + size, n - at - size);
            if (still_fails(k, room, n - size)) {
                n -= size;
                memcpy(bytes, room, n);
            } else {
                at += size;
            }
        }
    free(room);
    return n;
}

/* What does not matter becomes '0', in blocks. */
static void make_plain(Shrink *k, uint8_t *bytes, size_t n)
{
    uint8_t *room = xmalloc(n + 1);
    for (size_t size = n; size; size /= 2)
        for (size_t at = 0; at < n && k->tests; at += size) {
            size_t m = at + size <= n ? size : n - at;
            memcpy(room, bytes, n);
            memset(room + at, '0', m);
            if (memcmp(room, bytes, n) != 0 && still_fails(k, room, n))
                memcpy(bytes, room, n);
        }
    free(room);
}

/* The text is about the input that is shown: so its failure takes the place of the first. */
static void show_smaller(Job *j, Bug *b)
{
    FrontFailures all = { 0 };
    Input in = { b->f.state, b->f.small, b->f.nsmall, UINT32_MAX };
    run(j, b->by, &in, &all);
    Failure *f = like(&all, &b->f.failure);
    if (f) {
        pthread_mutex_lock(&j->x->lock);
        Failure first = b->f.failure;
        b->f.failure = *f;
        *f = first;
        pthread_mutex_unlock(&j->x->lock);
    }
    release_all(&all);
}

/* ---- does it always fail, and only here? */

static bool is_flaky(const Bug *b) { return b->f.failed < b->f.runs; }

/* Runs the input again, more often if it does not always fail. */
static void repeat(Job *j, Bug *b)
{
    Input in = { b->f.state, b->bytes, b->n, UINT32_MAX };
    if (b->f.by_command || b->f.hang)
        return;
    for (unsigned i = 0; i < (is_flaky(b) ? REPEATS_FLAKY : REPEATS) && !job_over(j); i++) {
        b->f.failed += failures_alike(j, b->by, &in, &b->f.failure);
        b->f.runs++;
    }
}

/* What another build shows may be a matter of that build: where behaviour is undefined, or the stack
 * is larger. The program as the user built it knows. A sanitizer's report speaks for itself. */
static void compare(Job *j, Bug *b)
{
    FrontFailures all = { 0 };
    Input in = { b->f.state, b->bytes, b->n, UINT32_MAX };
    if (!j->x->facts.own || b->f.by_command || b->f.hang || is_flaky(b) ||
        b->f.failure.kind == FAILURE_SANITIZER)
        return;
    run(j, FRONT_OWN, &in, &all);
    b->f.ours_only = all.len == 0 && !job_over(j);
    release_all(&all);
}

static void make_smaller(Job *j, Bug *b, const Str *small)
{
    Shrink k = { .job = j, .bug = b, .tests = SMALLER_TESTS, .until = explorer_age(j->x) + 10 };
    b->f.small = small ? xmemdup(small->data, small->len) : xmemdup(b->bytes, b->n);
    b->f.nsmall = small ? small->len : b->n;
    if (small || b->f.hang || j->x->plan->replay || is_flaky(b))
        return;
    b->f.nsmall = leave_out(&k, b->f.small, b->n);
    make_plain(&k, b->f.small, b->f.nsmall);
    if (!b->f.by_command)
        show_smaller(j, b);
}

/* ---- list */

/* Which limit ended a run that does not end is chance. */
static bool is_the_same(const Failure *a, const Failure *b)
{
    bool late = failure_is_late(a) && failure_is_late(b) && !failure_site(a) && !failure_site(b);
    return late || failure_same(a, b, FAILURE_SAME_SITE);
}

/* Judges name it differently, and of a flaky failure either may be the first to see it. */
static bool is_same_place(const Failure *a, const Failure *b)
{
    const FailureFrame *x = failure_site(a), *y = failure_site(b);
    return x && y && x->line && x->line == y->line && x->function && y->function &&
           strcmp(x->function, y->function) == 0;
}

static Bug *find(Explorer *x, const Failure *f, bool by_command)
{
    assert(by_command || failure_is(f) || f->kind == FAILURE_EXIT);
    for (size_t i = 0; i < x->bugs.len; i++) {
        Bug *b = x->bugs.items[i];
        if (b->f.by_command == by_command && (by_command || is_the_same(&b->f.failure, f) ||
                                              (is_flaky(b) && is_same_place(&b->f.failure, f))))
            return b;
    }
    return NULL;
}

static void save(Explorer *x, Bug *b, size_t number)
{
    const char *kind = b->f.by_command ? "oracle" : failure_kind_name(b->f.failure.kind);
    char *name = xprintf("id:%06zu,%s%s", number, kind, is_flaky(b) ? ",flaky" : "");
    char *small = xprintf("id:%06zu,%s,small", number, kind);
    b->f.file = path_join(x->failures_dir, name);
    if (!file_write(b->f.file, b->bytes, b->n, NULL))
        explorer_unsaved(x, b->f.file, errno);
    if (b->f.nsmall < b->n || memcmp(b->f.small, b->bytes, b->n) != 0) {
        b->f.small_file = path_join(x->failures_dir, small);
        if (!file_write(b->f.small_file, b->f.small, b->f.nsmall, NULL))
            explorer_unsaved(x, b->f.small_file, errno);
    }
    free(name);
    free(small);
}

static Bug *bug_new(const Explorer *x, const Input *in, const Failure *f, FrontJudge by,
                    bool by_command)
{
    Bug *b = xcalloc(1, sizeof *b);
    failure_copy(&b->f.failure, f);
    b->f.state = in->state;
    b->f.by_command = by_command;
    b->f.hang = !by_command && failure_is_late(f);
    b->f.limit = x->watched ? x->timeout : fmin(x->timeout, 1); /* else it is a guess */
    b->f.when = explorer_age(x);
    b->f.seen = b->f.runs = b->f.failed = 1;
    b->bytes = xmemdup(in->bytes, in->n);
    b->n = in->n;
    b->by = by;
    b->studied = b->busy = true; /* by this job, for now */
    return b;
}

/* Another input shows it, or it is new; then the caller goes on with it. */
static Bug *meet(Explorer *x, const Input *in, const Failure *f, FrontJudge by, bool by_command,
                 size_t *number)
{
    pthread_mutex_lock(&x->lock);
    Bug *known = find(x, f, by_command), *b = NULL;
    *number = x->bugs.len;
    if (known) {
        known->f.seen++;
    } else {
        b = bug_new(x, in, f, by, by_command);
        x->hangs += b->f.hang;
        vec_push(&x->bugs, b);
    }
    pthread_mutex_unlock(&x->lock);
    return b;
}

static Input small_input(const Bug *b)
{
    return (Input){ b->f.state, b->f.small, b->f.nsmall, UINT32_MAX };
}

/* SIGKILL comes from outside as a rule: the machine has no memory left, or is told to stop. It is the
 * subject's own only if it comes each time. */
static bool was_killed(Job *j, FrontJudge by, const Input *in, const Failure *f)
{
    if (f->signal != SIGKILL || failure_is_late(f))
        return false;
    for (unsigned i = 0; i < REPEATS && !job_over(j); i++)
        if (!failures_alike(j, by, in, f)) {
            pthread_mutex_lock(&j->x->lock);
            j->x->once++;
            pthread_mutex_unlock(&j->x->lock);
            return true;
        }
    return false;
}

/* A build with sanitizers takes several times as long: a run that is late there, and ends in the plain
 * one, ends. */
static bool is_slow_there(Job *j, FrontJudge by, const Input *in, const Failure *f)
{
    if (by != FRONT_STRICT || !failure_is_late(f))
        return false;
    FrontFailures all = { 0 };
    bool ends = true;
    run(j, FRONT_PLAIN, in, &all);
    for (size_t i = 0; i < all.len; i++)
        ends &= !failure_is_late(&all.items[i]);
    release_all(&all);
    return ends && !job_over(j);
}

/* `small`: the input as it was made smaller some time ago; NULL: that is to be done. `passed`: it was
 * run so often before, and did not fail. False: it is no failure of the subject. */
static bool add_after(Job *j, const Input *in, const Failure *f, FrontJudge by, bool by_command,
                      const Str *small, unsigned passed)
{
    Explorer *x = j->x;
    size_t number;
    if (!by_command && (was_killed(j, by, in, f) || is_slow_there(j, by, in, f)))
        return false;
    Bug *b = meet(x, in, f, by, by_command, &number);
    if (!b)
        return true;
    b->f.runs += passed;
    if (!small) { /* else an earlier exploration has */
        repeat(j, b);
        compare(j, b);
    }
    make_smaller(j, b, small);
    bool wanted = !by_command && !b->f.hang && !is_flaky(b),
         now = wanted && j->tracer && x->watched;
    Input shown = small_input(b); /* seeds come first: all of them, before that */
    char *condition = now ? tracer_condition(j, by, &shown, &b->f.failure) : NULL;
    pthread_mutex_lock(&x->lock);
    b->f.condition = condition;
    b->studied = !wanted || now;
    b->busy = false;
    b->again = by == FRONT_STRICT || by_command;
    save(x, b, number);
    pthread_mutex_unlock(&x->lock);
    if (x->plan->stop == STOP_FIRST_FAILURE)
        explorer_stop(x, "first failure");
    return true;
}

static bool add(Job *j, const Input *in, const Failure *f, FrontJudge by, bool by_command,
                const Str *small)
{
    return add_after(j, in, f, by, by_command, small, 0);
}

/* ---- judge */

/* It ends, after all: the limit was too low, or the machine is busy. */
static void allow_more_time(Job *j)
{
    Explorer *x = j->x;
    pthread_mutex_lock(&x->lock);
    if (x->plan->timeout <= 0 && x->timeout < 5)
        x->timeout *= 1.5;
    pthread_mutex_unlock(&x->lock);
    FrontLimits limits = explorer_limits(x);
    limits.quick_only = true;
    if (x->front->limits)
        x->front->limits(j->worker, &limits);
}

/* Adds all failures that this judge sees. `ran` may differ from `in`: what it was made smaller to. */
static bool judged(Job *j, FrontJudge by, const Input *in, const Input *ran, const Str *small)
{
    FrontFailures all = { 0 };
    run(j, by, ran, &all);
    bool bad = false;
    for (size_t i = 0; i < all.len; i++)
        bad |= add(j, in, &all.items[i], by, false, small);
    release_all(&all);
    return bad;
}

/* Runs the input or what it has become; says whether it fails. */
static bool judge(Job *j, const Input *in, bool died, const Str *small)
{
    Input ran = *in;
    bool strict = atomic_load(&j->x->strict);
    if (small) {
        ran.bytes = (const uint8_t *)str_c(small);
        ran.n = small->len;
    }
    if ((strict && judged(j, FRONT_STRICT, in, &ran, small)) ||
        ((died || !strict) && judged(j, FRONT_PLAIN, in, &ran, small)))
        return true;
    if (!j->x->plan->oracle || !command_objects(j, ran.bytes, ran.n))
        return false;
    Failure none = { 0 };
    add(j, in, &none, FRONT_PLAIN, true, small);
    return true;
}

/* It died, and now it does not: how often does it? If never, and nothing of another run can be the
 * reason, that it died of a signal is all that is known. Says whether it is a failure. */
static bool judge_again(Job *j, const Input *in, int signal)
{
    Explorer *x = j->x;
    unsigned tried = 1 + atomic_load(&x->strict);
    FrontFailures all = { 0 };
    for (unsigned i = 0; !all.len && i < REPEATS_FLAKY && !job_over(j); i++, tried++)
        run(j, FRONT_PLAIN, in, &all);
    Failure died = { .kind = FAILURE_SIGNAL, .signal = signal };
    bool fails = false;
    if (all.len)
        fails = add_after(j, in, &all.items[0], FRONT_PLAIN, false, NULL, tried - 1);
    else if (x->facts.alone && !job_over(j))
        fails = add_after(j, in, &died, FRONT_PLAIN, false, NULL, tried);
    pthread_mutex_lock(&x->lock);
    x->once += !all.len && !x->facts.alone && !job_over(j);
    pthread_mutex_unlock(&x->lock);
    release_all(&all);
    return fails;
}

bool failures_judge(Job *j, const Input *in, bool died, bool late, int signal)
{
    if (judge(j, in, died, NULL))
        return true;
    if (late)
        allow_more_time(j);
    return !late && died && signal && !job_over(j) && judge_again(j, in, signal);
}

void failures_at_start(Job *j, double most)
{
    FrontFailures all = { 0 };
    Explorer *x = j->x;
    x->start = x->front->start(j->worker, most, &all);
    x->never_ends = all.len > 0;
    Input none = { 0, (const uint8_t *)"", 0, UINT32_MAX };
    for (size_t i = 0; i < all.len; i++)
        add(j, &none, &all.items[i], x->strict ? FRONT_STRICT : FRONT_PLAIN, false, NULL);
    release_all(&all);
}

bool failures_again(Job *j, const Str *input, const Str *small)
{
    Input in = { 0, (const uint8_t *)str_c(input), input->len, UINT32_MAX };
    return (small && judge(j, &in, true, small)) || judge(j, &in, true, NULL);
}

void failures_sample(Job *j, const Input *in)
{
    Waiting w = { NULL, in->n, in->parent };
    uint32_t at = j->waited++ * 2654435761u % WAITING_MOST;
    assert(in->state == 0);
    if (in->n > WAITING_LONGEST)
        return;
    w.bytes = xmemdup(in->bytes, in->n);
    if (j->waiting.len < WAITING_MOST) {
        vec_push(&j->waiting, w);
    } else {
        free(j->waiting.items[at].bytes);
        j->waiting.items[at] = w;
    }
    failures_samples(j);
}

void failures_samples(Job *j)
{
    double now = explorer_age(j->x);
    while (j->waiting.len && atomic_load(&j->x->strict) && j->sampling <= 0.1 * now) {
        Waiting w = j->waiting.items[--j->waiting.len];
        Input in = { 0, w.bytes, w.n, w.parent };
        judged(j, FRONT_STRICT, &in, &in, NULL);
        free(w.bytes);
        j->sampling += explorer_age(j->x) - now;
        now = explorer_age(j->x);
    }
}

/* What was found before there was a concolic build. */
void failures_study(Job *j)
{
    Explorer *x = j->x;
    Bug *b = NULL;
    pthread_mutex_lock(&x->lock);
    for (size_t i = 0; !b && i < x->bugs.len; i++)
        if (!x->bugs.items[i]->studied && !x->bugs.items[i]->busy && !x->bugs.items[i]->gone)
            b = x->bugs.items[i];
    if (b)
        b->studied = b->busy = true;
    pthread_mutex_unlock(&x->lock);
    if (!b)
        return;
    Input shown = small_input(b);
    char *condition = tracer_condition(j, b->by, &shown, &b->f.failure);
    pthread_mutex_lock(&x->lock);
    if (condition) { /* else what was found before a strict judge's word stays: it fails then */
        free(b->f.condition);
        b->f.condition = condition;
    }
    b->busy = false;
    pthread_mutex_unlock(&x->lock);
}

/* ---- the strict judge comes later */

static void remove_files(Bug *b)
{
    unlink(b->f.file);
    if (b->f.small_file)
        unlink(b->f.small_file);
    free(b->f.file);
    free(b->f.small_file);
    b->f.file = b->f.small_file = NULL;
}

/* The strict judge's word about it takes the place of what was seen before. Under the lock. */
static void say_strictly(Explorer *x, Bug *b, size_t number, FrontFailures *all)
{
    Failure *f = &all->items[0];
    Bug *same = find(x, f, false);
    remove_files(b);
    if (same && same != b) {
        same->f.seen += b->f.seen;
        b->gone = true;
        x->gone++;
        return;
    }
    Failure first = b->f.failure;
    b->f.failure = *f;
    *f = first;
    b->by = FRONT_STRICT;
    b->f.ours_only = false;
    b->studied = b->f.hang;
    save(x, b, number);
}

/* A failure that was found without it; false: there is none. */
static bool judge_older_failure(Job *j)
{
    Explorer *x = j->x;
    Bug *b = NULL;
    size_t number = 0;
    pthread_mutex_lock(&x->lock);
    for (size_t i = 0; !b && i < x->bugs.len; i++)
        if (!x->bugs.items[i]->again && !x->bugs.items[i]->busy) {
            b = x->bugs.items[i];
            number = i;
        }
    if (b)
        b->again = b->busy = true;
    pthread_mutex_unlock(&x->lock);
    if (!b)
        return false;
    FrontFailures all = { 0 };
    Input shown = small_input(b);
    run(j, FRONT_STRICT, &shown, &all);
    pthread_mutex_lock(&x->lock);
    if (all.len && !b->f.hang)
        say_strictly(x, b, number, &all);
    b->busy = false;
    pthread_mutex_unlock(&x->lock);
    release_all(&all);
    return true;
}

/* An input of the queue that it has not seen. */
static bool judge_older_input(Job *j)
{
    Explorer *x = j->x;
    Entry *e = NULL;
    pthread_mutex_lock(&x->lock);
    while (!e && x->unjudged < queue_length(x->queue)) {
        e = queue_at(x->queue, x->unjudged++);
        if (e->judged)
            e = NULL;
        else
            e->judged = true;
    }
    pthread_mutex_unlock(&x->lock);
    if (!e)
        return false;
    Input in = { e->state, e->bytes, e->n, e->parent };
    judged(j, FRONT_STRICT, &in, &in, NULL);
    return true;
}

void failures_later(Job *j)
{
    enum { SOME = 8 };
    if (!atomic_load(&j->x->strict))
        return;
    for (unsigned i = 0; i < SOME && !job_over(j); i++)
        if (!judge_older_failure(j) && !judge_older_input(j))
            return;
}

void failures_close(Job *j)
{
    for (size_t i = 0; i < j->waiting.len; i++)
        free(j->waiting.items[i].bytes);
    vec_release(&j->waiting);
}

static void release_one(ExploreFailure *f)
{
    failure_release(&f->failure);
    free(f->small);
    free(f->condition);
}

void failures_finish(Explorer *x, ExploreResult *out)
{
    out->failures = xcalloc(x->bugs.len + 1, sizeof *out->failures);
    for (size_t i = 0; i < x->bugs.len; i++) {
        Bug *b = x->bugs.items[i];
        assert(b->f.small && b->f.seen);
        if (!b->f.condition)
            b->f.condition = xstrdup("");
        if (b->gone)
            release_one(&b->f);
        else
            out->failures[out->nfailures++] = b->f;
        free(b->bytes);
        free(b);
    }
    vec_release(&x->bugs);
}
