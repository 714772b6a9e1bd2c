/* Findings as JUnit XML: a suite for each run's technique, a failed test for
 * each finding. A run without findings is a test that passed, so that no
 * reader takes an empty file for a broken one. */
#include "base/escape.h"
#include "finding/output_int.h"

static void attribute(Str *out, const char *name, const char *value)
{
    str_addf(out, " %s=\"", name);
    escape_xml_z(out, value);
    str_addc(out, '"');
}

static void body(const Finding *f, Str *out)
{
    for (size_t i = 0; i < f->nsteps; i++) {
        Str place = { 0 };
        output_place(&f->steps[i].at, &place);
        str_addf(out, "%zu. ", i + 1);
        escape_xml(out, str_c(&place), place.len);
        str_add(out, ": ");
        escape_xml_z(out, f->steps[i].text);
        str_addc(out, '\n');
        str_release(&place);
    }
    if (f->rerun) {
        str_add(out, "rerun: ");
        escape_xml_z(out, f->rerun);
        str_addc(out, '\n');
    }
}

static void test(const StoredFinding *s, Str *out)
{
    const Finding *f = &s->finding;
    Str name = { 0 };
    output_place(&f->where, &name);
    str_addf(&name, ": %s", f->message);
    str_add(out, "    <testcase");
    attribute(out, "classname", f->rule);
    attribute(out, "name", str_c(&name));
    if (f->where.file)
        attribute(out, "file", f->where.file);
    str_addf(out, " line=\"%d\">\n      ", f->where.line);
    str_release(&name);
    if (!finding_counts(s)) {
        str_add(out, "<skipped");
        attribute(out, "message", s->suppressed ? s->suppressed : "in the baseline");
        str_add(out, "/>\n    </testcase>\n");
        return;
    }
    /* a note is a remark: the test passes, and says it */
    str_add(out, finding_fails(s) ? "<failure" : "<system-out>");
    if (finding_fails(s)) {
        attribute(out, "type", level_name(f->level));
        attribute(out, "message", f->message);
        str_addc(out, '>');
    } else {
        str_add(out, "note: ");
        escape_xml_z(out, f->message);
        str_addc(out, '\n');
    }
    body(f, out);
    str_add(out, finding_fails(s) ? "</failure>\n    </testcase>\n"
                                  : "</system-out>\n    </testcase>\n");
}

typedef struct Suite {
    size_t tests, failures, skipped;
} Suite;

static Suite count(const FindingSet *set, const OutputOptions *o, const char *technique)
{
    Suite c = { 0 };
    for (size_t i = 0; i < set->len; i++) {
        const StoredFinding *f = &set->items[i];
        if (strcmp(f->technique, technique) != 0 || !output_shows(o, f))
            continue;
        c.tests++;
        c.failures += finding_fails(f);
        c.skipped += !finding_counts(f);
    }
    return c;
}

static void suite(const FindingSet *set, const OutputOptions *o, const char *technique, Str *out)
{
    Suite c = count(set, o, technique);
    const char *incomplete = NULL;
    for (size_t i = 0; i < set->nruns; i++)
        if (strcmp(set->runs[i].technique, technique) == 0 && set->runs[i].incomplete)
            incomplete = set->runs[i].incomplete;
    bool extra = incomplete || c.tests == 0;
    str_add(out, "  <testsuite");
    attribute(out, "name", technique);
    str_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\">\n",
             c.tests + extra, c.failures, incomplete != NULL, c.skipped);
    for (size_t i = 0; i < set->len; i++)
        if (strcmp(set->items[i].technique, technique) == 0 && output_shows(o, &set->items[i]))
            test(&set->items[i], out);
    if (extra) {
        str_add(out, "    <testcase");
        attribute(out, "classname", technique);
        attribute(out, "name", incomplete ? "the run is complete" : "no findings");
        str_add(out, ">");
        if (incomplete) {
            str_add(out, "<error");
            attribute(out, "message", incomplete);
            str_add(out, "/>");
        }
        str_add(out, "</testcase>\n");
    }
    str_add(out, "  </testsuite>\n");
}

void output_junit(const FindingSet *set, const OutputOptions *o, Str *out)
{
    str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuites name=\"sundew\">\n");
    for (size_t i = 0; i < set->nruns; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= strcmp(set->runs[k].technique, set->runs[i].technique) == 0;
        if (!again)
            suite(set, o, set->runs[i].technique, out);
    }
    str_add(out, "</testsuites>\n");
}
