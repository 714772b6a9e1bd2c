/*
 * What a change can affect.
 *
 * git tells the lines that differ from a revision. A source is affected if it has changed or
 * includes, directly or not, a header that has; programs with such a source are looked at. A
 * finding belongs to the change if its place, or a place of its evidence, is in a function that
 * has changed lines, unless a check of the revision itself had it. Without such a check, what was
 * in a function before it was changed is told of once more; what is elsewhere is not.
 */
#include "base/file.h"
#include "base/proc.h"
#include "command/check/check_int.h"
#include "program/program.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Range {
    int from, to;
} Range;
typedef Vec(Range) Ranges;

static bool git(const char *root, char *const *words, Str *out, Err *err)
{
    Strings argv = { 0 };
    /* The folder's own settings may name programs. */
    const char *const head[] = { "git",
                                 "-C",
                                 root,
                                 "-c",
                                 "core.quotePath=false",
                                 "-c",
                                 "core.fsmonitor=false",
                                 "-c",
                                 "core.hooksPath=/dev/null",
                                 NULL };
    for (const char *const *w = head; *w; w++)
        strings_add(&argv, *w);
    for (; *words; words++)
        strings_add(&argv, *words);
    Proc p = { .argv = strings_argv(&argv), .capture = true, .seconds = 60 };
    ProcResult r = { 0 };
    bool ok = proc_run(&p, &r, err);
    if (ok && r.status) {
        char *line = strchr(str_c(&r.err), '\n');
        int n = line ? (int)(line - str_c(&r.err)) : (int)r.err.len;
        ok = err_set(err, "git: %.*s", n < 300 ? n : 300, str_c(&r.err));
    }
    if (ok && r.output_cut)
        ok = err_set(err, "git: the difference is too large");
    if (ok)
        str_addn(out, str_c(&r.out), r.out.len);
    proc_result_release(&r);
    strings_release(&argv);
    return ok;
}

static Ranges *ranges_of(Change *c, const char *file)
{
    char *path = path_join(c->top, file);
    void **slot = map_slot(&c->files, path);
    if (!*slot)
        *slot = xcalloc(1, sizeof(Ranges));
    free(path);
    return *slot;
}

/* "5,4", which begins at line 5 and has 4 lines. */
static long read_count(const char *p, long *from)
{
    char *end;
    *from = strtol(p, &end, 10);
    return *end == ',' ? strtol(end + 1, NULL, 10) : 1;
}

/* "@@ -3,2 +5,4 @@": lines 5 to 8; none if only something was taken away, then the place. Gives the
 * number of lines that follow, 6. */
static long read_hunk(Ranges *r, const char *line)
{
    long from = 0;
    const char *minus = strchr(line, '-'), *plus = strchr(line, '+');
    if (!minus || !plus)
        return 0;
    long gone = read_count(minus + 1, &from), n = read_count(plus + 1, &from);
    Range range = { (int)from, (int)(from + (n > 0 ? n - 1 : 0)) };
    assert(range.from <= range.to);
    if (r)
        vec_push(r, range);
    return gone + n;
}

