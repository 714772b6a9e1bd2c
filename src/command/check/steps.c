/*
 * Steps: planned by the techniques, run one after the other as children of ours.
 *
 * The time that is left is divided anew before each step: steps that end by themselves get what
 * they are expected to need; open-ended ones share the rest by their value, within the bounds
 * that each has set. Until results feed others, a part is kept back for steps that nobody knows
 * of yet. After each step all plan functions are asked again.
 *
 * A step that crashes, hangs or fails is told of, and the next one runs. What a step has found is
 * in the store before it ends; that it is done is written to the state after it.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/units.h"
#include "command/check/check_int.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define KEPT_BACK 0.15         /* of the whole time, for steps that are fed by others */
/* Seconds over its time, after which a child is asked to end; and then is ended. */
enum { GRACE = 10, STOP_GRACE = 15 };

/* ---- a child */

/* `arg`: the file that gets both outputs, as they come; NULL: others are chosen. */
static bool lead_group(void *arg)
{
    int fd = arg ? open(arg, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666) : -1;
    if (arg && (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0))
        return false;
    return setpgid(0, 0) == 0;
}

/* Ends it: first by asking, then with all its children. True: asking was enough. */
static bool end_child(pid_t pid, ProcResult *r)
{
    kill(pid, SIGINT);
    if (proc_wait_until(pid, clock_seconds() + STOP_GRACE, r))
        return true;
    kill(-pid, SIGKILL);
    proc_wait(pid, r);
    return false;
}

bool run_child(Check *c, char *const *argv, const char *cwd, double seconds, const char *out,
               const char *log, ChildResult *r, Err *err)
{
    assert(argv && argv[0] && cwd && log);
    Proc p = { .argv = argv,
               .cwd = cwd,
               .in = "/dev/null",
               .out = out,
               .err_out = out ? log : NULL,
               .enter = lead_group,
               .enter_arg = out ? NULL : (void *)log,
               .death_signal = SIGKILL };
    ProcResult end = { 0 };
    double begin = clock_seconds();
    pid_t pid = proc_start(&p, err);
    if (pid < 0)
        return false;
    for (;;) {
        double now = clock_seconds();
        if (proc_wait_until(pid, now + 0.1, &end))
            break;
        r->stopped = session_interrupted(c->s) && !session_time_is_over(c->s);
        bool over = !r->stopped && now > begin + seconds;
        if (r->stopped || over) {
            r->over = over;
            r->hung = !end_child(pid, &end) && over;
            break;
        }
    }
    kill(-pid, SIGKILL);             /* what it left behind */
    c->stopped |= r->stopped;
    r->status = end.status;
    r->signal = end.signal;
    r->seconds = clock_seconds() - begin;
    return true;
}

const char *last_words(Check *c, const char *log)
{
    Str text = { 0 };
    const char *found = "";
    if (file_exists(log) && file_read(log, &text, NULL))
        for (char *p = text.data, *next; p && *p; p = next) {
            size_t n = strcspn(p, "\n");
            next = p + n + (p[n] == '\n');
            if (str_starts(p, "sundew: ") && n > 8)
                found = arena_strndup(&c->arena, p + 8, n - 8 < 300 ? n - 8 : 300);
        }
    str_release(&text);
    return found;
}

/* ---- planning */

static bool refresh(Check *c, Err *err)
{
    FindingSet *set = store_read(session_store(c->s), NULL, NULL, err);
    if (!set)
        return false;
    project_set_findings(c->project, set);
    state_give_products(&c->state, c->project);
    return true;
}

/* --only names it, or there is no --only. */
static bool is_wanted(Check *c, const char *technique)
{
    const char *only = session_option(c->s, "only");
    size_t n = strlen(technique);
    for (const char *p = only; p && *p; p += strcspn(p, ", "), p += strspn(p, ", "))
        if (strcspn(p, ", ") == n && strncmp(p, technique, n) == 0)
            return true;
    return !only;
}

bool steps_plan(Check *c, Err *err)
{
    if (!refresh(c, err))
        return false;
    plan_release(&c->plan);
    for (const Command *const *t = session_commands(c->s); *t; t++)
        if ((*t)->plan && is_wanted(c, (*t)->name)) {
            c->plan.technique = (*t)->name;
            (*t)->plan(c->project, &c->plan);
        }
    plan_sort(&c->plan);
    return true;
}

