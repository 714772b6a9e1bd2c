/* HTTP as far as a browser on this machine needs it; http.h is the manual. */
#include "web/http.h"
#include "web/state.h"
#include "base/below.h"
#include "base/file.h"
#include <assert.h>
#include <ctype.h>

void http_release(HttpMessage *m)
{
    free(m->method);
    free(m->path);
    free(m->query);
    for (size_t i = 0; i < m->headers.len; i++) {
        free(m->headers.items[i].name);
        free(m->headers.items[i].value);
    }
    vec_release(&m->headers);
    str_release(&m->body);
    *m = (HttpMessage){ 0 };
}

const char *http_header(const HttpMessage *m, const char *name)
{
    for (size_t i = 0; i < m->headers.len; i++)
        if (strcasecmp(m->headers.items[i].name, name) == 0)
            return m->headers.items[i].value;
    return NULL;
}

/* ---- reading */

static bool is_token(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !memchr("!#$%&'*+-.^_`|~", s[i], 15))
            return false;
    return n > 0;
}

static bool is_printable(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 0x20 ? s[i] != '\t' : s[i] == 0x7f)
            return false;
    return true;
}

/* The path, decoded; NULL: it would lead elsewhere, or has a NUL. */
static char *clean_path(const char *s, size_t n)
{
    size_t len;
    Str kept = { 0 };          /* "+" is a blank in a query, and no blank here */
    for (size_t i = 0; i < n; i++)
        str_add(&kept, s[i] == '+' ? "%2B" : (char[]){ s[i], '\0' });
    char *path = url_decode(str_c(&kept), kept.len, &len);
    str_release(&kept);
    Str out = { 0 };
    bool good = strlen(path) == len;
    for (const char *p = path; good && *p;) {
        size_t k = strcspn(p + 1, "/");
        bool dot = k == 1 && p[1] == '.';
        good = !(k == 2 && p[1] == '.' && p[2] == '.');
        if (!dot && (k || !p[1 + k]))
            str_addn(&out, p, k + 1);
        p += k + 1;
    }
    free(path);
    if (good && out.len == 0)
        str_add(&out, "/");
    if (good)
        return str_take(&out);
    str_release(&out);
    return NULL;
}

static int read_first(const char *line, size_t n, HttpMessage *m)
{
    const char *end = line + n, *a = memchr(line, ' ', n);
    const char *b = a ? memchr(a + 1, ' ', (size_t)(end - a - 1)) : NULL;
    if (!b || !is_token(line, (size_t)(a - line)) || a - line > 16 || !is_printable(line, n))
        return 400;
    if (end - b != 9 || (memcmp(b, " HTTP/1.1", 9) != 0 && memcmp(b, " HTTP/1.0", 9) != 0))
        return 505;
    const char *target = a + 1;
    const char *query = memchr(target, '?', (size_t)(b - target)), *stop = query ? query : b;
    if (*target != '/')
        return 400;
    m->method = xstrndup(line, (size_t)(a - line));
    m->path = clean_path(target, (size_t)(stop - target));
    m->query = query ? xstrndup(query + 1, (size_t)(b - query - 1)) : xstrdup("");
    m->query[strcspn(m->query, "#")] = '\0';
    return m->path ? 200 : 400;
}