/* What stands behind +++: b/NAME, perhaps with a tab, or "b/NAME" as a string of C. */
static Ranges *read_name(Change *c, const char *p)
{
    Str name = { 0 };
    bool quoted = *p == '"';
    for (p += quoted; *p && *p != (quoted ? '"' : '\t'); p++) {
        static const char letters[] = "abtnvfr\"\\", meant[] = "\a\b\t\n\v\f\r\"\\";
        const char *letter = quoted && *p == '\\' && p[1] ? strchr(letters, p[1]) : NULL;
        if (letter) {
            str_addc(&name, meant[letter - letters]);
            p++;
        } else if (quoted && *p == '\\' && p[1] && p[2] && p[3]) {
            str_addc(&name, (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0')));
            p += 3;
        } else {
            str_addc(&name, *p);
        }
    }
    Ranges *r = str_starts(str_c(&name), "b/") ? ranges_of(c, str_c(&name) + 2) : NULL;
    str_release(&name);
    return r;
}

/* Lines of a file may look like those between: they are counted. */
static void read_diff(Change *c, const char *text, size_t len)
{
    Ranges *at = NULL;
    long inside = 0;
    for (const char *p = text, *end = text + len, *next; p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((newline ? newline : end) - p);
        next = p + n + (newline != NULL);
        if (inside > 0) {
            inside -= *p == '+' || *p == '-';
            continue;
        }
        char *line = xstrndup(p, n);
        if (str_starts(line, "+++ "))
            at = read_name(c, line + 4);
        else if (str_starts(line, "@@ "))
            inside = read_hunk(at, line);
        free(line);
    }
}

static void add_whole(Change *c, const char *file)
{
    Range all = { 1, 1 << 30 };
    vec_push(ranges_of(c, file), all);
}

/* "-\t-\tNAME": what git takes for no text, be it by order of the folder, has no lines in a diff. */
static void read_numbers(Change *c, const Str *text)
{
    for (const char *p = str_c(text), *end = p + text->len; p < end; p += strlen(p) + 1)
        if (str_starts(p, "-\t-\t"))
            add_whole(c, p + 4);
}

static void read_new_files(Change *c, const Str *text)
{
    for (const char *p = str_c(text), *end = p + text->len; p < end; p += strlen(p) + 1)
        add_whole(c, p);
}

/* ---- sources that include what has changed */

static bool is_code(const char *file)
{
    static const char *const endings[] = { ".c", ".h", ".php", ".pig", ".inc", ".y", ".l", NULL };
    for (const char *const *e = endings; *e; e++)
        if (str_ends(file, *e))
            return true;
    return false;
}

/* #include "x/y.h" and <x/y.h>: the last part of the name. */
static bool includes_one(const char *text, const Map *names)
{
    for (const char *p = text; (p = strstr(p, "include")) != NULL; p += 7) {
        const char *q = p + 7;
        while (*q == ' ' || *q == '\t')
            q++;
        size_t n = *q == '"' || *q == '<' ? strcspn(q + 1, "\">\n") : 0;
        if (!n || n > 400)
            continue;
        char *name = xstrndup(q + 1, n);
        bool has = map_has(names, path_base(name));
        free(name);
        if (has)
            return true;
    }
    return false;
}

static void walk(const char *folder, int depth, Strings *out)
{
    Strings names = { 0 };
    if (depth > 8 || !dir_list(folder, &names, NULL))
        return;
    for (size_t i = 0; i < names.len; i++) {
        char *path = path_join(folder, names.items[i]);
        if (*names.items[i] == '.')
            ;
        else if (str_ends(path, ".c") || str_ends(path, ".h"))
            strings_add(out, path);
        else if (file_is_dir(path))
            walk(path, depth + 1, out);
        free(path);
    }
    strings_release(&names);
}

/* To a fixed point: a header that includes a changed one is as good as changed. */
static void find_affected(Change *c)
{
    Strings all = { 0 };
    Map headers = { 0 };
    for (size_t i = 0; i < c->files.len; i++) {
        const char *path = c->files.entries[i].key;
        c->ncode += is_code(path);
        if (str_ends(path, ".h"))
            map_put(&headers, path_base(path), NULL);
        map_put(&c->affected, path, NULL);
    }
    if (headers.len)
        walk(c->top, 0, &all);
    for (bool more = headers.len > 0; more;) {
        more = false;
        for (size_t i = 0; i < all.len; i++) {
            Str text = { 0 };
            if (!map_has(&c->affected, all.items[i]) && file_read(all.items[i], &text, NULL) &&
                includes_one(str_c(&text), &headers)) {
                map_put(&c->affected, all.items[i], NULL);
                if (str_ends(all.items[i], ".h"))
                    more |= map_put(&headers, path_base(all.items[i]), NULL);
            }
            str_release(&text);
        }
    }
    map_release(&headers);
    strings_release(&all);
}

/* The project's folder, or the whole tree for a folder that is built in: it has no file of git's. */
static char *find_top(const char *root)
{
    Str tree = { 0 }, top = { 0 };
    char *here[] = { "rev-parse", "--verify", "--quiet", "HEAD:./", NULL };
    char *whole[] = { "rev-parse", "--show-toplevel", NULL };
    bool built_in = !git(root, here, &tree, NULL) && git(root, whole, &top, NULL) && top.len;
    str_release(&tree);
    if (!built_in) {
        str_release(&top);
        return xstrdup(root);
    }
    top.data[strcspn(top.data, "\n")] = 0;
    return str_take(&top);
}

bool change_read(Change *c, const char *root, const char *rev, Err *err)
{
    if (*rev == '-' || !*rev)
        return err_set(err, "--since %s: not a revision", rev);
    c->rev = xstrdup(rev);
    root = c->top = find_top(root);
    Str base = { 0 }, diff = { 0 }, others = { 0 }, numbers = { 0 };
    char *find[] = { "merge-base", c->rev, "HEAD", NULL };
    bool ok = git(root, find, &base, err) || err_ctx(err, "--since %s", rev);
    while (base.len && isspace((unsigned char)base.data[base.len - 1]))
        base.data[--base.len] = 0;
    char *lines[] = { "diff",
                      "-U0",
                      "--no-color",
                      "--no-ext-diff",
                      "--no-textconv",
                      "--src-prefix=a/",
                      "--dst-prefix=b/",
                      "--no-renames",
                      "--relative",
                      (char *)str_c(&base),
                      "--",
                      ".",
                      NULL };
    char *sizes[] = { "diff",
                      "--numstat",
                      "-z",
                      "--no-ext-diff",
                      "--no-renames",
                      "--relative",
                      (char *)str_c(&base),
                      "--",
                      ".",
                      NULL };
    char *new[] = { "ls-files", "-z", "--others", "--exclude-standard", NULL };
    ok = ok && git(root, lines, &diff, err) && git(root, sizes, &numbers, err) &&
         git(root, new, &others, err);
    if (ok) {
        read_diff(c, str_c(&diff), diff.len);
        read_numbers(c, &numbers);
        read_new_files(c, &others);
        find_affected(c);
    }
    c->base = str_take(&base);
    str_release(&diff);
    str_release(&others);
    str_release(&numbers);
    return ok;
}

void change_release(Change *c)
{
    for (size_t i = 0; i < c->files.len; i++) {
        Ranges *r = c->files.entries[i].value;
        vec_release(r);
        free(r);
    }
    map_release(&c->files);
    map_release(&c->affected);
    free(c->top);
    free(c->rev);
    free(c->base);
}

char *change_commit(const char *root)
{
    Str head = { 0 }, changes = { 0 };
    char *id[] = { "rev-parse", "HEAD", NULL };
    char *dirty[] = { "status", "--porcelain", "--untracked-files=no", NULL };
    bool ok = git(root, id, &head, NULL) && git(root, dirty, &changes, NULL) && !changes.len;
    while (head.len && isspace((unsigned char)head.data[head.len - 1]))
        head.data[--head.len] = 0;
    char *commit = xstrdup(ok ? str_c(&head) : "");
    str_release(&head);
    str_release(&changes);
    return commit;
}

/* ---- findings of the change */

/* The line on which the function around this line begins; 0: not known. */
static int function_at(Project *p, const char *file, int line)
{
    size_t n, nf;
    int begin = 0;
    const ProjectProgram *all = project_programs(p, &n);
    char *path = path_in(project_root(p), file);
    for (size_t i = 0; i < n; i++) {
        const Program *model = project_program(p, &all[i]);
        const Function *const *fns = model ? program_functions(model, &nf) : NULL;
        for (size_t k = 0; fns && k < nf; k++)
            if (fns[k]->defined && (int)fns[k]->line <= line && (int)fns[k]->line > begin &&
                strcmp(fns[k]->file, path) == 0)
                begin = (int)fns[k]->line;
    }
    free(path);
    return begin;
}

static bool touches(const Change *c, Project *p, const Location *at)
{
    char *path = at->file ? path_in(project_root(p), at->file) : NULL;
    const Ranges *r = path ? map_get(&c->files, path) : NULL;
    free(path);
    if (!r)
        return false;
    if (!at->line)
        return true;
    int mine = function_at(p, at->file, at->line);
    for (size_t i = 0; i < r->len; i++) {
        Range x = r->items[i];
        if (at->line >= x.from && at->line <= x.to)
            return true;
        if (mine && (function_at(p, at->file, x.from) == mine || (x.from <= mine && mine <= x.to)))
            return true;
    }
    return false;
}

bool change_touches(const Change *c, Project *p, const StoredFinding *f)
{
    bool is = touches(c, p, &f->finding.where);
    for (size_t i = 0; !is && i < f->finding.nsteps; i++)
        is = touches(c, p, &f->finding.steps[i].at);
    for (size_t i = 0; !is && i < f->finding.nrelated; i++)
        is = touches(c, p, &f->finding.related[i].at);
    return is;
}
