/*
 * Warnings as XML: clang's property lists and cppcheck's results. A small reader: tags,
 * attributes and text, entities, comments; no namespaces, no DTD beyond being passed over.
 */
#include "base/json.h"
#include "technique/confirm/warnings.h"
#include <assert.h>
#include <ctype.h>

enum { MOST_DEPTH = 100 };

typedef struct Xml {
    const char *at, *end;
    char name[64];                   /* of the tag */
    const char *attributes;          /* the rest of the tag … */
    size_t nattributes;
    bool closes, empty;              /* </a>, <a/> */
    const char *text;                /* before the tag */
    size_t ntext;
} Xml;

static const char *find(const char *from, const char *end, const char *what)
{
    return memmem(from, (size_t)(end - from), what, strlen(what));
}

/* The next tag, with the text before it. False: no more. */
static bool next(Xml *x)
{
    for (;;) {
        const char *open = memchr(x->at, '<', (size_t)(x->end - x->at));
        if (!open)
            return false;
        x->text = x->at;
        x->ntext = (size_t)(open - x->at);
        bool comment = x->end - open > 4 && !memcmp(open, "<!--", 4);
        const char *close =
            comment ? find(open, x->end, "-->") : memchr(open, '>', (size_t)(x->end - open));
        if (!close)
            return false;
        x->at = close + (comment ? 3 : 1);
        if (open[1] == '!' || open[1] == '?')
            continue;
        x->closes = open[1] == '/';
        x->empty = close[-1] == '/';
        const char *name = open + 1 + x->closes;
        size_t n = 0;
        while (name + n < close && !isspace((unsigned char)name[n]) && name[n] != '/')
            n++;
        snprintf(x->name, sizeof x->name, "%.*s", n < 63 ? (int)n : 63, name);
        x->attributes = name + n;
        x->nattributes = (size_t)(close - x->attributes);
        return true;
    }
}

static void add_unescaped(Str *out, const char *s, size_t n)
{
    static const struct {
        const char *name;
        char c;
    } entities[] = { { "&lt;", '<' },    { "&gt;", '>' },    { "&amp;", '&' }, { "&quot;", '"' },
                     { "&apos;", '\'' }, { "&#039;", '\'' }, { "&#39;", '\'' } };
    for (size_t i = 0; i < n; i++) {
        bool done = false;
        for (size_t k = 0; s[i] == '&' && k < sizeof entities / sizeof *entities && !done; k++) {
            size_t len = strlen(entities[k].name);
            if (n - i >= len && !memcmp(s + i, entities[k].name, len)) {
                str_addc(out, entities[k].c);
                i += len - 1;
                done = true;
            }
        }
        if (!done)
            str_addc(out, s[i]);
    }
}

/* The caller frees it; NULL: there is none. */
static char *attribute(const Xml *x, const char *name)
{
    const char *end = x->attributes + x->nattributes;
    size_t n = strlen(name);
    for (const char *p = x->attributes; (p = find(p, end, name)); p += n) {
        if (!isspace((unsigned char)p[-1]) || p + n + 1 >= end || p[n] != '=' ||
            (p[n + 1] != '"' && p[n + 1] != '\''))
            continue;
        const char *from = p + n + 2, *to = memchr(from, p[n + 1], (size_t)(end - from));
        if (!to)
            return NULL;
        Str out = { 0 };
        add_unescaped(&out, from, (size_t)(to - from));
        char *text = xstrdup(str_c(&out));
        str_release(&out);
        return text;
    }
    return NULL;
}

/* ---- cppcheck: <error id msg><location file line column/></error> */

bool warnings_parse_cppcheck(const char *text, size_t n, Warnings *out, Err *err)
{
    Xml x = { .at = text, .end = text + n };
    char *id = NULL, *message = NULL;
    bool placed = false, any = false;
    while (next(&x)) {
        any |= !strcmp(x.name, "results");
        if (!strcmp(x.name, "error") && !x.closes) {
            free(id);
            free(message);
            id = attribute(&x, "id");
            message = attribute(&x, "msg");
            placed = x.empty;
        } else if (!strcmp(x.name, "location") && id && !placed) {
            char *file = attribute(&x, "file"), *line = attribute(&x, "line"),
                 *column = attribute(&x, "column");
            warnings_add(out, "cppcheck", id, file, line ? strtoll(line, NULL, 10) : 0,
                         column ? strtoll(column, NULL, 10) : 0, message);
            placed = true;
            free(file);
            free(line);
            free(column);
        }
    }
    free(id);
    free(message);
    return any || err_set(err, "this XML is neither cppcheck's nor a property list");
}

/* ---- property lists, as JSON values */

static json_t *text_value(const char *name, const char *s, size_t n)
{
    Str out = { 0 };
    add_unescaped(&out, s, n);
    json_t *v = !strcmp(name, "integer") ? json_integer(strtoll(str_c(&out), NULL, 10))
                                         : json_text(str_c(&out));
    str_release(&out);
    return v;
}

static json_t *value(Xml *x, unsigned depth);

static json_t *container(Xml *x, bool is_array, unsigned depth)
{
    json_t *c = is_array ? json_array() : json_object();
    char *key = NULL;
    while (next(x) && !(x->closes && (!strcmp(x->name, "dict") || !strcmp(x->name, "array")))) {
        if (!strcmp(x->name, "key")) {
            if (x->closes) {
                Str text = { 0 };
                add_unescaped(&text, x->text, x->ntext);
                free(key);
                key = xstrdup(str_c(&text));
                str_release(&text);
            }
            continue;
        }
        json_t *v = x->closes ? NULL : value(x, depth + 1);
        if (!v)
            continue;
        if (is_array)
            json_array_append_new(c, v);
        else
            json_object_set_new(c, key ? key : "", v);
    }
    free(key);
    return c;
}

/* The value that the current tag opens. */
static json_t *value(Xml *x, unsigned depth)
{
    char name[sizeof x->name];
    assert(!x->closes);
    snprintf(name, sizeof name, "%s", x->name);
    if (x->empty || depth > MOST_DEPTH)
        return json_null();
    if (!strcmp(name, "dict") || !strcmp(name, "array"))
        return container(x, name[0] == 'a', depth);
    if (!next(x))
        return json_null();
    return text_value(name, x->text, x->ntext);
}

bool warnings_parse_plist(const char *text, size_t n, Warnings *out, Err *err)
{
    Xml x = { .at = text, .end = text + n };
    size_t i;
    json_t *all = NULL, *d;
    while (!all && next(&x))
        if (!strcmp(x.name, "dict") && !x.closes)
            all = value(&x, 0);
    const json_t *files = json_object_get(all, "files");
    if (!json_is_array(files)) {
        json_decref(all);
        return err_set(err, "the property list has no files");
    }
    json_array_foreach(json_object_get(all, "diagnostics"), i, d)
    {
        const json_t *at = json_object_get(d, "location");
        long long file = json_int(at, "file", -1);
        const char *path =
            file >= 0 ? json_string_value(json_array_get(files, (size_t)file)) : NULL;
        warnings_add(out, "clang", json_str(d, "check_name"), path, json_int(at, "line", 0),
                     json_int(at, "col", 0), json_str(d, "description"));
    }
    json_decref(all);
    return true;
}
