/*
 * reproduce - C tests that crash the same way.
 *
 * A monitored program that crashed has left the arguments of the functions on
 * its stack, as they were when each was entered. For each frame a test puts
 * that state back and calls the function; kept is what fails in the same way.
 * See README.md.
 */
#include "technique/reproduce/reproduce.h"
#include "base/file.h"
#include "runtime/format/crashfile.h"
#include "session/session.h"
#include "technique/reproduce/reproduce_int.h"
#include <string.h>

static const Option options[] = {
    { "same", 0, "LEVEL", "what has to be the same: kind, site or stack", "site" },
    { "out", 'o', "DIR",
      "folder for the tests; default: the crash file's name with "
      ".tests",
      NULL },
    { "asan", 0, NULL,
      "build the tests (and the program, if one is named) with the address "
      "sanitizer and accept an earlier report as nearer to the root",
      NULL },
    { "no-shrink", 0, NULL, "keep all of the captured state in the tests", NULL },
    { "review", 0, NULL, "list every byte that the crash file holds, and stop", NULL },
    { "copy", 0, "STRATEGY",
      "with a program: what to copy when functions are entered: "
      "reference, shallow, used-fields or deep",
      "deep" },
    { "files", 0, "DIR",
      "the files that the program had in its folder: each test runs on "
      "a copy of them; with a program: the current folder",
      NULL },
    { "stdin", 0, "FILE", "the program's standard input, for main() and what reads it",
      "/dev/null" },
    { 0 },
};

static const Rule rules[] = {
    { "reproduce/crash", LEVEL_ERROR,
      "The program crashed, and a C test makes the same function fail in the same way." },
    { "reproduce/unreproduced", LEVEL_WARNING,
      "The program crashed, but no frame's captured state makes it fail again." },
    { 0 },
};

static bool anything_informative(const Reproduction *rp)
{
    for (size_t i = 0; i < rp->n; i++)
        if (rp->candidates[i].reproduces && rp->candidates[i].informative)
            return true;
    return false;
}

static bool is_interrupted(void *arg) { return session_interrupted(arg); }

/* Where tests are built, what they can name, and names for where they die. */
static bool open_lab(Reproduction *rp, Err *err)
{
    static const char *const wrapped[] = { "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk",
                                           NULL };
    const char *share = session_share(rp->session);
    const char **support = arena_array(&rp->arena, const char *, 3);
    support[0] = arena_printf(&rp->arena, "%s/reproduce/restore.h", share);
    support[1] = arena_printf(&rp->arena, "%s/reproduce/restore.c", share);
    LabPlan plan = { .program = rp->program,
                     .folder = rp->folder,
                     .asan = rp->asan,
                     .support = support,
                     .wrapped = wrapped,
                     .trial = arena_printf(&rp->arena, "%s/reproduce/trial.c", share),
                     .interrupted = is_interrupted,
                     .arg = rp->session };
    rp->lab = lab_new(&plan, err);
    if (!rp->lab)
        return false;
    rp->worlds = worlds_new(rp->lab, rp->program, rp->crash, rp->monitored);
    rp->names = places_new();
    return true;
}

/* The text of an assertion names its function, and no whole path. */
static void find_file(Reproduction *rp)
{
    Place *site = rp->was.stack.len ? &rp->was.stack.items[0] : NULL;
    const Function *fn =
        site && !*site->file ? program_function(rp->program, site->function) : NULL;
    if (fn && fn->file)
        site->file = fn->file;
}

/* One attempt, with the address sanitizer or without. */
static bool attempt(Reproduction *rp, Err *err)
{
    if (!open_lab(rp, err))
        return false;
    ending_of_crash(rp->names, rp->program, rp->crash, rp->monitored, &rp->was);
    find_file(rp);
    bool ok = candidates_find(rp, err) && candidates_try(rp, err);
    if (ok)
        candidates_judge(rp);
    return ok;
}

static void forget(Reproduction *rp)
{
    candidates_release(rp);
    ending_release(&rp->was);
    worlds_free(rp->worlds);
    units_free(rp->units);
    places_free(rp->names);
    lab_free(rp->lab);
    rp->worlds = NULL;
    rp->units = NULL;
    rp->names = NULL;
    rp->lab = NULL;
    rp->n = 0;
}

/* In a new folder; the sandbox knows folders themselves, not their names. */
static bool begin_anew(Reproduction *rp, const char *out, bool asan, Err *err)
{
    forget(rp);
    rp->asan = asan;
    dir_remove(rp->folder);
    trial_free(rp->trial);
    rp->trial = NULL;
    if (!folder_begin(rp, out, err))
        return false;
    rp->trial = trial_new(rp->session, rp->folder, err);
    return rp->trial != NULL;
}

/* Where nothing reproduces, silent corruption may be the reason: the sanitizer
 * sees it where it happens. */
static bool attempt_again(Reproduction *rp, const char *out, Err *err)
{
    if (anything_informative(rp) || rp->asan || session_interrupted(rp->session))
        return true;
    Err said = { 0 };
    bool some = rp->ranked.len && rp->ranked.items[0]->reproduces;
    if (some)
        return true;
    session_note(rp->session, "no frame reproduces it as built; trying with the address "
                              "sanitizer");
    if (begin_anew(rp, out, true, &said) && attempt(rp, &said))
        return true;
    session_note(rp->session, "with the address sanitizer: %s", said.msg);
    return begin_anew(rp, out, false, err) && attempt(rp, err);
}

