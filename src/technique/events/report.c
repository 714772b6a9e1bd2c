/* What a search found, as findings, a table, JSON and a picture. */
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "session/failure_finding.h"
#include "technique/events/events_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN_STATES = 60 };

/* ---- the picture */

/* States are boxes, by hash; an arrow is an event that led from one to another. */
static char *draw(const EventsResult *r)
{
    Map states = { 0 }, arrows = { 0 };
    Str out = { 0 };
    str_add(&out, "digraph states {\n  rankdir=LR;\n  node [shape=box];\n");
    for (size_t i = 0; i < r->ntraces; i++) {
        const EventsTrace *t = &r->traces[i];
        if (t->end == END_LOST || (t->end == END_PROGRAM && i))
            continue;
        if (!map_getn(&states, &t->hash, sizeof t->hash))
            map_putn(&states, &t->hash, sizeof t->hash, (void *)(uintptr_t)(states.len + 1));
        if (!i)
            continue;
        uint64_t ends[2] = { r->traces[t->parent].hash, t->hash };
        if (ends[0] == ends[1] || map_getn(&arrows, ends, sizeof ends))
            continue;
        map_putn(&arrows, ends, sizeof ends, r->traces);
        Str label = { 0 }, safe = { 0 };
        layout_print(r->layout, t->bytes + (t->depth - 1) * r->layout->size, &label);
        escape_dot(&safe, str_c(&label));
        str_addf(&out, "  s%zu -> s%zu [label=\"%s\"];\n",
                 (size_t)(uintptr_t)map_getn(&states, &ends[0], sizeof ends[0]),
                 (size_t)(uintptr_t)map_getn(&states, &ends[1], sizeof ends[1]), str_c(&safe));
        str_release(&label);
        str_release(&safe);
    }
    str_add(&out, "  s1 [label=start];\n}\n");
    bool small = states.len <= DRAWN_STATES;
    map_release(&states);
    map_release(&arrows);
    char *text = small ? xstrdup(str_c(&out)) : NULL;
    str_release(&out);
    return text;
}

/* ---- findings */

static const char *rerun_of(Arena *a, const Asked *x, size_t number)
{
    Str s = { 0 };
    char *folder = xprintf("%s/%zu", x->out, number);
    str_add(&s, "sundew -w ");
    escape_shell(&s, workspace_dir(session_workspace(x->s)));
    str_add(&s, " events --replay ");
    escape_shell(&s, folder);
    const char *text = arena_strdup(a, str_c(&s));
    str_release(&s);
    free(folder);
    return text;
}

static json_t *events_json(const EventsResult *r, const EventsFailure *f)
{
    json_t *all = json_array();
    for (unsigned i = 0; i < f->nevents; i++) {
        Str one = { 0 };
        layout_print(r->layout, f->bytes + i * r->layout->size, &one);
        json_array_append_new(all, json_textn(str_c(&one), one.len));
        str_release(&one);
    }
    return all;
}

/* The sequence in one line; long ones are cut. */
static const char *sequence_text(Arena *a, const EventsResult *r, const EventsFailure *f)
{
    Str s = { 0 };
    for (unsigned i = 0; i < f->nevents && s.len < 160; i++) {
        str_add(&s, i ? ", " : "");
        layout_print(r->layout, f->bytes + i * r->layout->size, &s);
    }
    const char *text =
        arena_printf(a, "after %u event%s: %s%s", f->nevents, f->nevents == 1 ? "" : "s", str_c(&s),
                     s.len >= 160 ? " …" : "");
    str_release(&s);
    return text;
}

static bool report_failure(Asked *x, const EventsResult *r, const EventsFailure *f, size_t number,
                           json_t *rows, Err *err)
{
    Arena a = { 0 };
    Str events = { 0 };
    bool hang = f->failure.kind == FAILURE_CPU_LIMIT;
    const Function *loop = x->plan.loop;
    Location handler = { 0 };
    if (hang && loop)                      /* who hangs is not known; who handles the event is */
        handler = (Location){ .file = loop->file, .line = (int)loop->line, .function = loop->name };
    Finding out =
        failure_finding(&a, &(FailureReport){ .failure = &f->failure,
                                              .rule = hang ? "events/hang" : "events/failure",
                                              .level = LEVEL_ERROR,
                                              .where = handler,
                                              .more = sequence_text(&a, r, f),
                                              .program = program_captured(x->program)->path });
    kept_events_text(r, f->bytes, f->nevents, &events);
    Attachment att = { "events.txt", "input", str_c(&events), events.len };
    out.attachments = &att;
    out.nattachments = 1;
    out.rerun = rerun_of(&a, x, number);
    out.picture = x->graph;
    if (!f->again)
        out.verdict = VERDICT_LIKELY;
    json_t *row = json_pack("{s:s,s:o,s:o,s:i,s:i,s:b}", "kind", failure_kind_name(f->failure.kind),
                            "events", events_json(r, f), "file", json_text(out.where.file), "line",
                            out.where.line, "seen", (int)f->seen, "again", f->again);
    out.data = row;
    json_array_append(rows, row);
    bool ok = session_report(x->s, &out, err);
    json_decref(row);
    str_release(&events);
    arena_release(&a);
    return ok;
}

/* ---- figures */

