/* What an exploration says: the live line, the summary, findings, JSON. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/units.h"
#include "build/driver.h"
#include "session/failure_finding.h"
#include "technique/explore/explore_int.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- live line */

static void describe(const ExploreStatus *st, Str *out)
{
    char time[32];
    duration_format(st->seconds, time);
    str_addf(out,
             "%s  runs %" PRIu64 " (%.0f/s)  paths %" PRIu64 "  branches %zu of %zu  "
             "queue %zu",
             time, st->executions, st->seconds > 0 ? (double)st->executions / st->seconds : 0,
             st->paths, st->covered, st->reachable, st->queue);
    if (st->traces)
        str_addf(out, "  traces %" PRIu64 "  solver %" PRIu64 "/%" PRIu64 " %.1fs", st->traces,
                 st->solver.sat + st->solver.optimistic, st->solver.queries, st->solver.seconds);
    str_addf(out, "  failures %zu", st->failures);
    if (st->hangs)
        str_addf(out, "  hangs %zu", st->hangs);
}

void status_show(const ExploreStatus *st, void *exploration)
{
    static double shown;                /* of the one terminal there is */
    double now = clock_seconds();
    (void)exploration;
    if (now - shown < 0.5)
        return;
    shown = now;
    Str s = { 0 };
    describe(st, &s);
    progress_say(str_c(&s));
    str_release(&s);
}

void status_wipe(void) { progress_wipe(); }

/* ---- findings */

/* A command that shows it again. */
static void rerun(const Exploration *e, const ExploreFailure *f, Str *out)
{
    const char *input = f->small_file ? f->small_file : f->file;
    str_add(out, "sundew -w ");
    escape_shell(out, workspace_dir(session_workspace(e->s)));
    str_add(out, " explore ");
    escape_shell(out, e->captured->path);
    str_add(out, " --replay -o $(mktemp -d) -i ");
    escape_shell(out, input);
    if (f->hang && !session_option(e->s, "timeout"))
        str_addf(out, " --timeout %.0fms", ceil(f->limit * 1000));
    static const char *const kept[] = { "argv",    "env",      "oracle", "bad-status",
                                        "timeout", "readable", NULL };
    for (const char *const *name = kept; *name; name++)
        for (char **v = session_option_all(e->s, *name); v && *v; v++) {
            str_addf(out, " --%s ", *name);
            escape_shell(out, *v);
        }
    static const char *const flags[] = { "network", "no-sanitizers", NULL };
    for (const char *const *name = flags; *name; name++)
        if (session_flag(e->s, *name))
            str_addf(out, " --%s", *name);
    if (e->function) {
        str_add(out, " --function ");
        escape_shell(out, e->function->symbol);
    }
    if (e->argv.len > 1)
        str_add(out, " --");
    for (size_t i = 1; i < e->argv.len; i++) {
        str_addc(out, ' ');
        escape_shell(out, e->argv.items[i]);
    }
}

/* The text that calls the one function that is explored: nobody's file. */
#define DRIVER "driver.c"

/* A failure in the driver is one of the function. */
static Location place_of(const Exploration *e, const Failure *f)
{
    const FailureFrame *site = failure_site(f);
    if (!e->function || !site || !site->file || strcmp(path_base(site->file), DRIVER) != 0)
        return (Location){ 0 };
    return (Location){ .file = *e->function->file ? e->function->file : site->file,
                       .line = (int)e->function->line,
                       .function = e->function->name };
}

/* What is known besides; stands below the title. */
static void tell_more(const Exploration *e, const ExploreFailure *f, Str *out)
{
    if (f->failed < f->runs)
        str_addf(out, "flaky: it failed in %u of %u runs", f->failed, f->runs);
    if (f->ours_only)
        str_addf(out,
                 "%sonly Sundew's build fails, the program as it was built does not: is its "
                 "behaviour undefined here?",
                 out->len ? "; " : "");
    if (e->function)
        str_addf(out, "%sthe arguments are made up: may a caller pass them?", out->len ? "; " : "");
}

