#include "finding/output_int.h"
#include "base/file.h"
#include <assert.h>
#include <ctype.h>

Counts output_counts(const FindingSet *set)
{
    Counts c = { 0 };
    for (size_t i = 0; i < set->len; i++) {
        const StoredFinding *f = &set->items[i];
        if (f->suppressed)
            c.suppressed++;
        else if (f->in_baseline)
            c.baseline++;
        else
            c.counting++, c.level[f->finding.level]++;
    }
    return c;
}

static void add_count(Str *out, const char *before, size_t n, const char *what)
{
    str_addf(out, "%s%zu %s%s", before, n, what, n == 1 ? "" : "s");
}

void output_run_name(const StoredRun *r, Str *out)
{
    size_t n = strlen(r->technique);
    if (!str_starts(r->scope, r->technique) || r->scope[n] != ' ')
        str_addf(out, "%s on ", r->technique);
    str_add(out, r->scope);
}

void output_summary(const FindingSet *set, Str *out)
{
    Counts c = output_counts(set);
    if (c.counting == 0)
        str_add(out, "no findings");
    else
        add_count(out, "", c.counting, "finding");
    const char *before = " (";
    for (int l = 0; l < 3; l++)
        if (c.level[l]) {
            add_count(out, before, c.level[l], level_name((Level)l));
            before = ", ";
        }
    if (c.counting)
        str_addc(out, ')');
    if (c.suppressed)
        str_addf(out, ", %zu suppressed", c.suppressed);
    if (c.baseline)
        str_addf(out, ", %zu in the baseline", c.baseline);
}

bool output_shows(const OutputOptions *o, const StoredFinding *f)
{
    return o->all || finding_counts(f);
}

/* Unless it was said already, perhaps as a part of something longer. */
static void add_once(Strings *out, const char *s)
{
    for (size_t i = 0; i < out->len; i++)
        if (strstr(out->items[i], s))
            return;
    strings_add(out, s);
}

void output_reasons(const FindingSet *set, const OutputOptions *o, Strings *out)
{
    if (o->incomplete)
        add_once(out, o->incomplete);
    for (size_t i = 0; i < set->nruns; i++)
        if (set->runs[i].incomplete)
            add_once(out, set->runs[i].incomplete);
}

const Rule *output_rule(const OutputOptions *o, const char *id)
{
    for (const Rule *const *r = o->rules; r && *r; r++)
        if (strcmp((*r)->id, id) == 0)
            return *r;
    return NULL;
}

char *output_rule_page(const OutputOptions *o, const char *id)
{
    if (!o->share)
        return NULL;
    char *name = xprintf("%s.md", id);
    for (char *p = name; *p; p++)
        if (*p == '/')
            *p = '-';
    char *safe = path_safe_name(name);
    char *path = xprintf("%s/rules/%s", o->share, safe);
    free(name);
    free(safe);
    if (file_is_regular(path))
        return path;
    free(path);
    return NULL;
}

void output_place(const Location *at, Str *out)
{
    str_add(out, at->file ? at->file : "-");
    if (at->line)
        str_addf(out, ":%d", at->line);
    if (at->line && at->column)
        str_addf(out, ":%d", at->column);
}

const char *output_detail(const Finding *f)
{
    return f->nsteps && !f->steps[0].at.file ? f->steps[0].text : NULL;
}

const StoredFinding **output_by_urgency(const FindingSet *set)
{
    const StoredFinding **all = xcalloc(set->len ? set->len : 1, sizeof *all);
    size_t n = 0;
    for (int counting = 1; counting >= 0; counting--)
        for (int evidence = EVIDENCE_UNKNOWN; evidence <= EVIDENCE_STYLE; evidence++)
            for (int level = LEVEL_ERROR; level <= LEVEL_NOTE; level++)
                for (size_t i = 0; i < set->len; i++)
                    if (finding_counts(&set->items[i]) == counting &&
                        (int)set->items[i].evidence == evidence &&
                        (int)set->items[i].finding.level == level)
                        all[n++] = &set->items[i];
    assert(n == set->len);
    return all;
}

static size_t word_end(const char *text, size_t len, size_t at)
{
    size_t end = at;
    while (end < len && (isalnum((unsigned char)text[end]) || text[end] == '_' ||
                         (unsigned char)text[end] >= 0x80))
        end++;
    return end > at ? end : at + 1;
}

bool output_marked(const Location *at, int line, const char *text, size_t len, size_t *from,
                   size_t *to)
{
    int last = at->end_line > at->line ? at->end_line : at->line;
    if (line < at->line || line > last || at->line == 0 || at->column == 0)
        return false;
    size_t first = 0;
    while (first < len && isspace((unsigned char)text[first]))
        first++;
    *from = line == at->line ? (size_t)at->column - 1 : first;
    if (line < last)
        *to = len;
    else if (at->end_column)
        *to = (size_t)at->end_column - 1;
    else
        *to = word_end(text, len, *from);
    *to = *to < len ? *to : len;
    return *from < *to;
}
