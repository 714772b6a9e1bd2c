#include "base/file.h"
#include "base/sha256.h"
#include "program/program.h"
#include "project/project_int.h"
#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- programs */

/* Words that mark the folder or the name of a test, an example or a benchmark. */
static bool is_test_path(const char *shown)
{
    static const char *const words[] = { "test",   "check", "example", "bench", "demo",
                                         "sample", "fuzz",  "regress", "perf",  NULL };
    char *copy = xstrdup(shown), *save = NULL;
    bool is = false;
    for (char *w = strtok_r(copy, "/", &save); w && !is; w = strtok_r(NULL, "/", &save))
        for (const char *const *k = words; *k && !is; k++) {
            size_t n = strlen(w), m = strlen(*k);
            is = strncmp(w, *k, m) == 0 || (n > m && strcmp(w + n - m, *k) == 0) ||
                 (n > m + 1 && w[n - 1] == 's' && strncmp(w + n - m - 1, *k, m) == 0);
        }
    free(copy);
    return is;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A name for a set of texts. */
static const char *key_of(Project *p, Strings *texts)
{
    Sha256 s;
    char id[ID_LEN + 1];
    sha256_init(&s);
    if (texts->len)
        qsort(texts->items, texts->len, sizeof *texts->items, by_text);
    for (size_t i = 0; i < texts->len; i++)
        sha256_add(&s, texts->items[i], strlen(texts->items[i]) + 1);
    sha256_end_id(&s, id);
    return arena_strdup(&p->arena, id);
}

static const char *units_key(Project *p, const CapturedProgram *c, bool sources)
{
    Strings texts = { 0 };
    for (size_t i = 0; i < c->nunits; i++)
        strings_add(&texts, sources ? c->units[i]->source : c->units[i]->id);
    const char *key = key_of(p, &texts);
    strings_release(&texts);
    return key;
}

static bool is_run(const Project *p, const char *path)
{
    for (size_t i = 0; i < p->runs.len; i++)
        if (strcmp(p->runs.items[i].program, path) == 0)
            return true;
    return false;
}

static bool is_affected(const Project *p, const CapturedProgram *c)
{
    if (!p->plan.affected)
        return true;
    for (size_t i = 0; i < c->nunits; i++)
        if (map_has(p->plan.affected, c->units[i]->source))
            return true;
    return false;
}

static const Project *sorting;       /* qsort() hands nothing on */

static int rank_of(const ProjectProgram *x)
{
    return x->is_test ? 2 : is_run(sorting, x->captured->path) || x->is_library ? 0 : 1;
}

static int by_rank(const void *a, const void *b)
{
    const ProjectProgram *x = a, *y = b;
    int rx = rank_of(x), ry = rank_of(y);
    if (rx != ry)
        return rx - ry;
    if (x->captured->nunits != y->captured->nunits)
        return x->captured->nunits > y->captured->nunits ? -1 : 1;
    return strcmp(x->captured->path, y->captured->path);
}

/* Do others of the captured programs name the library when they are linked? */
static bool is_linked_by_others(const CapturedProgram *const *all, size_t n,
                                const CapturedProgram *library)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; all[i] != library && k < all[i]->link.len; k++)
            if (strcmp(path_base(all[i]->link.items[k]), library->name) == 0)
                return true;
    return false;
}

/* Programs that are made of the same sources (an archive and a shared library) are one. */
static bool is_twin(const Map *seen, const CapturedProgram *c, const char *sources)
{
    char *key = xprintf("%s %s", c->kind == PROGRAM_EXECUTABLE ? c->path : "library", sources);
    bool twin = map_has(seen, key);
    map_put((Map *)seen, key, NULL);
    free(key);
    return twin;
}

/* The path below the root; of what CMake and Meson build in the workspace, below their folder. */
static char *shown_path(const Project *p, const char *path)
{
    char *shown = path_relative(path, workspace_root(p->ws));
    char *ours = xprintf("%s/build-", p->folder);
    const char *below = str_starts(path, ours) ? strchr(path + strlen(ours), '/') : NULL;
    free(ours);
    if (!below)
        return shown;
    free(shown);
    return xstrdup(below + 1);
}

