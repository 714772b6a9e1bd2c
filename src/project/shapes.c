/*
 * Shapes: the runs of the tests, grouped by program and arguments. In a shape the argument that
 * names a file is @@, so that
 *
 *     larder data/a.ldg stock       larder /tmp/x.1 stock
 *
 * are two runs of "larder @@ stock". The files that were read become the corpus of the shape,
 * together with files of the same ending in the folder of one that is still there.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/sha256.h"
#include "project/project_int.h"
#include <ctype.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_SHAPES = 200,
    MOST_CORPUS = 200,
    MOST_BYTES = 1 << 20,
    MOST_RUNS = 120,
    MOST_NAME = 60
};

/* With a file among the arguments, a file as standard input is most likely the test script's. */
static ObservedInput input_of(const ObservedRun *r)
{
    return r->file >= 0 && r->input == INPUT_FILE ? INPUT_NONE : r->input;
}

static char *name_of(const ObservedRun *r)
{
    Str s = { 0 };
    for (size_t i = 0; i < r->args.len; i++) {
        str_add(&s, i ? " " : "");
        if ((int)i == r->file)
            str_add(&s, "@@");
        else
            escape_shell(&s, r->args.items[i]);
    }
    if (input_of(r) != INPUT_NONE)
        str_add(&s, s.len ? " <" : "<");
    return str_take(&s);
}

/* Some tests pass all their files: for people a long name ends with a few letters that tell it from
 * others. */
static char *short_name(Project *p, const char *name)
{
    size_t n = MOST_NAME;
    if (strlen(name) <= n)
        return arena_strdup(&p->arena, name);
    char id[ID_LEN + 1];
    sha256_id(name, strlen(name), id);
    while (n && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--; /* not inside a character */
    return arena_printf(&p->arena, "%.*s… %.4s", (int)n, name, id);
}

/* ".c": some programs take nothing else. */
static const char *ending_of(const char *path)
{
    enum { MOST = 8 };
    const char *base = path_base(path), *dot = strrchr(base, '.');
    size_t n = dot ? strlen(dot + 1) : 0;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)dot[1 + i]))
            return "";
    return n && n <= MOST && dot > base ? dot : "";
}

static void note_ending(Project *p, ProjectShape *s, const ObservedRun *r)
{
    const char *ending = r->file >= 0 ? ending_of(r->args.items[r->file]) : "";
    if (!s->ending)
        s->ending = arena_strdup(&p->arena, ending);
    else if (strcmp(s->ending, ending) != 0)
        s->ending = "";
}

static ProjectShape *shape_of(Project *p, const ProjectProgram *x, const ObservedRun *r)
{
    char *name = name_of(r);
    ProjectShape *found = NULL;
    for (size_t i = 0; i < p->shapes.len && !found; i++)
        if (p->shapes.items[i].program == x && strcmp(p->shapes.items[i].whole, name) == 0)
            found = &p->shapes.items[i];
    if (!found && p->shapes.len < MOST_SHAPES) {
        found = vec_grow(&p->shapes);
        found->program = x;
        found->whole = arena_strdup(&p->arena, name);
        found->name = short_name(p, name);
        found->cwd = arena_strdup(&p->arena, r->cwd);
        found->input = input_of(r);
        found->has_file = r->file >= 0;
        found->example = "";
        for (size_t i = 0; i < r->args.len; i++)
            strings_add(&found->args, (int)i == r->file ? "@@" : r->args.items[i]);
        char id[ID_LEN + 1];
        char *whole = xprintf("%s %s", x->captured->path, name);
        sha256_id(whole, strlen(whole), id);
        found->corpus = arena_printf(&p->arena, "%s/corpus/%.12s", p->folder, id);
        free(whole);
    }
    free(name);
    if (found)
        note_ending(p, found, r);
    return found;
}

