/*
 * Inputs that make the program fail. An input is judged by the build with
 * sanitizers; one that died in the counting build but not there is run once
 * more on the counting build with all that src/run/ can see. Failures are the same if
 * kind and site are. The first input of each is made smaller at once.
 */
#include "engine/explore/explore_int.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/units.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often an input is run to make it smaller. */
enum { SMALLER_TESTS = 400, WAITING_MOST = 512, WAITING_LONGEST = 1 << 16 };

/* ---------------------------------------------------------------- verdicts */

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

static bool is_late(const Failure *f)
{
    return f->kind == FAILURE_TIMEOUT || f->kind == FAILURE_CPU_LIMIT ||
           f->kind == FAILURE_HANG;
}

static bool counts(const Explorer *x, const Failure *f)
{
    if (f->kind == FAILURE_EXIT)
        return status_is_in(x->plan->bad_status, f->status);
    return failure_is(f);
}

/* The user's command, with the input's file as last word: does it object? */
static bool command_objects(Job *j, const uint8_t *bytes, size_t n)
{
    Strings argv = {0};
    char *path = xprintf("%s/judged.%u", j->x->folder, j->number);
    bool bad = false;
    for (char *const *w = j->x->plan->oracle; *w; w++)
        strings_add(&argv, *w);
    strings_add(&argv, path);
    ProcResult r = {0};
    Proc p = { .argv = strings_argv(&argv), .capture = true, .seconds = 10, .in = path };
    if (file_write(path, bytes, n, NULL) && proc_run(&p, &r, NULL))
        bad = r.status != 0;
    proc_result_release(&r);
    strings_release(&argv);
    free(path);
    return bad;
}

/* One run on the judge, or on the counting build if that is the only one that fails. */
bool failures_run(Job *j, Subject *s, const uint8_t *bytes, size_t n, Failure *out)
{
    RunResult r = {0};
    Err ignored = {0};
    if (!s || !subject_run(s, bytes, n, &r, &ignored))
        return false;
    bool bad = !r.stopped && counts(j->x, &r.failure);
    if (bad)
        failure_copy(out, &r.failure);
    run_result_release(&r);
    return bad;
}

/* ------------------------------------------------------------ making smaller */

typedef struct Shrink {
    Job *job;
    Subject *subject;                /* NULL: the user's command */
    const Failure *failure;
    unsigned tests;
    double until;
} Shrink;

