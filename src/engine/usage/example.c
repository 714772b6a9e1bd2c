#include "engine/usage/example.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
    err_set(err, "the command ran nothing that is linked with %s, or built that anew%s", library,
            str_ends(library, ".a") ? " (a program that is linked already has a copy of it: name "
                                      "the program directly after --, or have it linked again)"
                                    : "");
    if (status)
        err_ctx(err,
                "it ended with status %d, see above (if it runs its programs under Valgrind or "
                "another tool that fails here, name a command that runs them alone)",
                status);
}

/* What is woven into x->scratch; free it. NULL with `err`. */
static char *weave(const UsageExample *x, Err *err)
{
    const Program *p = x->program ? x->program : x->library;
    char *woven = path_join(x->scratch, path_base(program_captured(p)->path));
    Strings recorded = { 0 };
    usage_functions_to_record(x->api, p, &recorded);
    RecordPlan plan = { .libexec = x->libexec,
                        .strategy = COPY_SHALLOW,
                        .only = strings_argv(&recorded) };
    bool ok = record_weave(p, &plan, woven, NULL, err) && (x->program || strip(woven, err));
    strings_release(&recorded);
    if (ok)
        return woven;
    free(woven);
    return NULL;
}

/* One run of it. */
static Trace *record(const UsageExample *x, const char *woven, unsigned number, RunResult *how,
                     Err *err)
{
    const Program *p = x->program ? x->program : x->library;
    char *folder = xprintf("%s/trace%u", x->scratch, number);
    bool ok = dir_make(folder, err) && usage_run_example(x, woven, folder, how, err);
    Trace *t = ok ? trace_open(folder, p, err) : NULL;
    if (ok && !t && !x->program)
        say_nothing_ran(program_captured(p)->name, how, err);
    free(folder);
    return t;
}

Trace *usage_record(const UsageExample *x, RunResult *how, Err *err)
{
    char *woven = weave(x, err);
    Trace *t = woven ? record(x, woven, 0, how, err) : NULL;
    free(woven);
    return t;
}

static char *describe_end(RunResult *how)
{
    Str text = { 0 }, shown = { 0 };
    if (failure_is(&how->failure))
        failure_describe(&how->failure, &text);
    escape_terminal_z(&shown, str_c(&text));
    bool failed = text.len > 0;
    str_release(&text);
    run_result_release(how);
    if (failed)
        return str_take(&shown);
    str_release(&shown);
    return NULL;
}

enum { MOST_FILES = 16 };

/* The words with a file in the place of @@. */
static void with_file(const UsageExample *x, const char *file, Strings *out)
{
    for (size_t i = 0; i < x->nwords; i++)
        strings_add(out, strcmp(x->words[i], "@@") == 0 ? file : x->words[i]);
}

/* A run for each file of the corpus; the last that could not be recorded is told if none could. */
static size_t record_corpus(const UsageExample *x, Trace **out, char **end, Err *err)
{
    Strings names = { 0 };
    size_t n = 0;
    char *woven = dir_list(x->corpus, &names, err) ? weave(x, err) : NULL;
    for (size_t i = 0; woven && i < names.len && n < MOST_FILES; i++) {
        char *joined = path_join(x->corpus, names.items[i]), *file = path_absolute(joined);
        Strings words = { 0 };
        RunResult how = { 0 };
        UsageExample one = *x;
        with_file(x, file, &words);
        one.words = strings_argv(&words);
        Trace *t = record(&one, woven, (unsigned)i, &how, err);
        free(*end);
        *end = describe_end(&how);
        if (t)
            out[n++] = t;
        strings_release(&words);
        free(joined);
        free(file);
    }
    strings_release(&names);
    free(woven);
    return n;
}

Usage *usage_learn(UsageExample *x, Api *api, char **end, Err *err)
{
    RunResult how = { 0 };
    Trace *traces[MOST_FILES];
    size_t n = 0;
    *end = NULL;
    x->scratch = tempdir_new(NULL, err);
    if (!x->scratch)
        return NULL;
    if (x->corpus) {
        n = record_corpus(x, traces, end, err);
    } else {
        traces[0] = usage_record(x, &how, err);
        n = traces[0] != NULL;
        *end = describe_end(&how);
    }
    Usage *m = n ? usage_infer(api, traces, n, &(UsagePlan){ .root = x->root }, err) : NULL;
    for (size_t i = 0; i < n; i++)
        trace_close(traces[i]);
    tempdir_remove(x->scratch);
    x->scratch = NULL;
    return m;
}

void usage_give_values(const Usage *m, const ApiFunction *of, const ApiFunction *to, Pool *pool)
{
    for (unsigned k = 0; k < to->nparams; k++) {
        const UsageValues *v = usage_values(m, of, k);
        for (size_t i = 0; v && i < v->n; i++)
            pool_add(pool, to, k, &v->values[i]);
    }
}
