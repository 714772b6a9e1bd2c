/*
 * --races: locations that two threads use without a lock in common, and schedules that
 * show two such uses unordered.
 *
 * The static part is a rule like others (weave/watch/rule_race.c); the watching run tells
 * which ends are reached. Then the schedule engine runs the program in many orders. A
 * race that a run shows, and shows again when its schedule is replayed, confirms the
 * warning. A location whose ends are reached, and always ordered, is rejected.
 */
#include "base/file.h"
#include "base/progress.h"
#include "engine/schedule/schedule.h"
#include "technique/confirm/confirm_int.h"
#include <assert.h>
#include <stdlib.h>

enum { REPLAYS = 3, SCHEDULES = 300, MOST_RACES = 50 };

typedef struct Race {
    struct sundew_race race;
    Schedule schedule;               /* of the run that showed it first */
    unsigned seen, again;
} Race;

typedef struct Races {
    Inquiry *q;
    Strings argv;
    char *cwd;                       /* as long as the scheduler runs */
    ScheduleBuild build;
    Scheduler *scheduler;
    Vec(Race) all;
    SearchResult search;
} Races;

static const ScheduleSite *site_of(const Races *r, uint32_t site)
{
    return scheduler_site(r->scheduler, site);
}

static bool same_line(const Races *r, uint32_t a, uint32_t b)
{
    const ScheduleSite *x = site_of(r, a), *y = site_of(r, b);
    return x && y && x->line == y->line && !strcmp(x->file, y->file);
}

static bool same_race(const Races *r, const struct sundew_race *a, const struct sundew_race *b)
{
    return (same_line(r, a->first.site, b->first.site) &&
            same_line(r, a->second.site, b->second.site)) ||
           (same_line(r, a->first.site, b->second.site) &&
            same_line(r, a->second.site, b->first.site));
}

static SearchVerdict judge(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Races *r = arg;
    for (size_t i = 0; i < run->races.len; i++) {
        const struct sundew_race *new = &run->races.items[i];
        Race *known = NULL;
        for (size_t k = 0; k < r->all.len && !known; k++)
            if (same_race(r, &r->all.items[k].race, new))
                known = &r->all.items[k];
        if (known) {
            known->seen++;
            /* The picture of a run shows accesses only at sites that are points. */
            if (!known->schedule.hot.len && schedule->hot.len) {
                schedule_release(&known->schedule);
                known->schedule = (Schedule){ 0 };
                schedule_copy(&known->schedule, schedule);
            }
        } else if (r->all.len < MOST_RACES && site_of(r, new->first.site) &&
                   site_of(r, new->second.site)) {
            Race *fresh = vec_grow(&r->all);
            fresh->race = *new;
            fresh->seen = 1;
            schedule_copy(&fresh->schedule, schedule);
        }
    }
    return SEARCH_GO_ON;
}

static void replay(Races *r, Race *race)
{
    for (unsigned i = 0; i < REPLAYS; i++) {
        ScheduleRun run = { 0 };
        bool shown = false;
        if (scheduler_run(r->scheduler, &race->schedule, &run, NULL))
            for (size_t k = 0; k < run.races.len && !shown; k++)
                shown = same_race(r, &run.races.items[k], &race->race);
        race->again += shown;
        schedule_run_release(&run);
    }
}

/* ---- the program that is scheduled: the one itself, or a captured one that uses it */

