#include "engine/usage/example.h"
#include "base/file.h"
#include "base/proc.h"
#include <assert.h>
#include <stdlib.h>

bool usage_is_linked_into(const Api *api, const Program *program)
{
    size_t n;
    const Function *const *fns = program_functions(program, &n);
    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined && api_of(api, fns[i]))
            return true;
    return false;
}

bool usage_run_example(const UsageExample *x, const char *woven, const char *folder, RunResult *how,
                       Err *err)
{
    bool alone = x->program != NULL;
    assert(x->nwords > 0);
    RecordRun run = { .original = program_captured(alone ? x->program : x->library),
                      .woven = woven,
                      .folder = folder,
                      .words = x->words + alone,
                      .nwords = x->nwords - alone,
                      .in_place = !alone,
                      .root = x->root,
                      .seconds = alone ? 300 : 3600,
                      .budget = alone ? 256 << 20 : 64 << 20,
                      .stop = x->stop,
                      .arg = x->arg };
    return record_run(&run, how, err);
}

/* Debug information of clang's is newer than Valgrind, which gives up when it sees it. A
 * recording library needs none: suites that run their programs under Valgrind go on. */
static bool strip(const char *woven, Err *err)
{
    char *argv[] = { "strip", "-g", (char *)woven, NULL };
    ProcResult r = { 0 };
    bool ok = proc_run(&(Proc){ .argv = argv, .capture = true }, &r, err);
    if (ok && r.status != 0)
        ok = err_set(err, "strip: %s", str_c(&r.err));
    proc_result_release(&r);
    return ok;
}

static void say_nothing_ran(const char *library, const RunResult *how, Err *err)
{
    int status = how->failure.status;
    *err = (Err){ 0 };
    err_set(err, "the command ran nothing that is linked with %s, or built that anew", library);
    if (status)
        err_ctx(err,
                "it ended with status %d, see above (if it runs its programs under Valgrind or "
                "another tool that fails here, name a command that runs them alone)",
                status);
}

Trace *usage_record(const UsageExample *x, RunResult *how, Err *err)
{
    const Program *p = x->program ? x->program : x->library;
    char *woven = path_join(x->scratch, path_base(program_captured(p)->path));
    char *folder = path_join(x->scratch, "trace");
    Strings recorded = { 0 };
    usage_functions_to_record(x->api, p, &recorded);
    RecordPlan plan = { .libexec = x->libexec,
                        .strategy = COPY_SHALLOW,
                        .only = strings_argv(&recorded) };
    bool ok = dir_make(folder, err) && record_weave(p, &plan, woven, NULL, err) &&
              (x->program || strip(woven, err)) && usage_run_example(x, woven, folder, how, err);
    Trace *t = ok ? trace_open(folder, p, err) : NULL;
    if (ok && !t && !x->program)
        say_nothing_ran(program_captured(p)->name, how, err);
    strings_release(&recorded);
    free(woven);
    free(folder);
    return t;
}
