/*
 * Findings as SARIF 2.1.0, within what GitHub takes: one run, at most 25,000
 * results (the most urgent ones), paths relative to the repository. What our
 * fields become is listed in docs/findings.md.
 */
#include "base/base64.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "finding/output_int.h"

enum { MOST_RESULTS = 25000, MOST_ATTACHED = 64 << 10 };

#define ROOT_ID "%SRCROOT%"

typedef struct Sarif {
    const FindingSet *set;
    const OutputOptions *o;
    Sources *sources;
    Map rules;                 /* id to index + 1 */
    Map attached;              /* name and content to index + 1 in artifacts */
    json_t *rule_list, *artifacts;
} Sarif;

static void put(json_t *o, const char *key, json_t *value) { json_object_set_new(o, key, value); }

static void add(json_t *a, json_t *value) { json_array_append_new(a, value); }

/* {"text": …}. "](" would make a link out of what a program says. */
static json_t *message(const char *s)
{
    Str safe = { 0 };
    for (; *s; s++) {
        str_addc(&safe, *s);
        if (s[0] == ']' && s[1] == '(')
            str_addc(&safe, ' ');
    }
    json_t *o = json_object();
    put(o, "text", json_textn(str_c(&safe), safe.len));
    str_release(&safe);
    return o;
}

/* ---- places */

static json_t *file_uri(const char *path)
{
    Str uri = { 0 };
    str_add(&uri, "file://");
    escape_uri(&uri, path);
    json_t *v = json_textn(str_c(&uri), uri.len);
    str_release(&uri);
    return v;
}

static json_t *artifact_location(const char *file)
{
    json_t *o = json_object();
    if (*file == '/') {
        put(o, "uri", file_uri(file));
        return o;
    }
    Str uri = { 0 };
    escape_uri(&uri, file);
    put(o, "uri", json_textn(str_c(&uri), uri.len));
    put(o, "uriBaseId", json_text(ROOT_ID));
    str_release(&uri);
    return o;
}

/* Our columns count bytes, SARIF's here count characters. */
static int column_of(Sarif *s, const char *file, int line, int column)
{
    size_t len;
    const char *text = source_line(sources_get(s->sources, file), line, &len);
    int n = 1;
    size_t at = 0, end = (size_t)column - 1;
    while (text && at < end && at < len) {
        unsigned cp;
        size_t step = utf8_decode(text + at, len - at, &cp);
        at += step ? step : 1;
        n++;
    }
    return at < end ? n + (int)(end - at) : n;
}

static json_t *region(Sarif *s, const Location *at)
{
    json_t *o = json_object();
    int last = at->end_line > at->line ? at->end_line : at->line;
    put(o, "startLine", json_integer(at->line));
    if (at->column == 0)
        return o;
    int from = column_of(s, at->file, at->line, at->column);
    put(o, "startColumn", json_integer(from));
    if (at->end_column == 0)
        return o;
    int to = column_of(s, at->file, last, at->end_column);
    put(o, "endLine", json_integer(last));
    put(o, "endColumn", json_integer(last == at->line && to < from ? from : to));
    return o;
}

static json_t *physical(Sarif *s, const Location *at)
{
    json_t *o = json_object();
    put(o, "artifactLocation", artifact_location(at->file));
    if (at->line)
        put(o, "region", region(s, at));
    return o;
}

static json_t *location(Sarif *s, const Location *at, const char *text)
{
    json_t *o = json_object();
    if (at->file)
        put(o, "physicalLocation", physical(s, at));
    if (at->function) {
        json_t *logical = json_object(), *list = json_array();
        put(logical, "name", json_text(at->function));
        put(logical, "kind", json_text("function"));
        add(list, logical);
        put(o, "logicalLocations", list);
    }
    if (text)
        put(o, "message", message(text));
    return o;
}

/* ---- rules */

static json_t *page_url(const char *folder, const char *page)
{
    const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
    char *url = xprintf("%s%s%s", folder, slash, path_base(page));
    json_t *text = json_text(url);
    free(url);
    return text;
}