const char *step_key(Check *c, const PlanStep *s)
{
    Sha256 sum;
    char id[ID_LEN + 1];
    sha256_init(&sum);
    sha256_add(&sum, SUNDEW_VERSION, sizeof SUNDEW_VERSION);
    for (size_t i = 0; i < s->words.len; i++)
        sha256_add(&sum, s->words.items[i], strlen(s->words.items[i]) + 1);
    for (size_t i = 0; i < s->depends.len; i++)
        sha256_add(&sum, s->depends.items[i], strlen(s->depends.items[i]) + 1);
    sha256_end_id(&sum, id);
    return arena_strdup(&c->arena, id);
}

/* What this check has run; NULL: not this step. */
static Ran *run_now(const Check *c, const char *name)
{
    for (size_t i = 0; i < c->ran.len; i++)
        if (strcmp(c->ran.items[i].name, name) == 0 && c->ran.items[i].now)
            return &c->ran.items[i];
    return NULL;
}

/* Nothing is left to do: by this check, or by an earlier one with the same key. A search that was
 * cut short goes on, until it had its most. */
bool step_is_done(Check *c, const PlanStep *s)
{
    const char *name = step_name(&c->plan, s);
    const StepRecord *r = state_step(&c->state, name);
    const Ran *ran = run_now(c, name);
    if (ran && !ran->trial)
        return true;
    if (!r || strcmp(r->key, step_key(c, s)) != 0)
        return false;
    if (r->status == STEP_CUT && r->nowhere)
        return true;
    bool enough = s->open_ended && s->most - r->spent < s->least && !*r->incomplete;
    return r->status == STEP_CUT ? enough : r->status != STEP_NEVER;
}

/* What it did not get to in all its time it may get to in as much again. */
static double spent_on(Check *c, const PlanStep *s)
{
    const char *name = step_name(&c->plan, s);
    const StepRecord *r = state_step(&c->state, name);
    bool same = r && strcmp(r->key, step_key(c, s)) == 0;
    return same && (run_now(c, name) || !*r->incomplete) ? r->spent : 0;
}

double step_share(const Check *c, const PlanStep *s)
{
    Check *mine = (Check *)c;
    double left = check_left(c), fixed = 0, values = 0, all = 0, back = 0;
    bool fed = false;
    for (size_t i = 0; i < c->plan.steps.len; i++) {
        const PlanStep *o = c->plan.steps.items[i];
        if (step_is_done(mine, o))
            continue;
        fed |= o->stage == STAGE_FED;
        all += o->value;
        if (o->open_ended)
            values += o->value;
        else
            fixed += 2 * o->least + 2;
    }
    if (!s->open_ended) { /* it ends by itself: a limit for the case that it does not */
        double most = all > 0 ? 3 * left * s->value / all : left;
        most = most < 2 * s->least ? 2 * s->least : most > 3 * s->most ? 3 * s->most : most;
        return most < left ? most : left;
    }
    if (s->stage < STAGE_FED && !fed)
        back = c->budget * KEPT_BACK;
    double room = left - fixed - back, share = values > 0 ? room * s->value / values : room;
    assert(values >= s->value || step_is_done(mine, s));     /* it is one of them */
    double spent = spent_on(mine, s), most = s->most - spent;
    if (s->trial > spent)
        most = s->trial;
    share = share < s->least ? s->least : share > most ? most : share;
    return share < left ? share : left;
}

/* ---- running one */

static void add_argv(Check *c, const PlanStep *s, double seconds, const char *name, Strings *argv)
{
    static const char *const handed_on[] = { "jobs", "memory", "seed", NULL };
    strings_add(argv, c->self);
    strings_add(argv, "-w");
    strings_add(argv, workspace_dir(session_workspace(c->s)));
    strings_add(argv, "--json");
    strings_add(argv, "--label");
    strings_add(argv, name);
    strings_addf(argv, "--time=%.1fs", seconds);
    for (const char *const *o = handed_on; *o; o++)
        if (session_flag(c->s, *o)) {
            strings_addf(argv, "--%s", *o);
            strings_add(argv, session_option(c->s, *o));
        }
    strings_add(argv, s->technique);
    for (size_t i = 0; i < s->words.len; i++)
        strings_add(argv, s->words.items[i]);
}

