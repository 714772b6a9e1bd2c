/*
 * A program with threads of its own: which schedules make it fail?
 *
 * The schedule engine runs it many times. Each run that ends badly is a Bad; runs
 * that end in the same way are one. The schedule of each is made as short as can
 * be and replayed, and only what shows again every time is reported as shown.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "technique/threads/threads_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { REPLAYS = 5, MOST_SHORTENING = 200 };

/* ----------------------------------------------------------------- judge */

static void take_waits(const ScheduleRun *run, Bad *out)
{
    for (size_t i = 0; i < run->waits.len; i++) {
        out->waits[out->nwaits++] = run->waits.items[i];
        if (run->waits.items[i].kind != SUNDEW_AT_BEGIN)
            out->sites[out->nsites++] = run->waits.items[i].site;
    }
}

bool whole_judge(const Whole *w, const ScheduleRun *run, Bad *out)
{
    ScheduleVerdict verdict = schedule_verdict(run);
    *out = (Bad){ .preemptions = run->preemptions };
    if (verdict == SCHEDULE_DEADLOCKS) {
        out->kind = BAD_DEADLOCK;
        take_waits(run, out);
        return true;
    }
    if (verdict == SCHEDULE_FAILS) {
        out->kind = BAD_FAILURE;
        failure_copy(&out->failure, &run->result.failure);
        return true;
    }
    out->kind = BAD_OUTPUT;
    return w->has_expected && run->ended == SUNDEW_SCHEDULE_ENDED &&
           (run->result.out.text.len != w->expected.len ||
            memcmp(run->result.out.text.data, w->expected.data, w->expected.len) != 0);
}

bool bad_same(const Bad *a, const Bad *b)
{
    if (a->kind != b->kind || a->nsites != b->nsites)
        return false;
    return a->kind == BAD_FAILURE ? failure_same(&a->failure, &b->failure, FAILURE_SAME_SITE)
                                  : !memcmp(a->sites, b->sites, a->nsites * sizeof *a->sites);
}

void bad_release(Bad *b)
{
    failure_release(&b->failure);
    schedule_release(&b->schedule);
    str_release(&b->picture);
    free(b->folder);
    *b = (Bad){ 0 };
}

static void keep_schedule(Bad *b, const Schedule *schedule, unsigned preemptions)
{
    schedule_release(&b->schedule);
    schedule_copy(&b->schedule, schedule);
    b->preemptions = preemptions;
}

static bool is_shorter(const Bad *b, const Schedule *schedule, unsigned preemptions)
{
    return preemptions < b->preemptions ||
           (preemptions == b->preemptions && schedule->forces.len < b->schedule.forces.len);
}

static void note_bad(Whole *w, Bad *new, const Schedule *schedule)
{
    for (size_t i = 0; i < w->bad.len; i++) {
        Bad *b = &w->bad.items[i];
        if (!bad_same(b, new))
            continue;
        b->seen++;
        if (is_shorter(b, schedule, new->preemptions))
            keep_schedule(b, schedule, new->preemptions);
        bad_release(new);
        return;
    }
    new->seen = 1;
    new->first = w->runs;
    keep_schedule(new, schedule, new->preemptions);
    vec_push(&w->bad, *new);
}

static bool same_line(const Whole *w, uint32_t a, uint32_t b)
{
    const ScheduleSite *x = scheduler_site(w->scheduler, a), *y = scheduler_site(w->scheduler, b);
    return x && y && x->line == y->line && !strcmp(x->file, y->file);
}

static void note_race(Whole *w, const struct sundew_race *r)
{
    for (size_t i = 0; i < w->races.len; i++) {
        const struct sundew_race *old = &w->races.items[i].race;
        if ((same_line(w, old->first.site, r->first.site) &&
             same_line(w, old->second.site, r->second.site)) ||
            (same_line(w, old->first.site, r->second.site) &&
             same_line(w, old->second.site, r->first.site))) {
            w->races.items[i].seen++;
            return;
        }
    }
    vec_push(&w->races, ((RaceSeen){ *r, 1 }));
}

static SearchVerdict judge(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Whole *w = arg;
    Bad new;
    progress_step(&w->progress, ++w->runs, NULL);
    if (whole_judge(w, run, &new))
        note_bad(w, &new, schedule);
    else
        bad_release(&new);
    for (size_t i = 0; i < run->races.len; i++)
        note_race(w, &run->races.items[i]);
    return SEARCH_GO_ON;
}

/* ------------------------------------------------------------- shortening */

/* Does the schedule still go wrong in this way? The run stays in `run`. */
static bool shows(Whole *w, const Bad *b, const Schedule *schedule, ScheduleRun *run)
{
    Bad got = { 0 };
    bool same = scheduler_run(w->scheduler, schedule, run, NULL) && whole_judge(w, run, &got) &&
                bad_same(&got, b);
    bad_release(&got);
    return same;
}

