/*
 * The inputs of an exploration under other orders of the program's threads.
 *
 * The search runs each input in the order that the system happens to choose. A program that makes
 * threads may fail in others only. So the last part of the time belongs to the schedule engine: it
 * runs each input of the queue, the newest first, in a few orders, then in more. An order that
 * makes the program fail, where the search saw no such failure, is a finding of its own; the order is
 * kept, and `sundew threads --replay` runs it again.
 */
#include "base/apart.h"
#include "base/escape.h"
#include "base/file.h"
#include "engine/schedule/schedule.h"
#include "session/failure_finding.h"
#include "technique/explore/explore_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RULE "explore/order"

enum { FEW = 20, MOST = 500, STEADY_INPUTS = 50 };

/* An input and an order that make the program fail. */
typedef struct Order {
    Failure failure;               /* of FAILURE_NONE: a deadlock */
    uint32_t site;                 /* … at which the first thread waits */
    unsigned preemptions;
    char *input, *folder;
    Str picture;
} Order;

typedef struct Orders {
    Exploration *e;
    const ExploreResult *found;    /* by the search */
    ScheduleBuild build;
    Scheduler *scheduler;          /* of the input at hand */
    Strings argv;                  /* … */
    const char *input;             /* its file */
    Vec(Order) bad;
    size_t inputs, runs;
    Err *err;
    bool ok;
} Orders;

/* ---- whether */

bool orders_matter(const Exploration *e)
{
    size_t n;
    const Function *const *fns = program_functions(e->program, &n);
    if (e->input.len || e->function || session_flag(e->s, "replay"))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!fns[i]->defined && (strcmp(fns[i]->name, "pthread_create") == 0 ||
                                 strcmp(fns[i]->name, "thrd_create") == 0))
            return true;
    return false;
}

/* ---- one input */

static bool is_known(const Orders *o, const Failure *f, uint32_t site)
{
    for (size_t i = 0; failure_is(f) && i < o->found->nfailures; i++)
        if (failure_same(&o->found->failures[i].failure, f, FAILURE_SAME_SITE))
            return true;
    for (size_t i = 0; i < o->bad.len; i++) {
        const Order *b = &o->bad.items[i];
        bool same = failure_is(f) ? failure_same(&b->failure, f, FAILURE_SAME_SITE)
                                  : !failure_is(&b->failure) && b->site == site;
        if (same)
            return true;
    }
    return false;
}

static uint32_t first_wait(const ScheduleRun *run)
{
    for (size_t i = 0; i < run->waits.len; i++)
        if (run->waits.items[i].kind != SUNDEW_AT_BEGIN)
            return run->waits.items[i].site;
    return UINT32_MAX;
}

static SearchVerdict judge(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Orders *o = arg;
    ScheduleVerdict verdict = schedule_verdict(run);
    const Failure *f = &run->result.failure, none = { 0 };
    o->runs++;
    if (verdict == SCHEDULE_FINE)
        return SEARCH_GO_ON;
    uint32_t site = verdict == SCHEDULE_DEADLOCKS ? first_wait(run) : UINT32_MAX;
    if (verdict == SCHEDULE_DEADLOCKS)
        f = &none;
    if (is_known(o, f, site))
        return SEARCH_STOP;
    Order b = { .site = site,
                .preemptions = run->preemptions,
                .input = xstrdup(o->input),
                .folder = xprintf("%s/orders/%zu", o->e->out, o->bad.len + 1) };
    failure_copy(&b.failure, f);
    schedule_draw(o->scheduler, run, 60, &b.picture);
    o->ok = schedule_keep(b.folder, schedule, o->build.key, &o->argv, &b.picture, o->err);
    vec_push(&o->bad, b);
    return SEARCH_STOP;
}

static bool is_over(void *session) { return session_interrupted(session); }

/* @@ in the arguments is the file; without it, it is standard input. */
static bool name_input(Orders *o)
{
    bool file = false;
    strings_release(&o->argv);
    for (size_t i = 0; i < o->e->argv.len; i++) {
        const char *word = o->e->argv.items[i], *mark = strstr(word, "@@");
        if (mark)
            strings_addf(&o->argv, "%.*s%s%s", (int)(mark - word), word, o->input, mark + 2);
        else
            strings_add(&o->argv, word);
        file |= mark != NULL;
    }
    return file;
}

static bool run_input(Orders *o, const char *path, size_t most)
{
    char *cwd = path_absolute(".");
    o->input = path;
    bool file = name_input(o);
    o->scheduler = scheduler_open(&(SchedulerPlan){ .build = &o->build,
                                                    .argv = strings_argv(&o->argv),
                                                    .cwd = cwd,
                                                    .input_file = file ? NULL : path,
                                                    .quick = true,
                                                    .look_up = true },
                                  o->err);
    SearchResult result = { 0 };
    SearchPlan plan = {
        .most = most, .seed = session_seed(o->e->s), .stop = is_over, .stop_arg = o->e->s
    };
    bool ok =
        o->scheduler && schedule_search(o->scheduler, &plan, judge, o, &result, o->err) && o->ok;
    scheduler_close(o->scheduler);
    free(cwd);
    return ok;
}

