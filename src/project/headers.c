/*
 * The headers of a library: those that declare what it exports.
 *
 * A header's text is scanned for names that "(" follows. A function of the library counts for
 * each header that has its name. Headers in a folder called include are the public ones, where
 * there are any; else the header that is named like the library, else those that declare most.
 */
#include "base/file.h"
#include "program/program.h"
#include "project/project_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADERS = 6, LONGEST = 1 << 20 };

typedef struct Candidate {
    const char *path;          /* relative to the root */
    size_t declares;
    bool in_include, named_alike;
} Candidate;

/* What exports say of a name. */
#define IS_TABLE ((void *)1)

/* Exported functions and tables of functions that the text names, each once. */
static size_t count_names(const char *text, const Map *exports)
{
    Map seen = { 0 };
    for (const char *p = text; *p;) {
        if (!isalpha((unsigned char)*p) && *p != '_') {
            p++;
            continue;
        }
        const char *begin = p;
        while (isalnum((unsigned char)*p) || *p == '_')
            p++;
        size_t n = (size_t)(p - begin);
        while (isspace((unsigned char)*p))
            p++;
        char name[200];
        if (!*p || !strchr("();[", *p) || n >= sizeof name)
            continue;
        memcpy(name, begin, n);
        name[n] = 0;
        bool table = *p == ';' || *p == '[';
        if (map_has(exports, name) && (map_get(exports, name) == IS_TABLE) == table)
            map_put(&seen, name, NULL);
    }
    size_t found = seen.len;
    map_release(&seen);
    return found;
}

/* A struct with a pointer to a function in it. */
static bool has_functions(const Type *type)
{
    const Type *t = type_plain(type);
    for (unsigned i = 0; t->kind == TYPE_STRUCT && i < t->nfields; i++) {
        const Type *m = type_plain(t->fields[i].type);
        if (m->kind == TYPE_POINTER && m->target && type_plain(m->target)->kind == TYPE_FUNCTION)
            return true;
    }
    return false;
}

static void find_exports(const Program *model, Map *out)
{
    size_t n;
    const Function *const *all = program_functions(model, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i]->defined && all[i]->linkage == LINKAGE_EXTERNAL)
            map_put(out, all[i]->name, NULL);
    const Variable *variables = program_variables(model, &n);
    for (size_t i = 0; i < n; i++) {
        const Variable *v = &variables[i];
        if (v->defined && v->constant && v->linkage == LINKAGE_EXTERNAL && v->type &&
            has_functions(v->type))
            map_put(out, v->name, IS_TABLE);
    }
}

/* A header for C++ alone. */
static bool is_cplusplus(const char *text)
{
    static const char *const words[] = { "\nclass ", "\nnamespace ", "\ntemplate", NULL };
    for (const char *const *w = words; *w; w++)
        if (strstr(text, *w))
            return !strstr(text, "__cplusplus");
    return false;
}

static bool is_private(const char *path)
{
    const char *name = path_base(path);
    return strstr(name, "intern") || strstr(name, "priv") || strstr(name, "_int.h") ||
           strstr(name, "-int.h") || strcmp(name, "config.h") == 0;
}

/* libfoo.so.1 and foo.h */
static bool is_named_like(const char *header, const char *library)
{
    const char *name = path_base(header);
    size_t n = strcspn(name, ".");
    library += str_starts(library, "lib") ? 3 : 0;
    return n && strncmp(name, library, n) == 0 && !isalnum((unsigned char)library[n]);
}

static int by_worth(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->in_include != y->in_include)
        return x->in_include ? -1 : 1;
    if (x->named_alike != y->named_alike)
        return x->named_alike ? -1 : 1;
    if (x->declares != y->declares)
        return x->declares > y->declares ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* -I and -D of the first unit, folders absolute. */
static void add_flags(const CapturedProgram *c, Strings *out)
{
    const Unit *u = c->units[0];
    for (size_t i = 0; i < u->arguments.len; i++) {
        const char *w = u->arguments.items[i];
        bool folder = str_starts(w, "-I");
        if (!folder && !str_starts(w, "-D"))
            continue;
        const char *value = w[2] ? w + 2 : i + 1 < u->arguments.len ? u->arguments.items[++i] : "";
        char *full = folder ? path_in(u->directory, value) : xstrdup(value);
        strings_addf(out, "-%c%s", folder ? 'I' : 'D', full);
        free(full);
    }
}

void headers_find(Project *p, const ProjectProgram *library, ProjectHeaders *out)
{
    const Program *model = project_program(p, library);
    if (!model)
        return;
    Map exports = { 0 };
    Vec(Candidate) found = { 0 };
    const Strings *all = project_files(p, ".h");
    find_exports(model, &exports);
    for (size_t i = 0; i < all->len; i++) {
        char *path = path_join(project_root(p), all->items[i]);
        Str text = { 0 };
        if (!is_private(path) && file_size(path) <= LONGEST && file_read(path, &text, NULL) &&
            !is_cplusplus(str_c(&text))) {
            Candidate c = { .path = all->items[i],
                            .declares = count_names(str_c(&text), &exports),
                            .in_include = strstr(all->items[i], "include/") != NULL,
                            .named_alike = is_named_like(path, library->captured->name) };
            if (c.declares)
                vec_push(&found, c);
        }
        str_release(&text);
        free(path);
    }
    if (found.len)
        qsort(found.items, found.len, sizeof *found.items, by_worth);
    /* Beside public headers, others are the library's own. */
    for (size_t i = 0; i < found.len && i < MOST_HEADERS; i++) {
        if (found.items[0].in_include != found.items[i].in_include ||
            (!found.items[0].in_include && found.items[0].named_alike &&
             !found.items[i].named_alike))
            break;
        char *path = path_join(project_root(p), found.items[i].path);
        strings_add(&out->headers, path);
        out->declared += found.items[i].declares;
        free(path);
    }
    add_flags(library->captured, &out->flags);
    vec_release(&found);
    map_release(&exports);
}
