/*
 * Checkers that are installed: gcc -fanalyzer, clang's analyzer, cppcheck. Each unit of
 * the program is checked with the flags that it was compiled with. A checker that is
 * missing or fails is a note. All together take half of the time at most:
 * their warnings are worth nothing without a run. Each has a share; what the others leave goes to units that had no time.
 */
#include "base/file.h"
#include "base/proc.h"
#include "base/progress.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "technique/confirm/confirm_int.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 120, SHARE = 2 };

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

/* One checker on all units: each of several threads takes the next. */
typedef struct Round {
    Session *session;
    const Checker *checker;
    Vec(const CompileCommand *) units;
    const char *scratch;
    double until;
    Str *reports;                    /* of each unit */
    bool *done;
    pthread_mutex_t lock;            /* for what stands below */
    size_t next, failed;
} Round;

/* What the checker said, left in `out`. */
static void take_report(const Checker *k, const char *path, ProcResult *r, Str *out)
{
    if (k->to_file && file_exists(path))
        file_read(path, out, NULL);
    else if (!k->to_file) {
        *out = r->err;
        r->err = (Str){ 0 };
    }
}

static bool is_stopped(void *session) { return session_interrupted(session); }

static void check_unit(Round *round, size_t unit, double seconds)
{
    const Checker *k = round->checker;
    const CompileCommand *c = round->units.items[unit];
    Session *session = round->session;
    Strings argv = { 0 };
    ProcResult r = { 0 };
    char *report = xprintf("%s/report-%zu.plist", round->scratch, unit);
    strings_add(&argv, "env"); /* who is killed leaves files there */
    strings_addf(&argv, "TMPDIR=%s", round->scratch);
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
               .stop_arg = session,
               .memory = 4ULL << 30 };
    bool ran = proc_run(&p, &r, NULL), ok = ran && !r.timed_out && !r.signal;
    if (ok)
        take_report(k, report, &r, &round->reports[unit]);
    pthread_mutex_lock(&round->lock);
    bool late = ran && r.timed_out;
    round->done[unit] = !late;
    round->failed += !ok && !late && !is_stopped(session);
    pthread_mutex_unlock(&round->lock);
    unlink(report);
    proc_result_release(&r);
    strings_release(&argv);
    free(report);
}

static void *check_units(void *arg)
{
    Round *round = arg;
    for (;;) {
        double left = round->until - clock_seconds();
        pthread_mutex_lock(&round->lock);
        while (round->next < round->units.len && round->done[round->next])
            round->next++;
        size_t unit = round->next++;
        pthread_mutex_unlock(&round->lock);
        if (unit >= round->units.len || left <= 0 || session_interrupted(round->session))
            return NULL;
        check_unit(round, unit, left);
    }
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

static void begin_round(Inquiry *q, const Checker *k, const CompileCommands *commands,
                        const char *scratch, Round *round)
{
    Map seen = { 0 };
    *round = (Round){ .session = q->session, .checker = k, .scratch = scratch };
    for (size_t i = 0; i < commands->len; i++)
        if (is_wanted(q, commands->items[i].file, &seen))
            vec_push(&round->units, &commands->items[i]);
    round->reports = xcalloc(round->units.len + 1, sizeof *round->reports);
    round->done = xcalloc(round->units.len + 1, sizeof *round->done);
    pthread_mutex_init(&round->lock, NULL);
    map_release(&seen);
}

static size_t units_left(const Round *round)
{
    size_t n = 0;
    for (size_t i = 0; i < round->units.len; i++)
        n += !round->done[i];
    return n;
}

static void run_round(Round *round, double until)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    unsigned n = session_jobs(round->session), started = 0;
    round->until = until;
    round->next = 0;
    while (started + 1 < n && started < MOST &&
           pthread_create(&threads[started], NULL, check_units, round) == 0)
        started++;
    check_units(round);
    while (started)
        pthread_join(threads[--started], NULL);
}

static void end_round(Inquiry *q, Round *round)
{
    const Checker *k = round->checker;
    size_t late = session_interrupted(q->session) ? 0 : units_left(round);
    for (size_t i = 0; i < round->units.len; i++) {
        const char *from = k->to_file ? "its report" : k->name;
        const Str *report = &round->reports[i];
        if (report->len)
            warnings_parse(str_c(report), report->len, from, k->name, &q->warnings, NULL);
        str_release(&round->reports[i]);
    }
    if (round->failed)
        session_note(q->session, "%s failed on %zu unit%s", k->name, round->failed,
                     round->failed == 1 ? "" : "s");
    if (late)
        session_incomplete(q->session, "%s had no time for %zu unit%s (half of --time is for all)",
                           k->name, late, late == 1 ? "" : "s");
    pthread_mutex_destroy(&round->lock);
    vec_release(&round->units);
    free(round->reports);
    free(round->done);
}

void inquiry_run_checkers(Inquiry *q)
{
    enum { ALL = sizeof checkers / sizeof *checkers };
    Round rounds[ALL];
    CompileCommands commands = { 0 };
    Err err = { 0 };
    const char *scratch = tempdir_new(NULL, &err);
    double until = clock_seconds() + session_time_left(q->session, 3600) / SHARE;
    if (!scratch || !commands_of_workspace(session_workspace(q->session), &commands, &err)) {
        session_note(q->session, "no checker is run: %s", err.msg);
        return;
    }
    Progress p = progress_start("running checkers", 0);
    size_t n = 0;
    for (size_t k = 0; k < ALL; k++) {
        char *path = path_search(checkers[k].name, NULL);
        if (path)
            begin_round(q, &checkers[k], &commands, scratch, &rounds[n++]);
        else
            session_note(q->session, "%s is not installed", checkers[k].name);
        free(path);
    }
    /* A share for each; then what the others have left. */
    for (size_t k = 0; k < 2 * n; k++) {
        double now = clock_seconds(), parts = k < n ? (double)(n - k) : 1;
        if (units_left(&rounds[k % n]))
            run_round(&rounds[k % n], now + (until - now) / parts);
    }
    for (size_t k = 0; k < n; k++)
        end_round(q, &rounds[k]);
    progress_end(&p);
    commands_release(&commands);
    tempdir_remove(scratch);
}
