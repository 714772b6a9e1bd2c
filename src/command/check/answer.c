/*
 * The answer: one screen for people, the plan, and what other outputs show beside findings.
 *
 *     larder: 9 findings, 9 new (7 shown by a run, …); 14 steps in 2m12s
 *     NEW src/ledger.c:138: SEGV, writing, in larder_set_price [explore, confirm, reproduce]
 *     …
 *     ran: arguments, types, explore (3), …
 *     not done: …
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/units.h"
#include "command/check/check_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCREEN = 24, WIDTH = 132, FILE_WIDTH = 4096, MOST_TROUBLES = 3, MOST_SKIPPED = 3 };

static const Command *row_named(Session *s, const char *name)
{
    for (const Command *const *c = session_commands(s); *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static Evidence evidence_of(void *arg, const char *technique)
{
    const Command *row = row_named(arg, technique);
    return row ? row->evidence : EVIDENCE_UNKNOWN;
}

/* ---- the plan */

static json_t *words_json(const PlanStep *s)
{
    json_t *all = json_array();
    json_array_append_new(all, json_string("sundew"));
    json_array_append_new(all, json_text(s->technique));
    for (size_t i = 0; i < s->words.len; i++)
        json_array_append_new(all, json_text(s->words.items[i]));
    return all;
}

static json_t *plan_json(Check *c)
{
    json_t *all = json_array();
    for (size_t i = 0; i < c->plan.steps.len; i++) {
        const PlanStep *s = c->plan.steps.items[i];
        json_array_append_new(all,
                              json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:b, s:b, s:o}",
                                        "technique", json_text(s->technique), "subject",
                                        json_text(s->subject), "variant", json_text(s->variant),
                                        "reason", json_text(s->reason), "fed_by",
                                        *s->fed_by ? json_text(s->fed_by) : json_null(), "least",
                                        s->least, "most", s->most, "seconds", step_share(c, s),
                                        "open_ended", s->open_ended, "done", step_is_done(c, s),
                                        "command", words_json(s)));
    }
    return all;
}

static json_t *skipped_json(Check *c)
{
    json_t *all = json_array();
    for (size_t i = 0; i < c->plan.skipped.len; i++) {
        const PlanSkip *k = &c->plan.skipped.items[i];
        json_array_append_new(all, json_pack("{s:o, s:o, s:o}", "technique",
                                             json_text(k->technique), "subject",
                                             json_text(k->subject), "why", json_text(k->why)));
    }
    for (size_t i = 0; i < c->skipped.len; i++)
        json_array_append_new(all,
                              json_pack("{s:o, s:o}", "step", json_text(c->skipped.items[i].what),
                                        "why", json_text(c->skipped.items[i].why)));
    return all;
}

static json_t *builds_json(Check *c)
{
    json_t *all = json_array();
    for (size_t i = 0; i < c->builds.len; i++) {
        const Build *b = &c->builds.items[i];
        json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:b}", "system", b->system, "folder",
                                             json_text(b->folder), "command", json_text(b->command),
                                             "used", c->build == b));
    }
    return all;
}

static void put_line(Str *out, const char *text)
{
    Str shown = { 0 };
    escape_terminal_z(&shown, text);
    str_add(out, str_c(&shown));
    str_release(&shown);
}

static void print_plan(Check *c, Str *out)
{
    char time[32];
    for (size_t i = 0; i < c->builds.len; i++) {
        bool other = i && strcmp(c->builds.items[i].folder, c->builds.items[i - 1].folder) == 0;
        str_add(out, other ? "       if that fails: " : "build  ");
        put_line(out, c->builds.items[i].command);
        str_add(out, *c->builds.items[i].needs ? "   (not installed: " : "");
        str_addf(out, "%s%s\n", c->builds.items[i].needs, *c->builds.items[i].needs ? ")" : "");
    }
    if (!c->builds.len)
        str_add(out, "build  none was recognised; --build CMD names one\n");
    if (c->tests_shown) {
        str_add(out, "tests  ");
        put_line(out, c->tests_shown);
        str_addc(out, '\n');
    }
    for (size_t i = 0; i < c->plan.steps.len; i++) {
        const PlanStep *s = c->plan.steps.items[i];
        const StepRecord *r = state_step(&c->state, step_name(&c->plan, s));
        bool done = step_is_done(c, s), failed = done && r && r->status > STEP_CUT;
        bool partly = done && r && *r->incomplete;
        str_addf(out, "%-6s ",
                 failed          ? "failed"
                 : partly        ? "partly"
                 : done          ? "done"
                 : s->open_ended ? duration_format((double)(long)step_share(c, s), time)
                                 : duration_format((double)(long)(s->least + 0.5), time));
        put_line(out, step_name(&c->plan, s));
        str_add(out, ": ");
        put_line(out, s->reason);
        if (*s->fed_by) {
            str_add(out, "; fed by ");
            put_line(out, s->fed_by);
        }
        if (partly) {
            str_add(out, "; incomplete: ");
            put_line(out, r->incomplete);
        }
        if (failed) {
            str_add(out, "; it failed: ");
            put_line(out, r->why);
        }
        str_addc(out, '\n');
    }
    size_t n;
    project_programs(c->project, &n);
    if (!n)
        str_add(out, "Nothing is captured yet: the plan grows when the project is built.\n");
    for (size_t i = 0; i < c->plan.skipped.len; i++) {
        const PlanSkip *k = &c->plan.skipped.items[i];
        str_addf(out, "not    %s%s", k->technique, *k->subject ? " " : "");
        put_line(out, k->subject);
        str_add(out, ": ");
        put_line(out, k->why);
        str_addc(out, '\n');
    }
}