static void add_file(ProjectShape *s, const char *path)
{
    Str data = { 0 };
    char id[ID_LEN + 1];
    if (s->ncorpus >= MOST_CORPUS || !file_is_regular(path) || file_size(path) > MOST_BYTES ||
        !file_read(path, &data, NULL))
        return;
    sha256_id(str_c(&data), data.len, id);
    char *to = xprintf("%s/%.16s", s->corpus, id);
    if (!file_exists(to) && dir_make(s->corpus, NULL))
        file_write(to, str_c(&data), data.len, NULL);
    s->ncorpus++;
    free(to);
    str_release(&data);
}

/* Other files in the folder of `path` that look like it. */
static void add_neighbours(const Project *p, ProjectShape *s, const char *path)
{
    const char *dot = strrchr(path_base(path), '.');
    char *folder = path_dir(path), *below = path_relative(folder, workspace_root(p->ws));
    Strings names = { 0 };
    if (dot && *below != '/' && dir_list(folder, &names, NULL))
        for (size_t i = 0; i < names.len; i++) {
            char *file = path_join(folder, names.items[i]);
            if (str_ends(file, dot))
                add_file(s, file);
            free(file);
        }
    strings_release(&names);
    free(below);
    free(folder);
}

static void count_corpus(ProjectShape *s)
{
    Strings names = { 0 };
    if (file_is_dir(s->corpus))
        dir_list(s->corpus, &names, NULL);
    s->ncorpus = names.len;
    if (!names.len)
        s->corpus = "";
    strings_release(&names);
}

static int more(size_t a, size_t b) { return a > b ? 1 : a < b ? -1 : 0; }

/* Words that no shape of the program has that stands before. */
static size_t new_words(const ProjectShape *s, const Map *seen)
{
    size_t n = 0;
    for (size_t i = 0; seen->len && i < s->args.len; i++)
        n += !map_has(seen, s->args.items[i]);
    return n;
}

static bool is_better(const ProjectShape *a, const ProjectShape *b, const Map *seen)
{
    int by = more(a->works, b->works);
    by = by ? by : more(new_words(a, seen), new_words(b, seen));
    by = by ? by : more(a->ncorpus, b->ncorpus);
    by = by ? by : more(a->runs, b->runs);
    return by ? by > 0 : strcmp(a->whole, b->whole) < 0;
}

/* Ways that are most unlike the others come first. */
static void order(Project *p)
{
    Map seen = { 0 };
    for (size_t i = 0; i < p->shapes.len; i++) {
        size_t best = i;
        const ProjectProgram *x = i ? p->shapes.items[i - 1].program : NULL;
        for (size_t k = i; k < p->shapes.len; k++) {
            const ProjectShape *a = &p->shapes.items[k], *b = &p->shapes.items[best];
            if (a->program != b->program ? a->program == x : is_better(a, b, &seen))
                best = k;
        }
        ProjectShape s = p->shapes.items[best];
        p->shapes.items[best] = p->shapes.items[i];
        p->shapes.items[i] = s;
        if (s.program != x)
            map_release(&seen);
        for (size_t k = 0; k < s.args.len; k++)
            map_put(&seen, s.args.items[k], NULL);
    }
    map_release(&seen);
}

void shapes_find(Project *p)
{
    for (size_t i = 0; i < p->runs.len; i++) {
        const ObservedRun *r = &p->runs.items[i];
        const ProjectProgram *x = project_program_at(p, r->program);
        ProjectShape *s = x ? shape_of(p, x, r) : NULL;
        if (!s)
            continue;
        s->runs++;
        s->works |= r->status == 0;
        s->ends |= r->status >= 0 && r->status < 128 && !r->asked;
        if (*r->seed)
            add_file(s, r->seed);
        char *path = r->file >= 0 ? path_in(r->cwd, r->args.items[r->file]) : NULL;
        if (path && !*s->example && file_is_regular(path)) {
            s->example = arena_strdup(&p->arena, path);
            add_neighbours(p, s, path);
        }
        free(path);
    }
    for (size_t i = 0; i < p->shapes.len; i++)
        count_corpus(&p->shapes.items[i]);
    order(p);
}

