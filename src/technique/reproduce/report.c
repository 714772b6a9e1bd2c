/* What a reproduction says: on the terminal, as JSON, as a finding. */
#include "base/escape.h"
#include "base/file.h"
#include "runtime/format/crashfile.h"
#include "session/failure_finding.h"
#include "technique/reproduce/reproduce_int.h"
#include <inttypes.h>
#include <string.h>

static const Place *site(const Reproduction *rp)
{
    static const Place none = { "", "", 0 };
    return rp->was.stack.len ? &rp->was.stack.items[0] : &none;
}

void report_place(const Place *p, Str *out)
{
    str_add(out, *p->file ? path_base(p->file) : "?");
    if (p->line)
        str_addf(out, ":%u", p->line);
}

void report_failure_line(const Reproduction *rp, Str *out)
{
    static const char *const access[] = {
        [SUNDEW_READ] = "reading",
        [SUNDEW_WRITE] = "writing",
        [SUNDEW_EXECUTE] = "jumping to",
    };
    const CrashFailure *f = crash_failure(rp->crash);
    const Place *p = site(rp);
    ending_kind(&rp->was, out);
    if (rp->was.has_address && f->access)
        str_addf(out, " %s 0x%" PRIx64, access[f->access], f->address);
    else if (rp->was.nowhere)
        str_add(out, " at an address that no program has");
    else if (*rp->was.text)
        str_addf(out, " (%s)", rp->was.text);
    if (*p->function)
        str_addf(out, " in %s()", p->function);
    if (*p->file) {
        str_add(out, " at ");
        report_place(p, out);
    }
}

/* ---- what is not there */

static const char *lack_text(uint32_t code)
{
    static const char *const texts[] = {
        [SUNDEW_LACK_BUDGET] = "more than the budget allows",
        [SUNDEW_LACK_UNREADABLE] = "memory that could not be read",
        [SUNDEW_LACK_FOREIGN] = "objects of other libraries",
        [SUNDEW_LACK_UNTYPED] = "memory without a type",
        [SUNDEW_LACK_THREAD] = "other threads: their stacks, and what they changed after a "
                               "function of this thread was entered",
        [SUNDEW_LACK_VARARGS] = "arguments behind the named ones",
        [SUNDEW_LACK_STALE] = "frames that were left by longjmp",
        [SUNDEW_LACK_OFF] = "functions that were not monitored then",
    };
    return code < sizeof texts / sizeof *texts && texts[code] ? texts[code] : "something";
}

void report_lacks(const Reproduction *rp, Strings *out)
{
    size_t n;
    const CrashLack *lacks = crash_lacks(rp->crash, &n);
    if (crash_is_cut_short(rp->crash))
        strings_add(out, "the crash file is cut short: what stands behind the cut is lost");
    uint64_t count[16] = { 0 };
    const char *text[16] = { 0 };
    for (size_t i = 0; i < n; i++) {
        unsigned k = lacks[i].code < 16 ? lacks[i].code : 0;
        count[k] += lacks[i].code == SUNDEW_LACK_THREAD ? lacks[i].amount : 1;
        if (*lacks[i].text && k != SUNDEW_LACK_THREAD)
            text[k] = lacks[i].text;
    }
    for (unsigned k = 0; k < 16; k++)
        if (count[k])
            strings_addf(out, "%s: %" PRIu64 " times%s%s%s", lack_text(k), count[k],
                         text[k] ? " (" : "", text[k] ? text[k] : "", text[k] ? ")" : "");
    for (size_t i = 0; i < crash_nframes(rp->crash); i++) {
        const CrashFrame *f = crash_frame(rp->crash, i);
        if (f->flags & SUNDEW_FRAME_REFERENCE)
            strings_addf(out,
                         "%s: called too often to copy anything at its entry; "
                         "its arguments are as at the crash",
                         f->symbol);
        if (f->flags & SUNDEW_FRAME_CUT)
            strings_addf(out, "%s: the budget did not allow to copy everything", f->symbol);
    }
}

/* ---- terminal */

static const char *word(const Candidate *c)
{
    return c->root_closer ? "root closer" : c->reproduces ? "yes" : "no";
}

