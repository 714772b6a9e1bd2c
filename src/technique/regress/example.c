/*
 * The example: it runs with probes, and what it did becomes a usage. A captured
 * program that the library is linked into is woven itself, and runs in the sandbox.
 * Any other command (make check, a program that loads a shared library) runs as it
 * is, with a recording library in the place of the library.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "engine/usage/example.h"
#include "technique/regress/regress_int.h"
#include "build/woven.h"
#include <stdlib.h>
#include <string.h>

static bool is_stopped(void *session) { return session_interrupted(session); }

/* Learning has a while of its own: without it nothing else is worth the time. */
static bool is_learned_enough(void *arg)
{
    enum { LEAST = 20 };
    Regress *r = arg;
    if (!r->learning)
        r->learning = clock_seconds();
    return session_was_asked_to_stop() ||
           (session_time_is_over(r->session) && clock_seconds() - r->learning > LEAST);
}

static void say_progress(void *regress, const char *what)
{
    (void)regress;
    Str line = { 0 };
    str_addf(&line, "regress 1/5 (20%%)  the example: %s", what);
    progress_say(str_c(&line));
    str_release(&line);
}

static UsageExample example_of(const Regress *r, const char *scratch)
{
    UsageExample x = { .api = r->api,
                       .library = r->program,
                       .program = r->example,
                       .libexec = session_libexec(r->session),
                       .root = session_root(r->session),
                       .scratch = scratch,
                       .stop = is_stopped,
                       .arg = r->session };
    x.words = session_tail(r->session, &x.nwords);
    return x;
}

/* How the example ended is said; false if time was over. */
static bool say_end(Regress *r, RunResult *res, Err *err)
{
    if (failure_is(&res->failure)) {
        Str text = { 0 }, shown = { 0 };
        failure_describe(&res->failure, &text);
        escape_terminal_z(&shown, str_c(&text));
        session_note(r->session,
                     "the example ended with %s; Sundew continues with the calls before that",
                     str_c(&shown));
        str_release(&text);
        str_release(&shown);
    } else if (res->failure.status) {
        session_note(r->session, "the example ended with status %d", res->failure.status);
    }
    run_result_release(res);
    return !session_time_is_over(r->session) ||
           err_set(err, "the time was over while the example ran: give more (--time)");
}

/* What the user's rules forbid is not called by anybody. */
static void forbid_functions(Regress *r)
{
    for (size_t i = 0; i < r->api->nfunctions; i++)
        if (usage_forbids(r->usage, &r->api->functions[i]))
            r->api->functions[i].not_callable = "a rule forbids it";
}

/* What was left out, and rules without effect. */
static void note_usage(Regress *r)
{
    size_t n;
    char *const *notes = usage_notes(r->usage, &n);
    for (size_t i = 0; i < n; i++)
        session_note(r->session, "%s", notes[i]);
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
        escape_terminal_z(&names, f->name);
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
    for (size_t i = 0; i < r->api->nfunctions; i++)
        usage_give_values(r->usage, &r->api->functions[i], &r->api->functions[i], r->pool);
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
    if (p && usage_is_linked_into(r->api, p))
        r->example = p;
    return r->example != NULL;
}

/* The example, recorded; `*t` is what it did. */
static bool record_example(Regress *r, const char *scratch, Trace **t, Err *err)
{
    open_example(r);
    UsageExample x = example_of(r, scratch);
    RunResult how = { 0 };
    *t = usage_record(&x, &how, err);
    return *t ? say_end(r, &how, err) : (run_result_release(&how), false);
}

bool example_usage(Regress *r, Err *err)
{
    Trace *t = NULL;
    if (!session_has_tail(r->session))
        return true;
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    UsagePlan how = { .facts = r->facts,
                      .rules = session_option(r->session, "rules"),
                      .root = session_root(r->session),
                      .stop = is_learned_enough,
                      .progress = say_progress,
                      .arg = r };
    if (record_example(r, scratch, &t, err))
        r->usage = usage_infer(r->api, &t, 1, &how, err);
    if (r->usage) {
        note_usage(r);
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
    RunResult how = { 0 };
    UsageExample x = example_of(r, scratch);
    bool ok = points && weave_runtime(w, session_libexec(r->session), "cover", err) &&
              woven_build(w, &(WovenBuild){ .out = program, .level = 1 }, err) &&
              dir_make(folder, err) && usage_run_example(&x, program, folder, &how, err) &&
              say_end(r, &how, err) &&
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
