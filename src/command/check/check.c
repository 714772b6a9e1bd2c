/*
 * sundew check: one command, all techniques that fit, one answer.
 *
 * It names no technique: it walks the rows of the command table, asks each for its plan on this
 * project, and runs the steps as children of its own. Everything passes through the workspace,
 * so a step that one technique has done is there for the others, for `sundew report`, and for
 * the next check.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/units.h"
#include "command/check/check_int.h"
#include "command/command_rows.h"
#include "project/observe.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const Option options[] = {
    { "build", 0, "CMD", "the command that builds the project, instead of the recognised one",
      NULL },
    { "since", 0, "REV",
      "only what the changes since this revision of git can affect; only findings in changed "
      "functions count",
      NULL },
    { "plan", 0, NULL, "only say what would run, on what, for how long, and why not the rest",
      NULL },
    { "only", 0, "LIST", "run only these techniques: explore,confirm", NULL },
    { "no-build", 0, NULL, "use what is captured, and build nothing", NULL },
    { "no-tests", 0, NULL, "do not run the tests", NULL },
    { 0 },
};

/* A name in --only that is no technique's. */
static bool check_options(Session *s, Err *err)
{
    const char *only = session_option(s, "only");
    char *copy = xstrdup(only ? only : ""), *save = NULL;
    bool ok = true;
    for (char *w = strtok_r(copy, ", ", &save); w && ok; w = strtok_r(NULL, ", ", &save)) {
        bool known = false;
        for (const Command *const *c = session_commands(s); *c && !known; c++)
            known = (*c)->plan && strcmp((*c)->name, w) == 0;
        ok = known || err_set(err, "--only: no technique '%s'", w);
    }
    free(copy);
    return ok;
}

enum { DEFAULT_SECONDS = 600, DEFAULT_SINCE = 60 };

void check_trouble(Check *c, const char *what, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = xvprintf(fmt, ap);
    va_end(ap);
    OverviewLine line = { arena_strdup(&c->arena, what), arena_strdup(&c->arena, text) };
    vec_push(&c->troubles, line);
    session_note(c->s, "%s: %s", what, text);
    free(text);
}

double check_left(const Check *c)
{
    double left = c->deadline - clock_seconds();
    return left > 0 ? left : 0;
}

static void tell_damage(void *arg, const char *what, const char *why)
{
    check_trouble(arg, what, "%s", why);
}

/* A build that had nothing to do leaves damaged units as they are. */
static bool open_project(Check *c, Err *err)
{
    workspace_check(session_workspace(c->s), tell_damage, c);
    const TestsRecord *t = &c->state.tests;
    ProjectPlan plan = { .workspace = workspace_dir(session_workspace(c->s)),
                         .affected = c->change.rev ? &c->change.affected : NULL,
                         .tests = strings_argv(&c->tests),
                         .ntests = session_flag(c->s, "no-tests") ? 0 : c->tests.len,
                         .tests_seconds = t->seconds,
                         .tests_hang = t->hang };
    c->project = project_open(&plan, err);
    if (c->project && project_left_out(c->project))
        check_trouble(c, "programs", "%zu of them were left out: the largest are looked at",
                      project_left_out(c->project));
    return c->project != NULL;
}

static void release(Check *c)
{
    project_close(c->project);
    plan_release(&c->plan);
    state_release(&c->state);
    change_release(&c->change);
    builds_release(&c->builds);
    strings_release(&c->tests);
    vec_release(&c->prepared);
    vec_release(&c->ran);
    vec_release(&c->skipped);
    vec_release(&c->troubles);
    free(c->tests_shown);
    free(c->build_shown);
    free(c->folder);
    arena_release(&c->arena);
}

/* Only looks: the build is named, and what was captured before is planned for. */
static bool plan_only(Check *c, Err *err)
{
    prepare_look(c);
    const TestsRecord *t = &c->state.tests;
    for (size_t i = 0; i < t->words.len; i++)
        strings_add(&c->tests, t->words.items[i]);
    c->tests_shown = *t->command ? xstrdup(t->command) : NULL;
    return open_project(c, err) && steps_plan(c, err) && answer_plan(c, err);
}

/* Where builds, tests and steps write what they say. */
static bool make_logs(const Check *c, Err *err)
{
    char *logs = path_join(c->folder, "log");
    bool ok = dir_make(logs, err);
    free(logs);
    return ok;
}

