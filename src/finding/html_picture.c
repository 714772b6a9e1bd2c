/*
 * Pictures: Graphviz draws them while the page is written, and the SVG is
 * written anew with only the elements and attributes that a drawing needs.
 * Anything else in it (scripts, links, foreign objects, style) and the picture
 * is dropped; its source is shown instead.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "finding/html_int.h"
#include <ctype.h>

/* For one picture, and for all of a page. */
enum { SECONDS = 10, ALL_SECONDS = 60 };

static const char *const elements[] = {
    "svg", "g", "title", "polygon", "polyline", "path", "ellipse", "text", NULL,
};
static const char *const kept[] = {
    "width",
    "height",
    "viewBox",
    "transform",
    "fill",
    "stroke",
    "points",
    "x",
    "y",
    "cx",
    "cy",
    "rx",
    "ry",
    "d",
    "text-anchor",
    "font-size",
    "font-weight",
    "font-style",
    "stroke-width",
    "stroke-dasharray",
    "fill-opacity",
    "stroke-opacity",
    "text-decoration",
    NULL,
};
static const char *const dropped[] = {
    "id", "class", "xmlns", "xmlns:xlink", "font-family", "xml:space", NULL,
};
static const char *const entities[] = {
    "&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#45;", "&#160;", NULL,
};

static bool among(const char *const *list, const char *s, size_t n)
{
    for (; *list; list++)
        if (strlen(*list) == n && memcmp(*list, s, n) == 0)
            return true;
    return false;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == ':' || c == '_';
}

/* ` name="value"` at *p: kept, dropped, or not allowed (false). */
static bool attribute(Str *out, const char **p)
{
    const char *name = *p;
    size_t n = 0;
    while (is_name(name[n]))
        n++;
    if (name[n] != '=' || name[n + 1] != '"')
        return false;
    const char *value = name + n + 2;
    size_t len = strcspn(value, "\"");
    if (!value[len])
        return false;
    *p = value + len + 1;
    if (!among(kept, name, n))
        return among(dropped, name, n);
    if (memmem(value, len, "url", 3) || memchr(value, '&', len))
        return false;
    str_addc(out, ' ');
    str_addn(out, name, n);
    str_add(out, "=\"");
    escape_html(out, value, len);
    str_addc(out, '"');
    return true;
}

/* "<name …>", "</name>" or "<name …/>" at *p. */
static bool element(Str *out, const char **p)
{
    bool closing = (*p)[1] == '/';
    const char *name = *p + 1 + closing;
    size_t n = 0;
    while (is_name(name[n]))
        n++;
    if (!among(elements, name, n))
        return false;
    str_add(out, closing ? "</" : "<");
    str_addn(out, name, n);
    for (*p = name + n; isspace((unsigned char)**p);) {
        *p += strspn(*p, " \t\r\n");
        if (**p != '>' && **p != '/' && !attribute(out, p))
            return false;
    }
    if (str_starts(*p, "/>")) {
        str_add(out, "/>");
        *p += 2;
        return true;
    }
    str_addc(out, '>');
    return *(*p)++ == '>';
}

/* Text up to the next tag; only known entities. */
static bool characters(Str *out, const char **p)
{
    while (**p && **p != '<') {
        size_t n = strcspn(*p, "<&");
        escape_html(out, *p, n);
        *p += n;
        if (**p != '&')
            continue;
        n = strcspn(*p, ";") + 1;
        if (!among(entities, *p, n))
            return false;
        str_addn(out, *p, n);
        *p += n;
    }
    return true;
}

static bool skip_to(const char **p, const char *end)
{
    const char *at = strstr(*p, end);
    *p = at ? at + strlen(end) : *p;
    return at != NULL;
}

/* The drawing alone, or false. */
static bool clean_svg(Str *out, const char *svg)
{
    const char *p = strstr(svg, "<svg");
    bool ok = p != NULL;
    while (ok && *p) {
        if (str_starts(p, "<!--"))
            ok = skip_to(&p, "-->");
        else if (*p == '<')
            ok = element(out, &p);
        else
            ok = characters(out, &p);
    }
    return ok;
}

/* With SERVER_NAME set Graphviz reads no files that the graph names. */
static bool run_dot(const char *source, ProcResult *r)
{
    const char *dir = tempdir_new(NULL, NULL);
    if (!dir)
        return false;
    char *in = path_join(dir, "in.dot");
    char *path = xprintf("PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    char *const env[] = { path, "SERVER_NAME=none", "LC_ALL=C.UTF-8", NULL };
    char *const argv[] = { "dot", "-Tsvg", in, NULL };
    Proc proc = { .argv = argv,
                  .env = env,
                  .in = "/dev/null",
                  .capture = true,
                  .seconds = SECONDS,
                  .memory = (uint64_t)1 << 30,
                  .most_output = 4 << 20 };
    bool ok = file_write(in, source, strlen(source), NULL) && proc_run(&proc, r, NULL) &&
              r->status == 0 && !r->timed_out && !r->output_cut;
    free(in);
    free(path);
    tempdir_remove(dir);
    return ok;
}

/* The SVG, or "" if it can't be drawn; each picture is drawn once. */
static const char *draw(Html *h, const char *source)
{
    void **slot = map_slot(&h->pictures, source);
    if (*slot)
        return *slot;
    Str svg = { 0 };
    ProcResult r = { 0 };
    double begin = clock_seconds();
    bool ok = h->drawing < ALL_SECONDS && run_dot(source, &r) && clean_svg(&svg, str_c(&r.out));
    if (!ok)
        str_reset(&svg);
    h->drawing += clock_seconds() - begin;
    proc_result_release(&r);
    *slot = xstrdup(str_c(&svg));
    str_release(&svg);
    return *slot;
}

void html_picture(Html *h, const char *dot)
{
    const char *svg = draw(h, dot);
    if (*svg) {
        str_add(h->out, "<figure class=\"picture box\">");
        str_add(h->out, svg);
        str_add(h->out, "</figure>");
        return;
    }
    str_add(h->out, "<pre class=\"box\"><code>");
    escape_html_z(h->out, dot);
    str_add(h->out, "</code></pre>");
}
