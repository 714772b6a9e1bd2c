/*
 * Anchors: a warning names a file, a line and perhaps a column; a site has places.
 *
 * A rule of a tool belongs to families (families.c), and a site of one of them at
 * that line is the anchor; the nearest column wins. A rule that is not known may take
 * any site that our own matcher calls suspect. Everything else is not anchored: it is never
 * rejected, because nobody looked.
 */
#include "base/file.h"
#include "technique/confirm/confirm_int.h"
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Index {
    Map lines;                       /* "line base.c" → Vec of sites */
} Index;
typedef Vec(WatchSite *) Sites;

static void add_line(Index *ix, WatchSite *s, unsigned line)
{
    char *key = xprintf("%u %s", line, path_base(s->file));
    void **slot = map_slot(&ix->lines, key);
    if (!*slot)
        *slot = xcalloc(1, sizeof(Sites));
    Sites *list = *slot;
    if (!list->len || list->items[list->len - 1] != s)
        vec_push(list, s);
    free(key);
}

static void index_sites(Index *ix, const Watch *watch)
{
    size_t n;
    WatchSite *const *all = watch_sites(watch, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; all[i]->role != SITE_WITNESS && k < all[i]->nplaces; k++)
            add_line(ix, all[i], all[i]->places[k].line);
}

static void release_index(Index *ix)
{
    for (size_t i = 0; i < ix->lines.len; i++) {
        Sites *list = ix->lines.entries[i].value;
        vec_release(list);
        free(list);
    }
    map_release(&ix->lines);
}

/* Is `path`, as a tool wrote it, that file? A relative one may be seen from anywhere. */
static bool is_file(const char *path, const char *absolute)
{
    while (str_starts(path, "./"))
        path += 2;
    if (*path == '/') {
        if (!strcmp(path, absolute))
            return true;
        char *real = path_real(path), *other = path_real(absolute);
        bool same = real && other && !strcmp(real, other);
        free(real);
        free(other);
        return same;
    }
    size_t n = strlen(path), m = strlen(absolute);
    while (str_starts(path, "../")) {
        path += 3;
        n -= 3;
    }
    return m > n && absolute[m - n - 1] == '/' && !strcmp(absolute + m - n, path);
}

enum { FAR = 1 << 20 };          /* more columns than a line has */

/* Column 0 or 1 names the line. */
static unsigned distance(const WatchSite *s, unsigned line, unsigned column)
{
    unsigned best = FAR;
    for (unsigned k = 0; k < s->nplaces; k++)
        if (s->places[k].line == line) {
            unsigned c = s->places[k].column;
            unsigned d = column <= 1 ? 0 : c > column ? c - column : column - c;
            best = d < best ? d : best;
        }
    return best;
}

static int family_rank(const char *const *families, const char *family)
{
    for (int i = 0; families && families[i]; i++)
        if (!strcmp(families[i], family))
            return i;
    return -1;
}

/* `made`: the site's own code stands in this line or before it. */
static WatchSite *find_site(const Index *ix, const Warning *w, const char *const *families,
                            unsigned made)
{
    assert(w->line && *w->file);
    char *key = xprintf("%u %s", w->line, path_base(w->file));
    const Sites *list = map_get(&ix->lines, key);
    WatchSite *best = NULL;
    unsigned best_cost = 0;
    free(key);
    for (size_t i = 0; list && i < list->len; i++) {
        WatchSite *s = list->items[i];
        int rank = family_rank(families, s->rule->family);
        if ((families ? rank < 0 : s->role != SITE_SUSPECT) || !is_file(w->file, s->file) ||
            (!s->rule->asked && s->places[0].line > made))
            continue;
        unsigned cost = distance(s, w->line, w->column) * 8 + (s->role == SITE_LOOSE ? 4 : 0) +
                        (rank > 0 ? 2 : 0) + !s->open + (s->safe ? FAR * 8 : 0);
        if (!best || cost < best_cost) {
            best = s;
            best_cost = cost;
        }
    }
    return best;
}

/* The same place and family from another tool is the same warning. */
static bool is_repeated(Map *seen, Warnings *all, size_t i)
{
    Warning *w = &all->items.items[i];
    char *key = w->site ? xprintf("%s:%u %s", w->site->file, w->line, w->family)
                        : xprintf("%s:%u %s %s", w->file, w->line, w->tool, w->rule);
    uintptr_t at = (uintptr_t)map_get(seen, key);
    if (!at)
        map_put(seen, key, (void *)(uintptr_t)(i + 1));
    free(key);
    if (!at)
        return false;
    assert(at <= i);
    Warning *first = &all->items.items[at - 1];
    bool same = !strcmp(first->tool, w->tool) && !strcmp(first->rule, w->rule);
    if (!same && first->also.len < 8)
        strings_addf(&first->also, "%s %s", w->tool, w->rule);
    return true;
}

static void drop_repeated(Warnings *all)
{
    Map seen = { 0 };
    size_t n = 0;
    bool *repeated = xcalloc(all->items.len + 1, sizeof *repeated);
    for (size_t i = 0; i < all->items.len; i++)
        repeated[i] = is_repeated(&seen, all, i);
    for (size_t i = 0; i < all->items.len; i++) {
        if (repeated[i])
            strings_release(&all->items.items[i].also);
        else
            all->items.items[n++] = all->items.items[i];
    }
    all->items.len = n;
    free(repeated);
    map_release(&seen);
}

