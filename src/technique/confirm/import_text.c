/* Warnings as text: clang-tidy's YAML, and lines as compilers print them. */
#include "base/file.h"
#include "technique/confirm/warnings.h"
#include <ctype.h>

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

/* Line and column of an offset in a file; 0: it can't be read. */
static void place_of(const char *path, long long offset, long long *line, long long *column)
{
    Str text = { 0 };
    *line = *column = 0;
    if (offset >= 0 && file_is_regular(path) && file_read(path, &text, NULL) &&
        (size_t)offset <= text.len) {
        *line = *column = 1;
        for (size_t i = 0; i < (size_t)offset; i++) {
            *column = text.data[i] == '\n' ? 1 : *column + 1;
            *line += text.data[i] == '\n';
        }
    }
    str_release(&text);
}

static void flush(Diagnostic *d, Warnings *out)
{
    long long line, column;
    if (d->name && d->file && *d->file) {
        place_of(d->file, d->offset, &line, &column);
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
            flush(&d, out);
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
    flush(&d, out);
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
