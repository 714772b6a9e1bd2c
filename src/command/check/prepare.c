/*
 * The build and the tests.
 *
 * Builds that the project seems to have are tried in order until one works; each is said before
 * it runs. Then the tests run once, captured (they often build programs of their own) and
 * observed (project/observe.h): this tells how programs are started, whether the tests end, and
 * how long they take. Nothing here ends the check: what can be done without a build, or without
 * tests, is done.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/units.h"
#include "command/check/check_int.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shares of the time for all. */
#define BUILD_SHARE 0.7
#define TESTS_SHARE 0.25
enum { LEAST_TESTS = 10 };

static char *shown_folder(Check *c, const char *folder)
{
    char *below = path_relative(folder, session_root(c->s));
    if (strcmp(below, folder) != 0 && *below)
        return below;
    free(below);
    return xstrdup(strcmp(folder, session_root(c->s)) == 0 ? "." : folder);
}

/* Without the project's folder before paths. */
static char *shortened(Check *c, const char *text)
{
    char *root = xprintf("%s/", session_root(c->s));
    size_t n = strlen(root);
    Str s = { 0 };
    while (*text)
        if (strncmp(text, root, n) == 0)
            text += n;
        else
            str_addc(&s, *text++);
    free(root);
    return s.len ? str_take(&s) : xstrdup("");
}

static char *shown_build(Check *c, const Build *b)
{
    char *folder = shown_folder(c, b->folder), *command = shortened(c, b->command);
    bool here = strcmp(folder, ".") == 0;
    char *shown = here ? xstrdup(command) : xprintf("%s (in %s)", command, folder);
    free(folder);
    free(command);
    return shown;
}

/* A tree that the user has captured is built there, and not once more in the workspace. */
static void use_captured_trees(Check *c)
{
    size_t n = 0;
    Workspace *ws = workspace_open(workspace_dir(session_workspace(c->s)), false, NULL);
    const CapturedProgram **all = ws ? workspace_programs(ws, &n, NULL) : NULL;
    for (size_t i = 0; i < c->builds.len; i++)
        for (size_t k = 0; all && k < n; k++)
            if (!path_is_below(all[k]->path, c->folder) &&
                recognise_tree(&c->builds.items[i], all[k]->path, session_jobs(c->s)))
                break;
    workspace_close(ws);
}

void prepare_look(Check *c)
{
    const char *named = session_option(c->s, "build");
    if (named) {
        Build *b = vec_grow(&c->builds);
        b->system = "--build";
        b->folder = xstrdup(session_root(c->s));
        b->command = xstrdup(named);
        b->clean = xstrdup("");
        b->out = xstrdup("");
        b->needs = xstrdup("");
        return;
    }
    recognise(session_root(c->s), c->folder, session_jobs(c->s), &c->builds);
    use_captured_trees(c);
}

/* ---- the build */

static char *capture_log(Check *c, const char *what)
{
    return xprintf("%s/log/%s.log", c->folder, what);
}

/* What was captured before says nothing about this build: count what is there. */
static size_t captured_programs(Check *c)
{
    size_t n = 0;
    Workspace *ws = workspace_open(workspace_dir(session_workspace(c->s)), false, NULL);
    const CapturedProgram **all = ws ? workspace_programs(ws, &n, NULL) : NULL;
    n = all ? n : 0;
    workspace_close(ws);
    return n;
}

static bool capture(Check *c, const char *command, const char *folder, double seconds,
                    const char *log, ChildResult *r, Err *err)
{
    char *argv[] = { (char *)c->self,
                     "-w",
                     (char *)workspace_dir(session_workspace(c->s)),
                     "capture",
                     "--min-share",
                     "0",
                     "--",
                     "sh",
                     "-c",
                     (char *)command,
                     NULL };
    return run_child(c, argv, folder, seconds, NULL, log, r, err);
}

static void note_prepared(Check *c, const char *what, const char *command, const ChildResult *r)
{
    OverviewStep step = { .name = what,
                          .technique = what,
                          .reason = arena_strdup(&c->arena, command),
                          .result = r->over     ? "it had not ended in time"
                                    : r->status ? arena_printf(&c->arena, "status %d", r->status)
                                                : "done",
                          .fed_by = "",
                          .begin = clock_seconds() - r->seconds - c->begin,
                          .seconds = r->seconds,
                          .ran = true,
                          .ok = !r->status && !r->over };
    vec_push(&c->prepared, step);
}

/* Does a line of a build's output tell why it failed? */
static bool tells_why(const char *text)
{
    static const char *const words[] = { "error",   "Error ",       "not found",       "missing",
                                         "cannot ", "No such file", "is required but", NULL };
    for (const char *const *w = words; *w; w++)
        if (strstr(text, *w))
            return !str_starts(text, "sundew: ") && !strstr(text, "checking ");
    return false;
}

