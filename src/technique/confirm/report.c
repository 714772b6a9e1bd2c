/* Findings for what is confirmed, rows for all warnings, and a short table. */
#include "base/escape.h"
#include "base/file.h"
#include "technique/confirm/confirm_int.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- the test that saw it */

/* The command line of the process, as a person would type it; "" if it is not known. */
static void process_text(const Inquiry *q, const struct sundew_watch_slot *seen, Str *out)
{
    const struct sundew_watch_file *f = (const struct sundew_watch_file *)q->evidence.data;
    if (!f || !seen || !seen->process || seen->process > SUNDEW_WATCH_PROCESSES)
        return;
    const struct sundew_watch_process *p = &f->processes[seen->process - 1];
    size_t n = p->length < sizeof p->words ? p->length : sizeof p->words;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n && !p->words[i])
            break;
        str_addc(out, p->words[i] ? p->words[i] : ' ');
    }
}

static Location location(const WatchSite *s, unsigned line, unsigned column)
{
    return (Location){
        .file = s->file, .line = (int)line, .column = (int)column, .function = s->function
    };
}

/* ---- a confirmed warning is a finding */

static void add_step(Frames *steps, const char *text)
{
    vec_push(steps, ((EvidenceStep){ .text = text }));
}

static void make_steps(Inquiry *q, const Warning *w, Arena *a, Frames *steps)
{
    const WatchSite *s = w->site;
    Str test = { 0 }, shown = { 0 };
    if (*w->message)
        add_step(steps, arena_printf(a, "%s says (%s): %s", w->tool, w->rule, w->message));
    add_step(steps, arena_printf(a, "the objection: %s", s->rule->objection));
    vec_push(steps,
             ((EvidenceStep){ .at = w->said.seen_at
                                        ? location(w->said.seen_at, w->said.seen_at->places[0].line,
                                                   w->said.seen_at->places[0].column)
                                        : (Location){ 0 },
                              .text = arena_printf(a, "the observation: %s", w->said.text) }));
    process_text(q, w->said.seen, &test);
    if (test.len) {
        escape_terminal(&shown, str_c(&test), test.len);
        add_step(steps, arena_printf(a, "seen in the process: %s", str_c(&shown)));
    }
    if (w->said.seen && w->said.seen->bad)
        inquiry_frames(q, w->said.seen, a, steps);
    add_step(steps, arena_printf(a, "%" PRIu64 " %s were seen at the site%s", w->said.opportunities,
                                 s->rule->opportunity,
                                 q->ran && q->passed ? "; the command itself passed" : ""));
    str_release(&test);
    str_release(&shown);
}

enum { MOST_INPUT = 256 << 20 };

/* The input of --explore that the process was started with, if there is one. */
static bool find_input(Inquiry *q, const Warning *w, Arena *a, Str *bytes, Attachment *out)
{
    Str words = { 0 };
    process_text(q, w->said.seen, &words);
    const char *at = q->inputs ? strstr(str_c(&words), q->inputs) : NULL;
    char *path = at ? arena_strndup(a, at, strcspn(at, " ")) : NULL;
    str_release(&words);
    /* The process told its words itself: one of our files, and no way to others. */
    const char *name = path ? path + strlen(q->inputs) : "";
    if (*name != '/' || strchr(name + 1, '/') || !file_read_left(path, MOST_INPUT, bytes, NULL))
        return false;
    *out = (Attachment){
        .name = path_base(path), .kind = "input", .text = str_c(bytes), .size = bytes->len
    };
    return true;
}

static json_t *tools_json(const Warning *w) { return json_strings(w->also.items, w->also.len); }

/* The observation's first part; make_steps() has the whole. */
static const char *title(Arena *a, const Warning *w)
{
    const char *text = w->said.text, *end = strstr(text, " (");
    size_t n = strcspn(text, ";");
    if (end && (size_t)(end - text) < n)
        n = (size_t)(end - text);
    return arena_printf(a, "%s (%s): %.*s", w->family, watch_grade_name(w->said.grade), (int)n,
                        text);
}

static bool report_confirmed(Inquiry *q, const Warning *w, Err *err)
{
    Arena a = { 0 };
    Frames steps = { 0 };
    const WatchSite *s = w->site;
    assert(s && w->said.grade != GRADE_NONE && *w->said.text);
    make_steps(q, w, &a, &steps);
    Finding f = {
        .rule = arena_printf(&a, "confirm/%s", w->family),
        .level = LEVEL_WARNING,
        .verdict = w->said.grade >= GRADE_STRONG ? VERDICT_SHOWN : VERDICT_LIKELY,
        .message = title(&a, w),
        .where = location(s, w->line, w->column),
        .anchor = s->key,
        .steps = steps.items,
        .nsteps = steps.len,
        .rerun = session_command_line(q->session),
        .data = json_pack("{s:o,s:o,s:s,s:s,s:I,s:o}", "tool", json_text(w->tool), "rule",
                          json_text(w->rule), "family", w->family, "grade",
                          watch_grade_name(w->said.grade), "opportunities",
                          (json_int_t)w->said.opportunities, "also", tools_json(w)),
    };
    Attachment input;
    Str bytes = { 0 };
    if (find_input(q, w, &a, &bytes, &input)) {
        f.attachments = &input;
        f.nattachments = 1;
    }
    bool ok = session_report(q->session, &f, err);
    str_release(&bytes);
    json_decref(f.data);
    vec_release(&steps);
    arena_release(&a);
    return ok;
}

