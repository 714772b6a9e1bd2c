/*
 * Which program a crash file is of, and a crash at the desk: monitor, run, find
 * the file.
 */
#include "base/file.h"
#include "analysis/pointsto/calls.h"
#include "technique/reproduce/reproduce_int.h"
#include "build/woven.h"
#include "weave/weave.h"
#include <string.h>
#include <unistd.h>

Program *desk_program(Session *s, const Crash *c, Err *err)
{
    Workspace *ws = session_workspace(s);
    size_t n, named = 0;
    const CapturedProgram **all = workspace_programs(ws, &n, err);
    if (!all)
        return NULL;
    for (int round = 0; round < 2; round++)      /* first those of that name */
        for (size_t i = 0; i < n; i++) {
            bool same = strcmp(all[i]->name, crash_program(c)) == 0;
            if (same != (round == 0) || all[i]->kind != PROGRAM_EXECUTABLE)
                continue;
            named += same;
            Program *p = program_open(ws, all[i], NULL);
            if (p && strcmp(program_key(p), crash_key(c)) == 0)
                return p;
            program_close(p);
        }
    if (!n)
        err_set(err, "no program is captured here: go to the project that built '%s', or "
                "name its workspace with -w", crash_program(c));
    else if (named)
        err_set(err, "the crash is of another build of '%s' than the one captured here: "
                "build those sources again (sundew capture -- make), or monitor this build "
                "and wait for the next crash", crash_program(c));
    else
        err_set(err, "the crash is of '%s', which is not captured here", crash_program(c));
    return NULL;
}

/* What `sundew monitor` kept: by the program's key, its name and the strategy. */
char *desk_monitored(Session *s, const Crash *c, Err *err)
{
    char *path = crash_executable_of(c, workspace_dir(session_workspace(s)));
    if (file_is_regular(path))
        return path;
    err_set(err, "the monitored program that crashed is not in this workspace (%s): it is "
            "needed to name functions; run `sundew monitor` on the same build again, with the "
            "same options", path);
    free(path);
    return NULL;
}

/* ---- all in one */

/*
 * How the program is made, in this order, until it crashes. At the desk nothing
 * has to be cheap: no limit on the overhead; and unless it crashes optimised
 * only, nothing is inlined, so that every function has its frame. What corrupts
 * memory without crashing is seen by the address sanitizer.
 */
static const struct build {
    const char *name;
    bool optimised, asan;
} builds[] = {
    { "desk " SUNDEW_VERSION, false, false },
    { "desk " SUNDEW_VERSION " -O2", true, false },
    { "desk " SUNDEW_VERSION " asan", false, true },
};
enum { NBUILDS = sizeof builds / sizeof *builds };

static bool make_program(Session *s, const Program *p, const struct build *b,
                          const char *out, Err *err)
{
    MonitorPlan plan = { .variant = crash_variant(b->name) };
    if (!copy_strategy_parse(session_option(s, "copy"), &plan.strategy, err))
        return false;
    CallsPlan how = { .share = session_share(s), .root = session_root(s), .kept = true };
    Calls *calls = calls_open(p, &how, err);
    Woven *w = calls ? weave_begin(p, err) : NULL;
    plan.calls = calls;
    if (w && b->asan)
        weave_asan(w);
    bool ok = w && weave_monitor(w, &plan, err) &&
              weave_runtime(w, session_libexec(s), "monitor", err) &&
              woven_build(w, &(WovenBuild){ .out = out, .unoptimised = !b->optimised }, err);
    weave_end(w);
    calls_close(calls);
    return ok;
}

static char *newest_crash(const char *folder)
{
    Strings names = {0};
    char *found = NULL;
    dir_list(folder, &names, NULL);
    for (size_t i = 0; i < names.len; i++)
        if (str_ends(names.items[i], ".crash")) {
            free(found);
            found = path_join(folder, names.items[i]);
        }
    strings_release(&names);
    return found;
}