/* The last lines that tell why, else the last lines, are said; the last of them is handed back. */
static const char *say_log(Check *c, const char *log)
{
    enum { LINES = 6 };
    Str text = { 0 };
    Vec(char *) all = { 0 }, telling = { 0 };
    if (file_exists(log) && file_read(log, &text, NULL) && text.len) {
        char *save = NULL;
        for (char *p = strtok_r(text.data, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
            if (!str_starts(p, "sundew: "))
                vec_push(&all, p);
            if (tells_why(p))
                vec_push(&telling, p);
        }
    }
    char **lines = telling.len ? telling.items : all.items;
    size_t n = telling.len ? telling.len : all.len;
    for (size_t i = n > LINES ? n - LINES : 0; i < n; i++)
        session_note(c->s, "  | %.200s", lines[i]);
    const char *last = n ? arena_strndup(&c->arena, lines[n - 1], strnlen(lines[n - 1], 200)) : "";
    vec_release(&all);
    vec_release(&telling);
    str_release(&text);
    return last;
}

static bool try_build(Check *c, const Build *b, Err *err)
{
    char *shown = shown_build(c, b), *log = capture_log(c, "build");
    ChildResult r = { 0 };
    double limit = c->budget * BUILD_SHARE;
    char *here = path_absolute(".");
    bool elsewhere = strcmp(b->system, "--build") == 0 && strcmp(here, b->folder) != 0;
    session_note(c->s, "build (%s%s%s): %s", b->system, elsewhere ? ", in " : "",
                 elsewhere ? b->folder : "", shown);
    free(here);
    limit = limit < check_left(c) ? limit : check_left(c);
    bool ok = capture(c, b->command, b->folder, limit, log, &r, err);
    if (ok && r.status == 0 && !r.over && !captured_programs(c) && *b->clean) {
        char *again = xprintf("%s && %s", b->clean, b->command);
        session_note(c->s, "everything was built already: %s", again);
        ok = capture(c, again, b->folder, check_left(c), log, &r, err);
        free(again);
    }
    if (ok)
        note_prepared(c, "build", shown, &r);
    if (ok && r.over)
        check_trouble(c, "the build", "%s: it had not ended after %.0f s", shown, r.seconds);
    else if (ok && r.status && !r.stopped)
        check_trouble(c, "the build", "%s failed with status %d: %s (%s)", b->system, r.status,
                      say_log(c, log), log);
    bool works = ok && !r.status && !r.over && !r.stopped && captured_programs(c);
    if (ok && !r.status && !r.over && !r.stopped && !works)
        check_trouble(c, "the build", "%s made nothing that could be captured: %s", shown,
                      last_words(c, log));
    free(log);
    free(c->build_shown);
    c->build_shown = shown;
    c->build = works ? b : c->build;
    return ok;
}

/* One build of each folder is enough. */
static bool run_builds(Check *c, Err *err)
{
    const char *done = NULL;
    size_t before_folder = 0;
    for (size_t i = 0; i < c->builds.len; i++) {
        const Build *b = &c->builds.items[i];
        if (!i || strcmp(b->folder, b[-1].folder) != 0)
            before_folder = c->troubles.len;
        if ((done && strcmp(done, b->folder) == 0) || c->stopped)
            continue;
        if (*b->needs) {
            check_trouble(c, "the build", "%s needs %s, which is not installed", b->system,
                          b->needs);
            continue;
        }
        const Build *before = c->build;
        if (!try_build(c, b, err))
            return false;
        if (c->build != before) {
            done = b->folder;
            c->troubles.len = before_folder;     /* of builds that were tried before it */
        }
    }
    if (!c->builds.len) {
        char *path = path_join(session_root(c->s), "compile_commands.json");
        if (file_exists(path))
            check_trouble(c, "the build",
                          "no build was recognised; only the source is looked at, by "
                          "compile_commands.json (--build CMD names the build)");
        else if (!captured_programs(c))
            check_trouble(c, "the build",
                          "no build was recognised: no Makefile, CMakeLists.txt, meson.build, "
                          "configure or build.sh is here (--build CMD names the build)");
        free(path);
    }
    return true;
}

/* ---- the tests */

/* The words of a command that runs in `folder`, whatever folder it is started in. */
static void words_in(Check *c, const char *folder, char *const *words, size_t n, Strings *out)
{
    if (strcmp(folder, session_root(c->s)) != 0) {
        Str cd = { 0 };
        str_add(&cd, "cd ");
        escape_shell(&cd, folder);
        str_add(&cd, " && exec \"$@\"");
        strings_add(out, "sh");
        strings_add(out, "-c");
        strings_add(out, str_c(&cd));
        strings_add(out, "sh");
        str_release(&cd);
    }
    for (size_t i = 0; i < n; i++)
        strings_add(out, words[i]);
}

static void named_tests(Check *c)
{
    size_t n;
    char **tail = session_tail(c->s, &n);
    char *here = path_absolute(".");
    Str shown = { 0 };
    for (size_t i = 0; i < n; i++) {
        str_add(&shown, i ? " " : "");
        escape_shell(&shown, tail[i]);
    }
    words_in(c, here, tail, n, &c->tests);
    c->tests_shown = str_take(&shown);
    free(here);
}

static void guess_tests(Check *c, char *command)
{
    char *words[] = { "sh", "-c", command };
    strings_release(&c->tests);
    c->tests = (Strings){ 0 };
    words_in(c, c->build->folder, words, 3, &c->tests);
    free(c->tests_shown);
    c->tests_shown = shortened(c, command);
    c->tests_guessed = true;
}

static char *tests_key(Check *c)
{
    Project *p =
        project_open(&(ProjectPlan){ .workspace = workspace_dir(session_workspace(c->s)) }, NULL);
    char *key = xprintf("%s %s", p ? project_build_key(p) : "", c->tests_shown);
    project_close(p);
    return key;
}

static void keep_tests(Check *c, const ChildResult *r)
{
    TestsRecord *t = &c->state.tests;
    free(t->key);
    free(t->command);
    t->key = tests_key(c);
    t->command = xstrdup(c->tests_shown);
    strings_release(&t->words);
    for (size_t i = 0; i < c->tests.len; i++)
        strings_add(&t->words, c->tests.items[i]);
    t->seconds = r->seconds;
    t->status = r->status;
    t->hang = r->over;
}

static bool observe_tests(Check *c, Err *err)
{
    char *log = capture_log(c, "tests"), *runs = path_join(c->folder, "runs.json");
    double limit = c->budget * TESTS_SHARE;
    ChildResult r = { 0 };
    Strings argv = { 0 };
    limit = limit < LEAST_TESTS ? LEAST_TESTS : limit;
    limit = limit < check_left(c) ? limit : check_left(c);
    session_note(c->s, "tests%s: %s", c->tests_guessed ? " (guessed; others follow after --)" : "",
                 c->tests_shown);
    const char *const head[] = {
        c->self, "-w", workspace_dir(session_workspace(c->s)), "capture", "--min-share", "0",  "--",
        c->self, "-w", workspace_dir(session_workspace(c->s)), "observe", "--log",       runs, "--",
        NULL
    };
    for (const char *const *w = head; *w; w++)
        strings_add(&argv, *w);
    for (size_t i = 0; i < c->tests.len; i++)
        strings_add(&argv, c->tests.items[i]);
    bool ok = run_child(c, strings_argv(&argv), session_root(c->s), limit, NULL, log, &r, err);
    if (ok)
        note_prepared(c, "tests", c->tests_shown, &r);
    if (ok && !r.stopped)
        keep_tests(c, &r);
    strings_release(&argv);
    free(runs);
    free(log);
    return ok && state_write(&c->state, err);
}

/* Tests may be of another build, or none may be left. */
static bool tests_start_any(Check *c)
{
    size_t n = 0;
    Project *p =
        project_open(&(ProjectPlan){ .workspace = workspace_dir(session_workspace(c->s)) }, NULL);
    const ProjectProgram *all = p ? project_programs(p, &n) : NULL;
    bool any = !n;                       /* that nothing was captured is said elsewhere */
    for (size_t i = 0; i < n && !any; i++)
        any = project_is_run(p, &all[i]);
    project_close(p);
    return any;
}

static bool is_known(Check *c)
{
    char *key = tests_key(c);
    bool known = strcmp(c->state.tests.key, key) == 0;
    free(key);
    return known;
}

/* The one that an earlier check has used, else the first that starts a program of the project; the
 * last if none does. */
static bool try_guesses(Check *c, Err *err)
{
    Strings all = { 0 };
    bool ok = true, found = false;
    recognise_tests(c->build, &all);
    for (size_t i = 0; i < all.len && !found; i++) {
        guess_tests(c, all.items[i]);
        found = is_known(c);
    }
    for (size_t i = 0; i < all.len && ok && !found && !c->stopped; i++) {
        guess_tests(c, all.items[i]);
        ok = observe_tests(c, err);
        found = ok && (c->state.tests.hang || tests_start_any(c));
    }
    if (!all.len)
        session_note(c->s, "no tests were recognised; a command that runs some follows after --");
    strings_release(&all);
    return ok;
}

static bool run_tests(Check *c, Err *err)
{
    const TestsRecord *t = &c->state.tests;
    size_t n;
    session_tail(c->s, &n);
    if (c->stopped || (!n && !c->build))
        return true;
    if (n)
        named_tests(c);
    if (!(n ? is_known(c) || observe_tests(c, err) : try_guesses(c, err)))
        return false;
    if (!c->tests.len || c->stopped)
        return true;
    if (t->hang)
        check_trouble(c, "the tests", "%s had not ended after %.0f s: other steps don't run them",
                      c->tests_shown, t->seconds);
    else if (t->status)
        check_trouble(c, "the tests", "%s failed with status %d (%s/log/tests.log)", c->tests_shown,
                      t->status, c->folder);
    else if (!tests_start_any(c))
        check_trouble(c, "the tests", "%s started none of the captured programs (%s/log/tests.log)",
                      c->tests_shown, c->folder);
    return true;
}

bool prepare(Check *c, Err *err)
{
    prepare_look(c);
    return run_builds(c, err) && (session_flag(c->s, "no-tests") || run_tests(c, err));
}
