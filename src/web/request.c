/* Requests; request.h is the manual. */
#include "web/request.h"
#include "base/escape.h"
#include <assert.h>
#include <ctype.h>

Request *request_new(const char *script)
{
    assert(script);
    Request *r = xcalloc(1, sizeof *r);
    r->script = xstrdup(script);
    return r;
}

Request *request_copy(const Request *r)
{
    Request *c = request_new(r->script);
    c->post = r->post;
    c->multipart = r->multipart;
    c->forgets = r->forgets;
    for (size_t i = 0; i < r->params.len; i++) {
        Param *p = vec_grow(&c->params);
        p->path = xstrdup(r->params.items[i].path);
        p->text = xmemdup(r->params.items[i].text, r->params.items[i].n + 1);
        p->n = r->params.items[i].n;
        p->type = r->params.items[i].type;
    }
    return c;
}

void request_free(Request *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->params.len; i++) {
        free(r->params.items[i].path);
        free(r->params.items[i].text);
    }
    vec_release(&r->params);
    free(r->script);
    free(r);
}

const Param *request_get(const Request *r, const char *path)
{
    for (size_t i = 0; i < r->params.len; i++)
        if (strcmp(r->params.items[i].path, path) == 0)
            return &r->params.items[i];
    return NULL;
}

/* Is `below` an element of the array `path`? */
static bool is_below(const char *below, const char *path)
{
    size_t n = strlen(path);
    return strncmp(below, path, n) == 0 && below[n] == '[' && strchr(path, '[');
}

static void remove_at(Request *r, size_t i)
{
    free(r->params.items[i].path);
    free(r->params.items[i].text);
    memmove(&r->params.items[i], &r->params.items[i + 1],
            (r->params.len - i - 1) * sizeof *r->params.items);
    r->params.len--;
}

/* A body is text, or elements of JSON, or a form. */
static bool is_other_body(const char *a, const char *b)
{
    static const char *const kinds[] = { "BODY[", "JSON[", "POST[", "FILES[" };
    size_t x = 0, y = 0;
    while (x < 4 && !str_starts(a, kinds[x]))
        x++;
    while (y < 4 && !str_starts(b, kinds[y]))
        y++;
    return x < 4 && y < 4 && x != y && (x < 2 || y < 2);
}

void request_set(Request *r, const char *path, const char *text, size_t n)
{
    request_set_typed(r, path, text, n, PHP_UNKNOWN);
}

void request_set_typed(Request *r, const char *path, const char *text, size_t n, PhpType type)
{
    assert(path && strchr(path, '['));
    for (size_t i = r->params.len; i-- > 0;) {
        const char *p = r->params.items[i].path;
        if (is_below(p, path) || is_below(path, p) || (!text && strcmp(p, path) == 0) ||
            (text && is_other_body(p, path)))
            remove_at(r, i);
    }
    if (!text)
        return;
    Param *p = (Param *)request_get(r, path);
    if (!p) {
        p = vec_grow(&r->params);
        p->path = xstrdup(path);
    }
    char *copy = xmalloc(n + 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    free(p->text);
    p->text = copy;
    p->n = n;
    p->type = type;
}

static bool has_kind(const Request *r, const char *kind)
{
    for (size_t i = 0; i < r->params.len; i++)
        if (str_starts(r->params.items[i].path, kind))
            return true;
    return false;
}

bool request_is_post(const Request *r)
{
    const Param *method = request_get(r, "SERVER[REQUEST_METHOD]");
    if (has_kind(r, "POST[") || has_kind(r, "FILES["))
        return true;
    return method ? strcmp(method->text, "POST") == 0
                  : r->post || has_kind(r, "BODY[") || has_kind(r, "JSON[");
}

static PhpValue typed(const Param *p)
{
    switch (p->type) {
    case PHP_INT: return phpvalue_int(strtoll(p->text, NULL, 10));
    case PHP_FLOAT: return phpvalue_float(strtod(p->text, NULL));
    case PHP_TRUE:
    case PHP_FALSE: return phpvalue_bool(p->type == PHP_TRUE);
    default: return phpvalue_text(p->text, p->n);
    }
}

/* The text of a body that is made of parameters is not computed. */
static PhpValue body_value(const Request *r, const char *path)
{
    const Param *raw = request_get(r, "BODY[raw]");
    bool json = has_kind(r, "JSON[");
    if (strcmp(path, "JSON") == 0)
        return json ? (PhpValue){ .type = PHP_ARRAY } : raw ? phpvalue_unknown() : phpvalue_null();
    return raw                                                     ? typed(raw)
           : json || has_kind(r, "POST[") || has_kind(r, "FILES[") ? phpvalue_unknown()
                                                                   : phpvalue_text_z("");
}

/* FILES[x][name]: what the browser calls the file. */
static PhpValue file_name(const Request *r, const char *path)
{
    char *file = xstrndup(path, strlen(path) - 6), *own = xprintf("FILENAME%s", file + 5);
    const Param *name = request_get(r, own);
    PhpValue v = !request_get(r, file) ? phpvalue_null()
                 : name                ? typed(name)
                                       : phpvalue_text_z("upload.txt");
    free(file);
    free(own);
    return v;
}

static PhpValue param_value(const Request *r, const char *path)
{
    const Param *p = request_get(r, path);
    if (p)
        return typed(p);
    for (size_t i = 0; i < r->params.len; i++)
        if (is_below(r->params.items[i].path, path))
            return (PhpValue){ .type = PHP_ARRAY };
    return phpvalue_null();
}

PhpValue request_value(const Request *r, const char *path)
{
    if (strcmp(path, "SERVER[REQUEST_METHOD]") == 0) {
        const Param *method = request_get(r, path);
        if (method && !has_kind(r, "POST["))
            return phpvalue_text(method->text, method->n);
        return phpvalue_text_z(request_is_post(r) ? "POST" : "GET");
    }
    if (strcmp(path, "BODY[raw]") == 0 || strcmp(path, "JSON") == 0)
        return body_value(r, path);
    if (str_starts(path, "FILES[") && str_ends(path, "][name]"))
        return file_name(r, path);
    if (!str_starts(path, "REQUEST["))
        return param_value(r, path);
    /* $_REQUEST: POST wins over GET. */
    char *other = xprintf("POST%s", path + 7);
    PhpValue v = param_value(r, other);
    free(other);
    if (v.type != PHP_NULL)
        return v;
    other = xprintf("GET%s", path + 7);
    v = param_value(r, other);
    free(other);
    return v;
}

/* ---- text */

void url_encode(Str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (isalnum(c) || strchr("-_.~", c ? c : '!'))
            str_addc(out, (char)c);
        else
            str_addf(out, "%%%02X", c);
    }
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static char *decode(const char *s, size_t n, bool plus, size_t *len)
{
    char *out = xmalloc(n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '%' && i + 2 < n && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0) {
            out[k++] = (char)(hex(s[i + 1]) * 16 + hex(s[i + 2]));
            i += 2;
        } else {
            out[k++] = plus && s[i] == '+' ? ' ' : s[i];
        }
    }
    out[k] = '\0';
    *len = k;
    return out;
}

