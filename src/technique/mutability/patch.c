/*
 * Two compilers look at what is offered. clang reads the changed files by an
 * overlay of its own. The compiler of the build, where it is another one, finds
 * them in a mirror of the project: its folders, with links to the files, and the
 * changed files themselves; paths into the project are led there.
 */
#include "technique/mutability/patch.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "ast/qualifiers.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROUNDS = 60, GENTLE_ROUNDS = 40, CONTEXT = 3 };

/* A closed set of declarations that get const together. */
typedef struct Set {
    QualifierNodes nodes;
    const MutParam *param;       /* that asked for it */
    bool out;                    /* does not compile */
} Set;

typedef Vec(QualifierSite) Sites;

struct Patch {
    PatchPlan plan;
    Qualifiers *q;
    CompileCommands commands;
    Vec(Set) sets;
    size_t candidates, pinned;
    const char *dir;             /* for the overlay */
    char *yaml;
    char *mirror;                /* NULL: there is none yet */
    Strings mirrored;            /* files that are changed there */
    bool own_compiler;           /* that of the build is asked, too */
    bool gentle;                 /* a set that is in the way goes alone */
};

/* ---- which parameters */

static const MutParam *known(const Patch *p, const QualifierParam *x)
{
    size_t n;
    const Function *const *fns = program_functions(p->plan.program, &n);

    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined && fns[i]->line == x->line && !strcmp(fns[i]->name, x->function) &&
            !strcmp(fns[i]->file, x->file))
            return mutability_param(p->plan.mutability, fns[i], x->index);
    return NULL;
}

/* Whatever is not compiled by itself. */
static bool is_header(const Patch *p, const char *file)
{
    for (size_t i = 0; i < p->commands.len; i++)
        if (!strcmp(p->commands.items[i].file, file))
            return false;
    return true;
}

/* The rest of a path below a folder; NULL: it is not there. */
static const char *below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

static bool is_immutable(const Patch *p, const MutParam *m)
{
    return m->own.verdict == MUT_IMMUTABLE && (m->own.sound || p->plan.likely);
}

/* A library's users have functions of their own for the types in its headers. */
static bool is_for_users(const Patch *p, uint32_t node, const char *file)
{
    ProgramKind kind = program_captured(p->plan.program)->kind;

    return kind != PROGRAM_EXECUTABLE && qualifiers_is_slot(p->q, node) && is_header(p, file);
}

/* Every parameter in the set is never written through, and may be changed. */
static bool is_honest(const Patch *p, const QualifierNodes *set)
{
    size_t n;

    for (size_t i = 0; i < set->len; i++) {
        const QualifierParam *x = qualifiers_params(p->q, set->items[i], &n);
        for (size_t k = 0; k < n; k++) {
            const MutParam *m = known(p, &x[k]);
            if (!m || !is_immutable(p, m))
                return false;
        }
        const QualifierSite *s = qualifiers_sites(p->q, set->items[i], &n);
        for (size_t k = 0; k < n; k++)
            if (!below(s[k].file, session_root(p->plan.session)) ||
                is_for_users(p, set->items[i], s[k].file) ||
                (p->plan.abi_stable && is_header(p, s[k].file)))
                return false;
    }
    return true;
}

/* ---- the changed files */

static int by_place(const void *x, const void *y)
{
    const QualifierSite *a = x, *b = y;
    int d = strcmp(a->file, b->file);

    return d ? d : (a->offset > b->offset) - (a->offset < b->offset);
}

/* All places of the sets that are still in, each once, sorted. */
static Sites all_sites(const Patch *p)
{
    Sites all = { 0 };
    size_t n, kept = 0;

    for (size_t i = 0; i < p->sets.len; i++)
        for (size_t k = 0; !p->sets.items[i].out && k < p->sets.items[i].nodes.len; k++) {
            const QualifierSite *s = qualifiers_sites(p->q, p->sets.items[i].nodes.items[k], &n);
            for (size_t j = 0; j < n; j++)
                vec_push(&all, s[j]);
        }
    if (all.len)
        qsort(all.items, all.len, sizeof *all.items, by_place);
    for (size_t i = 0; i < all.len; i++)
        if (!kept || by_place(&all.items[kept - 1], &all.items[i]))
            all.items[kept++] = all.items[i];
    all.len = kept;
    return all;
}