bool answer_plan(Check *c, Err *err)
{
    (void)err;
    if (session_flag(c->s, "json")) {
        json_t *o = json_pack("{s:i, s:o, s:o, s:o, s:o}", "schema", 1, "builds", builds_json(c),
                              "tests", c->tests_shown ? json_text(c->tests_shown) : json_null(),
                              "plan", plan_json(c), "skipped", skipped_json(c));
        json_print(o, session_out(c->s));
        json_decref(o);
    } else {
        print_plan(c, session_out(c->s));
    }
    session_status(c->s, 0);
    return true;
}

/* ---- for all outputs */

static const char *result_of(Check *c, const Ran *r)
{
    const char *status = !r->now                                    ? "kept from an earlier check"
                         : r->status == STEP_CUT && !*r->incomplete ? "had its time"
                                                                    : step_status_name(r->status);
    const char *more = *r->why ? r->why : r->examined;
    const char *text = *more ? arena_printf(&c->arena, "%s: %s", status, more) : status;
    return *r->incomplete ? arena_printf(&c->arena, "%s; incomplete: %s", text, r->incomplete)
                          : text;
}

static const Overview *overview_of(Check *c)
{
    Overview *o = arena_new(&c->arena, Overview);
    size_t first = c->prepared.len;
    OverviewStep *steps = arena_array(&c->arena, OverviewStep, first + c->ran.len + 1);
    size_t n = c->skipped.len + c->plan.skipped.len, k = 0;
    OverviewLine *skipped = arena_array(&c->arena, OverviewLine, n + 1);
    for (size_t i = 0; i < first; i++)
        steps[i] = c->prepared.items[i];
    for (size_t i = 0; i < c->ran.len; i++) {
        const Ran *r = &c->ran.items[i];
        assert(r->name && r->why && r->begin >= 0);
        steps[first + i] = (OverviewStep){ .name = r->name,
                                           .technique = r->technique,
                                           .reason = r->reason,
                                           .result = result_of(c, r),
                                           .fed_by = r->fed_by,
                                           .begin = r->begin,
                                           .seconds = r->seconds,
                                           .ran = r->now,
                                           .ok = r->status == STEP_DONE || r->status == STEP_CUT,
                                           .findings = r->findings };
    }
    for (size_t i = 0; i < c->skipped.len; i++)
        skipped[k++] = c->skipped.items[i];
    for (size_t i = 0; i < c->plan.skipped.len; i++) {
        const PlanSkip *s = &c->plan.skipped.items[i];
        skipped[k++] =
            (OverviewLine){ *s->subject ? arena_printf(&c->arena, "%s %s", s->technique, s->subject)
                                        : arena_strdup(&c->arena, s->technique),
                            arena_strdup(&c->arena, s->why) };
    }
    *o = (Overview){ .title = arena_printf(&c->arena, "build: %s; tests: %s",
                                           c->build_shown ? c->build_shown : "none",
                                           c->tests_shown ? c->tests_shown : "none"),
                     .seconds = clock_seconds() - c->begin,
                     .steps = steps,
                     .nsteps = first + c->ran.len,
                     .skipped = skipped,
                     .nskipped = k,
                     .troubles = c->troubles.items,
                     .ntroubles = c->troubles.len };
    return o;
}

