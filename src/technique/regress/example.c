/* The example: it runs with probes, and what it did becomes a model. */
#include "base/escape.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "engine/record/record.h"
#include "engine/record/trace.h"
#include "run/run.h"
#include "technique/regress/regress_int.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_environment(Strings *env, const char *folder)
{
    for (char **e = environ; *e; e++)
        if (!str_starts(*e, "SUNDEW_"))
            strings_add(env, *e);
    strings_addf(env, "SUNDEW_TRACE=%s", folder);
    strings_add(env, "SUNDEW_TRACE_BUDGET=268435456");
}

static bool run_recorded(Regress *r, const char *program, const char *folder, Err *err)
{
    size_t n;
    char **tail = session_tail(r->session, &n);
    char **argv = xcalloc(n + 1, sizeof *argv);
    const char *writable[] = { folder, NULL }, *readable[] = { folder, program, NULL };
    Runner *runner = runner_new(&(RunnerPlan){ .writable = writable, .readable = readable }, err);
    char *cwd = path_absolute(".");
    Strings env = {0};
    RunResult res = {0};
    memcpy(argv, tail, n * sizeof *argv);
    argv[0] = (char *)program;
    add_environment(&env, folder);
    RunPlan plan = { .argv = argv, .cwd = cwd, .env = strings_argv(&env),
                     .limits = { .wall = 300, .cpu = 300, .file_size = RUN_UNLIMITED } };
    bool ok = runner && runner_run(runner, &plan, &res, err);
    if (ok && failure_is(&res.failure)) {
        Str text = {0}, shown = {0};
        failure_describe(&res.failure, &text);
        escape_terminal_z(&shown, str_c(&text));
        session_note(r->session, "the example ended with %s; going on with what it did before",
                     str_c(&shown));
        str_release(&text);
        str_release(&shown);
    } else if (ok && res.failure.status) {
        session_note(r->session, "the example ended with status %d", res.failure.status);
    }
    run_result_release(&res);
    runner_free(runner);
    strings_release(&env);
    free(argv);
    free(cwd);
    return ok;
}

static void add_observed_values(Regress *r)
{
    for (size_t i = 0; i < r->api->nfunctions; i++) {
        const ApiFunction *f = &r->api->functions[i];
        for (unsigned k = 0; k < f->nparams; k++) {
            const ModelValues *v = model_values(r->model, f, k);
            for (size_t m = 0; v && m < v->n; m++)
                pool_add(r->pool, f, k, &v->values[m]);
        }
    }
}

bool example_model(Regress *r, Err *err)
{
    size_t n;
    char **tail = session_tail(r->session, &n);
    Workspace *ws = session_workspace(r->session);
    if (!n)
        return true;
    const CapturedProgram *c = workspace_program(ws, tail[0], err);
    if (!c)
        return err_ctx(err, "the example must be a captured program that is linked with the "
                       "library statically");
    r->example = program_open(ws, c, err);
    const char *scratch = r->example ? tempdir_new(NULL, err) : NULL;
    if (!scratch)
        return false;
    char *program = path_join(scratch, c->name), *folder = path_join(scratch, "trace");
    Strings recorded = {0};
    model_functions_to_record(r->api, r->example, &recorded);
    RecordPlan plan = { .libexec = session_libexec(r->session), .strategy = COPY_SHALLOW,
                        .only = strings_argv(&recorded) };
    Trace *t = NULL;
    bool ok = dir_make(folder, err) && record_weave(r->example, &plan, program, NULL, err) &&
              run_recorded(r, program, folder, err) &&
              (t = trace_open(folder, r->example, err));
    ModelPlan how = { .facts = r->facts, .rules = session_option(r->session, "rules") };
    r->model = ok ? model_infer(r->api, &t, 1, &how, err) : NULL;
    if (r->model)
        add_observed_values(r);
    trace_close(t);
    strings_release(&recorded);
    free(program);
    free(folder);
    tempdir_remove(scratch);
    return r->model != NULL;
}
