/*
 * Parameters: $name and ${name} are replaced in the whole text, in strings too,
 * before anything is parsed. Comments stay as they are. %declare and %default
 * lines are read here and vanish. The body of a macro keeps its own $names.
 */
#include "base/file.h"
#include "dataflow/pig_int.h"
#include <ctype.h>
#include <stdio.h>

typedef struct Writer {
    Arena *a;
    const PigText *in;
    PigParams *params;
    bool body;                 /* unknown names stay */
    Str text;
    Vec(SrcPos) pos;
    Vec(bool) put;
    Err *err;
    int braces;                /* inside a macro's body, if > 0 */
} Writer;

PigText pig_text_of(Arena *a, const char *file, const char *s, size_t n)
{
    SrcPos *pos = arena_array(a, SrcPos, n + 1);
    bool *put = arena_array(a, bool, n + 1);
    int line = 1, column = 1;
    for (size_t i = 0; i <= n; i++) {
        pos[i] = (SrcPos){ file, line, column };
        column++;
        if (i < n && s[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return (PigText){ file, s, n, pos, put };
}

static void emit(Writer *w, size_t i)
{
    str_addc(&w->text, w->in->s[i]);
    vec_push(&w->pos, w->in->pos[i]);
    vec_push(&w->put, w->in->put[i]);
}

static void emit_value(Writer *w, const char *value, size_t at)
{
    for (; *value; value++) {
        str_addc(&w->text, *value);
        vec_push(&w->pos, w->in->pos[at]);
        vec_push(&w->put, true);
    }
}

static bool fail_at(Writer *w, size_t i, const char *what, const char *name)
{
    SrcPos p = w->in->pos[i];
    return err_set(w->err, "%s:%d:%d: %s%s", p.file, p.line, p.column, what, name);
}

static char *lower(const char *s, size_t n)
{
    char *r = xstrndup(s, n);
    for (char *p = r; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return r;
}

static const char *value_of(const PigParams *p, const char *s, size_t n)
{
    char *name = lower(s, n);
    const char *v = map_get(&p->fixed, name);
    if (!v)
        v = map_get(&p->soft, name);
    free(name);
    return v || !p->outer ? v : value_of(p->outer, s, n);
}

static size_t name_end(const PigText *t, size_t i)
{
    while (i < t->n && (isalnum((unsigned char)t->s[i]) || t->s[i] == '_'))
        i++;
    return i;
}

/* At a '$': one parameter, or a position. Returns the next byte; 0: failed. */
static size_t replace_one(Writer *w, size_t i)
{
    const PigText *t = w->in;
    bool braced = i + 1 < t->n && t->s[i + 1] == '{';
    size_t from = i + 1 + braced, to = name_end(t, from);
    if (to == from || isdigit((unsigned char)t->s[from]) ||
        (braced && (to >= t->n || t->s[to] != '}'))) {
        emit(w, i);
        return i + 1;
    }
    const char *v = value_of(w->params, t->s + from, to - from);
    if (v) {
        emit_value(w, v, i);
    } else if (w->body || w->braces) {
        for (size_t k = i; k < to + braced; k++)
            emit(w, k);
    } else {
        char *name = xstrndup(t->s + from, to - from);
        fail_at(w, i, "no value for the parameter $", name);
        free(name);
        return 0;
    }
    return to + braced;
}

static size_t line_end(const PigText *t, size_t i)
{
    while (i < t->n && t->s[i] != '\n')
        i++;
    return i;
}

static size_t comment_end(const PigText *t, size_t i)
{
    if (t->s[i] == '-')
        return line_end(t, i);
    for (i += 3; i < t->n; i++)
        if (t->s[i - 1] == '*' && t->s[i] == '/')
            return i + 1;
    return t->n;
}

static bool comment_begins(const PigText *t, size_t i)
{
    return i + 1 < t->n &&
           ((t->s[i] == '-' && t->s[i + 1] == '-') || (t->s[i] == '/' && t->s[i + 1] == '*'));
}

static bool put_param(Writer *w, Map *m, const char *name, size_t n, const char *value)
{
    char *low = lower(name, n);
    map_put(m, low, arena_strdup(w->a, value));
    free(low);
    return true;
}

/* Replaces parameters inside one value; "\$" stays a dollar. */
static char *expand_value(Writer *w, const char *s, size_t n)
{
    Str out = { 0 };
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\' && i + 1 < n && s[i + 1] == '$') {
            str_addc(&out, s[++i]);
            continue;
        }
        size_t from = i + 1 + (i + 1 < n && s[i + 1] == '{'), to = from;
        while (to < n && (isalnum((unsigned char)s[to]) || s[to] == '_'))
            to++;
        const char *v = s[i] == '$' && to > from ? value_of(w->params, s + from, to - from) : NULL;
        if (v) {
            str_add(&out, v);
            i = to - 1 + (from > i + 1);
        } else {
            str_addc(&out, s[i]);
        }
    }
    return str_take(&out);
}

/* "%declare name value" or "%default name value", up to the end of the line. */
static size_t declaration(Writer *w, size_t i)
{
    const PigText *t = w->in;
    bool soft = (t->s[i + 3] | 32) == 'f';
    size_t end = line_end(t, i), p = i + 8;
    while (p < end && isspace((unsigned char)t->s[p]))
        p++;
    size_t name = p, name_to = name_end(t, p);
    p = name_to;
    while (p < end && isspace((unsigned char)t->s[p]))
        p++;
    size_t to = end;
    for (size_t k = p + 1; k + 2 < end; k++)
        if (isspace((unsigned char)t->s[k]) && t->s[k + 1] == '-' && t->s[k + 2] == '-')
            to = to < k ? to : k;
    while (to > p && (isspace((unsigned char)t->s[to - 1]) || t->s[to - 1] == ';'))
        to--;
    if (name_to == name || to == p) {
        fail_at(w, i, "expected a name and a value after %declare or %default", "");
        return 0;
    }
    if (t->s[p] == '`' && value_of(w->params, t->s + name, name_to - name))
        return end;                                /* --param says it */
    if (t->s[p] == '`') {
        char *n = xstrndup(t->s + name, name_to - name);
        fail_at(w, p,
                "the value is a shell command, which Sundew does not run: "
                "give it as --param ",
                n);
        free(n);
        return 0;
    }
    if (to > p + 1 && (t->s[p] == '\'' || t->s[p] == '"') && t->s[to - 1] == t->s[p]) {
        p++;
        to--;
    }
    char *v = expand_value(w, t->s + p, to - p);
    /* A declaration in the script wins over --param. */
    put_param(w, soft ? &w->params->soft : &w->params->fixed, t->s + name, name_to - name, v);
    free(v);
    return end;
}

static bool word_at(const PigText *t, size_t i, const char *word)
{
    size_t n = strlen(word);
    if (i + n > t->n || strncasecmp(t->s + i, word, n))
        return false;
    bool before = i > 0 && (isalnum((unsigned char)t->s[i - 1]) || t->s[i - 1] == '_');
    return !before && !(i + n < t->n && isalnum((unsigned char)t->s[i + n]));
}

/* RETURNS … {: the body of a macro begins. Nested braces are counted. */
static void watch_braces(Writer *w, size_t i, bool *returns)
{
    if (word_at(w->in, i, "returns"))
        *returns = true;
    char c = w->in->s[i];
    if (c == '{' && (*returns || w->braces)) {
        w->braces++;
        *returns = false;
    }
    if (c == '}' && w->braces)
        w->braces--;
}

/* Commands of Pig's shell: they make no table, and their words are no tokens. */
static const char *const shell[] = {
    "fs",          "sh",       "cat",     "cd",   "ls",       "pwd",
    "cp",          "mv",       "rm",      "rmf",  "mkdir",    "copyFromLocal",
    "copyToLocal", "exec",     "run",     "kill", "describe", "explain",
    "illustrate",  "aliases",  "history", "quit", "help",     "clear",
    "set",         "register", "sql",     NULL,
};

/* A shell command stands at the beginning of a statement and ends with the line
 * or at a semicolon. Returns its end; `i`: there is none. */
static size_t shell_end(const PigText *t, size_t i)
{
    size_t end = name_end(t, i);
    size_t next = end;
    while (next < t->n && (t->s[next] == ' ' || t->s[next] == '\t'))
        next++;
    if (end == i || (next < t->n && t->s[next] == '=') || t->put[i])
        return i;
    bool found = false;
    for (size_t k = 0; shell[k] && !found; k++)
        found = strlen(shell[k]) == end - i && !strncasecmp(shell[k], t->s + i, end - i);
    if (!found)
        return i;
    while (end < t->n && t->s[end] != '\n' && t->s[end] != ';')
        end++;
    return end < t->n && t->s[end] == ';' ? end + 1 : end;
}

static bool replace_all(Writer *w)
{
    const PigText *t = w->in;
    bool returns = false, string = false, fresh = true;
    for (size_t i = 0; i < t->n;) {
        size_t end = fresh && !string ? shell_end(t, i) : i;
        if (end > i) {
            i = end;
            continue;
        }
        if (!string && comment_begins(t, i)) {
            for (end = comment_end(t, i); i < end; i++)
                emit(w, i);
            continue;
        }
        if (!isspace((unsigned char)t->s[i]))
            fresh = !string && (t->s[i] == ';' || t->s[i] == '{' || t->s[i] == '}');
        if (t->s[i] == '\'')
            string = !string;
        if (t->s[i] == '\\' && i + 1 < t->n) {
            if (t->s[i + 1] != '$')
                emit(w, i);
            emit(w, i + 1);
            i += 2;
            continue;
        }
        if (!string)
            watch_braces(w, i, &returns);
        if (!string && t->s[i] == '%' && (word_at(t, i, "%declare") || word_at(t, i, "%default"))) {
            i = declaration(w, i);
            fresh = true;
        } else if (t->s[i] == '$') {
            i = replace_one(w, i);
        } else {
            emit(w, i++);
            continue;
        }
        if (!i)
            return false;
    }
    return true;
}

bool pig_replace(Arena *a, const PigText *in, PigParams *params, bool body, PigText *out, Err *err)
{
    Writer w = { .a = a, .in = in, .params = params, .body = body, .err = err };
    bool ok = replace_all(&w);
    if (ok) {
        vec_push(&w.pos, in->pos[in->n]);
        SrcPos *pos = arena_array(a, SrcPos, w.pos.len);
        bool *put = arena_array(a, bool, w.put.len + 1);
        memcpy(pos, w.pos.items, w.pos.len * sizeof *pos);
        if (w.put.len)
            memcpy(put, w.put.items, w.put.len * sizeof *put);
        *out = (PigText){ in->file, arena_strndup(a, str_c(&w.text), w.text.len), w.text.len, pos,
                          put };
    }
    str_release(&w.text);
    vec_release(&w.pos);
    vec_release(&w.put);
    return ok;
}
