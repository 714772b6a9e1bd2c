/*
 * Which program a crash file is of, and a crash at the desk: monitor, run, find
 * the file.
 */
#include "base/file.h"
#include "base/tempdir.h"
#include "engine/record/record.h"
#include "technique/reproduce/reproduce_int.h"
#include "build/build.h"
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
            Program *p = program_open(ws, workspace_with_libraries(ws, all[i]), NULL);
            if (p && strcmp(program_key(p), crash_key(c)) == 0)
                return p;
            program_close(p);
        }
    if (!n)
        err_set(err,
                "no program is captured here: go to the project that built '%s', or "
                "name its workspace with -w",
                crash_program(c));
    else if (named)
        err_set(err,
                "the crash is of another build of '%s' than the one captured here: "
                "build those sources again (sundew capture -- make), or monitor this build "
                "and wait for the next crash",
                crash_program(c));
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
    err_set(err,
            "the monitored program that crashed is not in this workspace (%s): it is "
            "needed to name functions; run `sundew monitor` on the same build again, with the "
            "same options",
            path);
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

typedef struct Desk {
    Session *session;
    const struct build *build;
} Desk;

static bool make_program(void *arg, const char *out, Err *err)
{
    const Desk *d = arg;
    Session *s = d->session;
    MonitorPlan plan = { .variant = crash_variant(d->build->name) };
    if (!copy_strategy_parse(session_option(s, "copy"), &plan.strategy, err))
        return false;
    Woven *w = session_need(s, NEEDS_CALLS, err) ? weave_begin(session_program(s), err) : NULL;
    plan.calls = w ? session_calls(s) : NULL;
    if (w && d->build->asan)
        weave_asan(w);
    bool ok = w && weave_monitor(w, &plan, err) &&
              weave_runtime(w, session_libexec(s), "monitor", err) &&
              woven_build(w, &(WovenBuild){ .out = out, .unoptimised = !d->build->optimised }, err);
    weave_end(w);
    return ok;
}

/* The monitored program, with a copy where a crash file looks for it. NULL with `err`. */
static char *get_program(Session *s, const struct build *b, Err *err)
{
    static const char *const runtimes[] = { "monitor", NULL };
    const Program *p = session_program(s);
    Desk desk = { s, b };
    char *variant = xprintf("%s copy %s", b->name, session_option(s, "copy"));
    BuildRecipe recipe = { .program = p,
                           .name = "monitored-desk",
                           .variant = variant,
                           .runtimes = runtimes,
                           .libexec = session_libexec(s),
                           .make = make_program,
                           .arg = &desk };
    char *made = build_get(&recipe, err);
    char *kept = crash_executable(workspace_dir(session_workspace(s)), program_key(p),
                                  program_captured(p)->name, session_option(s, "copy"),
                                  crash_variant(b->name));
    char *folder = path_dir(kept);
    Str data = { 0 };
    bool ok = made && dir_make(folder, err) && file_read(made, &data, err) &&
              file_write(kept, str_c(&data), data.len, err);
    str_release(&data);
    free(folder);
    free(kept);
    free(variant);
    if (ok)
        return made;
    free(made);
    return NULL;
}

static bool is_stopped(void *session) { return session_interrupted(session); }

#define MOST_CRASH (256u << 20)

static char *newest_crash(const char *folder)
{
    Strings names = { 0 };
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

/* A copy beside the tests (NAME.crash), not over another one. NULL with `err`: it could not be made. */
static char *keep_crash(const char *found, const char *name, Err *err)
{
    Str data = { 0 };
    char *kept = xprintf("%s.crash", name);
    for (unsigned k = 2; file_exists(kept); k++) {
        free(kept);
        kept = xprintf("%s.%u.crash", name, k);
    }
    if (!file_read_left(found, MOST_CRASH, &data, err) ||
        !file_write(kept, str_c(&data), data.len, err)) {
        free(kept);
        kept = NULL;
    }
    str_release(&data);
    return kept;
}

/* Runs it in the sandbox on copies of the files here. Too many files: it runs
 * here, without writing. The crash file comes here, or beside the folder of -o. */
static char *run_program(Session *s, const char *binary, const CapturedProgram *c,
                         const Files *files, Err *err)
{
    size_t n;
    char **tail = session_tail(s, &n);
    char *more[] = { "SUNDEW_CRASH_SIZE=16",
                     getenv("ASAN_OPTIONS") ? NULL : "ASAN_OPTIONS=detect_leaks=0", NULL };
    const char *folder = tempdir_new(NULL, err);
    RecordRun run = { .original = c,
                      .woven = binary,
                      .words = tail,
                      .nwords = n,
                      .folder = folder,
                      .root = session_root(s),
                      .env = more,
                      .files = files->items,
                      .nfiles = files->len,
                      .input_file = session_option(s, "stdin"),
                      .discard_output = true,
                      .stop = is_stopped,
                      .arg = s,
                      .seconds = session_time(s) };
    RunResult res = { 0 };
    char *found = NULL, *kept = NULL;
    if (folder && record_run(&run, &res, err)) {
        Str how = { 0 };
        found = newest_crash(folder);
        failure_describe(&res.failure, &how);
        if (!found)
            err_set(err, "nothing crashed: %s: %s", c->name,
                    res.stopped ? "it was stopped, give more time (--time)" : str_c(&how));
        str_release(&how);
    }
    if (found)
        kept =
            keep_crash(found, session_option(s, "out") ? session_option(s, "out") : c->name, err);
    run_result_release(&res);
    if (folder)
        tempdir_remove(folder);
    free(found);
    return kept;
}

char *desk_crash(Session *s, const Files *files, char **monitored, Err *err)
{
    if (!session_need(s, NEEDS_PROGRAM, err))
        return NULL;
    const CapturedProgram *c = program_captured(session_program(s));
    char *crash = NULL;
    bool ran = false, asan = session_flag(s, "asan");
    for (int i = 0; !crash && i < NBUILDS && !(i && session_interrupted(s)); i++) {
        const struct build *b = &builds[i];
        if (asan && !b->asan)
            continue;
        /* Some programs link only once dead branches are gone, some not with the
         * sanitizer: what an earlier run said counts then. */
        char *binary = get_program(s, b, ran ? NULL : err);
        crash = binary ? run_program(s, binary, c, files, err) : NULL;
        ran |= binary != NULL;
        if (crash && b->asan && !asan)
            session_note(s, "%s crashes with the address sanitizer only", c->name);
        if (crash)
            *monitored = binary;
        else
            free(binary);
    }
    return crash;
}