static json_t *rule_help(Sarif *s, const char *id, const char *summary, json_t *rule)
{
    Str text = { 0 };
    char *page = output_rule_page(s->o, id);
    json_t *help = json_object();
    if (page && file_read(page, &text, NULL)) {
        /* a file of this machine would be of no use to readers elsewhere */
        if (s->o->docs_url && *s->o->docs_url)
            put(rule, "helpUri", page_url(s->o->docs_url, page));
        put(help, "markdown", json_textn(str_c(&text), text.len));
    } else
        str_add(&text, summary);
    put(help, "text", json_textn(str_c(&text), text.len));
    str_release(&text);
    free(page);
    return help;
}

static void add_rule(Sarif *s, const char *id, const char *summary, Level level)
{
    if (map_has(&s->rules, id))
        return;
    json_t *o = json_object(), *usual = json_object(), *more = json_object();
    json_t *tags = json_array();
    size_t n = strcspn(id, "/");
    put(o, "id", json_text(id));
    put(o, "name", json_text(id[n] ? id + n + 1 : id));
    put(o, "shortDescription", message(summary));
    put(o, "fullDescription", message(summary));
    put(o, "help", rule_help(s, id, summary, o));
    put(usual, "level", json_text(level_name(level)));
    put(o, "defaultConfiguration", usual);
    add(tags, json_textn(id, n));
    put(more, "tags", tags);
    put(o, "properties", more);
    add(s->rule_list, o);
    map_put(&s->rules, id, (void *)json_array_size(s->rule_list));
}

static void add_rules(Sarif *s)
{
    for (const Rule *const *r = s->o->rules; r && *r; r++)
        add_rule(s, (*r)->id, (*r)->summary, (*r)->level);
    for (size_t i = 0; i < s->set->len; i++) {
        const Finding *f = &s->set->items[i].finding;
        add_rule(s, f->rule, f->rule, f->level);
    }
}

/* ---- the parts of a result */

static json_t *code_flows(Sarif *s, const Finding *f)
{
    json_t *locations = json_array(), *thread = json_object();
    json_t *threads = json_array(), *flow = json_object(), *flows = json_array();
    for (size_t i = 0; i < f->nsteps; i++) {
        json_t *o = json_object();
        put(o, "location", location(s, &f->steps[i].at, f->steps[i].text));
        add(locations, o);
    }
    put(thread, "locations", locations);
    add(threads, thread);
    put(flow, "threadFlows", threads);
    add(flows, flow);
    return flows;
}

static json_t *related(Sarif *s, const Finding *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->nrelated; i++) {
        json_t *o = location(s, &f->related[i].at, f->related[i].text);
        put(o, "id", json_integer((json_int_t)i + 1));
        add(list, o);
    }
    return list;
}

static json_t *replacement(Sarif *s, const FixIt *fix)
{
    Location at = fix->at;
    json_t *o = json_object(), *content = json_object();
    /* Without an end the text is put in, and nothing taken out. */
    if (!at.end_column) {
        at.end_line = at.line;
        at.end_column = at.column;
    }
    put(o, "deletedRegion", region(s, &at));
    put(content, "text", json_text(fix->text));
    put(o, "insertedContent", content);
    return o;
}

static bool same_file(const FixIt *a, const FixIt *b)
{
    return strcmp(a->at.file, b->at.file) == 0;
}

/* All fix-its together are one fix, grouped by file. */
static json_t *one_fix(Sarif *s, const Finding *f)
{
    json_t *changes = json_array();
    for (size_t i = 0; i < f->nfixes; i++) {
        bool first = f->fixes[i].at.file && f->fixes[i].at.line;
        for (size_t k = 0; first && k < i; k++)
            first = !f->fixes[k].at.file || !same_file(&f->fixes[i], &f->fixes[k]);
        if (!first)
            continue;
        json_t *change = json_object(), *list = json_array();
        for (size_t k = i; k < f->nfixes; k++)
            if (f->fixes[k].at.file && f->fixes[k].at.line && same_file(&f->fixes[i], &f->fixes[k]))
                add(list, replacement(s, &f->fixes[k]));
        put(change, "artifactLocation", artifact_location(f->fixes[i].at.file));
        put(change, "replacements", list);
        add(changes, change);
    }
    return changes;
}