static json_t *ran_json(Check *c)
{
    json_t *all = json_array();
    for (size_t i = 0; i < c->ran.len; i++) {
        const Ran *r = &c->ran.items[i];
        json_array_append_new(
            all,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:f, s:f, s:o, s:o, s:o, s:I}", "step",
                      json_text(r->name), "technique", json_text(r->technique), "subject",
                      json_text(r->subject), "reason", json_text(r->reason), "fed_by",
                      *r->fed_by ? json_text(r->fed_by) : json_null(), "status",
                      step_status_name(r->status), "now", r->now, "begin", r->begin, "seconds",
                      r->seconds, "why", json_text(r->why), "examined", json_text(r->examined),
                      "incomplete", json_text(r->incomplete), "findings", (json_int_t)r->findings));
    }
    return all;
}

static json_t *new_json(const Ranking *r)
{
    json_t *all = json_array();
    for (size_t i = 0; i < r->len; i++)
        if (r->items[i].is_new)
            json_array_append_new(all, json_text(r->items[i].best->fingerprint));
    return all;
}

static json_t *troubles_json(Check *c)
{
    json_t *all = json_array();
    for (size_t i = 0; i < c->troubles.len; i++)
        json_array_append_new(all,
                              json_pack("{s:o, s:o}", "what", json_text(c->troubles.items[i].what),
                                        "why", json_text(c->troubles.items[i].why)));
    return all;
}

static void add_json(Check *c, const Ranking *r)
{
    session_json(c->s, "builds", builds_json(c));
    session_json(c->s, "tests", c->tests_shown ? json_text(c->tests_shown) : json_null());
    session_json(c->s, "plan", plan_json(c));
    session_json(c->s, "ran", ran_json(c));
    session_json(c->s, "skipped", skipped_json(c));
    session_json(c->s, "troubles", troubles_json(c));
    session_json(c->s, "new", new_json(r));
    session_json(c->s, "troubles_ranked", json_integer((json_int_t)r->len));
}

/* ---- the screen */

typedef struct Screen {
    Check *c;
    Str *out;
    int lines;
    bool color;
    size_t width;              /* a file has no edge: whoever reads it wants whole paths */
} Screen;

/* One line, cut to the width. */
static void line(Screen *s, const char *code, const char *text)
{
    Str shown = { 0 };
    escape_terminal_z(&shown, text);
    size_t n = shown.len;
    if (n > s->width) {
        n = s->width - 3;
        while (n > 0 && ((unsigned char)shown.data[n] & 0xc0) == 0x80)
            n--;
    }
    if (s->color && code)
        str_addf(s->out, "\033[%sm", code);
    str_addn(s->out, str_c(&shown), n);
    str_add(s->out, n < shown.len ? "..." : "");
    str_add(s->out, s->color && code ? "\033[0m\n" : "\n");
    s->lines++;
    str_release(&shown);
}

static void summary_line(Screen *s, const Ranking *r)
{
    Check *c = s->c;
    char time[32];
    size_t real = r->len - r->by_evidence[EVIDENCE_STYLE], now = 0;
    Str text = { 0 };
    for (size_t i = 0; i < c->ran.len; i++)
        now += c->ran.items[i].now;
    str_addf(&text, "%s: ", path_base(session_root(c->s)));
    if (real)
        str_addf(&text,
                 "%zu finding%s, %zu new (%zu shown by a run, %zu elsewhere, %zu statistical)",
                 real, real == 1 ? "" : "s", r->nnew, r->by_evidence[EVIDENCE_RUN],
                 r->by_evidence[EVIDENCE_ELSEWHERE], r->by_evidence[EVIDENCE_STATISTICAL]);
    else
        str_add(&text, "no findings");
    if (r->by_evidence[EVIDENCE_STYLE])
        str_addf(&text, ", %zu notes", r->by_evidence[EVIDENCE_STYLE]);
    double seconds = clock_seconds() - c->begin;
    str_addf(&text, "; %zu step%s in %s", now, now == 1 ? "" : "s",
             duration_format(seconds < 1 ? seconds : (double)(long)seconds, time));
    if (c->ran.len > now)
        str_addf(&text, ", %zu kept", c->ran.len - now);
    line(s, real ? "1" : "1;32", str_c(&text));
    str_release(&text);
}

/* "[explore, confirm] shown by a run" */
static void finding_end(const Trouble *t, Str *out)
{
    str_addf(out, " [%s", t->best->technique);
    for (size_t i = 0; i < t->nothers; i++) {
        bool told = strcmp(t->others[i]->technique, t->best->technique) == 0;
        for (size_t k = 0; k < i && !told; k++)
            told = strcmp(t->others[i]->technique, t->others[k]->technique) == 0;
        if (!told)
            str_addf(out, ", %s", t->others[i]->technique);
    }
    str_addf(out, "] %s", evidence_name(t->best->evidence));
}