char *url_decode(const char *s, size_t n, size_t *len) { return decode(s, n, true, len); }

static int by_path(const void *a, const void *b)
{
    return strcmp(((const Param *)a)->path, ((const Param *)b)->path);
}

void request_canonical(const Request *r, Str *out)
{
    str_addf(out, "%s%s%s", r->forgets ? "anew " : "", request_is_post(r) ? "POST " : "GET ",
             r->script);
    size_t n = r->params.len;
    Param *sorted = xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = r->params.items[i];
    qsort(sorted, n, sizeof *sorted, by_path);
    for (size_t i = 0; i < n; i++) {
        str_addf(out, " %s=", sorted[i].path);
        if (sorted[i].type != PHP_UNKNOWN)
            str_addf(out, "(%d)", (int)sorted[i].type);
        url_encode(out, sorted[i].text, sorted[i].n);
    }
    free(sorted);
}

char *request_name(const char *path)
{
    const char *open = strchr(path, '[');
    assert(open);
    const char *close = strchr(open, ']');
    size_t len;
    if (!close)
        return xstrdup(path);
    char *first = decode(open + 1, (size_t)(close - open - 1), false, &len);
    char *rest = decode(close + 1, strlen(close + 1), false, &len);
    char *name = xprintf("%s%s", first, rest);
    free(first);
    free(rest);
    return name;
}

void request_describe(const Request *r, Str *out)
{
    const Param *method = request_get(r, "SERVER[REQUEST_METHOD]");
    escape_terminal_z(out, request_is_post(r) ? "POST" : method ? method->text : "GET");
    str_addc(out, ' ');
    escape_terminal_z(out, r->script);
    for (size_t i = 0; i < r->params.len; i++) {
        if (&r->params.items[i] == method)
            continue;
        char *name = request_name(r->params.items[i].path);
        str_addc(out, ' ');
        escape_terminal_z(out, name);
        str_addc(out, '=');
        size_t n = r->params.items[i].n;
        escape_terminal(out, r->params.items[i].text, n < 60 ? n : 60);
        free(name);
    }
    if (r->forgets)
        str_add(out, " (a new browser)");
}

static void encode_kind(const Request *r, const char *kind, Str *out)
{
    for (size_t i = 0; i < r->params.len; i++) {
        const Param *p = &r->params.items[i];
        if (!str_starts(p->path, kind))
            continue;
        char *name = request_name(p->path);
        if (out->len)
            str_addc(out, '&');
        url_encode(out, name, strlen(name));
        str_addc(out, '=');
        url_encode(out, p->text, p->n);
        free(name);
    }
}

