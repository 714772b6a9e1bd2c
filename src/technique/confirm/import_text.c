/* Warnings as text: clang-tidy's YAML, and lines as compilers print them. */
#include "base/file.h"
#include "base/map.h"
#include "technique/confirm/warnings.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

/* ---- clang-tidy --export-fixes: names, paths and offsets */

typedef struct Diagnostic {
    char *name, *message, *file;
    long long offset;
} Diagnostic;

/* 'text' and "text" without their quotes; the caller frees it. */
static char *unquoted(const char *s, size_t n)
{
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    while (n && isspace((unsigned char)*s)) {
        s++;
        n--;
    }
    if (n >= 2 && (*s == '\'' || *s == '"') && s[n - 1] == *s)
        return xstrndup(s + 1, n - 2);
    return xstrndup(s, n);
}

/* Where the lines of files begin. A report may name many places of a large file, and many large
 * files: each is read once, and not more than so many bytes of all. */
enum { MOST_OF_ONE = 64 << 20, MOST_OF_ALL = 1 << 30 };

typedef struct Lines {
    Vec(size_t) starts;
    size_t len;
} Lines;

typedef struct LineIndex {
    Map files;                       /* path: Lines */
    size_t read;
} LineIndex;

static Lines *lines_of(LineIndex *x, const char *path)
{
    void **slot = map_slot(&x->files, path);
    if (*slot)
        return *slot;
    Lines *l = *slot = xcalloc(1, sizeof *l);
    Str text = { 0 };
    if (x->read < MOST_OF_ALL && file_is_regular(path) && file_size(path) <= MOST_OF_ONE &&
        file_read(path, &text, NULL)) {
        l->len = text.len;
        x->read += text.len;
        vec_push(&l->starts, (size_t)0);
        for (size_t i = 0; i < text.len; i++)
            if (text.data[i] == '\n')
                vec_push(&l->starts, i + 1);
    }
    str_release(&text);
    return l;
}

static void lines_release(LineIndex *x)
{
    for (size_t i = 0; i < x->files.len; i++) {
        Lines *l = x->files.entries[i].value;
        vec_release(&l->starts);
        free(l);
    }
    map_release(&x->files);
}

/* Line and column of an offset in a file; 0: it can't be read. */
static void place_of(LineIndex *x, const char *path, long long offset, long long *line,
                     long long *column)
{
    *line = *column = 0;
    const Lines *l = offset >= 0 ? lines_of(x, path) : NULL;
    if (!l || !l->starts.len || (size_t)offset > l->len)
        return;
    size_t low = 0, high = l->starts.len;      /* the last that begins there or before */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        *(l->starts.items[mid] <= (size_t)offset ? &low : &high) = mid;
    }
    assert(l->starts.items[low] <= (size_t)offset);
    *line = (long long)low + 1;
    *column = (long long)((size_t)offset - l->starts.items[low]) + 1;
}

static void flush(LineIndex *x, Diagnostic *d, Warnings *out)
{
    long long line, column;
    if (d->name && d->file && *d->file) {
        place_of(x, d->file, d->offset, &line, &column);
        warnings_add(out, "clang-tidy", d->name, d->file, line, column, d->message);
    }
    free(d->name);
    free(d->message);
    free(d->file);
    *d = (Diagnostic){ .offset = -1 };
}

static void set(char **to, const char *s, size_t n)
{
    if (!*to)                        /* the first is the message, notes follow */
        *to = unquoted(s, n);
}

static const char *line_end(const char *p, const char *end)
{
    const char *e = memchr(p, '\n', (size_t)(end - p));
    return e ? e : end;
}

void warnings_parse_yaml(const char *text, size_t n, Warnings *out)
{
    Diagnostic d = { .offset = -1 };
    LineIndex x = { 0 };
    const char *end = text + n;
    for (const char *p = text; p < end; p = line_end(p, end) + 1) {
        size_t left = (size_t)(line_end(p, end) - p);
        const char *s = p;
        while (left && (isspace((unsigned char)*s) || *s == '-')) {
            s++;
            left--;
        }
        const char *colon = memchr(s, ':', left);
        if (!colon)
            continue;
        size_t key = (size_t)(colon - s), rest = left - key - 1;
#define KEY(word) (key == sizeof word - 1 && !memcmp(s, word, key))
        if (KEY("DiagnosticName")) {
            flush(&x, &d, out);
            set(&d.name, colon + 1, rest);
        } else if (KEY("Message")) {
            set(&d.message, colon + 1, rest);
        } else if (KEY("FilePath")) {
            set(&d.file, colon + 1, rest);
        } else if (KEY("FileOffset") && d.offset < 0) {
            char *number = unquoted(colon + 1, rest);
            d.offset = strtoll(number, NULL, 10);
            free(number);
        }
#undef KEY
    }
    flush(&x, &d, out);
    lines_release(&x);
}

/* ---- FILE:LINE:COLUMN: warning: TEXT [-Wname] */

static bool number_at(const char **p, const char *end, long long *out)
{
    *out = 0;
    const char *s = *p;
    while (s < end && isdigit((unsigned char)*s) && *out < 1000000000)
        *out = *out * 10 + (*s++ - '0');
    if (s == *p || s >= end || *s != ':')
        return false;
    *p = s + 1;
    return true;
}

/* The last [name] of the line. */
static char *rule_at_end(const char *from, const char *end)
{
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    if (end == from || end[-1] != ']')
        return xstrdup("");
    const char *open = end - 1;
    while (open > from && *open != '[')
        open--;
    char *rule = xstrndup(open + 1, (size_t)(end - 1 - (open + 1)));
    char *cut = strpbrk(rule, ", ");   /* [-Wfoo,-Werror], [CWE-1] [-Wfoo] */
    if (cut)
        *cut = 0;
    return rule;
}

static const char *tool_of(const char *rule)
{
    return str_starts(rule, "-Wanalyzer") ? "gcc"
           : str_starts(rule, "-W")       ? "compiler"
           : strchr(rule, '-')            ? "clang-tidy"
           : strchr(rule, '.')            ? "clang"
                                          : "text";
}

static void parse_line(const char *p, const char *end, const char *tool, Warnings *out)
{
    long long line, column = 0;
    const char *colon = p;
    while ((colon = memchr(colon, ':', (size_t)(end - colon)))) {
        const char *at = colon + 1;
        if (number_at(&at, end, &line)) {
            if (!number_at(&at, end, &column))
                column = 0;
            while (at < end && *at == ' ')
                at++;
            bool warns = end - at > 8 && (!memcmp(at, "warning:", 8) || !memcmp(at, "error: ", 7));
            if (!warns)
                return;
            char *file = xstrndup(p, (size_t)(colon - p)), *rule = rule_at_end(at, end);
            char *message = xstrndup(at + 8, (size_t)(end - at - 8));
            warnings_add(out, tool ? tool : tool_of(rule), rule, file, line, column,
                         message + strspn(message, " "));
            free(file);
            free(rule);
            free(message);
            return;
        }
        colon++;
    }
}

void warnings_parse_lines(const char *text, size_t n, const char *tool, Warnings *out)
{
    const char *end = text + n;
    for (const char *p = text; p < end; p = line_end(p, end) + 1)
        if (line_end(p, end) > p)
            parse_line(p, line_end(p, end), tool, out);
}
