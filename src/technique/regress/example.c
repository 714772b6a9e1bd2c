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
    strings_addf(env, "SUNDEW_COVER=%s/cover", folder);
}

/* With probes, as the user would run it; what the probes say goes to the folder. */
static bool run_woven(Regress *r, const char *program, const char *folder, Err *err)
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

/* What the user's rules forbid is not called by anybody. */
static void forbid_functions(Regress *r)
{
    for (size_t i = 0; i < r->api->nfunctions; i++)
        if (model_forbids(r->model, &r->api->functions[i]))
            r->api->functions[i].not_callable = "a rule forbids it";
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
              run_woven(r, program, folder, err) &&
              (t = trace_open(folder, r->example, err));
    ModelPlan how = { .facts = r->facts, .rules = session_option(r->session, "rules") };
    r->model = ok ? model_infer(r->api, &t, 1, &how, err) : NULL;
    if (r->model) {
        forbid_functions(r);
        add_observed_values(r);
    }
    trace_close(t);
    strings_release(&recorded);
    free(program);
    free(folder);
    tempdir_remove(scratch);
    return r->model != NULL;
}

/* ---------------------------------------------------------------- coverage */

static void library_symbols(const Regress *r, Map *out)
{
    size_t n;
    const Function *const *fns = program_functions(r->program, &n);
    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined)
            map_put(out, fns[i]->symbol, NULL);
}

bool example_coverage(Regress *r, Err *err)
{
    size_t n;
    char **tail = session_tail(r->session, &n);
    Workspace *ws = session_workspace(r->session);
    const CapturedProgram *c = n ? workspace_program(ws, tail[0], err) : NULL;
    if (!n)
        return true;
    if (c && !r->example)
        r->example = program_open(ws, c, err);
    const char *scratch = r->example ? tempdir_new(NULL, err) : NULL;
    if (!scratch)
        return false;
    char *program = path_join(scratch, c->name), *folder = path_join(scratch, "out");
    char *file = path_join(folder, "cover");
    Woven *w = weave_begin(r->example, err);
    Cover *points = w ? weave_cover(w, err) : NULL;
    Str bytes = {0};
    Map symbols = {0};
    bool ok = points && weave_runtime(w, session_libexec(r->session), "cover", err) &&
              weave_build(w, &(WeaveBuild){ .out = program, .level = 1 }, err) &&
              dir_make(folder, err) && run_woven(r, program, folder, err) &&
              file_read(file, &bytes, err);
    if (ok && bytes.len != cover_nblocks(points) + cover_nbranches(points))
        ok = err_set(err, "the example did not come to its end");
    library_symbols(r, &symbols);
    if (ok)
        reduce_count(points, (uint8_t *)bytes.data, &symbols, &r->by_example);
    map_release(&symbols);
    str_release(&bytes);
    cover_free(points);
    weave_end(w);
    free(program);
    free(folder);
    free(file);
    tempdir_remove(scratch);
    return ok;
}