static int read_header(const char *line, size_t n, HttpMessage *m)
{
    const char *colon = memchr(line, ':', n);
    if (!colon || !is_token(line, (size_t)(colon - line)) || !is_printable(line, n) ||
        m->headers.len >= HTTP_MOST_HEADERS)
        return 400;
    const char *v = colon + 1, *end = line + n;
    while (v < end && (*v == ' ' || *v == '\t'))
        v++;
    while (end > v && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    char *name = xstrndup(line, (size_t)(colon - line));
    bool twice = (strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Host") == 0) &&
                 http_header(m, name);
    vec_push(&m->headers, ((Header){ name, xstrndup(v, (size_t)(end - v)) }));
    return twice ? 400 : strcasecmp(name, "Transfer-Encoding") == 0 ? 501 : 200;
}

/* The end of the head; NULL: it has not come. */
static const char *head_end(const char *bytes, size_t n)
{
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    return end ? end + 2 : NULL;
}

static int read_head(const char *p, const char *end, HttpMessage *out)
{
    int status = 200;
    for (bool first = true; p < end && status == 200; first = false) {
        const char *nl = memmem(p, (size_t)(end - p), "\r\n", 2);
        size_t n = (size_t)(nl - p);
        status = first ? read_first(p, n, out) : read_header(p, n, out);
        p = nl + 2;
    }
    return status;
}

int http_read(const char *bytes, size_t n, HttpMessage *out)
{
    assert(!out->method && !out->headers.len);
    const char *end = head_end(bytes, n);
    if (!end || end - bytes > HTTP_MOST_HEAD)
        return n > HTTP_MOST_HEAD ? 431 : 0;
    int status = read_head(bytes, end, out);
    const char *length = status == 200 ? http_header(out, "Content-Length") : NULL;
    size_t wanted = 0, there = n - (size_t)(end + 2 - bytes);
    if (length) {
        if (!*length || strlen(length) > 9 || strspn(length, "0123456789") != strlen(length))
            status = 400;
        else if ((wanted = strtoul(length, NULL, 10)) > HTTP_MOST_BODY)
            status = 413;
    }
    if (status == 200 && there >= wanted)
        str_addn(&out->body, end + 2, wanted);
    else if (status == 200)
        status = 0;
    if (status != 200)
        http_release(out);
    return status;
}

bool http_waits(const char *bytes, size_t n)
{
    HttpMessage m = { 0 };
    const char *end = head_end(bytes, n);
    bool waits = end && end - bytes <= HTTP_MOST_HEAD && read_head(bytes, end, &m) == 200 &&
                 http_header(&m, "Expect") &&
                 strcasecmp(http_header(&m, "Expect"), "100-continue") == 0;
    http_release(&m);
    return waits;
}

/* ---- where to */

static bool is_script(const char *file) { return str_ends(file, ".php"); }

static bool is_file(const char *app, const char *file)
{
    struct stat info;
    return below_look(app, file, &info) && S_ISREG(info.st_mode);
}

static bool is_folder(const char *app, const char *file)
{
    struct stat info;
    return !*file || (below_look(app, file, &info) && S_ISDIR(info.st_mode));
}

/* What a folder shows; NULL: nothing. */
static char *index_of(const char *app, const char *entry, const char *folder)
{
    static const char *const names[] = { "index.php", "index.html", "index.htm" };
    if (!*folder && is_file(app, entry))
        return xstrdup(entry);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *f = *folder ? path_join(folder, names[i]) : xstrdup(names[i]);
        if (is_file(app, f))
            return f;
        free(f);
    }
    return NULL;
}

static HttpTarget found(char *file, const char *info)
{
    bool script = is_script(file);
    if (!script && info && *info) {
        free(file);
        return (HttpTarget){ 0 };
    }
    return (HttpTarget){ .what = script ? HTTP_SCRIPT : HTTP_FILE,
                         .file = file,
                         .info = info && *info ? xstrdup(info) : NULL };
}

HttpTarget http_target(const char *app, const char *entry, const char *path)
{
    assert(*path == '/');
    char *below = xstrdup(path + 1);
    HttpTarget t = { 0 };
    if (strstr(path, "/.")) {
        free(below);
        return t;
    }
    /* The longest beginning that is a file; the rest is its PATH_INFO. */
    for (char *cut = below + strcspn(below, "/"); *below; cut += 1 + strcspn(cut + 1, "/")) {
        char kept = *cut;
        *cut = '\0';
        if (is_file(app, below)) {
            char *file = xstrdup(below);
            *cut = kept;
            t = found(file, cut);
            free(below);
            return t;
        }
        *cut = kept;
        if (!kept)
            break;
    }
    size_t n = strlen(below);
    bool slash = n == 0 || below[n - 1] == '/';
    if (n && slash)
        below[n - 1] = '\0';
    if (is_folder(app, below)) {
        char *index = index_of(app, entry, below);
        if (index && slash)
            t = found(index, NULL);
        else if (index)
            t = (HttpTarget){ .what = HTTP_FOLDER, .file = index };
    } else if (!strchr(path_base(below), '.') && is_script(entry) && is_file(app, entry)) {
        /* As PHP's own server: one script may answer for all addresses. */
        t = found(xstrdup(entry), path);
    }
    free(below);
    return t;
}

void http_target_release(HttpTarget *t)
{
    free(t->file);
    free(t->info);
    *t = (HttpTarget){ 0 };
}

const char *http_type(const char *file)
{
    static const struct {
        const char *end, *type;
    } rows[] = {
        { ".css", "text/css" },          { ".js", "text/javascript" },
        { ".html", "text/html" },        { ".htm", "text/html" },
        { ".txt", "text/plain" },        { ".png", "image/png" },
        { ".jpg", "image/jpeg" },        { ".jpeg", "image/jpeg" },
        { ".gif", "image/gif" },         { ".svg", "image/svg+xml" },
        { ".ico", "image/x-icon" },      { ".webp", "image/webp" },
        { ".woff", "font/woff" },        { ".woff2", "font/woff2" },
        { ".json", "application/json" }, { ".xml", "application/xml" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_ends(file, rows[i].end))
            return rows[i].type;
    return "application/octet-stream";
}

/* ---- the request */

/* The value of an attribute in a header: name="x" of a part. To free; NULL: none. */
static char *attribute(const char *header, size_t n, const char *name)
{
    char *line = xstrndup(header, n), *key = xprintf("; %s=\"", name);
    char *at = strcasestr(line, key), *value = NULL;
    if (at) {
        at += strlen(key);
        value = xstrndup(at, strcspn(at, "\""));
    }
    free(key);
    free(line);
    return value;
}

static void add_part(Request *r, const char *part, size_t n)
{
    const char *end = memmem(part, n, "\r\n\r\n", 4);
    size_t head = end ? (size_t)(end - part) : n;
    char *name = attribute(part, head, "name"), *file = attribute(part, head, "filename");
    if (end && name && *name) {
        Str query = { 0 };
        url_encode(&query, name, strlen(name));
        str_add(&query, "=");
        url_encode(&query, end + 4, n - head - 4);
        request_add_query(r, file ? "FILES" : "POST", str_c(&query));
        str_release(&query);
        char *path = file ? request_path("FILENAME", name) : NULL;
        if (path)
            request_set(r, path, file, strlen(file));
        free(path);
    }
    free(name);
    free(file);
}

/* multipart/form-data: parts between lines "--BOUNDARY". */
static void add_parts(Request *r, const char *type, const Str *body)
{
    const char *at = strcasestr(type, "boundary=");
    if (!at)
        return;
    at += 9;
    bool quoted = *at == '"';
    char *word = xstrndup(at + quoted, strcspn(at + quoted, quoted ? "\"" : "; \t"));
    char *mark = xprintf("--%s", word);
    const char *p = memmem(str_c(body), body->len, mark, strlen(mark));
    const char *end = str_c(body) + body->len;
    while (*word && p) {
        p += strlen(mark);
        const char *next = memmem(p, (size_t)(end - p), mark, strlen(mark));
        if (!next || next - p < 4)
            break;
        add_part(r, p, (size_t)(next - p) - 2);
        p = next;
    }
    r->multipart = true;
    free(mark);
    free(word);
}

static void add_body(Request *r, const HttpMessage *m)
{
    const char *type = http_header(m, "Content-Type");
    bool post = strcmp(m->method, "POST") == 0;
    if (post && type && strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0) {
        request_add_query(r, "POST", str_c(&m->body));
    } else if (post && type && strncasecmp(type, "multipart/form-data", 19) == 0) {
        add_parts(r, type, &m->body);
    } else if (m->body.len) {
        bool json =
            type && strstr(type, "json") && request_add_json(r, str_c(&m->body), m->body.len);
        if (!json)
            request_set(r, "BODY[raw]", str_c(&m->body), m->body.len);
        if (type)
            request_set(r, "SERVER[CONTENT_TYPE]", type, strlen(type));
    }
}

/* Headers that a page may look at; the others are always the same. */
static bool matters(const char *name)
{
    static const char *const names[] = { "Referer", "Accept-Language", "Authorization", NULL };
    for (const char *const *n = names; *n; n++)
        if (strcasecmp(name, *n) == 0)
            return true;
    return strncasecmp(name, "X-", 2) == 0;
}

static void add_headers(Request *r, const HttpMessage *m)
{
    for (size_t i = 0; i < m->headers.len; i++) {
        const Header *h = &m->headers.items[i];
        if (!matters(h->name) ||
            strspn(h->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789-") != strlen(h->name))
            continue;
        char *path = xprintf("SERVER[HTTP_%s]", h->name);
        for (char *c = path + 12; *c != ']'; c++)
            *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
        request_set(r, path, h->value, strlen(h->value));
        free(path);
    }
}

static bool in_jar(const Strings *jar, const char *cookie, size_t n)
{
    for (size_t i = 0; i < jar->len; i++)
        if (strlen(jar->items[i]) == n && memcmp(jar->items[i], cookie, n) == 0)
            return true;
    return false;
}

static void add_cookies(Request *r, const char *header, const Strings *jar)
{
    size_t known = 0;
    for (const char *p = header ? header : ""; *p;) {
        p += strspn(p, " ;");
        size_t n = strcspn(p, ";"), eq = strcspn(p, "=");
        if (in_jar(jar, p, n)) {
            known++;
        } else if (eq && eq < n) {
            size_t len;
            char *name = xstrndup(p, eq), *path = request_path("COOKIE", name);
            char *value = url_decode(p + eq + 1, n - eq - 1, &len);
            request_set(r, path, value, len);
            free(value);
            free(path);
            free(name);
        }
        p += n;
    }
    r->forgets = jar->len && !known;
}

Request *http_request(const HttpMessage *m, const HttpTarget *t, const Strings *jar)
{
    Request *r = request_new(t->file);
    bool post = strcmp(m->method, "POST") == 0;
    r->post = post;
    if (!post && strcmp(m->method, "GET") != 0)
        request_set(r, "SERVER[REQUEST_METHOD]", m->method, strlen(m->method));
    request_add_query(r, "GET", m->query);
    if (t->info)
        request_set(r, "SERVER[PATH_INFO]", t->info, strlen(t->info));
    add_body(r, m);
    add_headers(r, m);
    add_cookies(r, http_header(m, "Cookie"), jar);
    return r;
}

/* ---- the answer */

static const char *reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } rows[] = {
        { 200, "OK" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 303, "See Other" },
        { 304, "Not Modified" },
        { 400, "Bad Request" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 413, "Content Too Large" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].text;
    return "Status";
}

/* The application's clock stands still, and the browser's goes on: cookies live
 * until the browser ends, or are taken away. */
static void add_cookie(const char *value, Str *out)
{
    Strings jar = { 0 };
    cookies_set(&jar, value);
    size_t n = strcspn(value, ";");
    str_add(out, "Set-Cookie: ");
    str_addn(out, value, n);
    if (!jar.len)
        str_add(out, "; Max-Age=0");
    strings_release(&jar);
    for (const char *p = value + n; *p;) {
        p += strspn(p, "; ");
        n = strcspn(p, ";");
        if (strncasecmp(p, "path=", 5) == 0 || strncasecmp(p, "httponly", 8) == 0 ||
            strncasecmp(p, "samesite=", 9) == 0) {
            str_add(out, "; ");
            str_addn(out, p, n);
        }
        p += n;
    }
    str_add(out, "\r\n");
}

static void finish(const char *body, size_t n, bool head_only, Str *out)
{
    str_addf(out, "Content-Length: %zu\r\nConnection: close\r\n\r\n", n);
    if (!head_only)
        str_addn(out, body, n);
}

void http_plain(int status, const char *type, const char *body, size_t n, const char *location,
                bool head_only, Str *out)
{
    str_addf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n", status, reason(status), type);
    if (location)
        str_addf(out, "Location: %s\r\n", location);
    finish(body, n, head_only, out);
}

void http_answer(const Reply *r, bool head_only, Str *out)
{
    static const char *const ours[] = { "Status",     "Content-Length", "Transfer-Encoding",
                                        "Connection", "Keep-Alive",     "Date" };
    int status = r->status >= 200 && r->status <= 599 ? r->status : 200;
    str_addf(out, "HTTP/1.1 %d %s\r\n", status, reason(status));
    for (size_t i = 0; i < r->headers.len; i++) {
        const Header *h = &r->headers.items[i];
        bool mine =
            !is_token(h->name, strlen(h->name)) || !is_printable(h->value, strlen(h->value));
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            mine = mine || strcasecmp(h->name, ours[k]) == 0;
        if (!mine && strcasecmp(h->name, "Set-Cookie") == 0)
            add_cookie(h->value, out);
        else if (!mine)
            str_addf(out, "%s: %s\r\n", h->name, h->value);
    }
    finish(str_c(&r->body), r->body.len, head_only, out);
}