static void add_program(Project *p, const CapturedProgram *c, Map *seen)
{
    if (c->kind == PROGRAM_OBJECT || !c->nunits || !is_affected(p, c) ||
        is_twin(seen, c, units_key(p, c, true)))
        return;
    char *shown = shown_path(p, c->path);
    ProjectProgram x = { .captured = c,
                         .shown = arena_strdup(&p->arena, shown),
                         .is_library = c->kind != PROGRAM_EXECUTABLE,
                         .is_test = is_test_path(shown),
                         .key = units_key(p, c, false) };
    vec_push(&p->programs, x);
    free(shown);
}

/* Sources of a program that are not those of tests and that nothing in `covered` has; they are
 * added to it if asked for. */
static size_t own_sources(const Project *p, const CapturedProgram *c, Map *covered, bool add)
{
    size_t own = 0;
    for (size_t i = 0; i < c->nunits; i++) {
        const char *source = c->units[i]->source;
        char *shown = path_relative(source, workspace_root(p->ws));
        char *dot = strrchr(path_base(shown), '.');
        if (dot)
            *dot = 0;                    /* parse_test.c */
        bool is_own = *shown != '/' && !is_test_path(shown) && !map_has(covered, source);
        own += is_own;
        if (is_own && add)
            map_put(covered, source, NULL);
        free(shown);
    }
    return own;
}

/* Do the tests run this code where it is? Of an archive it is in the programs. */
static bool is_used(const Project *p, const CapturedProgram *c)
{
    if (c->kind != PROGRAM_SHARED)
        return is_run(p, c->path);
    for (size_t i = 0; i < p->programs.len; i++) {
        const CapturedProgram *user = p->programs.items[i].captured;
        for (size_t k = 0; k < user->link.len && is_run(p, user->path); k++)
            if (strstr(user->link.items[k], c->name))
                return true;
    }
    return false;
}

/* The test with the most sources that nothing in `covered` has; NULL: none has one. */
static ProjectProgram *next_adopted(Project *p, Map *covered, bool runs)
{
    ProjectProgram *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < p->programs.len; i++) {
        ProjectProgram *x = &p->programs.items[i];
        bool asked = x->is_test && !x->is_library && (!runs || is_run(p, x->captured->path));
        size_t own = asked ? own_sources(p, x->captured, covered, false) : 0;
        if (own > most) {
            best = x;
            most = own;
        }
    }
    return best;
}

/*
 * A small library is often in no program but that of its tests: "cc -o test list.c test.c". Such
 * a program is looked at like any other, the one with the most first, as long as each of them
 * brings a source that nothing else has; `runs`: nothing else that the tests run.
 */
static void adopt_tests(Project *p, bool runs)
{
    Map covered = { 0 };
    for (size_t i = 0; i < p->programs.len; i++) {
        ProjectProgram *x = &p->programs.items[i];
        *(runs ? &x->for_runs : &x->for_code) = !x->is_test;
        if (!x->is_test && (!runs || is_used(p, x->captured)))
            own_sources(p, x->captured, &covered, true);
    }
    for (ProjectProgram *x; (x = next_adopted(p, &covered, runs));) {
        *(runs ? &x->for_runs : &x->for_code) = true;
        own_sources(p, x->captured, &covered, true);
    }
    map_release(&covered);
}

