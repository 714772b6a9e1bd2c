/* What is told of schedules that go wrong: findings, summary, JSON. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "session/failure_finding.h"
#include "technique/threads/threads_int.h"
#include <assert.h>
#include <string.h>

static const char *rule_of(const Bad *b)
{
    return b->kind == BAD_DEADLOCK ? "threads/deadlock"
           : b->kind == BAD_OUTPUT ? "threads/output"
                                   : "threads/failure";
}

static Location place_of(const Whole *w, uint32_t site)
{
    const ScheduleSite *at = scheduler_site(w->scheduler, site);
    if (!at || !*at->file)
        return (Location){ .file = program_captured(w->program)->path };
    return (Location){ .file = at->file, .line = (int)at->line, .function = at->function };
}

/* Fewer than were found may do. */
const char *preemptions_text(Arena *a, unsigned n)
{
    return n ? arena_printf(a, "at most %u preemption%s needed", n, n == 1 ? " is" : "s are")
             : "no preemption is needed";
}

/* "5 of 1000 schedules, 1 preemption": how often, and how little it takes. */
static const char *how_often(Arena *a, const Whole *w, const Bad *b)
{
    if (!w->runs)
        return NULL;
    if (b->seen == w->runs)
        return arena_printf(a, "in every one of %zu schedules", w->runs);
    return arena_printf(a, "in %zu of %zu schedules; %s", b->seen, w->runs,
                        preemptions_text(a, b->preemptions));
}

static const char *wait_text(Arena *a, const struct sundew_wait *wait, unsigned thread)
{
    const char *what = schedule_kind_name(wait->kind);
    if (wait->owner < SUNDEW_SCHEDULE_THREADS && wait->kind != SUNDEW_AT_JOIN)
        return arena_printf(a, "T%u waits here (%s); T%u has it", thread, what, wait->owner);
    return arena_printf(a, "T%u waits here (%s)", thread, what);
}

/* Each thread that waits, at its place. */
static size_t wait_steps(Arena *a, const Whole *w, const Bad *b, EvidenceStep *steps)
{
    size_t n = 0;
    for (unsigned t = 0; t < b->nwaits; t++)
        if (b->waits[t].kind != SUNDEW_AT_BEGIN)
            steps[n++] =
                (EvidenceStep){ place_of(w, b->waits[t].site), wait_text(a, &b->waits[t], t) };
    return n;
}

/* A wait that nobody will end, rather than threads that wait for each other. */
static bool is_lost_wake_up(const Bad *b)
{
    bool condition = false, lock = false;
    for (unsigned t = 0; t < b->nwaits; t++) {
        condition |= b->waits[t].kind == SUNDEW_AT_WAIT || b->waits[t].kind == SUNDEW_AT_SEM_WAIT;
        lock |= b->waits[t].kind == SUNDEW_AT_LOCK || b->waits[t].kind == SUNDEW_AT_READ_LOCK;
    }
    return condition && !lock;
}

static Finding deadlock_finding(Arena *a, const Whole *w, const Bad *b)
{
    EvidenceStep *steps = arena_array(a, EvidenceStep, SUNDEW_SCHEDULE_THREADS);
    size_t n = wait_steps(a, w, b, steps);
    const char *what = is_lost_wake_up(b) ? "a thread waits for a wake-up that never comes"
                                          : "threads wait for each other";
    return (Finding){ .rule = rule_of(b),
                      .level = LEVEL_ERROR,
                      .verdict = VERDICT_SHOWN,
                      .message = arena_printf(a, "deadlock: %s", what),
                      .detail = how_often(a, w, b),
                      .where = n ? steps[n - 1].at : place_of(w, UINT32_MAX),
                      .anchor = "deadlock",
                      .steps = steps,
                      .nsteps = n };
}

static RaceTold told_of(const Whole *w)
{
    return (RaceTold){ .s = w->s,
                       .scheduler = w->scheduler,
                       .program = program_captured(w->program)->path,
                       .level = LEVEL_WARNING };
}

