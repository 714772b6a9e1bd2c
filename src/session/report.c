/*
 * The end of a technique's run: its findings are stored, read back (so that
 * suppressions, baseline and order are the same everywhere), written in the
 * forms that were asked for, and decide the exit status.
 */
#include "base/file.h"
#include "base/json.h"
#include "finding/output.h"
#include "session/session_int.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void Writer(const FindingSet *, const OutputOptions *, Str *);

static OutputOptions options_of(Session *s)
{
    return (OutputOptions){
        .color = session_color(s),
        .all = session_flag(s, "all"),
        .rules = session_rules(s),
        .share = s->share,
        .docs_url = session_option(s, "docs-url"),
        .version = SUNDEW_VERSION,
        .incomplete = s->incomplete.len ? str_c(&s->incomplete) : NULL,
        .extra = s->json,
        .overview = s->overview,
    };
}

static bool write_file(Writer *write, const FindingSet *set, const OutputOptions *o,
                       const char *path, Err *err)
{
    Str text = { 0 };
    write(set, o, &text);
    bool ok = file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    return ok;
}

/* GitHub names a file for the summary of a step; several commands may add to it. */
static bool add_step_summary(const FindingSet *set, const OutputOptions *o, Err *err)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    int fd = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (!path || !*path)
        return true;
    if (fd < 0)
        return err_errno(err, "$GITHUB_STEP_SUMMARY: %s", path);
    Str text = { 0 };
    output_step_summary(set, o, &text);
    bool ok = file_write_fd(fd, str_c(&text), text.len, err);
    str_release(&text);
    close(fd);
    return ok;
}

/* People open it: the whole path. */
static void say_page(Session *s, const char *path)
{
    char *full = path_absolute(path);
    session_note(s, "the page is %s", full);
    free(full);
}

void session_overview(Session *s, const Overview *overview) { s->overview = overview; }

bool session_write(Session *s, const FindingSet *set, Err *err)
{
    static const struct {
        const char *option;
        Writer *write;
    } files[] = {
        { "sarif", output_sarif },   { "junit", output_junit },           { "html", output_html },
        { "gitlab", output_gitlab }, { "markdown", output_step_summary },
    };
    OutputOptions o = options_of(s);
    int streams = session_flag(s, "json") + session_flag(s, "tap") + session_flag(s, "github");
    if (streams > 1)
        return err_set(err, "one of --json, --tap, --github");
    Writer *write = session_flag(s, "json")     ? output_json
                    : session_flag(s, "tap")    ? output_tap
                    : session_flag(s, "github") ? output_github
                                                : output_terminal;
    write(set, &o, &s->out);
    if (session_flag(s, "github") && !add_step_summary(set, &o, err))
        return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = session_option(s, files[i].option);
        if (path && !write_file(files[i].write, set, &o, path, err))
            return false;
        if (path && strcmp(files[i].option, "html") == 0)
            say_page(s, path);
    }
    s->finished = true;
    return true;
}

bool report_finish(Session *s, Err *err)
{
    if (session_was_asked_to_stop() && !s->command->until_time)
        session_incomplete(s, "interrupted");
    else if (session_time_is_over(s) && !s->command->until_time && !s->command->budget)
        session_incomplete(s, "the time was over");
    const char *incomplete = s->incomplete.len ? str_c(&s->incomplete) : NULL;
    Str examined = { 0 };
    evidence_examined(s, &examined);
    if (examined.len)
        store_run_examined(s->run, str_c(&examined));
    str_release(&examined);
    StoreRun *run = s->run;
    s->run = NULL;
    if (!store_run_end(run, incomplete, err))
        return false;
    FindingSet *set = store_read(s->store, s->command->name, s->scope, err);
    if (!set)
        return false;
    bool ok = session_write(s, set, err);
    if (ok && s->status < 0)
        s->status = finding_set_is_bad(set) ? 1 : 0;
    finding_set_free(set);
    return ok;
}
