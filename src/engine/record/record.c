#include "engine/record/record.h"
#include "base/file.h"
#include "build/place.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool record_weave(const Program *p, const RecordPlan *plan, const char *out, size_t *functions,
                  Err *err)
{
    MonitorPlan probes = { .strategy = plan->strategy, .only = plan->only, .as_is = plan->as_is };
    Woven *w = weave_begin(p, err);
    size_t n = 0, trivial;
    bool ok = w && weave_record(w, &probes, err) && weave_runtime(w, plan->libexec, "record", err);

    if (ok)
        weave_monitor_figures(w, &n, &trivial);
    ok = ok && (n || err_set(err, "none of the functions is there to be recorded")) &&
         place_build(w, p, out, err);
    weave_end(w);
    if (functions)
        *functions = n;
    return ok;
}

/* ---- running */

enum { BUDGET = 256 << 20, SECONDS = 300 };

static bool is_replaced(const RecordRun *run, const char *variable)
{
    size_t n = strcspn(variable, "=") + 1;
    for (char *const *e = run->env; e && *e; e++)
        if (!strncmp(*e, variable, n))
            return true;
    return false;
}

/* Ours without what other probes would read, and where these write. */
static void make_environment(const RecordRun *run, Strings *env)
{
    for (char **e = environ; *e; e++)
        if (!str_starts(*e, "SUNDEW_") && !is_replaced(run, *e))
            strings_add(env, *e);
    strings_addf(env, "SUNDEW_TRACE=%s", run->folder);
    strings_addf(env, "SUNDEW_TRACE_BUDGET=%" PRIu64, run->budget ? run->budget : BUDGET);
    strings_addf(env, "SUNDEW_TAGS=%s", run->folder);
    strings_addf(env, "SUNDEW_COVER=%s/cover", run->folder);
    strings_addf(env, "SUNDEW_CRASH_DIR=%s", run->folder);
    for (char *const *e = run->env; e && *e; e++)
        strings_add(env, *e);
}

/* As the user would have run it, in a sandbox that lets it write into the folder and what the user
 * names. The project is the user's own: what the program writes there is gone with the run. */
static bool run_woven(const RecordRun *run, Strings *env, double seconds, RunResult *out, Err *err)
{
    Strings argv = { 0 }, writable = { 0 };
    const char *readable[] = { run->folder, run->woven, run->root, NULL };
    strings_add(&argv, run->original->path);     /* programs look at their name */
    for (size_t i = 0; i < run->nwords; i++)
        strings_add(&argv, run->words[i]);
    strings_add(&writable, run->folder);
    for (char *const *w = run->writable; w && *w; w++)
        strings_add(&writable, *w);
    char *cwd = path_absolute(".");
    bool in_project = run->root && path_is_below(cwd, run->root);
    Runner *r = runner_new(&(RunnerPlan){ .layered = in_project ? run->root : cwd,
                                          .writable = (const char *const *)strings_argv(&writable),
                                          .readable = readable,
                                          .words = strings_argv(&argv),
                                          .network = run->network,
                                          .unprotected = run->unprotected },
                           err);
    RunPlan plan = { .argv = strings_argv(&argv),
                     .file = run->woven,
                     .env = strings_argv(env),
                     .cwd = run->nfiles ? NULL : cwd,
                     .input_file = run->input_file,
                     .files = run->files,
                     .nfiles = run->nfiles,
                     .keep_output = run->keep_output,
                     .discard_output = run->discard_output,
                     .stop = run->stop,
                     .stop_arg = run->arg,
                     .limits = { .wall = seconds, .cpu = seconds, .file_size = RUN_UNLIMITED } };
    if (r && run->note && runner_missing(r))
        run->note(run->arg, runner_missing(r));
    bool ok = r && runner_run(r, &plan, out, err);
    runner_free(r);
    strings_release(&argv);
    strings_release(&writable);
    free(cwd);
    return ok;
}

static bool run_in_place(const RecordRun *run, Strings *env, double seconds, RunResult *out,
                         Err *err)
{
    Strings argv = { 0 };
    ProcResult r = { 0 };
    for (size_t i = 0; i < run->nwords; i++)
        strings_add(&argv, run->words[i]);
    PlacePlan plan = { .argv = strings_argv(&argv),
                       .env = strings_argv(env),
                       .program = run->original,
                       .woven = run->woven,
                       .root = run->root,
                       .results = run->folder,
                       .seconds = seconds,
                       .stop = run->stop,
                       .arg = run->arg };
    bool ok = place_run(&plan, &r, err);
    out->failure.status = r.status;
    out->failure.signal = r.signal;
    out->failure.kind = r.timed_out ? FAILURE_TIMEOUT
                        : r.signal  ? FAILURE_SIGNAL
                        : r.status  ? FAILURE_EXIT
                                    : FAILURE_NONE;
    proc_result_release(&r);
    strings_release(&argv);
    return ok;
}

bool record_run(const RecordRun *run, RunResult *out, Err *err)
{
    assert(run->original && run->woven && run->folder);
    assert(!run->in_place || (run->nwords && run->root));
    Strings env = { 0 };
    double seconds = run->seconds > 0 ? run->seconds : SECONDS;
    make_environment(run, &env);
    bool ok = run->in_place ? run_in_place(run, &env, seconds, out, err)
                            : run_woven(run, &env, seconds, out, err);
    strings_release(&env);
    return ok;
}