/* The text of a file with const at `n` places; false: it is not there. */
static bool change(const QualifierSite *s, size_t n, Str *old, Str *new, Err *err)
{
    size_t at = 0;

    if (!file_read(s->file, old, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        assert(!strcmp(s[i].file, s->file) && (!i || s[i - 1].offset < s[i].offset));
        size_t to = s[i].offset > old->len ? old->len : s[i].offset;
        str_addn(new, old->data + at, to - at);
        str_add(new, "const ");
        at = to;
    }
    str_addn(new, old->data + at, old->len - at);
    return true;
}

static size_t same_file(const Sites *all, size_t from)
{
    size_t n = from;

    assert(from < all->len);
    while (n < all->len && !strcmp(all->items[n].file, all->items[from].file))
        n++;
    return n - from;
}

/* Writes the changed files and the description of the overlay. */
static bool lay_over(Patch *p, const Sites *all, Err *err)
{
    Str y = { 0 };
    bool ok = true;

    /* Errors name the project's files, not our copies. */
    str_add(&y, "{ \"version\": 0, \"use-external-names\": \"false\", \"roots\": [\n");
    for (size_t i = 0, n; ok && i < all->len; i += n) {
        Str old = { 0 }, new = { 0 };
        n = same_file(all, i);
        char *copy = xprintf("%s/%zu", p->dir, i);
        ok = change(&all->items[i], n, &old, &new, err) && file_write(copy, new.data, new.len, err);
        str_addf(&y, "%s{ \"type\": \"file\", \"name\": \"", i ? "," : "");
        escape_c_string(&y, all->items[i].file, strlen(all->items[i].file));
        str_addf(&y, "\", \"external-contents\": \"%s\" }\n", copy);
        str_release(&old);
        str_release(&new);
        free(copy);
    }
    str_add(&y, "] }\n");
    ok = ok && file_write(p->yaml, y.data, y.len, err);
    str_release(&y);
    return ok;
}

/* ---- the mirror */

/* A path of the project, in the mirror; any other word as it is. */
static char *mirrored(const Patch *p, const char *word)
{
    const char *root = session_root(p->plan.session), *at = strstr(word, root);
    const char *rest = at ? below(at, root) : NULL;

    if (!rest || !p->mirror)
        return xstrdup(word);
    return xprintf("%.*s%s%s", (int)(at - word), word, p->mirror, rest);
}

/* Folders with links to the files in `from`, but for names that `left_out` says. */
static bool link_all(const char *from, bool (*left_out)(const char *name), const char *to, Err *err)
{
    Strings names = { 0 }, argv = { 0 };
    ProcResult r = { 0 };

    bool ok = dir_make(to, err) && dir_list(from, &names, err);
    strings_add(&argv, "cp");
    strings_add(&argv, "-rs");
    strings_add(&argv, "--");
    for (size_t i = 0; ok && i < names.len; i++)
        if (!left_out(names.items[i]))
            strings_addf(&argv, "%s/%s", from, names.items[i]);
    strings_add(&argv, to);
    /* its status doesn't matter: a socket or a link to nowhere can't be copied */
    ok = ok && proc_run(&(Proc){ .argv = strings_argv(&argv), .capture = true }, &r, err);
    proc_result_release(&r);
    strings_release(&argv);
    strings_release(&names);
    return ok;
}

static bool is_not_source(const char *name)
{
    return strcmp(name, ".git") == 0 || str_starts(name, ".sundew");
}

static bool is_not_build(const char *name) { return !str_starts(name, "build-"); }

/* CMake and Meson trees that `check` has built stand in the workspace, with headers that they made. */
static bool make_mirror(Patch *p, Err *err)
{
    const char *root = session_root(p->plan.session);
    const char *workspace = workspace_dir(session_workspace(p->plan.session));

    char *mirror = path_join(p->dir, "mirror"), *builds = path_join(workspace, "check");
    const char *rest = below(builds, root);
    bool ok = link_all(root, is_not_source, mirror, err);
    if (ok && rest && file_is_dir(builds)) {
        char *to = xprintf("%s%s", mirror, rest);
        ok = link_all(builds, is_not_build, to, err);
        free(to);
    }
    free(builds);
    p->mirror = mirror;
    return ok;
}

/* Files that were changed the last time are links again. */
static bool lay_in_mirror(Patch *p, const Sites *all, Err *err)
{
    bool ok = true;

    for (size_t i = 0; i < p->mirrored.len; i++) {
        char *path = mirrored(p, p->mirrored.items[i]);
        unlink(path);
        ok = symlink(p->mirrored.items[i], path) == 0 || err_errno(err, "%s", path);
        free(path);
    }
    strings_release(&p->mirrored);
    for (size_t i = 0, n; ok && i < all->len; i += n) {
        Str old = { 0 }, new = { 0 };
        char *path = mirrored(p, all->items[i].file);
        n = same_file(all, i);
        unlink(path);
        ok = change(&all->items[i], n, &old, &new, err) && file_write(path, new.data, new.len, err);
        strings_add(&p->mirrored, all->items[i].file);
        str_release(&old);
        str_release(&new);
        free(path);
    }
    return ok;
}

/* ---- does it compile? */

static bool run_compiler(Strings *argv, const char *cwd, Str *errors, Err *err)
{
    ProcResult r = { 0 };
    Proc proc = { .argv = strings_argv(argv), .cwd = cwd, .capture = true, .seconds = 300 };
    bool ok = proc_run(&proc, &r, err);

    if (ok && r.status)
        str_add(errors, str_c(&r.err));
    if (ok && r.status && !r.err.len)
        str_add(errors, "?:0: error: died\n");
    proc_result_release(&r);
    return ok;
}

/* Errors as "file:line: …" lines; `changed`: of the changed files. */
static bool by_clang(const Patch *p, const CompileCommand *c, bool changed, Str *errors, Err *err)
{
    Strings argv = { 0 };
    char *clang = clang_find();

    if (!clang)
        return err_set(err, "clang-19 is missing; sundew doctor tells more");
    strings_add(&argv, clang);
    free(clang);
    for (size_t i = 0; i < c->clang.len; i++)
        strings_add(&argv, c->clang.items[i]);
    strings_add(&argv, "-fsyntax-only");
    strings_add(&argv, "-Wno-everything");
    strings_add(&argv, "-Werror=incompatible-pointer-types");
    strings_add(&argv, "-Werror=incompatible-pointer-types-discards-qualifiers");
    strings_add(&argv, "-Werror=incompatible-function-pointer-types");
    strings_add(&argv, "-ferror-limit=0");
    strings_add(&argv, "-fno-caret-diagnostics");
    strings_add(&argv, "-fno-color-diagnostics");
    if (changed) {
        strings_add(&argv, "-ivfsoverlay");
        strings_add(&argv, p->yaml);
    }
    strings_add(&argv, c->file);
    bool ok = run_compiler(&argv, c->directory, errors, err);
    strings_release(&argv);
    return ok;
}

/* The compiler of the build, if it is not clang. */
static const char *own_compiler(const CompileCommand *c)
{
    const char *name = c->arguments.len ? c->arguments.items[0] : "clang";

    return strstr(path_base(name), "clang") ? NULL : name;
}

static bool by_own(const Patch *p, const CompileCommand *c, bool changed, Str *errors, Err *err)
{
    Strings argv = { 0 };
    Patch none = { .plan = p->plan }; /* no mirror: paths stay */
    const Patch *at = changed ? p : &none;

    assert(own_compiler(c));
    strings_add(&argv, own_compiler(c));
    for (size_t i = 0; i < c->clang.len; i++) {
        char *word = mirrored(at, c->clang.items[i]);
        if (!str_starts(word, "--target=") && strcmp(word, "-Wno-everything"))
            strings_add(&argv, word);
        free(word);
    }
    strings_add(&argv, "-fsyntax-only");
    strings_add(&argv, "-Werror=incompatible-pointer-types");
    strings_add(&argv, "-Werror=discarded-qualifiers");
    strings_add(&argv, "-fno-diagnostics-show-caret");
    strings_add(&argv, "-fdiagnostics-color=never");
    char *file = mirrored(at, c->file), *cwd = mirrored(at, c->directory);
    strings_add(&argv, file);
    bool ok = run_compiler(&argv, cwd, errors, err);
    free(file);
    free(cwd);
    strings_release(&argv);
    return ok;
}

static bool compile(const Patch *p, const CompileCommand *c, bool changed, Str *errors, Err *err)
{
    return by_clang(p, c, changed, errors, err) &&
           (!p->own_compiler || errors->len || !own_compiler(c) ||
            by_own(p, c, changed, errors, err));
}

/* ---- sets that are in the way */

/* How many lines above `line` of a file the nearest place of a set is; -1: it has
 * none within reach. */
static long distance(const Patch *p, const Set *s, const char *file, const Str *text, long line)
{
    long nearest = -1;
    size_t n;

    for (size_t k = 0; k < s->nodes.len; k++) {
        const QualifierSite *x = qualifiers_sites(p->q, s->nodes.items[k], &n);
        for (size_t j = 0; j < n; j++) {
            if (strcmp(x[j].file, file))
                continue;
            if (line < 0)
                return 0;
            long at = 1;
            for (size_t o = 0; o < x[j].offset && o < text->len; o++)
                at += text->data[o] == '\n';
            if (at <= line && line - at < 400 && (nearest < 0 || line - at < nearest))
                nearest = line - at;
        }
    }
    return nearest;
}

/* Takes out the sets that have a place in the file, near a line (-1: anywhere). At
 * first only those nearest to it. */
static size_t take_out(Patch *p, const char *file, long line)
{
    size_t gone = 0;
    long best = -1, *far = xcalloc(p->sets.len + 1, sizeof *far);
    Str text = { 0 };
    Err no = { 0 };

    file_read(file, &text, &no);
    for (size_t i = 0; i < p->sets.len; i++) {
        Set *s = &p->sets.items[i];
        far[i] = s->out ? -1 : distance(p, s, file, &text, line);
        if (far[i] >= 0 && (best < 0 || far[i] < best))
            best = far[i];
    }
    for (size_t i = 0; i < p->sets.len; i++)
        if (far[i] >= 0 && (far[i] == best || !p->gentle)) {
            p->sets.items[i].out = true;
            gone++;
        }
    str_release(&text);
    free(far);
    return gone;
}

/* A path of the mirror is one of the project. */
static char *unmirrored(const Patch *p, const CompileCommand *c, const char *name)
{
    char *cwd = mirrored(p, c->directory);
    char *path = path_in(p->mirror ? cwd : c->directory, name);
    const char *rest = p->mirror ? below(path, p->mirror) : NULL;
    char *out =
        rest ? xprintf("%s%s", session_root(p->plan.session), rest) : path_in(c->directory, name);

    free(cwd);
    free(path);
    return out;
}

/* Errors that the unit has without the patch as well are not the patch's. */
static size_t blame(Patch *p, const CompileCommand *c, char *errors, Err *err)
{
    Str before = { 0 };
    size_t gone = 0;
    char *rest = NULL;
    bool any = false;

    if (!compile(p, c, false, &before, err))
        return 0;
    for (char *line = strtok_r(errors, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *mark = strstr(line, ": error: "), *colon;
        if (!mark)
            continue;
        if (strstr(str_c(&before), mark))
            continue;
        any = true;
        *mark = 0;
        colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = 0;
        char *file = unmirrored(p, c, line);
        gone += take_out(p, file, strtol(colon + 1, NULL, 10));
        free(file);
    }
    if (any && !gone)
        gone = take_out(p, c->file, -1);
    for (size_t i = 0; any && !gone && i < p->sets.len; i++)
        if (!p->sets.items[i].out)
            p->sets.items[i].out = ++gone > 0;
    str_release(&before);
    return gone;
}

/* Compiles the units that are marked, and marks those that did not compile. How many. */
static bool try_units(Patch *p, bool *marked, size_t *bad, Err *err)
{
    Sites all = all_sites(p);
    bool ok = lay_over(p, &all, err) && (!p->own_compiler || lay_in_mirror(p, &all, err));

    *bad = 0;
    for (size_t i = 0; ok && all.len && i < p->commands.len; i++) {
        Str errors = { 0 };
        if (!marked[i] || session_interrupted(p->plan.session))
            continue;
        ok = compile(p, &p->commands.items[i], true, &errors, err);
        marked[i] = ok && errors.len && blame(p, &p->commands.items[i], errors.data, err);
        *bad += marked[i];
        str_release(&errors);
    }
    vec_release(&all);
    return ok;
}

/* Until all units compile, in one round; only those with errors in between. */
static bool verify(Patch *p, Err *err)
{
    bool *marked = xcalloc(p->commands.len + 1, sizeof *marked), ok = true, clean = false;
    size_t bad = 0;

    for (int round = 0; ok && !clean && round < MOST_ROUNDS; round++) {
        bool full = !bad;
        for (size_t i = 0; full && i < p->commands.len; i++)
            marked[i] = true;
        p->gentle = round < GENTLE_ROUNDS;
        ok = try_units(p, marked, &bad, err);
        clean = full && !bad && !session_interrupted(p->plan.session);
    }
    for (size_t i = 0; !clean && i < p->sets.len; i++)
        p->sets.items[i].out = true; /* nothing is offered that was not seen */
    free(marked);
    return ok;
}

/* First clang alone, which is quick; then both. */
static bool verify_all(Patch *p, Err *err)
{
    bool other = false;

    for (size_t i = 0; i < p->commands.len; i++)
        other |= own_compiler(&p->commands.items[i]) != NULL;
    if (!verify(p, err))
        return false;
    if (!other)
        return true;
    p->own_compiler = true;
    return make_mirror(p, err) && verify(p, err);
}

/* ---- as a diff */

typedef Vec(const char *) Lines;

static void split(Str *s, Lines *lines)
{
    char *at = s->data, *end = s->data + s->len;

    while (at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        vec_push(lines, at);
        if (!stop)
            break;
        *stop = 0;
        at = stop + 1;
    }
}

static void print_line(char mark, const Lines *x, size_t i, bool ends, Str *out)
{
    str_addf(out, "%c%s\n%s", mark, x->items[i],
             i + 1 == x->len && !ends ? "\\ No newline at end of file\n" : "");
}

/* `ends`: the last line has an end. */
static void print_hunk(const Lines *a, const Lines *b, size_t from, size_t to, bool ends, Str *out)
{
    size_t first = from > CONTEXT ? from - CONTEXT : 0;
    size_t last = to + CONTEXT < a->len ? to + CONTEXT : a->len - 1;

    str_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", first + 1, last - first + 1, first + 1,
             last - first + 1);
    for (size_t i = first; i <= last; i++) {
        size_t end = i;
        if (!strcmp(a->items[i], b->items[i])) {
            print_line(' ', a, i, ends, out);
            continue;
        }
        while (end <= last && strcmp(a->items[end], b->items[end]))
            end++;
        for (size_t k = i; k < end; k++)
            print_line('-', a, k, ends, out);
        for (size_t k = i; k < end; k++)
            print_line('+', b, k, ends, out);
        i = end - 1;
    }
}

/* Lines are only changed, never added, so both sides have the same number. */
static void print_file(const char *name, Str *old, Str *new, Str *out)
{
    Lines a = { 0 }, b = { 0 };
    bool ends = old->len && old->data[old->len - 1] == '\n';

    split(old, &a);
    split(new, &b);
    str_addf(out, "--- a/%s\n+++ b/%s\n", name, name);
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        if (!strcmp(a.items[i], b.items[i]))
            continue;
        size_t last = i;
        for (size_t k = i; k < a.len && k <= last + 2 * CONTEXT; k++)
            if (strcmp(a.items[k], b.items[k]))
                last = k;
        print_hunk(&a, &b, i, last, ends, out);
        i = last;
    }
    vec_release(&a);
    vec_release(&b);
}

