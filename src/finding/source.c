#include "finding/source.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include <assert.h>
#include <ctype.h>

enum { MOST_BYTES = 64 << 20 };

struct Source {
    Str text;
    size_t *begins;            /* nlines + 1 offsets; the last is the end */
    unsigned char *states;
    int nlines;
};

struct Sources {
    char *root, *real_root;
    Map files;                 /* path to Source, or to `missing` */
};

static Source missing;

Sources *sources_new(const char *root)
{
    Sources *all = xcalloc(1, sizeof *all);
    all->root = xstrdup(root);
    all->real_root = path_real(root);
    return all;
}

static void source_free(Source *s)
{
    if (!s || s == &missing)
        return;
    str_release(&s->text);
    free(s->begins);
    free(s->states);
    free(s);
}

void sources_free(Sources *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->files.len; i++)
        source_free(all->files.entries[i].value);
    map_release(&all->files);
    free(all->root);
    free(all->real_root);
    free(all);
}

static bool looks_like_source(const char *path)
{
    static const char *const ends[] = {
        ".c",  ".h",   ".i",   ".y",   ".l", ".inc", ".def", ".cc", ".cpp", ".cxx",
        ".hh", ".hpp", ".hxx", ".tcc", ".s", ".S",   ".rl",  ".re", ".php", NULL,
    };
    for (int i = 0; ends[i]; i++)
        if (str_ends(path, ends[i]))
            return true;
    return false;
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return str_starts(path, dir) && (path[n] == '/' || n == 1);
}

static bool may_read(const Sources *all, const char *path)
{
    char *real = path_real(path);
    bool ok = real && file_is_regular(real) && file_size(real) <= MOST_BYTES &&
              (looks_like_source(real) || (all->real_root && is_below(real, all->real_root)));
    free(real);
    return ok;
}

/* Where lines begin, and in what state of comment or string. */
static void index_lines(Source *s)
{
    Vec(size_t) begins = { 0 };
    Vec(unsigned char) states = { 0 };
    CState state = CSYNTAX_CODE;
    size_t len = s->text.len;
    const char *text = str_c(&s->text);
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t next = end ? (size_t)(end - text) + 1 : len;
        vec_push(&begins, at);
        vec_push(&states, (unsigned char)state);
        size_t n = next - at - (end != NULL);
        n -= n && text[at + n - 1] == '\r';
        CLine l = csyntax_line(text + at, n, state);
        for (CToken t; csyntax_next(&l, &t);)
            ;
        state = l.state;
        at = next;
    }
    assert(begins.len == states.len);
    s->nlines = (int)begins.len;
    vec_push(&begins, len);
    s->begins = begins.items;
    s->states = states.items;
}

char *sources_name(const Sources *all, const char *file)
{
    char *above = xstrdup(all->root);
    for (int up = 0; file && *file == '/' && up < 2; up++) {
        char *next = path_dir(above);
        free(above);
        above = next;
        if (above[1] && path_is_below(file, above)) {
            free(above);
            return path_between(file, all->root);
        }
    }
    free(above);
    return file ? xstrdup(file) : NULL;
}

const Source *sources_get(Sources *all, const char *file)
{
    if (!file)
        return NULL;
    void **slot = map_slot(&all->files, file);
    if (!*slot) {
        char *path = path_in(all->root, file);
        Source *s = xcalloc(1, sizeof *s);
        if (may_read(all, path) && file_read(path, &s->text, NULL)) {
            index_lines(s);
            *slot = s;
        } else {
            source_free(s);
            *slot = &missing;
        }
        free(path);
    }
    return *slot == &missing ? NULL : *slot;
}

bool sources_mention(const Sources *all, const char *file, const char *word)
{
    char *path = path_in(all->root, file);
    Str text = { 0 };
    bool found = may_read(all, path) && file_read(path, &text, NULL) &&
                 memmem(str_c(&text), text.len, word, strlen(word));
    str_release(&text);
    free(path);
    return found;
}

int source_lines(const Source *s) { return s ? s->nlines : 0; }

const char *source_line(const Source *s, int line, size_t *len)
{
    *len = 0;
    if (!s || line < 1 || line > s->nlines)
        return NULL;
    const char *text = s->text.data + s->begins[line - 1];
    size_t n = s->begins[line] - s->begins[line - 1];
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    *len = n;
    return text;
}

CState source_state(const Source *s, int line)
{
    assert(line >= 1 && line <= s->nlines);
    return s->states[line - 1];
}

void source_line_bare(const Source *s, int line, Str *out)
{
    size_t n;
    const char *text = source_line(s, line, &n);
    if (!text)
        return;
    CLine l = csyntax_line(text, n, source_state(s, line));
    for (CToken t; csyntax_next(&l, &t);) {
        if (t.kind == CTOKEN_COMMENT)
            continue;
        for (size_t i = t.from; i < t.to; i++)
            if (!isspace((unsigned char)text[i]))
                str_addc(out, text[i]);
    }
}