/* Runs it in the sandbox on copies of the files here; where they are too many,
 * here, without writing. The crash file comes here. */
static char *run_program(Session *s, const char *binary, const CapturedProgram *c,
                         const char *folder, const Files *files, Err *err)
{
    extern char **environ;
    size_t n;
    char **tail = session_tail(s, &n), *cwd = path_absolute(".");
    const char *readable[] = { folder, cwd, session_root(s), NULL };
    Runner *r = runner_new(&(RunnerPlan){ .readable = readable }, err);
    Strings argv = {0}, env = {0};
    RunResult res = {0};
    char *found = NULL, *kept = NULL;
    strings_add(&argv, c->path);                 /* some do by it what they do */
    for (size_t i = 0; i < n; i++)
        strings_add(&argv, tail[i]);
    for (char **e = environ; *e; e++)
        if (!str_starts(*e, "SUNDEW_"))
            strings_add(&env, *e);
    if (r)
        strings_addf(&env, "SUNDEW_CRASH_DIR=%s", runner_scratch(r));
    strings_add(&env, "SUNDEW_CRASH_SIZE=16");
    if (!getenv("ASAN_OPTIONS"))
        strings_add(&env, "ASAN_OPTIONS=detect_leaks=0");
    RunPlan run = { .argv = strings_argv(&argv), .file = binary, .env = strings_argv(&env),
                    .cwd = files->len ? NULL : cwd,
                    .files = files->items, .nfiles = files->len,
                    .input_file = session_option(s, "stdin"), .discard_output = true,
                    .limits = { .wall = session_time(s) > 0 ? session_time(s) : 300,
                                .cpu = 300 } };
    if (r && runner_run(r, &run, &res, err)) {
        Str how = {0};
        found = newest_crash(runner_scratch(r));
        failure_describe(&res.failure, &how);
        if (!found)
            err_set(err, "nothing crashed: %s: %s", c->name, str_c(&how));
        str_release(&how);
    }
    Str data = {0};
    kept = xprintf("%s.crash", c->name);
    for (unsigned k = 2; file_exists(kept); k++) {      /* not over another one */
        free(kept);
        kept = xprintf("%s.%u.crash", c->name, k);
    }
    if (!found || !file_read(found, &data, err) ||
        !file_write(kept, str_c(&data), data.len, err)) {
        free(kept);
        kept = NULL;
    }
    str_release(&data);
    run_result_release(&res);
    runner_free(r);
    strings_release(&argv);
    strings_release(&env);
    free(found);
    free(cwd);
    return kept;
}

char *desk_crash(Session *s, const char *name, const Files *files, char **monitored,
                 Err *err)
{
    Workspace *ws = session_workspace(s);
    const CapturedProgram *c = workspace_program(ws, name, err);
    Program *p = c ? program_open(ws, c, err) : NULL;
    if (!p)
        return NULL;
    char *folder = xprintf("%s/monitored/%s", workspace_dir(ws), program_key(p));
    char *crash = NULL;
    bool ok = dir_make(folder, err);
    bool ran = false, asan = session_flag(s, "asan");
    for (int i = 0; ok && !crash && i < NBUILDS; i++) {
        const struct build *b = &builds[i];
        if (asan && !b->asan)
            continue;
        char *binary = crash_executable(workspace_dir(ws), program_key(p), c->name,
                                        session_option(s, "copy"), crash_variant(b->name));
        /* Some programs link only once dead branches are gone, some not with the
         * sanitizer: what an earlier run said counts then. */
        bool built = file_exists(binary) || make_program(s, p, b, binary, ran ? NULL : err);
        crash = built ? run_program(s, binary, c, folder, files, err) : NULL;
        ran |= built;
        if (crash && b->asan && !asan)
            session_note(s, "%s crashes with the address sanitizer only", c->name);
        if (crash)
            *monitored = binary;
        else
            free(binary);
    }
    free(folder);
    program_close(p);
    return crash;
}