static bool print(Patch *p, PatchResult *r, Err *err)
{
    Sites all = all_sites(p);
    bool ok = true;

    for (size_t i = 0, n; ok && i < all.len; i += n) {
        Str old = { 0 }, new = { 0 };
        n = same_file(&all, i);
        ok = change(&all.items[i], n, &old, &new, err);
        char *name = path_relative(all.items[i].file, session_root(p->plan.session));
        if (ok)
            print_file(name, &old, &new, &r->diff);
        free(name);
        str_release(&old);
        str_release(&new);
        r->files++;
    }
    r->candidates = p->candidates;
    r->pinned = p->pinned;
    r->places = all.len;
    r->unread = qualifiers_failed(p->q);
    r->by_two = p->own_compiler;
    for (size_t i = 0; i < p->sets.len; i++)
        if (p->sets.items[i].out)
            r->refused++;
        else
            vec_push(&r->offered, p->sets.items[i].param);
    vec_release(&all);
    return ok;
}

void patch_result_release(PatchResult *r)
{
    str_release(&r->diff);
    vec_release(&r->offered);
}

/* ---- all together */

static bool stop_asked(void *session) { return session_interrupted(session); }

void patch_close(Patch *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->sets.len; i++)
        vec_release(&p->sets.items[i].nodes);
    vec_release(&p->sets);
    qualifiers_close(p->q);
    commands_release(&p->commands);
    strings_release(&p->mirrored);
    free(p->mirror);
    free(p->yaml);
    if (p->dir)
        tempdir_remove(p->dir);
    free(p);
}