static bool reproduce(Reproduction *rp, const char *out, Err *err)
{
    bool begun = folder_begin(rp, out, err), ok = begun;
    if (ok)
        rp->trial = trial_new(rp->session, rp->folder, err);
    ok = ok && rp->trial && attempt(rp, err) && attempt_again(rp, out, err) &&
         folder_finish(rp, err) && report_all(rp, err);
    if (begun && !ok)
        dir_remove(rp->folder);
    forget(rp);
    trial_free(rp->trial);
    return ok;
}

/* `monitored`: the program that wrote it, if that is known; `files`: what it
 * had beside it, or NULL: it is not known. */
static bool reproduce_file(Session *s, const char *path, const char *monitored, const Files *files,
                           Err *err)
{
    Files kept = { 0 };
    Reproduction rp = { .session = s,
                        .path = path,
                        .files = files ? files : &kept,
                        .guessed_files = !files,
                        .input = session_option(s, "stdin"),
                        .asan = session_flag(s, "asan"),
                        .shrink = !session_flag(s, "no-shrink") };
    const char *out = session_option(s, "out");
    if (!sameness_parse(session_option(s, "same"), &rp.same))
        return err_set(err, "--same %s: not kind, site or stack", session_option(s, "same"));
    Crash *c = crash_open(path, err);
    if (!c)
        return false;
    if (crash_is_cut_short(c))
        session_note(s, "%s is cut short or damaged; Sundew uses what is there", path);
    Program *p = desk_program(s, c, err);
    char *found = p && !monitored ? desk_monitored(s, c, err) : NULL;
    char *cwd = path_absolute(".");
    rp.crash = c;
    rp.asan |= crash_failure(c)->kind == SUNDEW_FAIL_SANITIZER;
    rp.program = p;
    KnownContracts *contracts =
        p ? known_contracts(workspace_dir(session_workspace(s)), program_captured(p)->name) : NULL;
    rp.contracts = contracts;
    rp.monitored = monitored ? monitored : found;
    rp.cwd = cwd;
    if (!files)
        files_of_crash(&kept, c);
    if (p && rp.monitored && !files)
        session_note(s,
                     "tests run in %s; if %s reads files by name, name their "
                     "folder with --files",
                     kept.len ? "a folder with the files that were open" : "an empty folder",
                     crash_program(c));
    bool ok = p && rp.monitored && reproduce(&rp, out, err);
    arena_release(&rp.arena);
    known_free(contracts);
    files_release(&kept);
    free(cwd);
    free(found);
    program_close(p);
    crash_close(c);
    return ok;
}

/* What the program had: the files that --files names, at the desk those here. */
static bool read_files(Session *s, Files *files, Err *err)
{
    const char *named = session_option(s, "files"), *input = session_option(s, "stdin");
    if (!file_exists(input))
        return err_set(err, "--stdin %s: no such file", input);
    if (!named && !session_has_tail(s))
        return true;
    if (named && !file_is_dir(named))
        return err_set(err, "--files %s: no such folder", named);
    size_t n;
    if (files_read(files, named ? named : ".", named ? NULL : session_tail(s, &n)))
        return true;
    if (named)
        return err_set(err,
                       "--files %s: more than 16 MiB or 1000 files are there: name a "
                       "folder with only those that the program reads",
                       named);
    session_note(s, "this folder is too large to copy: the program runs in it and can't "
                    "write");
    return true;
}

static bool run(Session *s, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    if (n != 1)
        return err_set(err, "name one crash file, or one program and after -- its "
                            "arguments");
    if (session_flag(s, "review"))
        return review(s, args[0], err);
    if (!session_has_tail(s) && workspace_program(session_workspace(s), args[0], NULL))
        return err_set(err,
                       "%s is a program: its arguments follow after --, which is "
                       "needed even if there are none",
                       args[0]);
    Files files = { 0 };
    bool desk = session_has_tail(s), ok = read_files(s, &files, err);
    char *monitored = NULL, *crash = NULL;
    if (ok && desk)
        crash = desk_crash(s, &files, &monitored, err);
    ok = ok && (crash || !desk) &&
         reproduce_file(s, desk ? crash : args[0], monitored, desk || files.len ? &files : NULL,
                        err);
    files_release(&files);
    free(crash);
    free(monitored);
    return ok;
}

const Command technique_reproduce = {
    .name = "reproduce",
    .args = "CRASH | PROGRAM -- ARGUMENT…",
    .summary = "C tests that crash the same way",
    .about =
        "Takes the file that a monitored program (sundew monitor) left when it crashed, and "
        "writes a C test for each function on the stack that fails in the same way when the test "
        "calls it with the captured arguments. Sundew has built and run each test, and leaves out "
        "the captured state that the failure does not need.\n\n"
        "With a program and its arguments it does all this at the desk: it monitors the "
        "program, runs it in a sandbox and uses the crash of that run. The file of the crash is "
        "kept: NAME.crash here, or beside the folder of -o.\n\n"
        "A test of main() runs the program again, so it needs the files that the program "
        "had: name a folder with them (--files), and its standard input (--stdin).\n\n"
        "The tests fail until the defect is fixed. The folder has a Makefile (make check) "
        "and a README.md with the stack, the table of frames and what was not captured.",
    .examples = "sundew reproduce prog.1234.crash\n"
                "sundew reproduce prog.1234.crash --files inputs/\n"
                "sundew reproduce ./prog -- input\n"
                "sundew reproduce --review prog.1234.crash\n"
                "sundew reproduce --asan --same kind prog.1234.crash\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE,
    .plan = reproduce_plan,
    .run = run,
};
