/* Warnings as JSON: SARIF and gcc's. The other forms: import_xml.c, import_text.c. */
#include "base/file.h"
#include "base/json.h"
#include "technique/confirm/warnings.h"
#include <assert.h>
#include <ctype.h>
#include <limits.h>

enum { MOST = 2000000, MOST_TEXT = 2000 };

const char *verdict_text(Verdict v)
{
    static const char *const texts[] = { "confirmed", "rejected", "undetermined", "unanchored" };
    return texts[v];
}

void warnings_release(Warnings *w)
{
    for (size_t i = 0; i < w->items.len; i++)
        strings_release(&w->items.items[i].also);
    vec_release(&w->items);
    arena_release(&w->arena);
    *w = (Warnings){ 0 };
}

static const char *kept(Warnings *w, const char *text)
{
    text = text ? text : "";
    size_t n = strlen(text);
    return arena_strndup(&w->arena, text, n < MOST_TEXT ? n : MOST_TEXT);
}

static unsigned number(long long n) { return n > 0 && n < INT_MAX ? (unsigned)n : 0; }

void warnings_add(Warnings *w, const char *tool, const char *rule, const char *file, long long line,
                  long long column, const char *message)
{
    if (!file || !*file || w->items.len >= MOST) {
        w->left_out++;
        return;
    }
    Warning *x = vec_grow(&w->items);
    *x = (Warning){ .tool = kept(w, tool),
                    .rule = kept(w, rule),
                    .family = "",
                    .file = kept(w, file),
                    .line = number(line),
                    .column = number(column),
                    .message = kept(w, message) };
}

/* ---- SARIF */

/* "file:///a%20b" → "/a b" */
static char *path_of_uri(const char *uri)
{
    if (str_starts(uri, "file://"))
        uri += 7;
    Str out = { 0 };
    for (; *uri; uri++) {
        unsigned hex;
        if (*uri == '%' && isxdigit((unsigned char)uri[1]) && isxdigit((unsigned char)uri[2]) &&
            sscanf(uri + 1, "%2x", &hex) == 1 && hex) {
            str_addc(&out, (char)hex);
            uri += 2;
        } else {
            str_addc(&out, *uri);
        }
    }
    char *path = xstrdup(str_c(&out));
    str_release(&out);
    return path;
}

static void add_result(Warnings *out, const json_t *run, const json_t *result, const char *tool)
{
    const json_t *place = json_object_get(json_array_get(json_object_get(result, "locations"), 0),
                                          "physicalLocation");
    const json_t *artifact = json_object_get(place, "artifactLocation");
    const json_t *region = json_object_get(place, "region");
    const char *uri = json_str(artifact, "uri");
    if (!*uri) {
        const json_t *list = json_object_get(run, "artifacts");
        long long at = json_int(artifact, "index", -1);
        if (at >= 0)
            uri = json_str(json_object_get(json_array_get(list, (size_t)at), "location"), "uri");
    }
    const json_t *bases = json_object_get(run, "originalUriBaseIds");
    const char *base = json_str(json_object_get(bases, json_str(artifact, "uriBaseId")), "uri");
    char *whole = *base && *uri != '/' && !str_starts(uri, "file:") ? xprintf("%s%s", base, uri)
                                                                    : xstrdup(uri);
    char *path = path_of_uri(whole);
    const char *rule = json_str(result, "ruleId");
    if (!*rule)
        rule = json_str(json_object_get(result, "rule"), "id");
    warnings_add(out, tool, rule, path, json_int(region, "startLine", 0),
                 json_int(region, "startColumn", 0),
                 json_str(json_object_get(result, "message"), "text"));
    free(whole);
    free(path);
}

static void add_sarif(Warnings *out, const json_t *all)
{
    size_t i, k;
    const json_t *run, *result;
    json_array_foreach(json_object_get(all, "runs"), i, run)
    {
        const json_t *driver = json_object_get(json_object_get(run, "tool"), "driver");
        json_array_foreach(json_object_get(run, "results"), k, result)
        {
            const char *kind = json_str(result, "kind");
            if (!*kind || !strcmp(kind, "fail") || !strcmp(kind, "review"))
                add_result(out, run, result, json_str(driver, "name"));
        }
    }
}

/* ---- gcc -fdiagnostics-format=json: an array for each unit, one behind the other */

static void add_gcc(Warnings *out, const json_t *list)
{
    size_t i;
    const json_t *d;
    json_array_foreach(list, i, d)
    {
        const json_t *caret =
            json_object_get(json_array_get(json_object_get(d, "locations"), 0), "caret");
        if (!strcmp(json_str(d, "kind"), "note"))
            continue;
        warnings_add(out, "gcc", json_str(d, "option"), json_str(caret, "file"),
                     json_int(caret, "line", 0),
                     json_int(caret, "display-column", json_int(caret, "column", 0)),
                     json_str(d, "message"));
    }
}

static bool parse_json(const char *text, size_t n, const char *name, Warnings *out, Err *err)
{
    size_t at = 0;
    while (at < n && isspace((unsigned char)text[at]))
        at++;
    for (bool any = false; at < n; any = true) {
        json_error_t e;
        json_t *v = json_loadb(text + at, n - at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &e);
        if (!v)
            return any && text[at] != '[' && text[at] != '{'
                       ? true
                       : err_set(err, "%s: line %d: %s", name, e.line, e.text);
        if (json_is_array(v))
            add_gcc(out, v);
        else if (json_is_array(json_object_get(v, "runs")))
            add_sarif(out, v);
        else if (!any) {
            json_decref(v);
            return err_set(err, "%s: neither SARIF nor gcc's JSON", name);
        }
        json_decref(v);
        if (e.position <= 0)
            break;
        at += (size_t)e.position;
        while (at < n && isspace((unsigned char)text[at]))
            at++;
    }
    return true;
}

/* ---- which form? */

bool warnings_parse(const char *text, size_t n, const char *name, const char *tool, Warnings *out,
                    Err *err)
{
    assert(text && !text[n]);          /* the readers may look one further */
    const char *p = text + strspn(text, " \t\r\n\xef\xbb\xbf");
    size_t left = n - (size_t)(p - text);
    char *head = xstrndup(p, left < 4096 ? left : 4096);
    bool ok = true;
    if (*p == '{' || *p == '[')
        ok = parse_json(p, left, name, out, err);
    else if (*p == '<' && strstr(head, "<plist"))
        ok = warnings_parse_plist(p, left, out, err) || err_ctx(err, "%s", name);
    else if (*p == '<')
        ok = warnings_parse_cppcheck(p, left, out, err) || err_ctx(err, "%s", name);
    else if (strstr(head, "\nDiagnostics:") || str_starts(head, "Diagnostics:"))
        warnings_parse_yaml(p, left, out);
    else
        warnings_parse_lines(p, left, tool, out);
    free(head);
    return ok;
}

bool warnings_read(const char *path, Warnings *out, Err *err)
{
    Str text = { 0 };
    bool ok = file_size(path) <= (int64_t)1 << 30 || err_set(err, "%s: larger than 1 GiB", path);
    ok = ok && file_read(path, &text, err) &&
         warnings_parse(str_c(&text), text.len, path, NULL, out, err);
    str_release(&text);
    return ok;
}
