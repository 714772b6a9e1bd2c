/*
 * regress - regression tests for a library, from an example of its use.
 *
 * The stages are in run(): the API, the example's usage, the library made ready,
 * sequences grown and settled, the suite reduced to what adds something, written
 * as C. README.md explains the technique.
 */
#include "technique/regress/regress.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/units.h"
#include "run/run.h"
#include "session/failure_finding.h"
#include "technique/regress/regress_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const Option options[] = {
    { "headers", 0, "FILE",
      "the API is what this header declares, and the tests include it; "
      "needed, and repeatable",
      NULL },
    { "output", 'o', "DIR", "where the tests go", "tests" },
    { "count", 0, "N", "stop after this many sequences: the same seed then gives the same tests",
      NULL },
    { "universal", 0, NULL, "call any function with any argument, whatever the example does",
      NULL },
    { "divergent", 0, "SHARE", "the least share of calls that are not as the example has them",
      "0.1" },
    { "rules", 0, "FILE", "forbids or requires calls, or makes them more frequent", NULL },
    { "mutants", 0, "N",
      "the most faults to put into a copy of the library, to see which tests find them; 0: none",
      "2000" },
    { "cflags", 0, "WORD", "a flag for the headers, such as -I or -D (repeatable)", NULL },
    { "link", 0, "WORD", "a word for the linker, such as -lz (repeatable)", NULL },
    { "example-coverage", 0, NULL, "also tell what the example covers by itself", NULL },
    { "diff", 0, "DIR",
      "compile the tests in DIR with the library named and tell what "
      "changed",
      NULL },
    { "accept", 0, NULL, "with --diff: write the new values into the tests", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "regress/crash", LEVEL_ERROR, "Calls like those that the example makes crash the library." },
    { "regress/changed", LEVEL_WARNING,
      "A function no longer does what it did when the tests were made." },
    { 0 },
};

/* ---- stages */

static MutFacts *facts_of(const Regress *r)
{
    MutFacts *facts = mut_facts_open(r->program);
    if (facts)
        return facts;
    Err ignored = { 0 };
    Mutability *m = mutability_new(r->program, r->calls, &(MutabilityPlan){ 0 });
    mut_facts_write(m, r->program, &ignored);
    mutability_free(m);
    return mut_facts_open(r->program);
}

static bool open_api(Regress *r, Err *err)
{
    Session *s = r->session;
    char **headers = session_option_all(s, "headers");
    if (!session_need(s, NEEDS_API, err))
        return false;
    r->headers = headers && *headers ? headers : NULL;
    r->program = session_program(s);
    r->calls = session_calls(s);
    r->api = session_api(s);
    r->facts = facts_of(r);
    r->pool = pool_new(r->api, err);
    return r->pool != NULL;
}

static size_t mutants_asked(Session *s) { return strtoul(session_option(s, "mutants"), NULL, 10); }

static bool is_search_over(void *arg)
{
    const Regress *r = arg;
    return session_was_asked_to_stop() || (r->search_end > 0 && clock_seconds() > r->search_end);
}

static bool open_library(Regress *r, Err *err)
{
    Session *s = r->session;
    LibraryPlan plan = { .link = session_option_all(s, "link"),
                         .jobs = session_jobs(s),
                         .with_mutants = mutants_asked(s) > 0,
                         .most_mutants = mutants_asked(s) };
    if (!library_make(r->program, &plan, &r->library, err))
        return false;
    if (!r->library.strict)
        session_incomplete(s, "no sequence ran with sanitizers: %s", r->library.why_not_strict);
    ExecPlan e = { .api = r->api,
                   .library = r->library.cover,
                   .libexec = session_libexec(s),
                   .stop = is_search_over,
                   .stop_arg = r };
    e.files = r->usage ? usage_files(r->usage, &e.nfiles) : NULL;
    r->exec = exec_open(&e, err);
    r->again = r->exec ? exec_open(&e, err) : NULL;
    if (!r->again)
        return false;
    if (exec_missing(r->exec))
        session_note(s, "%s", exec_missing(r->exec));
    if (r->library.strict) {
        Err why = { 0 };
        e.library = r->library.strict;
        e.preload = r->library.preload;
        e.cpu_ms = 800;
        r->strict = exec_open(&e, &why);
        if (!r->strict)
            session_incomplete(s, "no sequence ran with sanitizers: %s", why.msg);
    }
    if (r->library.mutants) {
        static char *const counts[] = { (char *)RUN_COUNTS_MEMORY, NULL };
        e = (ExecPlan){ .api = r->api,
                        .library = r->library.mutants,
                        .cpu_ms = 100,
                        .files = e.files,
                        .nfiles = e.nfiles,
                        .env = counts,
                        .libexec = session_libexec(s),
                        .stop = is_search_over,
                        .stop_arg = r };
        r->mutants = exec_open(&e, err);
        return r->mutants != NULL;
    }
    return true;
}