static void print_table(const Reproduction *rp, Str *out)
{
    str_addf(out, "%-12s%-13s%-9s%-28s%s\n", "reproduces", "informative", "distance", "function",
             "test");
    size_t between = 0;
    for (size_t i = 0; i < rp->ranked.len; i++) {
        const Candidate *c = rp->ranked.items[i];
        between += c->between;
        if (c->between)
            continue;
        const char *name = c->fn ? c->fn->name : crash_frame(rp->crash, c->frame)->symbol;
        Str safe = { 0 }, more = { 0 };
        escape_terminal_z(&safe, name);
        escape_terminal_z(&more, c->file ? c->file : c->why ? c->why : "");
        str_addf(out, "%-12s%-13s%-9u%-28s%s\n", word(c),
                 !c->reproduces   ? ""
                 : c->informative ? "yes"
                                  : "no",
                 c->distance, str_c(&safe), str_c(&more));
        str_release(&safe);
        str_release(&more);
    }
    if (between)
        str_addf(out, "%zu frames in the middle of a deep recursion were not tried\n", between);
}

static size_t count(const Reproduction *rp, bool informative)
{
    size_t n = 0;
    for (size_t i = 0; i < rp->n; i++)
        n += rp->candidates[i].reproduces && (!informative || rp->candidates[i].informative);
    return n;
}

static void print_text(const Reproduction *rp, Str *out)
{
    Str line = { 0 };
    report_failure_line(rp, &line);
    escape_terminal(out, line.data, line.len);
    str_add(out, "\n\n");
    print_table(rp, out);
    char *folder = path_relative(rp->folder, rp->cwd);
    Str safe = { 0 };
    escape_terminal_z(&safe, folder);
    if (count(rp, false))
        str_addf(out,
                 "\n%zu of %zu frames reproduce it; tests in %s (they fail until the "
                 "defect is fixed)\n",
                 count(rp, false), rp->ranked.len, str_c(&safe));
    else
        str_addf(out,
                 "\nno frame of %zu reproduces it; %s/README.md says what was not "
                 "captured\n",
                 rp->ranked.len, str_c(&safe));
    str_release(&safe);
    str_release(&line);
    free(folder);
}

/* ---- JSON */

static json_t *failure_json(const Reproduction *rp)
{
    const Place *p = site(rp);
    Str kind = { 0 }, text = { 0 };
    ending_kind(&rp->was, &kind);
    report_failure_line(rp, &text);
    json_t *o = json_pack("{s:o, s:o, s:o, s:i, s:o}", "kind", json_text(str_c(&kind)), "function",
                          json_text(p->function), "file", json_text(p->file), "line", (int)p->line,
                          "text", json_text(str_c(&text)));
    str_release(&kind);
    str_release(&text);
    return o;
}

static json_t *tests_json(const Reproduction *rp)
{
    json_t *all = json_array();
    for (size_t i = 0; i < rp->ranked.len; i++) {
        const Candidate *c = rp->ranked.items[i];
        char *file = c->file ? path_join(rp->folder, c->file) : NULL;
        const char *name = c->fn ? c->fn->name : crash_frame(rp->crash, c->frame)->symbol;
        json_t *o =
            json_pack("{s:o, s:o, s:b, s:i, s:b, s:b, s:b, s:o, s:o, s:i, s:i, s:b}", "function",
                      json_text(name), "file", json_text(file), "reproduces", c->reproduces,
                      "distance", (int)c->distance, "informative", c->informative, "stale",
                      c->stale, "root_closer", c->root_closer, "call", json_text(c->call), "remark",
                      json_text(c->why), "objects", (int)c->objects, "bytes", (int)c->bytes,
                      "goes_on", c->has_way[0] || c->has_way[1]);
        json_array_append_new(all, o);
        free(file);
    }
    return all;
}

/* ---- the finding */

/* The crash as a failure: what of it a finding tells. */
static Failure failure_of(Reproduction *rp)
{
    const Ending *was = &rp->was;
    Failure f = { .kind = was->kind, .nframes = was->stack.len };
    f.frames = arena_array(&rp->arena, FailureFrame, f.nframes + 1);
    for (size_t i = 0; i < f.nframes; i++) {
        const Place *at = &was->stack.items[i];
        f.frames[i] =
            (FailureFrame){ .function = at->function, .file = at->file, .line = at->line };
    }
    return f;
}

