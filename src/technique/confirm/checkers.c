/*
 * Checkers that are installed: gcc -fanalyzer, clang's analyzer, cppcheck. Each unit of
 * the program is checked with the flags that it was compiled with. A checker that is
 * missing, fails or takes too long is a note. All together take a third of the time at most:
 * their warnings are worth nothing without a run.
 */
#include "base/file.h"
#include "base/proc.h"
#include "base/progress.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "technique/confirm/confirm_int.h"
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 120, SHARE = 3 };

typedef struct Checker {
    const char *name;
    const char *const *flags;        /* before the unit's own */
    bool clang;                      /* takes clang's flags; else the compiler's */
    bool defines_only;               /* takes only -D, -U and -I */
    bool to_file;                    /* writes its report to -o */
} Checker;

static const char *const gcc_flags[] = { "-fanalyzer", "-fdiagnostics-format=json",
                                         "-Wformat-security", "-Wsign-compare", NULL };
static const char *const clang_flags[] = { "--analyze", "--analyzer-output", "plist", NULL };
static const char *const cppcheck_flags[] = { "--xml", "--enable=warning", "--quiet", NULL };

static const Checker checkers[] = {
    { "gcc", gcc_flags, false, false, false },
    { "clang-19", clang_flags, true, false, true },
    { "cppcheck", cppcheck_flags, false, true, false },
};

/* Preprocessor flags of a command, and their words. */
static void add_defines(const CompileCommand *c, Strings *argv)
{
    for (size_t i = 1; i < c->arguments.len; i++) {
        const char *word = c->arguments.items[i];
        if (!str_starts(word, "-D") && !str_starts(word, "-I") && !str_starts(word, "-U") &&
            !str_starts(word, "-include") && !str_starts(word, "-isystem") &&
            !str_starts(word, "-std="))
            continue;
        strings_add(argv, word);
        bool apart = !word[2] || !strcmp(word, "-include") || !strcmp(word, "-isystem");
        if (apart && i + 1 < c->arguments.len)
            strings_add(argv, c->arguments.items[++i]);
    }
}

static void read_report(Inquiry *q, const Checker *k, const char *path, const ProcResult *r)
{
    Str text = { 0 };
    Err none = { 0 };
    if (k->to_file && file_exists(path) && file_read(path, &text, &none))
        warnings_parse(str_c(&text), text.len, path, k->name, &q->warnings, &none);
    else if (!k->to_file && r->err.len)
        warnings_parse(str_c(&r->err), r->err.len, k->name, k->name, &q->warnings, &none);
    str_release(&text);
}

static bool is_stopped(void *session) { return session_interrupted(session); }

static void check_unit(Inquiry *q, const Checker *k, const CompileCommand *c, const char *scratch,
                       double seconds, size_t *failed)
{
    Strings argv = { 0 };
    ProcResult r = { 0 };
    char *report = path_join(scratch, "report.plist");
    strings_add(&argv, k->name);
    for (const char *const *f = k->flags; *f; f++)
        strings_add(&argv, *f);
    if (k->clang)
        for (size_t i = 0; i < c->clang.len; i++)
            strings_add(&argv, c->clang.items[i]);
    else
        add_defines(c, &argv);
    strings_add(&argv, c->file);
    if (!k->defines_only) {
        if (!k->clang)
            strings_add(&argv, "-c");
        strings_add(&argv, "-o");
        strings_add(&argv, k->to_file ? report : "/dev/null");
    }
    Proc p = { .argv = strings_argv(&argv),
               .cwd = *c->directory ? c->directory : NULL,
               .capture = true,
               .seconds = seconds < SECONDS ? seconds : SECONDS,
               .stop = is_stopped,
               .stop_arg = q->session,
               .memory = 4ULL << 30 };
    if (!proc_run(&p, &r, NULL) || r.timed_out || r.signal)
        *failed += !is_stopped(q->session);
    else
        read_report(q, k, report, &r);
    unlink(report);
    proc_result_release(&r);
    strings_release(&argv);
    free(report);
}

/* One of the program's units, and not checked yet: a source may be compiled several times, with
 * other flags for other programs. */
static bool is_wanted(const Inquiry *q, const char *file, Map *seen)
{
    const CapturedProgram *c = program_captured(q->program);
    for (size_t i = 0; i < c->nunits; i++)
        if (!strcmp(c->units[i]->source, file))
            return map_put(seen, file, NULL);
    return false;
}

/* Gives how many units had no time. */
static size_t run_checker(Inquiry *q, const Checker *k, const CompileCommands *commands,
                          const char *scratch, double until)
{
    size_t failed = 0, late = 0;
    Map seen = { 0 };
    for (size_t i = 0; i < commands->len && !session_interrupted(q->session); i++) {
        double left = until - clock_seconds();
        if (!is_wanted(q, commands->items[i].file, &seen))
            continue;
        if (left <= 0)
            late++;
        else
            check_unit(q, k, &commands->items[i], scratch, left, &failed);
    }
    if (failed)
        session_note(q->session, "%s could not check %zu units", k->name, failed);
    map_release(&seen);
    return late;
}

void inquiry_run_checkers(Inquiry *q)
{
    CompileCommands commands = { 0 };
    Err err = { 0 };
    const char *scratch = tempdir_new(NULL, &err);
    double until = clock_seconds() + session_time_left(q->session, 3600) / SHARE;
    if (!scratch || !commands_of_workspace(session_workspace(q->session), &commands, &err)) {
        session_note(q->session, "no checker is run: %s", err.msg);
        return;
    }
    Progress p = progress_start("running checkers", 0);
    for (size_t k = 0; k < sizeof checkers / sizeof *checkers; k++) {
        char *path = path_search(checkers[k].name, NULL);
        if (!path)
            session_note(q->session, "%s is not installed", checkers[k].name);
        size_t late = path ? run_checker(q, &checkers[k], &commands, scratch, until) : 0;
        if (late)
            session_incomplete(q->session, "%s had no time for %zu unit%s", checkers[k].name, late,
                               late == 1 ? "" : "s");
        free(path);
    }
    progress_end(&p);
    commands_release(&commands);
    tempdir_remove(scratch);
}