/* How it came to that comes before where it failed. */
static void add_switch(Arena *a, const Whole *w, const Bad *b, Finding *f)
{
    RaceTold told = told_of(w);
    EvidenceStep *steps = arena_array(a, EvidenceStep, f->nsteps + 2);
    if (!b->switched)
        return;
    size_t n = switch_steps(a, &told, &b->stopped, &b->ran, steps);
    for (size_t i = 0; i < f->nsteps; i++)
        steps[n + i] = f->steps[i];
    f->steps = steps;
    f->nsteps += n;
}

static Finding output_finding(Arena *a, const Whole *w, const Bad *b)
{
    return (Finding){ .rule = rule_of(b),
                      .level = LEVEL_ERROR,
                      .verdict = VERDICT_SHOWN,
                      .message = "the output is not the expected one",
                      .detail = how_often(a, w, b),
                      .where = place_of(w, UINT32_MAX),
                      .anchor = "output" };
}

static Finding finding_of(Arena *a, const Whole *w, const Bad *b)
{
    if (b->kind == BAD_DEADLOCK)
        return deadlock_finding(a, w, b);
    Finding f =
        b->kind == BAD_OUTPUT
            ? output_finding(a, w, b)
            : failure_finding(a, &(FailureReport){ .failure = &b->failure,
                                                   .rule = rule_of(b),
                                                   .level = LEVEL_ERROR,
                                                   .more = how_often(a, w, b),
                                                   .program = program_captured(w->program)->path });
    add_switch(a, w, b, &f);
    return f;
}

static json_t *violation(const Whole *w, const Bad *b, const Finding *f)
{
    json_t *schedule = json_array();
    for (size_t i = 0; i < b->schedule.forces.len; i++)
        json_array_append_new(schedule,
                              json_pack("{s:i,s:i}", "decision",
                                        (int)b->schedule.forces.items[i].decision, "thread",
                                        (int)b->schedule.forces.items[i].thread));
    json_t *j = json_pack("{s:s,s:i,s:o,s:[],s:o,s:i,s:o,s:o,s:[],s:i,s:I,s:I,s:i,s:i}", "kind",
                          b->kind == BAD_DEADLOCK ? "deadlock"
                          : b->kind == BAD_OUTPUT ? "output"
                                                  : failure_kind_name(b->failure.kind),
                          "tier", b->kind == BAD_OUTPUT ? 3 : 1, "type", json_null(), "functions",
                          "file", json_text(f->where.file), "line", f->where.line, "test",
                          json_text(b->folder), "schedule", schedule, "serial_orders",
                          "preemptions", (int)b->preemptions, "seen", (json_int_t)b->seen, "first",
                          (json_int_t)b->first, "replays", (int)b->again, "of", (int)b->tries);
    RaceTold told = told_of(w);
    if (b->switched)
        json_object_set_new(j, "switch", switch_json(&told, &b->stopped, &b->ran));
    return j;
}

static const char *rerun_of(Arena *a, const Whole *w, const Bad *b)
{
    Str s = { 0 };
    str_add(&s, "sundew -w ");
    escape_shell(&s, workspace_dir(session_workspace(w->s)));
    str_add(&s, " threads --replay ");
    escape_shell(&s, b->folder);
    const char *text = arena_strdup(a, str_c(&s));
    str_release(&s);
    return text;
}

bool report_bad(Whole *w, Bad *b, Err *err)
{
    Arena a = { 0 };
    Finding f = finding_of(&a, w, b);
    Str schedule = { 0 };
    schedule_write(&b->schedule, w->build.key, &schedule);
    Attachment att[] = { { "run.txt", "trace", str_c(&b->picture), b->picture.len },
                         { "schedule.txt", "test", str_c(&schedule), schedule.len } };
    f.attachments = att;
    f.nattachments = 2;
    f.rerun = rerun_of(&a, w, b);
    if (b->again < b->tries) {
        f.verdict = VERDICT_LIKELY;
        f.detail = arena_printf(&a, "%s%s%u of %u replays show it", f.detail ? f.detail : "",
                                f.detail ? "; " : "", b->again, b->tries);
    }
    f.data = violation(w, b, &f);
    json_array_append_new(w->violations, json_deep_copy(f.data));
    bool ok = session_report(w->s, &f, err);
    json_decref(f.data);
    str_release(&schedule);
    arena_release(&a);
    return ok;
}