static bool add_finding(Reproduction *rp, Err *err)
{
    const Candidate *best = rp->ranked.len ? rp->ranked.items[0] : NULL;
    bool shown = best && best->reproduces;
    Str message = { 0 }, more = { 0 }, test = { 0 }, rerun = { 0 }, anchor = { 0 };
    report_failure_line(rp, &message);
    if (shown)
        str_addf(&more, "%zu test%s reproduce%s it, begin with %s", count(rp, false),
                 count(rp, false) == 1 ? "" : "s", count(rp, false) == 1 ? "s" : "",
                 best->call && strlen(best->call) < 80 ? best->call : best->fn->name);
    else
        str_add(&more, "no frame reproduces it");
    if (shown && best->root)
        str_addf(&more, "; %s", best->root);
    Attachment file = { .kind = "test" };
    if (shown) {
        char *path = path_join(rp->folder, best->file);
        file_read(path, &test, NULL);
        free(path);
        file.name = best->file;
        file.text = str_c(&test);
        file.size = test.len;
    }
    if (session_has_tail(rp->session)) {   /* a crash of the desk is made anew */
        str_add(&rerun, session_command_line(rp->session));
    } else {
        str_add(&rerun, "sundew reproduce ");
        escape_shell(&rerun, rp->path);
        for (int i = 0; i < 2; i++) {
            const char *name = i ? "stdin" : "files", *what = session_option(rp->session, name);
            if (what && strcmp(what, "/dev/null") != 0) {
                str_addf(&rerun, " --%s ", name);
                escape_shell(&rerun, what);
            }
        }
    }
    ending_kind(&rp->was, &anchor);
    Failure failure = failure_of(rp);
    Finding f = failure_finding(&rp->arena,
                                &(FailureReport){ .failure = &failure,
                                                  .rule = shown ? "reproduce/crash"
                                                                : "reproduce/unreproduced",
                                                  .level = shown ? LEVEL_ERROR : LEVEL_WARNING,
                                                  .text = str_c(&message),
                                                  .more = str_c(&more),
                                                  .anchor = str_c(&anchor),
                                                  .program = program_captured(rp->program)->path });
    if (!shown)
        f.verdict = VERDICT_UNDECIDED;
    f.attachments = &file;
    f.nattachments = shown;
    f.rerun = str_c(&rerun);
    bool ok = session_report(rp->session, &f, err);
    str_release(&message);
    str_release(&more);
    str_release(&test);
    str_release(&rerun);
    str_release(&anchor);
    return ok;
}

/* Nothing reproduces it, and some tests were never run: the machine may be the reason. */
static void tell_uncompiled(const Reproduction *rp)
{
    size_t n = 0;
    for (size_t i = 0; i < rp->n; i++)
        n += rp->candidates[i].why && str_starts(rp->candidates[i].why, UNCOMPILED);
    if (n && !count(rp, false))
        session_incomplete(rp->session, "%zu test%s did not compile", n, n == 1 ? "" : "s");
}

bool report_all(Reproduction *rp, Err *err)
{
    Strings lacks = { 0 };
    report_lacks(rp, &lacks);
    char *scope = xprintf("%s %s", crash_program(rp->crash), path_base(rp->path));
    bool ok = session_begin(rp->session, scope, err) && add_finding(rp, err);
    tell_uncompiled(rp);
    session_examined(rp->session, "%zu frames of the crash", rp->ranked.len);
    session_json(rp->session, "failure", failure_json(rp));
    session_json(rp->session, "tests", tests_json(rp));
    session_json(rp->session, "folder", json_text(rp->folder));
    session_json(rp->session, "strategy", json_text(crash_strategy(rp->crash)));
    session_json(rp->session, "not_captured", json_strings(lacks.items, lacks.len));
    if (!session_flag(rp->session, "json"))
        print_text(rp, session_out(rp->session));
    strings_release(&lacks);
    free(scope);
    return ok;
}