static bool still_fails(Shrink *k, const uint8_t *bytes, size_t n)
{
    if (!k->tests || clock_seconds() > k->until || atomic_load(&k->job->x->stop))
        return false;
    k->tests--;
    if (!k->subject)
        return command_objects(k->job, bytes, n);
    Failure f = {0};
    bool same = failures_run(k->job, k->subject, bytes, n, &f) &&
                failure_same(&f, k->failure, FAILURE_SAME_SITE);
    failure_release(&f);
    return same;
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

static void make_smaller(Job *j, Subject *s, Bug *b, const Str *small)
{
    Shrink k = { .job = j, .subject = s, .failure = &b->f.failure, .tests = SMALLER_TESTS,
                 .until = clock_seconds() + 10 };
    b->f.small = small ? xmemdup(small->data, small->len) : xmemdup(b->bytes, b->n);
    b->f.nsmall = small ? small->len : b->n;
    if (small || b->f.hang || j->x->plan->replay)
        return;
    b->f.nsmall = leave_out(&k, b->f.small, b->n);
    make_plain(&k, b->f.small, b->f.nsmall);
    Failure f = {0};                           /* what is told is about the input that is shown */
    if (s && failures_run(j, s, b->f.small, b->f.nsmall, &f) &&
        failure_same(&f, &b->f.failure, FAILURE_SAME_SITE)) {
        pthread_mutex_lock(&j->x->lock);
        Failure first = b->f.failure;
        b->f.failure = f;
        f = first;
        pthread_mutex_unlock(&j->x->lock);
    }
    failure_release(&f);
}

/* -------------------------------------------------------------------- list */

static Bug *find(Explorer *x, const Failure *f, bool by_command)
{
    for (size_t i = 0; i < x->bugs.len; i++) {
        Bug *b = x->bugs.items[i];
        if (b->f.by_command == by_command &&
            (by_command || failure_same(&b->f.failure, f, FAILURE_SAME_SITE)))
            return b;
    }
    return NULL;
}

static void save(Explorer *x, Bug *b, size_t number)
{
    const char *kind = b->f.by_command ? "oracle" : failure_kind_name(b->f.failure.kind);
    char *name = xprintf("id:%06zu,%s", number, kind);
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

/* `small`: the input as it was made smaller some time ago; NULL: that is to be done. */
static void add(Job *j, Subject *s, const uint8_t *bytes, size_t n, uint32_t parent,
                const Failure *f, bool by_command, const Str *small)
{
    Explorer *x = j->x;
    pthread_mutex_lock(&x->lock);
    Bug *b = find(x, f, by_command);
    size_t number = x->bugs.len;
    if (b) {
        b->f.seen++;
        pthread_mutex_unlock(&x->lock);
        return;
    }
    b = xcalloc(1, sizeof *b);
    failure_copy(&b->f.failure, f);
    b->f.by_command = by_command;
    b->f.hang = !by_command && is_late(f);
    b->f.when = clock_seconds() - x->begun;
    b->f.seen = 1;
    b->bytes = xmemdup(bytes, n);
    b->n = n;
    b->parent = parent;
    x->hangs += b->f.hang;
    vec_push(&x->bugs, b);
    pthread_mutex_unlock(&x->lock);
    make_smaller(j, s, b, small);
    b->plain = s == j->plain;
    bool now = j->tracer && x->watched;        /* all seeds first */
    b->studied = !s || b->f.hang || now;
    if (s && !b->f.hang && now)
        b->f.condition = condition_of(j, s, b->f.small, b->f.nsmall, &b->f.failure);
    pthread_mutex_lock(&x->lock);
    save(x, b, number);
    pthread_mutex_unlock(&x->lock);
    if (x->plan->stop == STOP_FIRST_FAILURE)
        explorer_stop(x, "first failure");
}

/* ------------------------------------------------------------------- judge */

/* Sanitizers are slow, and a machine may be busy. */
static RunLimits judge_limits(const Explorer *x)
{
    double seconds = explorer_allows(x, 10, 2);
    return (RunLimits){ .wall = seconds * 3, .cpu = seconds, .idle = fmax(10, fmax(x->start * 3, x->plan->timeout * 2)),
                        .memory = x->plan->memory, .output = 64u << 20 };
}

bool failures_open(Job *j, Err *err)
{
    Explorer *x = j->x;
    static char *env[] = {
        "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_abort=1",
        "UBSAN_OPTIONS=print_stacktrace=1", NULL,
    };
    SubjectPlan plan = { .program = x->sanitized, .call = &x->plan->call,
                         .limits = judge_limits(x), .env = env, .untraced = true,
                         .stop = job_cuts, .stop_arg = j };
    if (x->sanitized && !(j->judge = subject_new(&plan, err)))
        return false;
    plan.program = x->coverage;
    plan.env = NULL;
    plan.untraced = false;
    j->plain = subject_new(&plan, err);
    return j->plain != NULL;
}

void failures_limits(Job *j)
{
    RunLimits limits = judge_limits(j->x);
    if (j->judge)
        subject_limits(j->judge, &limits);
    subject_limits(j->plain, &limits);
}

/* It ends, after all: the limit was too low, or the machine is busy. */
static void allow_more_time(Job *j)
{
    Explorer *x = j->x;
    pthread_mutex_lock(&x->lock);
    if (x->plan->timeout <= 0 && x->timeout < 5)
        x->timeout *= 1.5;
    fast_limit(j->fast, x->timeout);
    pthread_mutex_unlock(&x->lock);
}

/* Runs `bytes` or what they have become; says whether it fails. */
static bool judge(Job *j, const uint8_t *bytes, size_t n, uint32_t parent, bool died, const Str *small)
{
    Failure f = {0};
    const uint8_t *run = small ? (const uint8_t *)small->data : bytes;
    size_t nrun = small ? small->len : n;
    bool bad = true;
    if (failures_run(j, j->judge, run, nrun, &f))
        add(j, j->judge, bytes, n, parent, &f, false, small);
    else if ((died || !j->judge) && failures_run(j, j->plain, run, nrun, &f))
        add(j, j->plain, bytes, n, parent, &f, false, small);
    else if (j->x->plan->oracle && command_objects(j, run, nrun))
        add(j, NULL, bytes, n, parent, &f, true, small);
    else
        bad = false;
    failure_release(&f);
    return bad;
}

bool failures_judge(Job *j, const uint8_t *bytes, size_t n, uint32_t parent, bool died,
                    bool late)
{
    if (!judge(j, bytes, n, parent, died, NULL) && late)
        allow_more_time(j);
    return true;
}

bool failures_again(Job *j, const Str *input, const Str *small)
{
    const uint8_t *bytes = (const uint8_t *)str_c(input);
    return (small && judge(j, bytes, input->len, UINT32_MAX, true, small)) ||
           judge(j, bytes, input->len, UINT32_MAX, true, NULL);
}

void failures_sample(Job *j, const uint8_t *bytes, size_t n, uint32_t parent)
{
    Waiting w = { NULL, n, parent };
    uint32_t at = j->waited++ * 2654435761u % WAITING_MOST;
    if (n > WAITING_LONGEST)
        return;
    w.bytes = xmemdup(bytes, n);
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
    double now = clock_seconds();
    while (j->waiting.len && j->judge && j->sampling <= 0.1 * (now - j->x->begun)) {
        Waiting w = j->waiting.items[--j->waiting.len];
        Failure f = {0};
        if (failures_run(j, j->judge, w.bytes, w.n, &f))
            add(j, j->judge, w.bytes, w.n, w.parent, &f, false, NULL);
        failure_release(&f);
        free(w.bytes);
        j->sampling += clock_seconds() - now;
        now = clock_seconds();
    }
}

/* What was found before there was a concolic build. */
void failures_study(Job *j)
{
    Explorer *x = j->x;
    Bug *b = NULL;
    pthread_mutex_lock(&x->lock);
    for (size_t i = 0; !b && i < x->bugs.len; i++)
        if (!x->bugs.items[i]->studied && x->bugs.items[i]->f.file)
            b = x->bugs.items[i];
    if (b)
        b->studied = true;
    pthread_mutex_unlock(&x->lock);
    if (b)
        b->f.condition = condition_of(j, b->plain ? j->plain : j->judge, b->f.small,
                                      b->f.nsmall, &b->f.failure);
}

void failures_close(Job *j)
{
    subject_free(j->judge);
    subject_free(j->plain);
    j->judge = j->plain = NULL;
    for (size_t i = 0; i < j->waiting.len; i++)
        free(j->waiting.items[i].bytes);
    vec_release(&j->waiting);
}

void failures_finish(Explorer *x, ExploreResult *out)
{
    out->failures = xcalloc(x->bugs.len + 1, sizeof *out->failures);
    out->nfailures = x->bugs.len;
    for (size_t i = 0; i < x->bugs.len; i++) {
        Bug *b = x->bugs.items[i];
        if (!b->f.condition)
            b->f.condition = xstrdup("");
        out->failures[i] = b->f;
        free(b->bytes);
        free(b);
    }
    vec_release(&x->bugs);
}