/* Leaves out one force after the other, from the last on, while it still shows. */
static void shorten(Whole *w, Bad *b)
{
    ScheduleRun run = { 0 };
    unsigned tries = 0;
    for (size_t i = b->schedule.forces.len; i-- > 0 && tries < MOST_SHORTENING; tries++) {
        Schedule less = { 0 }, again = { 0 };
        schedule_copy(&less, &b->schedule);
        memmove(&less.forces.items[i], &less.forces.items[i + 1],
                (less.forces.len - i - 1) * sizeof *less.forces.items);
        less.forces.len--;
        if (shows(w, b, &less, &run)) {
            schedule_of_run(&less, &run, &again);
            if (again.forces.len < b->schedule.forces.len) {
                keep_schedule(b, &again, run.preemptions);
                i = i < b->schedule.forces.len ? i : b->schedule.forces.len;
            }
        }
        schedule_release(&less);
        schedule_release(&again);
    }
    schedule_run_release(&run);
}

static void replay(Whole *w, Bad *b)
{
    ScheduleRun run = { 0 };
    for (b->tries = 0, b->again = 0; b->tries < REPLAYS; b->tries++)
        b->again += shows(w, b, &b->schedule, &run);
    str_reset(&b->picture);
    schedule_draw(w->scheduler, &run, 60, &b->picture);
    b->switched = schedule_switch(w->scheduler, &run, 0, &b->stopped, &b->ran);
    schedule_run_release(&run);
}

/* ------------------------------------------------------------------ files */

/* FOLDER/N/: the schedule, the picture, and what to run. */
static bool keep(Whole *w, Bad *b, size_t number, Err *err)
{
    b->folder = xprintf("%s/%zu", w->out, number);
    return schedule_keep(b->folder, &b->schedule, w->build.key, &w->argv, &b->picture, err);
}

/* -------------------------------------------------------------------- run */

static bool is_interrupted(void *session) { return session_interrupted(session); }

static bool read_expected(Whole *w, Err *err)
{
    const char *path = session_option(w->s, "expect");
    w->has_expected = path != NULL;
    return !path || file_read(path, &w->expected, err);
}

/* The session has its name. */
static bool open_whole(Whole *w, Err *err)
{
    Session *s = w->s;
    w->violations = json_array();
    w->race_rows = json_array();
    w->cwd = path_absolute(".");
    if (!session_need(s, NEEDS_CALLS, err) || !read_expected(w, err))
        return false;
    w->program = session_program(s);
    if (!build_schedule(w->program, session_calls(s), session_libexec(s),
                        !session_flag(s, "no-sanitizers"), &w->build, err))
        return false;
    SchedulerPlan plan = { .build = &w->build,
                           .argv = strings_argv(&w->argv),
                           .cwd = w->cwd,
                           .input_file = session_option(s, "stdin"),
                           .racing = true,
                           .quick = true,
                           .look_up = true };
    w->scheduler = scheduler_open(&plan, err);
    return w->scheduler != NULL;
}

static void close_whole(Whole *w)
{
    scheduler_close(w->scheduler);
    schedule_build_release(&w->build);
    for (size_t i = 0; i < w->bad.len; i++)
        bad_release(&w->bad.items[i]);
    vec_release(&w->bad);
    vec_release(&w->races);
    json_decref(w->violations);
    json_decref(w->race_rows);
    strings_release(&w->argv);
    str_release(&w->expected);
    free(w->out);
    free(w->cwd);
}

bool threads_number(Session *s, const char *name, size_t *out, Err *err)
{
    const char *text = session_option(s, name);
    uint64_t n = 0;
    if (text && (!size_parse(text, &n) || !n))
        return err_set(err, "--%s %s: no number above 0", name, text);
    *out = (size_t)n;
    return true;
}

static bool search(Whole *w, Err *err)
{
    SearchPlan plan = {
        .seed = session_seed(w->s), .stop = is_interrupted, .stop_arg = w->s, .spends = true
    };
    size_t bound = 0;
    if (!threads_number(w->s, "schedules", &plan.most, err) ||
        !threads_number(w->s, "bound", &bound, err))
        return false;
    if (bound > 7)
        return err_set(err, "--bound %zu: at most 7 preemptions", bound);
    plan.bound = (unsigned)bound;
    w->progress = progress_start("running schedules", 0);
    bool ok = schedule_search(w->scheduler, &plan, judge, w, &w->search, err);
    progress_end(&w->progress);
    return ok;
}

static bool report_all(Whole *w, Err *err)
{
    bool ok = session_begin(w->s, program_captured(w->program)->name, err);
    races_look_up(w->scheduler, &w->races);
    for (size_t i = 0; ok && i < w->bad.len; i++) {
        shorten(w, &w->bad.items[i]);
        replay(w, &w->bad.items[i]);
        ok = keep(w, &w->bad.items[i], i + 1, err) && report_bad(w, &w->bad.items[i], err);
    }
    for (size_t i = 0; ok && i < w->races.len; i++)
        ok = report_race(w, &w->races.items[i], err);
    if (ok)
        report_summary(w);
    return ok;
}

