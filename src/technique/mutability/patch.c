#include "technique/mutability/patch.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "program/qualifiers.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 12, CONTEXT = 3 };

/* A closed set of declarations that get const together. */
typedef struct Set {
    QualifierNodes nodes;
    bool out;                    /* does not compile */
} Set;

typedef Vec(QualifierSite) Sites;

typedef struct Patch {
    const PatchPlan *plan;
    Qualifiers *q;
    CompileCommands commands;
    Vec(Set) sets;
    size_t candidates, pinned;
    const char *dir;             /* for the overlay */
} Patch;

/* ---- which parameters */

static const MutParam *known(const Patch *p, const QualifierParam *x)
{
    size_t n;
    const Function *const *fns = program_functions(p->plan->program, &n);

    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined && fns[i]->line == x->line && !strcmp(fns[i]->name, x->function) &&
            !strcmp(fns[i]->file, x->file))
            return mutability_param(p->plan->mutability, fns[i], x->index);
    return NULL;
}

static bool is_header(const char *file)
{
    return str_ends(file, ".h");
}

/* Every parameter in the set is never written through, and may be changed. */
static bool is_honest(const Patch *p, const QualifierNodes *set)
{
    size_t n;

    for (size_t i = 0; i < set->len; i++) {
        const QualifierParam *x = qualifiers_params(p->q, set->items[i], &n);
        for (size_t k = 0; k < n; k++) {
            const MutParam *m = known(p, &x[k]);
            if (!m || m->own.verdict != MUT_IMMUTABLE || !m->own.sound)
                return false;
        }
        const QualifierSite *s = qualifiers_sites(p->q, set->items[i], &n);
        for (size_t k = 0; p->plan->abi_stable && k < n; k++)
            if (is_header(s[k].file))
                return false;
    }
    return true;
}

static void find_sets(Patch *p)
{
    size_t n;
    const Function *const *fns = program_functions(p->plan->program, &n);

    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < fns[i]->nparams; k++) {
            const MutParam *m = mutability_param(p->plan->mutability, fns[i], k);
            const char *why;
            if (!m || !m->pointer || m->declared_const || m->by_value ||
                m->own.verdict != MUT_IMMUTABLE || !m->own.sound ||
                (m->direction == MUT_UNTOUCHED && !m->stored) ||
                (m->deep.verdict == MUT_MUTABLE && !p->plan->shallow))
                continue;
            p->candidates++;
            uint32_t node = qualifiers_param(p->q, fns[i]->name, fns[i]->file, fns[i]->line, k);
            Set s = { 0 };
            if (node != QUALIFIER_NONE && qualifiers_closure(p->q, node, &s.nodes, &why) &&
                is_honest(p, &s.nodes)) {
                vec_push(&p->sets, s);
            } else {
                vec_release(&s.nodes);
                p->pinned++;
            }
        }
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
            const QualifierSite *s =
                qualifiers_sites(p->q, p->sets.items[i].nodes.items[k], &n);
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

    while (n < all->len && !strcmp(all->items[n].file, all->items[from].file))
        n++;
    return n - from;
}

/* Writes the changed files and the description of the overlay. */
static bool lay_over(Patch *p, const Sites *all, const char *yaml, Err *err)
{
    Str y = { 0 };
    bool ok = true;

    str_add(&y, "{ \"version\": 0, \"roots\": [\n");
    for (size_t i = 0, n; ok && i < all->len; i += n) {
        Str old = { 0 }, new = { 0 };
        n = same_file(all, i);
        char *copy = xprintf("%s/%zu", p->dir, i);
        ok = change(&all->items[i], n, &old, &new, err) &&
             file_write(copy, new.data, new.len, err);
        str_addf(&y, "%s{ \"type\": \"file\", \"name\": \"", i ? "," : "");
        escape_c_string(&y, all->items[i].file, strlen(all->items[i].file));
        str_addf(&y, "\", \"external-contents\": \"%s\" }\n", copy);
        str_release(&old);
        str_release(&new);
        free(copy);
    }
    str_add(&y, "] }\n");
    ok = ok && file_write(yaml, y.data, y.len, err);
    str_release(&y);
    return ok;
}

/* ---- does it compile? */

/* Errors as "file:line: …" lines; with `yaml` in the changed files. */
static bool compile(const CompileCommand *c, const char *yaml, Str *errors, Err *err)
{
    Strings argv = { 0 };
    ProcResult r = { 0 };
    char *clang = clang_find();

    if (!clang)
        return err_set(err, "clang-19 is not there; sundew doctor tells more");
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
    if (yaml) {
        strings_add(&argv, "-ivfsoverlay");
        strings_add(&argv, yaml);
    }
    strings_add(&argv, c->file);
    Proc proc = { .argv = strings_argv(&argv), .cwd = c->directory, .capture = true,
                  .seconds = 300 };
    bool ok = proc_run(&proc, &r, err);
    if (ok && r.status)
        str_add(errors, str_c(&r.err));
    if (ok && r.status && !r.err.len)
        str_add(errors, "?:0: died\n");
    proc_result_release(&r);
    strings_release(&argv);
    return ok;
}