static bool copy_files(const PlanStep *s, Err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->copies.len; i++) {
        Str data = { 0 };
        char *folder = path_dir(s->copies.items[i].to);
        ok = file_read(s->copies.items[i].from, &data, err) && dir_make(folder, err) &&
             file_write(s->copies.items[i].to, str_c(&data), data.len, err);
        free(folder);
        str_release(&data);
    }
    return ok;
}

/* What its JSON says about the run. */
static void read_output(const char *path, StepRecord *r)
{
    json_t *o = file_exists(path) ? json_read(path, NULL) : NULL;
    const json_t *run = json_array_get(json_object_get(o, "runs"), 0);
    Strings reasons = { 0 };
    Str all = { 0 };
    json_get_strings(o, "incomplete", &reasons);
    for (size_t i = 0; i < reasons.len; i++)
        str_addf(&all, "%s%s", i ? "; " : "", reasons.items[i]);
    free(r->incomplete);
    free(r->examined);
    r->incomplete = str_take(&all);
    const char *complaint = json_str(o, "complaint"); /* of a search that gets nowhere */
    r->nowhere = *complaint != 0;
    r->examined = xprintf("%s%s%s", json_str(run, "examined"),
                          *complaint ? "; it lacks something: " : "", complaint);
    r->findings = (size_t)json_int(run, "findings", 0);
    if (!r->incomplete)
        r->incomplete = xstrdup("");
    strings_release(&reasons);
    json_decref(o);
}

static void judge_end(Check *c, const PlanStep *s, const ChildResult *end, double given,
                      const char *log, StepRecord *r)
{
    bool over = end->seconds > 0.9 * given || end->stopped || end->over;
    bool failed = end->status > 1 && end->status != 130;
    free(r->why);
    if (end->hung) {
        r->status = STEP_HUNG;
        r->why = xprintf("it did not end %d s after its time", GRACE + STOP_GRACE);
    } else if (end->signal && !end->stopped && !end->over) {
        r->status = STEP_CRASHED;
        r->why = xprintf("sundew %s crashed with signal %d; this is a mistake of Sundew's (%s)",
                         s->technique, end->signal, log);
    } else if (failed && over) {
        r->status = STEP_CUT;            /* with more time it may not fail */
        r->why = xstrdup("");
        free(r->incomplete);
        r->incomplete = xstrdup(last_words(c, log));
    } else if (failed) {
        r->status = STEP_FAILED;
        const char *said = last_words(c, log);
        r->why = *said ? xstrdup(said) : xprintf("exit status %d (%s)", end->status, log);
    } else {
        r->status = over ? STEP_CUT : STEP_DONE;
        r->why = xstrdup("");
    }
}

static void note_ran(Check *c, const PlanStep *s, const StepRecord *r, double begin, double seconds,
                     bool now)
{
    Arena *a = &c->arena;
    Ran *trial = now ? run_now(c, r->name) : NULL;
    Ran ran = { .name = arena_strdup(a, r->name),
                .technique = arena_strdup(a, s->technique),
                .subject = arena_strdup(a, s->subject),
                .reason = arena_strdup(a, s->reason),
                .fed_by = arena_strdup(a, s->fed_by),
                .status = r->status,
                .why = arena_strdup(a, r->why),
                .examined = arena_strdup(a, r->examined),
                .incomplete = arena_strdup(a, r->incomplete),
                .begin = trial ? trial->begin : begin,
                .seconds = trial ? seconds + trial->seconds : seconds,
                .now = now,
                .trial = now && !trial && s->trial > 0 && r->status == STEP_CUT && !r->nowhere,
                .findings = r->findings };
    if (trial)
        *trial = ran;
    else
        vec_push(&c->ran, ran);
}

static const char *first_key(const PlanStep *s)
{
    return s->depends.len ? s->depends.items[0] : "";
}