bool whole_program(Session *s, Err *err)
{
    size_t nargs, ntail;
    char **args = session_args(s, &nargs), **tail = session_tail(s, &ntail);
    Whole w = { .s = s };
    assert(nargs > 0);
    strings_add(&w.argv, args[0]);
    for (size_t i = 0; i < ntail; i++)
        strings_add(&w.argv, tail[i]);
    w.out = session_option(s, "output") ? xstrdup(session_option(s, "output"))
                                        : xprintf("%s.threads", path_base(args[0]));
    bool ok = session_claim(s, w.out, err) && open_whole(&w, err) && search(&w, err) &&
              report_all(&w, err);
    close_whole(&w);
    return ok;
}

/* ----------------------------------------------------------------- replay */

static bool read_command(const char *folder, Strings *out, Err *err)
{
    char *path = path_join(folder, "command.json");
    json_t *words = json_read(path, err), *word;
    size_t i;
    json_array_foreach(words, i, word) if (json_is_string(word))
        strings_add(out, json_string_value(word));
    bool ok = words && (out->len || err_set(err, "%s: this names no program", path));
    json_decref(words);
    free(path);
    return ok;
}

static bool read_schedule(const Whole *w, const char *folder, Schedule *out, Err *err)
{
    char *path = path_join(folder, "schedule.txt");
    Str text = { 0 };
    bool ok = file_read(path, &text, err) &&
              (schedule_read(str_c(&text), w->build.key, out, err) || err_ctx(err, "%s", path));
    str_release(&text);
    free(path);
    return ok;
}

bool replay_times(Session *s, size_t *out, Err *err)
{
    bool ok = threads_number(s, "times", out, err);
    *out = *out ? *out : 1;
    return ok && (*out <= 1000000 || err_set(err, "--times %zu: at most a million", *out));
}

/* The other runs of --times: those that end as the first did are counted. */
static bool replay_more(Whole *w, Bad *b, size_t times)
{
    ScheduleRun run = { 0 };
    for (; b->tries < times && !session_interrupted(w->s); b->tries++)
        b->again += shows(w, b, &b->schedule, &run);
    schedule_run_release(&run);
    return b->tries == times;
}

/* The accesses of a race are no points of the schedule, so the picture may not have them. */
static void draw_races(const Whole *w, const ScheduleRun *run, Str *out)
{
    for (size_t i = 0; i < run->races.len; i++) {
        const ScheduleSite *a = scheduler_site(w->scheduler, run->races.items[i].first.site),
                           *b = scheduler_site(w->scheduler, run->races.items[i].second.site);
        if (a && b)
            str_addf(out, "race: %s in %s (%s:%u) and %s in %s (%s:%u), in no order\n", a->what,
                     a->function, path_base(a->file), a->line, b->what, b->function,
                     path_base(b->file), b->line);
    }
}

static bool replay_once(Whole *w, const Schedule *schedule, const char *folder, size_t times,
                        Err *err)
{
    ScheduleRun run = { 0 };
    Bad b = { 0 };
    bool ok = scheduler_run(w->scheduler, schedule, &run, err) && session_begin(w->s, NULL, err);
    if (ok && run.ended == SUNDEW_SCHEDULE_DIVERGED)
        ok = err_set(err, "%s: the program went another way than this schedule", folder);
    if (ok) {
        schedule_draw(w->scheduler, &run, 200, session_out(w->s));
        draw_races(w, &run, session_out(w->s));
        if (whole_judge(w, &run, &b)) {
            keep_schedule(&b, schedule, run.preemptions);
            schedule_draw(w->scheduler, &run, 60, &b.picture);
            b.switched = schedule_switch(w->scheduler, &run, 0, &b.stopped, &b.ran);
            b.seen = b.again = b.tries = 1;
            b.folder = xstrdup(folder);
            replay_more(w, &b, times);
            ok = report_bad(w, &b, err);
        }
    }
    bad_release(&b);
    schedule_run_release(&run);
    return ok;
}

bool whole_replay(Session *s, const char *folder, Err *err)
{
    Whole w = { .s = s, .out = xstrdup(folder) };
    Schedule schedule = { 0 };
    size_t times = 1;
    bool ok = replay_times(s, &times, err) && read_command(folder, &w.argv, err);
    if (ok)
        session_adopt(s, NULL, w.argv.items[0]);
    ok = ok && open_whole(&w, err) && read_schedule(&w, folder, &schedule, err) &&
         replay_once(&w, &schedule, folder, times, err);
    schedule_release(&schedule);
    close_whole(&w);
    return ok;
}