static void finding_line(Screen *s, const Trouble *t)
{
    const Finding *f = &t->best->finding;
    Str text = { 0 }, end = { 0 };
    finding_end(t, &end);
    str_add(&text, t->is_new ? "NEW " : "    ");
    if (f->where.file)
        str_addf(&text, f->where.line ? "%s:%d: " : "%s: ", f->where.file, f->where.line);
    str_add(&text, f->message);
    size_t most = end.len + 40 < s->width ? s->width - end.len : 40;
    if (text.len > most) {
        text.len = most - 3;
        while (text.len > 0 && ((unsigned char)text.data[text.len] & 0xc0) == 0x80)
            text.len--;
        text.data[text.len] = 0;
        str_add(&text, "...");
    }
    str_add(&text, str_c(&end));
    line(s, NULL, str_c(&text));
    str_release(&text);
    str_release(&end);
}

/* "arguments, explore (3), …": each technique with its steps. */
static void ran_line(Screen *s)
{
    Check *c = s->c;
    Map count = { 0 };
    Str text = { 0 };
    for (size_t i = 0; i < c->ran.len; i++)
        if (c->ran.items[i].status == STEP_DONE || c->ran.items[i].status == STEP_CUT) {
            void **slot = map_slot(&count, c->ran.items[i].technique);
            *slot = (char *)*slot + 1;
        }
    for (size_t i = 0; i < count.len; i++) {
        size_t n = (size_t)count.entries[i].value;
        str_addf(&text, "%s%s", i ? ", " : "ran: ", count.entries[i].key);
        if (n > 1)
            str_addf(&text, " (%zu)", n);
    }
    if (text.len)
        line(s, NULL, str_c(&text));
    map_release(&count);
    str_release(&text);
}

/* What searches covered: the most telling ones. */
static void covered_lines(Screen *s)
{
    size_t shown = 0;
    for (size_t i = 0; i < s->c->ran.len && shown < 3; i++) {
        const Ran *r = &s->c->ran.items[i];
        if (!strstr(r->examined, " of "))
            continue;
        char *text = xprintf("  %s: %s", r->name, r->examined);
        line(s, NULL, text);
        free(text);
        shown++;
    }
}

static void not_done_lines(Screen *s)
{
    Check *c = s->c;
    size_t failed = 0, told = 0;
    for (size_t i = 0; i < c->troubles.len && i < MOST_TROUBLES; i++) {
        char *text = xprintf("%s: %s", c->troubles.items[i].what, c->troubles.items[i].why);
        line(s, "33", text);
        free(text);
    }
    for (size_t i = 0; i < c->ran.len; i++) {
        const Ran *r = &c->ran.items[i];
        if (r->status == STEP_DONE || r->status == STEP_CUT)
            continue;
        failed++;
        if (told++ < 2) {
            char *text = xprintf("%s %s: %s", r->name, step_status_name(r->status), r->why);
            line(s, "33", text);
            free(text);
        }
    }
    if (failed > 2) {
        char *text = xprintf("%zu more steps failed (sundew check --json tells why)", failed - 2);
        line(s, NULL, text);
        free(text);
    }
    if (c->skipped.len) {
        char *text = xprintf("not done: %s: %s%s", c->skipped.items[0].what,
                             c->skipped.items[0].why, c->skipped.len > 1 ? "; and others" : "");
        line(s, NULL, text);
        free(text);
    }
    Str text = { 0 };
    Map seen = { 0 };
    for (size_t i = 0; i < c->plan.steps.len; i++)
        map_put(&seen, c->plan.steps.items[i]->technique, NULL);
    for (size_t i = 0; i < c->plan.skipped.len; i++)
        if (map_put(&seen, c->plan.skipped.items[i].technique, NULL))
            str_addf(&text, "%s%s",
                     text.len ? ", " : "do not fit: ", c->plan.skipped.items[i].technique);
    if (text.len) {
        str_add(&text, " (sundew check --plan tells why)");
        line(s, NULL, str_c(&text));
    }
    map_release(&seen);
    str_release(&text);
}