/* ---- rows */

static const char *missing_text(const Warning *w)
{
    return w->said.opportunities == 0 && !w->said.idle ? "a test that gets there"
           : w->said.missing                           ? w->said.missing
                                                       : "more tests that get there";
}

static json_t *warning_json(const Inquiry *q, const Warning *w)
{
    const char *file = w->site ? w->site->file : w->file;
    char *relative = path_relative(file, session_root(q->session));
    bool looked = w->site != NULL;
    json_t *o =
        json_pack("{s:o,s:o,s:o,s:o,s:I,s:I,s:s}", "tool", json_text(w->tool), "rule",
                  json_text(w->rule), "family", *w->family ? json_text(w->family) : json_null(),
                  "file", json_text(relative), "line", (json_int_t)w->line, "column",
                  (json_int_t)w->column, "verdict", verdict_text(w->verdict));
    json_object_set_new(o, "grade",
                        w->verdict == CONFIRMED ? json_string(watch_grade_name(w->said.grade))
                                                : json_null());
    json_object_set_new(o, "opportunities",
                        json_integer(looked ? (json_int_t)w->said.opportunities : 0));
    json_object_set_new(o, "evidence",
                        looked && *w->said.text ? json_text(w->said.text) : json_null());
    if (looked) {
        json_object_set_new(o, "function", json_text(w->site->function));
        json_object_set_new(o, "objection", json_text(w->site->rule->objection));
    }
    if (w->verdict == UNDETERMINED)
        json_object_set_new(o, "missing", json_text(missing_text(w)));
    if (w->reason)
        json_object_set_new(o, "reason", json_text(w->reason));
    if (w->also.len)
        json_object_set_new(o, "also", tools_json(w));
    free(relative);
    return o;
}

/* Confirmed first, then by what a test would cost: sites that runs reach already need only
 * another input. */
static int by_order(const void *a, const void *b)
{
    const Warning *x = a, *y = b;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    if (x->verdict == CONFIRMED && x->said.grade != y->said.grade)
        return x->said.grade > y->said.grade ? -1 : 1;
    if (x->said.opportunities != y->said.opportunities)
        return x->said.opportunities > y->said.opportunities ? -1 : 1;
    int c = strcmp(x->file, y->file);
    return c ? c : x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->rule, y->rule);
}

static void print_table(const Inquiry *q, const size_t counts[VERDICTS])
{
    Str *out = session_out(q->session);
    enum { MOST = 10 };
    size_t shown = 0;
    str_addf(out, "%zu warnings: %zu confirmed, %zu rejected, %zu undetermined, %zu unanchored\n",
             q->warnings.items.len, counts[CONFIRMED], counts[REJECTED], counts[UNDETERMINED],
             counts[UNANCHORED]);
    for (size_t i = 0; i < q->warnings.items.len && shown < MOST; i++) {
        const Warning *w = &q->warnings.items.items[i];
        if (w->verdict != UNDETERMINED)
            continue;
        char *relative = path_relative(w->site->file, session_root(q->session));
        Str safe = { 0 };
        escape_terminal(&safe, relative, strlen(relative));
        str_addf(out, "  undetermined: %s:%u: %s in %s(): %" PRIu64 " %s; missing: %s\n",
                 str_c(&safe), w->line, w->family, w->site->function, w->said.opportunities,
                 w->site->rule->opportunity, missing_text(w));
        shown++;
        str_release(&safe);
        free(relative);
    }
    if (counts[UNDETERMINED] > shown)
        str_addf(out, "  … and %zu more; --json has all\n", counts[UNDETERMINED] - shown);
}

bool inquiry_report(Inquiry *q, Err *err)
{
    Warnings *all = &q->warnings;
    assert(q->watch);
    size_t counts[VERDICTS] = { 0 };
    json_t *rows = json_array(), *verdicts = json_object();
    if (all->items.len)
        qsort(all->items.items, all->items.len, sizeof *all->items.items, by_order);
    bool ok = session_begin(q->session, q->name, err);
    for (size_t i = 0; ok && i < all->items.len; i++) {
        const Warning *w = &all->items.items[i];
        counts[w->verdict]++;
        json_array_append_new(rows, warning_json(q, w));
        if (w->verdict == CONFIRMED)
            ok = report_confirmed(q, w, err);
    }
    for (Verdict v = 0; v < VERDICTS; v++)
        json_object_set_new(verdicts, verdict_text(v), json_integer((json_int_t)counts[v]));
    session_examined(q->session, "%zu warnings", all->items.len);
    session_json(q->session, "warnings", rows);
    session_json(q->session, "verdicts", verdicts);
    if (ok && !session_flag(q->session, "json") && !session_quiet(q->session))
        print_table(q, counts);
    return ok;
}
