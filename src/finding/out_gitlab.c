/* Findings as GitLab's code quality report: a list of objects, see docs/findings.md. */
#include "base/json.h"
#include "finding/output_int.h"

/* GitLab knows info, minor, major, critical and blocker. */
static const char *severity(const Finding *f)
{
    if (f->level == LEVEL_NOTE)
        return "info";
    if (f->level == LEVEL_WARNING)
        return f->verdict == VERDICT_SHOWN ? "major" : "minor";
    return f->verdict == VERDICT_SHOWN ? "critical" : "major";
}

void output_gitlab(const FindingSet *set, const OutputOptions *o, Str *out)
{
    json_t *all = json_array();
    for (size_t i = 0; i < set->len; i++) {
        const StoredFinding *s = &set->items[i];
        const Finding *f = &s->finding;
        if (!output_shows(o, s) || s->same_as)
            continue;
        json_array_append_new(all,
                              json_pack("{s:o, s:o, s:s, s:s, s:{s:o, s:{s:i}}}", "description",
                                        json_text(f->message), "check_name", json_text(f->rule),
                                        "fingerprint", s->fingerprint, "severity", severity(f),
                                        "location", "path",
                                        json_text(f->where.file ? f->where.file : "."), "lines",
                                        "begin", f->where.line > 0 ? f->where.line : 1));
    }
    json_print(all, out);
    json_decref(all);
}