/* ---- a script that runs the program on files */

static void write_call(const ProjectShape *s, Str *out)
{
    escape_shell(out, s->program->captured->path);
    for (size_t i = 0; i < s->args.len; i++) {
        str_addc(out, ' ');
        if (strcmp(s->args.items[i], "@@") == 0)
            str_add(out, "\"$f\"");
        else
            escape_shell(out, s->args.items[i]);
    }
    assert(s->program && s->cwd);
    str_add(out, s->has_file ? " </dev/null" : " <\"$f\"");
}

/* Tests often remove the folder they ran in: the nearest one above that is still there. */
static char *folder_left(const char *cwd)
{
    char *at = xstrdup(cwd);
    while (!file_is_dir(at) && strcmp(at, "/") != 0) {
        char *above = path_dir(at);
        free(at);
        at = above;
    }
    return at;
}

static const char *write_runner(Project *p, const ProjectShape *shape, const char *const *folders)
{
    Str text = { 0 };
    char *folder = folder_left(shape->cwd);
    str_add(&text, "#!/bin/sh\n# Runs the program on inputs; written by sundew check.\ncd ");
    escape_shell(&text, folder);
    free(folder);
    str_add(&text, " || exit 2\n");
    if (*shape->ending)
        str_add(&text, "t=$(mktemp -d) || exit 2\ntrap 'rm -rf \"$t\"' EXIT\n");
    str_add(&text, "n=0\nfor f in");
    for (const char *const *d = folders; *d; d++) {
        str_addc(&text, ' ');
        escape_shell(&text, *d);
        str_add(&text, "/*");
    }
    str_addf(&text,
             "; do\n    [ -f \"$f\" ] || continue\n    n=$((n + 1))\n"
             "    [ $n -le %d ] || break\n",
             MOST_RUNS);
    if (*shape->ending) /* made up inputs have none: letters and digits */
        str_addf(&text, "    cp \"$f\" \"$t/input%s\" || exit 2\n    f=$t/input%s\n", shape->ending,
                 shape->ending);
    str_add(&text, "    timeout 10 ");
    write_call(shape, &text);
    str_add(&text, " >/dev/null 2>&1\ndone\nexit 0\n");
    char id[ID_LEN + 1];
    sha256_id(str_c(&text), text.len, id);
    const char *path = arena_printf(&p->arena, "%s/run-%.12s.sh", p->folder, id);
    bool ok = dir_make(p->folder, NULL) && file_write(path, str_c(&text), text.len, NULL) &&
              chmod(path, 0755) == 0;
    str_release(&text);
    return ok ? path : NULL;
}

static bool is_same_way(const Product *q, const ProjectShape *s)
{
    if (q->args.len != s->args.len)
        return false;
    for (size_t i = 0; i < q->args.len; i++)
        if (strcmp(q->args.items[i], s->args.items[i]) != 0)
            return false;
    return true;
}

bool project_feed(Project *p, const ProjectProgram *x, bool with_seeds, ProjectFeed *out)
{
    enum { MOST_FOLDERS = 16 };

    for (const ProjectShape *const *shape = project_shapes(p, x); *shape; shape++) {
        const ProjectShape *s = *shape;
        const char *folders[MOST_FOLDERS + 1] = { 0 };
        size_t n = 0;
        *out = (ProjectFeed){ .shape = s, .by = "" };
        if (!s->has_file && s->input == INPUT_NONE)
            continue;
        if (with_seeds && *s->corpus)
            folders[n++] = s->corpus;
        const char *path = x->captured->path;
        for (const Product *q = project_products(p, "corpus", path, NULL); q && n < MOST_FOLDERS;
             q = project_products(p, "corpus", path, q))
            if (is_same_way(q, s) && file_is_dir(q->path)) {
                out->by = q->by;
                folders[n++] = q->path;
            }
        if (n && (out->script = write_runner(p, s, folders)))
            return true;
    }
    return false;
}