static bool is_stopped(void *arg) { return session_interrupted(((Regress *)arg)->session); }

static bool is_interrupted(void *arg)
{
    (void)arg;
    return session_was_asked_to_stop();
}

static void plan_growth(Regress *r)
{
    r->ownership = ownership_new(r->api);
    if (r->usage)
        usage_teach_ownership(r->usage, r->ownership);
    r->grow =
        (GrowPlan){ .api = r->api,
                    .pool = r->pool,
                    .usage = r->usage,
                    .ownership = r->ownership,
                    .rng = session_rng(r->session),
                    .null_share = 0.05,
                    .start_share = 0.3,
                    .mix = 0.3,
                    .near = strtod(session_option(r->session, "divergent"), NULL) > 0 ? 0.25 : 0 };
    r->settler = (Settler){ .grow = &r->grow,
                            .ownership = r->ownership,
                            .exec = r->exec,
                            .again = r->again,
                            .strict = r->strict };
}

static bool make_suite(Regress *r, Err *err)
{
    Session *s = r->session;
    const char *count = session_option(s, "count");
    double seconds = session_time_left(s, 0);
    SuitePlan plan = { .settler = &r->settler,
                       .count = count ? strtoull(count, NULL, 10) : 0,
                       .universal_share = 0.2,
                       .divergent_share = strtod(session_option(s, "divergent"), NULL),
                       .more = r->mutants != NULL,
                       .stop = is_stopped,
                       .interrupted = is_interrupted,
                       .arg = r };
    if (seconds > 0) {                     /* a quarter is for trying the tests as C */
        seconds *= 0.75;
        r->search_end = clock_seconds() + seconds;
    }
    if (!seconds && !plan.count)
        seconds = 60;
    plan.seconds = seconds * 0.7;
    return suite_make(&plan, &r->suite, err);
}

static bool reduce_suite(Regress *r, Err *err)
{
    double left = r->search_end - clock_seconds();
    double seconds = r->search_end > 0 ? (left > 0 ? left : 0) : 60 * 0.3;
    ReducePlan plan = { .settler = &r->settler,
                        .mutants = r->mutants,
                        .faults = r->library.faults,
                        .points = r->library.points,
                        .seconds = seconds,
                        .unlimited =
                            session_option(r->session, "count") && !session_time(r->session) };
    return reduce(&plan, &r->suite, &r->reduced, err);
}

/* ---- report */

/* What is not repeated, those with most calls first. */
static size_t list_losses(const Regress *r, Arena *a, UsageLoss **out)
{
    size_t n = 0, m = r->suite.losses.len;
    const UsageLoss *calls = r->usage ? usage_losses(r->usage, &n) : NULL;
    UsageLoss *all = *out = arena_array(a, UsageLoss, n + m + 1);
    if (n)
        memcpy(all, calls, n * sizeof *all);
    if (m)
        memcpy(all + n, r->suite.losses.items, m * sizeof *all);
    for (size_t i = 1; i < n + m; i++)
        for (size_t k = i; k && all[k].calls > all[k - 1].calls; k--) {
            UsageLoss x = all[k];
            all[k] = all[k - 1];
            all[k - 1] = x;
        }
    return n + m;
}

static json_t *losses_as_json(const Regress *r)
{
    Arena a = { 0 };
    UsageLoss *all;
    size_t n = list_losses(r, &a, &all);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:o,s:i,s:s}", "function",
                                              json_text(all[i].function->name), "calls",
                                              (int)all[i].calls, "why", all[i].why));
    arena_release(&a);
    return list;
}

/* Faults on the tests' way that no test finds. */
static json_t *alive_as_json(const Reduced *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->alive.len; i++) {
        const Mutant *m = d->alive.items[i];
        json_array_append_new(list,
                              json_pack("{s:o,s:i,s:o,s:o}", "file", json_text(m->file), "line",
                                        (int)m->line, "function", json_text(m->function), "change",
                                        json_text(m->what)));
    }
    return list;
}