/* Takes out the sets that have a place in the file, near a line or at all. */
static size_t take_out(Patch *p, const char *file, long line)
{
    size_t gone = 0, n;
    Str text = { 0 };
    Err no = { 0 };

    file_read(file, &text, &no);
    for (size_t i = 0; i < p->sets.len; i++) {
        Set *s = &p->sets.items[i];
        long nearest = -1;
        for (size_t k = 0; !s->out && k < s->nodes.len; k++) {
            const QualifierSite *x = qualifiers_sites(p->q, s->nodes.items[k], &n);
            for (size_t j = 0; j < n; j++) {
                if (strcmp(x[j].file, file))
                    continue;
                long at = 1;
                for (size_t o = 0; o < x[j].offset && o < text.len; o++)
                    at += text.data[o] == '\n';
                if (at <= line && line - at < 400 && (nearest < 0 || line - at < nearest))
                    nearest = line - at;
                if (line < 0)
                    nearest = 0;
            }
        }
        if (nearest >= 0) {
            s->out = true;
            gone++;
        }
    }
    str_release(&text);
    return gone;
}

/* Errors that the unit has without the patch as well are not the patch's. */
static size_t blame(Patch *p, const CompileCommand *c, char *errors, Err *err)
{
    Str before = { 0 };
    size_t gone = 0;
    char *rest = NULL;
    bool any = false;

    if (!compile(c, NULL, &before, err))
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
        char *file = path_in(c->directory, line);
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

static bool verify(Patch *p, Err *err)
{
    char *yaml = path_join(p->dir, "overlay.yaml");
    bool ok = true, clean = false;

    for (int round = 0; ok && !clean && round < MOST_ROUNDS; round++) {
        Sites all = all_sites(p);
        clean = true;
        ok = lay_over(p, &all, yaml, err);
        for (size_t i = 0; ok && all.len && i < p->commands.len; i++) {
            Str errors = { 0 };
            ok = compile(&p->commands.items[i], yaml, &errors, err);
            if (ok && errors.len && blame(p, &p->commands.items[i], errors.data, err))
                clean = false;
            str_release(&errors);
        }
        vec_release(&all);
    }
    for (size_t i = 0; !clean && i < p->sets.len; i++)
        p->sets.items[i].out = true;        /* nothing is offered that was not seen */
    free(yaml);
    return ok;
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
static void print_hunk(const Lines *a, const Lines *b, size_t from, size_t to, bool ends,
                       Str *out)
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

static bool print(Patch *p, Str *diff, Str *note, Err *err)
{
    Sites all = all_sites(p);
    size_t files = 0, sets = 0;
    bool ok = true;

    for (size_t i = 0, n; ok && i < all.len; i += n) {
        Str old = { 0 }, new = { 0 };
        n = same_file(&all, i);
        ok = change(&all.items[i], n, &old, &new, err);
        char *name = path_relative(all.items[i].file, session_root(p->plan->session));
        if (ok)
            print_file(name, &old, &new, diff);
        free(name);
        str_release(&old);
        str_release(&new);
        files++;
    }
    for (size_t i = 0; i < p->sets.len; i++)
        sets += !p->sets.items[i].out;
    str_addf(note, "%zu parameters are never written through; %zu can't have const where "
                   "they go, %zu did not compile, %zu are in the patch: %zu places in %zu "
                   "files", p->candidates, p->pinned, p->sets.len - sets, sets, all.len, files);
    if (qualifiers_failed(p->q))
        str_addf(note, "; %zu units could not be read", qualifiers_failed(p->q));
    vec_release(&all);
    return ok;
}

/* ---- all together */

static bool stop_asked(void *session)
{
    return session_interrupted(session);
}

bool patch_make(const PatchPlan *plan, Str *diff, Str *note, Err *err)
{
    Patch p = { .plan = plan };
    /* all units of the workspace: a header may be used by other programs too */
    bool ok = commands_of_workspace(session_workspace(plan->session), &p.commands, err);

    p.dir = ok ? tempdir_new(NULL, err) : NULL;
    ok = ok && p.dir;
    if (ok)
        p.q = qualifiers_read(&p.commands, session_root(plan->session), stop_asked,
                              plan->session, err);
    ok = ok && p.q;
    if (ok && qualifiers_failed(p.q) == p.commands.len && p.commands.len)
        ok = err_set(err, "none of the units could be read again; are the sources there?");
    if (ok) {
        find_sets(&p);
        ok = verify(&p, err) && print(&p, diff, note, err);
    }
    for (size_t i = 0; i < p.sets.len; i++)
        vec_release(&p.sets.items[i].nodes);
    vec_release(&p.sets);
    qualifiers_close(p.q);
    commands_release(&p.commands);
    if (p.dir)
        tempdir_remove(p.dir);
    return ok;
}