static void print_answer(Check *c, const Ranking *r)
{
    Str tail = { 0 };
    size_t width = isatty(STDOUT_FILENO) ? WIDTH : FILE_WIDTH;
    Screen below = { .c = c, .out = &tail, .color = session_color(c->s), .width = width };
    ran_line(&below);
    covered_lines(&below);
    not_done_lines(&below);
    char *where =
        xprintf("evidence, tests, time line: %s (or sundew report)", session_option(c->s, "html"));
    line(&below, NULL, where);
    free(where);
    Screen s = { .c = c, .out = session_out(c->s), .color = session_color(c->s), .width = width };
    summary_line(&s, r);
    assert(r->by_evidence[EVIDENCE_STYLE] <= r->len && !r->by_evidence[EVIDENCE_UNKNOWN]);
    size_t i = 0, real = r->len - r->by_evidence[EVIDENCE_STYLE], told = 0;
    for (; i < r->len && s.lines + below.lines < SCREEN - 2; i++)
        if (r->items[i].best->evidence < EVIDENCE_STYLE) {
            finding_line(&s, &r->items[i]);
            told++;
        }
    if (told < real) {
        char *text = xprintf("    and %zu more", real - told);
        line(&s, NULL, text);
        free(text);
    }
    str_addn(s.out, str_c(&tail), tail.len);
    str_release(&tail);
}

/* ---- together */

/* With --since: what is not of the change does not count. */
static FindingSet *of_the_change(Check *c, FindingSet *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->len; i++)
        if (change_touches(&c->change, c->project, &set->items[i]))
            set->items[n++] = set->items[i];
        else
            json_decref(set->items[i].finding.data);
    set->len = n;
    return set;
}

static void keep_known(Check *c, const FindingSet *set)
{
    char *commit = c->stopped || session_option(c->s, "only") ? xstrdup("")
                                                              : change_commit(session_root(c->s));
    state_set_known(&c->state, set, commit);
    free(commit);
}

/* Steps with the same reason share a line. */
static void say_steps(Check *c)
{
    Map said = { 0 };
    for (size_t i = 0; i < c->ran.len; i++) {
        const Ran *r = &c->ran.items[i];
        if (!*r->incomplete || r->status > STEP_CUT || !map_put(&said, r->incomplete, c))
            continue;
        size_t more = 0;
        for (size_t k = i + 1; k < c->ran.len; k++)
            more += c->ran.items[k].status <= STEP_CUT &&
                    strcmp(c->ran.items[k].incomplete, r->incomplete) == 0;
        char *others =
            more ? xprintf(" and %zu more step%s", more, more == 1 ? "" : "s") : xstrdup("");
        session_incomplete(c->s, "%s%s: %s", r->name, others, r->incomplete);
        free(others);
    }
    map_release(&said);
}

static void say_incomplete(Check *c)
{
    if (c->stopped)
        session_incomplete(c->s, "interrupted");
    if (c->skipped.len && !c->stopped)
        session_incomplete(c->s, "%zu step%s had no time left", c->skipped.len,
                           c->skipped.len == 1 ? "" : "s");
    size_t failed = 0;
    for (size_t i = 0; i < c->ran.len; i++)
        failed += c->ran.items[i].status > STEP_CUT;
    say_steps(c);
    if (failed)
        session_incomplete(c->s, "%zu step%s failed", failed, failed == 1 ? "" : "s");
    for (size_t i = 0; i < c->troubles.len; i++)
        session_incomplete(c->s, "%s: %s", c->troubles.items[i].what, c->troubles.items[i].why);
}

static bool is_bad(const Check *c, const Ranking *r)
{
    for (size_t i = 0; i < r->len; i++)
        if (r->items[i].best->evidence < EVIDENCE_STYLE && (!c->change.rev || r->items[i].is_new))
            return true;
    return false;
}

bool answer(Check *c, Err *err)
{
    FindingSet *set = store_read(session_store(c->s), NULL, NULL, err);
    if (!set)
        return false;
    if (c->change.rev)
        set = of_the_change(c, set);
    Map before = { 0 };
    if (c->change.rev)
        state_known_at(&c->state, c->change.base, &before);
    Ranking *r = ranking_new(set, c->change.rev ? &before : &c->state.known, evidence_of, c->s);
    say_incomplete(c);
    add_json(c, r);
    session_overview(c->s, overview_of(c));
    if (!session_option(c->s, "html")) {
        char *page = path_join(c->folder, "report.html");
        session_adopt(c->s, "html", page);
        free(page);
    }
    bool stream =
        session_flag(c->s, "json") || session_flag(c->s, "tap") || session_flag(c->s, "github");
    bool ok = session_write(c->s, set, err);
    if (ok && !stream) {
        str_reset(session_out(c->s));
        print_answer(c, r);
    }
    /* A check that could look at nothing must not pass for a good one. */
    bool nothing = !c->ran.len && c->troubles.len && !(c->change.rev && !c->change.ncode);
    session_status(c->s, is_bad(c, r) ? 1 : nothing ? 2 : 0);
    session_overview(c->s, NULL);
    if (!c->change.rev)
        keep_known(c, set);
    ok = ok && state_write(&c->state, err);
    ranking_free(r);
    map_release(&before);
    finding_set_free(set);
    return ok;
}
