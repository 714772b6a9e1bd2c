/*
 * The example: it runs with probes, and what it did becomes a usage. A captured
 * program that the library is linked into is woven itself, and runs in the sandbox.
 * Any other command (make check, a program that loads a shared library) runs as it
 * is, with a recording library in the place of the library.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "engine/record/record.h"
#include "engine/record/trace.h"
#include "technique/regress/regress_int.h"
#include "build/woven.h"
#include <stdlib.h>
#include <string.h>

static bool is_stopped(void *session) { return session_interrupted(session); }

/* A woven program with the words after the first, or all of them as a command in
 * which the woven one stands in the place of the library. */
static bool run_example(Regress *r, const Program *p, const char *woven, const char *folder,
                        bool alone, Err *err)
{
    size_t n;
    char **tail = session_tail(r->session, &n);
    RecordRun run = { .original = program_captured(p),
                      .woven = woven,
                      .folder = folder,
                      .words = tail + alone,
                      .nwords = n - alone,
                      .in_place = !alone,
                      .root = session_root(r->session),
                      .seconds = alone ? 300 : 3600,
                      .budget = alone ? 256 << 20 : 64 << 20,
                      .stop = is_stopped,
                      .arg = r->session };
    RunResult res = { 0 };
    bool ok = record_run(&run, &res, err);
    if (ok && failure_is(&res.failure)) {
        Str text = { 0 }, shown = { 0 };
        failure_describe(&res.failure, &text);
        escape_terminal_z(&shown, str_c(&text));
        session_note(r->session,
                     "the example ended with %s; Sundew continues with the calls before that",
                     str_c(&shown));
        str_release(&text);
        str_release(&shown);
    } else if (ok && res.failure.status) {
        session_note(r->session, "the example ended with status %d", res.failure.status);
    }
    run_result_release(&res);
    if (ok && session_time_is_over(r->session))
        ok = err_set(err, "the time was over while the example ran: give more (--time)");
    return ok;
}

/* What the user's rules forbid is not called by anybody. */
static void forbid_functions(Regress *r)
{
    for (size_t i = 0; i < r->api->nfunctions; i++)
        if (usage_forbids(r->usage, &r->api->functions[i]))
            r->api->functions[i].not_callable = "a rule forbids it";
}

/* Variadic functions of which the example shows no shape: said once. */
static void note_unused(Regress *r)
{
    enum { NAMED = 5 };
    Str names = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < r->api->nfunctions; i++) {
        const ApiFunction *f = &r->api->functions[i];
        if (!f->variadic || f->not_callable || api_has_shape(r->api, f) || n++ >= NAMED)
            continue;
        str_add(&names, n > 1 ? ", " : "");
        escape_terminal_z(&names, f->fn->name);
    }
    if (n > NAMED)
        str_addf(&names, " and %zu more", n - NAMED);
    if (n)
        session_note(r->session,
                     "not called, because no call of a captured example shows what "
                     "goes with their \"...\": %s",
                     str_c(&names));
    str_release(&names);
}

static void add_observed_values(Regress *r)
{
    for (size_t i = 0; i < r->api->nfunctions; i++) {
        const ApiFunction *f = &r->api->functions[i];
        for (unsigned k = 0; k < f->nparams; k++) {
            const UsageValues *v = usage_values(r->usage, f, k);
            for (size_t m = 0; v && m < v->n; m++)
                pool_add(r->pool, f, k, &v->values[m]);
        }
    }
}

/* Is the library in it, linked statically? */
static bool holds_library(const Regress *r, const Program *example)
{
    size_t n;
    const Function *const *fns = program_functions(example, &n);
    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined && api_of(r->api, fns[i]))
            return true;
    return false;
}

/* The captured program that the words after "--" run, if the library is in it. */
static bool open_example(Regress *r)
{
    size_t n;
    char **tail = session_tail(r->session, &n);
    Err none = { 0 };
    if (r->example || !n)
        return r->example != NULL;
    const Program *p = session_open_program(r->session, tail[0], &none);
    if (p && holds_library(r, p))
        r->example = p;
    return r->example != NULL;
}

/* The example, recorded; `*t` is what it did. */
static bool record_example(Regress *r, const char *scratch, Trace **t, Err *err)
{
    bool alone = open_example(r);
    const Program *p = alone ? r->example : r->program;
    char *woven = path_join(scratch, path_base(program_captured(p)->path));
    char *folder = path_join(scratch, "trace");
    Strings recorded = { 0 };
    usage_functions_to_record(r->api, p, &recorded);
    RecordPlan plan = { .libexec = session_libexec(r->session),
                        .strategy = COPY_SHALLOW,
                        .only = strings_argv(&recorded) };
    bool ok = dir_make(folder, err) && record_weave(p, &plan, woven, NULL, err) &&
              run_example(r, p, woven, folder, alone, err);
    *t = ok ? trace_open(folder, p, err) : NULL;
    if (ok && !*t && !alone)
        err_ctx(err, "the command ran nothing that is linked with %s, or built that anew",
                program_captured(p)->name);
    strings_release(&recorded);
    free(woven);
    free(folder);
    return *t != NULL;
}

bool example_usage(Regress *r, Err *err)
{
    Trace *t = NULL;
    if (!session_has_tail(r->session))
        return true;
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    UsagePlan how = { .facts = r->facts, .rules = session_option(r->session, "rules") };
    if (record_example(r, scratch, &t, err))
        r->usage = usage_infer(r->api, &t, 1, &how, err);
    if (r->usage) {
        forbid_functions(r);
        note_unused(r);
        add_observed_values(r);
    }
    trace_close(t);
    tempdir_remove(scratch);
    return r->usage != NULL;
}

/* ---- coverage */

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
    if (!session_has_tail(r->session))
        return true;
    if (!open_example(r)) {
        session_note(r->session, "--example-coverage works only with a captured program that the "
                                 "library is linked into");
        return true;
    }
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    char *program = path_join(scratch, program_captured(r->example)->name),
         *folder = path_join(scratch, "out");
    char *file = path_join(folder, "cover");
    Woven *w = weave_begin(r->example, err);
    Cover *points = w ? weave_cover(w, err) : NULL;
    Str bytes = { 0 };
    Map symbols = { 0 };
    bool ok = points && weave_runtime(w, session_libexec(r->session), "cover", err) &&
              woven_build(w, &(WovenBuild){ .out = program, .level = 1 }, err) &&
              dir_make(folder, err) && run_example(r, r->example, program, folder, true, err) &&
              file_read_left(file, cover_nblocks(points) + cover_nbranches(points), &bytes, err);
    if (ok && bytes.len != cover_nblocks(points) + cover_nbranches(points))
        ok = err_set(err, "the example did not end by itself");
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
