#include "finding/suppress.h"
#include "base/file.h"
#include <ctype.h>
#include <fnmatch.h>

/* What a suppressing comment has in it. */
#define MARK "sundew:"

/* One name or pattern of one suppression. */
typedef struct Entry {
    const char *name;          /* technique, rule, technique/rule; or a pattern */
    const char *path;          /* file; in the ignore file a pattern */
    int line;                  /* that it covers; 0: all */
    const char *reason;        /* NULL: none given, does not count */
    const char *at;            /* "file:line" of the suppression itself */
    const Strings *techniques; /* that looked at the file; NULL: ignore file */
    bool used;
} Entry;

typedef Vec(Entry) Entries;

static const char *trim(Arena *a, const char *s, size_t n)
{
    while (n && isspace((unsigned char)*s))
        s++, n--;
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    return arena_strndup(a, s, n);
}

/* "(reason)", or just "reason"; NULL if there is none. */
static const char *parse_reason(Arena *a, const char *s, size_t n)
{
    const char *text = trim(a, s, n);
    size_t len = strlen(text);
    if (len >= 2 && text[0] == '(' && text[len - 1] == ')')
        text = trim(a, text + 1, len - 2);
    return *text ? text : NULL;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '/';
}

/*
 * The inside of a comment: "… sundew: ignore NAME, NAME (reason)". Gives an
 * entry for each name; all share the reason behind them.
 */
static void parse_comment(const char *s, size_t n, const Entry *like, Arena *a, Entries *out)
{
    const char *end = s + n;
    const char *p = memmem(s, n, MARK, strlen(MARK));
    if (!p || (p > s && (isalnum((unsigned char)p[-1]) || p[-1] == '_')))
        return;
    p += strlen(MARK);
    while (p < end && *p == ' ')
        p++;
    if (end - p < 6 || memcmp(p, "ignore", 6) != 0 || (end - p > 6 && is_name(p[6])))
        return;
    p += 6;
    size_t first = out->len;
    bool more;
    do {
        while (p < end && (isspace((unsigned char)*p) || *p == ','))
            p++;
        const char *name = p;
        while (p < end && is_name(*p))
            p++;
        Entry e = *like;
        e.name = arena_strndup(a, name, (size_t)(p - name));
        vec_push(out, e);
        while (p < end && *p == ' ')
            p++;
        more = p < end && *p == ',';
    } while (more);
    const char *reason = parse_reason(a, p, (size_t)(end - p));
    for (size_t i = first; i < out->len; i++)
        out->items[i].reason = *out->items[i].name ? reason : NULL;
}

static size_t comment_length(const char *s, size_t n)
{
    return n >= 2 && s[n - 2] == '*' && s[n - 1] == '/' ? n - 2 : n;
}

/* Reads one line's comments; says whether there is code on it. */
static bool scan_line(const Source *src, int line, const Entry *like, Arena *a, Entries *out)
{
    size_t n;
    const char *text = source_line(src, line, &n);
    CLine l = csyntax_line(text, n, source_state(src, line));
    bool code = false;
    for (CToken t; csyntax_next(&l, &t);) {
        if (t.kind == CTOKEN_COMMENT)
            parse_comment(text + t.from, comment_length(text + t.from, t.to - t.from), like, a,
                          out);
        else
            for (size_t i = t.from; i < t.to; i++)
                code |= !isspace((unsigned char)text[i]);
    }
    return code;
}

/* A comment beside code covers its line; one that stands alone covers the
 * next line with code. */
static void scan_file(const SeenFile *f, const Source *src, Arena *a, Entries *out)
{
    size_t waiting = out->len;         /* from here on the line is not known */
    for (int line = 1; line <= source_lines(src); line++) {
        Entry like = { .path = f->path, .techniques = &f->techniques };
        size_t before = out->len;
        bool code = scan_line(src, line, &like, a, out);
        for (size_t i = before; i < out->len; i++)
            out->items[i].at = arena_printf(a, "%s:%d", f->path, line);
        if (!code)
            continue;
        for (; waiting < out->len; waiting++)
            out->items[waiting].line = line;
    }
    for (; waiting < out->len; waiting++)
        out->items[waiting].line = -1;          /* the file's end: nothing */
}

/* ---- the ignore file */

/* A word; "\ " is a blank inside one, as fnmatch has it. */
static const char *word(const char **p, Arena *a)
{
    while (isspace((unsigned char)**p))
        ++*p;
    const char *from = *p;
    while (**p && !isspace((unsigned char)**p))
        *p += **p == '\\' && (*p)[1] ? 2 : 1;
    return arena_strndup(a, from, (size_t)(*p - from));
}

static void parse_ignore_line(const char *text, int line, Arena *a, Entries *out)
{
    const char *p = text;
    Entry e = { .at = arena_printf(a, "%s:%d", IGNORE_FILE, line) };
    e.name = word(&p, a);
    if (!*e.name || *e.name == '#')
        return;
    e.path = word(&p, a);
    if (*e.path && str_ends(e.path, "/"))
        e.path = arena_printf(a, "%s*", e.path);
    e.reason = *e.path ? parse_reason(a, p, strlen(p)) : NULL;
    vec_push(out, e);
}