static json_t *levels_json(const EventsResult *r)
{
    json_t *all = json_array();
    for (size_t i = 0; i < r->nlevels; i++) {
        const EventsLevel *l = &r->levels[i];
        json_t *by = json_object();
        for (unsigned k = END_READ_ONLY; k < END_REASONS; k++)
            if (l->ends[k])
                json_object_set_new(by, trace_end_name((TraceEnd)k),
                                    json_integer((json_int_t)l->ends[k]));
        json_array_append_new(all, json_pack("{s:i,s:I,s:I,s:I,s:I,s:o}", "depth", (int)i + 1,
                                             "explored", (json_int_t)l->explored, "pruned",
                                             (json_int_t)(l->explored - l->extended), "extended",
                                             (json_int_t)l->extended, "left", (json_int_t)l->left,
                                             "pruned_by", by));
    }
    return all;
}

static json_t *premises_json(const EventsResult *r)
{
    json_t *all = json_array();
    for (size_t i = 0; i < r->npremises; i++)
        json_array_append_new(all,
                              json_pack("{s:s,s:b,s:o}", "name", r->premises[i].name, "held",
                                        r->premises[i].held, "why", json_text(r->premises[i].why)));
    return all;
}

static json_t *branches_json(const EventsResult *r)
{
    json_t *edges = json_array(), *ignored = json_array();
    for (size_t i = 0; i < r->branches; i++)
        if (r->edges[i])
            json_array_append_new(edges, json_integer((json_int_t)i));
    json_t *all = json_pack("{s:I,s:I,s:o}", "covered", (json_int_t)r->covered, "all",
                            (json_int_t)r->branches, "edges", edges);
    json_decref(ignored);
    return all;
}

static void give_json(const Asked *x, const EventsResult *r, json_t *failures)
{
    json_t *ignored = json_array();
    for (size_t i = 0; i < r->nignored; i++)
        json_array_append_new(ignored, json_text(r->ignored[i]));
    session_examined(x->s, "%llu sequences of events, %zu of %zu branches",
                     (unsigned long long)r->executions, (size_t)r->covered, (size_t)r->branches);
    session_json(x->s, "levels", levels_json(r));
    session_json(x->s, "branches", branches_json(r));
    session_json(x->s, "failures", json_incref(failures));
    session_json(x->s, "premises", premises_json(r));
    session_json(x->s, "never_read", ignored);
    session_json(x->s, "search",
                 json_pack("{s:I,s:I,s:I,s:I,s:s}", "executions", (json_int_t)r->executions,
                           "events", (json_int_t)r->handled, "questions",
                           (json_int_t)r->solver.queries, "restarts", (json_int_t)r->restarts,
                           "ended", r->ended));
}

static void table(const EventsResult *r, Str *out)
{
    str_add(out, "events  explored  extended  pruned: read-only  state-hash  independent  ended\n");
    for (size_t i = 0; i < r->nlevels; i++) {
        const EventsLevel *l = &r->levels[i];
        str_addf(out,
                 "%6zu  %8" PRIu64 "  %8" PRIu64 "  %17" PRIu64 "  %10" PRIu64 "  %11" PRIu64
                 "  %5" PRIu64 "\n",
                 i + 1, l->explored, l->extended, l->ends[END_READ_ONLY], l->ends[END_HASH],
                 l->ends[END_INDEPENDENT], l->ends[END_PROGRAM]);
    }
}

static void tell_ignored(const EventsResult *r, Str *out)
{
    if (!r->nignored)
        return;
    str_add(out, "No event reads these, so they are not part of the state: ");
    for (size_t i = 0; i < r->nignored && i < 12; i++) {
        str_add(out, i ? ", " : "");
        escape_terminal_z(out, r->ignored[i]);
    }
    str_addf(out, "%s.\n", r->nignored > 12 ? " …" : "");
}

/* What "all" means. */
static void guarantee(const Asked *x, const EventsResult *r, Str *out)
{
    bool held = true;
    for (size_t i = 0; i < r->npremises; i++)
        held = held && r->premises[i].held;
    if (held && r->nlevels < x->plan.depth)
        str_addf(out, "Nothing is left: no sequence of any length reaches another branch.\n");
    else if (held)
        str_addf(out, "Every branch that at most %u events can reach was reached.\n",
                 x->plan.depth);
    else
        str_addf(out, "Branches that %u events can reach may be missing:\n", x->plan.depth);
    for (size_t i = 0; i < r->npremises; i++)
        if (!r->premises[i].held) {
            str_addf(out, "  %s: ", r->premises[i].name);
            escape_terminal_z(out, r->premises[i].why);
            str_add(out, "\n");
        }
}

static void tell(const Asked *x, const EventsResult *r)
{
    Str *out = session_out(x->s);
    if (session_flag(x->s, "json"))
        return;
    table(r, out);
    str_addf(out, "%zu of %zu branches in %" PRIu64 " runs.\n", r->covered, r->branches,
             r->executions);
    tell_ignored(r, out);
    guarantee(x, r, out);
}

bool events_report(Asked *x, const EventsResult *r, Err *err)
{
    json_t *failures = json_array();
    x->graph = draw(r);
    bool ok = kept_tests(x, r, err) && kept_traces(x, r, err);
    for (size_t i = 0; ok && i < r->nfailures; i++)
        ok = kept_write(x, r, &r->failures[i], i + 1, err) &&
             report_failure(x, r, &r->failures[i], i + 1, failures, err);
    if (ok && x->graph) {
        char *path = path_join(x->out, "states.dot");
        ok = file_write(path, x->graph, strlen(x->graph), err);
        free(path);
    }
    if (ok) {
        give_json(x, r, failures);
        tell(x, r);
        for (size_t i = 0; i < r->npremises; i++)
            if (!r->premises[i].held && !strcmp(r->premises[i].name, "complete") &&
                !session_was_asked_to_stop())
                session_incomplete(x->s, "%s", r->premises[i].why);
    }
    json_decref(failures);
    return ok;
}