Patch *patch_open(const PatchPlan *plan, Err *err)
{
    Patch *p = xcalloc(1, sizeof *p);
    Session *s = plan->session;

    p->plan = *plan;
    /* all units of the workspace: a header may be used by other programs too */
    bool ok = commands_of_workspace(session_workspace(s), &p->commands, err);
    p->dir = ok ? tempdir_new(NULL, err) : NULL;
    p->yaml = p->dir ? path_join(p->dir, "overlay.yaml") : NULL;
    if (p->dir)
        p->q = qualifiers_read(&p->commands, session_root(s), stop_asked, s, err);
    if (p->q && qualifiers_failed(p->q) == p->commands.len && p->commands.len) {
        err_set(err, "none of the units could be read again; are the sources there?");
        ok = false;
    }
    if (!ok || !p->q) {
        patch_close(p);
        return NULL;
    }
    return p;
}

/* The closed set of a parameter. False: there is none. */
static bool set_of(const Patch *p, const MutParam *m, QualifierNodes *nodes)
{
    const Function *fn = m->function;
    const char *why;
    uint32_t node = qualifiers_param(p->q, fn->name, fn->file, fn->line, m->index);

    return node != QUALIFIER_NONE && qualifiers_closure(p->q, node, nodes, &why) &&
           is_honest(p, nodes);
}

bool patch_accepts(const Patch *p, const MutParam *m)
{
    QualifierNodes nodes = { 0 };
    bool ok = set_of(p, m, &nodes);

    vec_release(&nodes);
    return ok;
}

static void find_sets(Patch *p)
{
    size_t n;
    const Function *const *fns = program_functions(p->plan.program, &n);

    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < fns[i]->nparams; k++) {
            const MutParam *m = mutability_param(p->plan.mutability, fns[i], k);
            if (!m || !m->pointer || m->declared_const || m->by_value || !is_immutable(p, m) ||
                !m->used || (m->deep.verdict == MUT_MUTABLE && !p->plan.shallow))
                continue;
            p->candidates++;
            Set s = { .param = m };
            if (set_of(p, m, &s.nodes)) {
                vec_push(&p->sets, s);
            } else {
                vec_release(&s.nodes);
                p->pinned++;
            }
        }
}

bool patch_make(const PatchPlan *plan, PatchResult *result, Err *err)
{
    Patch *p = patch_open(plan, err);

    if (!p)
        return false;
    find_sets(p);
    bool ok = verify_all(p, err) && print(p, result, err);
    patch_close(p);
    return ok;
}