void request_query(const Request *r, Str *out) { encode_kind(r, "GET[", out); }

/* ; WHAT="TEXT" in the head of a part. */
static void add_attribute(Str *out, const char *what, const char *text)
{
    str_addf(out, "; %s=\"", what);
    for (const char *c = text; *c; c++)
        str_addc(out, *c == '"' || *c == '\r' || *c == '\n' ? '_' : *c);
    str_addc(out, '"');
}

static void add_part(Str *out, const Request *r, const Param *p)
{
    char *name = request_name(p->path);
    str_add(out, "--sundew-7d3f0c2a\r\nContent-Disposition: form-data");
    add_attribute(out, "name", name);
    if (str_starts(p->path, "FILES[")) {
        char *path = xprintf("FILENAME%s", p->path + 5);
        const Param *file = request_get(r, path);
        add_attribute(out, "filename", file ? file->text : "upload.txt");
        str_add(out, "\r\nContent-Type: text/plain");
        free(path);
    }
    str_add(out, "\r\n\r\n");
    str_addn(out, p->text, p->n);
    str_add(out, "\r\n");
    free(name);
}

/* A body that is no form. */
static void add_raw(const Request *r, Str *out, char **type)
{
    const Param *raw = request_get(r, "BODY[raw]"), *own = request_get(r, "SERVER[CONTENT_TYPE]");
    if (raw)
        str_addn(out, raw->text, raw->n);
    else
        request_json(r, out);
    bool json = out->len && (out->data[0] == '{' || out->data[0] == '[');
    *type = xstrdup(own ? own->text : json ? "application/json" : "text/plain");
}

void request_body(const Request *r, Str *out, char **type)
{
    *type = NULL;
    if (has_kind(r, "BODY[") || has_kind(r, "JSON[")) {
        add_raw(r, out, type);
        return;
    }
    if (!request_is_post(r))
        return;
    if (!r->multipart && !has_kind(r, "FILES[")) {
        *type = xstrdup("application/x-www-form-urlencoded");
        encode_kind(r, "POST[", out);
        return;
    }
    *type = xstrdup("multipart/form-data; boundary=sundew-7d3f0c2a");
    for (size_t i = 0; i < r->params.len; i++)
        if (str_starts(r->params.items[i].path, "POST[") ||
            str_starts(r->params.items[i].path, "FILES["))
            add_part(out, r, &r->params.items[i]);
    str_add(out, "--sundew-7d3f0c2a--\r\n");
}

void request_cookies(const Request *r, Str *out)
{
    for (size_t i = 0; i < r->params.len; i++) {
        const Param *p = &r->params.items[i];
        if (!str_starts(p->path, "COOKIE["))
            continue;
        char *name = request_name(p->path);
        if (out->len)
            str_add(out, "; ");
        url_encode(out, name, strlen(name));
        str_addc(out, '=');
        url_encode(out, p->text, p->n);
        free(name);
    }
}

/* PHP's own reading of names: "a.b c" is a_b_c, "a[b][]" is an array. */
char *request_path(const char *kind, const char *name)
{
    Str s = { 0 };
    str_add(&s, kind);
    str_addc(&s, '[');
    const char *c = name;
    for (; *c && *c != '['; c++)
        str_addc(&s, *c == '.' || *c == ' ' ? '_' : *c);
    str_addc(&s, ']');
    while (*c == '[') {
        const char *end = strchr(c, ']');
        if (!end)
            break;
        str_addf(&s, "[%.*s]", (int)(end - c - 1), c + 1);
        c = end + 1;
    }
    return str_take(&s);
}

/* The first free index in place of "[]" at the end. */
static char *number_path(const Request *r, char *path)
{
    size_t n = strlen(path);
    if (n < 2 || strcmp(path + n - 2, "[]") != 0)
        return path;
    for (unsigned i = 0;; i++) {
        char *numbered = xprintf("%.*s[%u]", (int)n - 2, path, i);
        if (i > 50 || !request_get(r, numbered)) {
            free(path);
            return numbered;
        }
        free(numbered);
    }
}

void request_add_query(Request *r, const char *kind, const char *query)
{
    while (*query) {
        size_t n = strcspn(query, "&");
        size_t eq = 0, len, nlen;
        while (eq < n && query[eq] != '=')
            eq++;
        char *name = url_decode(query, eq, &nlen);
        char *text = url_decode(query + eq + (eq < n), n - eq - (eq < n), &len);
        if (*name) {
            char *path = number_path(r, request_path(kind, name));
            request_set(r, path, text, len);
            free(path);
        }
        free(name);
        free(text);
        query += n + (query[n] != '\0');
    }
}