static bool check_project(Check *c, Err *err)
{
    if (session_flag(c->s, "plan"))
        return plan_only(c, err);
    if (c->change.rev && !c->change.ncode)
        session_note(c->s, "no source has changed since %s", c->change.rev);
    bool build = !session_flag(c->s, "no-build");
    return make_logs(c, err) && (!build || prepare(c, err)) && open_project(c, err) &&
           steps_run(c, err) && answer(c, err);
}

static bool run(Session *s, Err *err)
{
    size_t nargs;
    char **args = session_args(s, &nargs);
    if (nargs)
        return err_set(err,
                       "'%s' is one argument too many: sundew check looks at all of the "
                       "project; a command that runs the tests follows after --",
                       args[0]);
    Check c = { .s = s, .begin = clock_seconds() };
    const char *since = session_option(s, "since");
    char *self = path_real("/proc/self/exe");
    c.self = arena_strdup(&c.arena, self ? self : "sundew");
    free(self);
    c.budget = session_time(s) > 0 ? session_time(s) : since ? DEFAULT_SINCE : DEFAULT_SECONDS;
    c.deadline = c.begin + c.budget;
    c.folder = path_join(workspace_dir(session_workspace(s)), "check");
    bool ok = (!since || change_read(&c.change, session_root(s), since, err)) &&
              session_claim(s, c.folder, err) && state_open(&c.state, c.folder, err) &&
              check_project(&c, err);
    release(&c);
    return ok;
}

const Command command_check = {
    .name = "check",
    .args = "[-- TESTS…]",
    .summary = "everything that fits, in the time given, with one answer",
    .about =
        "Looks at what a project has: programs, libraries with headers, tests, inputs, threads, "
        "tables of operations, loops of events. Plans what is worth running in the time given (10 "
        "minutes, or --time), runs it, and answers on one screen. sundew report --html shows all "
        "of it as one page.\n\n"
        "It builds the project first, with the build that it recognises: make, CMake, Meson, "
        "configure, autogen.sh, or a script build.sh. The build is said before it runs; --build "
        "names another. After -- stands the command that runs the tests; without it check guesses "
        "(make check, ctest, meson test) and says so.\n\n"
        "What one technique finds feeds others: inputs that make a program fail become C tests, "
        "inputs that reach something new are run against contracts that the tests have taught.\n\n"
        "Everything can be continued. A second check does only what has changed or had no time, "
        "and shows new findings first. Ctrl-C ends it with the answer so far.\n\n"
        "With --since only programs that a change can affect are looked at, and only findings in "
        "functions that the change has touched count; the time is one minute then, unless --time "
        "says otherwise.",
    .examples = "sundew check\n"
                "sundew check --time 1h -- make check\n"
                "sundew check --since origin/main\n"
                "sundew check --plan\n"
                "sundew check --build 'make -C src' --html report.html\n",
    .options = options,
    .needs = NEEDS_STORE,
    .until_time = true,
    .check = check_options,
    .run = run,
};

/* ---- sundew observe: a part of check, as a program of its own */

static const Option observe_options[] = {
    { "log", 0, "FILE", "where the runs are written down", NULL },
    { 0 },
};

/* Programs that were built outside of the project's folder are the project's, too. */
static void captured_paths(Session *s, Map *out)
{
    size_t n = 0;
    const CapturedProgram **all = workspace_programs(session_workspace(s), &n, NULL);
    for (size_t i = 0; all && i < n; i++)
        map_put(out, all[i]->path, s);
}

static bool run_observe(Session *s, Err *err)
{
    size_t n;
    char **argv = session_tail(s, &n);
    const char *log = session_option(s, "log");
    if (!n || !log)
        return err_set(err, "sundew observe --log FILE -- COMMAND…");
    char *folder = path_dir(log), *seeds = path_join(folder, "seeds");
    char *tools = path_join(workspace_dir(session_workspace(s)), "tmp");
    Map besides = { 0 };
    captured_paths(s, &besides);
    ObservePlan plan = { .argv = argv,
                         .root = session_root(s),
                         .besides = &besides,
                         .tools = tools,
                         .log = log,
                         .seeds = seeds };
    ProcResult r = { 0 };
    bool ok = observe_run(&plan, &r, err);
    session_status(s, r.status);
    map_release(&besides);
    free(tools);
    free(seeds);
    free(folder);
    return ok;
}

const Command command_observe = {
    .name = "observe",
    .args = "-- COMMAND…",
    .summary = "how a command starts the project's programs",
    .options = observe_options,
    .needs = NEEDS_CAPTURE,
    .hidden = true,
    .run = run_observe,
};