static void write_test(const Exploration *e, const ExploreFailure *f, Str *out)
{
    if (!e->function)
        return;
    driver_write_test(e->function, f->small, f->nsmall, out, NULL);
    if (!out->len)
        return;
    char *path = xprintf("%s,test.c", f->file);
    file_write(path, str_c(out), out->len, NULL);
    free(path);
}

/* No input of ours got through, and the user gave none: the program may lack files or arguments. */
static bool is_helpless(const Exploration *e, const ExploreResult *r)
{
    return !e->function && !r->status.queue && !session_option(e->s, "seeds") &&
           !session_flag(e->s, "resume");
}

/* Some run until somebody ends them. */
static bool is_endless(const Exploration *e, const ExploreResult *r)
{
    bool all = r->nfailures && !e->function && !r->status.queue && !session_option(e->s, "seeds");
    for (size_t i = 0; i < r->nfailures; i++)
        all &= r->failures[i].hang;
    return all;
}

static Level level_of(const Exploration *e, const ExploreResult *r, const ExploreFailure *f)
{
    if (is_endless(e, r))
        return LEVEL_NOTE;
    if (is_helpless(e, r))
        return LEVEL_WARNING;
    return f->hang || e->function ? LEVEL_WARNING : LEVEL_ERROR;
}

static bool report_failure(Exploration *e, const ExploreResult *r, const ExploreFailure *f,
                           Err *err)
{
    Str more = { 0 }, command = { 0 }, test = { 0 };
    Arena arena = { 0 };
    tell_more(e, f, &more);
    if (is_helpless(e, r))
        str_addf(&more,
                 "%severy input fails: does the program need files, arguments or a seed (-i)?",
                 more.len ? "; " : "");
    rerun(e, f, &command);
    write_test(e, f, &test);
    const char *input = f->small_file ? f->small_file : f->file;
    Attachment att[] = {
        { .name = path_base(input),
          .kind = "input",
          .text = (const char *)f->small,
          .size = f->nsmall },
        { .name = "test.c", .kind = "test", .text = str_c(&test), .size = test.len }
    };
    Finding finding =
        failure_finding(&arena,
                        &(FailureReport){
                            .failure = &f->failure,
                            .rule = f->by_command ? "explore/oracle"
                                    : f->hang     ? "explore/hang"
                                                  : "explore/failure",
                            .level = level_of(e, r, f),
                            .text = f->by_command ? "the oracle command refuses this input" : NULL,
                            .more = str_c(&more),
                            .detail =
                                *f->condition ? arena_printf(&arena, "if %s", f->condition) : NULL,
                            .where = place_of(e, &f->failure),
                            .program = e->captured->path,
                            .ours = e->function ? DRIVER : NULL });
    finding.attachments = att;
    finding.nattachments = test.len ? 2 : 1;
    finding.rerun = str_c(&command);
    bool ok = session_report(e->s, &finding, err);
    arena_release(&arena);
    str_release(&more);
    str_release(&command);
    str_release(&test);
    return ok;
}

/* ---- JSON */

static json_t *failures_json(const ExploreResult *r)
{
    json_t *all = json_array();
    for (size_t i = 0; i < r->nfailures; i++) {
        const ExploreFailure *f = &r->failures[i];
        const FailureFrame *site = failure_site(&f->failure);
        Str text = { 0 };
        failure_describe(&f->failure, &text);
        json_t *where =
            site ? json_pack("{s:o, s:o, s:i}", "file", json_text(site->file), "function",
                             json_text(site->function), "line", (int)site->line)
                 : json_null();
        json_t *o =
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:f, s:i, s:i, s:b}", "kind",
                      f->by_command ? "oracle" : failure_kind_name(f->failure.kind), "what",
                      json_text(str_c(&text)), "location", where, "input", json_text(f->file),
                      "minimised", json_text(f->small_file ? f->small_file : f->file), "condition",
                      json_text(f->condition), "inputs", (int)f->seen, "seconds", f->when, "runs",
                      (int)f->runs, "failed", (int)f->failed, "ours_only", (int)f->ours_only);
        json_array_append_new(all, o);
        str_release(&text);
    }
    return all;
}

