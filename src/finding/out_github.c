/*
 * Findings as GitHub workflow commands, which become annotations. Only ten of
 * each kind are shown for a step, so the most urgent come first, the rest is
 * counted, and the last line sums up.
 */
#include "base/escape.h"
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