static bool find_programs(Project *p, Err *err)
{
    size_t n;
    Map seen = { 0 };
    Strings ids = { 0 };
    const CapturedProgram **all = workspace_programs(p->ws, &n, err);
    /* Of twins: the one that others are linked with, then the shared one. */
    for (int unused = 0; all && unused < 2; unused++)
        for (int archives = 0; archives < 2; archives++)
            for (size_t i = 0; i < n; i++)
                if ((all[i]->kind == PROGRAM_ARCHIVE) == archives &&
                    is_linked_by_others(all, n, all[i]) == !unused)
                    add_program(p, all[i], &seen);
    for (size_t i = 0; all && i < n; i++)
        for (size_t k = 0; k < all[i]->nunits; k++)
            strings_add(&ids, all[i]->units[k]->id);
    p->build_key = key_of(p, &ids);
    adopt_tests(p, false);
    adopt_tests(p, true);
    sorting = p;
    if (p->programs.len)
        qsort(p->programs.items, p->programs.len, sizeof *p->programs.items, by_rank);
    if (p->programs.len > MOST_PROGRAMS) {
        p->left_out = p->programs.len - MOST_PROGRAMS;
        p->programs.len = MOST_PROGRAMS;
    }
    for (size_t i = 0; i < p->programs.len; i++) {
        assert(p->programs.items[i].captured->nunits && *p->programs.items[i].key);
        p->programs.items[i].index = i;
    }
    p->models = arena_array(&p->arena, const Program *, p->programs.len + 1);
    p->tried = arena_array(&p->arena, bool, p->programs.len + 1);
    p->headers = arena_array(&p->arena, ProjectHeaders, p->programs.len + 1);
    p->headers_known = arena_array(&p->arena, bool, p->programs.len + 1);
    strings_release(&ids);
    map_release(&seen);
    return all != NULL;
}

const ProjectProgram *project_programs(const Project *p, size_t *n)
{
    *n = p->programs.len;
    return p->programs.items;
}

size_t project_left_out(const Project *p) { return p->left_out; }

const Program *project_program(Project *p, const ProjectProgram *x)
{
    assert(x->index < p->programs.len);
    if (!p->tried[x->index])
        p->models[x->index] = program_open(p->ws, x->captured, NULL);
    p->tried[x->index] = true;
    return p->models[x->index];
}

bool project_calls(Project *p, const ProjectProgram *x, const char *const *names)
{
    const Program *model = project_program(p, x);
    for (; model && *names; names++) {
        const Function *f = program_function(model, *names);
        if (f && !f->defined && (f->ncallers || f->address_taken))
            return true;
    }
    return false;
}