/* ---- a generated file may name another one, with `#line 7 "parse.y"`: debug information follows
 * it, and some tools do not */

/* The text of a file that has such lines; NULL: it has none. */
static const Str *generated(Inquiry *q, const char *path)
{
    void **slot = map_slot(&q->generated, path);
    if (*slot)
        return ((Str *)*slot)->len ? *slot : NULL;
    Str *text = xcalloc(1, sizeof *text);
    *slot = text;
    if (!file_is_regular(path) || !file_read(path, text, NULL) || !strstr(str_c(text), "\n#line "))
        str_release(text);
    return text->len ? text : NULL;
}

/* Where the warning is then; false: the same place. */
static bool follow_line(Inquiry *q, const Warning *w, Warning *out)
{
    const Str *text = w->line ? generated(q, w->file) : NULL;
    const char *line = text ? str_c(text) : NULL;
    char name[256];
    *out = *w;
    for (unsigned at = 1; line && at < w->line; at++) {
        unsigned n = 0;
        *name = 0;
        if (sscanf(line, "#line %u \"%255[^\"\n]\"", &n, name) >= 1 && n < 1u << 30) {
            out->line = n + (w->line - at - 1);
            out->file = *name ? arena_strdup(&q->warnings.arena, name) : out->file;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return out->line != w->line || out->file != w->file;
}

/* A pointer is lost where nothing is done: at a brace, or at a store that nobody reads. Then the
 * next code of the function counts, but no memory that is made there. */
enum { NEXT_LINES = 4 };

static bool is_about_leaks(const char *const *families)
{
    return family_rank(families, "leak") >= 0;
}

static WatchSite *next_site(const Index *ix, Warning w, const char *const *families)
{
    static const char *const leak[] = { "leak", NULL };
    unsigned line = w.line;
    for (unsigned k = 1; is_about_leaks(families) && k <= NEXT_LINES; k++) {
        w.line = line + k;
        WatchSite *s = find_site(ix, &w, leak, line);
        if (s)
            return s->head && s->head <= line ? s : NULL;
    }
    return NULL;
}

void inquiry_ask(Inquiry *q)
{
    for (size_t i = 0; i < q->warnings.items.len; i++) {
        const Warning *w = &q->warnings.items.items[i];
        Warning there;
        watch_ask(&q->lines, w->file, w->line);
        for (unsigned k = 1; is_about_leaks(family_of_rule(w->rule)) && k <= NEXT_LINES; k++)
            watch_ask(&q->lines, w->file, w->line + k);
        if (follow_line(q, w, &there))
            watch_ask(&q->lines, there.file, there.line);
    }
}

static void anchor(Inquiry *q, const Index *ix, Warning *w)
{
    const char *const *families = family_of_rule(w->rule);
    Warning there;
    w->site = w->line ? find_site(ix, w, families, UINT_MAX) : NULL;
    if (!w->site && follow_line(q, w, &there) && there.line) {
        w->site = find_site(ix, &there, families, UINT_MAX);
        w->line = w->site ? there.line : w->line;      /* as the site's file counts */
    }
    if (!w->site && w->line) {
        w->site = next_site(ix, *w, families);
        w->next = w->site != NULL;
    }
    if (w->site) {
        w->family = w->site->rule->family;
        w->site->wanted = true;
        return;
    }
    w->verdict = UNANCHORED;
    w->family = families && families[0] ? families[0] : "";
    w->reason = !w->line                   ? "the warning names no line"
                : families && !families[0] ? "no run speaks for or against this rule"
                : families
                    ? arena_printf(&q->warnings.arena,
                                   "no code of the program at this line fits %s", families[0])
                    : "the rule is not known, and none of ours fires at this line";
}

/* What our own matchers suspect; `only` is a family, or NULL. */
static void add_own(Inquiry *q, const char *only)
{
    size_t n;
    WatchSite *const *all = watch_sites(q->watch, &n);
    for (size_t i = 0; i < n; i++) {
        WatchSite *s = all[i];
        if (s->role != SITE_SUSPECT || s->wanted || !*s->file || !s->nplaces ||
            (only && strcmp(only, s->rule->family)))
            continue;
        Warning *w = vec_grow(&q->warnings.items);
        *w = (Warning){ .tool = "sundew",
                        .rule = arena_printf(&q->warnings.arena, "confirm/%s", s->rule->family),
                        .family = s->rule->family,
                        .file = s->file,
                        .line = s->places[0].line,
                        .column = s->places[0].column,
                        .message = "",
                        .site = s };
        s->wanted = true;
    }
}

void inquiry_anchor(Inquiry *q, bool own)
{
    Index ix = { 0 };
    index_sites(&ix, q->watch);
    for (size_t i = 0; i < q->warnings.items.len; i++)
        anchor(q, &ix, &q->warnings.items.items[i]);
    if (own)
        add_own(q, NULL);
    else if (session_flag(q->session, "races"))
        add_own(q, "race");
    drop_repeated(&q->warnings);
    release_index(&ix);
}