static json_t *imprecise_json(const ExploreResult *r)
{
    json_t *all = json_array();
    for (size_t i = 0; i < r->nimprecise; i++) {
        const ExploreImprecise *m = &r->imprecise[i];
        json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:i, s:I, s:I}", "why", m->why,
                                             "name", json_text(m->name), "file", json_text(m->file),
                                             "line", (int)m->line, "count", (json_int_t)m->count,
                                             "diverged", (json_int_t)m->diverged));
    }
    return all;
}

static json_t *number(uint64_t n) { return json_integer((json_int_t)n); }

static void add_json(Exploration *e, const ExploreResult *r)
{
    const ExploreStatus *st = &r->status;
    Session *s = e->s;
    session_json(s, "executions", number(st->executions));
    session_json(s, "shortening", number(st->shortened));
    session_json(s, "paths", number(st->paths));
    session_json(s, "branches",
                 json_pack("{s:I, s:I}", "covered", (json_int_t)st->covered, "reachable",
                           (json_int_t)st->reachable));
    session_json(s, "solver",
                 json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "queries",
                           (json_int_t)st->solver.queries, "sat", (json_int_t)st->solver.sat,
                           "unsat", (json_int_t)st->solver.unsat, "unknown",
                           (json_int_t)st->solver.unknown, "optimistic",
                           (json_int_t)st->solver.optimistic, "seconds", st->solver.seconds));
    session_json(s, "divergences",
                 json_pack("{s:I, s:I, s:I, s:I}", "checked", (json_int_t)st->checked, "diverged",
                           (json_int_t)st->diverged, "checked_precise",
                           (json_int_t)st->checked_precise, "diverged_precise",
                           (json_int_t)st->diverged_precise));
    session_json(s, "imprecise", imprecise_json(r));
    session_json(s, "failures", failures_json(r));
    session_json(s, "queue", number(st->queue));
    session_json(s, "traces", number(st->traces));
    session_json(s, "solved_new", number(st->solved_new));
    session_json(s, "seconds", json_real(st->seconds));
    bool time = strcmp(r->ended, "interrupted") == 0 && session_time_is_over(s);
    session_json(s, "ended", json_text(time ? "time" : r->ended));
    session_json(s, "output", json_text(e->out));
}

/* ---- summary */

/* The imprecision that misled most predictions; NULL: none did. */
static const ExploreImprecise *worst_of(const ExploreResult *r)
{
    const ExploreImprecise *worst = NULL;
    for (size_t i = 0; i < r->nimprecise; i++)
        if (r->imprecise[i].diverged > (worst ? worst->diverged : 0))
            worst = &r->imprecise[i];
    return worst;
}

static void print_diverged(const ExploreResult *r, Str *out)
{
    const ExploreStatus *st = &r->status;
    const ExploreImprecise *worst = worst_of(r);
    str_addf(out, "%" PRIu64 " of %" PRIu64 " solved inputs took another branch than expected",
             st->diverged, st->checked);
    if (worst) {
        str_addf(out, ", %" PRIu64 " of them after ", worst->diverged);
        escape_terminal_z(out, *worst->name ? worst->name : worst->why);
        if (*worst->file) {
            str_add(out, " at ");
            escape_terminal_z(out, path_base(worst->file));
            str_addf(out, ":%u", worst->line);
        }
    }
    if (st->diverged_precise)
        str_addf(out, ", %" PRIu64 " for no known reason", st->diverged_precise);
    str_add(out, ": exploration is slower then, findings are not affected\n");
}