static void add_figures(const Regress *r, json_t *j)
{
    const Suite *u = &r->suite;
    const Reduced *d = &r->reduced;
    json_object_set_new(j, "tests", json_integer((json_int_t)r->written));
    json_object_set_new(j, "assertions", json_integer((json_int_t)r->assertions));
    json_object_set_new(j, "sequences", json_integer((json_int_t)u->ran.sequences));
    json_object_set_new(j, "coverage",
                        json_pack("{s:I,s:I,s:I,s:I}", "lines", (json_int_t)d->lines, "branches",
                                  (json_int_t)d->branches, "all_lines", (json_int_t)d->all_lines,
                                  "all_branches", (json_int_t)d->all_branches));
    json_object_set_new(j, "mutants",
                        json_pack("{s:I,s:I,s:I,s:o}", "killed", (json_int_t)d->killed, "total",
                                  (json_int_t)d->mutants, "reached", (json_int_t)d->reached,
                                  "alive", alive_as_json(d)));
    json_object_set_new(j, "outcomes",
                        json_pack("{s:I,s:I,s:I,s:I,s:I}", "done", (json_int_t)u->ran.done, "died",
                                  (json_int_t)u->ran.died, "timeouts", (json_int_t)u->ran.timeouts,
                                  "exited", (json_int_t)u->ran.exited, "set_aside",
                                  (json_int_t)u->set_aside));
    json_object_set_new(j, "settled",
                        json_pack("{s:I,s:I,s:I,s:I,s:I}", "tests", (json_int_t)u->settled,
                                  "illegal", (json_int_t)u->illegal, "not_closed",
                                  (json_int_t)u->open, "leaks", (json_int_t)u->leaks,
                                  "nothing_stable", (json_int_t)u->empty));
    if (r->by_example.all_lines)
        json_object_set_new(j, "example",
                            json_pack("{s:I,s:I}", "lines", (json_int_t)r->by_example.lines,
                                      "branches", (json_int_t)r->by_example.branches));
    if (r->usage)
        json_object_set_new(j, "replays",
                            json_pack("{s:I,s:I,s:I,s:o}", "tests", (json_int_t)u->replayed,
                                      "shortened", (json_int_t)u->shortened, "total",
                                      (json_int_t)u->replays, "lost", losses_as_json(r)));
    json_object_set_new(j, "dropped", json_integer((json_int_t)r->dropped));
    json_object_set_new(j, "seconds", json_real(u->ran.seconds));
    json_object_set_new(j, "guided", json_boolean(r->usage != NULL));
}

static void set_json(Regress *r)
{
    json_t *j = json_object();
    const char *key;
    json_t *value;
    add_figures(r, j);
    session_examined(r->session, "%lld call sequences",
                     json_integer_value(json_object_get(j, "sequences")));
    json_object_foreach(j, key, value) session_json(r->session, key, json_incref(value));
    json_decref(j);
}

static double percent(size_t n, size_t of) { return of ? 100.0 * (double)n / (double)of : 0; }

static void say_replays(const Regress *r, Str *out)
{
    enum { SHOWN = 8 };
    const Suite *u = &r->suite;
    Arena a = { 0 };
    UsageLoss *all;
    size_t n = list_losses(r, &a, &all);
    if (!r->usage)
        return;
    str_addf(out, "  repeats the example: %zu of %zu groups of its calls %s", u->replayed,
             u->replays, r->untried ? "gave tests, of which some were left out" : "are tests");
    if (u->shortened)
        str_addf(out, ", %zu more without some calls", u->shortened);
    str_add(out, "\n");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        str_add(out, i ? "                " : "  not repeated: ");
        escape_terminal_z(out, all[i].function->name);
        str_addf(out, " (%u): %s\n", all[i].calls, all[i].why);
    }
    if (n > SHOWN)
        str_addf(out, "                and %zu more; --json lists all\n", n - SHOWN);
    arena_release(&a);
}

