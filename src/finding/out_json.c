/* Findings as JSON, for programs; docs/findings.md lists the fields. A field
 * is added without a new schema number; one is never removed or changed. */
#include "base/base64.h"
#include "base/escape.h"
#include "base/json.h"
#include "finding/output_int.h"

enum { SCHEMA = 1 };

static void put(json_t *o, const char *key, json_t *value) { json_object_set_new(o, key, value); }

static void put_text(json_t *o, const char *key, const char *text) { put(o, key, json_text(text)); }

static void put_place(json_t *o, const Location *at)
{
    put_text(o, "file", at->file);
    put(o, "line", json_integer(at->line));
    put(o, "column", json_integer(at->column));
    if (at->end_line || at->end_column) {
        put(o, "end_line", json_integer(at->end_line));
        put(o, "end_column", json_integer(at->end_column));
    }
    put_text(o, "function", at->function);
}

static json_t *place_and_text(const Location *at, const char *text)
{
    json_t *o = json_object();
    put_place(o, at);
    put_text(o, "text", text);
    return o;
}

static json_t *steps(const EvidenceStep *list, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(a, place_and_text(&list[i].at, list[i].text));
    return a;
}

static json_t *fixes(const Finding *f)
{
    json_t *a = json_array();
    for (size_t i = 0; i < f->nfixes; i++)
        json_array_append_new(a, place_and_text(&f->fixes[i].at, f->fixes[i].text));
    return a;
}

static bool is_text(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned cp;
        size_t len = utf8_decode(s + i, n - i, &cp);
        if (!len || cp == 0)
            return false;
        i += len;
    }
    return true;
}

static json_t *attachment(const Attachment *at)
{
    json_t *o = json_object();
    put_text(o, "name", at->name);
    put_text(o, "kind", at->kind);
    put(o, "size", json_integer((json_int_t)at->size));
    if (is_text(at->text, at->size)) {
        put(o, "text", json_textn(at->text, at->size));
        return o;
    }
    Str code = { 0 };
    base64_encode(&code, at->text, at->size);
    put(o, "base64", json_textn(str_c(&code), code.len));
    str_release(&code);
    return o;
}

static json_t *attachments(const Finding *f)
{
    json_t *a = json_array();
    for (size_t i = 0; i < f->nattachments; i++)
        json_array_append_new(a, attachment(&f->attachments[i]));
    return a;
}

static json_t *finding(const StoredFinding *s)
{
    const Finding *f = &s->finding;
    json_t *o = json_object();
    put_text(o, "rule", f->rule);
    put_text(o, "technique", s->technique);
    put_text(o, "level", level_name(f->level));
    put_text(o, "verdict", verdict_name(f->verdict));
    put_place(o, &f->where);
    put_text(o, "message", f->message);
    put_text(o, "fingerprint", s->fingerprint);
    put_text(o, "suppressed", s->suppressed);
    put_text(o, "suppressed_at", s->suppressed_at);
    put(o, "in_baseline", json_boolean(s->in_baseline));
    if (s->evidence)
        put_text(o, "evidence", evidence_name(s->evidence));
    if (s->same_as)
        put_text(o, "same_as", s->same_as);
    put_text(o, "rerun", f->rerun);
    put(o, "steps", steps(f->steps, f->nsteps));
    put(o, "related", steps(f->related, f->nrelated));
    put(o, "fixes", fixes(f));
    put(o, "attachments", attachments(f));
    put_text(o, "picture", f->picture);
    /* The technique's own fields come behind ours and never replace them. */
    if (json_is_object(f->data))
        json_object_update_missing(o, f->data);
    return o;
}

static json_t *run(const StoredRun *r)
{
    char seed[32];
    json_t *o = json_object();
    put_text(o, "technique", r->technique);
    put_text(o, "scope", r->scope);
    put_text(o, "command", r->command);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
    put_text(o, "seed", seed);
    put_text(o, "when", r->when);
    put_text(o, "incomplete", r->incomplete);
    put_text(o, "examined", r->examined);
    put(o, "findings", json_integer((json_int_t)r->nfindings));
    return o;
}

static json_t *summary(const FindingSet *set)
{
    Counts c = output_counts(set);
    json_t *o = json_object();
    put(o, "counting", json_integer((json_int_t)c.counting));
    put(o, "errors", json_integer((json_int_t)c.level[LEVEL_ERROR]));
    put(o, "warnings", json_integer((json_int_t)c.level[LEVEL_WARNING]));
    put(o, "notes", json_integer((json_int_t)c.level[LEVEL_NOTE]));
    put(o, "suppressed", json_integer((json_int_t)c.suppressed));
    put(o, "in_baseline", json_integer((json_int_t)c.baseline));
    return o;
}

static json_t *document(const FindingSet *set, const OutputOptions *o)
{
    json_t *doc = json_object(), *runs = json_array(), *list = json_array();
    Strings reasons = { 0 };
    output_reasons(set, o, &reasons);
    for (size_t i = 0; i < set->nruns; i++)
        json_array_append_new(runs, run(&set->runs[i]));
    for (size_t i = 0; i < set->len; i++)
        if (output_shows(o, &set->items[i]))
            json_array_append_new(list, finding(&set->items[i]));

    put(doc, "schema", json_integer(SCHEMA));
    put_text(doc, "version", o->version);
    put(doc, "complete", json_boolean(reasons.len == 0));
    put(doc, "incomplete", json_strings(reasons.items, reasons.len));
    put(doc, "summary", summary(set));
    put(doc, "runs", runs);
    put(doc, "findings", list);
    put(doc, "unused_suppressions",
        json_strings(set->unused_suppressions, set->nunused_suppressions));
    if (json_is_object(o->extra))
        json_object_update_missing(doc, o->extra);
    strings_release(&reasons);
    return doc;
}

void output_json(const FindingSet *set, const OutputOptions *o, Str *out)
{
    json_t *doc = document(set, o);
    json_print(doc, out);
    json_decref(doc);
}