static bool read_ignore_file(const char *root, Arena *a, Entries *out, Err *err)
{
    char *path = path_join(root, IGNORE_FILE);
    Str text = { 0 };
    bool ok = !file_exists(path) || file_read(path, &text, err);
    int line = 0;
    char *rest = text.data;
    for (char *each; ok && (each = strsep(&rest, "\n"));)
        parse_ignore_line(each, ++line, a, out);
    str_release(&text);
    free(path);
    return ok;
}

/* ---- matching */

static bool name_fits(const Entry *e, const StoredFinding *f)
{
    const char *rule = f->finding.rule;
    const char *slash = strchr(rule, '/');
    if (!e->techniques)
        return fnmatch(e->name, rule, 0) == 0 || fnmatch(e->name, f->technique, 0) == 0;
    return strcmp(e->name, rule) == 0 || strcmp(e->name, f->technique) == 0 ||
           (slash && strcmp(e->name, slash + 1) == 0);
}

static bool place_fits(const Entry *e, const Location *at)
{
    if (!e->techniques)
        return fnmatch(e->path, at->file, 0) == 0;
    int last = at->end_line > at->line ? at->end_line : at->line;
    return e->line >= at->line && e->line <= last;
}

static void try_entry(Entry *e, StoredFinding *f)
{
    if (!e->reason || !name_fits(e, f) || !place_fits(e, &f->finding.where))
        return;
    e->used = true;
    if (f->suppressed)
        return;
    f->suppressed = e->reason;
    f->suppressed_at = e->at;
    f->suppressed_in_source = e->techniques != NULL;
}

/* Did the technique that `e` names look at the file? A bare rule name does not
 * tell its technique: then we don't know. */
static bool was_tried(const Entry *e, const FindingSet *set, bool whole)
{
    size_t n = strcspn(e->name, "/");
    if (e->techniques) {
        for (size_t i = 0; i < e->techniques->len; i++)
            if (strlen(e->techniques->items[i]) == n &&
                memcmp(e->techniques->items[i], e->name, n) == 0)
                return true;
        return false;
    }
    char *technique = xstrndup(e->name, n);
    bool tried = false;
    for (size_t i = 0; whole && i < set->nruns; i++)
        tried |= !set->runs[i].incomplete && fnmatch(technique, set->runs[i].technique, 0) == 0;
    free(technique);
    return tried;
}

static void complain(FindingSet *set, const Entries *entries, bool whole, Arena *a)
{
    set->unused_suppressions = arena_array(a, char *, entries->len);
    for (size_t i = 0; i < entries->len; i++) {
        const Entry *e = &entries->items[i];
        char *text = NULL;
        if (!*e->name || !*e->path)
            text = arena_printf(a,
                                e->techniques
                                    ? "%s: this suppression names no rule, so it does not count: "
                                      "write 'sundew: ignore RULE (reason)'"
                                    : "%s: expected a pattern for the rule, one for the path, "
                                      "and (a reason)",
                                e->at);
        else if (!e->reason)
            text = arena_printf(a,
                                "%s: this suppression of %s gives no reason, "
                                "so it does not count",
                                e->at, e->name);
        else if (!e->used && was_tried(e, set, whole))
            text = arena_printf(a,
                                "%s: this suppression of %s matches no "
                                "finding",
                                e->at, e->name);
        if (text)
            set->unused_suppressions[set->nunused_suppressions++] = text;
    }
}

bool suppressions_apply(FindingSet *set, const SeenFile *seen, size_t nseen, bool whole,
                        Sources *sources, Arena *a, Err *err)
{
    Entries entries = { 0 };
    Map begins = { 0 };                  /* path to the file's first entry + 1 */
    for (size_t i = 0; i < nseen; i++) {
        map_put(&begins, seen[i].path, (void *)(entries.len + 1));
        if (sources_mention(sources, seen[i].path, MARK))
            scan_file(&seen[i], sources_get(sources, seen[i].path), a, &entries);
    }
    size_t in_source = entries.len;
    bool ok = read_ignore_file(set->root, a, &entries, err);
    for (size_t i = 0; i < set->len; i++) {
        StoredFinding *f = &set->items[i];
        const char *file = f->finding.where.file;
        if (!file)
            continue;
        size_t k = (size_t)map_get(&begins, file);
        for (; k && k <= in_source && strcmp(entries.items[k - 1].path, file) == 0; k++)
            try_entry(&entries.items[k - 1], f);
        for (k = in_source; k < entries.len; k++)
            try_entry(&entries.items[k], f);
    }
    complain(set, &entries, whole, a);
    map_release(&begins);
    vec_release(&entries);
    return ok;
}