static void print_summary(Exploration *e, const ExploreResult *r)
{
    const ExploreStatus *st = &r->status;
    Str *out = session_out(e->s);
    char time[32];
    str_addf(out,
             "%" PRIu64 " runs in %s (%.0f a second), %" PRIu64 " paths; %zu of %zu branches "
             "covered; %zu inputs in ",
             st->executions, duration_format(st->seconds, time),
             st->seconds > 0 ? (double)st->executions / st->seconds : 0, st->paths, st->covered,
             st->reachable, st->queue);
    escape_terminal_z(out, e->out);
    str_add(out, "/queue\n");
    if (st->traces) {
        str_addf(out,
                 "%" PRIu64 " traces, %" PRIu64 " queries (%" PRIu64 " sat, %" PRIu64
                 " unsat, %" PRIu64 " unknown) in %.1f s: %" PRIu64 " new inputs\n",
                 st->traces, st->solver.queries, st->solver.sat, st->solver.unsat,
                 st->solver.unknown, st->solver.seconds, st->solved_new);
        if (st->diverged)
            print_diverged(r, out);
    }
    if (!r->nfailures)
        str_add(out, "no failure\n");
}

/* Of failures for which a search that went on had no time, what was told stays: they are earlier findings,
 * whose command names the file. */
static bool keep_unjudged(Exploration *e, const ExploreResult *r, const FindingSet *earlier,
                          Err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && earlier && i < earlier->len; i++) {
        const Finding *f = &earlier->items[i].finding;
        bool named = false;
        for (size_t k = 0; k < r->nunjudged && f->rerun; k++)
            named |= strstr(f->rerun, r->unjudged[k]) != NULL;
        ok = !named || session_report(e->s, f, err);
    }
    return ok;
}

/* Few branches and no failure may mean that the program lacks something. */
static void tell_complaint(Exploration *e, const ExploreResult *r)
{
    CComplaint all;
    char *queue = path_join(e->out, "queue");
    bool ended = session_interrupted(e->s) && !session_time_is_over(e->s);
    if (r->untouched)
        session_json(e->s, "complaint", json_text("no branch depends on the input"));
    if (!r->nfailures && !ended && c_front_complaint(e->front, queue, &all)) {
        session_note(e->s,
                     "every input that was kept ends with status %d and \"%s\": does the program "
                     "lack a file or an argument?",
                     all.status, all.said);
        session_json(e->s, "complaint", json_text(all.said));
    }
    free(queue);
}

bool report_exploration(Exploration *e, ExploreResult *r, Err *err)
{
    /* A replay is of a few inputs: what the search has found stays. */
    bool replay = session_flag(e->s, "replay");
    FindingSet *earlier = r->nunjudged && session_store(e->s)
                              ? store_read(session_store(e->s), "explore", NULL, err)
                              : NULL;
    bool ok = session_begin(e->s, replay ? NULL : e->captured->name, err);
    for (size_t i = 0; ok && i < r->nfailures; i++)
        ok = report_failure(e, r, &r->failures[i], err);
    ok = ok && keep_unjudged(e, r, earlier, err);
    finding_set_free(earlier);
    if (ok && r->nunjudged)
        session_incomplete(e->s, "%zu earlier failure%s had no time to be judged again",
                           r->nunjudged, r->nunjudged == 1 ? "" : "s");
    const char *late = c_front_was_late(e->front);
    bool on_purpose = strcmp(r->ended, "first failure") == 0;
    if (ok && !on_purpose && late)
        session_incomplete(e->s, "%s not ready in time", late);
    if (ok && c_front_was_lenient(e->front))
        session_incomplete(e->s, "no input ran with sanitizers");
    if (ok && replay && strcmp(r->ended, "interrupted") == 0)
        session_incomplete(e->s, "stopped before all inputs were run to their end");
    if (ok && r->unsaved)
        session_incomplete(e->s, "%zu file%s could not be written", r->unsaved,
                           r->unsaved == 1 ? "" : "s");
    session_examined(e->s, "%" PRIu64 " runs, %zu of %zu branches", r->status.executions,
                     r->status.covered, r->status.reachable);
    if (ok)
        tell_complaint(e, r);
    if (ok && is_endless(e, r)) {
        session_note(e->s,
                     "no input gets through: no run ended by itself. Does the program wait for "
                     "something, or run until it is told to end? (-i FILE: an input that it ends "
                     "on; --timeout; sundew events)");
        session_json(e->s, "complaint", json_text("no run ended by itself"));
    }
    add_json(e, r);
    if (!session_flag(e->s, "json"))
        print_summary(e, r);
    return ok;
}