static void say(Regress *r, const char *folder)
{
    const Suite *u = &r->suite;
    const Reduced *d = &r->reduced;
    Str *out = session_out(r->session);
    if (session_flag(r->session, "json"))
        return;
    if (r->dropped)
        session_note(
            r->session,
            "%zu test%s that did not compile or pass by %s left out after the figures were "
            "taken",
            r->dropped, r->dropped == 1 ? "" : "s",
            r->dropped == 1 ? "itself was" : "themselves were");
    if (r->untried)
        session_incomplete(r->session,
                           "%zu test%s left out: there was no time to compile and run %s (--time)",
                           r->untried, r->untried == 1 ? " was" : "s were",
                           r->untried == 1 ? "it" : "them");
    if (u->late)
        session_incomplete(r->session,
                           "the time was over before %zu group%s of the example's calls had run: "
                           "give more (--time)",
                           u->late, u->late == 1 ? "" : "s");
    if (!u->ran.sequences && session_time_is_over(r->session))
        session_incomplete(r->session,
                           "the time was over before a sequence ran: give more (--time)");
    escape_terminal_z(out, folder);
    str_addf(out, ": %zu test%s with %zu assertion%s, from %" PRIu64 " sequences in %.0f s\n",
             r->written, r->written == 1 ? "" : "s", r->assertions, r->assertions == 1 ? "" : "s",
             u->ran.sequences, u->ran.seconds);
    str_addf(out, "  covers %zu of %zu lines (%.1f%%), %zu of %zu branches (%.1f%%)\n", d->lines,
             d->all_lines, percent(d->lines, d->all_lines), d->branches, d->all_branches,
             percent(d->branches, d->all_branches));
    if (r->by_example.all_lines)
        str_addf(out, "  the example alone covers %zu lines and %zu branches\n",
                 r->by_example.lines, r->by_example.branches);
    if (d->mutants && (d->reached || u->ran.sequences))
        str_addf(out,
                 "  finds %zu of %zu faults that Sundew has put into the library one by one "
                 "(mutants); %zu of them lie on the tests' way\n",
                 d->killed, d->mutants, d->reached);
    say_replays(r, out);
    if (u->set_aside)
        str_addf(out,
                 "  set aside: %" PRIu64 " sequences that died, but did not follow the "
                 "example\n",
                 u->set_aside);
}

/* Where it died, if that is in the library: what called it is ours, and says
 * nothing. A frame without a module has a source file. */
static void place_in_library(Failure *f, const char *library)
{
    const char *name = path_base(library);
    for (size_t i = f->site; i < f->nframes; i++) {
        const char *module = f->frames[i].module;
        if (module ? strcmp(path_base(module), name) == 0 : f->frames[i].file != NULL) {
            f->site = i;
            return;
        }
    }
    f->site = f->nframes;
}

/* Does it die only because a copy of the example's memory ends too early? */
static bool is_copy_too_short(Exec *exec, const Suspect *x, Arena *a)
{
    Seq *roomy = seq_with_room(a, x->seq, false);
    Failure f = { 0 };
    Err ignored = { 0 };
    ExecJob job = { .seq = roomy };
    bool lives = roomy && exec_failure(exec, &job, &f, &ignored) && !failure_is(&f);
    failure_release(&f);
    return lives;
}

static bool report_suspect(Regress *r, const Suspect *x, Err *err)
{
    Failure f = { 0 };
    Str steps = { 0 };
    Arena arena = { 0 };
    const ApiFunction *fn = x->seq->steps[x->how.at < x->seq->n ? x->how.at : 0].f;
    ExecJob job = { .seq = x->seq };
    bool strict = x->strict && r->strict;
    Exec *exec = strict ? r->strict : r->exec;
    bool ok = exec_failure(exec, &job, &f, err);
    bool failed = ok && failure_is(&f) && !failure_is_late(&f) && fn;
    if (failed && is_copy_too_short(exec, x, &arena)) {
        r->suite.set_aside++;
    } else if (failed) {
        place_in_library(&f, strict ? r->library.strict : r->library.cover);
        seq_dump(x->seq, &steps);
        Attachment a = { "sequence.txt", "trace", str_c(&steps), steps.len };
        Finding found =
            failure_finding(&arena,
                            &(FailureReport){
                                .failure = &f,
                                .rule = "regress/crash",
                                .level = LEVEL_ERROR,
                                .before =
                                    arena_printf(&arena, "%s: calls like the example's crash it: ",
                                                 fn->name),
                                .where = { .file = fn->fn->file,
                                           .line = (int)fn->fn->line,
                                           .function = fn->fn->name },
                                .anchor = failure_kind_name(f.kind) });
        found.nsteps = 0;                  /* the callers are the player's */
        found.attachments = &a;
        found.nattachments = 1;
        found.rerun = session_command_line(r->session);
        ok = session_report(r->session, &found, err);
    }
    failure_release(&f);
    str_release(&steps);
    arena_release(&arena);
    return ok;
}