/* ---- all inputs */

static int newest_first(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

static bool run_inputs(Orders *o, bool steady)
{
    char *folder = path_join(o->e->out, "queue");
    Strings names = { 0 };
    bool ok = dir_list(folder, &names, o->err);
    if (ok && names.len)
        qsort(names.items, names.len, sizeof *names.items, newest_first);
    for (size_t most = FEW; ok && most <= (steady ? FEW : MOST); most *= 5)
        for (size_t i = 0; ok && i < names.len && !session_interrupted(o->e->s); i++) {
            char *path = path_join(folder, names.items[i]), *full = path_absolute(path);
            if (str_starts(names.items[i], "id:") && (!steady || o->inputs < STEADY_INPUTS)) {
                ok = run_input(o, full, most);
                o->inputs += most == FEW;
            }
            free(full);
            free(path);
        }
    strings_release(&names);
    free(folder);
    return ok;
}

/* ---- findings */

static void rerun(const Orders *o, const Order *b, Str *out)
{
    bool file = false;
    for (size_t i = 0; i < o->e->argv.len; i++)
        file |= strstr(o->e->argv.items[i], "@@") != NULL;
    str_add(out, "sundew -w ");
    escape_shell(out, workspace_dir(session_workspace(o->e->s)));
    str_add(out, " threads --replay ");
    escape_shell(out, b->folder);
    if (!file) {
        str_add(out, " --stdin ");
        escape_shell(out, b->input);
    }
    if (session_flag(o->e->s, "no-sanitizers"))
        str_add(out, " --no-sanitizers");
}

static Finding deadlock(const Orders *o, const Order *b, const char *more)
{
    const ScheduleSite *at = b->site < o->build.nsites ? &o->build.sites[b->site] : NULL;
    Location where = { .file = o->e->captured->path };
    if (at && *at->file)
        where = (Location){ .file = at->file, .line = (int)at->line, .function = at->function };
    return (Finding){ .rule = RULE,
                      .level = LEVEL_ERROR,
                      .verdict = VERDICT_SHOWN,
                      .detail = more,
                      .message = "deadlock: every thread waits",
                      .where = where,
                      .anchor = "deadlock" };
}

static bool report(Orders *o, const Order *b, Err *err)
{
    Arena a = { 0 };
    Str command = { 0 }, input = { 0 };
    const char *more = arena_printf(&a, "in an order of its threads with %u preemption%s",
                                    b->preemptions, b->preemptions == 1 ? "" : "s");
    Finding f = failure_is(&b->failure)
                    ? failure_finding(&a, &(FailureReport){ .failure = &b->failure,
                                                            .rule = RULE,
                                                            .level = LEVEL_ERROR,
                                                            .more = more,
                                                            .program = o->e->captured->path })
                    : deadlock(o, b, more);
    rerun(o, b, &command);
    file_read(b->input, &input, NULL);
    Attachment att[] = { { "input", "input", str_c(&input), input.len },
                         { "run.txt", "trace", str_c(&b->picture), b->picture.len } };
    f.rerun = str_c(&command);
    f.attachments = att;
    f.nattachments = 2;
    bool ok = session_report(o->e->s, &f, err);
    str_release(&command);
    str_release(&input);
    arena_release(&a);
    return ok;
}

/* ---- run */

static bool build_orders(void *arg, Err *err)
{
    Orders *o = arg;
    Session *s = o->e->s;
    return session_need(s, NEEDS_CALLS, err) &&
           build_schedule(o->e->program, session_calls(s), session_libexec(s),
                          !session_flag(s, "no-sanitizers"), &o->build, err);
}

bool orders_run(Exploration *e, const ExploreResult *found, Err *err)
{
    Orders o = { .e = e, .found = found, .err = err, .ok = true };
    ApartPlan apart = { .work = build_orders, .arg = &o, .stop = is_over, .stop_arg = e->s };
    ApartEnd end = session_interrupted(e->s) ? APART_STOPPED : apart_run(&apart, err);
    if (end == APART_LATE || end == APART_STOPPED) {
        session_incomplete(e->s, "no time was left for other orders of the threads");
        return true;
    }
    bool ok = end == APART_DONE && build_orders(&o, err) &&
              run_inputs(&o, session_option(e->s, "executions") != NULL);
    for (size_t i = 0; ok && i < o.bad.len; i++)
        ok = report(&o, &o.bad.items[i], err);
    if (ok && !session_flag(e->s, "json"))
        str_addf(session_out(e->s), "%zu inputs ran in %zu orders of their threads\n", o.inputs,
                 o.runs);
    session_json(e->s, "orders",
                 json_pack("{s:I, s:I, s:I}", "inputs", (json_int_t)o.inputs, "runs",
                           (json_int_t)o.runs, "failures", (json_int_t)o.bad.len));
    for (size_t i = 0; i < o.bad.len; i++) {
        failure_release(&o.bad.items[i].failure);
        str_release(&o.bad.items[i].picture);
        free(o.bad.items[i].input);
        free(o.bad.items[i].folder);
    }
    vec_release(&o.bad);
    strings_release(&o.argv);
    schedule_build_release(&o.build);
    return ok;
}