static void put_fixes(Sarif *s, const Finding *f, json_t *result)
{
    json_t *changes = one_fix(s, f);
    if (json_array_size(changes) == 0) {
        json_decref(changes);
        return;
    }
    json_t *fix = json_object(), *fixes = json_array();
    put(fix, "description", message("Suggested change"));
    put(fix, "artifactChanges", changes);
    add(fixes, fix);
    put(result, "fixes", fixes);
}

static json_t *artifact(const Attachment *at)
{
    json_t *o = json_object(), *contents = json_object();
    Str code = { 0 };
    base64_encode(&code, at->text, at->size);
    put(contents, "binary", json_textn(str_c(&code), code.len));
    put(o, "contents", contents);
    put(o, "description", message(at->name));
    str_release(&code);
    return o;
}

/* Attachments are artifacts of the run, with their content; equal ones are one
 * artifact. Its index. */
static size_t artifact_index(Sarif *s, const Attachment *at)
{
    Str key = { 0 };
    str_addn(&key, at->name, strlen(at->name) + 1);
    str_addn(&key, at->text, at->size);
    void **slot = map_slotn(&s->attached, str_c(&key), key.len);
    if (!*slot) {
        add(s->artifacts, artifact(at));
        *slot = (void *)json_array_size(s->artifacts);
    }
    size_t index = (size_t)*slot - 1;
    str_release(&key);
    return index;
}

static bool is_in(const json_t *list, const json_t *o)
{
    size_t i;
    json_t *each;
    json_array_foreach(list, i, each) if (json_equal(each, o)) return true;
    return false;
}

static json_t *attachments(Sarif *s, const Finding *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->nattachments; i++) {
        const Attachment *at = &f->attachments[i];
        if (at->size > MOST_ATTACHED)
            continue;
        json_t *o = json_object(), *where = json_object();
        put(where, "index", json_integer((json_int_t)artifact_index(s, at)));
        put(o, "artifactLocation", where);
        put(o, "description", message(at->kind));
        if (!is_in(list, o))
            json_array_append(list, o);
        json_decref(o);
    }
    return list;
}

static json_t *suppressions(const StoredFinding *f)
{
    json_t *list = json_array(), *o = json_object();
    put(o, "kind", json_text(f->suppressed_in_source ? "inSource" : "external"));
    put(o, "justification", json_text(f->suppressed));
    add(list, o);
    return list;
}

static json_t *fingerprints(const StoredFinding *f)
{
    json_t *o = json_object();
    put(o, "primaryLocationLineHash", json_text(f->fingerprint));
    put(o, "sundew/v1", json_text(f->fingerprint));
    return o;
}

static json_t *properties(const StoredFinding *s)
{
    json_t *o = json_object();
    put(o, "technique", json_text(s->technique));
    put(o, "verdict", json_text(verdict_name(s->finding.verdict)));
    if (s->finding.rerun)
        put(o, "rerun", json_text(s->finding.rerun));
    if (s->finding.data)
        json_object_set(o, "data", s->finding.data);
    return o;
}

/* The title, and below it the evidence in words: viewers show it without the steps. */
static json_t *result_message(const Finding *f)
{
    const char *detail = output_detail(f);
    char *text = xprintf("%s%s%s", f->message, detail ? "\n" : "", detail ? detail : "");
    json_t *o = message(text);
    free(text);
    return o;
}