static bool run_step(Check *c, const PlanStep *s, Err *err)
{
    const char *name = arena_strdup(&c->arena, step_name(&c->plan, s)), *key = step_key(c, s);
    double given = step_share(c, s), begin = clock_seconds();
    assert(s->least > 0 && s->most >= s->least && !step_is_done(c, s));
    char text[32];
    size_t number = ++c->logs;
    char *out = xprintf("%s/log/%zu.json", c->folder, number);
    char *log = xprintf("%s/log/%zu.log", c->folder, number);
    session_note(c->s, "%s (%s%s)", name, s->open_ended ? "" : "at most ",
                 duration_format(given < 1 ? 1 : (double)(long)given, text));
    progress_say(name);
    StepRecord *r = state_make_step(&c->state, name, s->technique);
    double before = strcmp(r->key, key) == 0 ? r->spent : 0;
    Strings argv = { 0 };
    ChildResult end = { 0 };
    add_argv(c, s, given, name, &argv);
    bool ok = copy_files(s, err) && run_child(c, strings_argv(&argv), session_root(c->s),
                                              given + GRACE, out, log, &end, err);
    if (ok) {
        free(r->key);
        r->key = xstrdup(key);
        free(r->code);
        r->code = xstrdup(project_build_key(c->project));
        r->spent = before + end.seconds;
        read_output(out, r);
        judge_end(c, s, &end, given, log, r);
        if (r->status == STEP_DONE || r->status == STEP_CUT)
            state_add_products(&c->state, s, name, first_key(s));
        note_ran(c, s, r, begin - c->begin, end.seconds, true);
        ok = state_write(&c->state, err);
    }
    strings_release(&argv);
    free(out);
    free(log);
    return ok;
}

/* The next step that is worth a start in the time that is left. */
static const PlanStep *next_step(Check *c)
{
    for (size_t i = 0; i < c->plan.steps.len; i++) {
        const PlanStep *s = c->plan.steps.items[i];
        if (!step_is_done(c, s) && s->least <= check_left(c))
            return s;
    }
    return NULL;
}

/* Steps whose results are kept, and steps that there was no time for. */
static void tell_the_rest(Check *c)
{
    for (size_t i = 0; i < c->plan.steps.len; i++) {
        const PlanStep *s = c->plan.steps.items[i];
        const char *name = arena_strdup(&c->arena, step_name(&c->plan, s));
        if (run_now(c, name))
            continue;
        if (step_is_done(c, s)) {
            note_ran(c, s, state_step(&c->state, name), 0, 0, false);
            continue;
        }
        OverviewLine line = { name, c->stopped
                                        ? "interrupted"
                                        : arena_printf(&c->arena,
                                                       "no time was left: it needs %.0f s or more",
                                                       s->least) };
        vec_push(&c->skipped, line);
    }
}

/* Findings of steps that are no longer planned are dropped if the code has changed. Other tests, which
 * start programs in other ways, say nothing against them. */
static bool forget_old(Check *c, Err *err)
{
    bool ok = true;
    if (c->change.rev || session_option(c->s, "only"))
        return true;
    for (size_t i = 0; ok && i < c->state.steps.len; i++) {
        StepRecord *r = &c->state.steps.items[i];
        bool planned = false;
        for (size_t k = 0; k < c->plan.steps.len && !planned; k++)
            planned = strcmp(step_name(&c->plan, c->plan.steps.items[k]), r->name) == 0;
        bool same_code = strcmp(r->code, project_build_key(c->project)) == 0;
        if (planned || same_code || r->status == STEP_NEVER)
            continue;
        ok = store_forget(session_store(c->s), r->technique, r->name, err);
        r->status = STEP_NEVER;
        free(r->key);
        r->key = xstrdup("");
    }
    return ok;
}

bool steps_run(Check *c, Err *err)
{
    bool ok = steps_plan(c, err);
    const PlanStep *s;
    while (ok && !c->stopped && (s = next_step(c)))
        ok = run_step(c, s, err) && steps_plan(c, err);
    if (ok)
        tell_the_rest(c);
    return ok && (c->stopped || forget_old(c, err)) && refresh(c, err);
}
