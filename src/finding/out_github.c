/*
 * Findings as GitHub workflow commands, which become annotations. Only ten of
 * each kind are shown for a step, so the most urgent come first, the rest is
 * counted, and the last line sums up.
 */
#include "base/escape.h"
#include "base/units.h"
#include "finding/output_int.h"

enum { MOST = 10 };

static const char *const kinds[] = { "error", "warning", "notice" };

static void property(Str *out, const char *before, const char *name, const char *value)
{
    str_addf(out, "%s%s=", before, name);
    escape_annotation(out, value, true);
}

static void annotation(const StoredFinding *s, Str *out)
{
    const Finding *f = &s->finding;
    str_addf(out, "::%s", kinds[f->level]);
    const char *before = " ";
    if (f->where.file) {
        property(out, before, "file", f->where.file);
        before = ",";
        if (f->where.line)
            str_addf(out, ",line=%d", f->where.line);
        if (f->where.line && f->where.column)
            str_addf(out, ",col=%d", f->where.column);
        if (f->where.line && f->where.end_line > f->where.line)
            str_addf(out, ",endLine=%d", f->where.end_line);
    }
    property(out, before, "title", f->rule);
    str_add(out, "::");
    escape_annotation(out, s->technique, false);
    str_add(out, ": ");
    escape_annotation(out, f->message, false);
    if (output_detail(f)) {
        str_add(out, ": ");
        escape_annotation(out, output_detail(f), false);
    }
    str_addc(out, '\n');
}

void output_github(const FindingSet *set, const OutputOptions *o, Str *out)
{
    size_t shown[3] = { 0 }, more = 0;
    const StoredFinding **order = output_by_urgency(set);
    for (size_t i = 0; i < set->len; i++) {
        if (!output_shows(o, order[i]))
            continue;
        if (shown[order[i]->finding.level] == MOST) {
            more++;
            continue;
        }
        shown[order[i]->finding.level]++;
        annotation(order[i], out);
    }
    free(order);
    Strings reasons = { 0 };
    output_reasons(set, o, &reasons);
    for (size_t i = 0; i < reasons.len; i++) {
        str_add(out, "::warning title=Sundew::incomplete: ");
        escape_annotation(out, reasons.items[i], false);
        str_addc(out, '\n');
    }
    str_add(out, "Sundew: ");
    output_summary(set, out);
    if (more)
        str_addf(out, "; %zu more than annotations can show", more);
    str_add(out, reasons.len ? "; incomplete\n" : "\n");
    strings_release(&reasons);
}

/* ---- the summary of a step */

/* A cell of a Markdown table: text, no markup, one line. */
static void cell(Str *out, const char *text)
{
    Str shown = { 0 };
    escape_html_z(&shown, text);
    for (const char *p = str_c(&shown); *p; p++) {
        if (strchr("\\`*_[]|~#", *p))
            str_addc(out, '\\');
        str_addc(out, *p == '\n' || *p == '\r' ? ' ' : *p);
    }
    str_release(&shown);
}

static void reason(Str *out, const char *begin, const char *what, const char *why)
{
    str_add(out, begin);
    cell(out, what);
    str_add(out, ": ");
    cell(out, why);
    str_addc(out, '\n');
}

static void summary_row(const StoredFinding *s, Str *out)
{
    const Finding *f = &s->finding;
    Str place = { 0 };
    output_place(&f->where, &place);
    str_addf(out, "| %s | ", level_name(f->level));
    cell(out, str_c(&place));
    str_add(out, " | ");
    cell(out, f->rule);
    str_add(out, " | ");
    cell(out, f->message);
    str_add(out, " |\n");
    str_release(&place);
}

/* What ran, and what was not done, of a command that has run others. */
static void summary_overview(const Overview *v, Str *out)
{
    char time[32];
    str_add(out, "\n| step | time | findings | result |\n|---|---|---|---|\n");
    for (size_t i = 0; i < v->nsteps; i++) {
        str_add(out, "| ");
        cell(out, v->steps[i].name);
        str_addf(out, " | %s | %zu | ",
                 v->steps[i].ran ? duration_format(v->steps[i].seconds, time) : "kept",
                 v->steps[i].findings);
        cell(out, v->steps[i].result);
        str_add(out, " |\n");
    }
    str_add(out, "\n");
    for (size_t i = 0; i < v->ntroubles; i++)
        reason(out, "- ", v->troubles[i].what, v->troubles[i].why);
    for (size_t i = 0; i < v->nskipped; i++)
        reason(out, "- not done: ", v->skipped[i].what, v->skipped[i].why);
}

void output_step_summary(const FindingSet *set, const OutputOptions *o, Str *out)
{
    enum { ROWS = 200 };
    size_t rows = 0, more = 0;
    const StoredFinding **order = output_by_urgency(set);
    Strings reasons = { 0 };
    str_add(out, "### Sundew: ");
    output_summary(set, out);
    str_add(out, "\n\n");
    output_reasons(set, o, &reasons);
    for (size_t i = 0; i < reasons.len; i++) {
        str_add(out, "- incomplete: ");
        cell(out, reasons.items[i]);
        str_addc(out, '\n');
    }
    for (size_t i = 0; i < set->nruns && !o->overview; i++)
        if (set->runs[i].examined) {
            str_add(out, "- ");
            cell(out, set->runs[i].technique);
            str_add(out, " examined ");
            cell(out, set->runs[i].examined);
            str_addc(out, '\n');
        }
    for (size_t i = 0; i < set->len; i++) {
        if (!output_shows(o, order[i]))
            continue;
        if (rows == 0)
            str_add(out, "\n| level | place | rule | finding |\n|---|---|---|---|\n");
        if (rows++ < ROWS)
            summary_row(order[i], out);
        else
            more++;
    }
    if (more)
        str_addf(out, "\n%zu more findings.\n", more);
    if (o->overview)
        summary_overview(o->overview, out);
    strings_release(&reasons);
    free(order);
}