bool project_uses(Project *p, const ProjectProgram *x, const char *variable)
{
    size_t n = 0;
    const Program *model = project_program(p, x);
    const Variable *all = model ? program_variables(model, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (!all[i].defined && strcmp(all[i].name, variable) == 0)
            return true;
    return false;
}

bool project_defines(Project *p, const ProjectProgram *x, const char *name)
{
    const Program *model = project_program(p, x);
    const Function *f = model ? program_function(model, name) : NULL;
    return f && f->defined;
}

/* The library's own units, or the library itself among those it is linked with. */
static bool is_linked_with(const CapturedProgram *c, const CapturedProgram *library)
{
    for (size_t i = 0; i < c->nunits; i++)
        for (size_t k = 0; k < library->nunits; k++)
            if (strcmp(c->units[i]->source, library->units[k]->source) == 0)
                return true;
    for (size_t i = 0; i < c->link.len; i++)
        if (strstr(c->link.items[i], library->name))
            return true;
    return false;
}

bool project_links(const ProjectProgram *x, const ProjectProgram *library)
{
    return x != library && is_linked_with(x->captured, library->captured);
}

const ProjectProgram *project_program_at(const Project *p, const char *path)
{
    for (size_t i = 0; i < p->programs.len; i++)
        if (strcmp(p->programs.items[i].captured->path, path) == 0)
            return &p->programs.items[i];
    return NULL;
}

const ProjectProgram *project_user(const Project *p, const ProjectProgram *library)
{
    const ProjectProgram *found = NULL;
    for (size_t i = 0; i < p->programs.len; i++) {
        const ProjectProgram *x = &p->programs.items[i];
        if (!x->is_library && is_linked_with(x->captured, library->captured) &&
            (!found || (x->is_test && !found->is_test)))
            found = x;
    }
    return found;
}

bool project_is_run(Project *p, const ProjectProgram *x)
{
    bool is = is_run(p, x->captured->path);
    for (size_t i = 0; x->is_library && !is && i < p->programs.len; i++)
        is = project_links(&p->programs.items[i], x) &&
             is_run(p, p->programs.items[i].captured->path);
    return is;
}

const ProjectHeaders *project_headers(Project *p, const ProjectProgram *library)
{
    assert(library->index < p->programs.len);
    ProjectHeaders *h = &p->headers[library->index];
    if (!p->headers_known[library->index])
        headers_find(p, library, h);
    p->headers_known[library->index] = true;
    return h;
}

/* ---- the tree */

enum { MOST_FILES = 20000, MOST_DEPTH = 8 };

static bool is_worth_a_look(const char *name)
{
    static const char *const others[] = { "node_modules", "vendor", "autom4te.cache", "CMakeFiles",
                                          NULL };
    return *name != '.' && !str_is_one_of(name, others);
}

static void walk(Project *p, const char *folder, const char *below, int depth)
{
    Strings names = { 0 };
    if (depth > MOST_DEPTH || !dir_list(folder, &names, NULL))
        return;
    for (size_t i = 0; i < names.len && p->tree.len < MOST_FILES; i++) {
        char *path = path_join(folder, names.items[i]);
        char *shown = *below ? path_join(below, names.items[i]) : xstrdup(names.items[i]);
        struct stat st;
        if (!is_worth_a_look(names.items[i]) || lstat(path, &st) != 0)
            ;
        else if (S_ISDIR(st.st_mode))
            walk(p, path, shown, depth + 1);
        else if (S_ISREG(st.st_mode))
            strings_add(&p->tree, shown);
        free(shown);
        free(path);
    }
    strings_release(&names);
}

const Strings *project_tree(Project *p)
{
    if (!p->tree_known)
        walk(p, workspace_root(p->ws), "", 0);
    p->tree_known = true;
    return &p->tree;
}

const Strings *project_files(Project *p, const char *ending)
{
    Strings *found = map_get(&p->files, ending);
    if (found)
        return found;
    found = arena_new(&p->arena, Strings);
    const Strings *tree = project_tree(p);
    for (size_t i = 0; i < tree->len; i++) {
        const char *name = tree->items[i];
        if (*ending == '.' ? str_ends(name, ending) : strcmp(path_base(name), ending) == 0)
            strings_add(found, name);
    }
    map_put(&p->files, ending, found);
    return found;
}

const char *project_files_key(Project *p, const char *folder)
{
    const Strings *tree = project_tree(p);
    Strings texts = { 0 };
    size_t n = strlen(folder);
    bool all = strcmp(folder, ".") == 0;
    for (size_t i = 0; i < tree->len; i++) {
        const char *name = tree->items[i];
        if (!all && (strncmp(name, folder, n) != 0 || name[n] != '/'))
            continue;
        char *path = path_join(workspace_root(p->ws), name);
        struct stat st;
        if (stat(path, &st) == 0)
            strings_addf(&texts, "%s %lld %lld.%09ld", name, (long long)st.st_size,
                         (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        free(path);
    }
    const char *key = key_of(p, &texts);
    strings_release(&texts);
    return key;
}

/* Also units of a build that failed before anything was linked. */
size_t project_units(const Project *p)
{
    CompileCommands all = { 0 };
    size_t n = commands_of_workspace(p->ws, &all, NULL) ? all.len : 0;
    char *path = path_join(workspace_root(p->ws), "compile_commands.json");
    if (!n && file_exists(path) && commands_read(path, &all, NULL))
        n = all.len;
    free(path);
    commands_release(&all);
    return n;
}

/* ---- tests and results */

char *const *project_tests(const Project *p, size_t *n)
{
    *n = p->plan.tests_hang ? 0 : p->plan.ntests;
    return *n ? p->plan.tests : NULL;
}

double project_tests_seconds(const Project *p) { return p->plan.tests_seconds; }

const char *project_tests_key(const Project *p) { return p->tests_key; }

static const char *make_tests_key(Project *p)
{
    Strings words = { 0 };
    strings_add(&words, p->build_key);
    for (size_t i = 0; i < p->plan.ntests; i++)
        strings_addf(&words, "%zu %s", i, p->plan.tests[i]);
    const char *key = key_of(p, &words);
    strings_release(&words);
    return key;
}

const Product *project_products(const Project *p, const char *kind, const char *program,
                                const Product *after)
{
    const Product *all = p->products.items;
    for (size_t i = after ? (size_t)(after - all) + 1 : 0; i < p->products.len; i++)
        if (strcmp(all[i].kind, kind) == 0 && (!program || strcmp(all[i].program, program) == 0))
            return &all[i];
    return NULL;
}

void project_add_product(Project *p, const Product *product)
{
    assert(product->kind && product->program && product->path && product->by);
    Product *mine = NULL;
    for (size_t i = 0; i < p->products.len && !mine; i++)
        if (strcmp(p->products.items[i].kind, product->kind) == 0 &&
            strcmp(p->products.items[i].path, product->path) == 0)
            mine = &p->products.items[i];
    mine = mine ? mine : vec_grow(&p->products);
    vec_release(&mine->args);
    mine->kind = arena_strdup(&p->arena, product->kind);
    mine->program = arena_strdup(&p->arena, product->program);
    mine->path = arena_strdup(&p->arena, product->path);
    mine->by = arena_strdup(&p->arena, product->by);
    mine->key = arena_strdup(&p->arena, product->key ? product->key : "");
    for (size_t i = 0; i < product->args.len; i++)
        vec_push(&mine->args, arena_strdup(&p->arena, product->args.items[i]));
}

void project_set_findings(Project *p, FindingSet *findings)
{
    finding_set_free(p->findings);
    p->findings = findings;
}

const FindingSet *project_findings(const Project *p) { return p->findings; }

const char *project_root(const Project *p) { return workspace_root(p->ws); }

const char *project_folder(const Project *p) { return p->folder; }

const char *project_build_key(const Project *p) { return p->build_key; }

const ProjectShape *const *project_shapes(Project *p, const ProjectProgram *x)
{
    if (!p->shapes_known)
        shapes_find(p);
    p->shapes_known = true;
    const ProjectShape **all = arena_array(&p->arena, const ProjectShape *, p->shapes.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->shapes.len; i++)
        if (!x || p->shapes.items[i].program == x)
            all[n++] = &p->shapes.items[i];
    return all;
}

/* ---- opening */

Project *project_open(const ProjectPlan *plan, Err *err)
{
    Project *p = xcalloc(1, sizeof *p);
    p->plan = *plan;
    p->ws = workspace_open(plan->workspace, false, err);
    if (p->ws) {
        p->folder = path_join(workspace_dir(p->ws), "check");
        char *log = path_join(p->folder, "runs.json");
        observe_read(log, &p->runs);
        free(log);
    }
    if (!p->ws || !find_programs(p, err)) {
        project_close(p);
        return NULL;
    }
    p->tests_key = make_tests_key(p);
    return p;
}

void project_close(Project *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->models && i < p->programs.len; i++) {
        program_close((Program *)p->models[i]);
        strings_release(&p->headers[i].headers);
        strings_release(&p->headers[i].flags);
    }
    for (size_t i = 0; i < p->shapes.len; i++)
        strings_release(&p->shapes.items[i].args);
    for (size_t i = 0; i < p->products.len; i++)
        vec_release(&p->products.items[i].args);
    for (size_t i = 0; i < p->files.len; i++)
        strings_release(p->files.entries[i].value);
    map_release(&p->files);
    vec_release(&p->shapes);
    vec_release(&p->products);
    vec_release(&p->programs);
    strings_release(&p->tree);
    observed_release(&p->runs);
    finding_set_free(p->findings);
    workspace_close(p->ws);
    free(p->folder);
    arena_release(&p->arena);
    free(p);
}