static const Program *scheduled_program(Races *r, Err *err)
{
    Inquiry *q = r->q;
    size_t n = 0;
    char **tail = session_has_tail(q->session) ? session_tail(q->session, &n) : NULL;
    Err none = { 0 };
    if (!n || (file_exists(tail[0]) && path_base(tail[0]) &&
               !strcmp(path_base(tail[0]), path_base(program_captured(q->program)->path)))) {
        strings_add(&r->argv, program_captured(q->program)->path);
        for (size_t i = 1; i < n; i++)
            strings_add(&r->argv, tail[i]);
        return q->program;
    }
    const Program *p = session_open_program(q->session, tail[0], &none);
    if (!p) {
        err_set(err, "%s is no captured program, so its threads can't be scheduled", tail[0]);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        strings_add(&r->argv, tail[i]);
    return p;
}

static bool is_stopped(void *session) { return session_interrupted(session); }

typedef struct Making {
    Session *session;
    const Program *program;
} Making;

/* As `threads` builds it: its --replay takes our schedules. */
static bool make_build(const Making *m, ScheduleBuild *out, Err *err)
{
    Session *s = m->session;
    CallsPlan plan = { .share = session_share(s), .root = session_root(s), .kept = true };
    Calls *calls = calls_open(m->program, &plan, err);
    bool ok = calls && build_schedule(m->program, calls, session_libexec(s), true, out, err);
    calls_close(calls);
    return ok;
}

static bool make_files(void *arg, Err *err)
{
    ScheduleBuild b = { 0 };
    bool ok = make_build(arg, &b, err);
    schedule_build_release(&b);
    return ok;
}

/* The second time its files are there. */
static bool build(Races *r, const Program *p, Err *err)
{
    Making m = { r->q->session, p };
    return inquiry_apart(r->q, make_files, &m, err) && make_build(&m, &r->build, err);
}

static bool search(Races *r, Err *err)
{
    Inquiry *q = r->q;
    const Program *p = scheduled_program(r, err);
    if (!p || !build(r, p, err))
        return false;
    r->cwd = path_absolute(".");
    SchedulerPlan plan = {
        .build = &r->build, .argv = strings_argv(&r->argv), .cwd = r->cwd, .racing = true
    };
    r->scheduler = scheduler_open(&plan, err);
    SearchPlan how = { .most = SCHEDULES,
                       .seed = session_seed(q->session),
                       .stop = is_stopped,
                       .stop_arg = q->session };
    const char *most = session_option(q->session, "schedules");
    if (most && atoi(most) > 0)
        how.most = (size_t)atoi(most);
    Progress progress = progress_start("running schedules", 0);
    bool ok = r->scheduler && schedule_search(r->scheduler, &how, judge, r, &r->search, err);
    progress_end(&progress);
    return ok;
}

/* ---- the schedule in a folder that `sundew threads --replay` takes */

static char *keep(Races *r, const Race *race, size_t number, Err *err)
{
    ScheduleRun run = { 0 };
    Str picture = { 0 };
    char *folder = xprintf("%s.races/%zu", program_captured(r->q->program)->name, number);
    if (scheduler_run(r->scheduler, &race->schedule, &run, NULL))
        schedule_draw(r->scheduler, &run, 60, &picture);
    bool ok = schedule_keep(folder, &race->schedule, r->build.key, &r->argv, &picture, err);
    schedule_run_release(&run);
    str_release(&picture);
    if (ok)
        return folder;
    free(folder);
    return NULL;
}

/* ---- verdicts */

static bool has_place(const WatchSite *s, const ScheduleSite *at)
{
    for (unsigned k = 0; k < s->nplaces; k++)
        if (s->places[k].line == at->line && !strcmp(path_base(s->file), path_base(at->file)))
            return true;
    return false;
}

static Warning *warning_of(Races *r, const Race *race)
{
    const ScheduleSite *a = site_of(r, race->race.first.site),
                       *b = site_of(r, race->race.second.site);
    Warnings *all = &r->q->warnings;
    for (size_t i = 0; i < all->items.len; i++) {
        Warning *w = &all->items.items[i];
        if (w->site && !strcmp(w->family, "race") && has_place(w->site, a) && has_place(w->site, b))
            return w;
    }
    return NULL;
}

/* A race that the code did not show: found all the same. */
static Warning *new_warning(Races *r, const Race *race)
{
    const ScheduleSite *a = site_of(r, race->race.first.site);
    Warnings *all = &r->q->warnings;
    for (size_t i = 0; i < all->items.len; i++)
        if (!strcmp(all->items.items[i].family, "race") && all->items.items[i].line == a->line &&
            !strcmp(path_base(all->items.items[i].file), path_base(a->file)))
            return &all->items.items[i];
    WatchSite *s = arena_new(&all->arena, WatchSite);
    *s = (WatchSite){ .rule = watch_rule("race"),
                      .group = "",
                      .kind = "",
                      .function = arena_strdup(&all->arena, a->function),
                      .file = arena_strdup(&all->arena, a->file),
                      .places = { { a->line, 0 } },
                      .nplaces = 1,
                      .subject = "memory",
                      .key = arena_printf(&all->arena, "race %s", a->function) };
    Warning *w = vec_grow(&all->items);
    *w = (Warning){ .tool = "sundew",
                    .rule = "confirm/race",
                    .family = "race",
                    .file = s->file,
                    .line = a->line,
                    .message = "",
                    .site = s };
    return w;
}

static bool confirm_race(Races *r, const Race *race, size_t number, Err *err)
{
    const ScheduleSite *a = site_of(r, race->race.first.site),
                       *b = site_of(r, race->race.second.site);
    assert(a && b && race->again == REPLAYS);
    Warning *w = warning_of(r, race);
    w = w ? w : new_warning(r, race);
    if (w->verdict == CONFIRMED && w->said.grade == GRADE_STRONG)
        return true;
    char *folder = keep(r, race, number, err);
    if (!folder)
        return false;
    w->verdict = CONFIRMED;
    w->said = (WatchJudgement){ .grade = GRADE_STRONG,
                                .opportunities = r->search.runs,
                                .seen_at = w->site };
    snprintf(
        w->said.text, sizeof w->said.text,
        "%s in %s (line %u) and %s in %s (line %u) are not ordered, with %u and %u locks held; "
        "replay: sundew threads --replay %s",
        a->what, a->function, a->line, b->what, b->function, b->line, race->race.first.nheld,
        race->race.second.nheld, folder);
    free(folder);
    return true;
}

/* The ends are reached, and no schedule shows them unordered. */
static void reject_others(Races *r)
{
    for (size_t i = 0; i < r->q->warnings.items.len; i++) {
        Warning *w = &r->q->warnings.items.items[i];
        if (strcmp(w->family, "race") || !w->site || w->verdict != UNDETERMINED ||
            !w->said.opportunities)
            continue;
        size_t good = r->search.runs - r->search.inconclusive;
        w->said.opportunities = good;
        if (good >= r->q->enough || (good && r->search.complete >= 3))
            w->verdict = REJECTED;
    }
}

bool inquiry_races(Inquiry *q, Err *err)
{
    Races r = { .q = q };
    Err why = { 0 };
    bool ok = true;
    if (search(&r, &why)) {
        size_t shown = 0;
        for (size_t i = 0; ok && i < r.all.len; i++) {
            replay(&r, &r.all.items[i]);
            if (r.all.items[i].again == REPLAYS)
                ok = confirm_race(&r, &r.all.items[i], ++shown, err);
        }
        reject_others(&r);
        if (r.search.runs && r.search.threads < 2)
            session_note(q->session, "the program started no thread");
    } else if (!q->late) {
        session_incomplete(q->session, "no schedules were tried: %s", why.msg);
    }
    for (size_t i = 0; i < r.all.len; i++)
        schedule_release(&r.all.items[i].schedule);
    vec_release(&r.all);
    scheduler_close(r.scheduler);
    schedule_build_release(&r.build);
    strings_release(&r.argv);
    free(r.cwd);
    return ok;
}
