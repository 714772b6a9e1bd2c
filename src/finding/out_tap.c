/* Findings as TAP 13: each is a test that failed; a note is one that passed; one that
 * does not count is skipped; a technique's run without findings is a test that passed. */
#include "base/escape.h"
#include "base/json.h"
#include "finding/output_int.h"

/* JSON strings are YAML strings. */
static void field(Str *out, const char *name, const char *value)
{
    json_t *text = json_text(value);
    str_addf(out, "  %s: ", name);
    json_print(text, out);
    json_decref(text);
}

static void finding(const StoredFinding *s, size_t number, Str *out)
{
    const Finding *f = &s->finding;
    Str place = { 0 };
    output_place(&f->where, &place);
    str_addf(out, "%sok %zu - ", finding_fails(s) ? "not " : "", number);
    escape_tap(out, str_c(&place));
    str_add(out, ": ");
    escape_tap(out, s->technique);
    str_add(out, ": ");
    escape_tap(out, f->message);
    str_release(&place);
    if (!finding_counts(s)) {
        str_add(out, " # SKIP ");
        escape_tap(out, s->suppressed ? s->suppressed : "in the baseline");
        str_addc(out, '\n');
        return;
    }
    str_add(out, "\n  ---\n");
    field(out, "rule", f->rule);
    field(out, "severity", level_name(f->level));
    field(out, "verdict", verdict_name(f->verdict));
    field(out, "fingerprint", s->fingerprint);
    if (f->rerun)
        field(out, "rerun", f->rerun);
    str_add(out, "  ...\n");
}

static bool found_something(const FindingSet *set, const OutputOptions *o, const char *technique)
{
    for (size_t i = 0; i < set->len; i++)
        if (strcmp(set->items[i].technique, technique) == 0 && output_shows(o, &set->items[i]))
            return true;
    return false;
}

static void run(const StoredRun *r, size_t number, Str *out)
{
    str_addf(out, "%sok %zu - ", r->incomplete ? "not " : "", number);
    Str name = { 0 };
    output_run_name(r, &name);
    escape_tap(out, str_c(&name));
    str_release(&name);
    str_add(out, ": ");
    escape_tap(out, r->incomplete ? r->incomplete : "no findings");
    str_addc(out, '\n');
}

void output_tap(const FindingSet *set, const OutputOptions *o, Str *out)
{
    size_t n = 0;
    Str tests = { 0 };
    for (size_t i = 0; i < set->len; i++)
        if (output_shows(o, &set->items[i]))
            finding(&set->items[i], ++n, &tests);
    for (size_t i = 0; i < set->nruns; i++)
        if (set->runs[i].incomplete || !found_something(set, o, set->runs[i].technique))
            run(&set->runs[i], ++n, &tests);
    str_addf(out, "TAP version 13\n1..%zu\n", n);
    str_addn(out, str_c(&tests), tests.len);
    str_release(&tests);
}