static json_t *result(Sarif *s, const StoredFinding *sf)
{
    const Finding *f = &sf->finding;
    json_t *o = json_object(), *where = json_array();
    add(where, location(s, &f->where, NULL));
    put(o, "ruleId", json_text(f->rule));
    put(o, "ruleIndex", json_integer((json_int_t)(size_t)map_get(&s->rules, f->rule) - 1));
    put(o, "level", json_text(level_name(f->level)));
    put(o, "message", result_message(f));
    put(o, "locations", where);
    put(o, "partialFingerprints", fingerprints(sf));
    put(o, "baselineState", json_text(sf->in_baseline ? "unchanged" : "new"));
    if (f->nsteps)
        put(o, "codeFlows", code_flows(s, f));
    if (f->nrelated)
        put(o, "relatedLocations", related(s, f));
    put_fixes(s, f, o);
    if (f->nattachments)
        put(o, "attachments", attachments(s, f));
    if (sf->suppressed)
        put(o, "suppressions", suppressions(sf));
    put(o, "properties", properties(sf));
    return o;
}

/* ---- the run */

static void notify(json_t *list, const char *text)
{
    json_t *o = json_object();
    put(o, "level", json_text("warning"));
    put(o, "message", message(text));
    add(list, o);
}

static json_t *invocations(Sarif *s)
{
    json_t *list = json_array(), *o = json_object(), *notes = json_array();
    Strings reasons = { 0 };
    output_reasons(s->set, s->o, &reasons);
    for (size_t i = 0; i < reasons.len; i++) {
        char *text = xprintf("incomplete: %s", reasons.items[i]);
        notify(notes, text);
        free(text);
    }
    if (s->set->len > MOST_RESULTS) {
        char *text = xprintf("cut: the %d most urgent of %zu findings", MOST_RESULTS, s->set->len);
        notify(notes, text);
        free(text);
    }
    for (size_t i = 0; i < s->set->nunused_suppressions; i++)
        notify(notes, s->set->unused_suppressions[i]);
    put(o, "executionSuccessful", json_boolean(reasons.len == 0));
    put(o, "toolExecutionNotifications", notes);
    add(list, o);
    strings_release(&reasons);
    return list;
}

static json_t *driver(Sarif *s)
{
    json_t *o = json_object(), *tool = json_object();
    put(o, "name", json_text("Sundew"));
    if (s->o->version)
        put(o, "version", json_text(s->o->version));
    put(o, "rules", json_incref(s->rule_list));
    put(tool, "driver", o);
    return tool;
}

static json_t *bases(Sarif *s)
{
    json_t *o = json_object(), *root = json_object();
    char *folder = xprintf("%s/", strcmp(s->set->root, "/") ? s->set->root : "");
    put(root, "uri", file_uri(folder));
    put(o, ROOT_ID, root);
    free(folder);
    return o;
}

static json_t *run(Sarif *s)
{
    json_t *o = json_object(), *results = json_array();
    const StoredFinding **order = output_by_urgency(s->set);
    add_rules(s);
    for (size_t i = 0; i < s->set->len && i < MOST_RESULTS; i++)
        add(results, result(s, order[i]));
    free(order);
    put(o, "tool", driver(s));
    put(o, "invocations", invocations(s));
    put(o, "originalUriBaseIds", bases(s));
    put(o, "columnKind", json_text("unicodeCodePoints"));
    put(o, "results", results);
    put(o, "artifacts", json_incref(s->artifacts));
    return o;
}

void output_sarif(const FindingSet *set, const OutputOptions *o, Str *out)
{
    Sarif s = { .set = set,
                .o = o,
                .sources = sources_new(set->root),
                .rule_list = json_array(),
                .artifacts = json_array() };
    json_t *doc = json_object(), *runs = json_array();
    put(doc, "$schema",
        json_text("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
                  "schemas/sarif-schema-2.1.0.json"));
    put(doc, "version", json_text("2.1.0"));
    add(runs, run(&s));
    put(doc, "runs", runs);
    json_print(doc, out);
    json_decref(doc);
    json_decref(s.rule_list);
    json_decref(s.artifacts);
    map_release(&s.rules);
    map_release(&s.attached);
    sources_free(s.sources);
}