static void release(Regress *r)
{
    exec_close(r->exec);
    exec_close(r->again);
    exec_close(r->strict);
    exec_close(r->mutants);
    suite_release(&r->suite);
    vec_release(&r->reduced.alive);
    library_release(&r->library);
    ownership_free(r->ownership);
    pool_free(r->pool);
    usage_free(r->usage);
    mut_facts_close(r->facts);
}

/* Before anything is written: the folder may hold good tests. */
static bool check_options(Session *s, Err *err)
{
    const char *text = session_option(s, "divergent");
    char *end;
    double share = strtod(text, &end);
    if (session_flag(s, "accept"))
        return err_set(err, "--accept goes with --diff DIR");
    if (end == text || *end || !(share >= 0 && share <= 1))
        return err_set(err, "--divergent %s: a share from 0 to 1", text);
    if (!session_option(s, "headers"))
        return err_set(err, "--headers FILE: which header declares the library's functions? The "
                            "tests include it");
    return true;
}

static bool run(Session *s, Err *err)
{
    Regress r = { .session = s };
    const char *folder = session_option(s, "output");
    if (session_option(s, "diff"))
        return diff_run(s, session_option(s, "diff"), err);
    /* Made late: a folder "tests" may be in the way of the example's make. */
    if (!check_options(s, err) || (file_exists(folder) && !session_claim(s, folder, err)))
        return false;
    Progress progress = progress_start("regress", 5);
    progress_step(&progress, 0, "the API");
    bool ok = open_api(&r, err);
    progress_step(&progress, 1, "the example");
    ok = ok && (session_flag(s, "universal") || example_usage(&r, err)) &&
         (!session_flag(s, "example-coverage") || example_coverage(&r, err));
    progress_step(&progress, 2, "the library, made ready");
    ok = ok && open_library(&r, err);
    if (ok)
        plan_growth(&r);
    progress_step(&progress, 3, "sequences");
    ok = ok && make_suite(&r, err);
    progress_step(&progress, 4, "what each test adds");
    ok = ok && reduce_suite(&r, err);
    progress_step(&progress, 4, "the tests, tried");
    if (ok && session_was_asked_to_stop())
        session_incomplete(s, "interrupted: no tests were written");
    else
        ok = ok && session_claim(s, folder, err) && tests_write(&r, folder, err);
    progress_end(&progress);
    ok = ok && session_begin(s, program_captured(r.program)->name, err);
    for (size_t i = 0; ok && i < r.suite.suspects.len; i++)
        ok = report_suspect(&r, &r.suite.suspects.items[i], err);
    if (ok) {
        set_json(&r);
        say(&r, folder);
    }
    release(&r);
    return ok;
}

const Command technique_regress = {
    .name = "regress",
    .args = "LIBRARY [-- EXAMPLE ARGUMENT…]",
    .summary = "regression tests for a library, from an example run",
    .about =
        "Runs the example for at most an hour. The example is a captured program that is linked "
        "with the library, or any command that runs such programs (make check); a library that "
        "records takes the place of the library meanwhile. Sundew learns from the example how the "
        "API is used, and generates many call sequences that are similar but different. It keeps "
        "a sequence if it always gives the same, is legal under the address and "
        "undefined-behaviour sanitizers, leaks nothing, and adds coverage or finds a fault that "
        "Sundew has put into a copy of the library (a mutant). It "
        "writes these as plain C tests with assertions on the results. The default of --time is "
        "60s.\n\n"
        "Without an example it calls any function with any argument.\n\n"
        "It reports a crash only if each object saw the calls that one of the example's saw, with "
        "the same values. It counts other crashes and sets them aside, because wrong use of a C "
        "library may do anything.\n\n"
        "With --diff it compiles the tests of an earlier run with the library that you name, and "
        "tells for each function what differs; --accept makes that the new expectation.",
    .examples = "sundew regress libfoo.a --headers foo.h -o tests --time 60s -- ./example\n"
                "sundew regress libfoo.a --headers foo.h -o tests -- make check\n"
                "make -C tests check\n"
                "sundew regress --diff tests libfoo-new.a\n"
                "sundew regress --diff tests --accept libfoo-new.a\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE,
    .budget = true,
    .plan = regress_plan,
    .run = run,
};