bool report_race(Whole *w, const RaceSeen *r, Err *err)
{
    RaceTold told = told_of(w);
    json_array_append_new(w->race_rows, race_json(&told, r));
    return race_report(&told, r, 0, err);
}

/* ---------------------------------------------------------------- summary */

/* What "nothing found" means. */
static void tell_guarantee(const Whole *w, Str *out)
{
    const SearchResult *r = &w->search;
    if (r->runs && r->threads < 2)
        str_add(out, "The program made no thread, so there is nothing to schedule.\n");
    else if (r->complete && r->inconclusive == 0)
        str_addf(out, "All schedules with at most %u preemption%s at these points were run.\n",
                 r->complete - 1, r->complete == 2 ? "" : "s");
}

static void tell_number(Str *out, size_t n, const char *what)
{
    if (n)
        str_addf(out, "%zu run%s %s\n", n, n == 1 ? "" : "s", what);
}

/* Runs that say nothing, and why. */
static void tell_inconclusive(const Whole *w, Str *out)
{
    const SearchResult *r = &w->search;
    tell_number(out, r->ends[SUNDEW_SCHEDULE_ENDLESS],
                "passed more than 200,000 points and had to be stopped: the program may not end.");
    tell_number(out, r->ends[SUNDEW_SCHEDULE_DIVERGED],
                "went another way than the schedule: the program depends on more than the order of "
                "its threads.");
    tell_number(out, r->ends[SUNDEW_SCHEDULE_CROWDED],
                "had more than 64 threads at a time, which is more than can be scheduled.");
    tell_number(out, r->ends[SUNDEW_SCHEDULE_FOREIGN],
                "waited for a thread that a library made: it is not scheduled.");
    tell_number(out, r->timeouts,
                "reached no point for a long time: a thread computes, or blocks in a system call.");
}

static void tell_incomplete(Whole *w)
{
    const SearchResult *r = &w->search;
    if (!r->runs)
        session_incomplete(w->s, "no run had come to an end when the time was over");
    else if (r->inconclusive == r->runs)
        session_incomplete(w->s, "none of %zu runs came to a clear end", r->runs);
    else if (r->gave_up)
        session_incomplete(w->s, "%zu of %zu runs took too long", r->timeouts, r->runs);
}

static json_t *schedules_json(const Whole *w)
{
    const SearchResult *r = &w->search;
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:i,s:i}", "runs", (json_int_t)r->runs,
                     "systematic", (json_int_t)r->systematic, "random", (json_int_t)r->random,
                     "inconclusive", (json_int_t)r->inconclusive, "points", (json_int_t)r->points,
                     "accesses", (json_int_t)w->build.accesses, "escaping",
                     (json_int_t)w->build.escaping, "probed", (json_int_t)w->build.probed,
                     "hot_sites", (json_int_t)r->hot, "threads", (int)r->threads,
                     "complete_preemptions", r->inconclusive ? -1 : (int)r->complete - 1);
}

void report_summary(Whole *w)
{
    const SearchResult *r = &w->search;
    tell_incomplete(w);
    session_examined(w->s, "%zu schedules", r->runs);
    session_json(w->s, "schedules", schedules_json(w));
    session_json(w->s, "violations", json_incref(w->violations));
    session_json(w->s, "races", json_incref(w->race_rows));
    if (session_flag(w->s, "json"))
        return;
    Str *out = session_out(w->s);
    str_addf(out,
             "%zu schedules of %u threads: %zu systematic, %zu random. Up to %zu points in a run; "
             "%zu of %zu accesses may be shared, %zu of them conflict.\n",
             r->runs, r->threads, r->systematic, r->random, r->points, w->build.probed,
             w->build.accesses, r->hot);
    tell_guarantee(w, out);
    tell_inconclusive(w, out);
}
